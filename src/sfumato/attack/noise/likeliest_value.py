# SPDX-License-Identifier: MIT
"""The likeliest value: estimate each true value from the column's distribution and the noise's.

Against additive noise in a single column; no other column is needed. Reconstruction, which is what analysts are meant
to do with the release, gives the adversary a prior; with it, every published value has a posterior distribution of true
values. Where data is uneven, a value between two clusters most likely came from the nearer one. The middle of the
heaviest window is close to the truth most often; the mean has the smallest error. Agrawal, Srikant (SIGMOD 2000) for
the prior; Agrawal, Aggarwal (PODS 2001) for the privacy that remains once it is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Floats, Ints
from sfumato.attack.noise.heaviest_window import HeaviestWindow
from sfumato.attack.noise.noisy_numbers import (
    ColumnPrior,
    NumberEstimates,
    ValueAttack,
    choose_noisy_columns,
    filter_noisy_columns,
    read_number_matrix,
    replace_estimated_columns,
)
from sfumato.mine.noise.reconstruction_em import Stop
from sfumato.public.noise_law import Noise, NoiseLaw, get_noise, get_published_range
from sfumato.published_law import PublishedLaw
from sfumato.release import Release
from sfumato.runtime.progress import report_progress

Statistic = Literal["window", "mode", "mean"]
EstimateWay = Literal["soft window", "sharp window", "mode", "mean"]
_WINDOWS: tuple[EstimateWay, EstimateWay] = ("soft window", "sharp window")
_STEP = "likeliest value"
_CELLS = 1_000_000
_SHARPER = (200, 2_000, 8_000)
"""Steps of reconstruction: the more, the sharper the clusters, and the more chance is taken for them."""
_MOST_BINS = 400
_MOST_VALUES = 5_000


class LikeliestValue(ValueAttack):
    """An employer sees that salaries cluster at the steps of a pay scale, and assigns a noisy one to the likeliest
    step.

    The adversary reconstructs every column's distribution from the release, and guesses for each published value where
    most of the probability of its true value is: the middle of the heaviest window as wide as the tolerance allows
    (`statistic = "window"`), the most likely value (`"mode"`) or the posterior mean (`"mean"`). How far a
    reconstruction should go depends on the data, so windows are tried under smooth and sharp ones. One cell of each
    person is tried; a guess is right within a share of the column's standard deviation. The best guess of each column
    counts. The baseline is the better of reading the release and guessing the mean, and both are among the guesses.
    Intervals (`discretize`) give this attack nothing to weigh. Agrawal, Aggarwal 2001.
    """

    story: ClassVar[str] = (
        "An employer looks where values of {target} cluster, and assigns each noisy one to the likeliest cluster."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("columns", "attempts", "tolerance", "statistic", "bins")
    column_fields: ClassVar[tuple[str, ...]] = ("columns",)

    attack: Literal["likeliest_value"] = "likeliest_value"
    statistic: Statistic = "window"
    """The middle of the heaviest window of the tolerance's width, the likeliest value (the mode), or the mean of all
    values weighted by their probability."""
    bins: int = Field(default=100, ge=2)
    """The number of bins in which a column's distribution is reconstructed; for integers, at most one bin per value.
    For windows narrower than a bin, more are tried as well."""

    @classmethod
    def weighs_law(cls, law: PublishedLaw) -> bool:
        """Noise that was added: an interval does not say where in it a value lies."""
        return isinstance(law, NoiseLaw) and law.noise.kind != "discretize"

    def estimate_with_facts(self, release: Release) -> NumberEstimates:
        """Weigh every value that a published one could have been."""
        frame: pl.DataFrame = release.data.frame
        for name in filter_noisy_columns(release, choose_noisy_columns(release, self.columns)):
            report_progress(f'{_STEP} of "{name}"', 0, frame.height)
            column = NoisyColumn.of(release, name)
            if column.weighable:
                (prior,) = column.reconstruct(self.bins, ("chi2",))
                estimates = self._estimate_under(prior, column, np.arange(len(column.cells)), self._choose_way(column))
                frame = replace_estimated_columns(frame, (name,), iter([estimates[None, :]]))
        return NumberEstimates(frame, {"statistic": self.statistic})

    def guess_otherwise(self, release: Release, name: str, rows: Ints) -> Mapping[str, Floats]:
        """The heaviest windows under sharper reconstructions, and the mode."""
        if self.statistic != "window" or not filter_noisy_columns(release, (name,)):
            return {}
        column = NoisyColumn.of(release, name)
        if not column.weighable:
            return {}
        fine = min(2 * column.count_windows(self.tolerance), _MOST_BINS)
        priors = {"": next(column.reconstruct(self.bins, ("chi2",)))}
        for bins in sorted({self.bins, max(self.bins, fine)}):
            for steps, prior in zip(_SHARPER, column.reconstruct(bins, _SHARPER), strict=True):
                priors[f" after {steps} steps on {bins} bins"] = prior
        guesses = {
            f"{way}{suffix}": self._estimate_under(prior, column, rows, way)
            for suffix, prior in priors.items()
            for way in _WINDOWS
        }
        return guesses | {"mode": self._estimate_under(priors[""], column, rows, "mode")}

    def _choose_way(self, column: NoisyColumn) -> EstimateWay:
        """Whole numbers are within reach or not: their windows need no soft rim."""
        if self.statistic != "window":
            return self.statistic
        return "sharp window" if column.noise.step else "soft window"

    def _estimate_under(self, prior: ColumnPrior, column: NoisyColumn, rows: Ints, way: EstimateWay) -> Floats:
        """The estimates of some cells; missing cells stay missing."""
        cells = column.cells[rows]
        present_mask, estimates = np.isfinite(cells), np.full(len(rows), np.nan)
        reach = self.tolerance * (column.deviation or prior.deviation)
        estimates[present_mask] = estimate_likeliest_values(cells[present_mask], prior, column.noise, way, reach)
        return estimates


@dataclass(frozen=True, eq=False)
class NoisyColumn:
    """A published column, and what the release says of its noise."""

    cells: Floats
    """Missing ones are NaN."""
    noise: Noise
    low: float
    """The lower end of the public range of true values, or else of the published ones."""
    high: float

    @classmethod
    def of(cls, release: Release, name: str) -> NoisyColumn:
        """Read a column of a release."""
        cells = read_number_matrix(release.data.frame, (name,), release.data.source)[:, 0]
        present_cells = cells[np.isfinite(cells)]
        low, high = get_published_range(release, name) or (
            present_cells.min(initial=np.inf),
            present_cells.max(initial=-np.inf),
        )
        return cls(cells, get_noise(release, name), float(low), float(high))

    @property
    def weighable(self) -> bool:
        """Whether there is anything to weigh: an interval does not say where in it a value lies."""
        return self.noise.kind != "discretize" and bool(np.isfinite(self.cells).any())

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of true values, from that of published values and noise; 0 if noise hides it."""
        noise_variance = self.noise.variance + self.noise.step**2 / 12
        return float(np.sqrt(max(float(np.nanvar(self.cells)) - noise_variance, 0.0)))

    def count_windows(self, tolerance: float) -> int:
        """How many windows of this tolerance fit into the range, at most 1,000; 0 if their width is unknown."""
        reach = tolerance * self.deviation
        return int(min((self.high - self.low) / reach, 1000)) if reach > 0 else 0

    def reconstruct(self, bins: int, stops: Sequence[Stop]) -> Iterator[ColumnPrior]:
        """The distribution of true values, after ever more steps."""
        if self.low == self.high:  # everybody has the same value, and the release reveals it
            yield from (ColumnPrior(np.array([self.low, self.low]), np.ones(1)) for _ in stops)
            return
        from sfumato.mine.noise.reconstruction import (
            binned_em,
            build_channel,
            build_noisy_edges,
            build_true_edges,
            count_in_bins,
        )

        edges = build_true_edges(self.low, self.high, bins, self.noise.step)
        noisy_edges = build_noisy_edges(self.noise, edges)
        counts = count_in_bins(self.cells[np.isfinite(self.cells)], noisy_edges)
        channel, probabilities, step_count = build_channel(self.noise, edges, noisy_edges), None, 0
        for stop in stops:
            probabilities = binned_em(
                counts, channel, probabilities, stop - step_count if isinstance(stop, int) else stop
            )
            step_count = stop if isinstance(stop, int) else step_count
            yield ColumnPrior(edges, probabilities)


def estimate_likeliest_values(
    values: Floats, prior: ColumnPrior, noise: Noise, way: EstimateWay = "mode", reach: float = 0.0
) -> Floats:
    """The mode or the mean of the true values behind each noisy one, or the middle of the heaviest window that reaches
    this far to both sides; an impossible value goes to the nearest end.
    """
    if prior.low == prior.high:
        return np.full_like(values, prior.low)
    if way in _WINDOWS:
        values = _merge_close_values(values)
    distinct, value_index = np.unique(values, return_inverse=True)
    estimates = np.empty_like(distinct)
    windows = HeaviestWindow(prior, noise, reach, soft=way == "soft window")
    step = max(1, _CELLS // len(windows.middles))
    for start in range(0, len(distinct), step):
        report_progress(_STEP, start, len(distinct))
        part = distinct[start : start + step]
        if way in _WINDOWS:
            guess = windows.estimate(part)
        else:
            weigh = _estimate_modes if way == "mode" else _estimate_posterior_means
            guess = weigh(part[:, None], prior, noise)
        estimates[start : start + step] = np.where(np.isfinite(guess), guess, np.clip(part, prior.low, prior.high))
    return np.asarray(estimates[value_index.reshape(-1)])


def _merge_close_values(values: Floats) -> Floats:
    """Many values, on a grid that is finer than any window that is distinguished."""
    width = np.ptp(values) / _MOST_VALUES if len(values) > _MOST_VALUES else 0.0
    return np.asarray(np.rint(values / width) * width) if width else values


def _estimate_modes(published_numbers: Floats, prior: ColumnPrior, noise: Noise) -> Floats:
    """The prior is uniform within a bin, so the bin's best value is nearest to the published one; the best bin wins.

    Uniform noise is equally likely within its reach: there the mode is the middle of what the bin and the noise allow.
    """
    inset = noise.step / 2  # whole numbers lie half a step inside the edges of their bins
    low, high = prior.edges[:-1] + inset, prior.edges[1:] - inset
    if noise.kind == "uniform":
        reach = noise.scale + inset
        low, high = np.maximum(low, published_numbers - reach), np.minimum(high, published_numbers + reach)
        best = (low + high) / 2
        best = np.rint(best / noise.step) * noise.step if noise.step else best
        chance = np.where(low <= high, _compute_noise_density(published_numbers - best, noise), 0.0)
    else:
        best = np.clip(published_numbers, low, high)
        chance = _compute_noise_density(published_numbers - best, noise)
    weight = prior.density * chance
    top = weight.argmax(axis=1)
    row_indices = np.arange(len(published_numbers))
    return np.where(weight[row_indices, top] > 0, np.broadcast_to(best, weight.shape)[row_indices, top], np.nan)


def _estimate_posterior_means(published_numbers: Floats, prior: ColumnPrior, noise: Noise) -> Floats:
    """∫ x p(x) f(y − x) dx / ∫ p(x) f(y − x) dx, exact for a prior that is uniform in every bin."""
    if noise.kind == "uniform":
        reach = noise.scale + noise.step / 2
        ends = np.clip(prior.edges, published_numbers - reach, published_numbers + reach)
        mass = np.diff(ends, axis=1)
        moment = mass * (ends[:, :-1] + ends[:, 1:]) / 2
    else:
        differences = published_numbers - prior.edges
        # Far above its mean a distribution function is 1 to all digits: mirror it there.
        mirrored_mass = np.diff(noise.cumulate(-differences), axis=1)
        mass = np.where(differences[:, 1:] > 0, mirrored_mass, -np.diff(noise.cumulate(differences), axis=1))
        moment = published_numbers * mass - noise.variance * np.diff(noise.density(differences), axis=1)
    total = mass @ prior.density
    # Far outside, the whole posterior is a rounding error of 0.
    means = np.divide(moment @ prior.density, total, out=np.full(len(published_numbers), np.nan), where=total > 1e-290)
    return np.asarray(np.clip(means, prior.low, prior.high))


def _compute_noise_density(differences: Floats, noise: Noise) -> Floats:
    """The density of noise at this distance, or its probability where values are rounded."""
    if not noise.step:
        return noise.density(differences)
    return np.asarray(noise.cumulate(differences + noise.step / 2) - noise.cumulate(differences - noise.step / 2))
