# SPDX-License-Identifier: MIT
"""Assign noisy values to intervals in order, as often as a reconstructed distribution says (Agrawal, Srikant 2000).

If the reconstruction says that n₁ values lie in the first interval, the n₁ smallest noisy values are put there, and so
on. Single values may be wrong; a tree only needs every interval to have the right number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.mine.noise.reconstruction_channel import (
    build_channel,
    build_noisy_edges,
    compute_even_shares,
    count_in_bins,
)
from sfumato.mine.noise.reconstruction_em import binned_em
from sfumato.mine.noise.tree_on_noise_columns import TreeColumn
from sfumato.runtime.progress import report_progress

STEPS = 1000
"""The most steps of one reconstruction; its χ² test nearly always stops it much earlier."""


@dataclass(frozen=True, eq=False)
class NoisyIntervals:
    """One noisy column, ready to be reconstructed over any of its rows."""

    noisy_edges: Floats
    channel: Floats
    even: Floats
    """The probability of each interval under a uniform distribution."""
    values: Floats
    order: Ints
    """Rows by ascending value, equal ones in random order; rows with a missing value are left out."""
    rank: Ints
    """The position of each row in that order; −1 where the value is missing."""

    @classmethod
    def of(cls, column: TreeColumn, values: Floats, chance: np.random.Generator) -> NoisyIntervals:
        """Compute what noise does to the column's intervals."""
        assert column.noise is not None
        noisy_edges = build_noisy_edges(column.noise, column.edges)
        channel = build_channel(column.noise, column.edges, noisy_edges)
        shuffled_rows = chance.permutation(len(values))
        order = shuffled_rows[np.argsort(values[shuffled_rows], kind="stable")]
        order = order[: int((~np.isnan(values)).sum())]  # sorting puts NaN last
        rank = np.full(len(values), -1, dtype=np.int64)
        rank[order] = np.arange(len(order))
        return cls(noisy_edges, channel, compute_even_shares(column.edges), values, order, rank)

    @property
    def width(self) -> int:
        """The number of intervals."""
        return int(self.channel.shape[1])

    def assign_intervals(self, ordered_rows: Ints) -> Ints:
        """The interval of each of some rows, which are given by ascending value."""
        if not len(ordered_rows):
            return np.zeros(0, dtype=np.int64)
        counts = count_in_bins(self.values[ordered_rows], self.noisy_edges)
        shares = binned_em(counts, self.channel, self.even, most=STEPS)
        ends = np.rint(np.cumsum(shares) * len(ordered_rows)).astype(np.int64)
        ends[-1] = len(ordered_rows)
        return np.repeat(np.arange(self.width), np.diff(ends, prepend=0))

    def order_rows(self, row_mask: Flags) -> Ints:
        """Chosen rows by ascending value."""
        return self.order[row_mask[self.order]]


def assign_intervals(cells: Floats, noisy: dict[int, NoisyIntervals], groups: Sequence[Flags]) -> Floats:
    """Cells with each noisy value replaced by the number of its interval, reconstructed for each group of rows
    separately.
    """
    intervals = cells.copy()
    for position, (index, column) in enumerate(noisy.items()):
        report_progress("reconstructing columns", position, len(noisy))
        for rows in groups:
            ordered_rows = column.order_rows(rows)
            intervals[ordered_rows, index] = column.assign_intervals(ordered_rows)
    return intervals
