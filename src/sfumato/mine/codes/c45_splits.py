# SPDX-License-Identifier: MIT
"""How C4.5 judges tests: the gain, the gain ratio and the average-gain rule, for all nodes of a level at once.

A threshold lies at a boundary point (Fayyad and Irani 1992): never between neighbouring values whose rows are all of
one class. Without a least number of rows on each side the best one is there anyway; with it, Quinlan's program also
tries the others. Only so is a tree on permuted codes the tree of the originals. Of thresholds that gain as much, the
one of the greatest gain ratio is taken, so that codes that fall as values rise choose the same column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, Floats, Ints, Singles

IMPOSSIBLE = -1
"""The gain of a column that cannot be tested at a node."""
_MOST_AT_A_SIDE = 25
"""A threshold leaves a tenth of a class's average rows on each side, but need not leave more than this many."""
_MANY_VALUES = 0.3
"""A column of words with more values than this share of the rows does not count in the average gain."""


@dataclass(frozen=True, eq=False)
class C45Column:
    """A column as the learner reads it."""

    name: str
    codes: Ints
    """For each row the index of its number or word; −1 where a number is missing."""
    width: int
    """How many numbers or words there are."""
    cells: Singles | None = None
    """The numbers; None for words."""
    words: tuple[str | None, ...] = ()
    """In order of first appearance; None where cells are missing."""

    @property
    def is_number(self) -> bool:
        """Whether it is split by thresholds."""
        return self.cells is not None


@dataclass(frozen=True, eq=False)
class OpenNodes:
    """The nodes of a level that may be split, and their rows."""

    rows: Ints
    node: Ints
    """Of each row."""
    classes: Ints
    """Of each row."""
    tally: Ints
    """Nodes × classes."""
    min_rows: int
    information: Ints
    """n log n."""
    logs: Ints

    @property
    def sizes(self) -> Ints:
        """The rows of each node."""
        return np.asarray(self.tally.sum(axis=1))

    def measure_disorder(self, tally: Ints) -> Ints:
        """The entropy of some counts of classes, times their rows."""
        return np.asarray(self.information[tally.sum(axis=1)] - self.information[tally].sum(axis=1))


@dataclass(frozen=True, eq=False)
class ColumnTests:
    """The best test of one column at every node."""

    gain: Ints
    """Information gained, times the node's rows; `IMPOSSIBLE` where there is no test."""
    split: Ints
    """Information of the split itself, times the node's rows."""
    cut: Ints
    """The largest code on the lower side; −1 for words."""


@dataclass(frozen=True, eq=False)
class _CodeCounts:
    """The rows of each class among those of a node that share a code, by node and code."""

    node: Ints
    code: Ints
    tally: Ints


def _count_codes(nodes: OpenNodes, codes: Ints, node: Ints, classes: Ints, width: int) -> _CodeCounts:
    count = nodes.tally.shape[1]
    keys = (node * width + codes) * count + classes
    cells = len(nodes.tally) * width * count
    if cells <= 4 * len(keys):
        grid = np.bincount(keys, minlength=cells).reshape(-1, count)
        groups = np.flatnonzero(grid.any(axis=1))
        tally = grid[groups]
    else:
        keys.sort()
        group_keys = keys // count
        new = np.append(True, group_keys[1:] != group_keys[:-1])
        groups = group_keys[new]
        places = (np.cumsum(new) - 1) * count + (keys - group_keys * count)
        tally = np.bincount(places, minlength=len(groups) * count).reshape(-1, count)
    return _CodeCounts(groups // width, groups % width, tally)


def evaluate_words(column: C45Column, nodes: OpenNodes) -> ColumnTests:
    """A branch for every word: at least two of them must have enough rows."""
    counts = _count_codes(nodes, column.codes[nodes.rows], nodes.node, nodes.classes, column.width)
    starts = np.flatnonzero(np.append(True, counts.node[1:] != counts.node[:-1]))
    sizes = counts.tally.sum(axis=1)
    possible_mask = np.add.reduceat((sizes >= nodes.min_rows).astype(np.int64), starts) >= 2
    disorder = np.add.reduceat(nodes.measure_disorder(counts.tally), starts)
    # Logarithms are rounded, so that a gain of nothing may come out as less than nothing.
    gain = np.maximum(nodes.measure_disorder(nodes.tally) - disorder, 0)
    split = nodes.information[nodes.sizes] - np.add.reduceat(nodes.information[sizes], starts)
    return ColumnTests(np.where(possible_mask, gain, IMPOSSIBLE), split, np.full(len(gain), -1, dtype=np.int64))


def evaluate_numbers(column: C45Column, nodes: OpenNodes) -> ColumnTests:
    """The threshold of greatest gain; choosing among many costs the logarithm of their number (Quinlan 1996)."""
    many = len(nodes.tally)
    codes, node, classes = column.codes[nodes.rows], nodes.node, nodes.classes
    known_mask = codes >= 0
    known_tally = nodes.tally
    if not known_mask.all():
        codes, node, classes = codes[known_mask], node[known_mask], classes[known_mask]
        known_tally = np.bincount(node * known_tally.shape[1] + classes, minlength=known_tally.size).reshape(
            known_tally.shape
        )
    tests = ColumnTests(*(np.full(many, default, dtype=np.int64) for default in (IMPOSSIBLE, 0, -1)))
    if not len(codes):
        return tests
    counts = _count_codes(nodes, codes, node, classes, column.width)
    low, groups = _find_cuts(counts, known_tally, nodes.min_rows)
    if not len(groups):
        return tests
    cut_nodes = counts.node[groups]
    disorder = nodes.measure_disorder(low) + nodes.measure_disorder(known_tally[cut_nodes] - low)
    lower, known_sizes, size = low.sum(axis=1), known_tally.sum(axis=1)[cut_nodes], nodes.sizes[cut_nodes]
    parts = nodes.information[lower] + nodes.information[known_sizes - lower] + nodes.information[size - known_sizes]
    split = nodes.information[size] - parts
    best = np.lexsort((split, disorder, cut_nodes))
    starts = np.flatnonzero(np.append(True, cut_nodes[1:] != cut_nodes[:-1]))
    best, split_nodes, cut_counts = best[starts], cut_nodes[starts], np.diff(np.append(starts, len(cut_nodes)))
    gain = nodes.measure_disorder(known_tally[split_nodes]) - disorder[best] - nodes.logs[cut_counts]
    tests.gain[split_nodes] = np.where(gain > 0, gain, IMPOSSIBLE)
    tests.split[split_nodes], tests.cut[split_nodes] = split[best], counts.code[groups[best]]
    return tests


def _find_cuts(counts: _CodeCounts, known_tally: Ints, min_rows: int) -> tuple[Ints, Ints]:
    """The class counts below each boundary point with enough rows on both sides, and the group that it follows."""
    sizes = counts.tally.sum(axis=1)
    label = np.where(counts.tally.max(axis=1) == sizes, counts.tally.argmax(axis=1), -1)
    same_node_mask = counts.node[1:] == counts.node[:-1]
    groups = np.flatnonzero(same_node_mask & ((label[1:] != label[:-1]) | (label[1:] < 0)))
    total = np.cumsum(known_tally, axis=0) - known_tally
    low = np.cumsum(counts.tally, axis=0)[groups] - total[counts.node[groups]]
    rows, lower = known_tally.sum(axis=1)[counts.node[groups]], low.sum(axis=1)
    least_rows = np.maximum(np.minimum(rows / (10 * known_tally.shape[1]), _MOST_AT_A_SIDE), min_rows)
    fit = (lower >= least_rows) & (rows - lower >= least_rows)
    return low[fit], groups[fit]


class NodeTests(NamedTuple):
    """The column that each open node asks for, and the tests of all columns."""

    columns: Ints
    """−1 for a node without a test."""
    tests: list[ColumnTests]


def choose_tests(columns: tuple[C45Column, ...], nodes: OpenNodes, rows: int) -> NodeTests:
    """For each node the column of the greatest gain ratio among those of average gain or more; −1 if there is none."""
    tests = [(evaluate_numbers if column.is_number else evaluate_words)(column, nodes) for column in columns]
    gain, split = np.array([test.gain for test in tests]), np.array([test.split for test in tests])
    possible = gain >= 0
    few = np.array([column.is_number or column.width < _MANY_VALUES * rows for column in columns])
    allowed_mask = possible & (gain >= (1 - 1e-12) * _average_gains(gain, possible, few)) & (split > 0)
    ratio = np.where(allowed_mask, gain / np.maximum(split, 1), -1.0)
    best = ratio.argmax(axis=0)
    return NodeTests(np.where(ratio.max(axis=0) >= 0, best, -1), tests)


def _average_gains(gain: Ints, possible: Flags, few: Flags) -> Floats:
    flags = possible & few[:, None]
    flags = np.where(flags.any(axis=0), flags, possible)
    return np.asarray((gain * flags).sum(axis=0, dtype=np.float64) / np.maximum(flags.sum(axis=0), 1))
