# SPDX-License-Identifier: MIT
"""Stop signals: held back during steps that must not be left half done."""

from __future__ import annotations

import _thread
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN_SECONDS = 1.0
_REPEAT_SECONDS = 0.05
_completed_steps: list[str] = []
_answer_event = threading.Event()
_separation_event = threading.Event()
_STANDARD_ERROR = 2


def record_completion(sentence: str) -> None:
    """Record what this process completed and an interrupt no longer undoes, for its final message."""
    _completed_steps.append(sentence)


def list_completions() -> tuple[str, ...]:
    """What this process completed, in order."""
    return tuple(_completed_steps)


def ignore_late_signals() -> None:
    """The command has ended: a signal while Python cleans up would end the process as if it had failed."""
    for number in STOP_SIGNALS:
        if signal.getsignal(number) is not None:
            signal.signal(number, signal.SIG_IGN)


def settle_answer() -> None:
    """The whole answer of the command was printed: a signal no longer adds a second one."""
    _answer_event.set()


def separate_errors() -> None:
    """Print our own messages through a copy of standard error, so that those of libraries can be silenced.

    Rust code that calls Python back when a signal arrives calls it a panic, and prints pages about it.
    """
    error_stream = sys.__stderr__
    if error_stream is None or sys.stderr is not error_stream or _separation_event.is_set():
        return
    try:
        copy = os.dup(error_stream.fileno())
    except (OSError, ValueError):  # it is closed, or no file
        return
    error_stream.flush()
    sys.stderr = os.fdopen(copy, "w", buffering=1, encoding=error_stream.encoding, errors=error_stream.errors)
    _separation_event.set()


def _silence_libraries() -> None:
    if _separation_event.is_set():
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, _STANDARD_ERROR)
        os.close(nowhere)


@contextmanager
def hold_signals() -> Iterator[None]:
    """Finish the block: a stop signal that arrives inside it is delivered after it, and after all others like it."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread receives signals
        yield
        return
    _HOLD.begin()
    try:
        yield
    finally:
        _HOLD.end()


class _SignalHold:
    """Blocks that hold signals may overlap: the first one blocks them, the last one delivers them."""

    def __init__(self) -> None:
        self._blocks = 0
        self._arrived_signals: list[int] = []
        self._handlers: dict[signal.Signals, Any] = {}

    def begin(self) -> None:
        self._blocks += 1
        if self._blocks > 1:
            return
        handlers = {number: signal.getsignal(number) for number in STOP_SIGNALS}
        self._handlers = {
            number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)
        }
        for number in self._handlers:
            try:
                signal.signal(number, self._remember)
            except KeyboardInterrupt:  # it just arrived: the block is still finished
                self._arrived_signals.append(number)
                signal.signal(number, self._remember)

    def end(self) -> None:
        self._blocks -= 1
        if self._blocks:
            return
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal_numbers, self._arrived_signals = self._arrived_signals, []
        if signal_numbers:
            signal.raise_signal(signal_numbers[0])

    def _remember(self, number: int, _: FrameType | None) -> None:
        self._arrived_signals.append(number)


_HOLD = _SignalHold()


class StopSignals:
    """How a command stops: all signals act like Ctrl-C, and the first one is recorded."""

    def __init__(self) -> None:
        """Nothing has arrived yet."""
        self.number: int | None = None
        self._last = -math.inf
        self._is_finished = False
        self._report_unraisable = sys.unraisablehook
        _answer_event.clear()
        self._earlier_count = len(_completed_steps)

    def install(self) -> None:
        """Handle signals from now on; a signal that the caller ignores (nohup) stays ignored."""
        for number in STOP_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)
        self._report_unraisable, sys.unraisablehook = sys.unraisablehook, self._stop_later

    def finish(self) -> None:
        """The outcome is decided: later signals change neither the message nor the exit code."""
        self._is_finished = True
        if sys.unraisablehook == self._stop_later:
            sys.unraisablehook = self._report_unraisable

    @property
    def is_answered(self) -> bool:
        """Whether the whole answer was printed: a script gets one JSON text, not a second one about the signal."""
        return _answer_event.is_set()

    def list_completions(self) -> tuple[str, ...]:
        """What was completed since this command started."""
        return tuple(_completed_steps[self._earlier_count :])

    def _stop(self, number: int, _: FrameType | None) -> None:
        current_time = time.monotonic()
        is_repeat = self.number is not None and current_time - self._last < _AGAIN_SECONDS
        self._last = current_time
        if self._is_finished or _answer_event.is_set() or is_repeat:  # a second one would only disturb the cleanup
            return
        self.number = self.number or number
        _silence_libraries()
        raise KeyboardInterrupt

    def _stop_later(self, unraisable: sys.UnraisableHookArgs) -> None:
        """If the signal came in a destructor, where Python prints what is raised and goes on, stop right after it."""
        if self.number is None or unraisable.exc_type is not KeyboardInterrupt:
            self._report_unraisable(unraisable)
            return
        self._last = -math.inf
        repeat = threading.Timer(_REPEAT_SECONDS, _thread.interrupt_main, (self.number,))
        repeat.daemon = True
        repeat.start()
