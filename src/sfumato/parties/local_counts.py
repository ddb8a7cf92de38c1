# SPDX-License-Identifier: MIT
"""How many of a site's own baskets hold each candidate, and which candidates come next. Nothing here is sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from sfumato.arrays import Ints, Words
from sfumato.baskets import Baskets, Item
from sfumato.parties.result import Itemset
from sfumato.parties.transport.liveness import stop_if_failed

_BATCH_WORDS = 1 << 22


class LocalCounts:
    """A bitmap of baskets for each item, and counts of itemsets by intersecting them."""

    def __init__(self, baskets: Baskets, as_text: bool) -> None:
        """Build the bitmaps of the items that are asked for only when they are."""
        names: Sequence[Item] = [str(item) for item in baskets.items] if as_text else baskets.items
        self.rows = len(baskets)
        self._codes = {name: code for code, name in enumerate(names)}
        self._baskets = baskets
        self._bitmaps: dict[Item, Words] = {}
        self._empty = np.zeros(-(-max(self.rows, 1) // 64), dtype=np.uint64)

    def list_items(self, least: int) -> list[Item]:
        """Items in at least this many baskets."""
        counts = np.bincount(self._baskets.codes, minlength=len(self._codes))
        return [name for name, code in self._codes.items() if counts[code] >= least]

    def count(self, itemsets: Sequence[Itemset]) -> Ints:
        """In how many baskets each itemset is."""
        if not itemsets:
            return np.zeros(0, dtype=np.int64)
        items = sorted({item for itemset in itemsets for item in itemset}, key=str)
        positions = {item: position for position, item in enumerate(items)}
        grid = self._stack_bitmaps(items)
        counts = np.zeros(len(itemsets), dtype=np.int64)
        for length in sorted({len(itemset) for itemset in itemsets}):
            rows = [row for row, itemset in enumerate(itemsets) if len(itemset) == length]
            columns = np.array([[positions[item] for item in itemsets[row]] for row in rows])
            counts[rows] = _count_intersections(grid, columns)
        return counts

    def _stack_bitmaps(self, items: Sequence[Item]) -> Words:
        missing = [item for item in items if item not in self._bitmaps]
        items_by_code = {self._codes[item]: item for item in missing if item in self._codes}
        if items_by_code:
            rows = np.repeat(np.arange(self.rows), np.diff(self._baskets.offsets))
            order = np.argsort(self._baskets.codes, kind="stable")
            starts = np.searchsorted(self._baskets.codes[order], [[code, code + 1] for code in items_by_code])
            for item, (start, stop) in zip(items_by_code.values(), starts.tolist(), strict=True):
                self._bitmaps[item] = self._draw_bitmap(rows[order[start:stop]])
        return np.stack([self._bitmaps.get(item, self._empty) for item in items])

    def _draw_bitmap(self, rows: Ints) -> Words:
        flags = np.zeros(self._empty.size * 64, dtype=np.bool_)
        flags[rows] = True
        return np.packbits(flags).view(np.uint64)


def _count_intersections(grid: Words, columns: Ints) -> Ints:
    batch = max(1, _BATCH_WORDS // grid.shape[1])
    counts = np.empty(len(columns), dtype=np.int64)
    for start in range(0, len(columns), batch):
        stop_if_failed()
        part = columns[start : start + batch]
        words = grid[part[:, 0]]
        for column in part.T[1:]:
            words &= grid[column]
        counts[start : start + batch] = np.bitwise_count(words).sum(axis=1, dtype=np.int64)
    return counts


def generate_candidates(frequent: Iterable[Itemset]) -> list[Itemset]:
    """Itemsets one longer all of whose parts are frequent, in order (Agrawal and Srikant 1994)."""
    frequent_sets = set(frequent)
    by_prefix: dict[Itemset, list[Item]] = {}
    for itemset in sorted(frequent_sets):
        by_prefix.setdefault(itemset[:-1], []).append(itemset[-1])
    candidates = [(*prefix, *pair) for prefix, ends in by_prefix.items() for pair in combinations(ends, 2)]
    return [
        candidate
        for candidate in candidates
        if all(part in frequent_sets for part in combinations(candidate, len(candidate) - 1))
    ]


def generate_consequents(consequents: Iterable[Itemset], length: int) -> list[Itemset]:
    """Right sides one longer all of whose parts made a rule; a longer right side never raises the confidence."""
    return [candidate for candidate in generate_candidates(consequents) if len(candidate) < length]
