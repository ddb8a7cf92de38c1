# SPDX-License-Identifier: MIT
"""Families of distributions, and the member of a family that fits what an adversary knows.

Each family is a standard quantile function, moved and stretched; of numbers, or of their logarithms. Location and scale
are fitted by least squares to knowledge points, whose shares of rows below them everybody can count in the codes. Bu et
al. (2007), Section 3.3: the distribution is known, "even though the parameters may not be known exactly".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from sfumato.arrays import Floats

Family = Literal["gaussian", "uniform", "exponential", "lognormal", "zipf"]
_SMALLEST = 1e-9
"""Where logarithms are taken, values below this share of the largest count as that."""


class QuantileFamily(NamedTuple):
    """The quantiles of the standard member, and whether they are those of logarithms."""

    quantiles: Callable[[Floats], Floats]
    logarithmic: bool


def _invert_gaussian(shares: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(shares))


def _invert_exponential(shares: Floats) -> Floats:
    return np.asarray(-np.log1p(-shares))


FAMILIES: dict[Family, QuantileFamily] = {
    "gaussian": QuantileFamily(_invert_gaussian, logarithmic=False),
    "uniform": QuantileFamily(np.asarray, logarithmic=False),
    "exponential": QuantileFamily(_invert_exponential, logarithmic=False),
    "lognormal": QuantileFamily(_invert_gaussian, logarithmic=True),
    # Zipf's law for amounts (Pareto): the share of amounts above x falls as a power of x.
    "zipf": QuantileFamily(_invert_exponential, logarithmic=True),
}


def guess_by_family(family: Family, shares: Floats, known_shares: Floats, known_values: Floats) -> Floats:
    """The value at each share of rows, a row for each trial, by the member that fits the known points of the trial."""
    quantiles, logarithmic = FAMILIES[family]
    x, y = quantiles(known_shares), known_values
    if logarithmic:
        least = _SMALLEST * np.maximum(np.abs(y).max(axis=1, keepdims=True), np.finfo(np.float64).tiny / _SMALLEST)
        y = np.log(np.maximum(y, least))
    centre, level = x.mean(axis=1, keepdims=True), y.mean(axis=1, keepdims=True)
    spread = ((x - centre) ** 2).sum(axis=1, keepdims=True)
    slope = ((x - centre) * (y - level)).sum(axis=1, keepdims=True) / np.where(spread > 0, spread, 1.0)
    guesses = level + slope * (quantiles(shares) - centre)
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(guesses) if logarithmic else guesses)
