# SPDX-License-Identifier: MIT
"""Codes for the values of a column: a function of its own for every piece, and widths that tell nothing.

Codes lie on a grid of at most 2²³ steps, so that they stay apart when a learner rounds them to 32-bit floats. Whole
numbers get whole numbers. How wide a piece becomes is drawn without looking at what it holds, beyond the room that
its values need: a rival's sample of the same data then fits the codes badly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.protect.pieces import Pieces

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Curve = Literal["linear", "polynomial", "log", "sqrt_log"]

CURVES: tuple[Curve, ...] = ("linear", "polynomial", "log", "sqrt_log")
GRID = 2**23
"""Steps of the grid: neighbours among so many stay apart as 32-bit floats."""
_MOST_DECIMALS = 4


@dataclass(frozen=True)
class Bend:
    """An increasing function from [0, 1] onto itself, drawn at random: one curve, or one after another."""

    curves: tuple[tuple[Curve, float, bool], ...]
    """Each with its strength, and whether it is turned around."""

    @classmethod
    def drawn(cls, chance: np.random.Generator, curves: tuple[Curve, ...] = CURVES) -> Bend:
        """One or two curves of random strength."""
        count = int(chance.integers(1, 3))
        return cls(
            tuple(
                (curves[int(chance.integers(len(curves)))], float(chance.uniform(0.5, 4)), bool(chance.integers(2)))
                for _ in range(count)
            )
        )

    def __call__(self, share: Floats) -> Floats:
        """Bend numbers between 0 and 1."""
        for curve, strength, turned in self.curves:
            bent = _bent(1 - share if turned else share, curve, strength)
            share = 1 - bent if turned else bent
        return share


def _bent(share: Floats, curve: Curve, strength: float) -> Floats:
    if curve == "linear":
        return share
    if curve == "polynomial":
        return np.asarray(share ** (1 + strength))
    scale = np.expm1(strength * 1.5)
    rising = np.log1p(scale * share) / np.log1p(scale)
    return np.asarray(rising if curve == "log" else np.sqrt(rising))


@dataclass(frozen=True)
class Codes:
    """The code of each distinct value of a column, in the values' order."""

    steps: Ints
    """Places on the grid."""
    decimals: int
    """A code is its place divided by ten to this power."""

    @property
    def numbers(self) -> Floats:
        """The codes as they are published."""
        return np.asarray(self.steps / 10**self.decimals)


def draw_codes(
    values: Floats,
    pieces: Pieces,
    *,
    rising: bool,
    permute: bool,
    curves: tuple[Curve, ...],
    chance: np.random.Generator,
) -> Codes:
    """Lay the pieces out one after another, each bent or shuffled inside its own stretch of the grid."""
    decimals = _decimals(values)
    widths = _widths(pieces.sizes, values, decimals, chance)
    begin = np.cumsum(np.append(0, widths[:-1] + 1))
    steps = np.empty(len(values), dtype=np.int64)
    for start, end, pure, at, width in zip(pieces.starts, pieces.ends, pieces.pure, begin, widths, strict=True):
        if pure and permute:
            places = chance.choice(width, size=end - start, replace=False)
        else:
            places = _bent_places(values[start:end], int(width), Bend.drawn(chance, curves))
        steps[start:end] = at + places
    total = int(begin[-1] + widths[-1])
    if not rising:
        steps = total - 1 - steps
    return Codes(steps + _offset(values, total, decimals, chance), decimals)


def _bent_places(values: Floats, width: int, bend: Bend) -> Ints:
    """Places in order, bent, each its own."""
    count = len(values)
    spread = values[-1] - values[0]
    share = (values - values[0]) / spread if spread > 0 and np.isfinite(spread) else np.linspace(0, 1, count)
    room = np.arange(count)
    wanted = np.clip(np.rint(bend(share) * (width - 1)).astype(np.int64), room, width - count + room)
    return np.asarray(np.maximum.accumulate(wanted - room) + room)


def _decimals(values: Floats) -> int:
    """Few decimals, as the column has."""
    for decimals in range(_MOST_DECIMALS):
        if bool((np.round(values, decimals) == values).all()):
            return decimals
    return _MOST_DECIMALS


def _widths(sizes: Ints, values: Floats, decimals: int, chance: np.random.Generator) -> Ints:
    """Room for every piece's values, and a random share of what the column's usual width leaves."""
    usual = float(np.clip((values[-1] - values[0]) * 10.0**decimals, 0, GRID))
    need = int(sizes.sum()) + len(sizes)
    total = min(max(int(usual * chance.uniform(0.8, 2.5)), int(need * chance.uniform(2, 4)), 64), GRID // 2)
    spare = max(total - need, 0)
    extra = np.floor(chance.dirichlet(np.full(len(sizes), 0.6)) * spare).astype(np.int64)
    return np.asarray(sizes + extra)


def _offset(values: Floats, total: int, decimals: int, chance: np.random.Generator) -> int:
    """Where the grid begins: near the column's own numbers, never so far off that codes would meet."""
    centre = float(np.clip(values[0] * 10.0**decimals, -(GRID // 4), GRID // 4))
    reach = max(abs(centre), total / 4, 8)
    return int(np.clip(centre + chance.uniform(-0.5, 0.5) * reach, -(GRID // 2), GRID - total - 1))
