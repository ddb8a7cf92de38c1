# SPDX-License-Identifier: MIT
"""The nodes of a C4.5 tree as arrays: level by level, the children of a node side by side, the lower side first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Flags, Floats, Ints, Singles
from sfumato.mine.codes.c45_splits import C45Column

NO_NODE = -1


@dataclass(frozen=True, eq=False)
class C45Nodes:
    """A tree's nodes; those of a level follow each other, parents in order."""

    column: Ints
    """The column tested; −1 at a leaf."""
    threshold: Floats
    """Numbers up to it go to the first child; NaN for words and leaves."""
    missing: Ints
    """Which child missing numbers go to; −1 for words and leaves."""
    first: Ints
    """The first child; −1 at a leaf."""
    children: Ints
    """How many there are."""
    word: Ints
    """The index of the word that leads here from the parent; −1 if the parent tests a number, and at the root."""
    tally: Ints
    """Nodes × classes: the rows that were seen."""

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.column)

    @property
    def leaves(self) -> Flags:
        """Which nodes are leaves."""
        return np.asarray(self.column < 0)

    @property
    def levels(self) -> list[slice]:
        """The nodes of each level."""
        levels, begin, end = [], 0, 1
        while begin < end:
            levels.append(slice(begin, end))
            begin, end = end, end + int(self.children[begin:end].sum())
        return levels

    def cut(self, leaf: Flags) -> C45Nodes:
        """The tree in which some nodes are leaves, without what was below them."""
        return self.arrange(np.where(leaf, 0, self.children), np.zeros(len(self), dtype=bool))

    def arrange(self, children: Ints, turned_mask: Flags) -> C45Nodes:
        """The tree with this many children, 0 or all, and with the two sides of some nodes exchanged."""
        order, level_nodes = [np.zeros(1, dtype=np.int64)], np.zeros(1, dtype=np.int64)
        while len(level_nodes):
            inner = level_nodes[children[level_nodes] > 0]
            many = children[inner]
            step = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
            step = np.where(np.repeat(turned_mask[inner], many), np.repeat(many, many) - 1 - step, step)
            level_nodes = np.repeat(self.first[inner], many) + step
            order.append(level_nodes)
        node_order = np.concatenate(order)
        many, is_test, missing = children[node_order], children[node_order] > 0, self.missing[node_order]
        missing = np.where(turned_mask[node_order] & (missing >= 0), 1 - missing, missing)
        return C45Nodes(
            np.where(is_test, self.column[node_order], NO_NODE),
            np.where(is_test, self.threshold[node_order], np.nan),
            np.where(is_test, missing, NO_NODE),
            np.where(is_test, 1 + np.cumsum(many) - many, NO_NODE),
            many,
            self.word[node_order],
            self.tally[node_order],
        )


@dataclass(frozen=True, eq=False)
class NodeCells:
    """Rows as a tree reads them, by column: numbers, NaN where missing, or indices of words, −1 for unknown ones."""

    columns: tuple[Singles | Ints, ...]

    @classmethod
    def of(cls, columns: tuple[C45Column, ...]) -> NodeCells:
        """The rows that a tree was grown on."""
        return cls(tuple(column.codes if column.cells is None else column.cells for column in columns))

    def step(self, nodes: C45Nodes, rows: Ints, node: Ints) -> Ints:
        """The child that each row goes to from its node, which is not a leaf; the node itself at an unknown word."""
        child = node.copy()
        test_columns = nodes.column[node]
        for index in np.unique(test_columns):
            row_indices = np.flatnonzero(test_columns == index)
            row_nodes, cells = node[row_indices], self.columns[index][rows[row_indices]]
            if cells.dtype == np.float32:
                upper = np.where(np.isnan(cells), nodes.missing[row_nodes], cells > nodes.threshold[row_nodes])
                child[row_indices] = nodes.first[row_nodes] + upper.astype(np.int64)
            else:
                child[row_indices] = _follow_words(nodes, row_nodes, cells.astype(np.int64))
        return child

    def reach(self, nodes: C45Nodes, rows: int) -> Ints:
        """The last node that each row reaches."""
        node = np.zeros(rows, dtype=np.int64)
        moving_rows = np.arange(rows) if nodes.column[0] >= 0 else np.zeros(0, dtype=np.int64)
        while len(moving_rows):
            previous_nodes = node[moving_rows]
            node[moving_rows] = self.step(nodes, moving_rows, previous_nodes)
            moving_rows = moving_rows[(node[moving_rows] != previous_nodes) & (nodes.column[node[moving_rows]] >= 0)]
        return node


def widen_sides(sides: Floats, node: Ints, values: Singles, upper: Flags) -> None:
    """Keep, for each node, the largest value that goes to its lower side and the smallest of its upper one."""
    np.maximum.at(sides[:, 0], node[~upper], values[~upper].astype(np.float64))
    np.minimum.at(sides[:, 1], node[upper], values[upper].astype(np.float64))


def _follow_words(nodes: C45Nodes, node: Ints, words: Ints) -> Ints:
    """The child for each word; the node itself where it has none."""
    parents = np.unique(node)
    many = nodes.children[parents]
    kids = np.repeat(nodes.first[parents] - np.cumsum(many) + many, many) + np.arange(int(many.sum()))
    width = int(max(nodes.word[kids].max(), words.max())) + 2
    keys = np.repeat(parents, many) * width + nodes.word[kids]
    order = np.argsort(keys)
    word_keys = node * width + words
    positions = np.minimum(np.searchsorted(keys[order], word_keys), len(keys) - 1)
    matches = (keys[order[positions]] == word_keys) & (words >= 0)
    return np.where(matches, kids[order[positions]], node)
