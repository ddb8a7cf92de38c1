# SPDX-License-Identifier: MIT
"""Itemsets of known support as a tree, and the search for patterns that their supports determine.

The tree holds the largest part of a collection in which every subset of a set is included too; the other sets are
listed, since inclusion-exclusion needs all the subsets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Codes, Flags, Ints
from sfumato.runtime.progress import report_progress


@dataclass(frozen=True, eq=False)
class KnownSets:
    """A tree of itemsets: node 0 is the empty set, then the sets level by level, each in the order of its items."""

    first_child: Ints
    """The children of node v are `first_child[v]` up to `first_child[v + 1]`."""
    item: Codes
    """The last item of each node's set; −1 for the empty set."""
    supports: Ints
    offsets: Ints
    """The set of node v is `codes[offsets[v]:offsets[v + 1]]`."""
    codes: Codes
    rows: Ints
    """The index of each node's set in the collection; −1 for the empty set."""
    left_over: Ints
    """The sets of the collection that are not in the tree: some subset of theirs is unknown."""

    @classmethod
    def of(cls, offsets: Ints, codes: Codes, supports: Ints, baskets: int) -> KnownSets:
        """Put sets with ascending codes into a tree."""
        lengths = np.diff(offsets)
        levels: list[_SetLevel] = []
        left_over: list[Ints] = []
        for length in range(1, int(lengths.max(initial=0)) + 1):
            rows = np.flatnonzero(lengths == length)
            table = codes[offsets[rows][:, None] + np.arange(length)].astype(np.int64).reshape(len(rows), length)
            fits = _flag_complete_sets(levels, table)
            left_over.append(rows[~fits])
            levels.append(_SetLevel.of(levels, table[fits], rows[fits]))
        return cls._join(levels, supports, baskets, np.concatenate([np.zeros(0, np.int64), *left_over]))

    @classmethod
    def _join(cls, levels: Sequence[_SetLevel], supports: Ints, baskets: int, left_over: Ints) -> KnownSets:
        sizes = [1, *(len(level.rows) for level in levels)]
        begins = np.cumsum([0, *sizes])
        parents = [np.zeros(0, np.int64), *(level.parents + begins[index] for index, level in enumerate(levels))]
        children = np.bincount(np.concatenate(parents), minlength=int(begins[-1]))
        rows = np.concatenate([[-1], *(level.rows for level in levels)]).astype(np.int64)
        lengths = np.repeat(np.arange(len(sizes)), sizes)
        return cls(
            first_child=np.concatenate(([1], 1 + np.cumsum(children))).astype(np.int64),
            item=np.concatenate([[-1], *(level.table[:, -1] for level in levels)]).astype(np.int32),
            supports=np.where(rows < 0, baskets, supports[rows] if supports.size else baskets).astype(np.int64),
            offsets=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
            codes=np.concatenate([np.zeros(0, np.int64), *(level.table.ravel() for level in levels)]).astype(np.int32),
            rows=rows,
            left_over=left_over,
        )

    @property
    def deepest(self) -> int:
        """The number of items of the largest set."""
        return int(np.diff(self.offsets).max(initial=0))

    def list_members(self, node: int) -> tuple[int, ...]:
        """The items of a node's set."""
        return tuple(self.codes[self.offsets[node] : self.offsets[node + 1]].tolist())

    def flag_maximal(self) -> Flags:
        """Which nodes have no larger known set above them."""
        is_maximal = np.ones(len(self.rows), dtype=bool)
        levels = np.diff(self.offsets)
        lower_levels: list[_SetLevel] = []
        for length in range(1, self.deepest + 1):
            nodes = np.flatnonzero(levels == length)
            table = self.codes[self.offsets[nodes][:, None] + np.arange(length)].astype(np.int64)
            begin = np.searchsorted(levels, length - 1)
            for omitted_column in range(length):
                is_maximal[begin + _look_up_sets(lower_levels, np.delete(table, omitted_column, axis=1))] = False
            lower_levels.append(_SetLevel.of(lower_levels, table, nodes))
        return is_maximal

    def find_small_patterns(self, k: int, border: bool, ceiling: int | None = None) -> Ints:
        """Patterns that the supports put between 1 and k − 1, as records (see the kernel)."""
        from sfumato.kernels.patterns.small_patterns import RECORD_WIDTH, find_small_patterns

        room = np.zeros((2, 4 << self.deepest), dtype=np.int64)
        odd = np.zeros(2 << self.deepest, dtype=np.int8)
        for bit in range(self.deepest + 1):
            odd[1 << bit : 2 << bit] = 1 - odd[: 1 << bit]
        records = [np.zeros((0, RECORD_WIDTH), dtype=np.int64)]
        tops = range(int(self.first_child[0]), int(self.first_child[1]))
        highest = -1 if ceiling is None else ceiling
        for top in tops:
            report_progress("looking for inference channels", top - tops.start, len(tops))
            records.append(
                find_small_patterns(
                    self.first_child, self.item, self.supports, top, k, border, highest, room[0], room[1], odd
                )
            )
        return np.concatenate(records)


@dataclass(frozen=True, eq=False)
class _SetLevel:
    """The sets of one length, sorted."""

    table: Ints
    rows: Ints
    parents: Ints
    """The index of each set without its last item in the level below."""
    keys: Ints
    """Parent and last item in one number, ascending."""
    width: int

    @classmethod
    def of(cls, lower_levels: Sequence[_SetLevel], table: Ints, rows: Ints) -> _SetLevel:
        order = np.lexsort(table.T[::-1])
        table, rows = table[order], rows[order]
        parents = _look_up_sets(lower_levels, table[:, :-1])
        width = int(table.max(initial=0)) + 1
        return cls(table, rows, parents, parents * width + table[:, -1], width)


def _look_up_sets(levels: Sequence[_SetLevel], table: Ints) -> Ints:
    """The index of each row's set in its level, −1 if absent."""
    level_places = np.zeros(len(table), dtype=np.int64)
    for column in range(table.shape[1]):
        level = levels[column]
        set_keys = level_places * level.width + table[:, column]
        places = np.minimum(np.searchsorted(level.keys, set_keys), max(len(level.keys) - 1, 0))
        known_mask = (level_places >= 0) & (table[:, column] < level.width)
        hit = known_mask & (level.keys[places] == set_keys) if len(level.keys) else np.zeros(len(table), dtype=bool)
        level_places = np.where(hit, places, -1)
    return level_places


def _flag_complete_sets(levels: Sequence[_SetLevel], table: Ints) -> Flags:
    """Rows for which every set with one item fewer is in the level below."""
    fits = np.ones(len(table), dtype=bool)
    for omitted_column in range(table.shape[1]):
        fits &= _look_up_sets(levels, np.delete(table, omitted_column, axis=1)) >= 0
    return fits
