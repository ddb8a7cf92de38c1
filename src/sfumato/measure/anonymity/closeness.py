# SPDX-License-Identifier: MIT
"""t-closeness: how far the values of a class are from those of the whole table, by earth mover's distance.

Against an adversary who knows the table's overall distribution and someone's class, and learns from the difference.
Li, Li and Venkatasubramanian 2007, with their three ground distances. t does not bound how much is learned about one
rare value (see β-likeness and δ-disclosure).

The hierarchical distance between two leaves is the height of their lowest common ancestor over the height of the
hierarchy. Summed over the tree, the paper's cost of a node telescopes: the distance is the mean, over the levels below
the root, of the equal distance between the groups of that level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.arrays import Codes, Ints
from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.measure.anonymity.class_tally import ClassTally, GroupedRows
from sfumato.measure.anonymity.crowd_sizes import StarredRows
from sfumato.table import Table

_LARGEST = 1 << 62


def t_equal(table: Table, column: str, *, starred_rows: StarredRows = "class") -> float:
    """The largest distance of a class from the table, with all values equally far apart."""
    return measure_t_equal(GroupedRows.of(table, starred_rows).tally(column))


def t_ordered(
    table: Table, column: str, order: Sequence[str] | None = None, *, starred_rows: StarredRows = "class"
) -> float:
    """The largest distance of a class from the table, with values as far apart as their ranks.

    By default, numbers are ordered as numbers, other values as the leaves of the column's hierarchy, or by their text
    without one. Ranks are those of the values that the table has; a missing value comes last.
    """
    return measure_t_ordered(GroupedRows.of(table, starred_rows).tally(column), choose_rank_order(table, column, order))


def t_hierarchical(
    table: Table, column: str, hierarchy: Hierarchy | None = None, *, starred_rows: StarredRows = "class"
) -> float:
    """The largest distance of a class from the table, with values as far apart as in the column's hierarchy.

    If the topmost level has several labels, a root is added above it. A missing value joins the others at the first
    level with a single label.
    """
    column_hierarchy = choose_tree(table, column, hierarchy)
    return measure_t_hierarchical(GroupedRows.of(table, starred_rows).tally(column), column_hierarchy)


def choose_tree(table: Table, column: str, hierarchy: Hierarchy | None = None) -> Hierarchy:
    """The hierarchy that defines how far apart the values of a column are; that of the table if none is given."""
    column_hierarchy = hierarchy or table.hierarchies.get(column)
    if column_hierarchy is None:
        raise DataError(f'column "{column}" has no hierarchy; give one, or measure the equal or ordered distance')
    return column_hierarchy


def choose_rank_order(table: Table, column: str, order: Sequence[str] | None = None) -> Hierarchy | None:
    """The leaves that define the order of a column's values; None for the natural order."""
    if order is not None:
        return Hierarchy.of([(label,) for label in order], name=f'the order of "{column}"')
    if column in table.frame.columns and table.frame.schema[column].is_numeric():
        return None
    return table.hierarchies.get(column)


def measure_t_equal(tally: ClassTally) -> float:
    """Σ max(p − q, 0) in the farthest class."""
    return _find_largest_distance(tally, _sum_surplus(tally), 1)


def measure_t_hierarchical(tally: ClassTally, hierarchy: Hierarchy) -> float:
    """The mean of the equal distance over the levels below the root, in the farthest class."""
    top = hierarchy.levels[-1]
    height = max(hierarchy.height if len(top.labels) == 1 else hierarchy.height + 1, 1)
    leaves = hierarchy.code_leaves(tally.labels)
    total = np.zeros(len(tally.starts), dtype=np.int64)
    for level in range(height):
        total += _sum_surplus(
            _merge_values(tally, hierarchy.group_leaves(level).group_of_leaf[leaves].astype(np.int64))
        )
    return _find_largest_distance(tally, total, height)


def measure_t_ordered(tally: ClassTally, order: Hierarchy | None) -> float:
    """Σ over ranks of |P − Q|, both cumulated, over the number of ranks minus one, in the farthest class."""
    steps = len(tally.labels) - 1
    if steps < 1 or not len(tally.starts):
        return 0.0
    if order is not None:
        tally = _reorder_values(tally, order.code_leaves(tally.labels))
    sizes, rows = tally.sizes, tally.rows
    kind: type[Any] = np.int64 if (steps + 1) * int(sizes.max()) * rows < _LARGEST else np.float64
    cumulated_counts = np.cumsum(tally.overall)
    sums = np.concatenate([[0], np.cumsum(cumulated_counts.astype(kind))]).astype(kind)
    size = tally.spread(sizes)
    count_sums = np.cumsum(tally.counts)
    reached_counts = count_sums - tally.spread(count_sums[tally.starts] - tally.counts[tally.starts])
    # Between two values of the class, P is constant while Q grows: it overtakes P once, at `turn`.
    begin, end = tally.values, np.append(tally.values[1:], steps + 1)
    end[np.append(tally.starts[1:], len(end)) - 1] = steps + 1
    level = reached_counts * rows
    turn = np.clip(np.searchsorted(cumulated_counts, level // size, side="right"), begin, end)
    sums_before = level.astype(kind) * (turn - begin) - size.astype(kind) * (sums[turn] - sums[begin])
    sums_after = size.astype(kind) * (sums[end] - sums[turn]) - level.astype(kind) * (end - turn)
    head = sizes.astype(kind) * sums[tally.values[tally.starts]]
    return _find_largest_distance(tally, np.add.reduceat(sums_before + sums_after, tally.starts) + head, steps)


def _sum_surplus(tally: ClassTally) -> Ints:
    """Σ max(p − q, 0) of each class, times its size and the rows of the table; absent values add nothing."""
    return tally.sum_by_class(np.maximum(tally.compute_excess(), 0))


def _find_largest_distance(tally: ClassTally, numerators: npt.NDArray[Any], scale: int) -> float:
    """The largest of the classes' distances, from their numerators."""
    if not len(numerators):
        return 0.0
    return round(float((numerators / tally.sizes).max()) / (tally.rows * scale), 12)


def _merge_values(tally: ClassTally, group: Ints) -> ClassTally:
    """The same classes with values merged into groups."""
    width = int(group.max(initial=0)) + 1
    joint = tally.spread(np.arange(len(tally.starts))) * width + group[tally.values]
    order = np.argsort(joint, kind="stable")
    sorted_keys = joint[order]
    heads = np.flatnonzero(np.diff(sorted_keys, prepend=-1))
    counts = np.add.reduceat(tally.counts[order], heads) if len(heads) else tally.counts
    starts = np.flatnonzero(np.diff(sorted_keys[heads] // width, prepend=-1))
    overall = np.zeros(width, dtype=np.int64)
    np.add.at(overall, group, tally.overall)
    return ClassTally(sorted_keys[heads] % width, counts, starts, overall, tally.labels)


def _reorder_values(tally: ClassTally, places: Codes) -> ClassTally:
    """The same entries with values renumbered as ranks without gaps."""
    rank = np.argsort(np.argsort(places, kind="stable"), kind="stable").astype(np.int64)
    values = rank[tally.values]
    order = np.lexsort((values, tally.spread(np.arange(len(tally.starts)))))
    overall = np.empty_like(tally.overall)
    overall[rank] = tally.overall
    labels = tally.labels.gather(pl.Series(np.argsort(rank)))
    return ClassTally(values[order], tally.counts[order], tally.starts, overall, labels)
