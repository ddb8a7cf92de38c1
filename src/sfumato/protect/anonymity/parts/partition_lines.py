# SPDX-License-Identifier: MIT
"""What a partition cuts: lines, each of one person or of many people with equal values, in the order of these values.

Neither cuts nor clusters depend on the order of the rows. Clustering may publish people with equal values apart, so
some of them are a line each; of a large crowd, only a few least classes. These are taken from each judged value in its
share, and of those who agree in that, too, they are the first rows of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.protect.anonymity.models.sensitive_values import SensitiveColumn

_LARGEST_KEY = 1 << 62
_UNITS_ALONE = 8
"""How many least classes of a crowd are lines of one person each: with fewer, classes become larger."""


class JudgedValues(NamedTuple):
    """A column that models judge: its values in order, a missing one last."""

    name: str
    values: tuple[str | None, ...]
    hierarchy: Hierarchy | None


class PeopleCounts(NamedTuple):
    """Distinct combinations of places and of judged values, in their order, and how many people have each."""

    places: Codes
    values: Codes
    counts: Ints


@dataclass(frozen=True)
class PartitionLines:
    """The cells of each line, how many people it stands for, and their judged values."""

    cells: Codes
    weights: Ints
    sensitive: Mapping[str, SensitiveColumn]
    shared_lines: Codes
    """For each combination, the line of its people but for those who are a line each."""
    lone_counts: Ints
    """For each combination, how many people are a line each."""
    lines_alone: Codes
    """The lines of those people, combination after combination."""

    @classmethod
    def of(cls, people: PeopleCounts, judged_values: Sequence[JudgedValues], unit: int | None) -> PartitionLines:
        """Lines of people with equal values: a multiple of `unit` as one, the others one by one; without it, all."""
        counts = people.counts
        begins = np.ones(len(counts), dtype=np.bool_)
        begins[1:] = (people.places[1:] != people.places[:-1]).any(axis=1)
        starts, of_pair = np.flatnonzero(begins), np.cumsum(begins) - 1
        sizes = np.add.reduceat(counts, starts)
        rest = count_lone_people(sizes, unit, has_judged_values=bool(judged_values))
        is_heavy = sizes > rest
        first = np.cumsum(is_heavy + rest) - (is_heavy + rest)
        pairs, lines_alone = _spread_rest(counts, of_pair, rest, first + is_heavy)
        weights = np.ones(int((is_heavy + rest).sum()), dtype=np.int64)
        weights[first[is_heavy]] = (sizes - rest)[is_heavy]
        cells = people.places[np.repeat(starts, is_heavy + rest)]
        lone_counts, shared_lines = np.bincount(pairs, minlength=len(counts)).astype(np.int64), first[of_pair]
        shared_pairs = np.flatnonzero(counts > lone_counts)
        rows = np.concatenate([shared_lines[shared_pairs], lines_alone])
        codes = people.values[np.concatenate([shared_pairs, pairs])].astype(np.int64)
        many = np.concatenate([(counts - lone_counts)[shared_pairs], np.ones(len(pairs), dtype=np.int64)])
        sensitive = {
            column.name: _count_values(column, rows, codes[:, number], many)
            for number, column in enumerate(judged_values)
        }
        return cls(
            cells,
            weights,
            sensitive,
            shared_lines.astype(np.int32),
            lone_counts,
            np.asarray(lines_alone, dtype=np.int32),
        )

    def count_alone(self) -> int:
        """How many people are a line each."""
        return len(self.lines_alone)


def _count_values(column: JudgedValues, lines: Ints, codes: Ints, many: Ints) -> SensitiveColumn:
    """How many people of each line have each value of one column, line after line."""
    width = len(column.values)
    keys, key_index = np.unique(lines * width + codes, return_inverse=True)
    counts = np.bincount(key_index.ravel(), weights=many).astype(np.int64)
    return SensitiveColumn(column.name, column.values, keys // width, keys % width, counts, column.hierarchy)


def count_lone_people(sizes: Ints, unit: int | None, *, has_judged_values: bool) -> Ints:
    """How many of some people with equal values are a line each."""
    if unit is None:
        return sizes
    if unit == 1 or has_judged_values:  # a crowd is more likely accepted than a part of it
        return sizes % unit
    return np.where(sizes < _UNITS_ALONE * unit, sizes, sizes % unit + (_UNITS_ALONE - 1) * unit)


def _spread_rest(counts: Ints, of_pair: Ints, rest: Ints, first: Ints) -> tuple[Ints, Ints]:
    """The combination and the line of each person who is a line; by combination.

    Of the combinations with the same places, people are taken in turn, each as often as its share.
    """
    most = np.minimum(counts, rest[of_pair])
    pairs = np.repeat(np.arange(len(counts)), most)
    turn = np.arange(len(pairs)) - np.repeat(np.cumsum(most) - most, most)
    of_place = of_pair[pairs]
    if len(rest) == len(counts):  # nothing to take turns with
        return pairs, first[of_place] + turn
    order = np.lexsort((pairs, (2 * turn + 1) / counts[pairs], of_place))
    candidates = np.bincount(of_place, minlength=len(rest))
    rank = np.empty(len(pairs), dtype=np.int64)
    rank[order] = np.arange(len(pairs)) - (np.cumsum(candidates) - candidates)[of_place[order]]
    is_taken = rank < rest[of_place]
    return pairs[is_taken], (first[of_place] + rank)[is_taken]


class LonePeople:
    """Finds the rows of the people who are a line each: of every combination the first rows, batch after batch."""

    def __init__(self, lines: PartitionLines) -> None:
        """Begin before the first row."""
        self._remaining_counts = lines.lone_counts.copy()
        self._next_slots = np.cumsum(lines.lone_counts) - lines.lone_counts
        self.rows = np.full(lines.count_alone(), -1, dtype=np.int64)
        """The row of each, in the order of `lines_alone`."""

    def add_rows(self, pairs: Codes, rows: Ints) -> None:
        """Look at the next rows, given their combinations."""
        first_indices = find_first_rows(pairs, self._remaining_counts)
        distinct_pairs, begins, many = np.unique(pairs[first_indices], return_index=True, return_counts=True)
        turn = np.arange(len(first_indices)) - np.repeat(begins, many)
        self.rows[np.repeat(self._next_slots[distinct_pairs], many) + turn] = rows[first_indices]
        self._remaining_counts[distinct_pairs] -= many
        self._next_slots[distinct_pairs] += many


def find_first_rows(pairs: Codes, most: Ints) -> Ints:
    """Of every combination its first rows, this many at the most; by combination, then in their order."""
    row_indices = np.flatnonzero(most[pairs] > 0)
    row_indices = row_indices[np.argsort(pairs[row_indices], kind="stable")]
    distinct_pairs, begins, many = np.unique(pairs[row_indices], return_index=True, return_counts=True)
    turn = np.arange(len(row_indices)) - np.repeat(begins, many)
    return row_indices[turn < np.repeat(most[distinct_pairs], many)]


@dataclass(frozen=True)
class DistinctCells:
    """Finds the number of a row among distinct rows by its codes, packed into one number."""

    widths: tuple[int, ...]
    """How many codes each column has."""
    prefixes: Mapping[int, Ints]
    """Where numbers would grow too long: column → the numbers of the columns before it, which become their ranks."""
    keys: Ints
    """The number of each distinct row, ascending."""

    def find_rows(self, cells: Codes, source: str) -> Codes:
        """Which of the distinct rows each row is."""
        key = np.zeros(len(cells), dtype=np.int64)
        for column, width in enumerate(self.widths):
            if column in self.prefixes:
                key = _find_ranks(self.prefixes[column], key, source)
            key = key * width + cells[:, column]
        return _find_ranks(self.keys, key, source).astype(np.int32)


class IndexedRows(NamedTuple):
    """The distinct rows among some, and which of them each row is."""

    distinct_cells: DistinctCells
    of_row: Codes


def index_distinct_rows(cells: Codes, widths: Sequence[int]) -> IndexedRows:
    """The distinct rows among some, in the order of their codes, and which of them each row is."""
    prefixes: dict[int, Ints] = {}
    key, radix = np.zeros(len(cells), dtype=np.int64), 1
    for column, width in enumerate(widths):
        if radix * width > _LARGEST_KEY:
            prefixes[column], ranks = np.unique(key, return_inverse=True)
            key, radix = ranks.ravel().astype(np.int64), len(prefixes[column])
        key, radix = key * width + cells[:, column], radix * width
    keys, of_row = np.unique(key, return_inverse=True)
    return IndexedRows(DistinctCells(tuple(widths), prefixes, keys), of_row.ravel().astype(np.int32))


def _find_ranks(keys: Ints, sought_keys: Ints, source: str) -> Ints:
    ranks = np.searchsorted(keys, sought_keys)
    if len(sought_keys) and not (len(keys) and (keys[np.minimum(ranks, len(keys) - 1)] == sought_keys).all()):
        raise DataError(
            f"{source}: some rows were not there when rows were counted; leave the files alone and run again"
        )
    return ranks
