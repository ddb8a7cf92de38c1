# SPDX-License-Identifier: MIT
"""Detect which columns hold numbers, however they are stored, and read a published column the same way.

Dates, timestamps, times and amounts come as text from a file, and some stay text: what counts is whether all originals
parse. A release that was written and read again may hold text where the originals hold dates, and the reverse.
"""

from __future__ import annotations

import polars as pl

from sfumato.measure.moment_reader import Reader, choose_day_reader

_AMOUNT = r"^-?\d+\.\d+$"
_MOMENT = (
    r"^(?:(?<day>\d{4}-\d{2}-\d{2})[T ])?(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d)"
    r"(?:\.(?<part>\d{1,9}))?)?(?<zone>Z| ?[+-]\d{2}:?\d{2}| [A-Z]{1,5})?$"
)
# The last second whose nanoseconds fit in 63 bits.
_FARTHEST = 9_000_000_000


def choose_number_reader(original: pl.Series) -> Reader | None:
    """How to read a column as numbers if all originals are numbers; None if they are words.

    It reads a number as it is, a day, a timestamp in fractions of a second, or the value of an amount; any other cell
    becomes missing.
    """
    if original.dtype.is_numeric():
        return lambda column: _cast_to_numbers(column, original.dtype)
    if original.dtype == pl.Date:
        return choose_day_reader(original)
    if original.dtype != pl.String or original.null_count() == len(original):
        return None
    texts = original.drop_nulls().unique()
    if (read_days := choose_day_reader(texts)) is not None:
        return read_days
    if texts.str.contains(_AMOUNT).all() and not _cast_to_floats(texts).null_count():
        return _cast_to_floats
    return _choose_clock_reader(texts) if texts.str.contains(_MOMENT).all() else None


def _cast_to_numbers(column: pl.Series, kind: pl.DataType) -> pl.Series:
    return column if column.dtype.is_numeric() else column.cast(pl.String).cast(kind, strict=False)


def _count_days(texts: pl.Series) -> pl.Series:
    """Whole days since 1970; missing if there is no such date."""
    return texts.str.to_date("%Y-%m-%d", strict=False).to_physical().cast(pl.Int64)


def _cast_to_floats(column: pl.Series) -> pl.Series:
    return column.cast(pl.Float64, strict=False)


def _choose_clock_reader(texts: pl.Series) -> Reader | None:
    """Timestamps of one zone, either all with a date or all without."""
    parts = texts.str.extract_groups(_MOMENT).struct.unnest()
    digits = max(parts["part"].str.len_chars().drop_nulls().to_list(), default=0)
    with_day = parts["day"].null_count() == 0

    def read(column: pl.Series) -> pl.Series:
        parts = column.cast(pl.String).str.extract_groups(_MOMENT).struct.unnest()
        day = _count_days(parts["day"]) if with_day else pl.Series([0] * len(parts), dtype=pl.Int64)
        hour, minute, second = (parts[name].cast(pl.Int64) for name in ("hour", "minute", "second"))
        seconds = ((day * 24 + hour) * 60 + minute) * 60 + second.fill_null(0)
        part = parts["part"].str.pad_end(digits, "0").str.head(digits).cast(pl.Int64, strict=False).fill_null(0)
        moment: pl.Series = seconds * 10**digits + part
        return moment

    is_mixed = parts["zone"].n_unique() > 1 or parts["day"].null_count() not in (0, len(parts))
    if is_mixed or (with_day and _count_days(parts["day"]).null_count()):
        return None
    far = with_day and digits > 6 and bool((_count_days(parts["day"]).abs() * 86_400 > _FARTHEST).any())
    return None if far else read
