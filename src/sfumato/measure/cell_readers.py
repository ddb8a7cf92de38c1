# SPDX-License-Identifier: MIT
"""Read columns as numbers or as positions in time, however they are stored, and published columns the same way.

Dates, timestamps, times and amounts come as text from a file, and some stay text: what counts is whether all originals
parse. A release that was written and read again may hold text where the originals hold dates, and the reverse. Methods
have a reader of their own.

`choose_number_reader` tells numbers from words: timestamps of one zone are whole numbers of the smallest unit that
occurs, those of several zones are words. `choose_moment_reader` measures how far cells were moved: a method that
publishes the mean of a group of moments writes it as text again, timestamps of several time zones in one of them. So
dates are read in days since 1970, all else in seconds since the first original.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

Reader = Callable[[pl.Series], pl.Series]

_AMOUNT = r"^-?\d+\.\d+$"
_DAYS = {
    r"^\d{4}-\d{2}-\d{2}$": "%Y-%m-%d",
    r"^\d{2}\.\d{2}\.\d{4}$": "%d.%m.%Y",
    r"^\d{4}/\d{2}/\d{2}$": "%Y/%m/%d",
}
_MONTH = r"^\d{4}-\d{2}$"
_CLOCK = (
    r"^(?:(?<day>\d{4}-\d{2}-\d{2})[T ])?(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d)"
    r"(?<fraction>\.\d{1,9})?)?"
)
_MOMENT = _CLOCK + r"(?: ?(?<offset>Z|UTC|[+-]\d{2}(?::?\d{2})?)| (?<zone>[A-Z]{1,5}))?$"
"""A timestamp whose offset is read."""
_LOCAL_MOMENT = _CLOCK + r"(?<zone>Z| ?[+-]\d{2}:?\d{2}| [A-Z]{1,5})?$"
"""A timestamp whose zone is only compared with others."""
# The last second whose nanoseconds fit in 63 bits.
_FARTHEST = 9_000_000_000


def choose_number_reader(original: pl.Series) -> Reader | None:
    """How to read a column as numbers if all originals are numbers; None if they are words.

    It reads a number as it is, a day, a month as its first day, a timestamp in fractions of a second, or the value of
    an amount; any other cell becomes missing.
    """
    if original.dtype.is_numeric():
        return lambda column: _cast_to_numbers(column, original.dtype)
    return _choose_text_reader(original, _choose_amount_reader)


def choose_moment_reader(original: pl.Series) -> Reader | None:
    """How to read a column as positions in time if all originals are dates or times in one form; None otherwise.

    A cell in another form becomes missing.
    """
    return _choose_text_reader(original, _choose_time_reader)


def _choose_text_reader(original: pl.Series, choose_other: Callable[[pl.Series], Reader | None]) -> Reader | None:
    """How to read days or months, or else texts that are neither."""
    if original.dtype == pl.Date:
        return _choose_day_reader(original)
    if original.dtype != pl.String or original.null_count() == len(original):
        return None
    texts = original.drop_nulls().unique()
    return _choose_day_reader(texts) or _choose_month_reader(texts) or choose_other(texts)


def _choose_amount_reader(texts: pl.Series) -> Reader | None:
    if texts.str.contains(_AMOUNT).all() and not _cast_to_floats(texts).null_count():
        return _cast_to_floats
    return _choose_unit_reader(texts) if texts.str.contains(_LOCAL_MOMENT).all() else None


def _choose_month_reader(texts: pl.Series) -> Reader | None:
    return _keep_if_complete(_read_months, texts) if texts.str.contains(_MONTH).all() else None


def _choose_time_reader(texts: pl.Series) -> Reader | None:
    return _choose_second_reader(texts) if texts.str.contains(_MOMENT).all() else None


def _cast_to_numbers(column: pl.Series, kind: pl.DataType) -> pl.Series:
    return column if column.dtype.is_numeric() else column.cast(pl.String).cast(kind, strict=False)


def _cast_to_floats(column: pl.Series) -> pl.Series:
    return column.cast(pl.Float64, strict=False)


def _choose_day_reader(cells: pl.Series) -> Reader | None:
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


def _choose_unit_reader(texts: pl.Series) -> Reader | None:
    """Timestamps of one zone, either all with a date or all without, in units of the last digit."""
    parts = _split(texts, _LOCAL_MOMENT)
    digits = max((parts["fraction"].str.len_chars() - 1).drop_nulls().to_list(), default=0)
    with_day = parts["day"].null_count() == 0

    def read(column: pl.Series) -> pl.Series:
        parts = _split(column.cast(pl.String), _LOCAL_MOMENT)
        days = _count_days(parts["day"]) if with_day else pl.Series([0] * len(parts), dtype=pl.Int64)
        fraction = parts["fraction"].str.slice(1).str.pad_end(digits, "0").str.head(digits)
        moments: pl.Series = _count_seconds(days, parts) * 10**digits
        return moments + fraction.cast(pl.Int64, strict=False).fill_null(0)

    is_mixed = parts["zone"].n_unique() > 1 or parts["day"].null_count() not in (0, len(parts))
    if is_mixed or (with_day and _count_days(parts["day"]).null_count()):
        return None
    far = with_day and digits > 6 and bool((_count_days(parts["day"]).abs() * 86_400 > _FARTHEST).any())
    return None if far else read


def _choose_second_reader(texts: pl.Series) -> Reader | None:
    """Timestamps, with a time zone in all of them or in none, or times of day that are all spelled alike."""
    parts = _split(texts, _MOMENT)
    absent_days, absent_offsets = parts["day"].null_count(), parts["offset"].null_count()
    if absent_days not in (0, len(parts)) or absent_offsets not in (0, len(parts)) or parts["zone"].n_unique() > 1:
        return None
    if absent_days and (texts.str.len_chars().n_unique() > 1 or parts["offset"].n_unique() > 1):
        return None
    seconds = _count_zoned_seconds(parts)
    if seconds.null_count():
        return None
    first = int(seconds.min())  # type: ignore[arg-type]  # a column of numbers

    def read(column: pl.Series) -> pl.Series:
        parts = _split(column.cast(pl.String), _MOMENT)
        # Floats hold the fraction of a second only if the seconds are few.
        seconds = (_count_zoned_seconds(parts) - first).cast(pl.Float64)
        return seconds + parts["fraction"].cast(pl.Float64).fill_null(0.0)

    return read


def _split(texts: pl.Series, pattern: str) -> pl.DataFrame:
    return texts.str.extract_groups(pattern).struct.unnest()


def _count_days(texts: pl.Series) -> pl.Series:
    """Whole days since 1970; missing if there is no such date."""
    return texts.str.to_date("%Y-%m-%d", strict=False).to_physical().cast(pl.Int64)


def _count_seconds(days: pl.Series, parts: pl.DataFrame) -> pl.Series:
    """Whole seconds at the end of a number of days and a time of day."""
    hour, minute, second = (parts[name].cast(pl.Int64) for name in ("hour", "minute", "second"))
    seconds: pl.Series = ((days * 24 + hour) * 60 + minute) * 60 + second.fill_null(0)
    return seconds


def _count_zoned_seconds(parts: pl.DataFrame) -> pl.Series:
    """Whole seconds since 1970 in UTC, or since midnight; the zone of one name is that of all."""
    days = _count_days(parts["day"].fill_null("1970-01-01"))
    offset = parts["offset"].str.replace("Z|UTC", "+00").str.replace(":", "", literal=True).str.pad_end(5, "0")
    hours, minutes = (offset.str.slice(start, 2).cast(pl.Int64) for start in (1, 3))
    zone_minutes = hours * 60 + minutes
    zone_minutes = zone_minutes.zip_with(~offset.str.starts_with("-").fill_null(False), -zone_minutes).fill_null(0)
    return _count_seconds(days, parts) - zone_minutes * 60
