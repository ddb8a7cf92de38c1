# SPDX-License-Identifier: MIT
"""Groups of rows that agree in some columns, one set of columns at a time: partitions, refined column by column.

Some rows *ask*: their entry in the target column is hidden, or belongs to a stranger. The others *answer*: their entry
is visible. Every set of columns partitions both into groups of rows with the same, visible values; a group without an
asking row is dropped at once. So the work covers at most what the asking rows have in common with the rest. Nothing
else is dropped unless the caller's judgement says so; memory is one partition per column of the set.

The independent check of releases and the rule attack are built on it. The miner that methods use is another algorithm
(a search over single values), and shares no code with this one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Flags, Ints
from sfumato.errors import DataError
from sfumato.runtime.progress import report_progress

_DENSE = 1 << 21
"""Up to this many distinct keys are looked up in a plain table, more in a sorted list."""
_MANY = 20_000
"""From this many rows, compiled loops are worth loading."""
_REPORT_INTERVAL = 256
"""Progress is reported after this many sets of columns."""
_EXACT = 1 << 62
_PART = 1 << 20
"""Rows in narrow numbers are widened this many at a time."""


@dataclass(frozen=True, eq=False)
class AgreeingRows:
    """Groups of rows that agree in `columns`, numbered from 0."""

    columns: tuple[int, ...]
    groups: int
    query_rows: Ints
    """Asking rows, by number."""
    asking_group: Ints
    candidate_rows: Ints
    """Answering rows, by number."""
    answering_group: Ints

    def select_groups(self, group_mask: Flags) -> AgreeingRows:
        """Some of the groups, renumbered."""
        if group_mask.all():
            return self
        number = np.where(group_mask, np.cumsum(group_mask) - 1, -1)
        query_numbers, candidate_numbers = (
            number[self.asking_group],
            number.astype(self.answering_group.dtype)[self.answering_group],
        )
        a, b = query_numbers >= 0, candidate_numbers >= 0
        return AgreeingRows(
            self.columns,
            int(group_mask.sum()),
            self.query_rows[a],
            query_numbers[a],
            self.candidate_rows[b],
            candidate_numbers[b],
        )


Judgement = Callable[[AgreeingRows], Flags]
"""Judges the groups of a set of columns, and flags those worth splitting further."""


@dataclass(frozen=True, eq=False)
class AgreementQuestion:
    """The rows as codes: one array per column; a code equal to the column's width is a missing or hidden entry.

    Answering rows may have narrower codes than 64 bits; then everything that is held of them is narrow.
    """

    query_codes: Sequence[Ints]
    candidate_codes: Sequence[npt.NDArray[np.integer[Any]]]
    widths: Sequence[int]
    """The number of values of each column."""

    def walk(self, columns: Sequence[int], longest: int | None, judge: Judgement, step: str) -> None:
        """Judge the groups of every set of columns, the empty set first, as long as groups are worth splitting."""
        most = len(columns) if longest is None else min(longest, len(columns))
        open_sets: list[tuple[AgreeingRows, int]] = []
        set_count = 0

        def look(agreeing_rows: AgreeingRows, first_column: int) -> None:
            group_mask = judge(agreeing_rows)
            if len(agreeing_rows.columns) < most and first_column < len(columns) and bool(group_mask.any()):
                parent = agreeing_rows.select_groups(group_mask)
                open_sets.extend((parent, index) for index in range(len(columns) - 1, first_column - 1, -1))

        try:
            look(self._start_groups(), 0)
            while open_sets:
                parent, next_column = open_sets.pop()
                look(self._refine_groups(parent, columns[next_column]), next_column + 1)
                set_count += 1
                if set_count % _REPORT_INTERVAL == 0:
                    report_progress(step, set_count)
        except MemoryError:
            raise DataError(
                f"{step}: memory did not suffice after {set_count} sets of columns, so there is no answer; set "
                "max_length, raise the support, or merge rare values"
            ) from None

    def _start_groups(self) -> AgreeingRows:
        query_rows: Ints = np.arange(len(self.query_codes[0]) if len(self.query_codes) else 0, dtype=np.int64)
        narrow = any(codes.dtype != np.int64 for codes in self.candidate_codes)
        count = len(self.candidate_codes[0]) if len(self.candidate_codes) else 0
        candidate_rows: Any = np.arange(count, dtype=np.int32 if narrow else np.int64)
        return AgreeingRows((), 1, query_rows, np.zeros_like(query_rows), candidate_rows, np.zeros_like(candidate_rows))

    def _refine_groups(self, parent: AgreeingRows, column: int) -> AgreeingRows:
        """The groups, split by the values of one more column; rows in which it is hidden are dropped."""
        width = self.widths[column]
        values = self.query_codes[column][parent.query_rows]
        visible_mask = values < width
        asking_keys = parent.asking_group[visible_mask] * (width + 1) + values[visible_mask]
        keys, group = np.unique(asking_keys, return_inverse=True)
        rows, number = _select_keyed_rows(
            keys, parent.candidate_rows, parent.answering_group, self.candidate_codes[column], width + 1, parent.groups
        )
        return AgreeingRows(
            (*parent.columns, column),
            len(keys),
            parent.query_rows[visible_mask],
            group.astype(np.int64, copy=False),
            rows,
            number,
        )


def _select_keyed_rows(
    keys: Ints, rows: Ints, group: Ints, values: npt.NDArray[np.integer[Any]], width: int, groups: int
) -> tuple[Ints, Ints]:
    """The rows whose group and value form one of the keys (group × width + value), and which key."""
    if values.dtype != np.int64 or rows.dtype != np.int64:
        return _select_narrow_rows(keys, rows, group, values, width, groups)
    if len(rows) >= _MANY and groups * width <= _DENSE:
        from sfumato.kernels.entries.agreeing_rows import keep_agreeing_rows

        kept_rows, kept_groups = np.empty_like(rows), np.empty_like(group)
        kept_count = keep_agreeing_rows(
            rows, group, values, width, _index_keys(keys, groups * width), kept_rows, kept_groups
        )
        return kept_rows[:kept_count].copy(), kept_groups[:kept_count].copy()
    key_places = _look_up_keys(keys, group * width + values[rows], groups * width)
    kept_mask = key_places >= 0
    return rows[kept_mask], key_places[kept_mask]


def _select_narrow_rows(
    keys: Ints, rows: Ints, group: Ints, values: npt.NDArray[np.integer[Any]], width: int, groups: int
) -> tuple[Ints, Ints]:
    """The same for rows in narrow numbers, some at a time."""
    kept_rows, kept_groups = [rows[:0]], [group[:0]]
    for part in _split_rows(rows):
        part_values = values[rows[part]].astype(np.int64)
        kept_indices, number = _select_keyed_rows(
            keys, np.arange(len(part_values)), group[part].astype(np.int64), part_values, width, groups
        )
        kept_rows.append(rows[part][kept_indices])
        kept_groups.append(number.astype(group.dtype))
    return np.concatenate(kept_rows), np.concatenate(kept_groups)


def _split_rows(rows: Ints) -> list[slice]:
    return [slice(begin, begin + _PART) for begin in range(0, len(rows), _PART)]


def count_keyed_rows(
    keys: Ints, rows: Ints, group: Ints, values: npt.NDArray[np.integer[Any]], width: int, groups: int
) -> Ints:
    """How many of the rows have each of the keys, group × width + value."""
    if values.dtype != np.int64 or rows.dtype != np.int64:
        totals = np.zeros(len(keys), dtype=np.int64)
        for part in _split_rows(rows):
            part_values = values[rows[part]].astype(np.int64)
            totals += count_keyed_rows(
                keys, np.arange(len(part_values)), group[part].astype(np.int64), part_values, width, groups
            )
        return totals
    if len(rows) >= _MANY and groups * width <= _DENSE:
        from sfumato.kernels.entries.agreeing_rows import count_agreeing_pairs

        counts = np.zeros(len(keys), dtype=np.int64)
        count_agreeing_pairs(rows, group, values, width, _index_keys(keys, groups * width), counts)
        return counts
    key_places = _look_up_keys(keys, group * width + values[rows], groups * width)
    return np.bincount(key_places[key_places >= 0], minlength=len(keys))


def _index_keys(keys: Ints, size: int) -> Ints:
    table = np.full(size, -1, dtype=np.int64)
    table[keys] = np.arange(len(keys))
    return table


def _look_up_keys(keys: Ints, lookup_keys: Ints, size: int) -> Ints:
    """The index of each number below `size` among sorted ones; −1 if absent."""
    if size <= _DENSE:
        return np.asarray(_index_keys(keys, size)[lookup_keys])
    if not len(keys):
        return np.full(len(lookup_keys), -1, dtype=np.int64)
    key_places = np.minimum(np.searchsorted(keys, lookup_keys), len(keys) - 1)
    return np.where(keys[key_places] == lookup_keys, key_places, -1).astype(np.int64)


class CommonestValues(NamedTuple):
    """The most common value of each group."""

    values: Ints
    counts: Ints
    """How many of the group have it."""


def find_commonest_values(
    group: npt.NDArray[np.integer[Any]], value: npt.NDArray[np.integer[Any]], groups: int, width: int
) -> CommonestValues:
    """The most common value in each group and its count, the first of several; 0 in an empty group."""
    keys = group.astype(np.int64, copy=False) * width + value
    if 0 < groups * width <= _DENSE:
        table = np.bincount(keys, minlength=groups * width).reshape(groups, width)
        best = table.argmax(axis=1)
        return CommonestValues(best, table[np.arange(groups), best])
    keys, counts = np.unique(keys, return_counts=True)
    best, best_counts = np.full(groups, -1, dtype=np.int64), np.zeros(groups, dtype=np.int64)
    # Written in ascending order, so that the last write is the most common value, and among those the first.
    order = np.lexsort((-keys, counts))
    owner = keys[order] // max(width, 1)
    best[owner], best_counts[owner] = keys[order] % max(width, 1), counts[order]
    return CommonestValues(best, best_counts)


def reaches(part: npt.NDArray[Any], whole: npt.NDArray[Any], share: Fraction) -> Flags:
    """Whether part / whole ≥ share, exactly."""
    if share.denominator * max(int(whole.max(initial=0)), 1) >= _EXACT:
        part, whole = part.astype(object), whole.astype(object)
    return np.asarray(part * share.denominator >= whole * share.numerator, dtype=np.bool_)
