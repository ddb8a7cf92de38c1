# SPDX-License-Identifier: MIT
"""The command line."""


def run_command_line() -> None:
    """Run the command line; what it needs is loaded then."""
    from sfumato.cli.entry import main as start

    start()
