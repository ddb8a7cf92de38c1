# SPDX-License-Identifier: MIT
"""Months, days, timestamps and times of day as positions in time, which have an order and so have ranges.

A text file has no dates, and a table keeps timestamps as text. ISO spellings are read: `2009-06`, `2009-06-30`,
`2009-06-30 12:00:00+02:00` (or `+02`, `Z`, `UTC`), `12:00`; and days as `30.06.2009` and `2009/06/30`, of which the
order is known. A column is in time only if all of its values are of one of these kinds, with a time zone in all of them
or in none.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Final

import polars as pl

_SECOND: Final = 10**6
"""Positions are counted in microseconds."""
_DAY = r"\d{4}-\d{2}-\d{2}"
_HOUR, _ANY_HOUR = r"[01]\d|2[0-3]", r"[01]?\d|2[0-3]"
_CLOCK = rf"(?P<hour>{_HOUR}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.(?P<part>\d{{1,6}})0{{0,3}})?)?"
_ZONE = r" ?(?P<zone>Z|UTC|[+-]\d{2}(?::?\d{2})?)"
_KINDS = {
    "month": r"^(?P<month>\d{4}-\d{2})$",
    "day": rf"^(?P<day>{_DAY})$",
    "dotted day": r"^(?P<day>\d{2}\.\d{2}\.\d{4})$",
    "slashed day": r"^(?P<day>\d{4}/\d{2}/\d{2})$",
    "moment": rf"^(?P<day>{_DAY})[T ]{_CLOCK}$",
    "moment in a zone": rf"^(?P<day>{_DAY})[T ]{_CLOCK}{_ZONE}$",
    "time": rf"^{_CLOCK.replace(_HOUR, _ANY_HOUR)}$",
}
DAY_FORMATS: Final = {"day": "%Y-%m-%d", "dotted day": "%d.%m.%Y", "slashed day": "%Y/%m/%d"}
"""How each kind of day is spelled, in strftime codes."""
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _KINDS.items()}
_EPOCH = date(1970, 1, 1)


def locate_moments(texts: pl.Series) -> pl.Series | None:
    """The position in time of each text; None unless every known one is a moment of the same kind."""
    known_texts = texts.drop_nulls()
    kind = find_moment_kind(known_texts[0]) if len(known_texts) else None
    if kind is None or not known_texts.str.contains(_KINDS[kind]).all():
        return None
    parts = texts.str.extract_groups(_KINDS[kind]).struct.unnest()
    days = None
    if kind != "time":
        days = _read_days(parts["month"] + "-01" if kind == "month" else parts["day"], DAY_FORMATS.get(kind))
    if days is not None and days.null_count() > texts.null_count():
        return None  # the 31st of February
    clock = _read_clock(parts) if "hour" in parts.columns else pl.repeat(0, len(texts), dtype=pl.Int64, eager=True)
    position = clock if days is None else days * 86_400 * _SECOND + clock
    return position.cast(pl.Float64).alias(texts.name)


def are_moments(texts: pl.Series) -> bool:
    """Whether every known text is a moment of the same kind."""
    return locate_moments(texts) is not None


class UtcSpelling:
    """Timestamps in several time zones, as around a change of the clocks: one zone can write them all."""

    kind = "moment"

    def read(self, texts: pl.Series) -> pl.Series:
        """Microseconds; null for what is not a timestamp in a zone."""
        moments = locate_moments(texts)
        return pl.repeat(None, len(texts), dtype=pl.Int64, eager=True) if moments is None else moments.cast(pl.Int64)

    def write(self, numbers: pl.Series) -> pl.Series:
        """Timestamps in UTC, to the second."""
        return numbers.cast(pl.Datetime("us")).dt.round("1s").dt.strftime("%Y-%m-%d %H:%M:%S+00:00")


def find_utc_spelling(column: pl.Series) -> UtcSpelling | None:
    """How to spell a column of timestamps in time zones; None for any other column."""
    known_texts = column.drop_nulls().head(1) if column.dtype == pl.String else None
    if known_texts is None or not len(known_texts) or find_moment_kind(known_texts[0]) != "moment in a zone":
        return None
    return UtcSpelling() if locate_moments(column) is not None else None


def _read_days(texts: pl.Series, spelling: str | None) -> pl.Series:
    return texts.str.to_date(spelling or DAY_FORMATS["day"], strict=False).to_physical().cast(pl.Int64)


def _read_clock(parts: pl.DataFrame) -> pl.Series:
    hour, minute, second = (parts[name].cast(pl.Int64).fill_null(0) for name in ("hour", "minute", "second"))
    part = parts["part"].str.pad_end(6, "0").cast(pl.Int64).fill_null(0)
    seconds = (hour * 60 + minute) * 60 + second
    if "zone" in parts.columns:
        zone = parts["zone"].str.replace("Z|UTC", "+00").str.replace(":", "", literal=True).str.pad_end(5, "0")
        offset = zone.str.slice(1, 2).cast(pl.Int64) * 60 + zone.str.slice(3, 2).cast(pl.Int64)
        offset_minutes = (zone.str.starts_with("-").cast(pl.Int64) * -2 + 1) * offset
        seconds = seconds - offset_minutes * 60
    return seconds * _SECOND + part


def find_moment_kind(text: str) -> str | None:
    """Which kind of moment a text spells; None for any other text."""
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.match(text)), None)


def parse_moment(text: str) -> float | None:
    """The position in time of one text; None if it is not a moment."""
    kind = find_moment_kind(text)
    if kind is None:
        return None
    parts = _PATTERNS[kind].fullmatch(text)
    assert parts is not None
    fields = parts.groupdict()
    day = f"{fields['month']}-01" if kind == "month" else fields.get("day")
    try:
        days = (datetime.strptime(day, DAY_FORMATS.get(kind, DAY_FORMATS["day"])).date() - _EPOCH).days if day else 0
    except ValueError:
        return None
    hour, minute, second = (int(fields.get(name) or 0) for name in ("hour", "minute", "second"))
    seconds = (hour * 60 + minute) * 60 + second - _parse_zone(fields.get("zone") or "Z")
    return float((days * 86_400 + seconds) * _SECOND + int((fields.get("part") or "").ljust(6, "0")))


def _parse_zone(zone: str) -> int:
    """The seconds by which a zone is ahead."""
    if zone in ("Z", "UTC"):
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return int(offset.total_seconds()) * (-1 if zone[0] == "-" else 1)
