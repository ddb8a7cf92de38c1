# SPDX-License-Identifier: MIT
"""A decision tree as plain arrays: sending rows down it, pruning it with held-out rows, and writing it as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.mine.noise.tree_on_noise_columns import TreeColumn

LEAF = -1


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """Node 0 is the root; a child always comes after its parent."""

    feature: Ints
    """The column that is tested; `LEAF` at a leaf."""
    threshold: Floats
    """Values up to it go left."""
    left: Ints
    right: Ints
    missing_left: Flags
    tally: Ints
    """Nodes × classes: the rows that the tree was grown on."""

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return int((self.feature == LEAF).sum())

    @property
    def depth(self) -> int:
        """The most tests on a path."""
        depth = np.zeros(len(self.feature), dtype=np.int64)
        for node in np.flatnonzero(self.feature != LEAF):
            depth[self.left[node]] = depth[self.right[node]] = depth[node] + 1
        return int(depth.max())

    @property
    def predictions(self) -> Ints:
        """The class that each node predicts."""
        return np.asarray(self.tally.argmax(axis=1))

    def find_leaves(self, rows: Floats) -> Ints:
        """The leaf of each row."""
        nodes = np.zeros(len(rows), dtype=np.int64)
        open_rows = np.arange(len(rows)) if self.feature[0] != LEAF else np.zeros(0, dtype=np.int64)
        while len(open_rows):
            node = nodes[open_rows]
            cells = rows[open_rows, self.feature[node]]
            low = np.where(np.isnan(cells), self.missing_left[node], cells <= self.threshold[node])
            nodes[open_rows] = np.where(low, self.left[node], self.right[node])
            open_rows = open_rows[self.feature[nodes[open_rows]] != LEAF]
        return nodes

    def count_classes(self, rows: Floats, classes: Ints) -> Ints:
        """Nodes × classes: how many of some rows pass."""
        width = self.tally.shape[1]
        flat = np.bincount(self.find_leaves(rows) * width + classes, minlength=self.tally.size)
        class_counts = flat.reshape(self.tally.shape).astype(np.int64)
        for node in np.flatnonzero(self.feature != LEAF)[::-1]:
            class_counts[node] = class_counts[self.left[node]] + class_counts[self.right[node]]
        return class_counts

    def prune(self, held_tally: Ints) -> TreeNodes:
        """Without tests that do not improve predictions for held-out rows (Quinlan's reduced-error pruning).

        `held_tally` counts those rows, nodes × classes.
        """
        wrong = held_tally.sum(axis=1) - held_tally[np.arange(len(held_tally)), self.predictions]
        subtree_errors, feature = wrong.copy(), self.feature.copy()
        for node in np.flatnonzero(feature != LEAF)[::-1]:
            child_errors = subtree_errors[self.left[node]] + subtree_errors[self.right[node]]
            if wrong[node] <= child_errors:
                feature[node] = LEAF
            else:
                subtree_errors[node] = child_errors
        return self._drop_orphans(feature)

    def _drop_orphans(self, feature: Ints) -> TreeNodes:
        kept_mask = np.zeros(len(feature), dtype=np.bool_)
        kept_mask[0] = True
        for node in np.flatnonzero(feature != LEAF):
            if kept_mask[node]:
                kept_mask[[self.left[node], self.right[node]]] = True
        node_numbers = np.cumsum(kept_mask) - 1
        inner = feature[kept_mask] != LEAF
        left, right = (np.where(inner, node_numbers[children[kept_mask]], LEAF) for children in (self.left, self.right))
        return TreeNodes(
            feature[kept_mask],
            np.where(inner, self.threshold[kept_mask], np.nan),
            left,
            right,
            self.missing_left[kept_mask],
            self.tally[kept_mask],
        )

    def replace_thresholds(self, columns: Sequence[TreeColumn], interval: Sequence[bool]) -> TreeNodes:
        """Tests of interval numbers as tests of values: up to an interval's upper edge."""
        threshold = self.threshold.copy()
        for node in np.flatnonzero(self.feature != LEAF):
            column_index = int(self.feature[node])
            if interval[column_index]:
                edges = columns[column_index].edges
                edge = np.interp(threshold[node] + 0.5, np.arange(len(edges)), edges)
                threshold[node] = np.nextafter(edge, -np.inf)
        return TreeNodes(self.feature, threshold, self.left, self.right, self.missing_left, self.tally)

    def spell_tests(self, columns: Sequence[TreeColumn], classes: Sequence[Any], target: str) -> str:
        """One line per test and leaf, like scikit-learn's `export_text`."""
        lines: list[str] = []
        stack: list[tuple[int, int, str]] = [(0, 0, "")]
        while stack:
            node, depth, test = stack.pop()
            if test:
                lines.append("|   " * (depth - 1) + f"|--- {test}")
            if self.feature[node] == LEAF:
                rows = int(self.tally[node].sum())
                lines.append("|   " * depth + f"|--- {target}: {classes[int(self.predictions[node])]} ({rows} rows)")
            else:
                low, high = columns[int(self.feature[node])].test(float(self.threshold[node]))
                stack.append((int(self.right[node]), depth + 1, high))
                stack.append((int(self.left[node]), depth + 1, low))
        # A line break in a name must not begin a line that is not the tree's.
        return "\n".join(line.replace("\n", "\\n").replace("\r", "\\r") for line in lines)


def grow_nodes(cells: Floats, classes: Ints, count: int, min_rows: int, max_depth: int | None) -> TreeNodes:
    """A tree by scikit-learn (gini, at least `min_rows` rows a leaf)."""
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(min_samples_leaf=min_rows, max_depth=max_depth, random_state=0)
    tree = model.fit(cells.astype(np.float32), classes).tree_
    tally = np.zeros((tree.node_count, count), dtype=np.int64)
    tally[:, model.classes_] = np.rint(tree.value[:, 0, :] * tree.n_node_samples[:, None])
    feature = np.where(tree.children_left < 0, LEAF, tree.feature)
    return TreeNodes(
        feature.astype(np.int64), tree.threshold.astype(np.float64), tree.children_left.astype(np.int64),
        tree.children_right.astype(np.int64), tree.missing_go_to_left.astype(np.bool_), tally,
    )  # fmt: skip
