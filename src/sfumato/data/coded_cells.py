# SPDX-License-Identifier: MIT
"""The cells of a column as numbers: the place of each value among those that occur."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Ints

_WIDEST = 1 << 16


class CodedCells(NamedTuple):
    """A column as its distinct values, and for each cell the place of its value."""

    values: pl.Series
    """In ascending order, a missing one last."""
    codes: Ints


def encode_cells(column: pl.Series) -> CodedCells:
    """The distinct values of a column, and the place of each cell among them; most kinds without sorting all cells."""
    known = column.drop_nulls() if column.null_count() else column
    values = known.unique().sort()
    if column.dtype == pl.String:
        codes = known.cast(pl.Enum(values)).to_physical().cast(pl.Int64).to_numpy()
    elif (offsets := _count_from_lowest(known)) is not None:
        codes = (np.cumsum(np.bincount(offsets) > 0) - 1)[offsets]
    else:
        codes = (known.rank("dense").cast(pl.Int64) - 1).to_numpy()
    if len(known) == len(column):
        return CodedCells(values, codes)
    every = np.full(len(column), len(values), dtype=np.int64)
    every[column.is_not_null().to_numpy()] = codes
    return CodedCells(pl.concat([values, pl.Series(column.name, [None], dtype=column.dtype)]), every)


def _count_from_lowest(column: pl.Series) -> Ints | None:
    """How far each whole number is above the lowest; None for other kinds, or if they are far apart."""
    low, high = (column.min(), column.max()) if column.dtype.is_integer() else (None, None)
    if not isinstance(low, int) or not isinstance(high, int) or high - low > _WIDEST + len(column) or high >= 1 << 63:
        return None
    return column.to_numpy().astype(np.int64) - low
