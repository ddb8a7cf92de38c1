# SPDX-License-Identifier: MIT
"""Numbers that bound something, in words: a sentence never promises more than is checked.

What is "at least" something is rounded down, what is "at most" something is rounded up.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

_ROUNDINGS = {"at_least": ROUND_FLOOR, "at_most": ROUND_CEILING, "below": ROUND_CEILING}
_MOST_DIGITS, _FEWEST_DIGITS, _CLAIMED_DIGITS = 6, 3, 4
_SMALL = 1e-6
"""Below this, numbers are written with an exponent."""


def format_bound(bound: str, value: float, digits: int = _MOST_DIGITS) -> str:
    """A number that something is at most or at least, never rounded to what does not bound it.

    Counts and the part before the point are written in full, everything else with `digits` significant digits.
    """
    number = round_bound(bound, value, digits)
    if not number.is_finite():
        return str(value)
    if number == int(number):
        return f"{int(number):,}"
    return f"{number.normalize():,f}" if abs(number) >= _SMALL else f"{float(number):.{digits}g}"


def spell_at_least(value: float) -> str:
    """A lower bound as the sentence of a claim spells it, with four digits."""
    return format_bound("at_least", value, _CLAIMED_DIGITS)


def spell_at_most(value: float) -> str:
    """An upper bound as the sentence of a claim spells it, with four digits."""
    return format_bound("at_most", value, _CLAIMED_DIGITS)


def format_measured(bound: str, value: float, threshold: float) -> str:
    """What was measured, to the digits of the promise: so a value within its bound never looks outside of it."""
    promised_digits = len(round_bound(bound, threshold, _MOST_DIGITS).normalize().as_tuple().digits)
    return format_bound(bound, value, max(promised_digits, _FEWEST_DIGITS))


def format_limit(limit: float, percent: bool = False) -> str:
    """A limit with all the digits that it was set with."""
    return _spell_plainly(Decimal(repr(limit)), percent)


def format_against_limit(value: float, limit: float, percent: bool = False) -> str:
    """A measured value with four decimals, or with as many more as show on which side of its limit it is."""
    exact, bound, decimals = Decimal(repr(value)), Decimal(repr(limit)), _CLAIMED_DIGITS
    if not exact.is_finite():
        return str(value)
    number = round(exact, decimals)
    while number != exact and (number > bound) != (exact > bound):
        decimals += 1
        number = round(exact, decimals)
    return _spell_plainly(number, percent)


def _spell_plainly(number: Decimal, percent: bool) -> str:
    plain_number = (number * 100 if percent else number).normalize()
    return f"{plain_number:,f}"


def round_up(value: float, digits: int) -> float:
    """An upper bound with this many significant digits: a privacy budget is never stated smaller than it is."""
    return float(round_bound("at_most", value, digits))


def round_bound(bound: str, value: float, digits: int) -> Decimal:
    """A number with this many digits, still a bound of what it bounds."""
    number = Decimal(value) if isinstance(value, int) else Decimal(f"{value:.15g}")  # 0.30000000000000004 is 0.3
    if not number.is_finite() or number == int(number):
        return number
    unit = Decimal((0, (1,), min(number.adjusted() - digits + 1, 0)))
    return number.quantize(unit, _ROUNDINGS.get(bound, ROUND_HALF_EVEN))
