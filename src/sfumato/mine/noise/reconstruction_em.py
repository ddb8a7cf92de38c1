# SPDX-License-Identifier: MIT
"""The iterative Bayes estimate on bins, and when to stop it.

Every step raises the likelihood (it is the EM algorithm of Agrawal and Aggarwal, PODS 2001), but the maximum-likelihood
distribution is not the best one: it overfits the noisy values, and oscillates. `stop="chi2"` weighs what a step gains
against what it risks. The gain is in χ² between the predicted and the observed noisy histogram. The risk follows from
the noise alone (`StepRisk`): how many parameters the estimate has fitted after this many steps, each of which lowers χ²
by 1 if it means nothing, and how far chance has then moved the probabilities. The estimate is best where χ² + 2 ·
parameters (Mallows's Cp, Akaike's criterion) + 1000 · (error by chance)⁴ is smallest, over all steps and not only up to
the first plateau; the last term is 1 where chance has moved 9 % of the values, and keeps a lucky histogram from taking
thousands of steps. Half as many steps again are taken: what is smoothed away is lost, and a few steps too many cost
little. The constants were chosen empirically; docs/reconstruction.md shows how they do on other cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Floats, Ints
from sfumato.errors import DataError, PolicyError
from sfumato.mine.noise.reconstruction_channel import refuse_impossible_values
from sfumato.progress import report_progress

Stop = Literal["chi2", "difference"] | int
Step = Callable[[Floats], Floats]

TOLERANCE = 1e-4
"""Estimates that differ less, summed over all bins, are the same to `stop="difference"`."""
MOST = 10_000
"""The estimate stops after this many steps in any case, and reports it."""
_GROUPS = 80
_IN_GROUP = 10
_PARAMETER, _ERROR, _ON = 2.0, 1_000.0, 1.5
_AHEAD, _FAR = 4, 512
_COARSE = 256


@dataclass(frozen=True, eq=False)
class ChiSquareFit:
    """How well an estimate predicts the noisy histogram: Pearson's statistic over groups of noisy bins."""

    grouped: Floats
    """The channel, its rows summed by group."""
    observed: Floats
    freedom: int

    @classmethod
    def of(cls, counts: Ints, channel: Floats) -> ChiSquareFit:
        """Neighbouring noisy bins are merged until each has ten values or more."""
        starts = group_noisy_bins(counts, channel)
        observed = np.add.reduceat(counts, starts).astype(np.float64)
        return cls(np.add.reduceat(channel, starts, axis=0), observed, len(starts) - 1)

    def compute_statistic(self, probabilities: Floats) -> float:
        """Σ (observed − expected)² / expected."""
        expected = self.observed.sum() * (self.grouped @ probabilities)
        return float(np.sum((self.observed - expected) ** 2 / np.maximum(expected, 1e-12)))

    def compute_p_value(self, statistic: float) -> float:
        """The probability of a statistic this large if the estimate were true."""
        from scipy.special import chdtrc

        return float(chdtrc(self.freedom, statistic)) if self.freedom else 1.0

    def find_statistic(self, level: float) -> float:
        """The statistic whose p-value is the level."""
        from scipy.special import chdtri

        return float(chdtri(self.freedom, level)) if self.freedom else np.inf


@dataclass(frozen=True, eq=False)
class StepRisk:
    """The cost of steps, whatever the values: the iteration linearized around its start.

    In a direction in which noise leaves a share λ, t steps have fitted 1 − (1 − λ)ᵗ, including chance.
    """

    kept: Floats
    """λ of every direction: how much of it is left in noisy values."""
    spread: Floats
    """The variance that each direction, fully fitted, adds to each bin: bins × directions."""

    @classmethod
    def of(cls, channel: Floats, start: Floats, count: int) -> StepRisk:
        """The risk for `count` values whose estimate begins at `start`."""
        channel, start = merge_true_bins(channel, start)
        predicted = channel @ start
        seen = predicted > 0
        scaled = channel[seen] * np.sqrt(start) / np.sqrt(predicted[seen])[:, None]
        # Probabilities sum to 1 before the first step: nothing is fitted in that direction.
        kept, directions = np.linalg.eigh(scaled.T @ scaled - np.sqrt(np.outer(start, start)))
        kept = np.clip(kept, 1e-15, 1 - 1e-15)
        return cls(kept, start[:, None] * directions**2 / kept / count)

    def measure_risk(self, steps: int) -> float:
        """In units of χ²."""
        fitted = -np.expm1(steps * np.log1p(-self.kept))
        error = np.sqrt(2 / np.pi) * np.sqrt(self.spread @ fitted**2).sum()  # Σ of the bins' mean absolute errors
        return float(_PARAMETER * fitted.sum() + _ERROR * error**4)


def merge_true_bins(channel: Floats, start: Floats) -> tuple[Floats, Floats]:
    """Neighbouring true bins, merged until there are a few hundred: the risk of steps hardly changes."""
    bins = len(start)
    if bins <= _COARSE:
        return channel, start
    firsts = np.arange(0, bins, -(-bins // _COARSE))
    wide = np.add.reduceat(start, firsts)
    return np.add.reduceat(channel * start, firsts, axis=1) / wide, wide


@dataclass(frozen=True, eq=False)
class EmEstimate:
    """Where the iteration stopped, and why."""

    probabilities: Floats
    iterations: int
    stopped: Literal["chi2", "difference", "iterations"]


def binned_em(
    counts: npt.ArrayLike,
    channel: Floats,
    start: npt.ArrayLike | None = None,
    stop: Stop = "chi2",
    *,
    level: float | None = None,
    tolerance: float = TOLERANCE,
    most: int = MOST,
) -> Floats:
    """The probabilities of the true bins, from counts of noisy bins and `channel[i, j]` = P(noisy i | true j)."""
    histogram = np.asarray(counts, dtype=np.int64)
    return run_em(histogram, channel, start, stop, level=level, tolerance=tolerance, most=most).probabilities


def run_em(
    counts: Ints,
    channel: Floats,
    start: npt.ArrayLike | None = None,
    stop: Stop = "chi2",
    *,
    level: float | None = None,
    tolerance: float = TOLERANCE,
    most: int = MOST,
) -> EmEstimate:
    """Like `binned_em`, with where it stopped. With a `level`, it stops where χ² first has this p-value."""
    if channel.ndim != 2 or channel.shape[0] != len(counts):
        raise PolicyError(f"{len(counts)} counts do not match a channel of shape {channel.shape}")
    if (counts < 0).any() or not counts.any():
        raise DataError("there are no noisy values to reconstruct from")
    refuse_impossible_values(counts, channel)
    begun = choose_start(start, channel.shape[1])
    if stop == "chi2" and len(begun) > _COARSE:
        few = merge_true_bins(channel, begun)
        coarse_estimate = run_em(counts, few[0], few[1], stop, level=level, most=most)
        estimate = run_em(counts, channel, begun, coarse_estimate.iterations)
        return EmEstimate(estimate.probabilities, coarse_estimate.iterations, coarse_estimate.stopped)
    seen = counts > 0
    rows, share = np.ascontiguousarray(channel[seen]), counts[seen] / counts.sum()
    columns = np.ascontiguousarray(rows.T)

    def step(now: Floats) -> Floats:
        return np.asarray(now * (columns @ (share / (rows @ now))))

    if stop != "chi2":
        return iterate_estimate(step, begun, stop, tolerance, most)
    fit = ChiSquareFit.of(counts, channel)
    with limit_to_one_thread():
        if level is not None:
            return _iterate_until_fit(step, begun, fit, level, most)
        return _balance_fit_and_risk(step, begun, fit, StepRisk.of(channel, begun, int(counts.sum())), most)


def choose_start(start: npt.ArrayLike | None, bins: int) -> Floats:
    """The start of the iteration: uniform, or as given; no bin starts at 0."""
    if start is None:
        return np.full(bins, 1 / bins)
    shares = np.asarray(start, dtype=np.float64)
    if shares.shape != (bins,) or not np.isfinite(shares).all() or (shares < 0).any() or not shares.any():
        raise PolicyError(f"a start needs {bins} probabilities")
    shares = shares / shares.sum() + 1e-9  # a bin of probability 0 would stay at 0
    return np.asarray(shares / shares.sum())


def iterate_estimate(
    step: Step, start: Floats, stop: Stop, tolerance: float = TOLERANCE, most: int = MOST
) -> EmEstimate:
    """Refine an estimate this many times, or until it hardly changes."""
    if isinstance(stop, bool) or not (stop == "difference" or (isinstance(stop, int) and stop >= 0)):
        raise PolicyError('`stop` must be "chi2", "difference" or a number of iterations')
    with limit_to_one_thread():
        return (
            _repeat_steps(step, start, stop)
            if isinstance(stop, int)
            else _iterate_until_same(step, start, tolerance, most)
        )


def limit_to_one_thread() -> AbstractContextManager[object]:
    """Matrices are small, and threads would wait for each other: sixty times slower on busy cores."""
    limit: AbstractContextManager[object] = _get_thread_controller().limit(limits=1)
    return limit


@cache
def _get_thread_controller() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def _repeat_steps(step: Step, now: Floats, times: int) -> EmEstimate:
    for done in range(times):
        now = _normalize(step(now))
        if done % 256 == 0:
            report_progress("reconstructing", done, times)
    return EmEstimate(now, times, "iterations")


def _iterate_until_same(step: Step, now: Floats, tolerance: float, most: int) -> EmEstimate:
    for done in range(1, most + 1):
        before, now = now, _normalize(step(now))
        if float(np.abs(now - before).sum()) <= tolerance:
            return EmEstimate(now, done, "difference")
        if done % 256 == 0:
            report_progress("reconstructing", done, most)
    return EmEstimate(now, most, "iterations")


def _list_look_points(step: Step, now: Floats, most: int) -> Iterator[tuple[int, Floats]]:
    """The estimate after 1 to 8 steps, then four times per doubling, and after the last step."""
    look = 1
    for done in range(1, most + 1):
        now = _normalize(step(now))
        if done < look and done < most:
            continue
        look += max(1, 1 << (look.bit_length() - 3)) if look >= 4 else 1
        report_progress("reconstructing", done, most)
        yield done, now


def _iterate_until_fit(step: Step, start: Floats, fit: ChiSquareFit, level: float, most: int) -> EmEstimate:
    enough, now = fit.find_statistic(level), start
    for done, now in _list_look_points(step, start, most):
        if fit.compute_statistic(now) <= enough:
            return EmEstimate(now, done, "chi2")
    return EmEstimate(now, most, "iterations")


def _balance_fit_and_risk(step: Step, start: Floats, fit: ChiSquareFit, risk: StepRisk, most: int) -> EmEstimate:
    """Half as many steps again as where χ² and risk together are smallest."""
    kept, best, least, done = dict[int, Floats](), 1, np.inf, 0
    for done, now in _list_look_points(step, start, most):
        kept[done] = now
        cost = risk.measure_risk(done)
        if (both := fit.compute_statistic(now) + cost) < least:
            best, least = done, both
        # From here on, risk alone exceeds the current sum; or nothing improves: in 1,168 cases of many kinds it never
        # did.
        if done >= _ON * best and (cost >= least or done >= max(_AHEAD * best, _FAR)):
            break
    if not kept:
        return EmEstimate(start, 0, "iterations")
    # If the channel mixes nothing, the first step has found everything.
    wanted = int(_ON * best)
    taken = min(steps for steps in kept if steps >= min(wanted, done))
    return EmEstimate(kept[taken], taken, "chi2" if wanted <= done else "iterations")


def _normalize(probabilities: Floats) -> Floats:
    return np.asarray(probabilities / probabilities.sum())


def group_noisy_bins(counts: Ints, channel: Floats, least: int = _GROUPS) -> Ints:
    """Where groups of neighbouring noisy bins begin, about equally full, with ten values or more: `least` groups, or
    twice as many as the noise leaves distinguishable.
    """
    apart = float(np.sum(channel**2 / np.maximum(channel.sum(axis=1, keepdims=True), 1e-300)))
    most, running = max(least, int(np.ceil(2 * apart))), np.cumsum(counts)
    wanted = max(1, min(most, int(running[-1]) // _IN_GROUP))
    ends = np.searchsorted(running, running[-1] * np.arange(1, wanted) / wanted) + 1
    starts = np.unique(np.concatenate([[0], ends[ends < len(counts)]]))
    if len(starts) > 1 and running[-1] == running[starts[-1] - 1]:  # nothing is left for the last one
        starts = starts[:-1]
    return starts.astype(np.int64)
