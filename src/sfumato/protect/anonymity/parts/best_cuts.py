# SPDX-License-Identifier: MIT
"""Cutting a table into parts, each time in the column where a cut saves most (LeFevre et al. 2006).

With k-anonymity alone a kernel cuts depth first. Other models must judge both sides before a cut, so all open parts are
cut and judged at once, level by level, each in its next best column until one is accepted. What is cut are lines, which
may stand for several people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sfumato.arrays import Codes, Flags, Floats, Ints
from sfumato.errors import ImpossibleRelease, PolicyError, count_noun
from sfumato.protect.anonymity.models.class_models import KAnonymity
from sfumato.protect.anonymity.models.model import PrivacyModel
from sfumato.protect.anonymity.models.model_judge import ModelJudge
from sfumato.protect.anonymity.models.sensitive_values import SensitiveColumn
from sfumato.protect.anonymity.parts.partition_columns import PartitionColumns
from sfumato.protect.anonymity.search.node_classes import NodeClasses
from sfumato.runtime.progress import report_progress

if TYPE_CHECKING:
    from sfumato.kernels.anonymity.partition import PartLines


class GroupJudgement(Protocol):
    """Decides which groups of rows may not be published."""

    @property
    def least(self) -> int:
        """The smallest size of an accepted group."""

    @property
    def by_size(self) -> bool:
        """Whether every group of that size or more is accepted."""

    @property
    def weights(self) -> Ints:
        """How many people each line stands for."""

    def flag_refused(self, of_line: Codes) -> Flags:
        """Which groups are refused, given the group of every line."""


@dataclass(frozen=True)
class SizeJudge:
    """Accepts every group that is large enough."""

    least: int
    weights: Ints
    by_size: bool = True

    def flag_refused(self, of_line: Codes) -> Flags:
        """Which groups are too small."""
        return np.bincount(of_line, weights=self.weights) < self.least


class GroupJudge:
    """Judges groups of lines by models, as `ModelJudge` does classes, with the sensitive columns counted once."""

    def __init__(self, models: Sequence[PrivacyModel], weights: Ints, sensitive: Mapping[str, SensitiveColumn]) -> None:
        """Take the people and the sensitive values of each line."""
        self.models = tuple(models)
        self.weights, self.sensitive = weights, sensitive
        self.least = find_least_size(models)
        self.by_size = all(isinstance(model, KAnonymity) for model in models)
        self._judge = ModelJudge(self.models)

    def flag_refused(self, of_line: Codes) -> Flags:
        """Which groups some model refuses; groups are numbered from 0 without gaps."""
        sizes = np.bincount(of_line, weights=self.weights).astype(np.int64)
        if self.by_size:
            return sizes < self.least
        return self._judge.refuses(NodeClasses(of_line, sizes, sizes, self.sensitive))

    def refuse_impossible(self) -> None:
        """Stop if the whole table, as a single class, does not satisfy every model."""
        single_group, people = np.zeros(len(self.weights), dtype=np.int32), int(self.weights.sum())
        judges = [GroupJudge((model,), self.weights, self.sensitive) for model in self.models]
        names = [judge.models[0].model for judge in judges if judge.flag_refused(single_group).any()]
        if names:
            raise ImpossibleRelease(
                f"even all rows together ({count_noun(people, 'row')}) do not satisfy {', '.join(names)}; relax "
                f"{'it' if len(names) == 1 else 'them'} (k = {people} at most), or add rows"
            )


def refuse_populations(models: Sequence[PrivacyModel]) -> None:
    """Stop if a model needs a population, which groups are not compared with."""
    for model in models:
        if model.has_population:
            raise PolicyError(
                f"{model.model} compares with a population, which a partition does not have; use generalize"
            )


def find_least_size(models: Sequence[PrivacyModel]) -> int:
    """The smallest size of a group that models may accept."""
    return max(1, *(model.least_crowd for model in models))


@dataclass(frozen=True)
class RowParts:
    """Lines in parts: the cells, number and people of each line in the order of the parts, and the parts' offsets."""

    cells: Codes
    order: Codes
    weights: Ints
    starts: Ints

    @classmethod
    def build_single(cls, cells: Codes, weights: Ints) -> RowParts:
        """The table as a single part."""
        return cls(cells, np.arange(len(cells), dtype=np.int32), weights, np.array([0, len(cells)], dtype=np.int64))

    @property
    def lines(self) -> PartLines:
        """What the kernels bring into order."""
        from sfumato.kernels.anonymity.partition import PartLines

        return PartLines(self.cells, self.order, self.weights)

    def copy_lines(self) -> RowParts:
        """The same lines, to be brought into another order."""
        return RowParts(self.cells.copy(), self.order.copy(), self.weights.copy(), self.starts)

    def regroup_parts(self, part_of_place: Ints) -> RowParts:
        """The same lines in other parts, which are numbered without gaps."""
        from sfumato.kernels.anonymity.partition import regroup_lines

        starts = np.concatenate([[0], np.cumsum(np.bincount(part_of_place))]).astype(np.int64)
        regrouped_parts = RowParts(
            np.empty_like(self.cells), np.empty_like(self.order), np.empty_like(self.weights), starts
        )
        regroup_lines(self.lines, part_of_place.astype(np.int64), starts, regrouped_parts.lines)
        return regrouped_parts

    def take(self, part_mask: Flags) -> RowParts:
        """Some of the parts."""
        counts = np.diff(self.starts)
        lines = np.repeat(part_mask, counts)
        starts = np.concatenate([[0], np.cumsum(counts[part_mask])]).astype(np.int64)
        return RowParts(self.cells[lines], self.order[lines], self.weights[lines], starts)

    @cached_property
    def sizes(self) -> Ints:
        """How many people each part has."""
        return count_people(self.weights, self.starts[:-1], self.starts[1:])

    @property
    def of_place(self) -> Codes:
        """The part of every line, in the order of the parts."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    @property
    def of_line(self) -> Codes:
        """The part of every line, in the order of the lines."""
        of_line = np.empty(len(self.order), dtype=np.int32)
        of_line[self.order] = self.of_place
        return of_line


def count_people(weights: Ints, begins: Ints, ends: Ints) -> Ints:
    """How many people runs of lines have."""
    sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(weights)])
    people: Ints = sums[ends] - sums[begins]
    return people


def cut_into_parts(
    parts: RowParts, columns: PartitionColumns, judge: GroupJudgement, largest: int, is_relaxed: bool
) -> RowParts:
    """Cut parts until they have at most `largest` people, or no cut is allowed.

    Lines stay whole, unless `is_relaxed`: then each must be a single person.
    """
    from sfumato.kernels.anonymity.partition import cut_parts

    copied_parts = parts.copy_lines()
    if judge.by_size:
        starts = cut_parts(copied_parts.lines, parts.starts, columns.description, judge.least, largest, is_relaxed)
        return replace(copied_parts, starts=starts)
    return _cut_judged(copied_parts, columns, judge, largest, is_relaxed)


@dataclass(frozen=True)
class _CutOfParts:
    """The cut of each part in each column: the value it is made at, the people on its left, what it saves."""

    begins: Ints
    ends: Ints
    values: Ints
    lefts: Ints
    gains: Floats


def _cut_judged(
    parts: RowParts, columns: PartitionColumns, judge: GroupJudgement, largest: int, is_relaxed: bool
) -> RowParts:
    """Cut level by level; `parts` is reordered."""
    begins, ends = parts.starts[:-1], parts.starts[1:]
    closed_starts: list[Ints] = []
    rows = len(parts.order)
    while len(begins):
        large = count_people(parts.weights, begins, ends) > max(largest, 2 * judge.least - 1)
        closed_starts.append(begins[~large])
        report_progress("cutting the table", rows - int((ends - begins)[large].sum()), rows)
        cuts = _propose_cuts_of_parts(parts, columns, begins[large], ends[large], judge.least, is_relaxed)
        cut_places = _accept_cuts(parts, cuts, judge)
        closed_starts.append(cuts.begins[cut_places == 0])
        cut_mask = cut_places > 0
        middles = cut_places[cut_mask]
        begins = np.concatenate([cuts.begins[cut_mask], middles])
        ends = np.concatenate([middles, cuts.ends[cut_mask]])
    starts = np.sort(np.concatenate([*closed_starts, np.array([rows], dtype=np.int64)]))
    return replace(parts, starts=starts)


def _propose_cuts_of_parts(
    parts: RowParts, columns: PartitionColumns, begins: Ints, ends: Ints, least: int, is_relaxed: bool
) -> _CutOfParts:
    from sfumato.kernels.anonymity.partition import PartCuts, propose_cuts

    shape = (len(begins), len(columns.columns))
    cuts = _CutOfParts(
        begins, ends, np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64), np.full(shape, -1.0)
    )
    propose_cuts(
        parts.lines, begins, ends, columns.description, least, is_relaxed, PartCuts(cuts.values, cuts.lefts, cuts.gains)
    )
    return cuts


def _accept_cuts(parts: RowParts, cuts: _CutOfParts, judge: GroupJudgement) -> Ints:
    """Cut each part in the best column in which both sides are accepted; return where the right side begins or 0."""
    from sfumato.kernels.anonymity.partition import make_cuts

    cut_places = np.zeros(len(cuts.begins), dtype=np.int64)
    column_order = np.argsort(-cuts.gains, axis=1, kind="stable")
    open_parts = np.arange(len(cuts.begins))
    for attempt in range(cuts.gains.shape[1]):
        open_parts = open_parts[cuts.gains[open_parts, column_order[open_parts, attempt]] >= 0]
        if not len(open_parts):
            break
        cut_columns = column_order[open_parts, attempt].astype(np.int64)
        begins, ends = cuts.begins[open_parts], cuts.ends[open_parts]
        values, lefts = cuts.values[open_parts, cut_columns], cuts.lefts[open_parts, cut_columns]
        middles = make_cuts(parts.lines, begins, ends, cut_columns, values, lefts)
        fine = ~_flag_refused_sides(parts.order, begins, middles, ends, judge)
        cut_places[open_parts[fine]] = middles[fine]
        open_parts = open_parts[~fine]
    return cut_places


def _flag_refused_sides(order: Codes, begins: Ints, middles: Ints, ends: Ints, judge: GroupJudgement) -> Flags:
    """Whether one of the two sides of each cut is refused; all other lines form one group that does not count."""
    edges = np.zeros(len(order) + 1, dtype=np.int32)
    edges[np.concatenate([begins, middles, ends])] = 1
    # Parts and gaps alternate along the lines; each run gets its own number, in order.
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
    of_line = np.empty(len(order), dtype=np.int32)
    of_line[order] = of_place
    refused_mask = judge.flag_refused(of_line)[first:]
    return refused_mask[0::2] | refused_mask[1::2]
