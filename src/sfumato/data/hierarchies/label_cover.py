# SPDX-License-Identifier: MIT
"""Which leaves the labels of a published column cover, and sums over them; `published_labels` reads the labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Flags, Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class LabelCover:
    """Which leaves each of many labels covers, as runs of neighbours in `order`: small even for wide ranges."""

    labels: int
    """The number of labels."""
    order: Ints
    """The leaves in the order that defines runs."""
    label: Ints
    """The label of each run, ascending."""
    start: Ints
    """The start of each run in `order`."""
    stop: Ints
    """The end of each run, exclusive."""

    @cached_property
    def counts(self) -> Ints:
        """How many leaves each label covers."""
        return np.bincount(self.label, self.stop - self.start, self.labels).astype(np.int64)

    def spread(self, weights: npt.ArrayLike) -> Floats:
        """Each label's weight (labels, or labels × anything) distributed evenly among its leaves, leaf by leaf."""
        label_weights = np.asarray(weights, dtype=np.float64)
        share = (label_weights.T / np.maximum(self.counts, 1)).T[self.label]
        # What no label reaches is exactly 0, not a rounding residue: logarithms depend on it.
        reached_mask = self._sum_runs((share > 0).astype(np.float64)) > 0.5
        leaves = np.empty((len(self.order), *label_weights.shape[1:]))
        leaves[self.order] = np.where(reached_mask, self._sum_runs(share), 0.0)
        return leaves

    def _sum_runs(self, share: Floats) -> Floats:
        """The values of the runs, summed at every position of the order."""
        steps = np.zeros((len(self.order) + 1, *share.shape[1:]))
        np.add.at(steps, self.start, share)
        np.subtract.at(steps, self.stop, share)
        return np.cumsum(steps, axis=0)[:-1]

    def sum_leaves(self, values: npt.ArrayLike) -> Floats:
        """The sum of the leaves' values over each label's cover; values are leaves, or leaves × anything."""
        ordered_values = np.asarray(values, dtype=np.float64)[self.order]
        prefix_sums = np.concatenate([np.zeros((1, *ordered_values.shape[1:])), np.cumsum(ordered_values, axis=0)])
        runs: Floats = prefix_sums[self.stop] - prefix_sums[self.start]
        if len(self.label) == self.labels == len(np.unique(self.label)):
            return runs
        sums = np.zeros((self.labels, *ordered_values.shape[1:]))
        np.add.at(sums, self.label, runs)
        return sums

    def holds(self, label: Ints, leaf: Ints) -> Flags:
        """For each pair, whether the label covers the leaf."""
        position = np.argsort(self.order)[leaf]
        width = len(self.order) + 1
        run = np.searchsorted(self.label * width + self.start, label * width + position, side="right") - 1
        covered_mask = (run >= 0) & (self.label[run] == label) & (position < self.stop[run])
        return np.asarray(covered_mask, dtype=np.bool_) if len(self.label) else np.zeros(len(label), dtype=np.bool_)

    def build_matrix(self) -> Flags:
        """Labels × leaves: whether the label covers the leaf."""
        steps = np.zeros((self.labels, len(self.order) + 1), dtype=np.int8)
        # No two runs of a label touch, so no position is incremented twice in one direction.
        steps[self.label, self.start] += 1
        steps[self.label, self.stop] -= 1
        cover_matrix = np.empty((self.labels, len(self.order)), dtype=np.bool_)
        cover_matrix[:, self.order] = np.cumsum(steps[:, :-1], axis=1, dtype=np.int8) > 0
        return cover_matrix


@dataclass(frozen=True, eq=False, repr=False)
class ColumnReading:
    """A published column, read cell by cell; the missing value is an additional leaf, the last."""

    codes: Ints
    """The distinct label of each row."""
    cover: LabelCover
    """The leaves that each distinct label covers."""

    @cached_property
    def rows(self) -> Ints:
        """The number of rows with each label."""
        return np.bincount(self.codes, minlength=self.cover.labels).astype(np.int64)

    def spread(self) -> Floats:
        """The number of rows per leaf if every row is distributed evenly among the leaves it covers."""
        return self.cover.spread(self.rows)

    def average_values(self, values: npt.ArrayLike) -> Floats:
        """The mean of the leaves' values (leaves, or leaves × anything) over each label's cover."""
        counts = self.cover.counts.reshape(-1, *[1] * (np.ndim(values) - 1))
        return np.asarray(self.cover.sum_leaves(values) / counts, dtype=np.float64)
