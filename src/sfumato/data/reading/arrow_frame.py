# SPDX-License-Identifier: MIT
"""Turn Arrow columns into a polars frame, and refuse the cells on which polars panics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from sfumato.data.reading.arrow_memory import ArrowExport
from sfumato.errors import DataError

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # of the years 1 to 9999, counted from 1970


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
    _refuse_impossible_dates(series, name, path)
    return series.alias(name)


def _is_plain(kind: pa.DataType) -> bool:
    """Whether polars reads the type as it is; `from_arrow` converts others and loads much for that."""
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(is_text or pa.types.is_integer(kind) or pa.types.is_float64(kind))


def _refuse_impossible_dates(column: pl.Series, name: str, path: Path | str) -> None:
    """Refuse days outside the calendar and times after midnight, on which polars panics."""
    kind = column.dtype
    if isinstance(kind, pl.Datetime):
        unit = {"ms": 10**3, "us": 10**6, "ns": 10**9}[kind.time_unit]
        least, most = _FIRST_DAY * 86_400 * unit, (_LAST_DAY + 1) * 86_400 * unit - 1
    elif kind == pl.Date:
        least, most = _FIRST_DAY, _LAST_DAY
    elif kind == pl.Time:
        least, most = 0, 86_400 * 10**9 - 1
    else:
        return
    numbers = column.to_physical().cast(pl.Int64).drop_nulls().to_numpy()
    outlier_count = sum(not least <= number <= most for number in (numbers.min(), numbers.max())) if len(numbers) else 0
    if outlier_count:
        raise DataError(
            f'{path}: the column "{name}" holds days outside the years 1 to 9999; correct it, or write it as text'
        )
