# SPDX-License-Identifier: MIT
"""How far a reconstruction can be trusted: intervals for the probability of each bin.

Two kinds. `bootstrap` runs four times as many steps, which smooths less and shows more of the sampling error, draws
noisy histograms from that estimate and reconstructs each in as many steps. It shows how far chance moves the estimate,
and part of what smoothing hides; if a distribution has edges that noise has washed out, the truth can lie outside.
`strict` asks which distributions could have led to the noisy histogram: all whose prediction lies within a confidence
band around it. Linear programs find the smallest and the largest probability that any of them gives a bin, so the
intervals hold for all bins at once, whatever the estimate smoothed. They are wide where noise mixes a bin with its
neighbours: without assuming smoothness, these cannot be distinguished.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.errors import PolicyError
from sfumato.mine.noise.reconstruction_em import EmEstimate, group_noisy_bins, limit_to_one_thread
from sfumato.randomness import Randomness
from sfumato.runtime.progress import report_progress

IntervalKind = Literal["bootstrap", "strict", "none"]
_RESAMPLES, _FEWER = 60, 24
_FURTHER, _FURTHEST = 4, 4_000
_WORK = 5e10
"""The most multiplications that intervals may take: some seconds."""


class ShareBounds(NamedTuple):
    """Between which two shares each bin lies."""

    low: Floats
    high: Floats


def compute_intervals(
    kind: IntervalKind,
    em_estimate: EmEstimate,
    counts: Ints,
    channel: Floats,
    bins: tuple[Floats, Ints],
    confidence: float,
    randomness: Randomness | None,
) -> ShareBounds:
    """The lower and the upper ends; NaN for `none`, and if resampling would take minutes: thousands of bins under much
    noise, which cannot be distinguished. The estimate always lies within.

    `bins` are where the estimate began, and the first parts of each bin, if it was made on finer ones.
    """
    start_shares, starts = bins
    if kind not in ("bootstrap", "strict", "none"):
        raise PolicyError(f'intervals must be "bootstrap", "strict" or "none", not "{kind}"')
    if not 0 < confidence < 1:
        raise PolicyError(f"confidence must lie between 0 and 1, not {confidence:g}")
    if kind == "none":
        return ShareBounds(np.full(len(starts), np.nan), np.full(len(starts), np.nan))
    if kind == "strict":
        low, high = _bound_bins_strictly(counts, channel, starts, confidence)
    else:
        chance = (randomness or Randomness.seeded(0)).generator()
        low, high = _bootstrap_intervals(em_estimate, counts, channel, start_shares, starts, confidence, chance)
    estimate = np.add.reduceat(em_estimate.probabilities, starts)
    low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    return ShareBounds(np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0))


def _choose_affordable_draws(em_estimate: EmEstimate, cells: int) -> tuple[int, int] | None:
    """How many histograms to draw and how many steps to take on each; None if even a few are too many."""
    further = max(em_estimate.iterations, min(_FURTHER * em_estimate.iterations, _FURTHEST))
    ways = ((_RESAMPLES, further), (_FEWER, further), (_FEWER, em_estimate.iterations))
    return next(((times, steps) for times, steps in ways if 4.0 * cells * times * steps <= _WORK), None)


def _bound_bins_strictly(counts: Ints, channel: Floats, starts: Ints, confidence: float) -> ShareBounds:
    """The smallest and largest probability of each bin, over all distributions within the band."""
    rows, low, high = _build_band(counts, channel, confidence)
    stretch = _measure_band_stretch(rows, low, high)
    middle, half = (low + high) / 2, (high - low) / 2 * stretch
    ends, stops = np.empty((2, len(starts))), [*starts[1:], channel.shape[1]]
    for index, (begin, end) in enumerate(zip(starts, stops, strict=True)):
        report_progress("bounding probabilities", index, len(starts))
        for side, sign in enumerate((1.0, -1.0)):
            goal = np.zeros(channel.shape[1])
            goal[begin:end] = sign
            ends[side, index] = sign * _minimize_in_band(goal, rows, middle - half, middle + half)
    return ShareBounds(ends[0], ends[1])


class _ShareBand(NamedTuple):
    """Sums of predicted shares, and their bounds."""

    rows: Floats
    low: Floats
    high: Floats


def _build_band(counts: Ints, channel: Floats, confidence: float) -> _ShareBand:
    """Sums of predicted shares, and their bounds: running sums by the bound of Dvoretzky, Kiefer, Wolfowitz and
    Massart, groups of noisy bins by exact binomial intervals; each with half of the error probability.
    """
    from scipy.special import betaincinv

    count, wrong = int(counts.sum()), (1 - confidence) / 2
    starts = group_noisy_bins(counts, channel, least=20)  # the more there are, the wider each must be
    cells, group_counts = np.add.reduceat(channel, starts, axis=0), np.add.reduceat(counts, starts)
    far = np.sqrt(np.log(2 / wrong) / (2 * count))
    cell_sums, share = np.cumsum(cells, axis=0)[:-1], np.cumsum(group_counts)[:-1] / count
    tail_share = wrong / (2 * len(group_counts))
    low = np.where(group_counts > 0, betaincinv(np.maximum(group_counts, 1), count - group_counts + 1, tail_share), 0.0)
    high = np.where(
        group_counts < count, betaincinv(group_counts + 1, np.maximum(count - group_counts, 1), 1 - tail_share), 1.0
    )
    return _ShareBand(
        np.concatenate([cell_sums, cells]),
        np.concatenate([share - far, low]),
        np.concatenate([share + far, high]),
    )


def _measure_band_stretch(rows: Floats, low: Floats, high: Floats) -> float:
    """By how much the band must be widened around its middle to contain any distribution; mostly not at all."""
    middle, half = (low + high) / 2, (high - low) / 2
    bins = rows.shape[1]
    wider = np.block([[rows, -half[:, None]], [-rows, -half[:, None]]])
    solution = _solve_linear_program(
        np.append(np.zeros(bins), 1.0), wider, np.concatenate([middle, -middle]), np.append(np.ones(bins), 0.0)
    )
    return max(1.0, float(solution.fun) * (1 + 1e-6) + 1e-9)


def _minimize_in_band(goal: Floats, rows: Floats, low: Floats, high: Floats) -> float:
    solution = _solve_linear_program(
        goal, np.concatenate([rows, -rows]), np.concatenate([high, -low]), np.ones(len(goal))
    )
    return float(solution.fun) if solution.fun is not None else float(min(goal.min(), 0.0))


def _solve_linear_program(goal: Floats, rows: Floats, most: Floats, sums: Floats) -> Any:
    from scipy.optimize import linprog

    return linprog(goal, A_ub=rows, b_ub=most, A_eq=sums[None, :], b_eq=[1.0], bounds=(0, None), method="highs")


def _bootstrap_intervals(
    em_estimate: EmEstimate,
    counts: Ints,
    channel: Floats,
    start_shares: Floats,
    starts: Ints,
    confidence: float,
    chance: np.random.Generator,
) -> ShareBounds:
    """Draw noisy histograms, reconstruct each in as many steps as their source, and measure their deviation from it."""
    work = _choose_affordable_draws(em_estimate, channel.size)
    if work is None:
        return ShareBounds(np.full(len(starts), np.nan), np.full(len(starts), np.nan))
    times, steps = work
    source = _step_estimates((counts / counts.sum())[:, None], channel, start_shares, steps)[:, 0]
    expected_shares = channel @ source
    histograms = chance.multinomial(int(counts.sum()), expected_shares / expected_shares.sum(), size=times).T
    deviations = np.add.reduceat(
        _step_estimates(histograms / counts.sum(), channel, start_shares, steps) - source[:, None], starts, axis=0
    )
    source = np.add.reduceat(source, starts)
    low_deviation, high_deviation = np.quantile(deviations, [(1 - confidence) / 2, (1 + confidence) / 2], axis=1)
    # In both directions: resampled estimates lie around their source as it does around the truth, or the reverse.
    return ShareBounds(
        source + np.minimum(low_deviation, -high_deviation), source + np.maximum(high_deviation, -low_deviation)
    )


def _step_estimates(shares: Floats, channel: Floats, start_shares: Floats, steps: int) -> Floats:
    """The estimate for each column of shares of noisy bins, after some steps."""
    rows = np.ascontiguousarray(channel.T)
    estimates = np.repeat(start_shares[:, None], shares.shape[1], axis=1)
    with limit_to_one_thread():
        for step_count in range(steps):
            predicted_shares = channel @ estimates
            estimates = estimates * (
                rows @ np.divide(shares, predicted_shares, out=np.zeros_like(shares), where=shares > 0)
            )
            if step_count % 64 == 0:
                report_progress("drawing intervals", step_count, steps)
    return np.asarray(estimates / estimates.sum(axis=0))
