# SPDX-License-Identifier: MIT
"""Cutting a table into parts, each time in the column where a cut saves most (LeFevre et al. 2006).

With k-anonymity alone a kernel cuts depth first. Other models must judge both sides before a cut, so all open parts are
cut and judged at once, level by level, each in its next best column until one is accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Protocol

import numpy as np

from sfumato.arrays import Codes, Flags, Floats, Ints
from sfumato.errors import PolicyError
from sfumato.progress import report_progress
from sfumato.protect.anonymity.model import PrivacyModel
from sfumato.protect.anonymity.model_judge import ModelJudge
from sfumato.protect.anonymity.models import AlphaKAnonymity, KAnonymity, LDiversity
from sfumato.protect.anonymity.node_classes import NodeClasses
from sfumato.protect.anonymity.partition_columns import PartitionColumns
from sfumato.protect.anonymity.sensitive_values import SensitiveColumn
from sfumato.table import Table


class GroupJudgement(Protocol):
    """Decides which groups of rows may not be published."""

    @property
    def least(self) -> int:
        """The smallest size of an accepted group."""

    @property
    def by_size(self) -> bool:
        """Whether every group of that size or more is accepted."""

    def refused(self, of_row: Codes) -> Flags:
        """Which groups are refused, given the group of every row."""


@dataclass(frozen=True)
class SizeJudge:
    """Accepts every group that is large enough."""

    least: int
    by_size: bool = True

    def refused(self, of_row: Codes) -> Flags:
        """Which groups are too small."""
        return np.bincount(of_row) < self.least


class GroupJudge:
    """Judges groups of rows by models, as `judge_groups` does, with the sensitive columns counted once."""

    def __init__(self, table: Table, models: Sequence[PrivacyModel]) -> None:
        """Count the sensitive columns; a model that needs a population cannot judge groups."""
        for model in models:
            if hasattr(model, "population"):
                raise PolicyError(
                    f"{model.model} compares with a population, which a partition does not have; use generalize"
                )
        self.models = tuple(models)
        self.least = max(_get_least_size(model) for model in models)
        self.by_size = all(isinstance(model, KAnonymity) for model in models)
        self._judge = ModelJudge(self.models)
        self._sensitive = {name: SensitiveColumn.of(table, name) for name in self._judge.columns()}

    def refused(self, of_row: Codes) -> Flags:
        """Which groups some model refuses; groups are numbered from 0 without gaps."""
        sizes = np.bincount(of_row).astype(np.int64)
        if self.by_size:
            return sizes < self.least
        return self._judge.refuses(NodeClasses(of_row, sizes, sizes, self._sensitive))


def _get_least_size(model: PrivacyModel) -> int:
    if isinstance(model, (KAnonymity, AlphaKAnonymity)):
        return model.k
    # A class of l well-represented values, of any kind, has at least l rows.
    return max(1, ceil(model.l - 1e-9)) if isinstance(model, LDiversity) else 1


@dataclass(frozen=True)
class RowParts:
    """Rows in parts: the cells and the number of each row in the order of the parts, and the offsets of the parts."""

    cells: Codes
    order: Codes
    starts: Ints

    @classmethod
    def whole(cls, cells: Codes) -> RowParts:
        """The table as a single part."""
        return cls(cells, np.arange(len(cells), dtype=np.int32), np.array([0, len(cells)], dtype=np.int64))

    def regroup_parts(self, part_of_place: Ints) -> RowParts:
        """The same rows in other parts, which are numbered without gaps."""
        from sfumato.kernels.anonymity.partition import regroup_rows

        starts = np.concatenate([[0], np.cumsum(np.bincount(part_of_place))]).astype(np.int64)
        made = RowParts(np.empty_like(self.cells), np.empty_like(self.order), starts)
        regroup_rows(self.cells, self.order, part_of_place.astype(np.int64), starts, made.cells, made.order)
        return made

    def some(self, kept: Flags) -> RowParts:
        """Some of the parts."""
        sizes = np.diff(self.starts)
        rows = np.repeat(kept, sizes)
        starts = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64)
        return RowParts(self.cells[rows], self.order[rows], starts)

    @property
    def of_place(self) -> Codes:
        """The part of every row, in the order of the parts."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    @property
    def of_row(self) -> Codes:
        """The part of every row, in the order of the table."""
        of_row = np.empty(len(self.order), dtype=np.int32)
        of_row[self.order] = self.of_place
        return of_row


def cut_into_parts(
    parts: RowParts, columns: PartitionColumns, judge: GroupJudgement, largest: int, relaxed: bool
) -> RowParts:
    """Cut parts until they have at most `largest` rows, or no cut is allowed."""
    from sfumato.kernels.anonymity.partition import cut_parts

    cells, order = parts.cells.copy(), parts.order.copy()
    if judge.by_size:
        starts = cut_parts(cells, order, parts.starts, columns.described, judge.least, largest, relaxed)
        return RowParts(cells, order, starts)
    return _cut_judged(RowParts(cells, order, parts.starts), columns, judge, largest, relaxed)


@dataclass(frozen=True)
class _PartCuts:
    """The cut of each part in each column: the value it is made at, the rows on its left, what it saves."""

    begins: Ints
    ends: Ints
    values: Ints
    lefts: Ints
    gains: Floats


def _cut_judged(
    parts: RowParts, columns: PartitionColumns, judge: GroupJudgement, largest: int, relaxed: bool
) -> RowParts:
    """Cut level by level; `parts` is reordered."""
    begins, ends = parts.starts[:-1], parts.starts[1:]
    closed: list[Ints] = []
    rows = len(parts.order)
    while len(begins):
        large = ends - begins > max(largest, 2 * judge.least - 1)
        closed.append(begins[~large])
        report_progress("cutting the table", rows - int((ends - begins)[large].sum()), rows)
        cuts = _propose_cuts_of_parts(parts, columns, begins[large], ends[large], judge.least, relaxed)
        made = _accept_cuts(parts, cuts, judge)
        closed.append(cuts.begins[made == 0])
        done = made > 0
        middles = cuts.begins[done] + made[done]
        begins = np.concatenate([cuts.begins[done], middles])
        ends = np.concatenate([middles, cuts.ends[done]])
    starts = np.sort(np.concatenate([*closed, np.array([rows], dtype=np.int64)]))
    return RowParts(parts.cells, parts.order, starts)


def _propose_cuts_of_parts(
    parts: RowParts, columns: PartitionColumns, begins: Ints, ends: Ints, least: int, relaxed: bool
) -> _PartCuts:
    from sfumato.kernels.anonymity.partition import PartCuts, propose_cuts

    shape = (len(begins), len(columns.each))
    cuts = _PartCuts(
        begins, ends, np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64), np.full(shape, -1.0)
    )
    propose_cuts(
        parts.cells, begins, ends, columns.described, least, relaxed, PartCuts(cuts.values, cuts.lefts, cuts.gains)
    )
    return cuts


def _accept_cuts(parts: RowParts, cuts: _PartCuts, judge: GroupJudgement) -> Ints:
    """Cut each part in the best column in which both sides are accepted; return the rows on the left, 0 if none."""
    from sfumato.kernels.anonymity.partition import make_cuts

    made = np.zeros(len(cuts.begins), dtype=np.int64)
    ranked = np.argsort(-cuts.gains, axis=1, kind="stable")
    undecided = np.arange(len(cuts.begins))
    for attempt in range(cuts.gains.shape[1]):
        undecided = undecided[cuts.gains[undecided, ranked[undecided, attempt]] >= 0]
        if not len(undecided):
            break
        chosen = ranked[undecided, attempt].astype(np.int64)
        lefts = cuts.lefts[undecided, chosen]
        begins, ends = cuts.begins[undecided], cuts.ends[undecided]
        make_cuts(parts.cells, parts.order, begins, ends, chosen, cuts.values[undecided, chosen], lefts)
        fine = ~_flag_refused_sides(parts.order, begins, begins + lefts, ends, judge)
        made[undecided[fine]] = lefts[fine]
        undecided = undecided[~fine]
    return made


def _flag_refused_sides(order: Codes, begins: Ints, middles: Ints, ends: Ints, judge: GroupJudgement) -> Flags:
    """Whether one of the two sides of each cut is refused; all other rows form one group that does not count."""
    edges = np.zeros(len(order) + 1, dtype=np.int32)
    edges[np.concatenate([begins, middles, ends])] = 1
    # Parts and gaps alternate along the rows; each run gets its own number, in order.
    run = np.cumsum(edges[:-1], dtype=np.int32)
    numbers = np.zeros(int(run[-1]) + 1, dtype=np.int32)
    numbers[run[begins]] = 2 * np.arange(len(begins)) + 1
    numbers[run[middles]] = 2 * np.arange(len(begins)) + 2
    of_place = numbers[run]
    if int((ends - begins).sum()) == len(order):
        of_place = of_place - np.int32(1)
        first = 0
    else:
        first = 1
    of_row = np.empty(len(order), dtype=np.int32)
    of_row[order] = of_place
    refused = judge.refused(of_row)[first:]
    return refused[0::2] | refused[1::2]
