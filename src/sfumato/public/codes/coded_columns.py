# SPDX-License-Identifier: MIT
"""A column of codes with the truth: what an adversary wants to crack, and whether a guess is a crack.

A guess for a code is a crack if it lies within a radius of the true value, a share of the column's dynamic range (Bu et
al. 2007, Definition 1). If the rows of one code have several true values, as with noise, this must hold for all of
them. A person's value is read if the guess for the code is within the radius of that person's own value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.details import Details
from sfumato.errors import DataError, PolicyError
from sfumato.public.codes.learner_columns import is_learnable_type
from sfumato.table import Table

_MOST_DECIMALS = 9


@dataclass(frozen=True)
class CodePairs:
    """The pairs of a code and a true value that occur."""

    code: Ints
    """The index of the code."""
    value: Floats
    rows: Ints
    """How many rows have the pair."""


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
    code_index: Ints
    """The index of each row's code, −1 where it is missing."""
    domain: Floats
    """The distinct true values in order."""
    domain_rows: Ints
    """The number of rows of each."""
    several: CodePairs | None = None
    """What rows hold if a code has several true values."""

    @classmethod
    def of(cls, name: str, codes: pl.Series, truth: pl.Series) -> CodedColumn:
        """Pair a published column with the true one, row by row."""
        code_numbers, true = (column.cast(pl.Float64).to_numpy().astype(np.float64) for column in (codes, truth))
        known_mask = ~np.isnan(code_numbers) & ~np.isnan(true)
        if not known_mask.any():
            raise DataError(f'"{name}" has no row in which both the code and the true value are known')
        distinct, code_index = np.unique(code_numbers[known_mask], return_inverse=True)
        places = np.full(len(code_numbers), -1, dtype=np.int64)
        places[known_mask] = code_index
        low, high = np.full(len(distinct), np.inf), np.full(len(distinct), -np.inf)
        np.minimum.at(low, code_index, true[known_mask])
        np.maximum.at(high, code_index, true[known_mask])
        domain, times = np.unique(true[known_mask], return_counts=True)
        pairs = None if (low == high).all() else _count_code_pairs(code_index, true[known_mask])
        return cls(name, distinct, low, high, np.bincount(code_index), places, domain, times, pairs)

    @property
    def width(self) -> float:
        """The width of the dynamic range."""
        return float(self.domain[-1] - self.domain[0])

    def flag_cracks(self, guesses: Floats, radius: float) -> Flags:
        """Which guesses, one for each code (and for each trial), are cracks; the radius is a share of the range."""
        reach = radius * self.width * (1 + 1e-12)
        return np.asarray((guesses - reach <= self.low) & (self.high <= guesses + reach))

    @cached_property
    def pairs(self) -> CodePairs:
        """The pairs of a code and a true value that occur."""
        return self.several or CodePairs(np.arange(len(self.codes)), self.low, self.rows)

    @property
    def people(self) -> int:
        """How many rows have a code."""
        return int(self.rows.sum())

    def count_read(self, guesses: Floats, radius: float) -> Floats:
        """How many people's values a guess for each code reads, for each trial."""
        return np.asarray(self.flag_read(guesses, radius) @ self.pairs.rows, dtype=np.float64)

    def flag_read(self, guesses: Floats, radius: float) -> Flags:
        """Which pairs' values a guess for each code reads, for each trial; the radius is a share of the range."""
        reach = radius * self.width * (1 + 1e-12)
        value = guesses[..., self.pairs.code]
        return np.asarray((value - reach <= self.pairs.value) & (self.pairs.value <= value + reach))

    def find_common_value(self, radius: float) -> float:
        """The value that most people's true values are within the radius of."""
        reach = radius * self.width * (1 + 1e-12)
        row_sums = np.concatenate([[0], np.cumsum(self.domain_rows)])
        # A window that holds most people can begin at someone's value.
        ends = np.searchsorted(self.domain, self.domain + 2 * reach, side="right")
        first = int((row_sums[ends] - row_sums[:-1]).argmax())
        return float((self.domain[first] + self.domain[ends[first] - 1]) / 2)

    @cached_property
    def middle(self) -> Floats:
        """For each code, the share of rows below it, with half of its own."""
        return compute_shares_below(self.rows)

    def negate(self) -> CodedColumn:
        """The same codes with their signs changed: they fall where they rose."""
        return replace(self, codes=-self.codes[::-1], low=self.low[::-1], high=self.high[::-1], rows=self.rows[::-1])

    @cached_property
    def unit(self) -> float:
        """The step of the column's domain: 1 for whole numbers, 0.01 for two decimals."""
        return find_unit(self.domain)


def _count_code_pairs(code_index: Ints, values: Floats) -> CodePairs:
    order = np.lexsort((values, code_index))
    code, value = code_index[order], values[order]
    first = np.flatnonzero(np.append(True, (np.diff(code) != 0) | (np.diff(value) != 0)))
    return CodePairs(code[first], value[first], np.diff(np.append(first, len(code))))


def compute_shares_below(rows: Ints) -> Floats:
    """The share of rows before each of some ordered groups, with half of its own rows."""
    return np.asarray((np.cumsum(rows) - rows / 2) / rows.sum())


def find_unit(values: Floats) -> float:
    """The power of ten that all values are multiples of."""
    for decimals in range(_MOST_DECIMALS):
        if bool((np.round(values, decimals) == values).all()):
            return float(10.0**-decimals)
    return float(10.0**-_MOST_DECIMALS)


def pair_coded_columns(
    published_table: Table, truth: Table, details: Details, column: str | None = None
) -> tuple[CodedColumn, ...]:
    """The columns of numbers that a release and the truth share, or one of them."""
    rows = details.rows
    if rows is None and len(published_table) != len(truth):
        raise DataError(
            "the release and the truth differ in their number of rows, and the release does not map its rows"
        )
    true = truth.frame if rows is None else truth.frame[np.asarray(rows)]
    common_names = [
        name
        for name, kind in published_table.frame.schema.items()
        if is_learnable_type(kind) and name in true.columns and is_learnable_type(true[name].dtype)
    ]
    if column is not None and column not in common_names:
        raise PolicyError(f'"{column}" is not a column of numbers in both the release and the truth')
    if not common_names:
        raise PolicyError("the release and the truth share no column of numbers")
    return tuple(
        CodedColumn.of(name, published_table.frame[name], true[name])
        for name in ([column] if column is not None else common_names)
    )
