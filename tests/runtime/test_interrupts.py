# SPDX-License-Identifier: MIT
"""Signals stop a command wherever they find it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from sfumato.runtime.interrupts import StopSignals


class Dying:
    """Something that is interrupted while it is thrown away."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)
        time.sleep(0)  # the handler runs here


def test_a_signal_in_a_destructor_stops_right_after_it(capfd: pytest.CaptureFixture[str]) -> None:
    """Python prints what a destructor raises, with a traceback, and goes on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the workers of a parallel run ignore it
    stop = StopSignals()
    stop.install()
    try:
        with pytest.raises(KeyboardInterrupt):
            Dying()
            for _ in range(1000):
                time.sleep(0.01)
    finally:
        stop.finish()
    assert stop.number == signal.SIGINT
    assert "Traceback" not in "".join(capfd.readouterr())


_PANIC = """
import os, signal, sys
from sfumato.runtime.interrupts import StopSignals, separate_errors
separate_errors()
stop = StopSignals()
stop.install()
os.write(2, b"before\\n")
try:
    os.kill(os.getpid(), signal.SIGTERM)
except KeyboardInterrupt:
    os.write(2, b"thread panicked\\n")
    print("our own sentence", file=sys.stderr)
"""


def test_after_a_signal_libraries_print_nothing() -> None:
    ended = subprocess.run([sys.executable, "-c", _PANIC], capture_output=True, text=True, check=True)
    assert ended.stderr == "before\nour own sentence\n"


_LATE = """
import os, signal, sys
from sfumato.cli.entry import main

class Late:
    def __del__(self, kill=os.kill, process=os.getpid(), number=signal.SIGINT):
        kill(process, number)

late = Late()
sys.argv = ["sfumato", "--version"]
main()
"""


def test_a_signal_after_the_command_does_not_change_how_it_ended() -> None:
    """Python takes its handlers away before it cleans up, and Ctrl-C then ended a run that had published everything."""
    ended = subprocess.run([sys.executable, "-c", _LATE], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
