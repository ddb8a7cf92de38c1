# SPDX-License-Identifier: MIT
"""Progress for a log: a line from time to time, where a bar would fill the file with control characters."""

from __future__ import annotations

import time
from collections.abc import Callable

INTERVAL = 30.0
"""Seconds between two lines; work that takes less has none."""


class ProgressLines:
    """Tells how far a long step is, and how long it may still take."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        """Begin now."""
        self._write, self._clock = write, clock
        self._due = clock() + INTERVAL
        self._step, self._begin, self._first = "", clock(), 0

    def __call__(self, step: str, done_count: int, total: int | None) -> None:
        """Take note of a report, and write a line if one is due."""
        current_time = self._clock()
        if step != self._step:  # how long a step takes says nothing about the next one
            self._step, self._begin, self._first = step, current_time, done_count
        if current_time < self._due:
            return
        self._due = current_time + INTERVAL
        share = f", {min(done_count / total, 1.0):.0%}" if total else ""
        elapsed_seconds, advance = current_time - self._begin, done_count - self._first
        remaining_seconds = elapsed_seconds * max(total - done_count, 0) / advance if total and advance > 0 else None
        self._write(
            f"{step}{share}"
            + ("" if remaining_seconds is None else f", about {spell_duration(remaining_seconds)} left")
        )


def spell_duration(seconds: float) -> str:
    """Some time in seconds, minutes or hours: as exactly as an estimate is."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
