# SPDX-License-Identifier: MIT
"""Look up published supports of many itemsets with all their subsets at once.

Only sets with all their subsets are included; the others are kept separately. It shares no code with
:mod:`sfumato.mine`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Ints

_ROOM = 1 << 21


@dataclass(frozen=True, eq=False)
class KnownSupports:
    """Sets numbered from 1, shorter ones first; 0 is the empty set."""

    tables: tuple[Ints, ...]
    """The sets of one item, of two, and so on: one row each, codes ascending."""
    keys: Ints
    """For each set, the number of the set without its last item and that item, combined in one number; ascending."""
    supports: Ints
    width: int
    aside: tuple[tuple[tuple[int, ...], int], ...]
    """Sets with an unknown subset, and their supports."""

    @classmethod
    def of(cls, sets: dict[tuple[int, ...], int], baskets: int, width: int) -> KnownSupports:
        """Sort sets (tuples of ascending codes) by length; a set is included if all its subsets with one item fewer
        are.
        """
        known_supports = cls((), np.zeros(0, np.int64), np.array([baskets], dtype=np.int64), max(width, 1), ())
        aside: list[tuple[tuple[int, ...], int]] = []
        for length in range(1, max(map(len, sets), default=0) + 1):
            rows = sorted(itemset for itemset in sets if len(itemset) == length)
            table = np.array(rows, dtype=np.int64).reshape(len(rows), length)
            fits = np.ones(len(rows), dtype=bool)
            for dropped_column in range(length):
                fits &= known_supports.number_sets(np.delete(table, dropped_column, axis=1)) >= 0
            aside += [(itemset, sets[itemset]) for itemset, fit in zip(rows, fits.tolist(), strict=True) if not fit]
            table = table[fits]
            keys = known_supports.number_sets(table[:, :-1]) * known_supports.width + table[:, -1]
            supports = np.array([sets[tuple(itemset)] for itemset in table.tolist()], dtype=np.int64)
            known_supports = cls(
                (*known_supports.tables, table),
                np.concatenate((known_supports.keys, keys)),
                np.concatenate((known_supports.supports, supports)),
                known_supports.width,
                tuple(aside),
            )
        return known_supports

    def number_sets(self, table: Ints) -> Ints:
        """The number of each row's set, −1 if unknown."""
        numbers = np.zeros(len(table), dtype=np.int64)
        for column in range(table.shape[1]):
            numbers = self._join_items(numbers, table[:, column])
        return numbers

    def number_subsets(self, table: Ints) -> Ints:
        """The numbers of all subsets of each row's set, indexed by the bits of the included columns."""
        subset_numbers = np.zeros((len(table), 1), dtype=np.int64)
        for column in range(table.shape[1]):
            more = self._join_items(subset_numbers, np.broadcast_to(table[:, column, None], subset_numbers.shape))
            subset_numbers = np.concatenate((subset_numbers, more), axis=1)
        return subset_numbers

    def _join_items(self, numbers: Ints, items: Ints) -> Ints:
        if not len(self.keys):
            return np.full(numbers.shape, -1, dtype=np.int64)
        wanted_keys = numbers * self.width + items
        places = np.minimum(np.searchsorted(self.keys, wanted_keys), len(self.keys) - 1)
        return np.where((numbers >= 0) & (self.keys[places] == wanted_keys), places + 1, -1)

    def count_exact_holders(self, subsets: Ints) -> Ints:
        """How many baskets hold exactly each subset of a set, and nothing else of it; unknown sets count as 0."""
        counts = np.where(subsets < 0, 0, self.supports[subsets])
        step = 1
        while step < counts.shape[1]:
            halves = counts.reshape(len(counts), -1, 2, step)
            halves[:, :, 0] -= halves[:, :, 1]
            step *= 2
        return counts

    def iterate_known(self) -> Iterator[Ints]:
        """The known sets, in blocks of one length."""
        for table in self.tables:
            yield from _split_set_table(table)

    def iterate_unknown(self) -> Iterator[Ints]:
        """The sets of three or more that are unknown while all their proper subsets are known, in blocks."""
        for table in self.tables[1:]:
            parents = self.number_sets(table[:, :-1])
            ends = np.searchsorted(parents, parents, side="right")
            partners = ends - np.arange(len(table)) - 1
            first = np.repeat(np.arange(len(table)), partners)
            second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(partners) - partners, partners)
            for index in range(0, len(first), _ROOM):
                candidates = np.column_stack(
                    (table[first[index : index + _ROOM]], table[second[index : index + _ROOM], -1])
                )
                fits = self.number_sets(candidates) < 0
                for dropped_column in range(candidates.shape[1] - 2):
                    fits &= self.number_sets(np.delete(candidates, dropped_column, axis=1)) >= 0
                yield from _split_set_table(candidates[fits])


def _split_set_table(table: Ints) -> Iterator[Ints]:
    """Rows in blocks whose subsets fit in memory."""
    size = max(1, _ROOM >> table.shape[1])
    for index in range(0, len(table), size):
        yield table[index : index + size]
