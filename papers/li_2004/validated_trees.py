# SPDX-License-Identifier: MIT
"""C4.5 trees (Quinlan 1993) of a data set, cross-validated: the paper's learner, with its defaults."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.arrays import Ints
from sfumato.mine.codes.c45 import C45Tree, train_c45
from sfumato.table import Table

_CLASS = "class of the record"


@dataclass(frozen=True)
class TreeScores:
    """What cross-validation found."""

    error: float
    """The share of held-out records whose class, as the data set has it, is not predicted."""
    true_error: float
    """The same for the originals' classes."""
    leaves: int
    """Of the tree grown on all records, as C4.5 counts them: with branches for values that no record there has."""
    reached_leaves: int
    """The leaves that some record reaches."""


def features(frame: pl.DataFrame) -> pl.DataFrame:
    """Every column as words, since numbers were cut into intervals; C4.5 gives each a branch."""
    return frame.select(pl.all().cast(pl.String))


def cross_validate(x: pl.DataFrame, y: Ints, truth: Ints, folds: int, seed: int = 1) -> TreeScores:
    """Cross-validate within a data set; `truth` are the classes of the originals."""
    from sklearn.model_selection import StratifiedKFold

    predictions = np.empty(len(y), dtype=np.int64)
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y):
        predictions[test] = grow(x[train], y[train]).predict(x[test])
    whole = grow(x, y)
    errors = float((predictions != y).mean()), float((predictions != truth).mean())
    return TreeScores(*errors, count_leaves(whole), whole.n_leaves)


def grow(x: pl.DataFrame, y: Ints) -> C45Tree:
    """A pruned tree."""
    return train_c45(Table.of(x.with_columns(pl.Series(_CLASS, y))), _CLASS)


def count_leaves(tree: C45Tree) -> int:
    """The leaves, and one for each value of a tested column that has no branch."""
    nodes = tree.nodes
    widths = np.array([2 if column.words is None else len(column.words) for column in tree.columns])
    tests = nodes.column >= 0
    return int(tree.n_leaves + (widths[nodes.column[tests]] - nodes.children[tests]).sum())
