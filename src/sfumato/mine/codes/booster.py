# SPDX-License-Identifier: MIT
"""Boosted trees that XGBoost or LightGBM grew, as their JSON files state them.

A file is data: nothing in it is run, and neither package is needed. Only what can be decoded is read: trees of tests on
numbers that classify.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Flags, Floats, Ints
from sfumato.errors import DataError, count_noun
from sfumato.public.codes.learner_columns import is_learnable_type
from sfumato.table import Table

Maker = Literal["XGBoost", "LightGBM"]


@dataclass(frozen=True, eq=False)
class BoosterTree:
    """One tree; children come after their parents."""

    left: Ints
    """−1 at a leaf."""
    right: Ints
    feature: Ints
    threshold: Floats
    missing_left: Flags
    value: Floats
    """What a leaf adds to the score of its class."""
    cover: Floats
    """XGBoost: the sum of second derivatives at each node; LightGBM: its rows."""
    group: int
    """The class whose score it adds to; 0 if there are two classes."""

    @property
    def tests(self) -> Flags:
        """Which nodes are tests."""
        return np.asarray(self.left >= 0)


@dataclass(frozen=True, eq=False, repr=False)
class Booster:
    """Boosted trees."""

    maker: Maker
    source: str
    feature_names: tuple[str, ...] | None
    """None if the columns are those of the release, in its order."""
    columns: int
    trees: tuple[BoosterTree, ...]
    start: Floats
    """The score of each class before the first tree; one score if there are two classes."""
    slope: float
    """What scores are multiplied by before they become probabilities."""
    content: dict[str, Any]
    """The file."""
    rewrite: Callable[[dict[str, Any], list[Floats]], dict[str, Any]]
    """The file with other thresholds."""
    classes_: npt.NDArray[Any] | None = None
    """The classes in the order of their numbers; None until the trees are decoded: the file does not name them."""

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """The columns that the trees may test."""
        names = self.feature_names or tuple(f"feature_{index}" for index in range(self.columns))
        return np.array(names, dtype=object)

    @property
    def node_count(self) -> int:
        """The nodes of all trees."""
        return sum(len(tree.left) for tree in self.trees)

    def read_cells(self, table: Table) -> Floats:
        """The columns of a table as the package reads them; missing as NaN."""
        names = [str(name) for name in self.feature_names_in_]
        unfit = [n for n in names if n not in table.frame.columns or not is_learnable_type(table.frame[n].dtype)]
        if unfit:
            raise DataError(
                f"{table.source}: the table lacks {count_noun(len(unfit), 'column')} of the trees, or they have no "
                "numbers"
            )
        cells = table.frame.select(names).cast(dict.fromkeys(names, float)).fill_null(float("nan")).to_numpy()
        return self.round_cells(cells)

    def round_cells(self, cells: Floats) -> Floats:
        """Numbers in the precision that the package compares."""
        return cells.astype(np.float32).astype(np.float64) if self.maker == "XGBoost" else cells

    def goes_left(self, tree: BoosterTree, node: Ints, cells: Floats) -> Flags:
        """Whether numbers go left at their nodes: XGBoost's are below a threshold, LightGBM's at most as large."""
        threshold = tree.threshold[node]
        below_mask = cells < threshold if self.maker == "XGBoost" else cells <= threshold
        return np.where(np.isnan(cells), tree.missing_left[node], below_mask)

    def reach(self, tree: BoosterTree, cells: Floats) -> Ints:
        """The leaf of each row."""
        node, moving_rows = np.zeros(len(cells), dtype=np.int64), np.arange(len(cells))
        while len(moving_rows := moving_rows[tree.left[node[moving_rows]] >= 0]):
            current_nodes = node[moving_rows]
            left_mask = self.goes_left(tree, current_nodes, cells[moving_rows, tree.feature[current_nodes]])
            node[moving_rows] = np.where(left_mask, tree.left[current_nodes], tree.right[current_nodes])
        return node

    def score(self, records: Any) -> Floats:
        """Records × scores."""
        cells = self.read_cells(records if isinstance(records, Table) else Table.of(records))
        scores = np.tile(self.start, (len(cells), 1))
        for tree in self.trees:
            scores[:, tree.group] += tree.value[self.reach(tree, cells)]
        return scores

    def predict_proba(self, records: Any) -> Floats:
        """Records × classes."""
        return self.turn_into_shares(self.score(records))

    def turn_into_shares(self, scores: Floats) -> Floats:
        """Scores as probabilities."""
        scores = scores * self.slope
        if scores.shape[1] == 1:
            scores = np.column_stack((np.zeros(len(scores)), scores))
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def predict(self, records: Any) -> npt.NDArray[Any]:
        """The class of each record; its number if the trees are not decoded."""
        best = self.predict_proba(records).argmax(axis=1)
        return best if self.classes_ is None else np.asarray(self.classes_[best])

    def replace_thresholds(
        self, thresholds: list[Floats], names: tuple[str, ...], classes: npt.NDArray[Any]
    ) -> Booster:
        """The same trees with other thresholds, and names for their columns and classes."""
        trees = tuple(replace(tree, threshold=new) for tree, new in zip(self.trees, thresholds, strict=True))
        content = self.rewrite(self.content, thresholds)
        return replace(self, trees=trees, content=content, feature_names=names, classes_=classes)

    def __repr__(self) -> str:
        """Sizes, never a value."""
        return f"Booster({self.maker}: {len(self.trees)} trees, {self.node_count} nodes)"
