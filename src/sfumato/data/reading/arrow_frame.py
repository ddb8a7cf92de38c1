# SPDX-License-Identifier: MIT
"""Turn Arrow columns into a polars frame, and refuse the cells on which polars panics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from sfumato.data.cells.impossible_dates import refuse_impossible_dates
from sfumato.data.reading.arrow_memory import ArrowExport
from sfumato.errors import DataError


def build_frame(table: pa.Table, path: Path | str) -> pl.DataFrame:
    """Build a frame; an error names the file and the column."""
    columns = [_build_series(table.column(i), name, path) for i, name in enumerate(table.column_names)]
    return pl.DataFrame(columns)


def _build_series(column: Any, name: str, path: Path | str) -> pl.Series:
    try:
        if pa.types.is_decimal256(column.type):
            raise TypeError
        series = pl.Series(ArrowExport(column)).rechunk() if _is_plain(column.type) else pl.from_arrow(column)
    except BaseException as error:  # polars panics on some types, which is not an Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        raise DataError(
            f'{path}: the column "{name}" has a type or bytes that cannot be read; write it as text or numbers'
        ) from None
    assert isinstance(series, pl.Series)
    series = series.alias(name)
    refuse_impossible_dates(series, path)
    return series


def _is_plain(kind: pa.DataType) -> bool:
    """Whether polars reads the type as it is; `from_arrow` converts others and loads much for that."""
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(is_text or pa.types.is_integer(kind) or pa.types.is_float64(kind))
