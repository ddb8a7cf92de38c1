# SPDX-License-Identifier: MIT
"""Codes for the values of a column: a separate function for every piece, and widths that disclose nothing.

Codes lie on a grid of at most 2²³ steps, so that they stay distinct when a learner rounds them to 32-bit floats. Whole
numbers get whole numbers, and codes have the size and the decimals of the column's own numbers. The width of a piece is
drawn independently of its contents, beyond the space that its values need: a rival's sample of the same data then fits
the codes badly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.protect.codes.column_pieces import ValuePieces

Curve = Literal["linear", "polynomial", "log", "sqrt_log"]

CURVES: tuple[Curve, ...] = ("linear", "polynomial", "log", "sqrt_log")
GRID = 2**23
"""Steps of the grid: this many neighbours stay distinct as 32-bit floats."""
_MOST_DECIMALS = 6
"""Codes that differ by a millionth are still further apart than scikit-learn's tolerance for equality."""
_LEAST_DECIMALS = -31
"""The whole grid, times ten to the 31st, is still a 32-bit float."""
_LEAST_OF_WHOLE = -12
"""The whole grid, times ten to the 12th, is still a 64-bit whole number."""


@dataclass(frozen=True)
class PieceCurves:
    """For each piece an increasing function from [0, 1] onto itself: one curve, or two composed."""

    curves: tuple[Curve, ...]
    curve_indices: Ints
    """Stage × piece: which of the curves; −1 for none."""
    strength: Floats
    turned_mask: Flags
    """Whether a curve is reflected, so that it bends the other way."""

    @classmethod
    def draw(cls, pieces: int, curves: tuple[Curve, ...], chance: np.random.Generator) -> PieceCurves:
        """One or two curves of random strength for each piece."""
        curve_indices = chance.integers(len(curves), size=(2, pieces))
        curve_indices[1, chance.integers(2, size=pieces) == 0] = -1
        return cls(
            curves, curve_indices, chance.uniform(0.5, 4, size=(2, pieces)), chance.integers(2, size=(2, pieces)) > 0
        )

    def bend_shares(self, share: Floats, piece: Ints) -> Floats:
        """Transform numbers between 0 and 1, each by the function of its piece."""
        for stage in range(2):
            turned_mask, strength = self.turned_mask[stage, piece], self.strength[stage, piece]
            start = np.where(turned_mask, 1 - share, share)
            end = start.copy()
            for number, curve in enumerate(self.curves):
                curve_mask = self.curve_indices[stage, piece] == number
                end[curve_mask] = _bend_share(start[curve_mask], curve, strength[curve_mask])
            share = np.where(turned_mask, 1 - end, end)
        return np.clip(share, 0, 1)


def _bend_share(share: Floats, curve: Curve, strength: Floats) -> Floats:
    if curve == "linear":
        return share
    if curve == "polynomial":
        return np.asarray(share ** (1 + strength))
    scale = np.expm1(strength * 1.5)
    log_share = np.log1p(scale * share) / np.log1p(scale)
    return np.asarray(log_share if curve == "log" else np.sqrt(log_share))


@dataclass(frozen=True)
class ValueCodes:
    """The code of each distinct value of a column, in the values' order."""

    steps: Ints
    """Positions on the grid."""
    decimals: int
    """A code is its position divided by ten to this power."""

    @property
    def numbers(self) -> Floats:
        """The published codes."""
        unit = 10.0 ** abs(self.decimals)
        return np.asarray(self.steps / unit if self.decimals >= 0 else self.steps * unit)


def draw_value_codes(
    values: Floats,
    pieces: ValuePieces,
    *,
    is_rising: bool,
    permute: bool,
    curves: tuple[Curve, ...],
    chance: np.random.Generator,
) -> ValueCodes:
    """Lay the pieces out in sequence, each transformed or shuffled inside its own range of the grid."""
    decimals = _choose_code_decimals(values)
    sizes = pieces.sizes
    widths = _draw_widths(sizes, values, decimals, chance)
    begin = np.cumsum(np.append(0, widths[:-1] + 1))
    piece = np.repeat(np.arange(len(sizes)), sizes)
    room = np.arange(len(values)) - pieces.starts[piece]
    shuffled_mask = np.asarray(pieces.pure[piece] & permute)
    target_shares = _place_in_pieces(values, pieces, piece, PieceCurves.draw(len(sizes), curves, chance))
    target_shares[shuffled_mask] = chance.random(int(shuffled_mask.sum()))
    free = widths[piece] - sizes[piece]
    slack = np.clip(
        np.rint(target_shares * (widths[piece] - 1)).astype(np.int64) - np.where(shuffled_mask, 0, room), 0, free
    )
    slack = np.where(shuffled_mask, np.floor(target_shares * (free + 1)).astype(np.int64), slack)
    slack = slack[np.lexsort((slack, piece))]
    steps = np.maximum.accumulate(begin[piece] + slack) + room
    steps = _shuffle_pure_pieces(steps, piece, shuffled_mask, chance)
    total = int(begin[-1] + widths[-1])
    if not is_rising:
        steps = total - 1 - steps
    codes = ValueCodes(steps + _draw_offset(values, total, decimals, chance), decimals)
    while np.array_equal(codes.numbers, values):  # by chance, where there are few: these would be no codes
        codes = ValueCodes(steps + _draw_offset(values, total, decimals, chance), decimals)
    return codes


def _place_in_pieces(values: Floats, pieces: ValuePieces, piece: Ints, bends: PieceCurves) -> Floats:
    """The ideal position of each value in its piece, from 0 to 1: transformed, in order."""
    first, last = values[pieces.starts][piece], values[pieces.ends - 1][piece]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        share = np.where(last > first, (values - first) / (last - first), 0.0)
    return bends.bend_shares(np.clip(share, 0, 1), piece)


def _shuffle_pure_pieces(steps: Ints, piece: Ints, shuffled_mask: Flags, chance: np.random.Generator) -> Ints:
    """Shuffle the values of pure pieces within their piece, uniformly."""
    lot = np.where(shuffled_mask, chance.random(len(steps)), np.arange(len(steps)) / len(steps))
    return np.asarray(steps[np.lexsort((lot, piece))])


def _choose_code_decimals(values: Floats) -> int:
    """As many decimals as the column has, as far as the grid allows; below 0, codes end in zeros."""
    size = float(np.abs(values).max())
    most = int(np.floor(np.log10(GRID / 4 / size))) if size > 0 else _MOST_DECIMALS
    for decimals in range(min(most, _MOST_DECIMALS)):
        if bool((np.round(values, decimals) == values).all()):
            return decimals
    return max(min(most, _MOST_DECIMALS), _LEAST_OF_WHOLE if size < 2.0**64 else _LEAST_DECIMALS)


def _draw_widths(sizes: Ints, values: Floats, decimals: int, chance: np.random.Generator) -> Ints:
    """Space for every piece's values, and a random share of the rest of the column's usual width."""
    usual = float(np.clip((values[-1] - values[0]) * 10.0**decimals, 0, GRID))
    need = int(sizes.sum()) + len(sizes)
    total = min(max(int(usual * chance.uniform(0.8, 2.5)), int(need * chance.uniform(2, 4)), 64), GRID // 2)
    spare = max(total - need, 0)
    extra = np.floor(chance.dirichlet(np.full(len(sizes), 0.6)) * spare).astype(np.int64)
    return np.asarray(sizes + extra)


def _draw_offset(values: Floats, total: int, decimals: int, chance: np.random.Generator) -> int:
    """The start of the grid: near the column's own numbers, never so far off that codes would collide."""
    centre = float(np.clip(values[0] * 10.0**decimals, -(GRID // 4), GRID // 4))
    reach = max(abs(centre), total / 4, 8)
    least = 0 if values[0] >= 0 else -(GRID // 2)  # a column without negative numbers gets none
    return int(np.clip(centre + chance.uniform(-0.5, 0.5) * reach, least, GRID - total - 1))
