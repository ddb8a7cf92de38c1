# SPDX-License-Identifier: MIT
"""Signs of life between sites: work may take long, and a site that does nothing must still be noticed in time.

A site sends heartbeats to all others while it computes and while it waits. A site that waits for
a message of a site goes on waiting as long as both hold:

- that site gave some sign within the timeout: a part of a message, or that it works or waits. A process that was
  stopped, or a cut cable, gives none;
- some site gave a sign of work within the timeout: a part of a message, or that it computes. If all only wait for each
  other, nothing will come.

The signs are sent a few times within a timeout. They hold no data; an eavesdropper learns from them how long a site
computes, which the times of messages tell as well.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from sfumato.errors import PartyError

SIGNS_IN_A_TIMEOUT = 4
LONGEST_PAUSE = 10.0
"""Signs are sent at least every ten seconds, so that a firewall does not forget the connection."""


@dataclass(slots=True)
class Activity:
    """What one site is doing, as its computations and its connections see it."""

    computing_tasks: int = 0
    """How many computations are running."""
    waiting_tasks: int = 0
    """How many messages are waited for."""
    failure: PartyError | None = None
    """Why the run has failed meanwhile; computations then end at their next step."""


_activity: ContextVar[Activity | None] = ContextVar("activity", default=None)


@contextmanager
def follow_activity(activity: Activity) -> Iterator[None]:
    """Record computations inside the block."""
    token = _activity.set(activity)
    try:
        yield
    finally:
        _activity.reset(token)


@contextmanager
def mark_computing() -> Iterator[None]:
    """Record that a computation runs inside the block."""
    activity = _activity.get() or Activity()
    activity.computing_tasks += 1
    try:
        yield
    finally:
        activity.computing_tasks -= 1


def stop_if_failed() -> None:
    """Raise the error of a run that has failed meanwhile; long computations ask between their steps."""
    activity = _activity.get()
    if activity is not None and activity.failure is not None:
        raise activity.failure


@dataclass(slots=True)
class SignsOfLife:
    """When each other site last gave a sign, and when any last worked; seconds of a clock that never goes back."""

    sites: Iterable[str]
    last: dict[str, float] = field(init=False)
    last_work: float = field(init=False)

    def __post_init__(self) -> None:
        """Everybody is alive at the start."""
        self.last_work = time.monotonic()
        self.last = dict.fromkeys(self.sites, self.last_work)

    def note(self, site: str, is_work: bool) -> None:
        """Record a sign."""
        self.last[site] = time.monotonic()
        if is_work:
            self.last_work = self.last[site]

    def count_seconds_left(self, site: str, start_time: float, timeout: float) -> float:
        """How long to wait for a site if nobody gives another sign; not above zero if it is to be given up."""
        oldest = min(max(self.last[site], start_time), max(self.last_work, start_time))
        return oldest + timeout - time.monotonic()


def choose_pause(timeout: float) -> float:
    """Seconds between two signs."""
    return min(timeout / SIGNS_IN_A_TIMEOUT, LONGEST_PAUSE)
