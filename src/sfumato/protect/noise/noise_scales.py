# SPDX-License-Identifier: MIT
"""How much noise a privacy level requires: wide enough intervals, large enough correlated noise.

Agrawal and Srikant's level is the width of the interval that contains a value with a given confidence; the width of a
set of whole numbers is their count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.errors import ImpossibleRelease
from sfumato.protect.noise.noise_columns import LARGE, NumberColumn
from sfumato.public.noise_law import Noise

ALARM = 1e-6
"""How rarely an honest release may fail a claim by chance."""
_LEAST = {"uniform": 1.0, "gaussian": 0.75, "discretize": 2.0}
"""The smallest scale, in steps, that rounding to whole numbers leaves: half of the cells change, intervals hold two."""
_REACH = {"uniform": 1.0, "gaussian": 8.0}
"""How many scales noise can move a value; Gaussian noise exceeds it once in 10¹⁵ cells."""
_GRAIN = 2.0**14
"""Noise must be this many times the rounding error of floating-point numbers, or it would not be the stated noise."""
_FINE = 1e-6
"""The grid of published numbers, as a share of the noise's scale: too fine to affect any estimate."""


def choose_width(column: NumberColumn, privacy: float) -> float:
    """The share of the range, clipped to what can be computed; values far inside those ends are already refused."""
    return min(max(privacy, 1e-30) * column.width, 1e200)


def choose_intervals(column: NumberColumn, width: float, confidence: float) -> Noise:
    """The narrowest equal intervals over the range such that each, cut by the range, is at least `width` wide.

    A last interval cut short by the end of the range would disclose more. So intervals are widened until a whole number
    of them fills it; for whole numbers, until the last one has enough, and at least two. If the requested width exceeds
    the confidence's share of the range, a single interval over the whole range is the best possible.
    """
    least = width / confidence
    if least > (LARGE if column.whole is None else 2.0**53):
        raise ImpossibleRelease(f'"{column.name}": intervals would be too wide to represent; lower `privacy`')
    if column.whole is None:
        count = max(1, int(column.span / least + 1e-9))
        scale = max(column.span / count, least)
        noise = Noise(kind="discretize", scale=scale, origin=column.low - (count * scale - column.span) / 2)
        return require_noise_above_rounding(column, noise)
    least_size, numbers = max(2, int(np.ceil(least - 1e-9))), int(column.span) + 1
    for count in range(max(1, numbers // least_size), 0, -1):
        size = max(-(-numbers // count), least_size)
        if count == 1 or numbers - (count - 1) * size >= least_size:
            break
    # A single interval wider than the range is centred on it.
    origin = column.low - (count * size - numbers) // 2 if count == 1 else column.low
    return Noise(kind="discretize", scale=float(size), step=1.0, origin=origin)


def compute_interval_middles(column: NumberColumn, noise: Noise) -> Floats | Ints:
    """The midpoint of each value's interval; of an even number of whole numbers, the lower one."""
    if column.whole is not None:
        origin, size = int(noise.origin), int(noise.scale)
        return np.asarray(origin + (column.whole - origin) // size * size + (size - 1) // 2)
    count = max(1, round(column.span / noise.scale))
    if count == 1:  # the interval may be far wider than the range, with rounded ends
        return np.full(len(column.numbers), column.low + column.span / 2)
    places = np.clip(np.floor((column.numbers - noise.origin) / noise.scale), 0, count - 1)
    return np.asarray(noise.origin + (places + 0.5) * noise.scale)


def choose_noise(column: NumberColumn, kind: Literal["uniform", "gaussian"], width: float, confidence: float) -> Noise:
    """Noise under which a value is known only to within `width`; for whole numbers, at least what rounding leaves."""
    requested_noise = Noise.of_privacy(kind, width, confidence, column.step)
    return require_room(
        column, requested_noise.model_copy(update={"scale": max(requested_noise.scale, _LEAST[kind] * column.step)})
    )


def choose_grid(column: NumberColumn, noise: Noise) -> float:
    """The step of the published grid: a power of ten, or of two if stored digits are too few.

    It is computed from the noise and the range alone, which are public, never from the digits of the data.
    """
    if column.step:
        return column.step
    least = 2 * column.measure_grain(_REACH[noise.kind] * noise.scale)
    fine = float(f"1e{int(np.floor(np.log10(_FINE * noise.scale)))}")
    return fine if fine >= least else float(2.0 ** np.ceil(np.log2(least)))


def scale_like_data(spread: Floats, columns: Sequence[NumberColumn], privacy: float, confidence: float) -> float:
    """c, the smallest factor on the data's deviations that gives every column its level."""
    noises = [choose_noise(column, "gaussian", choose_width(column, privacy), confidence) for column in columns]
    ratios = [noise.scale / np.sqrt(spread[index, index]) for index, noise in enumerate(noises)]
    if not np.isfinite(ratios).all():
        raise ImpossibleRelease("some columns vary so little that noise shaped like them would be zero")
    return float(max(ratios))


def require_room(column: NumberColumn, noise: Noise, grid: float | None = None) -> Noise:
    """The noise with its grid, if it neither moves values where they cannot be stored nor is lost in rounding."""
    reach = _REACH[noise.kind] * noise.scale
    column.refuse_beyond(reach)
    checked_noise = require_noise_above_rounding(column, noise)
    if grid is not None and grid < column.measure_grain(reach):
        raise ImpossibleRelease(
            f'"{column.name}": noise shaped like the data is so much larger than its level requires that numbers could '
            "not be stored; name columns that vary equally relative to their ranges"
        )
    return checked_noise.model_copy(update={"grid": choose_grid(column, checked_noise) if grid is None else grid})


def require_noise_above_rounding(column: NumberColumn, noise: Noise) -> Noise:
    """The noise, if it exceeds the rounding error of stored numbers."""
    if not column.step and noise.scale < _GRAIN * column.grain:
        raise ImpossibleRelease(
            f'"{column.name}": the column has too few digits: noise this small would be rounded away; '
            "raise `privacy`, or subtract a common offset from all of them"
        )
    return noise


def compute_achieved_level(column: NumberColumn, noise: Noise, privacy: float, confidence: float) -> float:
    """The level that the noise gives. Whole numbers may get more than requested; for a range taken from the data, the
    excess would disclose its width. Intervals are cut by the range, which is public, so with a given confidence at most
    that share of the range stays uncertain."""
    if noise.kind == "discretize":
        return min(privacy, confidence)
    return max(privacy, noise.interval(confidence) / column.width) if column.has_given_range else privacy


def compute_noise_deviation(noise: Noise) -> float:
    """The deviation of the noise after rounding."""
    if not noise.step or noise.scale > 100:
        return float(np.sqrt(noise.variance + noise.step**2 / 12))
    steps = np.arange(-1_000.0, 1_001.0)
    shares = noise.cumulate((steps + 0.5) * noise.step) - noise.cumulate((steps - 0.5) * noise.step)
    return float(noise.step * np.sqrt(shares @ steps**2))


def bound_unchanged(column: NumberColumn, noise: Noise, chance: float) -> int:
    """How many values noise may leave unchanged before that is rarer than `chance`."""
    from scipy.special import bdtrc

    count, half = column.count, (noise.step or noise.grid) / 2
    stay_probability = float(noise.cumulate(np.array([half]))[0] - noise.cumulate(np.array([-half]))[0])
    low, high = -1, count  # more than `low` is likelier than that, more than `high` is not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bdtrc(middle, count, stay_probability) <= chance else (middle, high)
    return high


def draw_correlated_noise(spread: Floats, count: int, chance: np.random.Generator) -> Floats:
    """Gaussian noise of a covariance, also if some columns depend on others: one row per column."""
    # Use correlations: next to a column of large numbers, one of small ones would be lost in rounding.
    deviations = np.sqrt(np.diag(spread))
    sizes, directions = np.linalg.eigh(spread / np.outer(deviations, deviations))
    shape_matrix = deviations[:, None] * directions * np.sqrt(np.clip(sizes, 0.0, None))
    return np.asarray(shape_matrix @ chance.standard_normal((len(spread), count)))


def round_up_to_digits(times: float) -> float:
    """The smallest number of two digits that is not below another."""
    unit = 10.0 ** (np.floor(np.log10(times)) - 1)
    return float(f"{np.ceil(times / unit - 1e-9) * unit:.2g}")


def estimate_shape(published_columns: Sequence[pl.Series], times: float, least: Sequence[float]) -> Floats:
    """The covariance of noise that is `times` the data's, from the noisy columns alone; no scale is below its
    minimum."""
    numbers = np.array([column.to_physical().cast(pl.Float64).to_numpy() for column in published_columns])
    published_covariance = np.atleast_2d(np.cov(numbers[:, np.isfinite(numbers).all(axis=0)], bias=True))
    fine = np.array([0.0 if column.dtype.is_float() else 1 / 12 for column in published_columns])
    variances = np.diag(published_covariance)
    scales = np.sqrt(np.maximum((variances - fine) * times / (1 + times), np.square(least)))
    deviation_products = np.outer(np.sqrt(variances), np.sqrt(variances))
    alike = np.divide(
        published_covariance, deviation_products, out=np.eye(len(variances)), where=deviation_products > 0
    )
    np.fill_diagonal(alike, 1.0)
    return np.asarray(alike * np.outer(scales, scales))


def fill_digits(noise: Floats, scale: float, step: float, chance: np.random.Generator) -> Floats | Ints:
    """Noise on whole numbers with all its digits: floats have none below a share of 2⁻⁵² of the scale.

    Noise of 10¹⁷ would be a multiple of 16, and the release would disclose everybody's remainder. So digits below a
    share of 2⁻²⁴ are drawn separately and uniformly; if the scale is less than 2²⁴ there are none.
    """
    unit = count_low_digits(scale, step)
    if unit == 1:
        return noise
    coarse = np.rint(noise / unit).astype(np.int64) * unit
    return np.asarray(coarse + chance.integers(-(unit // 2), unit // 2, len(noise)))


def count_low_digits(scale: float, step: float) -> int:
    """How many whole numbers a step of noise spans whose digits float noise lacks: a power of two; 1 if it has all."""
    return 2 ** max(0, int(np.ceil(np.log2(scale))) - 24) if step else 1


def compute_least_level(kind: str, confidence: float, count: int, chance: float = ALARM) -> float:
    """The share of its level below which the interval of `count` differences falls with probability below `chance`.

    The narrowest interval that holds a share c of the differences is narrower than t times the level only if, for some
    difference, c · count − 1 of the others lie within that distance above it; each does with a probability that is
    largest in the middle of the noise. So t comes from a binomial tail, for all differences together.
    """
    from scipy.special import bdtrc

    needed_count = int(np.ceil(confidence * count - 1e-9)) - 1
    if count < 2 or needed_count < 1:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2
        near_probability = _compute_chance_within(kind, confidence, share)
        rare = count * float(bdtrc(needed_count - 1, count - 1, near_probability)) <= chance
        low, high = (share, high) if rare else (low, share)
    return low


def _compute_chance_within(kind: str, confidence: float, share: float) -> float:
    """The probability that noise lies in the best interval of a share of its level's width."""
    if kind == "uniform":
        return share * confidence
    from statistics import NormalDist

    normal = NormalDist()
    return 2 * normal.cdf(share * normal.inv_cdf((1 + confidence) / 2)) - 1
