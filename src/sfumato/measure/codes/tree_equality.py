# SPDX-License-Identifier: MIT
"""Whether two decision trees are the same, and whether codes and originals give the same tree.

The second needs no key: at every node the rows on one side under the codes must be those on one side under the
originals. Trees are grown on both, with scikit-learn and as C4.5 does; no code is shared with the encoding.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints, Singles
from sfumato.errors import DataError
from sfumato.measure.alignment import align_originals
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.measure.codes.c45_equality import count_c45_differences, is_same_c45_tree
from sfumato.mine.codes.c45 import C45Tree
from sfumato.release import Number
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

SKLEARN, C45 = LEARNERS = ("scikit_learn", "c45")
_LEAF = -1
_TIE = 1e-9
SETTINGS: tuple[dict[str, Any], ...] = (
    {"criterion": "gini"},
    {"criterion": "entropy"},
    {"criterion": "gini", "max_depth": 6, "ccp_alpha": 0.001},
)
"""The settings of the trees that compare codes with originals."""
SETTINGS_WITH_TIES: tuple[dict[str, Any], ...] = ({"criterion": "gini"}, {"criterion": "entropy"}, {"max_depth": 6})
"""The same if ties may be broken differently: pruning above depends on the choice below."""


def same_tree(tree: Any, other: Any, up_to_ties: bool = False) -> bool:
    """Whether two fitted trees test the same columns at the same thresholds and predict the same classes, node by node.

    Forests are compared tree by tree. With `up_to_ties`, either of two equally good splits is accepted, and the
    branches below are not compared.
    """
    if isinstance(tree, C45Tree) or isinstance(other, C45Tree):
        return type(tree) is type(other) and is_same_c45_tree(tree, other)
    if list(map(str, tree.classes_)) != list(map(str, other.classes_)):
        return False
    if hasattr(tree, "estimators_") != hasattr(other, "estimators_"):
        return False
    if hasattr(tree, "estimators_"):
        pairs = list(zip(tree.estimators_, other.estimators_, strict=False))
        return len(tree.estimators_) == len(other.estimators_) and all(
            _have_same_nodes(first.tree_, second.tree_, up_to_ties) for first, second in pairs
        )
    return _have_same_nodes(tree.tree_, other.tree_, up_to_ties)


def _have_same_nodes(first: Any, second: Any, up_to_ties: bool) -> bool:
    a = b = np.zeros(1, dtype=np.int64)
    while len(a):
        leaf = first.children_left[a] == _LEAF
        if not np.array_equal(leaf, second.children_left[b] == _LEAF):
            return False
        if not np.array_equal(first.n_node_samples[a], second.n_node_samples[b]):
            return False
        if not np.allclose(first.value[a], second.value[b], rtol=1e-12, atol=0):
            return False
        a, b = a[~leaf], b[~leaf]
        same_mask = (
            (first.feature[a] == second.feature[b])
            & (first.threshold[a] == second.threshold[b])
            & (first.missing_go_to_left[a] == second.missing_go_to_left[b])
        )
        if not same_mask.all() and not (up_to_ties and _are_tied(first, second, a[~same_mask], b[~same_mask])):
            return False
        a, b = (
            np.concatenate((tree.children_left[index[same_mask]], tree.children_right[index[same_mask]]))
            for tree, index in ((first, a), (second, b))
        )
    return True


def _are_tied(first: Any, second: Any, a: Ints, b: Ints) -> bool:
    """Whether the splits of two trees are equally good, at every pair of nodes."""
    return np.allclose(_compute_split_gain(first, a), _compute_split_gain(second, b), rtol=_TIE, atol=_TIE)


def _compute_split_gain(tree: Any, node: Ints) -> Floats:
    """By how much a split lowers the weighted impurity of its node, as a share of the node's weight."""
    weighted_impurity = tree.impurity * tree.weighted_n_node_samples
    left, right = tree.children_left[node], tree.children_right[node]
    return np.asarray(
        (weighted_impurity[node] - weighted_impurity[left] - weighted_impurity[right])
        / tree.weighted_n_node_samples[node]
    )


def trees_that_differ(
    published_table: Table,
    original: Table,
    target: str,
    columns: tuple[str, ...],
    up_to_ties: bool = False,
    words: tuple[str, ...] = (),
    learners: tuple[str, ...] = LEARNERS,
) -> int:
    """Of the trees grown on both tables, how many do not split the rows alike at every node.

    `columns` hold numbers. `words` are columns of text, of which only C4.5 makes use. Ties are looked for in
    trees of scikit-learn alone: those of C4.5 must be equal.
    """
    differ = 0
    if SKLEARN in learners and columns:  # it grows no tree on words
        differ += _count_sklearn_differences(published_table, original, target, columns, up_to_ties)
    if C45 in learners:
        differ += count_c45_differences(published_table, original, target, columns, words)
    return differ


def _count_sklearn_differences(
    published_table: Table, original: Table, target: str, columns: tuple[str, ...], up_to_ties: bool
) -> int:
    settings = SETTINGS_WITH_TIES if up_to_ties else SETTINGS
    learner_cells = [_read_learner_cells(table, target, columns) for table in (published_table, original)]
    differ = 0
    for setting_index, setting in enumerate(settings):
        report_progress("growing trees on codes and originals", setting_index, len(settings))
        grown_trees = [_TreeOnCells.of(cells, classes, setting) for cells, classes in learner_cells]
        differ += not _have_same_splits(grown_trees[0], grown_trees[1], up_to_ties)
    return differ


@checks_claim("trees_that_differ", "exactly", needs_original=True)
def _count_different_trees(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    columns, ties = tuple(arguments["columns"]), bool(arguments.get("up_to_ties", 0))
    words, learners = tuple(arguments.get("words", ())), tuple(arguments.get("learners", (SKLEARN,)))
    target, original = str(arguments["target"]), evidence.original
    aligned_table = original.replace_frame(align_originals(original, evidence.published_data, evidence.rows))
    return trees_that_differ(evidence.published_data, aligned_table, target, columns, ties, words, learners)


checks_claim("rows", "exactly", properties=("rows_kept",), unit="size")(
    lambda evidence, _: len(evidence.published_data)
)


def _read_learner_cells(table: Table, target: str, columns: tuple[str, ...]) -> tuple[Singles, Ints]:
    """The cells as a learner sees them, and the classes as numbers."""
    try:
        cells = table.frame.select(pl.col(columns).cast(pl.Float64)).to_numpy().astype(np.float32)
    except pl.exceptions.PolarsError:  # its message shows cells
        words = [name for name in columns if table.frame[name].dtype == pl.String]
        names = ", ".join(f'"{name}"' for name in words or columns)
        raise DataError(
            f"{table.source}: learners take numbers, and {names} holds others; drop it or code it"
        ) from None
    return cells, table.frame[target].rank("dense").cast(pl.Int64).to_numpy()


@dataclass(frozen=True)
class _TreeOnCells:
    """A tree, and the cells it was grown on."""

    tree: Any
    cells: Singles

    @classmethod
    def of(cls, cells: Singles, classes: Ints, setting: Mapping[str, Any]) -> _TreeOnCells:
        from sklearn.tree import DecisionTreeClassifier

        # scikit-learn sums columns to look for missing cells, and warns about many classes: neither matters here.
        with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return cls(DecisionTreeClassifier(random_state=0, **setting).fit(cells, classes).tree_, cells)

    def goes_left(self, rows: Ints, node: Ints) -> Flags:
        """Whether each row goes left at its node."""
        cell = self.cells[rows, self.tree.feature[node]]
        missing_left = self.tree.missing_go_to_left[node].astype(bool)
        return np.asarray(np.where(np.isnan(cell), missing_left, cell <= self.tree.threshold[node]))

    def find_child(self, node: Ints, left_mask: Flags) -> Ints:
        """The child that each row goes to."""
        return np.asarray(np.where(left_mask, self.tree.children_left[node], self.tree.children_right[node]))


def _have_same_splits(tree: _TreeOnCells, other: _TreeOnCells, up_to_ties: bool) -> bool:
    """Whether both trees split the rows alike, with left and right possibly swapped; rows go down level by level."""
    rows = np.arange(len(tree.cells))
    a = b = np.zeros(len(rows), dtype=np.int64)
    while len(rows):
        leaf = tree.tree.children_left[a] == _LEAF
        if not np.array_equal(leaf, other.tree.children_left[b] == _LEAF):
            return False
        rows, a, b = rows[~leaf], a[~leaf], b[~leaf]
        left, right = tree.goes_left(rows, a), other.goes_left(rows, b)
        many = tree.tree.node_count
        row_counts, agree = np.bincount(a, minlength=many), np.bincount(a, weights=left == right, minlength=many)
        alike = ((agree == 0) | (agree == row_counts))[a] & (tree.tree.feature[a] == other.tree.feature[b])
        if not alike.all():
            if not (up_to_ties and _are_tied(tree.tree, other.tree, a[~alike], b[~alike])):
                return False
            rows, a, b, left, right = rows[alike], a[alike], b[alike], left[alike], right[alike]
        a, b = tree.find_child(a, left), other.find_child(b, right)
    return True
