# SPDX-License-Identifier: MIT
"""The iterative Bayes estimate on bins, and when to stop it.

Every step raises the likelihood (it is the EM algorithm of Agrawal and Aggarwal, PODS 2001), but the likeliest
distribution is not the best one: it fits the chance in the noisy values, and oscillates. So the estimate stops once the
noisy histogram that it predicts fits the observed one, by χ²: the statistic is so small that chance alone makes it
greater in three of four cases, or four times as many steps would lower it by 2 at the most, as much as two parameters
that mean nothing do. The second is needed where chance made the observed histogram unlikely under every distribution.
Both numbers were chosen by trial. On other shapes, levels and seeds (270 cases) the L1 error was 1.1 times that of the
best possible stop in the median, 1.3 in the mean and 5.5 at the worst; after 200 steps 1.9, 3.2 and 27, and with
`stop="difference"` 3.6, 6.2 and 47.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError, PolicyError
from sfumato.mine.reconstruction_channel import Floats, Ints, refuse_impossible
from sfumato.progress import tell

Stop = Literal["chi2", "difference"] | int
Step = Callable[[Floats], Floats]

LEVEL = 0.75
"""The estimate fits once the p-value of χ² is so large."""
TOLERANCE = 1e-4
"""Estimates that differ less, summed over all bins, are the same to `stop="difference"`."""
MOST = 10_000
"""Steps after which the estimate stops in any case, and says so."""
_GROUPS = 20
_IN_GROUP = 10
_AHEAD, _WORTH = 4, 2.0


@dataclass(frozen=True, eq=False)
class Fit:
    """How well an estimate predicts the noisy histogram: Pearson's statistic over groups of noisy bins."""

    grouped: Floats
    """The channel, its rows summed by group."""
    observed: Floats
    freedom: int

    @classmethod
    def of(cls, counts: Ints, channel: Floats) -> Fit:
        """Neighbouring noisy bins are put together: over many more groups, what the estimate lacks drowns in chance."""
        starts = grouped_bins(counts, channel)
        observed = np.add.reduceat(counts, starts).astype(np.float64)
        return cls(np.add.reduceat(channel, starts, axis=0), observed, len(starts) - 1)

    def statistic(self, probabilities: Floats) -> float:
        """Σ (observed − expected)² / expected."""
        expected = self.observed.sum() * (self.grouped @ probabilities)
        return float(np.sum((self.observed - expected) ** 2 / np.maximum(expected, 1e-12)))

    def p_value(self, statistic: float) -> float:
        """The probability of so large a statistic if the estimate were true."""
        from scipy.special import chdtrc

        return float(chdtrc(self.freedom, statistic)) if self.freedom else 1.0

    def enough(self, level: float) -> float:
        """The statistic whose p-value is the level."""
        from scipy.special import chdtri

        return float(chdtri(self.freedom, level)) if self.freedom else np.inf


@dataclass(frozen=True, eq=False)
class Estimate:
    """Where the iteration stopped, and why."""

    probabilities: Floats
    iterations: int
    stopped: Literal["chi2", "no gain", "difference", "iterations"]


def binned_em(
    counts: npt.ArrayLike,
    channel: Floats,
    start: npt.ArrayLike | None = None,
    stop: Stop = "chi2",
    *,
    level: float = LEVEL,
    tolerance: float = TOLERANCE,
    most: int = MOST,
) -> Floats:
    """The probabilities of the true bins, from counts of noisy bins and `channel[i, j]` = P(noisy i | true j)."""
    found = np.asarray(counts, dtype=np.int64)
    return em(found, channel, start, stop, level=level, tolerance=tolerance, most=most).probabilities


def em(
    counts: Ints,
    channel: Floats,
    start: npt.ArrayLike | None = None,
    stop: Stop = "chi2",
    *,
    level: float = LEVEL,
    tolerance: float = TOLERANCE,
    most: int = MOST,
) -> Estimate:
    """As `binned_em`, telling where it stopped."""
    if channel.ndim != 2 or channel.shape[0] != len(counts):
        raise PolicyError(f"{len(counts)} counts do not go with a channel of shape {channel.shape}")
    if (counts < 0).any() or not counts.any():
        raise DataError("there are no noisy values to reconstruct from")
    refuse_impossible(counts, channel)
    seen = counts > 0
    rows, share = np.ascontiguousarray(channel[seen]), counts[seen] / counts.sum()
    columns = np.ascontiguousarray(rows.T)

    def step(now: Floats) -> Floats:
        return np.asarray(now * (columns @ (share / (rows @ now))))

    return iterate(step, started(start, channel.shape[1]), Fit.of(counts, channel), stop, level, tolerance, most)


def started(start: npt.ArrayLike | None, bins: int) -> Floats:
    """Where the iteration begins: evenly, or where it is told; nothing is impossible from the outset."""
    if start is None:
        return np.full(bins, 1 / bins)
    told = np.asarray(start, dtype=np.float64)
    if told.shape != (bins,) or not np.isfinite(told).all() or (told < 0).any() or not told.any():
        raise PolicyError(f"a start has {bins} probabilities")
    told = told / told.sum() + 1e-9  # a bin of probability 0 would never be left
    return np.asarray(told / told.sum())


def iterate(
    step: Step,
    start: Floats,
    fit: Fit,
    stop: Stop,
    level: float = LEVEL,
    tolerance: float = TOLERANCE,
    most: int = MOST,
) -> Estimate:
    """Refine an estimate until it should stop."""
    if isinstance(stop, bool) or not (stop in ("chi2", "difference") or (isinstance(stop, int) and stop >= 0)):
        raise PolicyError('`stop` is "chi2", "difference" or a number of iterations')
    with one_thread():
        if isinstance(stop, int):
            return _repeated(step, start, stop)
        if stop == "difference":
            return _until_same(step, start, tolerance, most)
        return _until_fit(step, start, fit, level, most)


def one_thread() -> AbstractContextManager[object]:
    """Matrices are small, and threads would wait for each other: sixty times as long on busy cores."""
    limit: AbstractContextManager[object] = _threads().limit(limits=1)
    return limit


@cache
def _threads() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def _repeated(step: Step, now: Floats, times: int) -> Estimate:
    for done in range(times):
        now = _whole(step(now))
        if done % 256 == 0:
            tell("reconstructing", done, times)
    return Estimate(now, times, "iterations")


def _until_same(step: Step, now: Floats, tolerance: float, most: int) -> Estimate:
    for done in range(1, most + 1):
        before, now = now, _whole(step(now))
        if float(np.abs(now - before).sum()) <= tolerance:
            return Estimate(now, done, "difference")
        if done % 256 == 0:
            tell("reconstructing", done, most)
    return Estimate(now, most, "iterations")


def _until_fit(step: Step, now: Floats, fit: Fit, level: float, most: int) -> Estimate:
    """The fit is looked at after 1 to 8 steps, then four times until their number has doubled."""
    enough, kept = fit.enough(level), dict[int, tuple[float, Floats]]()
    done, look = 0, 1
    while done < most:
        now = _whole(step(now))
        done += 1
        if done < look:
            continue
        look += max(1, 1 << (look.bit_length() - 3)) if look >= 4 else 1
        statistic = fit.statistic(now)
        if statistic <= enough:
            return Estimate(now, done, "chi2")
        kept[done] = statistic, now
        earlier = kept.pop(done // _AHEAD, None) if done % _AHEAD == 0 else None
        if earlier is not None and earlier[0] - statistic <= _WORTH:
            return Estimate(earlier[1], done // _AHEAD, "no gain")
        tell("reconstructing", done, most)
    return Estimate(now, most, "iterations")


def _whole(probabilities: Floats) -> Floats:
    return np.asarray(probabilities / probabilities.sum())


def grouped_bins(counts: Ints, channel: Floats) -> Ints:
    """Where groups of neighbouring noisy bins begin, about equally full: twice as many as there are bins that the noise
    leaves apart, and twenty at least."""
    apart = float(np.sum(channel**2 / np.maximum(channel.sum(axis=1, keepdims=True), 1e-300)))
    most, running = max(_GROUPS, int(np.ceil(2 * apart))), np.cumsum(counts)
    wanted = max(1, min(most, int(running[-1]) // _IN_GROUP))
    ends = np.searchsorted(running, running[-1] * np.arange(1, wanted) / wanted) + 1
    starts = np.unique(np.concatenate([[0], ends[ends < len(counts)]]))
    if len(starts) > 1 and running[-1] == running[starts[-1] - 1]:  # nothing is left for the last one
        starts = starts[:-1]
    return starts.astype(np.int64)
