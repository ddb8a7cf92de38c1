# SPDX-License-Identifier: MIT
"""Ranges of numbers with round ends, for histograms and for groups of people."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from math import floor, log10
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.data.cells.coded_cells import encode_narrowly
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy
from sfumato.data.hierarchies.label_ranges import RangeEnds, parse_range

_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0, 20.0, 25.0, 50.0, 100.0)
_WIDE = 2.0
"""If all numbers spread this many times as far as 99 % of them, those beyond go into the outermost ranges."""
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
"""Not 007, which is a code."""
_DIGITS = 15
_EXTREME = 1e300
"""Beyond it, sums overflow."""


class NumberCells(NamedTuple):
    """The cells of a column that are numbers or ranges of numbers."""

    low: Floats
    high: Floats
    whole: bool
    """Whether all are whole numbers."""
    ranges: bool
    """Whether some are ranges."""


@dataclass(frozen=True)
class NumberBins:
    """Ranges of equal width; the first and the last also hold the numbers beyond them."""

    edges: Floats
    labels: tuple[str, ...]
    open_ends: bool
    """Whether some numbers lie beyond the edges."""

    def find_bins(self, numbers: Floats) -> Ints:
        """The range of each number."""
        return np.searchsorted(self.edges[1:-1], numbers, side="right").astype(np.int64)

    def count(self, cells: NumberCells) -> list[int]:
        """How many cells are in each range; a cell that is a range itself is spread evenly over its numbers."""
        exact = cells.low == cells.high
        counts = np.bincount(self.find_bins(cells.low[exact]), minlength=len(self.labels)).astype(np.float64)
        wide, people = np.unique(np.stack([cells.low[~exact], cells.high[~exact]]), axis=1, return_counts=True)
        for low, high, many in zip(wide[0], wide[1] + cells.whole, people, strict=True):
            inner = np.clip((self.edges[1:-1] - low) / (high - low), 0.0, 1.0)
            counts += many * np.diff(inner, prepend=0.0, append=1.0)
        return _round_to_total(counts)


def _round_to_total(counts: Floats) -> list[int]:
    """Whole numbers of the same sum: the largest fractions are rounded up."""
    whole_counts = np.floor(counts + 1e-9)
    missing_count = round(float(counts.sum() - whole_counts.sum()))
    whole_counts[np.argsort(whole_counts - counts, kind="stable")[:missing_count]] += 1
    return [int(count) for count in whole_counts]


def choose_bins(numbers: Floats, most: int) -> NumberBins | None:
    """At most this many ranges over the numbers; None if these cannot be divided, since they are equal or too large."""
    if not len(numbers):
        return None
    low, high = find_inner_range(numbers)
    span = high - low
    if not 1 / _EXTREME < span < _EXTREME or max(-low, high) > _EXTREME:
        return None
    whole = bool((numbers == np.round(numbers)).all())
    unit = 10.0 ** floor(log10(span / most))
    for step in (unit * times for times in _ROUND):
        if step % 1 and whole:
            continue
        edges = _list_edges(low, high, step)
        if len(edges) - 1 <= most:
            break
    else:
        return None
    # The numbers are too large for their distance, or their ends have too many digits.
    if len(edges) < 2 or not (np.diff(edges) > 0).all():
        return None
    has_lower, has_higher = bool((numbers < edges[0]).any()), bool((numbers >= edges[-1]).any())
    return NumberBins(edges, _name_bins(edges, whole, has_lower, has_higher), has_lower or has_higher)


def _list_edges(low: float, high: float, step: float) -> Floats:
    """The multiples of a step from the last one up to `low` to the first one above `high`, as their labels spell them:
    3 × 0.1 is 0.3, which is in the range that begins there.
    """
    multiples: Floats = (np.arange(floor(low / step) - 1, floor(high / step) + 3) * step).astype(np.float64)
    edges = multiples.round(_count_digits(step))
    begin, end = np.searchsorted(edges, [low, high], side="right")
    return edges[begin - 1 : end + 1]


def find_inner_range(numbers: Floats) -> RangeEnds:
    """The ends of the numbers; of 99 % of them if a few lie far out."""
    low, high = float(numbers.min()), float(numbers.max())
    inner_low = float(np.quantile(numbers, 0.005, method="lower"))
    inner_high = float(np.quantile(numbers, 0.995, method="higher"))
    far = high - low > _WIDE * (inner_high - inner_low) > 0
    return RangeEnds(inner_low, inner_high) if far else RangeEnds(low, high)


def _name_bins(edges: Floats, whole: bool, has_lower: bool, has_higher: bool) -> tuple[str, ...]:
    """Ranges of whole numbers by their first and last number, others by their ends; the upper end is outside."""
    digits = 0 if whole else _count_digits(float(edges[1] - edges[0]))
    names = []
    for low, high in pairwise(edges):
        last = high - 1 if whole else high
        first_text, last_text = format_fixed_digits(float(low), digits), format_fixed_digits(float(last), digits)
        upper_text = last_text if whole else f"under {last_text}"
        names.append(first_text if whole and low == last else f"{first_text} to {upper_text}")
    if has_lower:
        names[0] = f"under {format_fixed_digits(float(edges[1]), digits)}"
    if has_higher:
        names[-1] = f"{format_fixed_digits(float(edges[-2]), digits)} and more"
    return tuple(names)


def _count_digits(step: float) -> int:
    """How many decimals the ends of ranges have: those of their width, which is 1, 2, 2.5 or 5 of some unit."""
    exact = -Decimal(f"{step:.3g}").normalize().as_tuple().exponent  # type: ignore[operator]  # a finite number
    return max(0, min(_DIGITS, exact))


def format_fixed_digits(number: float, digits: int) -> str:
    """A number with fixed digits; years have no separator."""
    number = number + 0.0 if round(number, digits) else 0.0
    text = f"{number:,.{digits}f}" if abs(number) >= 10_000 else f"{number:.{digits}f}"
    return re.sub(r"(\.\d*?)0+$", r"\1", text).rstrip(".") if "." in text else text


def parse_cells(column: pl.Series) -> NumberCells | None:
    """The cells that are neither missing nor suppressed; None if one of them is no number and no range of numbers."""
    if column.dtype.is_numeric():
        low = high = column.drop_nulls().cast(pl.Float64).to_numpy()
    elif column.dtype == pl.String:
        values, codes = encode_narrowly(column)
        present = values.is_not_null() & (values != STAR)
        ends = [_parse_ends(label) for label in values.filter(present)]
        known_ends = np.array([pair for pair in ends if pair is not None], dtype=np.float64).reshape(-1, 2)
        if len(known_ends) < len(ends):
            return None
        positions = np.cumsum(present.to_numpy()) - 1
        low, high = known_ends[positions[codes[present.to_numpy()[codes]]]].T
    else:
        return None
    if not len(low) or not (np.isfinite(low).all() and np.isfinite(high).all()):
        return None
    whole = bool((low == np.round(low)).all() and (high == np.round(high)).all())
    return NumberCells(low, high, whole, bool((low < high).any()))


def _parse_ends(label: str) -> tuple[float, float] | None:
    return (float(label), float(label)) if _NUMBER.fullmatch(label) else parse_range(label)


def are_digits_codes(hierarchy: Hierarchy | None) -> bool:
    """Whether the digits of a column are a code, such as a postcode: its hierarchy masks some of them."""
    return hierarchy is not None and any(
        STAR in label and label != STAR for row in hierarchy.rows[:1] for label in row[1:]
    )
