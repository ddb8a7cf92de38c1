# SPDX-License-Identifier: MIT
"""What a stored release does to numbers: means, deviations and correlations, summed some rows at a time."""

from __future__ import annotations

import numpy as np
import polars as pl

from sfumato.arrays import Floats
from sfumato.engine.aligned_batches import align_batches
from sfumato.measure.stored_changes import StoredComparison


def measure_stored_moments(comparison: StoredComparison) -> dict[str, float]:
    """How far means, deviations and correlations of number columns moved, at the most; as `moments` says."""
    original_rows, published_rows = comparison.original.rows, comparison.published_table.rows
    names = [
        name
        for name, kind in published_rows.schema.items()
        if _is_number(kind) and _is_number(original_rows.schema[name])
    ]
    if not names:
        return {}
    sums = _PairSums(len(names)), _PairSums(len(names))
    for batch in align_batches(original_rows, published_rows, comparison.taken_rows, "comparing moments", names):
        for side, frame in zip(sums, batch, strict=True):
            side.add(np.array([frame[name].to_physical().cast(pl.Float64).to_numpy() for name in names]))
    was, published_sums = sums
    spread = was.deviations
    measurable_mask = (spread > 0) & (was.counts > 0) & (published_sums.counts > 0)
    figures = {}
    if measurable_mask.any():
        shifts = np.abs(published_sums.means - was.means)[measurable_mask] / spread[measurable_mask]
        ratios = np.abs(published_sums.deviations[measurable_mask] / spread[measurable_mask] - 1)
        figures = {"largest_mean_shift": float(shifts.max()), "largest_spread_change": float(ratios.max())}
    if len(names) > 1:
        gaps = np.abs(was.correlate() - published_sums.correlate())[np.triu_indices(len(names), 1)]
        figures["largest_correlation_shift"] = float(gaps.max())
    return figures


def _is_number(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind == pl.Date


class _PairSums:
    """Sums of columns over the rows in which another column is known: row by column, column by the other."""

    def __init__(self, size: int) -> None:
        self._centre: Floats = np.full(size, np.nan)
        self._count, self._sum, self._squares, self._products = (np.zeros((size, size)) for _ in range(4))

    def add(self, numbers: Floats) -> None:
        known_mask = np.isfinite(numbers)
        for index in np.flatnonzero(np.isnan(self._centre) & known_mask.any(axis=1)):
            self._centre[index] = numbers[index, known_mask[index]][0]  # near all others, so that nothing cancels
        centred_numbers = np.where(known_mask, numbers - self._centre[:, None], 0.0)
        known_weights = known_mask.astype(np.float64)
        self._count += known_weights @ known_weights.T
        self._sum += centred_numbers @ known_weights.T
        self._squares += centred_numbers**2 @ known_weights.T
        self._products += centred_numbers @ centred_numbers.T

    @property
    def counts(self) -> Floats:
        return np.asarray(np.diag(self._count))

    @property
    def means(self) -> Floats:
        return np.asarray(np.nan_to_num(self._centre) + np.diag(self._sum) / np.maximum(self.counts, 1))

    @property
    def deviations(self) -> Floats:
        return np.sqrt(np.diag(self._measure_variances()))

    def correlate(self) -> Floats:
        """The correlation of each pair, over the rows that have both; 0 for a constant."""
        count, means = np.maximum(self._count, 1), self._sum / np.maximum(self._count, 1)
        variances = self._measure_variances()
        covariances = self._products / count - means * means.T
        spread = np.sqrt(variances * variances.T)
        return np.divide(covariances, spread, out=np.zeros_like(spread), where=spread > 0)

    def _measure_variances(self) -> Floats:
        count = np.maximum(self._count, 1)
        return np.maximum(self._squares / count - (self._sum / count) ** 2, 0.0)
