# SPDX-License-Identifier: MIT
"""Where the ticks of an axis stand, and how they are written."""

from __future__ import annotations

from math import ceil, floor, log10

from sfumato.report.words.wording import NBSP

_ROUND = ((50**0.5, 10), (10**0.5, 5), (2**0.5, 2))
_PREFIXES = ("", "k", "M", "G", "T", "P")


def choose_ticks(low: float, high: float, count: int) -> list[float]:
    """About this many round numbers from low to high: multiples of 1, 2 or 5 times a power of ten."""
    step, power = _choose_step(low, high, count)
    if power >= 0:
        unit = float(step * 10**power)
        return [number * unit for number in range(ceil(low / unit), floor(high / unit) + 1)]
    parts = 10**-power  # dividing gives the nearest number to a decimal, multiplying by 0.1 does not
    return [number * step / parts for number in range(ceil(low * parts / step), floor(high * parts / step) + 1)]


def round_up_end(high: float, count: int = 10) -> float:
    """The next round number at or above the end of a scale that begins at 0."""
    step, power = _choose_step(0, high, count)
    unit = step * 10.0**power
    return ceil(high / unit - 1e-9) * unit


def _choose_step(low: float, high: float, count: int) -> tuple[int, int]:
    """The distance of ticks as a factor of 1, 2, 5 or 10 and a power of ten."""
    rough = (high - low) / count
    power = floor(log10(rough))
    return next((factor for least, factor in _ROUND if rough / 10.0**power >= least), 1), power


def list_decades(low: float, high: float) -> list[float]:
    """The powers of ten around a span of positive numbers."""
    return [10.0**power for power in range(floor(log10(low)), ceil(log10(high)) + 1)]


def format_tick(number: float, most: float) -> str:
    """Years without a separator, large numbers with one, very large ones as 2M."""
    if most < 10_000:
        return f"{number:.12g}".replace("-", "−")
    if most < 1_000_000:
        whole = number == int(number)
        return (f"{int(number):,}" if whole else f"{number:,.12g}").replace("-", "−")
    thousands = min(max(floor(log10(abs(number)) / 3), 0), len(_PREFIXES) - 1) if number else 0
    return f"{number / 1000.0**thousands:.12g}{_PREFIXES[thousands]}".replace("-", "−")


def format_share(share: float, digits: int = 2) -> str:
    """A share as a percentage of this many significant digits."""
    return f"{float(f'{100 * share:.{digits}g}'):.12g}{NBSP}%"
