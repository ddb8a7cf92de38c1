# SPDX-License-Identifier: MIT
"""A column that is published with noise or as intervals: its cells, what is published about it, and what it loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints, Words
from sfumato.protect.noise.noise_columns import NumberColumn
from sfumato.protect.noise.noise_scales import compute_achieved_level, compute_interval_middles, count_low_digits
from sfumato.protect.noise.row_draws import RowDraws, shape_normal, shape_uniform
from sfumato.public.noise_law import CorrelatedNoiseLaw, IndependentNoiseLaw, Noise, NoiseLaw
from sfumato.release import Number


@dataclass(frozen=True)
class ShownNumbers:
    """What a published column discloses about how it was made; the numbers of its parts add up."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    """The sum of squared distances from the mean."""
    lowest: float = np.inf

    @classmethod
    def of(cls, published_cells: pl.Series) -> ShownNumbers:
        """Look at some published cells."""
        numbers = published_cells.drop_nulls().to_physical().cast(pl.Float64).to_numpy()
        if not len(numbers):
            return cls()
        return cls(len(numbers), float(numbers.mean()), float(numbers.var()) * len(numbers), float(numbers.min()))

    def join(self, other: ShownNumbers) -> ShownNumbers:
        """The numbers of two parts."""
        count = self.count + other.count
        if not self.count or not other.count:
            return self if self.count else other
        mean_difference = other.mean - self.mean
        return ShownNumbers(
            count,
            self.mean + mean_difference * other.count / count,
            self.squares + other.squares + mean_difference**2 * self.count * other.count / count,
            min(self.lowest, other.lowest),
        )

    @property
    def variance(self) -> float:
        """Their variance."""
        return self.squares / self.count if self.count else 0.0


@dataclass(frozen=True, eq=False)
class DisturbedColumn:
    """One column, before and after."""

    column: NumberColumn
    noise: Noise
    published_cells: pl.Series
    shown_numbers: ShownNumbers
    covariance: Mapping[str, float] | None = None
    least: Noise | None = None
    """The noise that the level requires, if more was drawn to shape it like the data."""
    times: float | None = None
    """The factor on the data's covariance."""

    @property
    def loss(self) -> float:
        """The share of the published variance that is noise; for intervals, the share of variance that they hide.

        Estimated from the release alone: the exact variance of the originals would disclose something about people.
        """
        # Values are roughly uniform within an interval, so its own variance adds to the visible one.
        interval_variance = self.noise.variance if self.noise.kind == "discretize" else 0.0
        return self.noise.variance / max(self.shown_numbers.variance + interval_variance, self.noise.variance)

    def state_law(self, privacy: float, confidence: float, *, exact_range: bool) -> NoiseLaw:
        """What an analyst must know to reconstruct distributions; the start of the data's own range is not part of
        it."""
        column, noise = self.column, self.noise
        parameters: dict[str, Any] = {
            "scale": noise.scale,
            "step": int(noise.step),
            "origin": noise.origin if column.has_given_range or noise.kind != "discretize" else self._find_first_seen(),
            "grid": int(noise.grid) if noise.step else noise.grid,
            "privacy": privacy,
            "confidence": confidence,
            "achieved": compute_achieved_level(column, self.least or noise, privacy, confidence),
            "domain": "given" if column.has_given_range else "data",
            "range": column.get_ends() if column.has_given_range or exact_range else None,
        }
        if self.covariance is None:
            return IndependentNoiseLaw(kind=noise.kind, **parameters)
        return CorrelatedNoiseLaw(times=self.times, covariance=dict(self.covariance), **parameters)

    def _find_first_seen(self) -> float:
        """The lower end of the first occupied interval, from its published midpoint."""
        return self.shown_numbers.lowest - ((self.noise.scale - 1) // 2 if self.noise.step else self.noise.scale / 2)


def publish_cells(column: NumberColumn, noise: Noise, draws: RowDraws, first: int = 0) -> pl.Series:
    """The cells of a column with the noise of their rows, of which the first has a number; or as midpoints."""
    if noise.kind == "discretize":
        return column.replace_known(compute_interval_middles(column, noise))
    words = draws.draw_words(column.name, first, len(column.known_mask))[column.known_mask]
    return column.move(_shape_noise(noise, words), noise.grid)


def _shape_noise(noise: Noise, words: Words) -> Floats | Ints:
    """Noise of a law for each row. The first word decides it; of the second are low digits that floats do not have."""
    if noise.kind == "uniform":
        values = (2 * shape_uniform(words[:, 0]) - 1) * noise.scale
    else:
        values = shape_normal(words[:, 0]) * noise.scale
    unit = count_low_digits(noise.scale, noise.step)
    if unit == 1:
        return np.asarray(values)
    low = (words[:, 1] & np.uint64(unit - 1)).astype(np.int64) - unit // 2
    return np.asarray(np.rint(values / unit).astype(np.int64) * unit + low)


def compute_noise_losses(losses: Sequence[float]) -> dict[str, Number]:
    """The mean over columns, and the largest."""
    return {"loss": sum(losses) / len(losses), "largest_loss": max(losses)}
