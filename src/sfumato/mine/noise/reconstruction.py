# SPDX-License-Identifier: MIT
"""Reconstruct the distribution of true values from noisy ones, without learning any single value.

The iterative Bayes estimate of Agrawal and Srikant (*Privacy-preserving data mining*, SIGMOD 2000): begin with a
uniform distribution, and replace it repeatedly by the mean of the posteriors of all noisy values. The published form
sums over all values (`form="values"`); on bins it is the EM algorithm of Agrawal and Aggarwal (PODS 2001), which is the
same except for binning, and whose cost does not grow with the number of values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

import narwhals as nw
import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.errors import DataError, PolicyError
from sfumato.mine.noise.reconstruction_channel import (
    build_channel,
    build_noisy_edges,
    build_true_edges,
    check_rising_edges,
    compute_even_shares,
    count_in_bins,
    parse_noise,
    refine_edges,
    refuse_bins,
    refuse_far_values,
    refuse_overflowing_sizes,
)
from sfumato.mine.noise.reconstruction_em import (
    MOST,
    TOLERANCE,
    ChiSquareFit,
    EmEstimate,
    Stop,
    binned_em,
    choose_start,
    iterate_estimate,
    run_em,
)
from sfumato.mine.noise.reconstruction_intervals import IntervalKind, compute_intervals
from sfumato.public.noise_law import Noise, get_noise, get_published_range, list_noisy_columns, read_numbers
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

__all__ = [
    "Reconstruction",
    "binned_em",
    "build_channel",
    "build_noisy_edges",
    "build_true_edges",
    "compute_even_shares",
    "count_in_bins",
    "reconstruct_distribution",
]

_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """An estimate of the distribution of true values."""

    edges: Floats
    """Of the bins; dates count in days since 1970."""
    probabilities: Floats
    """Of each bin; they sum to 1."""
    low: Floats
    """The lower end of each probability's interval; NaN if none was requested."""
    high: Floats
    """The upper end of each probability's interval."""
    intervals: IntervalKind
    """`bootstrap`: how far chance moves the estimate; `strict`: all bins at once hold the truth with the confidence;
    `none`: not requested, or so many bins under so much noise that resampling would take minutes.
    """
    confidence: float
    """The confidence of the intervals."""
    iterations: int
    """The number of steps."""
    stop_reason: Literal["chi2", "difference", "iterations"]
    """Why the iteration ended: more steps would gain less in χ² than they risk; successive estimates are the same; or
    it reached the requested or largest number of steps.
    """
    statistic: float
    """χ² between the noisy histogram and the one that the estimate predicts."""
    freedom: int
    """The degrees of freedom of the χ² test."""
    p_value: float
    """The p-value of the χ² test: if tiny, the noise or the range is not as stated."""
    count: int
    """The number of noisy values."""
    fine_edges: Floats = field(repr=False)
    """The edges of the bins that the estimate was made on: about fifty, even if fewer were requested."""
    fine_probabilities: Floats = field(repr=False)
    """The probability of each fine bin."""
    step: float = field(default=0.0, repr=False)
    """The spacing of the true values, such as 1 for whole numbers; 0 if they have none."""
    dates: bool = field(default=False, repr=False)
    """Whether the values are dates."""

    @property
    def density(self) -> Floats:
        """Probability per unit in each bin."""
        return np.asarray(self.probabilities / np.diff(self.edges))

    @property
    def middles(self) -> Floats:
        """The middle of each bin."""
        return _compute_bin_middles(self.edges)

    @property
    def mean(self) -> float:
        """The mean of true values."""
        return float(self.fine_probabilities @ _compute_bin_middles(self.fine_edges))

    @property
    def std(self) -> float:
        """The standard deviation of true values, uniform within bins."""
        bin_variances = (np.diff(self.fine_edges) ** 2 - self.step**2) / 12
        square_distances = (_compute_bin_middles(self.fine_edges) - self.mean) ** 2
        return float(np.sqrt(max(float(self.fine_probabilities @ (bin_variances + square_distances)), 0.0)))

    def quantile(self, q: float | Sequence[float]) -> Any:
        """The value that a share q of true values does not exceed; uniform within bins."""
        shares = np.asarray(q, dtype=np.float64)
        if not ((shares >= 0) & (shares <= 1)).all():
            raise PolicyError("quantiles must be shares between 0 and 1")
        share_sums = np.concatenate([[0.0], np.cumsum(self.fine_probabilities)])
        used_bins = np.flatnonzero(self.fine_probabilities > 0)
        # Skip bins of probability 0: nothing lies before the first one that is not.
        places = np.concatenate([[used_bins[0]], used_bins + 1])
        values = np.interp(shares * share_sums[-1], share_sums[places], self.fine_edges[places])
        return float(values) if shares.ndim == 0 else values

    def to_frame(self) -> pl.DataFrame:
        """One row per bin: `from`, `to`, `probability`, `low`, `high`, `density`. For dates, its first and last day."""
        ends = pl.DataFrame({"from": self.edges[:-1], "to": self.edges[1:]})
        if self.dates:
            first = np.ceil(self.edges[:-1])
            last = np.append(first[1:] - 1, np.floor(self.edges[-1]))
            days = {"from": first, "to": np.maximum(first, last)}
            ends = pl.DataFrame(days).cast(pl.Int32).cast(pl.Date)
        return ends.with_columns(
            pl.Series("probability", self.probabilities),
            pl.Series("low", self.low),
            pl.Series("high", self.high),
            pl.Series("density", self.density),
        )


class StepLimits(TypedDict, total=False):
    """When steps end, in addition to `stop`."""

    level: float | None
    """With `"chi2"`, the p-value from which an estimate fits."""
    tolerance: float
    """With `"difference"`, the change that counts as none."""
    most: int
    """The largest number of steps."""


class Precision(StepLimits, total=False):
    """When steps end, and the confidence of intervals."""

    confidence: float
    """Of the intervals; by default 0.95."""


def reconstruct_distribution(
    values: Any,
    noise: Any = None,
    bins: int | Sequence[float] | Floats = 50,
    stop: Stop = "chi2",
    *,
    column: str | None = None,
    range: tuple[float, float] | None = None,
    form: Literal["bins", "values"] = "bins",
    intervals: IntervalKind = "bootstrap",
    randomness: Randomness | None = None,
    **precision: Unpack[Precision],
) -> Reconstruction:
    """Estimate the distribution of true values from noisy ones.

    `values` are noisy numbers or dates (missing values and NaN are left out), a table or frame with `column`, or a
    `Release`, which states its noise and range. `noise` is a `Noise`, `("gaussian", 2.5)`, `{"sigma": 2.5}`, `{"alpha":
    10, "step": 1}` or a frozen continuous scipy distribution. `bins` is their number or their edges; if values were put
    into intervals (`discretize`), a number is the maximum, and each bin consists of whole intervals. `range` is where
    true values lie; by default between the smallest and the largest noisy value, which is too wide. `stop` is `"chi2"`
    (see `reconstruction_em`; with a `level`, where χ² first has this p-value), `"difference"` of successive estimates,
    as published, or a number of iterations. `intervals` are `"bootstrap"`, `"strict"` (see `reconstruction_intervals`)
    or `"none"`, which is fastest.
    """
    confidence = precision.pop("confidence", 0.95)
    limits: StepLimits = precision
    if form not in ("bins", "values"):
        raise PolicyError(f'form must be "bins" or "values", not "{form}"')
    series = _read_noisy_values(values, noise, column, range)
    data = _count_noisy_values(series, bins, is_refined=form == "bins")
    fit = ChiSquareFit.of(data.counts, data.channel)
    estimate = _estimate_bins(data, stop, limits) if form == "bins" else _estimate_values(data, stop, limits)
    prior = (compute_even_shares(data.fine), data.starts)
    low, high = compute_intervals(intervals, estimate, data.counts, data.channel, prior, confidence, randomness)
    statistic = fit.compute_statistic(estimate.probabilities)
    return Reconstruction(
        edges=data.true,
        probabilities=np.add.reduceat(estimate.probabilities, data.starts),
        low=low,
        high=high,
        intervals="none" if np.isnan(low).any() else intervals,
        confidence=confidence,
        iterations=estimate.iterations,
        stop_reason=estimate.stop_reason,
        statistic=statistic,
        freedom=fit.freedom,
        p_value=fit.compute_p_value(statistic),
        count=len(data.noisy),
        fine_edges=data.fine,
        fine_probabilities=estimate.probabilities,
        step=float(getattr(data.noise, "step", 0.0)),
        dates=series.values.dtype in (pl.Date, pl.String),
    )


class _NoisyCounts(NamedTuple):
    """Noisy numbers counted in bins, and how likely each true value is to fall into which."""

    noisy: Floats
    noise: Any
    true: Floats
    """The edges of the bins of true values."""
    fine: Floats
    """The edges of the smaller bins that are estimated."""
    starts: Ints
    """The first smaller bin of each bin."""
    channel: Floats
    counts: Ints


def _count_noisy_values(
    series: _NoisySeries, bins: int | Sequence[float] | Floats, *, is_refined: bool
) -> _NoisyCounts:
    """Choose the bins of true and of noisy values, and count."""
    noise = series.noise
    noisy = _read_noisy_numbers(series.values)
    refuse_overflowing_sizes(noise, noisy, series.true_range, bins)
    true = _choose_true_edges(noisy, noise, bins, series.true_range)
    refuse_far_values(noisy, noise, true)
    fine, starts = refine_edges(true, noise) if is_refined else (true, np.arange(len(true) - 1))
    noisy_edges = build_noisy_edges(noise, fine)
    channel = build_channel(noise, fine, noisy_edges)
    return _NoisyCounts(noisy, noise, true, fine, starts, channel, count_in_bins(noisy, noisy_edges))


def _estimate_bins(data: _NoisyCounts, stop: Stop, limits: StepLimits) -> EmEstimate:
    """The shares of the bins, from how many noisy values each noisy bin has."""
    return run_em(data.counts, data.channel, compute_even_shares(data.fine), stop, **limits)


def _estimate_values(data: _NoisyCounts, stop: Stop, limits: StepLimits) -> EmEstimate:
    """The shares of the bins, from every single noisy value; with `"chi2"`, after as many steps as the bins take."""
    tolerance, most = limits.get("tolerance", TOLERANCE), limits.get("most", MOST)
    if stop != "chi2":
        return _iterate_over_values(data.noisy, data.noise, data.fine, stop, tolerance, most)
    bin_estimate = _estimate_bins(data, stop, limits)
    estimate = _iterate_over_values(data.noisy, data.noise, data.fine, bin_estimate.iterations, tolerance, most)
    return replace(estimate, stop_reason=bin_estimate.stop_reason)


def _compute_bin_middles(edges: Floats) -> Floats:
    return np.asarray((edges[:-1] + edges[1:]) / 2)


class _NoisySeries(NamedTuple):
    """Noisy values, and what is known about them."""

    values: pl.Series
    noise: Any
    true_range: tuple[float, float] | None


def _read_noisy_values(
    values: Any, noise: Any, column: str | None, true_range: tuple[float, float] | None
) -> _NoisySeries:
    """The noisy values, the noise, and the range of true values if it is known."""
    if isinstance(values, Release):
        names = list_noisy_columns(values)
        name = names[0] if column is None and len(names) == 1 else column
        if name is None:
            raise PolicyError(f"name the column to reconstruct: noise is in {', '.join(names) or 'none'}")
        parsed_noise = get_noise(values, name) if noise is None else parse_noise(noise)
        true_range = true_range or get_published_range(values, name)
        return _NoisySeries(_select_series(values.data.frame, name), parsed_noise, true_range)
    if noise is None:
        raise PolicyError('give the noise: noise = ("gaussian", 2.5), {"alpha": 10} …')
    if isinstance(values, Table | Mapping) or hasattr(values, "columns"):
        table = values if isinstance(values, Table) else Table.of(values)
        return _NoisySeries(_select_series(table.frame, column), parse_noise(noise), true_range)
    return _NoisySeries(_make_series(values), parse_noise(noise), true_range)


def _select_series(frame: pl.DataFrame, column: str | None) -> pl.Series:
    if column is None and frame.width == 1:
        return frame.to_series()
    if column not in frame.columns:
        problem = "name the column to reconstruct" if column is None else f'there is no column "{column}"'
        raise PolicyError(f"{problem}; there are {', '.join(frame.columns[:12])}")
    return frame[column]


def _make_series(values: Any) -> pl.Series:
    """Values of any kind; None is missing."""
    try:
        native = nw.from_native(values, series_only=True, pass_through=True)
        if isinstance(native, nw.Series):
            return native.to_polars()
        plain_values: Any = np.asarray(values if isinstance(values, np.ndarray) else list(values)).ravel()
        if plain_values.dtype == object:  # None and numbers, dates, text
            numeric = all(isinstance(value, int | float | np.number) for value in plain_values if value is not None)
            plain_values = plain_values.astype(np.float64) if numeric else plain_values.tolist()
        return pl.Series("values", plain_values)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        raise DataError("give the noisy values as a list, array or series of only numbers, or only dates") from None


def _read_noisy_numbers(series: pl.Series) -> Floats:
    known_values = series.drop_nulls()
    if not len(known_values):
        raise DataError("there are no noisy values to reconstruct from")
    numbers = read_numbers(known_values)
    numbers = numbers[~np.isnan(numbers)]
    strange = int(len(numbers) - np.isfinite(numbers).sum())
    if strange:
        raise DataError(f"{strange} of {len(numbers)} noisy values are not finite; make them missing")
    if not len(numbers):
        raise DataError("there are no noisy values to reconstruct from")
    return numbers


def _choose_true_edges(noisy: Floats, noise: Any, bins: Any, true_range: tuple[float, float] | None) -> Floats:
    if np.ndim(bins) == 1:
        return check_rising_edges(bins, "true")
    low, high = true_range if true_range is not None else (float(noisy.min()), float(noisy.max()))
    if not isinstance(noise, Noise) or noise.kind != "discretize":
        return build_true_edges(low, high, bins, float(getattr(noise, "step", 0.0)))
    # Nothing reveals where in its interval a value lies: a bin is one interval, or several.
    first = np.floor((low - noise.origin) / noise.scale + 1e-9)
    last = max(np.ceil((high - noise.origin + noise.step) / noise.scale - 1e-9), first + 1)
    refuse_bins(bins)
    ends = np.rint(np.linspace(first, last, int(min(bins, last - first)) + 1))
    return np.asarray(noise.origin + ends * noise.scale - noise.step / 2)


def _iterate_over_values(
    noisy: Floats, noise: Any, true: Floats, stop: Stop, tolerance: float, most: int
) -> EmEstimate:
    """The published form: each step sums over all values, with the noise's density at the middles of the bins."""
    middles = _compute_bin_middles(true)
    rows = max(1, _AT_ONCE // len(middles))
    parts = [noisy[index : index + rows] for index in range(0, len(noisy), rows)]
    stored_densities = _compute_densities(parts[0], middles, noise) if len(parts) == 1 else None

    def step(probabilities: Floats) -> Floats:
        total = np.zeros(len(probabilities))
        for number, part in enumerate(parts):
            dense = _compute_densities(part, middles, noise) if stored_densities is None else stored_densities
            likely = dense @ probabilities
            possible = likely > 0
            total += (dense[possible] / likely[possible, None]).sum(axis=0)
            if len(parts) > 1:
                report_progress("summing over values", number, len(parts))
        return np.asarray(probabilities * total / len(noisy))

    return iterate_estimate(step, choose_start(compute_even_shares(true), len(middles)), stop, tolerance, most)


def _compute_densities(values: Floats, middles: Floats, noise: Any) -> Floats:
    differences = values[:, None] - middles[None, :]
    if not isinstance(noise, Noise):
        return np.asarray(noise.pdf(differences))
    if noise.step:
        return noise.cumulate(differences + noise.step / 2) - noise.cumulate(differences - noise.step / 2)
    return noise.density(differences)
