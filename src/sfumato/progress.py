# SPDX-License-Identifier: MIT
"""How long work tells how far it is, without knowing who listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done, and how much there is (None if nobody knows)."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report_progress(step: str, done: int = 0, total: int | None = None) -> None:
    """Say how far a step is; cheap when nobody listens."""
    listener = _listener.get()
    if listener is not None:
        listener(step, done, total)


@contextmanager
def listen_to_progress(listener: Listener) -> Iterator[None]:
    """Hear every step that is told inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
