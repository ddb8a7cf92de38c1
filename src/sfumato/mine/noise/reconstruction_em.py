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
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Floats, Ints
from sfumato.errors import DataError, PolicyError
from sfumato.mine.noise.reconstruction_channel import refuse_impossible_values
from sfumato.runtime.progress import report_progress

Stop = Literal["chi2", "difference"] | int
EmStep = Callable[[Floats], Floats]

TOLERANCE = 1e-4
"""Estimates that differ less, summed over all bins, are the same to `stop="difference"`."""
MOST = 10_000
"""The estimate stops after this many steps in any case, and reports it."""
_GROUPS = 80
_IN_GROUP = 10
_PARAMETER, _ERROR, _ON = 2.0, 1_000.0, 1.5
_STEP_RATIO, _FAR = 4, 512
_COARSE = 256


@dataclass(frozen=True, eq=False)
class ChiSquareFit:
    """How well an estimate predicts the noisy histogram: Pearson's statistic over groups of noisy bins."""

    grouped_channel: Floats
    """The channel, its rows summed by group."""
    observed_counts: Floats
    freedom: int

    @classmethod
    def of(cls, counts: Ints, channel: Floats) -> ChiSquareFit:
        """Neighbouring noisy bins are merged until each has ten values or more."""
        starts = group_noisy_bins(counts, channel)
        observed_counts = np.add.reduceat(counts, starts).astype(np.float64)
        return cls(np.add.reduceat(channel, starts, axis=0), observed_counts, len(starts) - 1)

    def compute_statistic(self, probabilities: Floats) -> float:
        """Σ (observed − expected)² / expected."""
        expected_counts = self.observed_counts.sum() * (self.grouped_channel @ probabilities)
        return float(np.sum((self.observed_counts - expected_counts) ** 2 / np.maximum(expected_counts, 1e-12)))

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

    kept_shares: Floats
    """λ of every direction: how much of it is left in noisy values."""
    spread: Floats
    """The variance that each direction, fully fitted, adds to each bin: bins × directions."""

    @classmethod
    def of(cls, channel: Floats, start: Floats, count: int) -> StepRisk:
        """The risk for `count` values whose estimate begins at `start`."""
        channel, start = merge_true_bins(channel, start)
        predicted_shares = channel @ start
        possible_mask = predicted_shares > 0
        scaled_channel = channel[possible_mask] * np.sqrt(start) / np.sqrt(predicted_shares[possible_mask])[:, None]
        # Probabilities sum to 1 before the first step: nothing is fitted in that direction.
        eigenvalues, directions = np.linalg.eigh(scaled_channel.T @ scaled_channel - np.sqrt(np.outer(start, start)))
        eigenvalues = np.clip(eigenvalues, 1e-15, 1 - 1e-15)
        return cls(eigenvalues, start[:, None] * directions**2 / eigenvalues / count)

    def measure_risk(self, steps: int) -> float:
        """In units of χ²."""
        fitted_shares = -np.expm1(steps * np.log1p(-self.kept_shares))
        error = (
            np.sqrt(2 / np.pi) * np.sqrt(self.spread @ fitted_shares**2).sum()
        )  # Σ of the bins' mean absolute errors
        return float(_PARAMETER * fitted_shares.sum() + _ERROR * error**4)


class WideBins(NamedTuple):
    """A channel from few wide bins, and the share of each."""

    channel: Floats
    shares: Floats


def merge_true_bins(channel: Floats, start: Floats) -> WideBins:
    """Neighbouring true bins, merged until there are a few hundred: the risk of steps hardly changes."""
    bins = len(start)
    if bins <= _COARSE:
        return WideBins(channel, start)
    firsts = np.arange(0, bins, -(-bins // _COARSE))
    wide = np.add.reduceat(start, firsts)
    return WideBins(np.add.reduceat(channel * start, firsts, axis=1) / wide, wide)


@dataclass(frozen=True, eq=False)
class EmEstimate:
    """Where the iteration stopped, and why."""

    probabilities: Floats
    iterations: int
    stop_reason: Literal["chi2", "difference", "iterations"]


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
    start_shares = choose_start(start, channel.shape[1])
    if stop == "chi2" and len(start_shares) > _COARSE:
        few = merge_true_bins(channel, start_shares)
        coarse_estimate = run_em(counts, few.channel, few.shares, stop, level=level, most=most)
        estimate = run_em(counts, channel, start_shares, coarse_estimate.iterations)
        return EmEstimate(estimate.probabilities, coarse_estimate.iterations, coarse_estimate.stop_reason)
    filled_mask = counts > 0
    rows, share = np.ascontiguousarray(channel[filled_mask]), counts[filled_mask] / counts.sum()
    columns = np.ascontiguousarray(rows.T)

    def step(probabilities: Floats) -> Floats:
        return np.asarray(probabilities * (columns @ (share / (rows @ probabilities))))

    if stop != "chi2":
        return iterate_estimate(step, start_shares, stop, tolerance, most)
    fit = ChiSquareFit.of(counts, channel)
    with limit_to_one_thread():
        if level is not None:
            return _iterate_until_fit(step, start_shares, fit, level, most)
        return _balance_fit_and_risk(
            step, start_shares, fit, StepRisk.of(channel, start_shares, int(counts.sum())), most
        )


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
    step: EmStep, start: Floats, stop: Stop, tolerance: float = TOLERANCE, most: int = MOST
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
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _repeat_steps(step: EmStep, probabilities: Floats, times: int) -> EmEstimate:
    for step_count in range(times):
        probabilities = _normalize(step(probabilities))
        if step_count % 256 == 0:
            report_progress("reconstructing", step_count, times)
    return EmEstimate(probabilities, times, "iterations")


def _iterate_until_same(step: EmStep, probabilities: Floats, tolerance: float, most: int) -> EmEstimate:
    for step_count in range(1, most + 1):
        old_probabilities, probabilities = probabilities, _normalize(step(probabilities))
        if float(np.abs(probabilities - old_probabilities).sum()) <= tolerance:
            return EmEstimate(probabilities, step_count, "difference")
        if step_count % 256 == 0:
            report_progress("reconstructing", step_count, most)
    return EmEstimate(probabilities, most, "iterations")


def _list_look_points(step: EmStep, probabilities: Floats, most: int) -> Iterator[tuple[int, Floats]]:
    """The estimate after 1 to 8 steps, then four times per doubling, and after the last step."""
    look = 1
    for step_count in range(1, most + 1):
        probabilities = _normalize(step(probabilities))
        if step_count < look and step_count < most:
            continue
        look += max(1, 1 << (look.bit_length() - 3)) if look >= 4 else 1
        report_progress("reconstructing", step_count, most)
        yield step_count, probabilities


def _iterate_until_fit(step: EmStep, start: Floats, fit: ChiSquareFit, level: float, most: int) -> EmEstimate:
    limit, probabilities = fit.find_statistic(level), start
    for step_count, probabilities in _list_look_points(step, start, most):
        if fit.compute_statistic(probabilities) <= limit:
            return EmEstimate(probabilities, step_count, "chi2")
    return EmEstimate(probabilities, most, "iterations")


def _balance_fit_and_risk(step: EmStep, start: Floats, fit: ChiSquareFit, risk: StepRisk, most: int) -> EmEstimate:
    """Half as many steps again as where χ² and risk together are smallest."""
    kept_estimates, best, least, step_count = dict[int, Floats](), 1, np.inf, 0
    for step_count, probabilities in _list_look_points(step, start, most):
        kept_estimates[step_count] = probabilities
        cost = risk.measure_risk(step_count)
        if (total_cost := fit.compute_statistic(probabilities) + cost) < least:
            best, least = step_count, total_cost
        # From here on, risk alone exceeds the current sum; or nothing improves: in 1,168 cases of many kinds it never
        # did.
        if step_count >= _ON * best and (cost >= least or step_count >= max(_STEP_RATIO * best, _FAR)):
            break
    if not kept_estimates:
        return EmEstimate(start, 0, "iterations")
    # If the channel mixes nothing, the first step has found everything.
    wanted_steps = int(_ON * best)
    taken_steps = min(steps for steps in kept_estimates if steps >= min(wanted_steps, step_count))
    return EmEstimate(kept_estimates[taken_steps], taken_steps, "chi2" if wanted_steps <= step_count else "iterations")


def _normalize(probabilities: Floats) -> Floats:
    return np.asarray(probabilities / probabilities.sum())


def group_noisy_bins(counts: Ints, channel: Floats, least: int = _GROUPS) -> Ints:
    """Where groups of neighbouring noisy bins begin, about equally full, with ten values or more: `least` groups, or
    twice as many as the noise leaves distinguishable.
    """
    distinct_bins = float(np.sum(channel**2 / np.maximum(channel.sum(axis=1, keepdims=True), 1e-300)))
    most, count_sums = max(least, int(np.ceil(2 * distinct_bins))), np.cumsum(counts)
    group_count = max(1, min(most, int(count_sums[-1]) // _IN_GROUP))
    ends = np.searchsorted(count_sums, count_sums[-1] * np.arange(1, group_count) / group_count) + 1
    starts = np.unique(np.concatenate([[0], ends[ends < len(counts)]]))
    if len(starts) > 1 and count_sums[-1] == count_sums[starts[-1] - 1]:  # nothing is left for the last one
        starts = starts[:-1]
    return starts.astype(np.int64)
