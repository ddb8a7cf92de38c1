# SPDX-License-Identifier: MIT
"""`python -m sfumato`: the command line."""

from sfumato.cli.entry import main

if __name__ == "__main__":
    main()
