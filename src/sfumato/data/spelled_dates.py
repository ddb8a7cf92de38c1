# SPDX-License-Identifier: MIT
"""Columns of dates that are not written as 2009-06-30: read by a stated form, so that they have an order and ranges.

A cell such as 3/4/2009 does not say which number is the day. The form does, for a whole column: it is stated in the
policy, and proposed only if no other form fits all of the column's cells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from sfumato.data.moments_in_text import are_moments
from sfumato.errors import DataError, ask_meant

_DAYS = (
    "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y.%m.%d", "%d %B %Y", "%d %b %Y", "%d-%b-%Y",
    "%B %d, %Y", "%b %d, %Y",
)  # fmt: skip
DATE_FORMS = tuple(f"{day}{clock}" for clock in ("", " %H:%M", " %H:%M:%S") for day in _DAYS)
"""The forms that are tried; all of them with four digits for the year."""
_DATE_LIKE = re.compile(r"(\d{1,2}|\d{4}|[^\W\d]{3,9})([/.-]| )(\d{1,2}|[^\W\d]{3,9})([/.-]|,? )(\d{4}|\d{1,2})( |$)")
_YEARS = (1850, 2150)
"""A column of other years holds something else."""


def read_dates(frame: pl.DataFrame, forms: Mapping[str, str], source: str) -> pl.DataFrame:
    """The table with dates, or timestamps, where columns hold them as text in a stated form."""
    unknown = [name for name in forms if name not in frame.columns]
    if unknown:
        raise DataError(f'{source}: dates names "{unknown[0]}", which is no column{ask_meant(unknown, frame.columns)}')
    return frame.with_columns(_read_stated(frame[name], form, source) for name, form in forms.items())


def _read_stated(column: pl.Series, form: str, source: str) -> pl.Series:
    if column.dtype == pl.Date or not column.count():
        return column
    dates = _read_form(column.cast(pl.String), form)
    strange = dates.null_count() - column.null_count()
    if strange:
        cells = "1 cell is not a date" if strange == 1 else f"{strange:,} cells are not dates"
        raise DataError(
            f'{source}: in "{column.name}", {cells} of the form {form}; correct the form under [data], or mark what '
            "means missing"
        )
    return dates


def _read_form(texts: pl.Series, form: str) -> pl.Series:
    """Null for what is not a date of the form."""
    if "%H" in form:
        return texts.str.to_datetime(form, strict=False, time_unit="us").dt.to_string("%Y-%m-%d %H:%M:%S")
    return texts.str.to_date(form, strict=False)


def find_date_form(column: pl.Series) -> str | None:
    """The only form under which every cell of a text column is a date; None if it is read without one, or unclear."""
    known = column.drop_nulls() if column.dtype == pl.String else column.clear()
    if not len(known) or not _DATE_LIKE.match(known[0]) or are_moments(known.head(100)):
        return None
    fitting = [form for form in DATE_FORMS if _fits_form(known, form)]
    readings = [_read_form(known, form) for form in fitting]
    agree = all(reading.equals(readings[0]) for reading in readings[1:])  # "Mar" is a name of a month in both forms
    return fitting[0] if fitting and agree else None


def _fits_form(texts: pl.Series, form: str) -> bool:
    for part in (texts.head(100), texts):  # most columns are done after the first
        if _read_form(part, form).null_count():
            return False
    years = _read_form(texts, form).cast(pl.String).str.slice(0, 4).cast(pl.Int32, strict=False)
    return years.null_count() == 0 and bool(years.is_between(*_YEARS).all())
