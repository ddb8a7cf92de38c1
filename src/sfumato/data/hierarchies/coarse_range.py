# SPDX-License-Identifier: MIT
"""Ranges that may be published: they contain the data, and disclose its ends only on a coarse grid.

The minimum and the maximum of a column are someone's values. A range that the custodian does not give is therefore
widened outward to multiples of a 1-2-5 number that is a tenth of the data's range or more.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log10
from typing import NamedTuple

_PARTS = 10
"""The most grid cells within the data's range if it is widened."""
_FINE_PARTS = 100
"""The same if it is narrowed, which cuts something off."""


class CoarseRange(NamedTuple):
    """The ends of a range on a coarse grid, exact: as floats they lie on the same side of the data."""

    low: Fraction
    high: Fraction


def widen_range(low: float, high: float, *, whole: bool) -> CoarseRange:
    """The narrowest range of grid points around `low` and `high`; of whole numbers at most every second is one.

    Exact fractions, so that rounding never cuts the data off.
    """
    unit = _round_up_to_grid((Fraction(high) - Fraction(low)) / _PARTS)
    if whole:
        unit = max(Fraction(2), Fraction(ceil(unit)))
    return CoarseRange(floor(Fraction(low) / unit) * unit, ceil(Fraction(high) / unit) * unit)


def narrow_range(low: float, high: float, *, whole: bool) -> CoarseRange:
    """The widest range of grid points between `low` and `high`."""
    unit = _round_up_to_grid((Fraction(high) - Fraction(low)) / _FINE_PARTS)
    if whole:
        unit = max(Fraction(2), Fraction(ceil(unit)))
    return CoarseRange(ceil(Fraction(low) / unit) * unit, floor(Fraction(high) / unit) * unit)


def round_to_fine_grid(number: float, low: float, high: float, *, whole: bool) -> float:
    """The nearest multiple of a 1-2-5 number that is a hundredth of a range, or more; of a half, the even one."""
    unit = _round_up_to_grid((Fraction(high) - Fraction(low)) / _FINE_PARTS)
    if whole:
        unit = Fraction(ceil(unit))
    return float(round(Fraction(number) / unit) * unit)


def _round_up_to_grid(least: Fraction) -> Fraction:
    """The smallest of …, 0.1, 0.2, 0.5, 1, 2, 5, … that is at least this large."""
    power = floor(log10(float(least))) - 1
    while True:
        for digit in (1, 2, 5):
            unit = digit * Fraction(10) ** power
            if unit >= least:
                return unit
        power += 1
