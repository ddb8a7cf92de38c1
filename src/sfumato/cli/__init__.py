# SPDX-License-Identifier: MIT
"""The command line."""


def run_command_line() -> None:
    """Run the command line; its imports happen here."""
    from sfumato.cli.entry import main as start

    start()
