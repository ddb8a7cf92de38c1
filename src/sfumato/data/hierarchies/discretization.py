# SPDX-License-Identifier: MIT
"""Cutting numbers into intervals, so that a measured column can be treated as a categorical one.

An interval includes its lower edge and excludes its upper one; the last includes both. A missing value (null or NaN)
belongs to no interval and stays missing. Either the interval's label or its midpoint is published: Aggarwal, Pei and
Zhang (2006) discretize first, then blank entries, and finally replace the values by the midpoints of the ranges.

What leaks: the edges. The outer edges of `cut_equal_width` and `cut_equal_frequency` are the smallest and the largest
value of the data, unless a `coarse` range is requested. An inner edge of `cut_equal_frequency` lies between two
neighbouring values, or is the upper one. The labels of `cut_at` are the custodian's own numbers and depend on no one;
only the midpoints of its two end intervals depend on the extremes, or on the coarse range.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl

from sfumato.arrays import AnyArray, Floats, Ints
from sfumato.data.cells.cell_types import count_words
from sfumato.data.hierarchies.coarse_range import widen_range
from sfumato.errors import DataError, PolicyError, count_noun

Numbers = pl.Series | AnyArray | Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Discretization:
    """Adjacent intervals, and the mapping from numbers to them."""

    edges: tuple[float, ...]
    """One more than there are intervals, ascending; empty if there was no value to learn from. The last interval may be
    a single point. At an open end, the outermost edge only shows how far the data reached."""
    open_below: bool = False
    """The first interval takes every value below its upper edge."""
    open_above: bool = False
    """The last interval takes every value from its lower edge on."""

    def __post_init__(self) -> None:
        """Refuse edges that bound no interval or run backwards."""
        if len(self.edges) == 1 or not np.isfinite(self.edges).all():
            raise PolicyError("intervals need at least two finite edges")
        if not _is_ascending(self.edges[:-1]) or self.edges[-2:] != tuple(sorted(self.edges[-2:])):
            raise PolicyError("the edges of intervals must ascend")

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each interval: "[20, 30)", at open ends "< 20" and "≥ 65"."""
        names = [f"[{_format_compactly(low)}, {_format_compactly(high)})" for low, high in pairwise(self.edges)]
        if names:
            names[-1] = f"{names[-1][:-1]}]"
        if self.open_below:
            names[0] = f"< {_format_compactly(self.edges[1])}"
        if self.open_above:
            names[-1] = f"≥ {_format_compactly(self.edges[-2])}"
        return tuple(names)

    @property
    def midpoints(self) -> tuple[float, ...]:
        """The middle of each interval; at an open end, between the cut and the farthest value seen."""
        return tuple(_find_short_middle(low, high) for low, high in pairwise(self.edges))

    def code_values(self, values: Numbers) -> Ints:
        """The number of each value's interval, from 0; −1 if the value is missing."""
        numbers = _read_finite_numbers(values)
        missing = np.isnan(numbers)
        outlier_count = self._flag_outside(numbers)
        if outlier_count:
            raise DataError(
                f"{count_noun(outlier_count, 'value')}{_name_series(values)} {'is' if outlier_count == 1 else 'are'} "
                "outside the intervals; cut all the data together, or use fixed cuts, whose ends are open"
            )
        codes = np.searchsorted(np.asarray(self.edges[1:-1]), numbers, side="right")
        return np.where(missing, -1, codes).astype(np.int64)

    def apply(self, series: pl.Series, as_: Literal["label", "midpoint"] = "label") -> pl.Series:
        """The column with each number replaced by its interval's label or midpoint; missing stays missing."""
        if as_ not in ("label", "midpoint"):
            raise PolicyError(f'a discretized column holds each interval\'s label or midpoint, not its "{as_}"')
        codes = pl.Series(self.code_values(series))
        known_codes = codes.set(codes < 0, None)
        if as_ == "label":
            words = pl.Series(self.labels, dtype=pl.String)
        else:
            words = pl.Series(self.midpoints, dtype=pl.Float64)
        return words.gather(known_codes).alias(series.name)

    def _flag_outside(self, numbers: Floats) -> int:
        if not self.edges:
            return int((~np.isnan(numbers)).sum())
        count_below = 0 if self.open_below else (numbers < self.edges[0]).sum()
        count_above = 0 if self.open_above else (numbers > self.edges[-1]).sum()
        return int(count_below + count_above)


def cut_equal_width(values: Numbers, bins: int, *, coarse: bool = False) -> Discretization:
    """Intervals of equal width from the smallest to the largest value, or over a `coarse` range around them.

    The smallest and the largest value are someone's and should not be published. Inner edges are rounded to the fewest
    decimals that move them by at most two millionths of the width, so that a label states exactly where the cut is. A
    constant column gives one interval, a single point; values so close together that floats cannot represent edges
    between them give fewer intervals.
    """
    _check_bins(bins)
    numbers = _drop_missing_numbers(values)
    if not numbers.size:
        return Discretization(())
    low, high = float(numbers.min()), float(numbers.max())
    if low == high:
        return Discretization((low, high))
    if coarse:
        low, high = _coarsen_ends(numbers)
    # Weighted means, because the distance between two finite floats may be infinite.
    width = high / bins - low / bins
    inner = {_shorten_number(low * (1 - step / bins) + high * (step / bins), width) for step in range(1, bins)}
    return Discretization((low, *sorted(edge for edge in inner if low < edge < high), high))


def _coarsen_ends(numbers: Floats) -> tuple[float, float]:
    """A range around numbers that discloses its ends only on a coarse grid."""
    low, high = float(numbers.min()), float(numbers.max())
    if low == high:
        return low, high
    most = Fraction(sys.float_info.max)
    coarse_range = widen_range(low, high, whole=bool((numbers == np.floor(numbers)).all()))
    return float(max(coarse_range.low, -most)), float(min(coarse_range.high, most))


def cut_equal_frequency(values: Numbers, bins: int) -> Discretization:
    """Intervals with about the same number of values each.

    Equal values are never separated: each cut lies between two neighbouring values, as close as possible to equal
    counts, at the number there with the fewest decimals. If one value is so common that two cuts coincide, there are
    fewer intervals than requested. With at most `bins` distinct values, each value has its own interval.
    """
    _check_bins(bins)
    numbers = _drop_missing_numbers(values)
    if not numbers.size:
        return Discretization(())
    return cut_counted_numbers(*np.unique(numbers, return_counts=True), bins)


def cut_counted_numbers(distinct: Floats, counts: Ints, bins: int) -> Discretization:
    """The same from the different values, ascending, and how often each occurs."""
    last = _choose_even_cuts(counts, bins) if len(distinct) > bins else np.arange(len(distinct) - 1)
    inner = [_find_short_between(float(distinct[index]), float(distinct[index + 1])) for index in last]
    return Discretization((float(distinct[0]), *inner, float(distinct[-1])))


def _choose_even_cuts(counts: Ints, bins: int) -> Ints:
    """Which distinct values end an interval, so that the intervals' counts are as equal as ties allow."""
    total = int(counts.sum())
    # Compared as integers (counts times `bins`), so that ties are broken the same way everywhere.
    ends = np.cumsum(counts)[:-1] * bins
    ideal_ends = np.arange(1, bins) * total
    next_ends = np.searchsorted(ends, ideal_ends).clip(0, len(ends) - 1)
    previous_ends = (next_ends - 1).clip(0)
    return np.unique(
        np.where(ideal_ends - ends[previous_ends] <= ends[next_ends] - ideal_ends, previous_ends, next_ends)
    )


def cut_at(values: Numbers, cuts: Sequence[float], *, coarse: bool = False) -> Discretization:
    """Intervals between given cuts, with an open interval below the first and above the last.

    There is always one more interval than cuts, even if it is empty, so that two files with the same cuts have the same
    labels. An empty end interval is assumed to be as wide as its neighbour. Others reach to the extremes, or to those
    of a `coarse` range.
    """
    cut_points = [float(cut) for cut in cuts]
    if not cut_points or not np.isfinite(cut_points).all() or not _is_ascending(cut_points):
        raise PolicyError("cuts must be one or more different finite numbers in ascending order")
    numbers = _drop_missing_numbers(values)
    first, last = cut_points[0], cut_points[-1]
    ends = _coarsen_ends if coarse else _find_extremes
    low = ends(numbers)[0] if (numbers < first).any() else _step_beyond(first, -_measure_reach(cut_points[:2]))
    high = ends(numbers)[1] if (numbers >= last).any() else _step_beyond(last, _measure_reach(cut_points[-2:]))
    return Discretization((low, *cut_points, high), open_below=True, open_above=True)


def _find_extremes(numbers: Floats) -> tuple[float, float]:
    return float(numbers.min()), float(numbers.max())


def _measure_reach(neighbours: list[float]) -> float:
    if len(neighbours) == 2:
        return neighbours[1] - neighbours[0]
    return max(1.0, abs(neighbours[0]))


def _step_beyond(cut: float, step: float) -> float:
    # A step may be too small to move the cut, or so large that the sum is infinite.
    end_point = cut + step if cut + step != cut else math.nextafter(cut, math.copysign(math.inf, step))
    return min(max(end_point, -sys.float_info.max), sys.float_info.max)


def _is_ascending(numbers: Sequence[float]) -> bool:
    return all(low < high for low, high in pairwise(numbers))


def _check_bins(bins: int) -> None:
    if bins < 1:
        raise PolicyError(f"the number of intervals must be at least 1, not {bins}")


def _drop_missing_numbers(values: Numbers) -> Floats:
    numbers = _read_finite_numbers(values)
    # Adding 0 turns −0 into 0, which would otherwise be shown as a separate edge.
    return numbers[~np.isnan(numbers)] + 0.0


def _read_finite_numbers(values: Numbers) -> Floats:
    """The values as floats, NaN where missing; anything that is not a finite number is refused."""
    series = values if isinstance(values, pl.Series) else pl.Series(values, strict=False)
    if not (series.dtype.is_numeric() or series.dtype == pl.Null):
        raise DataError(
            f"only numbers can be cut into intervals; the type{_name_series(values)} is {series.dtype}, and "
            f"{count_words(series)}; correct these cells, or name another column"
        )
    numbers: Floats = series.cast(pl.Float64).to_numpy()
    infinite = int(np.isinf(numbers).sum())
    if infinite:
        raise DataError(
            f"{count_noun(infinite, 'value')}{_name_series(values)} {'is' if infinite == 1 else 'are'} infinite, in no "
            "interval; mark as missing first"
        )
    return numbers


def _name_series(values: Numbers) -> str:
    return f' of "{values.name}"' if isinstance(values, pl.Series) and values.name else ""


def _find_short_middle(low: float, high: float) -> float:
    # The sum of two finite floats may be infinite; the middle of two neighbouring floats is one of them.
    middle = _shorten_number(low / 2 + high / 2, high / 2 - low / 2)
    return middle if low <= middle < high else low


def _shorten_number(number: float, width: float) -> float:
    """The number with the fewest decimals that is within two millionths of a width of it."""
    for decimals in range(16):
        short = round(number, decimals)
        if abs(short - number) <= width * 2e-6:
            return short + 0.0
    return number


def _find_short_between(low: float, high: float) -> float:
    """The number with the fewest decimals that is above `low` and not above `high`."""
    for decimals in range(16):
        short = round(high, decimals)
        if short > high:
            short = round(short - 10.0**-decimals, decimals)
        if low < short <= high:
            return short + 0.0
    return high


def _format_compactly(number: float) -> str:
    return f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else repr(number)
