# SPDX-License-Identifier: MIT
"""Grouping many rows from earlier classes: rows are merged to the finest levels that are still in question.

A search rules out nodes with every check. As soon as no node is left at the lowest level of some column, the rows need
not be distinguished there, and those that have become equal are merged: for all nodes that are left, then for those
that share the level of the column that distinguishes people best, and so on. A sample tells whether that saves enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.node_classes import Levels
from sfumato.protect.anonymity.search.rollup import RollUp, order_columns_by_entropy
from sfumato.protect.anonymity.search.row_blocks import MANY_ROWS

_DEPTH = 3
_SAMPLE = 1 << 14
_MOST_MERGED = 0.4  # rows are merged if there will be at most this share of them
_FEWEST_NODES = 3  # and if this many nodes will be grouped from them, at least
_ROOM = 1.0  # rows kept in total, as a share of all


class _MergedRows(NamedTuple):
    """The rows, merged to the classes of a node."""

    levels: Levels
    grouping: Grouping
    sample: Ints
    """Some of these rows, drawn at random."""


def choose_roll_up(grouping: Grouping) -> RollUp | LiveRollUp:
    """How to group the nodes of a search: by what is left of the lattice, if there are many rows."""
    many = grouping.distinct_rows >= MANY_ROWS and grouping.plain
    return LiveRollUp(grouping) if many else RollUp(grouping)


class LiveRollUp:
    """A grouping, and coarser ones that serve the nodes which are still to be checked."""

    def __init__(self, grouping: Grouping) -> None:
        """Nothing is merged yet."""
        self._base_rows = _hold(tuple(0 for _ in grouping.shape), grouping)
        self._columns = order_columns_by_entropy(grouping)[:_DEPTH]
        self._rows_by_prefix: dict[Levels, _MergedRows] = {}
        """By the levels of the first of the columns."""
        self._tried_merges: set[tuple[Levels, Levels]] = set()
        self._room = _ROOM * grouping.distinct_rows

    def group_below(self, levels: Levels, live: Flags) -> Grouping:
        """A grouping that gives the classes of a node, which is one of the live nodes."""
        merged_rows = self._base_rows = self._merge((), levels, live, self._base_rows)
        for depth in range(1, len(self._columns) + 1):
            prefix = tuple(levels[column] for column in self._columns[:depth])
            source_rows = self._rows_by_prefix.get(prefix)
            if source_rows is None or source_rows.grouping.distinct_rows > merged_rows.grouping.distinct_rows:
                source_rows = merged_rows
            merged_rows = self._merge(prefix, levels, live, source_rows)
            if merged_rows is not source_rows:
                self._room -= merged_rows.grouping.distinct_rows
                self._rows_by_prefix[prefix] = merged_rows
        return merged_rows.grouping

    def _merge(self, prefix: Levels, levels: Levels, live: Flags, rows: _MergedRows) -> _MergedRows:
        """The rows at the finest levels of the live nodes with the same first levels, if that saves enough."""
        if rows.grouping.distinct_rows < MANY_ROWS // 4 or (prefix and self._room <= 0):
            return rows
        fixed_columns = self._columns[: len(prefix)]
        equal_nodes = live[
            tuple(slice(level, level + 1) if c in fixed_columns else slice(None) for c, level in enumerate(levels))
        ]
        finest = _find_finest(equal_nodes, [levels[c] if c in fixed_columns else 0 for c in range(len(levels))])
        if (
            finest == rows.levels
            or (prefix, finest) in self._tried_merges
            or np.count_nonzero(equal_nodes) < _FEWEST_NODES
        ):
            return rows
        self._tried_merges.add((prefix, finest))
        if rows.grouping.estimate_classes(finest, rows.sample) > _MOST_MERGED * rows.grouping.distinct_rows:
            return rows
        return _hold(finest, rows.grouping.coarsen(finest))


def _hold(levels: Levels, grouping: Grouping) -> _MergedRows:
    # Only the order of work depends on the sample, the same in each run: not the randomness of the release.
    sample = np.random.default_rng(0).integers(0, grouping.distinct_rows, _SAMPLE)
    return _MergedRows(levels, grouping, sample)


def _find_finest(live: Flags, offsets: list[int]) -> Levels:
    """The finest level of each column among some nodes, whose numbers begin at the offsets."""
    axes = range(live.ndim)
    return tuple(
        offset + int(np.argmax(live.any(axis=tuple(other for other in axes if other != axis))))
        for axis, offset in zip(axes, offsets, strict=True)
    )
