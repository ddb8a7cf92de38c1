# SPDX-License-Identifier: MIT
"""A column of codes beside the truth: what an adversary wants to crack, and whether a guess is a crack.

A guess for a code is a crack if it lies within a radius of the true value, a share of the column's dynamic range (seed
004, Definition 1). Where the rows of one code have several true values, as in noise, it must be so for all of them.
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
    """The distinct codes of a column in order, and what is true of the rows of each."""

    name: str
    codes: Floats
    low: Floats
    """The least true value among the rows of a code."""
    high: Floats
    """The greatest; the same as the least, if codes stand for values."""
    rows: Ints
    """How many rows have a code."""
    place: Ints
    """The number of each row's code, −1 where it is missing."""
    domain: Floats
    """The distinct true values in order."""
    domain_rows: Ints
    """How many rows have each."""

    @classmethod
    def of(cls, name: str, codes: pl.Series, truth: pl.Series) -> CodedColumn:
        """Put a published column beside the true one, row by row."""
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
        """How many codes would be cracked by guesses drawn evenly from the dynamic range."""
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
        raise DataError("the release has another number of rows than the truth, and does not say which row is which")
    true = truth.frame if rows is None else truth.frame[np.asarray(rows)]
    both = [
        name
        for name, kind in published.frame.schema.items()
        if is_learnable_type(kind) and name in true.columns and is_learnable_type(true[name].dtype)
    ]
    if column is not None and column not in both:
        raise PolicyError(f'"{column}" is no column of numbers that the release and the truth share')
    if not both:
        raise PolicyError("the release and the truth share no column of numbers")
    return tuple(
        CodedColumn.of(name, published.frame[name], true[name]) for name in ([column] if column is not None else both)
    )
