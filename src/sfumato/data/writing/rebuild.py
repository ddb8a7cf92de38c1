# SPDX-License-Identifier: MIT
"""Rebuild a frame from its visible values, so that its memory holds nothing else.

Frames share memory. A filtered or gathered text column of polars still points into the buffer of its source column, the
bytes of a cell stay below the mask that makes it null, and the categories of a column outlive their last use. Arrow,
Parquet and pickle files would publish all of that. A rebuilt frame has its own buffers, which hold the published values
in order: a null cell is an empty text, a zero or false under its mask.
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakValueDictionary

import numpy as np
import polars as pl
import pyarrow as pa

from sfumato.arrays import Flags
from sfumato.data.reading.arrow_memory import ArrowExport, copy_buffer

_rebuilt: WeakValueDictionary[int, pl.DataFrame] = WeakValueDictionary()
"""The rebuilt frames that are in use, by identity: a release is replaced several times on its way, and not copied."""


def rebuild_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Build the same frame in fresh memory; categories become text, as in every table that is read."""
    return frame if _rebuilt.get(id(frame)) is frame else rebuild_columns(frame.get_columns())


def rebuild_columns(columns: Iterable[pl.Series]) -> pl.DataFrame:
    """Build a frame of columns in fresh memory; those that are made one by one need not all be there at once."""
    frame = pl.DataFrame([rebuild_column(column) for column in columns])
    _rebuilt[id(frame)] = frame
    return frame


def rebuild_column(column: pl.Series) -> pl.Series:
    """Build the same column in fresh memory."""
    kind = column.dtype
    if kind in (pl.Categorical, pl.Enum):
        return rebuild_column(column.cast(pl.String))
    if kind == pl.String:
        return pl.Series(ArrowExport(_copy_texts(column))).alias(column.name)
    if kind == pl.Boolean or (kind.is_numeric() and kind not in _TOO_WIDE):
        return pl.Series(ArrowExport(_copy_numbers(column))).alias(column.name)
    if kind in (pl.Date, pl.Datetime, pl.Duration, pl.Time):
        return rebuild_column(column.to_physical()).cast(kind)
    return pl.Series(column.name, column.to_list(), dtype=kind)  # rare types, one Python object per cell


_TOO_WIDE = (pl.Decimal, pl.Int128)  # numpy has no such numbers


def _copy_texts(column: pl.Series) -> pa.Array:
    # The oldest layout has no views: converting to it copies the texts one after another.
    filled_texts = column.fill_null("") if column.null_count() else column
    nameless_texts = pl.Series("", filled_texts, dtype=pl.String)  # a name with a NUL would make polars panic
    texts = nameless_texts.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    assert texts.type == pa.large_string()
    assert texts.offset == 0
    _, bounds, letters = texts.buffers()
    return pa.Array.from_buffers(
        pa.large_string(), len(texts), [_pack_present_bits(column), bounds, letters], column.null_count()
    )


def _copy_numbers(column: pl.Series) -> pa.Array:
    zero = False if column.dtype == pl.Boolean else 0
    values = column.fill_null(zero).to_numpy()
    if column.dtype.is_float():
        values = values + values.dtype.type(
            0
        )  # −0.0 equals 0.0 in every count, but a reader of the file could distinguish them
    # Not pyarrow's own constructor: it loads pandas wherever that is installed.
    cells = _pack_bits(values) if column.dtype == pl.Boolean else copy_buffer(values)
    buffers = [_pack_present_bits(column), cells]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers, column.null_count())


def _pack_present_bits(column: pl.Series) -> pa.Buffer | None:
    """The bits of the cells that are not missing."""
    return _pack_bits(column.is_not_null().to_numpy()) if column.null_count() else None


def _pack_bits(flags: Flags) -> pa.Buffer:
    return copy_buffer(np.packbits(flags, bitorder="little"))
