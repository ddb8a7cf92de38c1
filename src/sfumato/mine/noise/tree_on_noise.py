# SPDX-License-Identifier: MIT
"""Decision trees for true values, trained on noisy ones (Agrawal and Srikant, *Privacy-preserving data mining*, 2000).

An analyst has a release with noise of a known kind, and wants a tree that predicts the classes
of true records. The distribution of every noisy column is reconstructed, the noisy values
are assigned to intervals in order, as many to each as the reconstruction says, and a tree is grown on the intervals:

``global``    each column is reconstructed once, all classes together;
``by_class``  each column is reconstructed once for each class;
``local``     as ``by_class``, and again at every node;
``none``      no reconstruction: the noisy values as if they were true, for comparison.

A reconstruction has random errors of its own, which a tree would overfit. So a part of the rows
is held out and reconstructed separately, and tests that do not help there are pruned.

Only `release.data` and `release.public` are used. A tree reveals nothing about single people beyond its leaves' counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError, PolicyError
from sfumato.mine.noise.tree_on_noise_columns import ClassLabels, TreeColumn, read_class_labels, read_tree_columns
from sfumato.mine.noise.tree_on_noise_intervals import NoisyIntervals, assign_intervals
from sfumato.mine.noise.tree_on_noise_nodes import TreeNodes, grow_nodes
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table

Reconstruct = Literal["global", "by_class", "local", "none"]
HELD_OUT = 3
"""One row in this many is held out for pruning."""
MIN_ROWS = 50


@dataclass(frozen=True, eq=False, repr=False)
class TreeOnNoise:
    """A tree that predicts the classes of true records."""

    target: str
    """The column that the tree predicts."""
    classes_: npt.NDArray[Any]
    """The classes, in their order."""
    columns: tuple[TreeColumn, ...]
    """The columns that it tests."""
    nodes: TreeNodes
    """The nodes, as arrays."""
    reconstruct: Reconstruct
    """How noise was removed from the training data."""
    grown_on: int
    """Rows that the tree was grown on."""
    held_out: int
    """Rows that it was pruned with."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns that it may test."""
        return tuple(column.name for column in self.columns)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self.nodes.leaves

    @property
    def depth(self) -> int:
        """The most tests on a path."""
        return self.nodes.depth

    def predict(self, records: Any) -> npt.NDArray[Any]:
        """The class of each record of a table or frame with true values."""
        return np.asarray(self.classes_[self.nodes.predictions[self._find_leaves(records)]])

    def predict_proba(self, records: Any) -> Floats:
        """Records × classes: the class shares of the training rows at each record's leaf."""
        tally = self.nodes.tally[self._find_leaves(records)]
        return np.asarray(tally / tally.sum(axis=1, keepdims=True))

    def measure_accuracy(self, records: Any) -> float:
        """The share of records classified correctly; those without a class are left out."""
        frame = _read_records(records)
        if self.target not in frame.columns:
            raise DataError(f'there is no column "{self.target}" to compare with')
        truth = frame.filter(pl.col(self.target).is_not_null())
        if truth.is_empty():
            raise DataError(f'"{self.target}" is missing in all {frame.height} rows; nothing can be compared')
        predicted_classes = spell_cells(pl.Series(self.classes_))[self.nodes.predictions[self._find_leaves(truth)]]
        return float((predicted_classes == spell_cells(truth[self.target])).mean())  # type: ignore[arg-type]  # a comparison of arrays

    def spell_rules(self) -> str:
        """The tree as text: one line per test and leaf, with the number of training rows."""
        return self.nodes.spell_tests(self.columns, list(self.classes_), self.target)

    def _find_leaves(self, records: Any) -> Ints:
        frame = _read_records(records)
        absent = [name for name in self.feature_names if name not in frame.columns]
        if absent:
            raise DataError(f"the tree tests missing columns: {', '.join(absent[:12])}")
        return self.nodes.find_leaves(np.column_stack([column.read_numbers(frame) for column in self.columns]))

    def __repr__(self) -> str:
        """Sizes, never a value."""
        return (
            f"TreeOnNoise({self.target}, reconstruct={self.reconstruct!r}: {self.n_leaves} leaves, depth {self.depth})"
        )


def _read_records(records: Any) -> pl.DataFrame:
    if isinstance(records, Release):
        records = records.data
    return records.frame if isinstance(records, Table) else Table.of(records).frame


def train_tree_on_noise(
    release: Release | Table,
    target: str,
    reconstruct: Reconstruct = "by_class",
    columns: tuple[str, ...] | list[str] | None = None,
    bins: int | None = None,
    *,
    min_rows: int = MIN_ROWS,
    max_depth: int | None = None,
    prune: bool | None = None,
    randomness: Randomness | None = None,
) -> TreeOnNoise:
    """A tree that predicts the target of true records, grown on a release with noisy columns.

    `columns` are those it may test (by default all but identifying ones), `bins` the intervals of each noisy column (by
    default about a hundred rows each, ten to a hundred intervals). A leaf has `min_rows` rows or more. `prune` holds
    out a third of the rows and prunes with them; by default it does so if something is reconstructed. `randomness`
    decides who is held out, and the order of equal values. A plain table has no noise.
    """
    checked_release = _check_tree_arguments(release, reconstruct, bins, min_rows, max_depth)
    labels = read_class_labels(checked_release, target)
    names = _choose_tree_columns(checked_release.data, target, columns)
    commonest = np.zeros(len(checked_release.data), dtype=np.bool_)
    commonest[labels.rows] = labels.codes == np.bincount(labels.codes).argmax()
    tested_columns = read_tree_columns(checked_release, names, commonest, bins, noisy=reconstruct != "none")
    chance = (randomness or Randomness.seeded(0)).generator()
    frame = checked_release.data.frame[labels.rows]
    cells = np.column_stack([column.read_numbers(frame) for column in tested_columns])
    held_mask = np.zeros(len(cells), dtype=np.bool_)
    if prune or (prune is None and reconstruct != "none"):
        held_mask = chance.permutation(len(cells)) % HELD_OUT == HELD_OUT - 1
    noisy = {
        index: NoisyIntervals.of(column, cells[:, index], chance)
        for index, column in enumerate(tested_columns)
        if column.noise is not None
    }
    cells = assign_intervals(cells, noisy, _flag_row_groups(labels, held_mask, reconstruct))
    nodes = _grow_tree(cells, noisy, labels, held_mask, min_rows, max_depth, local=reconstruct == "local")
    nodes = nodes.replace_thresholds(tested_columns, [column.noise is not None for column in tested_columns])
    return TreeOnNoise(
        target, labels.classes, tested_columns, nodes, reconstruct, int((~held_mask).sum()), int(held_mask.sum())
    )


def _flag_row_groups(labels: ClassLabels, held_mask: Flags, reconstruct: Reconstruct) -> list[Flags]:
    """The rows that are reconstructed together: held-out ones never with others."""
    parts = [~held_mask, held_mask] if held_mask.any() else [~held_mask]
    if reconstruct == "global":
        return parts
    return [part & (labels.codes == class_code) for part in parts for class_code in range(len(labels.classes))]


def _grow_tree(
    cells: Floats, noisy: dict[int, NoisyIntervals], labels: ClassLabels, held_mask: Flags, min_rows: int,
    max_depth: int | None, *,
    local: bool,
) -> TreeNodes:  # fmt: skip
    count = len(labels.classes)
    if local:
        from sfumato.mine.noise.tree_on_noise_local import CodedColumns, LocalGrower

        grower = LocalGrower(CodedColumns.of(cells, noisy), noisy, labels.codes, count, min_rows, max_depth)
        nodes, held_tally = grower.grow(np.flatnonzero(~held_mask), np.flatnonzero(held_mask))
        return nodes.prune(held_tally) if held_mask.any() else nodes
    nodes = grow_nodes(cells[~held_mask], labels.codes[~held_mask], count, min_rows, max_depth)
    return nodes.prune(nodes.count_classes(cells[held_mask], labels.codes[held_mask])) if held_mask.any() else nodes


def _check_tree_arguments(
    release: Release | Table, reconstruct: str, bins: int | None, min_rows: int, max_depth: int | None
) -> Release:
    checked_release = Release(release, None, (), {}) if isinstance(release, Table) else release
    if reconstruct not in get_args(Reconstruct):
        raise PolicyError(f'reconstruct = "{reconstruct}" does not exist; choose {", ".join(get_args(Reconstruct))}')
    if not isinstance(checked_release.data, Table):
        raise PolicyError("a tree needs a table")
    if not len(checked_release.data):
        raise DataError(f"{checked_release.data.source}: there are no rows to grow a tree on")
    if (bins is not None and bins < 2) or min_rows < 1 or (max_depth is not None and max_depth < 1):
        raise PolicyError("`bins` must be 2 or more, `min_rows` 1 or more, `max_depth` 1 or more")
    return checked_release


def _choose_tree_columns(table: Table, target: str, columns: tuple[str, ...] | list[str] | None) -> tuple[str, ...]:
    identifying_names = set(table.identifying) if table.roles else set()
    if columns is None:
        names = tuple(name for name in table.frame.columns if name != target and name not in identifying_names)
    else:
        names = tuple(columns)
    strange = [name for name in names if name not in table.frame.columns or name == target]
    if strange or not names or len(set(names)) < len(names):
        raise DataError(
            f"`columns` must name columns of the release except the target, each once; not {', '.join(strange[:12])}"
            if strange
            else "a tree needs at least one column to test, each named once"
        )
    return names
