# SPDX-License-Identifier: MIT
"""Days outside the calendar, on which polars panics: refused where data comes in."""

from __future__ import annotations

import polars as pl

from sfumato.errors import DataError

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # of the years 1 to 9999, counted from 1970
_DAY_SECONDS = 86_400
_UNITS = {"ms": 10**3, "us": 10**6}


def refuse_impossible_dates(column: pl.Series, source: object) -> None:
    """Stop if a column of dates or moments has cells outside the calendar."""
    kind = column.dtype
    if isinstance(kind, pl.Datetime):
        if kind.time_unit == "ns":
            return  # their numbers end in the years 1677 and 2262
        unit = _UNITS[kind.time_unit]
        least, most = _FIRST_DAY * _DAY_SECONDS * unit, (_LAST_DAY + 1) * _DAY_SECONDS * unit - 1
    elif kind == pl.Date:
        least, most = _FIRST_DAY, _LAST_DAY
    else:
        return
    outlier_count = int((~column.to_physical().cast(pl.Int64).drop_nulls().is_between(least, most)).sum())
    if outlier_count:
        rows = "1 row" if outlier_count == 1 else f"{outlier_count:,} rows"
        raise DataError(
            f'{source}: the column "{column.name}" holds days outside the years 1 to 9999 in {rows}; correct these, '
            "make them missing, or write the column as text"
        )
