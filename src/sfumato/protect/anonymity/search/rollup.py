# SPDX-License-Identifier: MIT
"""Grouping from earlier classes: nodes that share the levels of the most distinguishing columns share work.

The rows are merged once for each level of the column that distinguishes people best, then for each level of the next. A
node is grouped from the smallest of these groupings that is finer than it.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Flags
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.node_classes import Levels

_DEPTH = 3
_HABIT = 3
_LONG = 16  # nodes, after which a search counts as long
_ROOM = 1 << 20  # rows kept in total: about 100 MB, or twice the table if that is more


class RollUp:
    """A grouping, and coarser ones derived from it on demand."""

    def __init__(self, grouping: Grouping) -> None:
        """Nothing is grouped yet."""
        self._grouping = grouping
        self._columns: list[int] = []
        self._nodes = 0
        self._coarse_groupings: dict[Levels, Grouping] = {}
        self._visits: dict[Levels, int] = {}
        self._room = max(2 * grouping.distinct_rows, _ROOM)

    def group_below(self, levels: Levels, live: Flags | None = None) -> Grouping:
        """A grouping that gives the classes of a node; which others are `live` makes no difference."""
        self._nodes += 1
        if self._nodes == _LONG and self._grouping.plain:
            self._columns = order_columns_by_entropy(self._grouping)[:_DEPTH]
        grouping = self._grouping
        start = [0] * len(levels)
        for column in self._columns:
            start[column] = levels[column]
            start_levels = tuple(start)
            if levels[column] == 0:
                continue
            if start_levels not in self._coarse_groupings and not self._is_worth_making(start_levels, grouping):
                break
            grouping = self._coarse_groupings.get(start_levels) or self._make(start_levels, grouping)
        return grouping

    def _is_worth_making(self, levels: Levels, finer: Grouping) -> bool:
        """A coarser grouping costs as much as grouping a few nodes: it pays if it is used repeatedly."""
        self._visits[levels] = self._visits.get(levels, 0) + 1
        return self._visits[levels] > _HABIT and finer.distinct_rows <= self._room

    def _make(self, levels: Levels, finer: Grouping) -> Grouping:
        coarse_grouping = finer.coarsen(levels)
        self._room -= coarse_grouping.distinct_rows
        self._coarse_groupings[levels] = coarse_grouping
        return coarse_grouping


def order_columns_by_entropy(grouping: Grouping) -> list[int]:
    """The columns by the entropy of their values, largest first."""
    entropies = []
    for counts in grouping.leaf_counts:
        shares = counts / counts.sum()
        shares = shares[shares > 0]
        entropies.append(float(-(shares * np.log(shares)).sum()))
    return sorted(range(len(entropies)), key=lambda column: -entropies[column])
