# SPDX-License-Identifier: MIT
"""How an adversary guesses values from codes: curves through known points, ranks, quantiles, frequencies.

Each function gives a guess for every code of a column. Curves are drawn for many trials at once, each with knowledge
points of its own: a code and a value within the radius of the truth, or, for a bad one, more than five radii off (Bu et
al. 2007, Definitions 4 and 5, Section 6.1). Curves are extrapolated beyond their outermost points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.public.codes.coded_columns import CodedColumn, compute_shares_below

Fit = Literal["regression", "polyline", "spline"]
FITS: tuple[Fit, ...] = ("regression", "polyline", "spline")
_BAD = 5
"""A bad knowledge point is off by more than this many radii."""


@dataclass(frozen=True)
class KnowledgePoints:
    """What the adversary believes to know, a row of points for each trial; codes ascend within a row."""

    codes: Floats
    values: Floats

    @classmethod
    def draw(
        cls, column: CodedColumn, good: int, bad: int, radius: float, trials: int, chance: np.random.Generator
    ) -> KnowledgePoints:
        """Points at random distinct codes: all of them, if there are fewer codes."""
        many = min(good + bad, len(column.codes))
        points = np.array(
            [chance.choice(len(column.codes), many, replace=False) for _ in range(trials)], dtype=np.int64
        )
        points = points.reshape(trials, many)
        reach = radius * column.width
        offsets = chance.uniform(-reach, reach, size=points.shape)
        wrong = np.arange(many) >= many - bad
        offsets[:, wrong] = _draw_bad_offsets(column, points[:, wrong], reach, chance)
        truth = np.where(chance.integers(2, size=points.shape) > 0, column.low[points], column.high[points])
        order = np.argsort(points, axis=1)
        values = np.take_along_axis(truth + offsets, order, axis=1)
        return cls(np.take_along_axis(column.codes[points], order, axis=1), values)


def _draw_bad_offsets(column: CodedColumn, points: Ints, reach: float, chance: np.random.Generator) -> Floats:
    """The error of a bad point: more than five radii, within the range if possible on some side."""
    room_below = np.maximum(column.low[points] - column.domain[0], _BAD * reach * 1.2)
    room_above = np.maximum(column.domain[-1] - column.low[points], _BAD * reach * 1.2)
    upward_mask = chance.random(points.shape) * (room_below + room_above) < room_above
    share = 1 - chance.random(points.shape)  # never 0: more than five radii
    room = np.where(upward_mask, room_above, room_below) - _BAD * reach
    return np.asarray(np.where(upward_mask, 1, -1) * (_BAD * reach + share * room))


def fit_curve(points: KnowledgePoints, codes: Floats, fit: Fit) -> Floats:
    """A guess for every code, a row for each trial; without points, the codes are taken as the values."""
    many = points.codes.shape[1]
    if not many:
        return np.broadcast_to(codes, (len(points.codes), len(codes)))
    if many == 1:
        return np.broadcast_to(points.values, (len(points.codes), len(codes)))
    return _FIT_FUNCTIONS[fit](points, codes)


def _fit_regression(points: KnowledgePoints, codes: Floats) -> Floats:
    x = points.codes - points.codes.mean(axis=1, keepdims=True)
    y = points.values - points.values.mean(axis=1, keepdims=True)
    slope = (x * y).sum(axis=1, keepdims=True) / (x * x).sum(axis=1, keepdims=True)
    return np.asarray(
        points.values.mean(axis=1, keepdims=True) + slope * (codes - points.codes.mean(axis=1, keepdims=True))
    )


def _fit_polyline(points: KnowledgePoints, codes: Floats) -> Floats:
    """The segment that a code falls into; beyond the outermost points, the outermost segments are extended."""
    many = points.codes.shape[1]
    segment = np.zeros((len(points.codes), len(codes)), dtype=np.int64)
    for inner in range(1, many - 1):
        segment += codes > points.codes[:, inner, None]
    slopes = np.diff(points.values, axis=1) / np.diff(points.codes, axis=1)
    start = points.values[:, :-1] - slopes * points.codes[:, :-1]
    return np.asarray(np.take_along_axis(start, segment, axis=1) + np.take_along_axis(slopes, segment, axis=1) * codes)


def _fit_spline(points: KnowledgePoints, codes: Floats) -> Floats:
    """A cubic spline, "not a knot" at the second and the last but one point."""
    from scipy.interpolate import CubicSpline

    return np.array([CubicSpline(x, y)(codes) for x, y in zip(points.codes, points.values, strict=True)])


_FIT_FUNCTIONS: dict[Fit, Callable[[KnowledgePoints, Floats], Floats]] = {
    "regression": _fit_regression,
    "polyline": _fit_polyline,
    "spline": _fit_spline,
}


@dataclass(frozen=True)
class CodeRanges:
    """The range of each code's value by its rank alone: the numbers of values below and above it are known."""

    low: Floats
    high: Floats
    unit: float

    def compute_crack_chance(self, column: CodedColumn, radius: float) -> Floats:
        """For each code, the probability that a guess drawn from its range is a crack: |R_g ∩ R_ρ| / |R_g| (Section
        5.4).
        """
        every = np.arange(len(self.low))
        return self._measure_overlap(every, column.low, column.high, radius * column.width)

    def expect_read(self, column: CodedColumn, radius: float) -> float:
        """How many people's values guesses drawn from the ranges are expected to read."""
        pairs = column.pairs
        return float(self._measure_overlap(pairs.code, pairs.value, pairs.value, radius * column.width) @ pairs.rows)

    def _measure_overlap(self, code: Ints, least: Floats, greatest: Floats, reach: float) -> Floats:
        """The share of some codes' ranges that is within reach of all true values from the least to the greatest."""
        reach = np.floor(reach / self.unit * (1 + 1e-12)) * self.unit
        low, high = self.low[code], self.high[code]
        begin = np.maximum(low, greatest - reach)
        overlap = np.floor((np.minimum(high, least + reach) - begin) / self.unit * (1 + 1e-12) + 1e-6) + 1
        whole = np.rint((high - low) / self.unit) + 1
        return np.asarray(np.maximum(overlap, 0) / whole)

    def reverse(self) -> CodeRanges:
        """The ranges if codes fall while values rise."""
        return CodeRanges(self.low[::-1], self.high[::-1], self.unit)


def bound_by_rank(codes: int, least: float, greatest: float, unit: float) -> CodeRanges:
    """Sort the codes, and count how many values there must be below and above each."""
    rank = np.arange(codes)
    low: Floats = np.asarray(least + rank * unit)
    return CodeRanges(low, np.maximum(greatest - (codes - 1 - rank) * unit, low), unit)


def spread_evenly(codes: int, least: float, greatest: float) -> Floats:
    """Map sorted codes to evenly spaced values, from the smallest to the largest."""
    return np.asarray(np.linspace(least, greatest, codes) if codes > 1 else np.full(codes, (least + greatest) / 2))


def rescale_codes(codes: Floats, least: float, greatest: float) -> Floats:
    """Shift and stretch sorted codes, so that they range from the smallest value to the largest."""
    if len(codes) < 2:
        return spread_evenly(len(codes), least, greatest)
    return np.asarray(least + (codes - codes[0]) / (codes[-1] - codes[0]) * (greatest - least))


def guess_plainly(column: CodedColumn) -> dict[str, Floats]:
    """What anyone would try first: codes are values, as they are or mirrored because they fall while values rise."""
    mirror_image = column.codes[0] + (column.codes[-1] - column.codes)
    return {"as published": column.codes, "as published, falling": mirror_image}


def draw_rival_samples(column: CodedColumn, share: float, trials: int, chance: np.random.Generator) -> Ints:
    """How often each true value is in a rival's sample, a row for each trial; drawn without replacement."""
    size = max(1, round(share * int(column.domain_rows.sum())))
    if size == int(column.domain_rows.sum()):
        return np.broadcast_to(column.domain_rows, (trials, len(column.domain_rows)))
    return chance.multivariate_hypergeometric(column.domain_rows, size, size=trials, method="marginals")


def guess_by_quantile(column: CodedColumn, sample: Ints) -> Floats:
    """The value that has the same share of a rival's rows below it as the code has of the release's."""
    sampled_mask = sample > 0
    return np.asarray(np.interp(column.middle, compute_shares_below(sample[sampled_mask]), column.domain[sampled_mask]))


def guess_by_rank(column: CodedColumn, sample: Ints) -> Floats:
    """The value in a rival's sorted rows that is where the middle one of the code's rows is in the release's."""
    middle_rows = np.cumsum(column.rows) - column.rows + column.rows // 2
    sample_rows = middle_rows * int(sample.sum()) // column.people
    return np.asarray(column.domain[np.searchsorted(np.cumsum(sample), sample_rows, side="right")])


@dataclass(frozen=True)
class RankWindows:
    """A rival lays sorted codes and its own sorted rows side by side: each code has a window of the rival's rows, and
    each person of the code gets a value of that window, no two the same row.
    """

    begin: Ints
    """Where the window of each code begins, in rows of the rival times rows of the release."""
    end: Ints
    domain: Floats
    ends: Ints
    """Where the rows of each value of the domain begin, in the same unit; and where those of the last one end."""

    @classmethod
    def of(cls, column: CodedColumn, sample: Ints) -> RankWindows:
        """The windows if codes rise with values; a code's share of the rows is its share of the rival's."""
        size = int(sample.sum())
        end = np.cumsum(column.rows) * size
        ends = np.concatenate([[0], np.cumsum(sample)]) * column.people
        return cls(end - column.rows * size, end, column.domain, ends)

    def reverse(self) -> RankWindows:
        """The windows if codes fall while values rise."""
        whole = int(self.ends[-1])
        return RankWindows(whole - self.end, whole - self.begin, self.domain, self.ends)

    def compute_crack_chance(self, column: CodedColumn, radius: float) -> Floats:
        """For each code, the share of its window that is within the radius of all its true values."""
        return self._measure_overlap(np.arange(len(self.end)), column.low, column.high, radius * column.width)

    def expect_read(self, column: CodedColumn, radius: float) -> float:
        """How many people get a value within the radius of their own; expected, if a code has several values."""
        pairs = column.pairs
        shares = self._measure_overlap(pairs.code, pairs.value, pairs.value, radius * column.width)
        return round(float(shares @ pairs.rows), 6)

    def _measure_overlap(self, code: Ints, least: Floats, greatest: Floats, reach: float) -> Floats:
        reach *= 1 + 1e-12
        low = self.ends[np.searchsorted(self.domain, greatest - reach, side="left")]
        high = self.ends[np.searchsorted(self.domain, least + reach, side="right")]
        begin, end = self.begin[code], self.end[code]
        overlap = np.minimum(high, end) - np.maximum(low, begin)
        return np.asarray(np.maximum(overlap, 0) / (end - begin))


def guess_by_frequency(column: CodedColumn, sample: Ints, runs: Ints) -> Floats:
    """Within each run of codes, the value of a rival's sample with the same rank by frequency.

    `runs` numbers the run of each code, in order: for example codes of one class, among which values may be permuted. A
    run is located in the sample by its quantiles; ties go by order.
    """
    sampled_mask = sample > 0
    values, times = column.domain[sampled_mask], sample[sampled_mask]
    ends = np.cumsum(np.bincount(runs, weights=column.rows)) / column.rows.sum()
    run_of_value = np.minimum(np.searchsorted(ends, compute_shares_below(times)), len(ends) - 1)
    codes_by = np.lexsort((np.arange(len(runs)), column.rows, runs))
    values_by = np.lexsort((np.arange(len(values)), times, run_of_value))
    size, begin = _measure_runs(runs, len(ends))
    sample_size, sample_begin = _measure_runs(run_of_value, len(ends))
    run = runs[codes_by]
    rank = np.arange(len(runs)) - begin[run]
    sample_index = sample_begin[run] + np.floor((rank + 0.5) / size[run] * sample_size[run]).astype(np.int64)
    guesses = guess_by_quantile(column, sample)
    has_sample = sample_size[run] > 0
    guesses[codes_by[has_sample]] = values[values_by[sample_index[has_sample]]]
    return guesses


def _measure_runs(runs: Ints, many: int) -> tuple[Ints, Ints]:
    size = np.bincount(runs, minlength=many)
    return size, np.cumsum(size) - size


def number_runs(classes: Ints, mixed_mask: Flags) -> Ints:
    """Number the runs of neighbours of one class; a mixed one is a run of its own."""
    new = np.append(True, (classes[1:] != classes[:-1]) | mixed_mask[1:] | mixed_mask[:-1])
    return np.asarray(np.cumsum(new) - 1)
