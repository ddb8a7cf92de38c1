# SPDX-License-Identifier: MIT
"""How much noise a privacy level asks for: intervals that are wide enough, correlated noise that is large enough.

Agrawal and Srikant's level is the width of the interval that a value is told to lie in with a confidence; whole numbers
are as wide as they are many.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.errors import ImpossibleRelease
from sfumato.mine.noises import Noise
from sfumato.protect.noise_columns import Floats, Ints, NumberColumn

ALARM = 1e-6
"""How seldom an honest release may fail a claim by chance."""


def intervals_for(column: NumberColumn, width: float, confidence: float) -> Noise:
    """The narrowest equal intervals over the range of which every one, cut by the range, tells no less than `width`.

    A last interval that is cut short by the end of the range would tell more. So intervals are widened until a whole
    number of them fills it; for whole numbers, until the last one has enough.
    """
    least = width / confidence
    if column.whole is None:
        count = max(1, int(column.span / least + 1e-9))
        scale = max(column.span / count, least)
        return Noise(kind="discretize", scale=scale, origin=column.low - (count * scale - column.span) / 2)
    enough, numbers = int(np.ceil(least - 1e-9)), int(column.span) + 1
    for count in range(max(1, numbers // enough), 0, -1):
        size = max(-(-numbers // count), enough)
        if count == 1 or numbers - (count - 1) * size >= enough:
            break
    # One interval that is wider than the range stands around its middle.
    origin = column.low - (count * size - numbers) // 2 if count == 1 else column.low
    return Noise(kind="discretize", scale=float(size), step=1.0, origin=origin)


def middles(column: NumberColumn, noise: Noise) -> Floats | Ints:
    """The middle of each value's interval; of an even number of whole numbers, the lower one."""
    if column.whole is not None:
        origin, size = int(noise.origin), int(noise.scale)
        return np.asarray(origin + (column.whole - origin) // size * size + (size - 1) // 2)
    count = max(1, round(column.span / noise.scale))
    places = np.clip(np.floor((column.numbers - noise.origin) / noise.scale), 0, count - 1)
    return np.asarray(noise.origin + (places + 0.5) * noise.scale)


def like_the_data(spread: Floats, widths: Sequence[float], confidence: float) -> float:
    """c, the least by which the data's deviations are multiplied so that every column has its level."""
    noises = [Noise.for_privacy("gaussian", width, confidence) for width in widths]
    ratios = [noise.scale / np.sqrt(spread[at, at]) for at, noise in enumerate(noises)]
    if not np.isfinite(ratios).all():
        raise ImpossibleRelease("some columns vary so little that noise shaped like them would be none")
    return float(max(ratios))


def refuse_unseen(column: NumberColumn, noise: Noise, confidence: float, least: float = 0.0) -> Noise:
    """Noise that rounding to whole numbers would take off again, or whose shape it would change."""
    if noise.step and (noise.interval(confidence) <= noise.step or noise.scale < least * noise.step):
        enough = max(1.0, least * noise.interval(confidence) / noise.scale) * noise.step / column.span
        raise ImpossibleRelease(
            f"«{column.name}» is whole numbers, and rounding to them would take so little noise off again; ask for a "
            f"privacy above {enough:.3g}"
        )
    return noise


def draw_together(spread: Floats, count: int, chance: np.random.Generator) -> Floats:
    """Gaussian noise of a covariance, also where some columns follow from others: one row a column."""
    sizes, directions = np.linalg.eigh(spread)
    shaped = directions * np.sqrt(np.clip(sizes, 0.0, None))
    return np.asarray(shaped @ chance.standard_normal((len(spread), count)))


def least_level(kind: str, confidence: float, count: int) -> float:
    """The share of its level below which the interval of `count` differences falls less than once in a million.

    The narrowest interval that holds a share c of the differences is narrower than t times the level only if, of some
    difference, c · count − 1 of the others lie within so much above it; each does with a probability that is largest in
    the middle of the noise. So t comes from a binomial tail, for all differences together.
    """
    from scipy.special import bdtrc

    needed = int(np.ceil(confidence * count - 1e-9)) - 1
    if count < 2 or needed < 1:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2
        within = _within(kind, confidence, share)
        rare = count * float(bdtrc(needed - 1, count - 1, within)) <= ALARM
        low, high = (share, high) if rare else (low, share)
    return low


def _within(kind: str, confidence: float, share: float) -> float:
    """The probability that noise lies in the best interval of a share of its level's width."""
    if kind == "uniform":
        return share * confidence
    from statistics import NormalDist

    normal = NormalDist()
    return 2 * normal.cdf(share * normal.inv_cdf((1 + confidence) / 2)) - 1
