# SPDX-License-Identifier: MIT
"""Tell a listener which levels a search chose as soon as it has: asking why does not mean counting the rows again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.protect.anonymity.generalize import Generalize
    from sfumato.protect.anonymity.search.grouping import Grouping
    from sfumato.protect.anonymity.search.node_classes import Levels

LevelsListener = Callable[["Generalize", "Levels", "Grouping"], None]
"""Called with the method, its levels, and the rows they were chosen for; the rows are in use again afterwards."""

_listener: ContextVar[LevelsListener | None] = ContextVar("listener", default=None)


def notify_levels(method: Generalize, levels: Levels, grouping: Grouping) -> None:
    """Tell the listener, if there is one."""
    listener = _listener.get()
    if listener is not None:
        listener(method, levels, grouping)


@contextmanager
def listen_to_levels(listener: LevelsListener) -> Iterator[None]:
    """Hear of every choice inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
