# SPDX-License-Identifier: MIT
"""A column of codes with the truth: what an adversary wants to crack, and whether a guess is a crack.

A guess for a code is a crack if it lies within a radius of the true value, a share of the column's dynamic range (Bu et
al. 2007, Definition 1). If the rows of one code have several true values, as with noise, this must hold for all of
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.errors import DataError, PolicyError
from sfumato.mine.codes.learner_columns import is_learnable_type
from sfumato.table import Table

_MOST_DECIMALS = 9


@dataclass(frozen=True)
class CodedColumn:
    """The distinct codes of a column in order, and the true values of each code's rows."""

    name: str
    codes: Floats
    low: Floats
    """The smallest true value among the rows of a code."""
    high: Floats
    """The largest; equal to the smallest if codes stand for values."""
    rows: Ints
    """The number of rows of each code."""
    place: Ints
    """The index of each row's code, −1 where it is missing."""
    domain: Floats
    """The distinct true values in order."""
    domain_rows: Ints
    """The number of rows of each."""

    @classmethod
    def of(cls, name: str, codes: pl.Series, truth: pl.Series) -> CodedColumn:
        """Pair a published column with the true one, row by row."""
        seen, true = (column.cast(pl.Float64).to_numpy().astype(np.float64) for column in (codes, truth))
        known = ~np.isnan(seen) & ~np.isnan(true)
        if not known.any():
            raise DataError(f'"{name}" has no row in which both the code and the true value are known')
        distinct, code_index = np.unique(seen[known], return_inverse=True)
        places = np.full(len(seen), -1, dtype=np.int64)
        places[known] = code_index
        low, high = np.full(len(distinct), np.inf), np.full(len(distinct), -np.inf)
        np.minimum.at(low, code_index, true[known])
        np.maximum.at(high, code_index, true[known])
        domain, times = np.unique(true[known], return_counts=True)
        return cls(name, distinct, low, high, np.bincount(code_index), places, domain, times)

    @property
    def width(self) -> float:
        """The width of the dynamic range."""
        return float(self.domain[-1] - self.domain[0])

    def cracked(self, guesses: Floats, radius: float) -> Flags:
        """Which guesses, one for each code (and for each trial), are cracks; the radius is a share of the range."""
        reach = radius * self.width * (1 + 1e-12)
        return np.asarray((guesses - reach <= self.low) & (self.high <= guesses + reach))

    def by_chance(self, radius: float) -> float:
        """How many codes would be cracked by guesses drawn uniformly from the dynamic range."""
        if not self.width:
            return float(len(self.codes))
        reach, first, last = radius * self.width, self.domain[0], self.domain[-1]
        begin = np.maximum(self.high - reach, first)
        return float(np.maximum(np.minimum(self.low + reach, last) - begin, 0).sum() / self.width)

    @cached_property
    def middle(self) -> Floats:
        """For each code, the share of rows below it, with half of its own."""
        return compute_shares_below(self.rows)

    @cached_property
    def unit(self) -> float:
        """The step of the column's domain: 1 for whole numbers, 0.01 for two decimals."""
        return find_unit(self.domain)


def compute_shares_below(rows: Ints) -> Floats:
    """The share of rows before each of some ordered groups, with half of its own rows."""
    return np.asarray((np.cumsum(rows) - rows / 2) / rows.sum())


def find_unit(values: Floats) -> float:
    """The power of ten that all values are multiples of."""
    for decimals in range(_MOST_DECIMALS):
        if bool((np.round(values, decimals) == values).all()):
            return float(10.0**-decimals)
    return float(10.0**-_MOST_DECIMALS)


def list_coded_columns(
    published: Table, truth: Table, details: Mapping[str, Any], column: str | None = None
) -> tuple[CodedColumn, ...]:
    """The columns of numbers that a release and the truth share, or one of them."""
    rows = details.get("rows")
    if rows is None and len(published) != len(truth):
        raise DataError(
            "the release and the truth differ in their number of rows, and the release does not map its rows"
        )
    true = truth.frame if rows is None else truth.frame[np.asarray(rows)]
    both = [
        name
        for name, kind in published.frame.schema.items()
        if is_learnable_type(kind) and name in true.columns and is_learnable_type(true[name].dtype)
    ]
    if column is not None and column not in both:
        raise PolicyError(f'"{column}" is not a column of numbers in both the release and the truth')
    if not both:
        raise PolicyError("the release and the truth share no column of numbers")
    return tuple(
        CodedColumn.of(name, published.frame[name], true[name]) for name in ([column] if column is not None else both)
    )
