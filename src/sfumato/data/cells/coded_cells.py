# SPDX-License-Identifier: MIT
"""The cells of a column as numbers: the place of each value among those that occur."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints, Places
from sfumato.data.cells.text_codes import number_texts

_WIDEST = 1 << 16


class CodedCells(NamedTuple):
    """A column as its distinct values, and for each cell the place of its value."""

    values: pl.Series
    """In ascending order, a missing one last."""
    codes: Ints


def encode_cells(column: pl.Series) -> CodedCells:
    """The distinct values of a column, and the place of each cell among them; most kinds without sorting all cells."""
    if column.dtype == pl.String:
        return _encode_texts(column)
    known_cells = column.drop_nulls() if column.null_count() else column
    values = known_cells.unique().sort()
    if (offsets := _count_from_lowest(known_cells)) is not None:
        codes = (np.cumsum(np.bincount(offsets) > 0) - 1)[offsets]
    else:
        codes = (known_cells.rank("dense").cast(pl.Int64) - 1).to_numpy()
    if len(known_cells) == len(column):
        return CodedCells(values, codes)
    every = np.full(len(column), len(values), dtype=np.int64)
    every[column.is_not_null().to_numpy()] = codes
    return CodedCells(pl.concat([values, pl.Series(column.name, [None], dtype=column.dtype)]), every)


def _encode_texts(column: pl.Series) -> CodedCells:
    values, codes = number_texts(column)
    if not column.null_count():
        return CodedCells(values, codes.cast(pl.Int64).to_numpy())
    every = codes.cast(pl.Int64).fill_null(len(values)).to_numpy()
    return CodedCells(pl.concat([values, pl.Series(column.name, [None], dtype=pl.String)]), every)


class NarrowCells(NamedTuple):
    """The same in as few bytes as hold the places: one a cell for most columns, where `CodedCells` takes eight."""

    values: pl.Series
    """In ascending order, a missing one last."""
    codes: Places


def encode_narrowly(column: pl.Series) -> NarrowCells:
    """The distinct values of a column, and the place of each cell among them in few bytes."""
    if column.dtype != pl.String:
        values, codes = encode_cells(column)
        return NarrowCells(values, narrow_places(codes, len(values)))
    values, places = number_texts(column)
    if not column.null_count():
        return NarrowCells(values, places.to_numpy())  # the memory is shared with those that are remembered
    missing = pl.Series(column.name, [None], dtype=pl.String)
    # Numbers of texts have room for one more, which stands for a missing one.
    return NarrowCells(pl.concat([values, missing]), places.fill_null(len(values)).to_numpy())


def narrow_places(places: Ints, count: int) -> Places:
    """Places among this many things, in as few bytes as hold them."""
    return places.astype(np.min_scalar_type(max(count - 1, 0)))


class CountedCells(NamedTuple):
    """The distinct values of a column, and how many cells have each."""

    values: pl.Series
    """In ascending order, a missing one last."""
    counts: Ints


def count_cells(column: pl.Series) -> CountedCells:
    """How many cells of a column have each value; always in the same order, so that sums repeat to the last digit."""
    values, codes = encode_narrowly(column)
    return CountedCells(values, np.bincount(codes, minlength=len(values)).astype(np.int64))


def list_values(column: pl.Series) -> pl.Series:
    """The distinct values of a column in ascending order, without a missing one."""
    return number_texts(column).values if column.dtype == pl.String else column.drop_nulls().unique().sort()


def count_value_pairs(first: pl.Series, second: pl.Series, row_mask: Flags) -> pl.DataFrame:
    """How many of the rows in question have each pair of values: `first`, `second`, `count`."""
    first_cells, second_cells = encode_narrowly(first), encode_narrowly(second)
    return count_code_pairs(
        NarrowCells(first_cells.values, first_cells.codes[row_mask]),
        NarrowCells(second_cells.values, second_cells.codes[row_mask]),
    )


def count_code_pairs(first_cells: CodedCells | NarrowCells, second_cells: CodedCells | NarrowCells) -> pl.DataFrame:
    """How many rows have each pair of values: `first`, `second`, `count`."""
    width = max(len(second_cells.values), 1)
    keys = first_cells.codes.astype(np.int64)  # a copy
    keys *= width
    keys += second_cells.codes
    if len(first_cells.values) * width <= max(_WIDEST, 4 * len(keys)):
        counts = np.bincount(keys)
        pairs = np.flatnonzero(counts)
        counts = counts[pairs]
    else:
        pairs, counts = np.unique(keys, return_counts=True)
    return pl.DataFrame(
        {
            "first": first_cells.values.gather(pairs // width),
            "second": second_cells.values.gather(pairs % width),
            "count": counts,
        }
    )


def _count_from_lowest(column: pl.Series) -> Ints | None:
    """How far each whole number is above the lowest; None for other kinds, or if they are far apart."""
    low, high = (column.min(), column.max()) if column.dtype.is_integer() else (None, None)
    if not isinstance(low, int) or not isinstance(high, int) or high - low > _WIDEST + len(column) or high >= 1 << 63:
        return None
    return column.to_numpy().astype(np.int64) - low
