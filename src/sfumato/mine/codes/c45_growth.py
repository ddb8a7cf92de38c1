# SPDX-License-Identifier: MIT
"""Growing a C4.5 tree level by level, and pruning it by its estimated errors (Quinlan 1993)."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.mine.codes.c45_entropy import tabulate_information, tabulate_logs
from sfumato.mine.codes.c45_nodes import NO_NODE, C45Nodes, widen_sides
from sfumato.mine.codes.c45_splits import C45Column, ColumnTests, OpenNodes, choose_tests
from sfumato.runtime.progress import report_progress

_TAILS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.4, 1.0)
_DEVIATIONS = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)
"""Standard deviations that a normal variable exceeds with these probabilities, as Quinlan's program has them."""
_SLACK = 0.1
"""A leaf is preferred unless its branches save more than this estimated error, as in Quinlan's program."""


def grow_c45(columns: tuple[C45Column, ...], classes: Ints, count: int, min_rows: int) -> C45Nodes:
    """The whole tree, without branches that do not lower the errors on the training rows."""
    grower = _Grower(columns, classes, count, min_rows)
    rows, node, nodes = np.arange(len(classes)), np.zeros(len(classes), dtype=np.int64), 1
    words = np.full(1, NO_NODE, dtype=np.int64)
    while nodes:
        rows, node, words = grower.grow_level(rows, node, words)
        nodes = len(words)
    return collapse_useless_branches(grower.join_levels())


class _LevelRows(NamedTuple):
    """The rows that go on to the next level."""

    rows: Ints
    nodes: Ints
    """The node of each row."""
    words: Ints
    """The word that leads to each node."""


class _Grower:
    """The levels grown so far."""

    def __init__(self, columns: tuple[C45Column, ...], classes: Ints, count: int, min_rows: int) -> None:
        self.columns, self.classes, self.count, self.min_rows = columns, classes, count, min_rows
        self.information, self.logs = tabulate_information(len(classes)), tabulate_logs(len(classes))
        self.levels: list[C45Nodes] = []

    def grow_level(self, rows: Ints, node: Ints, words: Ints) -> _LevelRows:
        """Choose a test for every node of a level; the rows that go on, their nodes, and the words of these."""
        report_progress("growing a tree", len(self.classes) - len(rows), len(self.classes))
        classes = self.classes[rows]
        tally = np.bincount(node * self.count + classes, minlength=len(words) * self.count).reshape(-1, self.count)
        sizes = tally.sum(axis=1)
        open_nodes = np.flatnonzero((tally.max(axis=1) < sizes) & (sizes >= 2 * self.min_rows))
        column, cut = (np.full(len(words), NO_NODE, dtype=np.int64) for _ in range(2))
        if len(open_nodes) and self.columns:
            level = self._open(rows, node, classes, tally, open_nodes)
            test_columns, tests = choose_tests(self.columns, level, len(self.classes))
            column[open_nodes], cut[open_nodes] = test_columns, _take_cuts(test_columns, tests)
        go_on = column[node] >= 0
        return self._branch(rows[go_on], node[go_on], column, cut, words, tally)

    def _open(self, rows: Ints, node: Ints, classes: Ints, tally: Ints, open_nodes: Ints) -> OpenNodes:
        number = np.full(len(tally), NO_NODE, dtype=np.int64)
        number[open_nodes] = np.arange(len(open_nodes))
        row_mask = number[node] >= 0
        return OpenNodes(
            rows[row_mask],
            number[node[row_mask]],
            classes[row_mask],
            tally[open_nodes],
            self.min_rows,
            self.information,
            self.logs,
        )

    def _branch(self, rows: Ints, node: Ints, column: Ints, cut: Ints, words: Ints, tally: Ints) -> _LevelRows:
        """Send rows to the children: the sides of a threshold, or one for each word, in order of appearance."""
        branch, missing = np.zeros(len(rows), dtype=np.int64), np.full(len(column), NO_NODE, dtype=np.int64)
        sides = np.tile([-np.inf, np.inf], (len(column), 1))
        sides[column < 0] = np.nan
        for index in np.unique(column[column >= 0]):
            row_indices = np.flatnonzero(column[node] == index)
            row_nodes, tested_column = node[row_indices], self.columns[index]
            codes = tested_column.codes[rows[row_indices]]
            if tested_column.cells is None:
                branch[row_indices] = codes
                sides[column == index] = np.nan
                continue
            known_mask, upper = codes >= 0, codes > cut[row_nodes]
            widen_sides(
                sides, row_nodes[known_mask], tested_column.cells[rows[row_indices[known_mask]]], upper[known_mask]
            )
            missing[column == index] = _choose_missing_sides(row_nodes[known_mask], upper[known_mask], len(column))[
                column == index
            ]
            branch[row_indices] = np.where(known_mask, upper, missing[row_nodes])
        width = int(branch.max(initial=0)) + 1
        keys, child = _number_keys(node * width + branch, len(column) * width)
        parents = keys // width
        children = np.bincount(parents, minlength=len(column))
        first = np.where(children > 0, np.cumsum(children) - children, NO_NODE)
        self.levels.append(C45Nodes(column, sides.mean(axis=1), missing, first, children, words, tally))
        return _LevelRows(rows, child, np.where(missing[parents] >= 0, NO_NODE, keys % width))

    def join_levels(self) -> C45Nodes:
        """All levels as one tree."""
        nodes = C45Nodes(
            *(np.concatenate([getattr(level, part.name) for level in self.levels]) for part in fields(C45Nodes))
        )
        first = np.where(nodes.children > 0, 1 + np.cumsum(nodes.children) - nodes.children, NO_NODE)
        return replace(nodes, first=first)


def _number_keys(keys: Ints, most: int) -> tuple[Ints, Ints]:
    """The distinct keys in order, and the index of each key among them."""
    if most > 4 * len(keys) + 1024:
        distinct, index = np.unique(keys, return_inverse=True)
        return distinct, index.astype(np.int64)
    present = np.bincount(keys, minlength=most) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[keys]


def _take_cuts(test_columns: Ints, tests: list[ColumnTests]) -> Ints:
    cuts = np.array([test.cut for test in tests])
    return np.where(test_columns >= 0, cuts[test_columns, np.arange(len(test_columns))], NO_NODE)


def _choose_missing_sides(node: Ints, upper: Flags, nodes: int) -> Ints:
    """Missing numbers go with most of the others, to the lower side if both have as many."""
    return np.asarray(
        2 * np.bincount(node[upper], minlength=nodes) > np.bincount(node, minlength=nodes), dtype=np.int64
    )


def collapse_useless_branches(nodes: C45Nodes) -> C45Nodes:
    """Make a leaf of every node whose branches make as many errors on the training rows as a leaf would."""
    wrong = nodes.tally.sum(axis=1) - nodes.tally.max(axis=1)
    return nodes.cut(_choose_leaves(nodes, wrong.astype(np.float64), 0.0))


def prune_c45(nodes: C45Nodes, confidence: float) -> C45Nodes:
    """Make a leaf of every node whose branches are not estimated to make fewer errors on new rows."""
    return nodes.cut(_choose_leaves(nodes, estimate_errors(nodes.tally, confidence), _SLACK))


def estimate_errors(tally: Ints, confidence: float) -> Floats:
    """The errors expected of leaves: the upper limit of a binomial count, by the approximation of Quinlan's program."""
    rows = tally.sum(axis=1).astype(np.float64)
    wrong = rows - tally.max(axis=1)
    square = float(np.interp(confidence, _TAILS, _DEVIATIONS)) ** 2
    middle = wrong + 0.5
    spread = np.sqrt(square * (middle * (1 - middle / rows) + square / 4))
    upper_limits = rows * (middle + square / 2 + spread) / (rows + square)
    return np.asarray(np.where(wrong > 0, upper_limits, rows * (1 - confidence ** (1 / rows))))


def _choose_leaves(nodes: C45Nodes, errors: Floats, slack: float) -> Flags:
    """From the lowest level up, which nodes make no more errors than their branches together."""
    leaf, best = nodes.leaves.copy(), errors.copy()
    for level in reversed(nodes.levels):
        inner = np.flatnonzero(~leaf[level]) + level.start
        if not len(inner):
            continue
        first = nodes.first[inner]
        branches = np.add.reduceat(best[: first[-1] + nodes.children[inner[-1]]], first)
        leaf[inner] = errors[inner] <= branches + slack
        best[inner] = np.where(leaf[inner], errors[inner], branches)
    return leaf
