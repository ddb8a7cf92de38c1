# SPDX-License-Identifier: MIT
"""The simple Bayes estimate of a confidential value from the other columns (Li and Sarkar 2004, equations 10 and 11).

p(y) Π p(x_j | y), normalized, with observed shares and no smoothing, as in the paper. A missing x is its own value;
records whose y is missing are not counted. Probabilities are rounded to multiples of 10⁻¹², so that further sums and
comparisons are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.runtime.progress import report_progress

UNIT = 10**12
"""The integer that represents a probability of 1."""
_CHUNK = 1 << 18


class NumberedColumn(NamedTuple):
    """A column as numbers, a missing value being one of them."""

    codes: Ints
    width: int
    """How many values there are."""


def encode_column(column: pl.Series) -> NumberedColumn:
    """Each cell's value as a number, and the number of values; missing is one of them."""
    if column.dtype == pl.String:
        # A separate vocabulary keeps the numbers small, and needs no sorting of texts.
        codes = column.cast(pl.Categorical(pl.Categories.random())).to_physical().cast(pl.Int64) + 1
    else:
        codes = column.rank("dense").cast(pl.Int64)
    numbers = codes.fill_null(0).to_numpy().astype(np.int64)
    return NumberedColumn(numbers, int(numbers.max(initial=0)) + 1)


def compute_posteriors(columns: Sequence[NumberedColumn], codes: Ints, categories: int, rows: Ints) -> Ints:
    """P(y = k | x) of some rows, for every category, in units; no row may have a missing category."""
    known_mask = codes < categories
    totals = np.bincount(codes[known_mask], minlength=categories).astype(np.float64)
    with np.errstate(divide="ignore"):  # combinations that never occur have probability 0
        prior = np.log(totals / totals.sum())
        tables = [_compute_log_conditionals(column, width, codes, known_mask, totals) for column, width in columns]
    log_chances = np.empty((len(rows), categories), dtype=np.int64)
    for begin in range(0, len(rows), _CHUNK):
        report_progress("estimating posteriors", begin, len(rows))
        chunk_rows = rows[begin : begin + _CHUNK]
        logs = np.broadcast_to(prior, (len(chunk_rows), categories)).copy()
        for (column, _), table in zip(columns, tables, strict=True):
            logs += table[column[chunk_rows]]
        chances = np.exp(logs - logs.max(axis=1, keepdims=True))
        log_chances[begin : begin + _CHUNK] = np.rint(chances / chances.sum(axis=1, keepdims=True) * UNIT)
    return log_chances


def _compute_log_conditionals(column: Ints, width: int, codes: Ints, known_mask: Flags, totals: Floats) -> Floats:
    """The logarithms of p(x | y), one row per value of x."""
    categories = len(totals)
    counts = np.bincount(column[known_mask] * categories + codes[known_mask], minlength=width * categories)
    logs: Floats = np.log(counts.reshape(width, categories) / totals)
    return logs
