# SPDX-License-Identifier: MIT
"""A stand-in for C4.5 (Quinlan 1993): scikit-learn's tree by entropy, pruned pessimistically as C4.5 does.

A node becomes a leaf where the upper limit of its error, at 25 % confidence, is no higher than that of its branches.
Splits are in two where C4.5's are by value, so leaves are more in number and mean less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints

_CONFIDENCE, _LEAST = 0.25, 2


@dataclass(frozen=True)
class Validated:
    """What cross-validation found."""

    error: float
    """The share of held-out records whose class, as the data set has it, is not predicted."""
    true_error: float
    """The same for the originals' classes."""
    leaves: int
    """Of the tree grown on all records."""


def features(frame: pl.DataFrame) -> Floats:
    """One column a value; a missing cell has none of them."""
    parts = [frame[name].cast(pl.String).to_dummies(drop_nulls=True) for name in frame.columns]
    return np.hstack([part.to_numpy() for part in parts]).astype(np.float32)


def validated(x: Floats, y: Ints, truth: Ints, folds: int, seed: int = 1) -> Validated:
    """Cross-validate within a data set; `truth` are the classes of the originals."""
    from sklearn.model_selection import StratifiedKFold

    told = np.empty(len(y), dtype=np.int64)
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(x, y):
        told[test] = grown(x[train], y[train]).predict(x[test])
    leaves = int(leaves_of(grown(x, y)))
    return Validated(float((told != y).mean()), float((told != truth).mean()), leaves)


def grown(x: Floats, y: Ints) -> Any:
    """A pruned tree."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=_LEAST, random_state=0).fit(x, y)
    _prune(tree.tree_)
    return tree


def leaves_of(tree: Any) -> int:
    """How many leaves can be reached."""
    left, right = tree.tree_.children_left, tree.tree_.children_right
    waiting, count = [0], 0
    while waiting:
        node = waiting.pop()
        if left[node] < 0:
            count += 1
        else:
            waiting += [int(left[node]), int(right[node])]
    return count


def _prune(tree: Any) -> None:
    """Turn nodes into leaves from the bottom up; a child has a higher number than its parent."""
    from scipy.stats import beta

    left, right = tree.children_left, tree.children_right
    size = tree.n_node_samples.astype(np.float64)
    wrong = np.rint(size * (1 - tree.value[:, 0, :].max(axis=1) / tree.value[:, 0, :].sum(axis=1)))
    limit = size * np.where(wrong < size, beta.ppf(1 - _CONFIDENCE, wrong + 1, np.maximum(size - wrong, 1e-9)), 1.0)
    for node in range(len(left) - 1, -1, -1):
        if left[node] < 0:
            continue
        branches = limit[left[node]] + limit[right[node]]
        if limit[node] <= branches + 0.1:  # C4.5 has this tenth too
            left[node] = right[node] = -1
        else:
            limit[node] = branches
