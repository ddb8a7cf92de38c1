# SPDX-License-Identifier: MIT
"""Every measurement, or those named: `python -m bench [startup|classes|generalize …]`."""

from __future__ import annotations

import sys
from importlib import import_module

ALL = ("startup", "classes", "generalize")


def main() -> None:
    for name in sys.argv[1:] or ALL:
        import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main()
