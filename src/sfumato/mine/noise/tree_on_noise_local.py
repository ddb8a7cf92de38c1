# SPDX-License-Identifier: MIT
"""Grow a tree that reconstructs again at every node ("Local").

At a node, the distribution of every noisy column is reconstructed again from its rows, for each class separately, and
the rows are assigned to intervals again. A column that was tested on the way keeps its intervals: its noisy values were
cut off there, so they are no longer an original plus noise. With few rows left, reconstruction would overfit, and
intervals stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, Floats, Ints, Shorts
from sfumato.mine.noise.tree_on_noise_intervals import NoisyIntervals
from sfumato.mine.noise.tree_on_noise_nodes import LEAF, TreeNodes
from sfumato.runtime.progress import report_progress

RECONSTRUCT_FROM = 2000
"""With fewer rows at a node, nothing is reconstructed there."""
_MOST_CUTS = 255
_LEAST_GAIN = 1e-9


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """All columns as small numbers: intervals of noisy ones, and positions between cuts of the others."""

    codes: Shorts
    """Rows × columns; `missing` where there is no value."""
    cuts: tuple[Floats, ...]
    """For each plain column, the cuts between codes; empty for noisy ones."""
    missing: int

    @classmethod
    def of(cls, cells: Floats, noisy: Mapping[int, NoisyIntervals]) -> CodedColumns:
        """Code the plain columns; noisy ones are in intervals already."""
        cuts = tuple(
            np.zeros(0) if index in noisy else _choose_cuts(cells[:, index]) for index in range(cells.shape[1])
        )
        widths = [noisy[index].width if index in noisy else len(cuts[index]) + 1 for index in range(cells.shape[1])]
        missing = max(widths)
        codes = np.empty(cells.shape, dtype=np.int16)
        for index, column_cuts in enumerate(cuts):
            column = cells[:, index]
            known_mask = ~np.isnan(column)
            column_codes = column if index in noisy else np.searchsorted(column_cuts, column, side="left")
            codes[:, index] = np.where(known_mask, np.where(known_mask, column_codes, 0), missing)
        return cls(codes, cuts, missing)

    def place_threshold(self, column_index: int, code: int) -> float:
        """Where a split after a code lies: a value, or for noisy columns the number of the interval plus a half."""
        return float(self.cuts[column_index][code]) if len(self.cuts[column_index]) else code + 0.5


def _choose_cuts(column: Floats) -> Floats:
    """Between neighbouring values, or between quantiles if there are very many."""
    values = np.unique(column[~np.isnan(column)])
    if len(values) > _MOST_CUTS + 1:
        values = np.unique(np.quantile(values, np.linspace(0, 1, _MOST_CUTS + 1), method="nearest"))
    return np.asarray((values[1:] + values[:-1]) / 2)


@dataclass(frozen=True, eq=False)
class _NodeRows:
    """Rows at a node, and their codes there."""

    rows: Ints
    codes: Shorts

    def select(self, row_mask: Flags) -> _NodeRows:
        return _NodeRows(self.rows[row_mask], self.codes[row_mask])


@dataclass(frozen=True)
class _NodeSplit:
    feature: int
    code: int
    """Codes up to it go left."""
    missing_left: bool


@dataclass(frozen=True, eq=False)
class _PendingNode:
    parent: int
    is_left: bool
    depth: int
    tested_columns: frozenset[int]
    grow: _NodeRows
    held_part: _NodeRows


class LocalTree(NamedTuple):
    """A tree, and how many held-out rows pass each node."""

    nodes: TreeNodes
    held_tally: Ints
    """Nodes × classes."""


@dataclass(frozen=True, eq=False)
class LocalGrower:
    """The inputs of growing a tree."""

    columns: CodedColumns
    noisy: Mapping[int, NoisyIntervals]
    classes: Ints
    count: int
    min_rows: int
    max_depth: int | None
    reconstruct_from: int = RECONSTRUCT_FROM

    def grow(self, grow: Ints, held_rows: Ints) -> LocalTree:
        """A tree on some rows, and how many of the held-out ones pass each node (nodes × classes)."""
        tests: list[tuple[int, float, bool]] = []
        children: list[list[int]] = []
        tallies: list[Ints] = []
        held_tallies: list[Ints] = []
        start = [_NodeRows(rows, self.columns.codes[rows]) for rows in (grow, held_rows)]
        stack = [_PendingNode(-1, False, 0, frozenset(), start[0], start[1])]
        while stack:
            open_node = stack.pop()
            node = len(tests)
            report_progress("growing the tree", node)
            if open_node.parent >= 0:
                children[open_node.parent][0 if open_node.is_left else 1] = node
            tallies.append(self._tally(open_node.grow.rows))
            held_tallies.append(self._tally(open_node.held_part.rows))
            children.append([LEAF, LEAF])
            split, open_node = self._split(open_node, tallies[-1])
            if split is None:
                tests.append((LEAF, np.nan, False))
                continue
            tests.append((split.feature, self.columns.place_threshold(split.feature, split.code), split.missing_left))
            stack += self._build_children(open_node, split, node)
        feature, threshold, missing = (np.array(part) for part in zip(*tests, strict=True))
        sides = np.array(children, dtype=np.int64)
        nodes = TreeNodes(feature.astype(np.int64), threshold, sides[:, 0], sides[:, 1], missing, np.array(tallies))
        return LocalTree(nodes, np.array(held_tallies))

    def _tally(self, rows: Ints) -> Ints:
        return np.bincount(self.classes[rows], minlength=self.count).astype(np.int64)

    def _split(self, open_node: _PendingNode, tally: Ints) -> tuple[_NodeSplit | None, _PendingNode]:
        """The best test at a node, and the node with its rows coded again if that was worth it."""
        rows = len(open_node.grow.rows)
        if rows < 2 * self.min_rows or open_node.depth == self.max_depth or int((tally > 0).sum()) < 2:
            return None, open_node
        if open_node.depth and rows >= self.reconstruct_from:  # at the root it has been done
            grow, held_part = (
                self._reconstruct(part, open_node.tested_columns) for part in (open_node.grow, open_node.held_part)
            )
            open_node = replace(open_node, grow=grow, held_part=held_part)
        return find_purest_split(
            open_node.grow.codes, self.classes[open_node.grow.rows], self.count, self.columns.missing, self.min_rows
        ), open_node

    def _reconstruct(self, part: _NodeRows, tested_columns: frozenset[int]) -> _NodeRows:
        codes, classes = part.codes.copy(), self.classes[part.rows]
        for index, column in self.noisy.items():
            if index in tested_columns:
                continue
            rank = column.rank[part.rows]
            known_indices = np.flatnonzero(rank >= 0)
            ordered_indices = known_indices[np.argsort(rank[known_indices])]
            for class_code in range(self.count):
                of_class = ordered_indices[classes[ordered_indices] == class_code]
                codes[of_class, index] = column.assign_intervals(part.rows[of_class])
        return _NodeRows(part.rows, codes)

    def _build_children(self, open_node: _PendingNode, split: _NodeSplit, node: int) -> list[_PendingNode]:
        """The right child first, so that the left one is grown next."""
        tested_columns = open_node.tested_columns | {split.feature}
        goes = [
            np.where(
                part.codes[:, split.feature] == self.columns.missing,
                split.missing_left,
                part.codes[:, split.feature] <= split.code,
            )
            for part in (open_node.grow, open_node.held_part)
        ]
        return [
            _PendingNode(
                node,
                is_left,
                open_node.depth + 1,
                tested_columns,
                open_node.grow.select(goes[0] == is_left),
                open_node.held_part.select(goes[1] == is_left),
            )
            for is_left in (False, True)
        ]


def find_purest_split(codes: Shorts, classes: Ints, count: int, missing: int, min_rows: int) -> _NodeSplit | None:
    """The test with the smallest Gini impurity; ties go to the first column and the lowest code.

    Rows with a missing value go where more of the others go.
    """
    rows, columns = codes.shape
    key = (np.arange(columns) * (missing + 1) + codes) * count + classes[:, None]
    tally = np.bincount(key.ravel(), minlength=columns * (missing + 1) * count).reshape(columns, missing + 1, count)
    unknown, low = tally[:, missing:], tally[:, :missing].cumsum(axis=1)
    high = low[:, -1:] - low
    to_left = low.sum(axis=2, keepdims=True) >= high.sum(axis=2, keepdims=True)
    low, high = low + unknown * to_left, high + unknown * ~to_left
    left, right = low.sum(axis=2), high.sum(axis=2)
    fits = (left >= min_rows) & (right >= min_rows)
    if not fits.any():
        return None
    purity = (low**2).sum(axis=2) / np.maximum(left, 1) + (high**2).sum(axis=2) / np.maximum(right, 1)
    purity = np.where(fits, purity, -np.inf)
    best = int(purity.argmax())
    whole = float((tally[0].sum(axis=0) ** 2).sum()) / rows
    if purity.flat[best] <= whole * (1 + _LEAST_GAIN):
        return None
    feature, code = divmod(best, missing)
    return _NodeSplit(feature, code, bool(to_left[feature, code, 0]))
