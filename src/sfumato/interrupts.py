# SPDX-License-Identifier: MIT
"""Signals that ask a process to stop: held back where half a step would be worse than a late end."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN_SECONDS = 1.0
_completed: list[str] = []
_answered = threading.Event()


def record_completion(sentence: str) -> None:
    """Remember what this process did that an interrupt no longer undoes, for the words at its end."""
    _completed.append(sentence)


def list_completions() -> tuple[str, ...]:
    """What this process did for good, in order."""
    return tuple(_completed)


def settle_answer() -> None:
    """The whole answer of the command was printed: a signal no longer adds a second one."""
    _answered.set()


@contextmanager
def hold_signals() -> Iterator[None]:
    """Finish the block: a stop signal that arrives inside it is delivered after it, and after all others like it."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread hears signals
        yield
        return
    _HOLD.begin()
    try:
        yield
    finally:
        _HOLD.end()


class _SignalHold:
    """Blocks that hold signals may overlap: the first one stops listening, the last one delivers."""

    def __init__(self) -> None:
        self._blocks = 0
        self._arrived: list[int] = []
        self._handlers: dict[signal.Signals, Any] = {}

    def begin(self) -> None:
        self._blocks += 1
        if self._blocks > 1:
            return
        handlers = {number: signal.getsignal(number) for number in STOPPING}
        self._handlers = {number: kept for number, kept in handlers.items() if kept not in (signal.SIG_IGN, None)}
        for number in self._handlers:
            try:
                signal.signal(number, self._remember)
            except KeyboardInterrupt:  # it came in this very moment: the block is still finished
                self._arrived.append(number)
                signal.signal(number, self._remember)

    def end(self) -> None:
        self._blocks -= 1
        if self._blocks:
            return
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        arrived, self._arrived = self._arrived, []
        if arrived:
            signal.raise_signal(arrived[0])

    def _remember(self, number: int, _: FrameType | None) -> None:
        self._arrived.append(number)


_HOLD = _SignalHold()


class StopSignals:
    """How a command ends when it is asked to: all signals act as Ctrl-C does, and the first one is remembered."""

    def __init__(self) -> None:
        """Nothing has arrived yet."""
        self.number: int | None = None
        self._last = 0.0
        self._finished = False
        _answered.clear()
        self._completed = len(_completed)

    def install(self) -> None:
        """Listen from now on; a signal that the caller ignores (nohup) stays ignored."""
        for number in STOPPING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)

    def finish(self) -> None:
        """The outcome is decided: what still arrives no longer changes the words or the exit code."""
        self._finished = True

    @property
    def answered(self) -> bool:
        """Whether the whole answer was printed: a script gets one JSON text, not a second one about the signal."""
        return _answered.is_set()

    def completions(self) -> tuple[str, ...]:
        """What was done for good since this command began."""
        return tuple(_completed[self._completed :])

    def _stop(self, number: int, _: FrameType | None) -> None:
        now = time.monotonic()
        again = self.number is not None and now - self._last < _AGAIN_SECONDS
        self._last = now
        if self._finished or _answered.is_set() or again:  # a second one at once would only disturb the cleaning up
            return
        self.number = self.number or number
        raise KeyboardInterrupt
