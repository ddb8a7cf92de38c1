# SPDX-License-Identifier: MIT
"""Count how many rows share their values: in memory by one packed key a row, elsewhere by the engine's own group-by.

A polars frame is counted here. Anything else that narwhals knows (a polars LazyFrame, a duckdb relation, a
Spark frame) counts where it lives, and only the class sizes come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.arrays import Ints
from sfumato.data.cells.text_codes import is_remembered, number_texts

_LARGEST_KEY = 1 << 62
_FEW = 1 << 19


def count_class_sizes(frame: Any, columns: Sequence[str]) -> Ints:
    """The number of rows of each distinct combination of values, in no particular order; missing is a value."""
    if isinstance(frame, pl.DataFrame):
        return _count_sizes_in_memory(frame, columns)
    import narwhals as nw

    size = max((*columns, "size"), key=len) + "_"  # longer than any name of a column, also where NUL would end it
    group_sizes = nw.from_native(frame).lazy().group_by(*columns).agg(nw.len().alias(size)).select(size)
    sizes: Ints = group_sizes.collect().get_column(size).to_numpy().astype(np.int64)
    return sizes


def _count_sizes_in_memory(frame: pl.DataFrame, columns: Sequence[str]) -> Ints:
    if not frame.height:
        return np.zeros(0, dtype=np.int64)
    key, radix = pack_row_keys(frame, columns)
    if radix <= max(_FEW, frame.height // 4):
        counts = np.bincount(key, minlength=0)
        return counts[counts > 0].astype(np.int64)
    if frame.height < _FEW:  # not worth loading a compiler for
        return np.unique(key, return_counts=True)[1].astype(np.int64)
    from sfumato.kernels.key_counts import count_equal_keys

    sizes: Ints = count_equal_keys(key)
    return sizes


class RowKeys(NamedTuple):
    """One whole number a row, equal exactly where all columns are."""

    keys: Ints
    radix: int
    """More than any key."""


def pack_row_keys(frame: pl.DataFrame, columns: Sequence[str]) -> RowKeys:
    """One whole number a row, equal exactly where all columns are, and an upper bound for it."""
    key = np.zeros(frame.height, dtype=np.int64)
    radix = 1
    coded_frame = _number_text_columns(frame.select(columns))
    for name in columns:
        codes, lowest, width = _encode_column(coded_frame[name])
        if radix * width > _LARGEST_KEY:
            key = pl.Series(key).rank("dense").to_numpy().astype(np.int64)
            radix = frame.height + 1
        _append_key_digit(key, codes, lowest, width)
        radix *= width
    return RowKeys(key, radix)


def _number_text_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """Text columns as the numbers of their values, all columns at once, so that polars may use every core."""
    remembered_columns = [column for column in frame.get_columns() if is_remembered(column)]
    if remembered_columns:
        frame = frame.with_columns(number_texts(column).codes.alias(column.name) for column in remembered_columns)
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    if not texts:
        return frame
    # A vocabulary of its own for each column keeps the numbers small.
    return frame.with_columns(pl.col(name).cast(pl.Categorical(pl.Categories.random())).to_physical() for name in texts)


def _append_key_digit(key: Ints, codes: npt.NDArray[Any], lowest: int, width: int) -> None:
    if len(key) < _FEW:
        np.multiply(key, width, out=key)
        np.add(key, codes.astype(np.int64) - lowest, out=key)
        return
    from sfumato.kernels.key_counts import append_digits

    append_digits(key, codes if codes.dtype == np.uint8 else codes.astype(np.int64, copy=False), lowest, width)


class _ColumnDigits(NamedTuple):
    """The values of a column as whole numbers."""

    codes: npt.NDArray[Any]
    lowest: int
    width: int
    """How many there may be from the lowest on."""


def _encode_column(column: pl.Series) -> _ColumnDigits:
    """Whole numbers for the values of a column, the lowest of them, and how many there may be from there on."""
    if column.dtype == pl.Boolean:
        return _ColumnDigits(column.cast(pl.UInt8).fill_null(2).to_numpy(), 0, 3)
    if column.dtype.is_integer():
        low, high = column.min(), column.max()
        if low is None:
            return _ColumnDigits(np.zeros(len(column), dtype=np.uint8), 0, 1)
        assert isinstance(low, int) and isinstance(high, int)
        if high - low < 4 * len(column) + _FEW and max(-low, high) < _LARGEST_KEY:
            if not column.null_count():
                return _ColumnDigits(column.to_numpy(), low, high - low + 1)
            return _ColumnDigits(column.cast(pl.Int64).fill_null(low - 1).to_numpy(), low - 1, high - low + 2)
    ranks = column.rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
    return _ColumnDigits(ranks, 0, int(ranks.max(initial=0)) + 1)
