# SPDX-License-Identifier: MIT
"""The distribution of true values, from noisy ones: what an analyst still learns of everybody, and of nobody alone.

The iterative Bayes estimate of Agrawal and Srikant (*Privacy-preserving data mining*, SIGMOD 2000; seed 001): begin
with an even distribution, and put in its place, again and again, the mean over all noisy values of what each says of
its true one under the distribution so far. The published form sums over all values (`form="values"`); on bins it is the
EM algorithm of Agrawal and Aggarwal (PODS 2001), which is the same but for binning, and does not grow with the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from sfumato.errors import DataError, PolicyError
from sfumato.mine.noises import Noise, noise_of, noisy_columns, numbers_of
from sfumato.mine.reconstruction_channel import (
    Floats,
    channel_of,
    counted,
    even,
    finer,
    noise_told,
    noisy_edges_of,
    refuse_far,
    rising,
    true_edges_of,
)
from sfumato.mine.reconstruction_em import LEVEL, MOST, TOLERANCE, Estimate, Fit, Stop, binned_em, em, iterate, started
from sfumato.mine.reconstruction_intervals import Intervals
from sfumato.mine.reconstruction_intervals import intervals as bounded
from sfumato.progress import tell
from sfumato.randomness import Randomness
from sfumato.release import Release

__all__ = [
    "Reconstruction",
    "binned_em",
    "channel_of",
    "counted",
    "even",
    "noisy_edges_of",
    "reconstruct_distribution",
    "true_edges_of",
]

_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """An estimate of how true values are distributed."""

    edges: Floats
    """Of the bins; dates count in days since 1970."""
    probabilities: Floats
    """Of each bin; they sum to 1."""
    low: Floats
    """The lower end of each probability's interval; NaN where none was asked for."""
    high: Floats
    intervals: Intervals
    """`bootstrap`: how far chance moves the estimate; `strict`: all bins at once hold the truth with the confidence."""
    confidence: float
    iterations: int
    stopped: Literal["chi2", "no gain", "difference", "iterations"]
    """Why the iteration ended: the noisy histogram fits; four times as many steps would fit no better than by chance;
    successive estimates are the same; or it was told to, or had run long enough."""
    statistic: float
    """χ² between the noisy histogram and the one that the estimate predicts."""
    freedom: int
    p_value: float
    """Of that test: if tiny, the noise or the range is not what was said."""
    count: int
    """How many noisy values there were."""
    fine_edges: Floats = field(repr=False)
    """Of the bins that the estimate was made on: fifty or so, even if fewer were asked for."""
    fine_probabilities: Floats = field(repr=False)
    step: float = field(default=0.0, repr=False)

    @property
    def density(self) -> Floats:
        """Probability per unit in each bin."""
        return np.asarray(self.probabilities / np.diff(self.edges))

    @property
    def middles(self) -> Floats:
        """The middle of each bin."""
        return _middles(self.edges)

    @property
    def mean(self) -> float:
        """The mean of true values."""
        return float(self.fine_probabilities @ _middles(self.fine_edges))

    @property
    def std(self) -> float:
        """The standard deviation of true values, even within bins."""
        within = (np.diff(self.fine_edges) ** 2 - self.step**2) / 12
        about = (_middles(self.fine_edges) - self.mean) ** 2
        return float(np.sqrt(max(float(self.fine_probabilities @ (within + about)), 0.0)))

    def quantile(self, q: float | Sequence[float]) -> Any:
        """The value that a share q of true values does not exceed; even within bins."""
        asked = np.asarray(q, dtype=np.float64)
        if not ((asked >= 0) & (asked <= 1)).all():
            raise PolicyError("a quantile is asked for at a share between 0 and 1")
        running = np.concatenate([[0.0], np.cumsum(self.fine_probabilities)])
        used = np.flatnonzero(self.fine_probabilities > 0)
        # Bins of probability 0 are stepped over: before the first one, nothing is.
        places = np.concatenate([[used[0]], used + 1])
        found = np.interp(asked * running[-1], running[places], self.fine_edges[places])
        return float(found) if asked.ndim == 0 else found

    def to_frame(self) -> pl.DataFrame:
        """One row a bin: `from`, `to`, `probability`, `low`, `high`, `density`."""
        return pl.DataFrame(
            {
                "from": self.edges[:-1],
                "to": self.edges[1:],
                "probability": self.probabilities,
                "low": self.low,
                "high": self.high,
                "density": self.density,
            }
        )


def reconstruct_distribution(
    values: Any,
    noise: Any = None,
    bins: int | Sequence[float] | Floats = 50,
    stop: Stop = "chi2",
    *,
    column: str | None = None,
    range: tuple[float, float] | None = None,  # noqa: A002  # the word that a release uses
    form: Literal["bins", "values"] = "bins",
    level: float = LEVEL,
    tolerance: float = TOLERANCE,
    most: int = MOST,
    confidence: float = 0.95,
    intervals: Intervals = "bootstrap",
    randomness: Randomness | None = None,
) -> Reconstruction:
    """Estimate the distribution of true values from noisy ones.

    `values` are noisy numbers (missing ones are left out), or a `Release` of which `column` is taken, whose noise and
    range are then known. `noise` is a `Noise`, `("gaussian", 2.5)`, `{"sigma": 2.5}`, `{"alpha": 10, "step": 1}` or a
    frozen scipy distribution. `bins` is their number or their edges. `range` is where true values lie; where nobody
    says, they are taken to lie between the least and the greatest noisy value, which is too wide. `stop` is `"chi2"`
    (see `reconstruction_em`), `"difference"` of successive estimates, as published, or a number of iterations.
    `intervals` are `"bootstrap"`, `"strict"` (see `reconstruction_intervals`) or `"none"`, which is quickest.
    """
    noisy, told, within = _read(values, noise, column, range)
    true = _true_edges(noisy, told, bins, within)
    refuse_far(noisy, told, true)
    fine, starts = finer(true, told) if form == "bins" else (true, np.arange(len(true) - 1))
    noisy_edges = noisy_edges_of(told, fine)
    channel = channel_of(told, fine, noisy_edges)
    counts = counted(noisy, noisy_edges)
    fit = Fit.of(counts, channel)
    if form == "bins":
        found = em(counts, channel, even(fine), stop, level=level, tolerance=tolerance, most=most)
    elif form == "values":
        found = _by_values(noisy, told, fine, fit, (stop, level, tolerance, most))
    else:
        raise PolicyError(f'form is "bins" or "values", and not «{form}»')
    low, high = bounded(intervals, found, counts, channel, (even(fine), starts), confidence, randomness)
    statistic = fit.statistic(found.probabilities)
    return Reconstruction(
        edges=true,
        probabilities=np.add.reduceat(found.probabilities, starts),
        low=low,
        high=high,
        intervals=intervals,
        confidence=confidence,
        iterations=found.iterations,
        stopped=found.stopped,
        statistic=statistic,
        freedom=fit.freedom,
        p_value=fit.p_value(statistic),
        count=len(noisy),
        fine_edges=fine,
        fine_probabilities=found.probabilities,
        step=float(getattr(told, "step", 0.0)),
    )


def _middles(edges: Floats) -> Floats:
    return np.asarray((edges[:-1] + edges[1:]) / 2)


def _read(
    values: Any, noise: Any, column: str | None, within: tuple[float, float] | None
) -> tuple[Floats, Any, tuple[float, float] | None]:
    """The noisy numbers, the noise, and the range of true values if it is known."""
    if isinstance(values, Release):
        names = noisy_columns(values)
        name = names[0] if column is None and len(names) == 1 else column
        if name is None:
            raise PolicyError(f"say which column to reconstruct: noise is in {', '.join(names) or 'none'}")
        told = noise_of(values, name) if noise is None else noise_told(noise)
        within = within or (tuple(values.public[name]["range"]) if "range" in values.public.get(name, {}) else None)
        return _numbers(values.data.frame[name]), told, within
    if noise is None:
        raise PolicyError('the noise must be known: noise = ("gaussian", 2.5), {"alpha": 10} …')
    return _numbers(values), noise_told(noise), within


def _numbers(values: Any) -> Floats:
    series = values if isinstance(values, pl.Series) else pl.Series(np.asarray(values).ravel())
    found = numbers_of(series.drop_nulls())
    strange = int(len(found) - np.isfinite(found).sum())
    if strange:
        raise DataError(f"{strange} of {len(found)} noisy values are not finite; make them missing")
    if not len(found):
        raise DataError("there are no noisy values to reconstruct from")
    return found


def _true_edges(noisy: Floats, noise: Any, bins: Any, within: tuple[float, float] | None) -> Floats:
    if np.ndim(bins) == 1:
        return rising(bins, "true")
    low, high = within if within is not None else (float(noisy.min()), float(noisy.max()))
    if not isinstance(noise, Noise) or noise.kind != "discretize":
        return true_edges_of(low, high, bins, float(getattr(noise, "step", 0.0)))
    # Nothing is told of where in its interval a value lies: the intervals are the bins.
    first = np.floor((low - noise.origin) / noise.scale + 1e-9)
    last = max(np.ceil((high - noise.origin + noise.step) / noise.scale - 1e-9), first + 1)
    return np.asarray(noise.origin + np.arange(first, last + 1) * noise.scale - noise.step / 2)


def _by_values(noisy: Floats, noise: Any, true: Floats, fit: Fit, until: tuple[Stop, float, float, int]) -> Estimate:
    """The published form: each step sums over all values, with the noise's density at the middles of the bins."""
    middles = _middles(true)
    rows = max(1, _AT_ONCE // len(middles))
    parts = [noisy[at : at + rows] for at in range(0, len(noisy), rows)]
    kept = _densities(parts[0], middles, noise) if len(parts) == 1 else None

    def step(now: Floats) -> Floats:
        total = np.zeros(len(now))
        for number, part in enumerate(parts):
            dense = _densities(part, middles, noise) if kept is None else kept
            likely = dense @ now
            possible = likely > 0
            total += (dense[possible] / likely[possible, None]).sum(axis=0)
            if len(parts) > 1:
                tell("summing over values", number, len(parts))
        return np.asarray(now * total / len(noisy))

    return iterate(step, started(even(true), len(middles)), fit, *until)


def _densities(values: Floats, middles: Floats, noise: Any) -> Floats:
    away = values[:, None] - middles[None, :]
    if not isinstance(noise, Noise):
        return np.asarray(noise.pdf(away))
    if noise.step:
        return noise.below(away + noise.step / 2) - noise.below(away - noise.step / 2)
    return noise.density(away)
