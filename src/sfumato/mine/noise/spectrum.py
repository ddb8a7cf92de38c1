# SPDX-License-Identifier: MIT
"""The eigenvalues of noisy numbers: which directions hold more than noise.

The covariance of m rows of pure noise is not flat: its n eigenvalues spread over σ²(1 ± √(n/m))² (Marchenko, Pastur
1967; Giannotti et al. 2009 name Wigner's law, which applies to another matrix). Anything above that is data. Columns
whose noise differs, or is correlated, are first transformed to noise of variance 1 in every direction.

Numbers come in blocks of rows, so that a million rows are read once and never all at a time. NaN is missing; the
covariance of two columns then uses the rows that have both cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Floats

# Eigenvalues of a correlation matrix that are smaller than this are rounding errors of 0.
_ZERO_SIZE = 1e-10


@dataclass(frozen=True, eq=False)
class NoisyMoments:
    """The means and covariances of some columns, with missing cells at their column's mean."""

    rows: int
    mean: Floats
    """Of the known cells; 0 for a column without any."""
    covariance: Floats
    """Centred, and divided by the number of all rows."""
    joint_shares: Floats
    """The share of rows in which both of two columns have a cell."""

    @property
    def complete(self) -> Floats:
        """The covariances over the rows that have both cells; they need not be positive semi-definite."""
        return np.divide(
            self.covariance, self.joint_shares, out=np.zeros_like(self.covariance), where=self.joint_shares > 0
        )


def sum_moments(blocks: Iterable[Floats], columns: int) -> NoisyMoments:
    """Read blocks of rows once; sums are relative to the first block's means, so that large numbers lose no digits."""
    rows, centre = 0, np.zeros(columns)
    sums, products = np.zeros(columns), np.zeros((columns, columns))
    cross_sums, counts = np.zeros((columns, columns)), np.zeros((columns, columns))
    for block in blocks:
        known_mask = ~np.isnan(block)
        if rows == 0:
            centre = np.where(known_mask, block, 0.0).sum(axis=0) / np.maximum(known_mask.sum(axis=0), 1)
        deviations = block - centre
        rows += len(block)
        if known_mask.all():
            total = deviations.sum(axis=0)
            counts += len(block)
            cross_sums += total[:, None]
        else:
            np.copyto(deviations, 0.0, where=~known_mask)
            total = deviations.sum(axis=0)
            flags = known_mask.astype(np.float64)
            counts += flags.T @ flags
            cross_sums += deviations.T @ flags  # the sum of one column where the other has a cell
        sums += total
        products += deviations.T @ deviations
    shift = sums / np.maximum(counts.diagonal(), 1)
    centred_products = products - cross_sums * shift - (cross_sums * shift).T + counts * np.outer(shift, shift)
    most = max(rows, 1)
    return NoisyMoments(rows, centre + shift, (centred_products + centred_products.T) / (2 * most), counts / most)


@dataclass(frozen=True)
class EigenvalueBounds:
    """The range of the eigenvalues of pure noise."""

    low: float
    high: float


def compute_noise_bounds(columns: int, rows: int, variance: float = 1.0) -> EigenvalueBounds:
    """The ends of the law of Marchenko and Pastur, σ²(1 ± √(n/m))²; with more columns than rows the lower one is 0."""
    spread = float(np.sqrt(columns / rows)) if rows else float("inf")
    return EigenvalueBounds(variance * max(0.0, 1 - spread) ** 2, variance * (1 + spread) ** 2)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigenvalues of noisy numbers in units of the noise, and the transformations there and back."""

    eigenvalues: Floats
    """In descending order; pure noise would have eigenvalues around 1."""
    vectors: Floats
    """One per column, in coordinates where the noise has variance 1 in every direction."""
    whiten: Floats
    """Maps numbers (a column vector) to coordinates where noise has variance 1."""
    inverse: Floats
    """Maps them back."""
    silent: Floats
    """Projects onto the directions without any noise."""
    bounds: EigenvalueBounds
    """The range of the eigenvalues of noise alone."""

    @property
    def kept_count(self) -> int:
        """How many eigenvalues exceed the noise."""
        return int((self.eigenvalues > self.bounds.high).sum())

    def build_projection(self, direction_count: int | None = None) -> Floats:
        """The projection of centred numbers onto the directions that hold data: the largest eigenvalues', and noiseless
        ones.
        """
        most = self.vectors[:, : self.kept_count if direction_count is None else direction_count]
        return np.asarray(self.inverse @ most @ most.T @ self.whiten + self.silent)


def compute_spectrum(noisy_moments: NoisyMoments, noise: Floats) -> Spectrum:
    """Compare the covariance of noisy numbers with that of the noise, whatever its shape and the columns' units."""
    scale = np.sqrt(noise.diagonal())
    sizes, axes = np.linalg.eigh(noise / np.outer(scale, scale))
    loud = sizes > _ZERO_SIZE
    root, axes_loud, axes_silent = np.sqrt(sizes[loud]), axes[:, loud], axes[:, ~loud]
    whiten = (axes_loud / root).T / scale
    back_matrix = scale[:, None] * axes_loud * root
    silent = scale[:, None] * (axes_silent @ axes_silent.T) / scale
    values, vectors = np.linalg.eigh(whiten @ noisy_moments.complete @ whiten.T)
    bounds = compute_noise_bounds(int(loud.sum()), noisy_moments.rows)
    return Spectrum(values[::-1], vectors[:, ::-1], whiten, back_matrix, silent, bounds)


def make_positive(matrix: Floats) -> Floats:
    """The nearest positive semi-definite matrix: eigenvalues below 0 become 0."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
