# SPDX-License-Identifier: MIT
"""Whether two C4.5 trees are the same: tests, branches and rows of each class, node by node.

And whether codes and originals give the same tree, for which no key is needed: the rows that part at each node must be
the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Ints
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.mine.codes.c45 import CONFIDENCE, C45Tree, train_c45
from sfumato.mine.codes.c45_growth import prune_c45
from sfumato.mine.codes.c45_nodes import C45Nodes, NodeCells
from sfumato.table import Table


def count_c45_differences(
    published_table: Table, original: Table, target: str, numbers: Sequence[str], words: Sequence[str]
) -> int:
    """Of the C4.5 trees grown on both tables, how many do not split the rows alike at every node.

    `numbers` are the columns that are compared with thresholds, `words` those that have a branch for each word.
    """
    tables = [_read_columns(table, target, numbers, words) for table in (published_table, original)]
    full = [train_c45(table, target, confidence=None) for table in tables]
    cells = [
        NodeCells(tuple(column.read(table.frame, table.source) for column in tree.columns))
        for table, tree in zip(tables, full, strict=True)
    ]
    pruned_trees = [replace(tree, nodes=prune_c45(tree.nodes, CONFIDENCE)) for tree in full]
    pairs = [(full[0].nodes, full[1].nodes), (pruned_trees[0].nodes, pruned_trees[1].nodes)]
    return sum(not _have_same_parts(*pair, cells[0], cells[1], len(original)) for pair in pairs)


def _read_columns(table: Table, target: str, numbers: Sequence[str], words: Sequence[str]) -> Table:
    """The columns in one order, numbers as numbers and words as texts, however the file was read."""
    texts = [spell_cells(table.frame[name]).alias(name) for name in (*words, target)]
    frame = table.frame.select(pl.col(name).cast(pl.Float64) for name in numbers)
    return Table.of(frame.hstack(texts) if numbers else pl.DataFrame(texts), source=table.source)


def _have_same_parts(first: C45Nodes, second: C45Nodes, cells: NodeCells, other_cells: NodeCells, rows: int) -> bool:
    """Whether both trees test the same column at every node, and the same rows stay together."""
    remaining_rows = np.arange(rows)
    a = b = np.zeros(rows, dtype=np.int64)
    while len(remaining_rows):
        if not np.array_equal(first.column[a], second.column[b]):
            return False
        inner = first.column[a] >= 0
        remaining_rows, a, b = remaining_rows[inner], a[inner], b[inner]
        a, b = cells.step(first, remaining_rows, a), other_cells.step(second, remaining_rows, b)
        if not _are_paired(a, b):
            return False
    return True


def _are_paired(a: Ints, b: Ints) -> bool:
    """Whether each node of one tree meets a single node of the other."""
    pairs = len(np.unique(np.column_stack([a, b]), axis=0))
    return pairs == len(np.unique(a)) == len(np.unique(b))


def is_same_c45_tree(tree: C45Tree, other: C45Tree) -> bool:
    """Whether two trees test the same columns in the same way and saw the same rows, whatever the order of words."""
    if list(map(str, tree.classes_)) != list(map(str, other.classes_)):
        return False
    node_pairs = [(0, 0)]
    while node_pairs:
        a, b = node_pairs.pop()
        if not np.array_equal(tree.nodes.tally[a], other.nodes.tally[b]) or _name_test(tree, a) != _name_test(other, b):
            return False
        first, second = _list_branches(tree, a), _list_branches(other, b)
        if set(first) != set(second):
            return False
        node_pairs += [(first[name], second[name]) for name in first]
    return True


class _NodeTest(NamedTuple):
    """What a node asks, by the name of its column."""

    column: str
    threshold: float
    missing: int
    """The side of a missing cell."""


def _name_test(tree: C45Tree, node: int) -> _NodeTest | None:
    column = int(tree.nodes.column[node])
    if column < 0:
        return None
    threshold = float(tree.nodes.threshold[node])
    return _NodeTest(
        tree.columns[column].name, 0.0 if np.isnan(threshold) else threshold, int(tree.nodes.missing[node])
    )


def _list_branches(tree: C45Tree, node: int) -> dict[str | int | None, int]:
    """The child of each word; of a number, the children by their sides."""
    nodes = tree.nodes
    children = range(int(nodes.first[node]), int(nodes.first[node] + nodes.children[node]))
    words = tree.columns[int(nodes.column[node])].words if nodes.column[node] >= 0 else None
    if words is None:
        return dict(enumerate(children))
    return {words[int(nodes.word[child])]: child for child in children}
