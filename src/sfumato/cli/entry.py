# SPDX-License-Identifier: MIT
"""The entry point of the `sfumato` command; it handles signals before anything large is imported."""

from __future__ import annotations

import sys
from contextlib import ExitStack

from sfumato.kernels.compiler_start import claim_process
from sfumato.runtime.interrupts import StopSignals, ignore_late_signals, separate_errors
from sfumato.workflow.second_process.early_start import start_early


def main() -> None:
    """Load the command line and run it; a signal during loading also ends in a sentence."""
    separate_errors()
    claim_process()
    stop = StopSignals()
    stop.install()
    try:
        with ExitStack() as stack:
            _load_and_run(stop, stack)
    finally:
        ignore_late_signals()


def _load_and_run(stop: StopSignals, stack: ExitStack) -> None:
    try:
        stack.enter_context(start_early(sys.argv[1:]))
        from sfumato.cli.commands import report_stop
        from sfumato.cli.commands import run_commands as command
    except KeyboardInterrupt:
        stop.finish()
        sys.stderr.write("sfumato: interrupted while starting; nothing was published\n")
        sys.exit(128 + (stop.number or 2))
    try:
        command()
    except KeyboardInterrupt:  # it came before the command line handled signals
        stop.finish()
        report_stop(stop, "--json" in sys.argv[1:])


if __name__ == "__main__":
    main()
