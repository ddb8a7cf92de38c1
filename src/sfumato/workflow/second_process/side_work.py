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

from sfumato.protect.anonymity.explain import (
    LevelReasons,
    explain_distinct_rows,
    explain_release,
    find_chosen_levels,
    group_explained_rows,
    has_reasons,
)
from sfumato.protect.anonymity.generalize import Generalize
from sfumato.protect.anonymity.search.distinct_tuples import DistinctTuples
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.levels_found import listen_to_levels
from sfumato.protect.anonymity.search.node_classes import Levels
from sfumato.protect.method import Method
from sfumato.release import Release
from sfumato.table import Table
from sfumato.workflow.policy import DEMO, Policy
from sfumato.workflow.second_process.early_start import LARGE_FILE, METHODS
from sfumato.workflow.second_process.side_process import (
    SideProcess,
    find_prepared,
    hold_process,
    prepare_process,
    wait_for,
)
from sfumato.workflow.summary.advice import TriedAlternative, is_advice_due, list_tried_alternatives, take_sample

_LARGE_TABLE = 10_000
"""Rows that take as long to protect as the other process takes to start."""
_MOST_ROWS = 2_000_000
"""More distinct rows are not sent: they would lie in memory twice."""
_LATE = (
    "Whether something else would lose less was not tried: on a first run, the code for it is still being compiled. "
    "Run it again for this advice."
)


@dataclass(frozen=True)
class SideWork:
    """What the other process was asked."""

    reasons: Future[LevelReasons] | None = None
    alternatives: Future[tuple[TriedAlternative, ...]] | None = None

    def collect_reasons(self, release: Release, original: Any) -> LevelReasons:
        """Why the levels of a release are as they are, found here if nobody was asked."""
        reasons = None if self.reasons is None else wait_for(self.reasons, "comparing before and after")
        if reasons is not None or not isinstance(original, Table):
            return reasons or LevelReasons()
        return explain_release(release, original)

    def collect_alternatives(self) -> tuple[TriedAlternative, ...] | None:
        """The alternatives that were tried; None if nobody was asked, or the process failed."""
        if self.alternatives is None:
            return None
        alternatives: tuple[TriedAlternative, ...] | None = wait_for(self.alternatives, "trying what would lose less")
        return alternatives if self.alternatives.done() else ()

    def list_notes(self) -> tuple[str, ...]:
        """What was not found out in time."""
        late = self.alternatives is not None and not self.alternatives.done()
        return (_LATE,) if late else ()


def prepare_side_work(policy: Policy, given_data: Any = None) -> AbstractContextManager[None]:
    """Inside the block the other process is started, if it may be needed in a run that takes some time."""
    methods = policy.methods
    is_asked = len(methods) == 1 and methods[0].describe()["method"] in METHODS
    return prepare_process(is_asked and _is_large(policy, given_data))


def _is_large(policy: Policy, given_data: Any) -> bool:
    if given_data is not None:
        return isinstance(given_data, Table) and len(given_data) >= _LARGE_TABLE
    try:
        return policy.data.path == DEMO or Path(policy.data.path).stat().st_size >= LARGE_FILE
    except OSError:  # a database, a pattern, or nothing: reading will say
        return False


class EarlyQuestion:
    """The question why levels are as they are, asked as soon as they are known, while the release is still made."""

    def __init__(self) -> None:
        """Nothing is asked yet."""
        self.reasons: Future[LevelReasons] | None = None

    def ask(self, method: Generalize, levels: Levels, grouping: Grouping) -> None:
        """Ask the process that was prepared, if any."""
        process = find_prepared()
        if process is not None and self.reasons is None:
            self.reasons = _ask_for_reasons(process, method, levels, grouping)


@contextmanager
def ask_early(methods: tuple[Method, ...]) -> Iterator[EarlyQuestion]:
    """Inside the block the only method of a run protects its data."""
    question = EarlyQuestion()
    if len(methods) != 1:
        yield question
        return
    with listen_to_levels(question.ask):
        yield question


@contextmanager
def begin_side_work(
    methods: tuple[Method, ...], original: Any, release: Release, early: Future[LevelReasons] | None = None
) -> Iterator[SideWork]:
    """Have the other process find out what there is to find out inside the block, besides what it was asked early."""
    stated_loss = release.losses.get("loss")
    due = is_advice_due(methods, original, release.data, None if stated_loss is None else float(stated_loss))
    prepared_process = find_prepared()
    reasons = early or (None if prepared_process is None else _ask_about_release(prepared_process, release, original))
    with hold_process(is_needed=due) as process:
        alternatives = None
        if due and process is not None:
            alternatives = process.submit(list_tried_alternatives, methods[0], take_sample(original))
        yield SideWork(reasons, alternatives)


def _ask_about_release(process: SideProcess, release: Release, original: Any) -> Future[LevelReasons] | None:
    chosen_levels = find_chosen_levels(release)
    if chosen_levels is None or not isinstance(original, Table):
        return None
    grouping = group_explained_rows(chosen_levels.method, original)
    return None if grouping is None else _ask_for_reasons(process, *chosen_levels, grouping)


def _ask_for_reasons(
    process: SideProcess, method: Generalize, levels: Levels, grouping: Grouping
) -> Future[LevelReasons] | None:
    compares = any(model.read_populations() for model in method.models)
    if compares or not has_reasons(method, grouping.shape) or grouping.distinct_rows > _MOST_ROWS:
        return None
    return process.submit(explain_distinct_rows, method, levels, DistinctTuples.of(grouping))
