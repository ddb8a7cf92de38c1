# SPDX-License-Identifier: MIT
"""Progress of long work, reported to any listener."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int | None], None]
"""Called with the step, how much of it is done, and the total (None if unknown)."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report_progress(step: str, done_count: int = 0, total: int | None = None) -> None:
    """Report the progress of a step; cheap without a listener."""
    listener = _listener.get()
    if listener is not None:
        listener(step, done_count, total)


@contextmanager
def listen_to_progress(listener: Listener) -> Iterator[None]:
    """Receive every report inside the block, as those who listen outside of it still do."""
    outer = _listener.get()

    def tell_all(step: str, done_count: int, total: int | None) -> None:
        listener(step, done_count, total)
        if outer is not None:
            outer(step, done_count, total)

    token = _listener.set(tell_all)
    try:
        yield
    finally:
        _listener.reset(token)
