# SPDX-License-Identifier: MIT
"""Read columns of dates, timestamps and times as positions in time, for measures of how far cells were moved.

A table keeps timestamps as text, and a text file has no dates; a method that publishes the mean of a group of moments
writes it as text again, timestamps of several time zones in one of them. So both columns are read here: dates in days
since 1970, all else in seconds since the first original. Methods have a reader of their own.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

Reader = Callable[[pl.Series], pl.Series]

_DAYS = {
    r"^\d{4}-\d{2}-\d{2}$": "%Y-%m-%d",
    r"^\d{2}\.\d{2}\.\d{4}$": "%d.%m.%Y",
    r"^\d{4}/\d{2}/\d{2}$": "%Y/%m/%d",
}
_MONTH = r"^\d{4}-\d{2}$"
_CLOCK = (
    r"^(?:(?<day>\d{4}-\d{2}-\d{2})[T ])?(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d)"
    r"(?<fraction>\.\d{1,9})?)?(?: ?(?<offset>Z|UTC|[+-]\d{2}(?::?\d{2})?)| (?<zone>[A-Z]{1,5}))?$"
)


def choose_moment_reader(original: pl.Series) -> Reader | None:
    """How to read a column as positions in time if all originals are dates or times in one form; None otherwise.

    A cell in another form becomes missing.
    """
    if original.dtype == pl.Date:
        return choose_day_reader(original)
    if original.dtype != pl.String or original.null_count() == len(original):
        return None
    texts = original.drop_nulls().unique()
    if (read_days := choose_day_reader(texts)) is not None:
        return read_days
    if texts.str.contains(_MONTH).all():
        return _keep_if_complete(_read_months, texts)
    return _choose_clock_reader(texts) if texts.str.contains(_CLOCK).all() else None


def choose_day_reader(cells: pl.Series) -> Reader | None:
    """How to read a column as days since 1970 if these cells are dates in one form; None otherwise."""
    if cells.dtype == pl.Date:
        return _make_day_reader("%Y-%m-%d")
    for looks, spelling in _DAYS.items():
        if cells.str.contains(looks).all():
            return _keep_if_complete(_make_day_reader(spelling), cells)
    return None


def _keep_if_complete(read: Reader, texts: pl.Series) -> Reader | None:
    """A reader that reads all texts: none of them is the 31st of February."""
    return None if read(texts).null_count() else read


def _make_day_reader(spelling: str) -> Reader:
    def read(column: pl.Series) -> pl.Series:
        days = column if column.dtype == pl.Date else column.cast(pl.String).str.to_date(spelling, strict=False)
        return days.to_physical().cast(pl.Float64)

    return read


def _read_months(column: pl.Series) -> pl.Series:
    """A month is its first day."""
    return (column.cast(pl.String) + "-01").str.to_date("%Y-%m-%d", strict=False).to_physical().cast(pl.Float64)


def _choose_clock_reader(texts: pl.Series) -> Reader | None:
    """Timestamps, with a time zone in all of them or in none, or times of day that are all spelled alike."""
    parts = _split_clock(texts)
    absent_days, absent_offsets = parts["day"].null_count(), parts["offset"].null_count()
    if absent_days not in (0, len(parts)) or absent_offsets not in (0, len(parts)) or parts["zone"].n_unique() > 1:
        return None
    if absent_days and (texts.str.len_chars().n_unique() > 1 or parts["offset"].n_unique() > 1):
        return None
    seconds = _count_seconds(parts)
    if seconds.null_count():
        return None
    first = int(seconds.min())  # type: ignore[arg-type]

    def read(column: pl.Series) -> pl.Series:
        parts = _split_clock(column.cast(pl.String))
        # Floats hold the fraction of a second only if the seconds are few.
        seconds = (_count_seconds(parts) - first).cast(pl.Float64)
        return seconds + parts["fraction"].cast(pl.Float64).fill_null(0.0)

    return read


def _split_clock(texts: pl.Series) -> pl.DataFrame:
    return texts.str.extract_groups(_CLOCK).struct.unnest()


def _count_seconds(parts: pl.DataFrame) -> pl.Series:
    """Whole seconds since 1970 in UTC, or since midnight; the zone of one name is that of all."""
    frame = parts.select(
        pl.col("day").str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Int64).alias("days"),
        pl.col("day").is_null().alias("dayless"),
        *(pl.col(name).cast(pl.Int64) for name in ("hour", "minute")),
        pl.col("second").cast(pl.Int64).fill_null(0),
        pl.col("offset").str.replace("Z|UTC", "+00").str.replace(":", "", literal=True).str.pad_end(5, "0"),
    )
    days = pl.when("dayless").then(0).otherwise("days")
    sign = pl.when(pl.col("offset").str.starts_with("-")).then(-1).otherwise(1)
    hours, minutes = (pl.col("offset").str.slice(start, 2).cast(pl.Int64) for start in (1, 3))
    zone_seconds = (sign * (hours * 60 + minutes) * 60).fill_null(0)
    clock = (pl.col("hour") * 60 + pl.col("minute")) * 60 + pl.col("second")
    return frame.select(seconds=days * 86_400 + clock - zone_seconds)["seconds"]
