# SPDX-License-Identifier: MIT
"""Ranges of days by the calendar, for histograms and for groups of people: days, weeks, months or years."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats
from sfumato.data.cells.coded_cells import encode_narrowly
from sfumato.data.cells.moments_in_text import DAY_FORMATS, are_moments, find_moment_kind
from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.data.hierarchies.label_ranges import RangeTexts, parse_ends
from sfumato.report.pictures.number_bins import NumberBins, NumberCells, find_inner_range

_EPOCH = date(1970, 1, 1)
_MONTHS = (1, 3, 6)
_YEARS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_WEEK = 7
_FIRST_DAY, _LAST_DAY = ((date(year, 1, 1) - _EPOCH).days for year in (2, 8000))
"""Beyond these, ranges may begin or end in years that no date has."""


class _DayRange(NamedTuple):
    """The first and the last day that a label means."""

    first: date
    last: date


def parse_day_cells(column: pl.Series) -> NumberCells | None:
    """The cells as days since 1970; None if one that is neither missing nor suppressed is no day, month or range of
    them. A timestamp counts as its day.
    """
    if column.dtype == pl.Date:
        days = column.drop_nulls().to_physical().cast(pl.Float64).to_numpy()
        return NumberCells(days, days, whole=True, ranges=False) if len(days) else None
    if column.dtype != pl.String:
        return None
    values, codes = encode_narrowly(column)
    texts = spell_cells(values)
    ends = _read_moments(texts)
    if ends is None:
        ends = _read_labels(texts)
    if ends is None:
        return None
    low, high = ends[codes].T
    known_mask = ~np.isnan(low)
    low, high = low[known_mask], high[known_mask]
    return NumberCells(low, high, whole=True, ranges=bool((low < high).any())) if len(low) else None


def _read_moments(texts: pl.Series) -> Floats | None:
    """The day of each day or timestamp, twice; None unless all texts are of one kind. Much faster than one by one."""
    known_texts = texts.set((texts == STAR).fill_null(value=False), None)
    first = known_texts.drop_nulls().head(1).to_list()
    kind = find_moment_kind(first[0]) if first else None
    if kind in (None, "time", "month") or not are_moments(known_texts):
        return None
    days = known_texts.str.slice(0, 10).str.to_date(DAY_FORMATS.get(str(kind), DAY_FORMATS["day"]))
    numbers = days.to_physical().cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return np.column_stack([numbers, numbers])


def _read_labels(texts: pl.Series) -> Floats | None:
    """The first and the last day of each label, NaN for none; None if one is no label of days."""
    ends = np.full((len(texts), 2), np.nan)
    for row, text in enumerate(texts.to_list()):
        if text is None or text == STAR:
            continue
        label_days = _parse_label(text)
        if label_days is None:
            return None
        ends[row] = [(day - _EPOCH).days for day in label_days]
    return ends


def _parse_label(text: str) -> _DayRange | None:
    """The days of a day, of a month, or from the first to the last one of a range."""
    range_ends = parse_ends(text)
    if range_ends is None:
        return _parse_days(text)
    first_days, last_days = _parse_days(range_ends.low), _parse_days(range_ends.high)
    if first_days is None or last_days is None or first_days.first > last_days.last:
        return None
    return _DayRange(first_days.first, last_days.last)


def _parse_days(text: str) -> _DayRange | None:
    kind = find_moment_kind(text)
    if kind is None or kind == "time":
        return None
    try:
        if kind == "month":
            first = datetime.strptime(text, "%Y-%m").date()
            return _DayRange(first, first.replace(day=monthrange(first.year, first.month)[1]))
        # A timestamp counts as the day that it names, whatever its time zone.
        day = datetime.strptime(text[:10], DAY_FORMATS.get(kind, DAY_FORMATS["day"])).date()
    except ValueError:
        return None
    return _DayRange(day, day)


def choose_day_bins(days: Floats, most: int) -> NumberBins | None:
    """At most this many ranges of days, weeks, months or years; None if all are one day, or too far away."""
    if not len(days) or not _FIRST_DAY <= days.min() < days.max() <= _LAST_DAY:
        return None
    low, high = (_EPOCH + timedelta(days=int(end)) for end in find_inner_range(days))
    starts = _list_starts(low, high, most)
    edges = np.array([(start - _EPOCH).days for start in starts], dtype=np.float64)
    has_earlier, has_later = bool((days < edges[0]).any()), bool((days >= edges[-1]).any())
    labels = [_name_days(first, next_first) for first, next_first in pairwise(starts)]
    if has_earlier:
        labels[0] = f"before {starts[1]}"
    if has_later:
        labels[-1] = f"{starts[-2]} and later"
    return NumberBins(edges, tuple(labels), has_earlier or has_later)


def _list_starts(low: date, high: date, most: int) -> list[date]:
    """The first days of the narrowest ranges that are few enough and hold both days, and the day after the last."""
    for step, first in ((1, low), (_WEEK, low - timedelta(days=low.weekday()))):
        count = (high - first).days // step + 1
        if count <= most:
            return [first + timedelta(days=step * number) for number in range(count + 1)]
    for step in (*_MONTHS, *(12 * years for years in _YEARS)):
        begin, end = ((day.year * 12 + day.month - 1) // step for day in (low, high))
        if end - begin < most:
            break
    months = [max(number * step, 12) for number in range(begin, end + 2)]  # there is no year 0
    return [date(month // 12, month % 12 + 1, 1) for month in months]


def _name_days(first: date, next_first: date) -> str:
    """A day, a month or a year; or the first and the last of several."""
    last = next_first - timedelta(days=1)
    if first.day != 1 or next_first.day != 1 or first == last:
        names = [str(first), str(last)]
    elif first.month != 1 or next_first.month != 1:
        names = [str(first)[:7], str(last)[:7]]
    else:
        names = [str(first.year), str(last.year)]
    return " to ".join(dict.fromkeys(names))


def find_end_days(bins: NumberBins) -> RangeTexts:
    """What stands below the ends of a histogram: where the first range begins, and where the last one ends."""
    return RangeTexts(bins.labels[0].partition(" to ")[0], bins.labels[-1].rpartition(" to ")[2])
