# SPDX-License-Identifier: MIT
"""What another process finds out while the run goes on: alternatives that lose less, and why levels are as they are.

Both need compiled kernels, and loading those takes longer than all the rest of a run on a small table does with its own
data. A process that has loaded them already does this itself, and so does one that cannot start another.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.protect.anonymity.explain import LevelReasons, explain_levels, explain_release
from sfumato.protect.anonymity.generalize import Generalize
from sfumato.protect.method import Method
from sfumato.release import Release
from sfumato.table import Table
from sfumato.workflow.advice import TriedAlternative, is_advice_due, list_tried_alternatives, take_sample
from sfumato.workflow.policy import DEMO, Policy
from sfumato.workflow.side_process import SideProcess, find_prepared, hold_process, prepare_process, wait_for

_LARGE_FILE = 500_000
"""Bytes of an input that takes as long to read and protect as the other process takes to start."""
_LARGE_TABLE = 10_000
"""Rows of one."""
_MOST_ROWS = 500_000
"""A larger table is not sent: it would lie in memory twice."""
_LATE = (
    "Whether something else would lose less was not tried: on a first run, the code for it is still being compiled. "
    "Run it again for this advice."
)
_METHODS = ("generalize", "k_optimize")
"""Those that have alternatives, and do not load their kernels anyway."""


@dataclass(frozen=True)
class SideWork:
    """What the other process was asked."""

    reasons: Future[LevelReasons] | None = None
    alternatives: Future[tuple[TriedAlternative, ...]] | None = None

    def collect_reasons(self, release: Release, original: Any) -> LevelReasons:
        """Why the levels of a release are as they are, found here if nobody was asked."""
        found = None if self.reasons is None else wait_for(self.reasons, "comparing before and after")
        if found is not None or not isinstance(original, Table):
            return found or LevelReasons()
        return explain_release(release, original)

    def collect_alternatives(self) -> tuple[TriedAlternative, ...] | None:
        """The alternatives that were tried; None if nobody was asked, or the process failed."""
        if self.alternatives is None:
            return None
        tried: tuple[TriedAlternative, ...] | None = wait_for(self.alternatives, "trying what would lose less")
        return tried if self.alternatives.done() else ()

    def list_notes(self) -> tuple[str, ...]:
        """What was not found out in time."""
        late = self.alternatives is not None and not self.alternatives.done()
        return (_LATE,) if late else ()


def prepare_side_work(policy: Policy, given: Any = None) -> AbstractContextManager[None]:
    """Inside the block the other process is started, if it may be needed in a run that takes some time."""
    methods = policy.methods()
    is_asked = len(methods) == 1 and methods[0].describe()["method"] in _METHODS
    return prepare_process(is_asked and _is_large(policy, given))


def _is_large(policy: Policy, given: Any) -> bool:
    if given is not None:
        return isinstance(given, Table) and len(given) >= _LARGE_TABLE
    try:
        return policy.data.path == DEMO or Path(policy.data.path).stat().st_size >= _LARGE_FILE
    except OSError:  # a database, a pattern, or nothing: reading will say
        return False


@contextmanager
def begin_side_work(methods: tuple[Method, ...], original: Any, release: Release) -> Iterator[SideWork]:
    """Have the other process find out what there is to find out inside the block."""
    stated = release.losses.get("loss")
    due = is_advice_due(methods, original, release.data, None if stated is None else float(stated))
    prepared = find_prepared()
    reasons = None if prepared is None else _ask_for_reasons(prepared, release, original)
    with hold_process(is_needed=due) as process:
        tried = None
        if due and process is not None:
            tried = process.submit(list_tried_alternatives, methods[0], take_sample(original))
        yield SideWork(reasons, tried)


def _ask_for_reasons(process: SideProcess, release: Release, original: Any) -> Future[LevelReasons] | None:
    levels = release.details.get("levels")
    if not isinstance(release.method, Generalize) or not levels or not isinstance(original, Table):
        return None
    if len(original) > _MOST_ROWS:
        return None
    return process.submit(explain_levels, release.method, tuple(levels.values()), original)
