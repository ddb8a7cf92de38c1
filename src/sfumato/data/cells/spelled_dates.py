# SPDX-License-Identifier: MIT
"""Columns of dates that are not written as 2009-06-30: read by their form, so that they have an order and ranges.

A cell such as 3/4/2009 does not say which number is the day; a column does, once it holds 3/14/2009. A column is read
as dates if only one form fits all of its cells, or if the custodian states the form. What fits several forms, or none,
stays text, and methods that need an order refuse it (see `unread_dates`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import combinations

import polars as pl

from sfumato.data.cells.moments_in_text import are_moments, find_moment_kind
from sfumato.errors import DataError, PolicyError, ask_meant

_DAYS = (
    "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y.%m.%d", "%Y-%m-%d", "%Y/%m/%d", "%d %B %Y",
    "%d %b %Y", "%d-%b-%Y", "%d%b%Y", "%B %d, %Y", "%b %d, %Y",
)  # fmt: skip
_CLOCKS = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")
_MONTHS = ("%m/%Y", "%m.%Y", "%m-%Y", "%B %Y", "%b %Y", "%b-%Y")
_TIMES = ("%I:%M %p", "%I:%M:%S %p")
DATE_FORMS = (*_DAYS, *(f"{day} {clock}" for clock in _CLOCKS for day in _DAYS), *_MONTHS, *_TIMES)
"""The forms that are tried; all of them with four digits for the year. 9:05 stays text, since it may mean minutes."""
_FIRST = re.compile(r"\d{1,4}[/.-]\d{1,4}|\d{1,2}[ -]?[^\W\d]{3}|[^\W\d]{3,9}[ -]\d|\d{1,2}:\d{2}")
_YEARS = (1850, 2150)
"""A column of other years holds something else."""


def read_dates(frame: pl.DataFrame, forms: Mapping[str, str], source: str) -> pl.DataFrame:
    """The table with dates, or timestamps, where columns hold them as text in a stated form."""
    if not isinstance(forms, Mapping):
        raise PolicyError('dates are given by column, as in {"born": "%m/%d/%Y"}')
    unknown = [name for name in forms if name not in frame.columns]
    if unknown:
        raise DataError(
            f'{source}: dates names "{unknown[0]}", which is not a column{ask_meant(unknown, frame.columns)}'
        )
    return frame.with_columns(_read_stated(frame[name], form, source) for name, form in forms.items())


def find_date_forms(frame: pl.DataFrame, keep: Collection[str] = ()) -> dict[str, str]:
    """The form of each column of text that only one form reads as dates, without those to `keep`."""
    forms = {column.name: find_date_form(column) for column in frame if column.name not in keep}
    return {name: form for name, form in forms.items() if form is not None}


def find_date_form(column: pl.Series) -> str | None:
    """The only form under which every cell of a text column is a date; None if it is read without one, or unclear."""
    if not may_need_form(column):
        return None
    forms = FittingForms()
    forms.observe(column)
    return forms.choose()


def may_need_form(column: pl.Series) -> bool:
    """Whether the first cells of a column may be dates that are not read as they are: a look before a long one."""
    head = column.head(100)
    if column.dtype != pl.String or not head.count():
        return column.dtype == pl.String
    return _FIRST.match(head.drop_nulls()[0]) is not None and not are_moments(head)


class FittingForms:
    """The forms under which all cells of a column are dates, as its parts are seen one after the other."""

    def __init__(self) -> None:
        """Every form fits a column without cells."""
        self.forms: tuple[str, ...] = DATE_FORMS
        self._differing_pairs: set[tuple[str, str]] = set()
        self._kinds: set[str | None] = set()

    def observe(self, column: pl.Series) -> None:
        """Cross out the forms that do not fit a part of the column."""
        known_texts = column.drop_nulls() if column.dtype == pl.String else column.clear()
        if column.dtype != pl.String:
            self.forms = ()
        if not len(known_texts) or not self.forms:
            return
        known_texts = known_texts.unique()
        self.forms = tuple(form for form in self.forms if _fits_form(known_texts, form))
        if self.forms:
            self._kinds.add(find_moment_kind(known_texts[0]) if are_moments(known_texts) else None)
        readings = {form: read_form(known_texts, form) for form in self.forms}
        for form, other in combinations(self.forms, 2):
            if not readings[form].equals(readings[other]):  # "Mar" is a name of a month in both forms
                self._differing_pairs.add((form, other))

    def choose(self) -> str | None:
        """The only form; None if there is none, if several read different dates, or if the cells need no form."""
        plain = not self._kinds or (len(self._kinds) == 1 and None not in self._kinds)
        agree = not any({form, other} <= set(self.forms) for form, other in self._differing_pairs)
        return self.forms[0] if self.forms and agree and not plain else None


def find_stored_forms(parts: Iterable[pl.DataFrame]) -> dict[str, str]:
    """The same as `find_date_forms`, of columns that come in parts."""
    forms_by_column: dict[str, FittingForms] = {}
    for part in parts:
        for name in part.columns:
            forms_by_column.setdefault(name, FittingForms()).observe(part[name])
    forms = {name: candidates.choose() for name, candidates in forms_by_column.items()}
    return {name: form for name, form in forms.items() if form is not None}


def read_form(texts: pl.Series, form: str) -> pl.Series:
    """Dates, or months, timestamps and times in their ISO spelling; null for what is not of the form."""
    clock, day = "%H" in form or "%I" in form, "%d" in form
    if not day and not clock:
        return ("01 " + texts).str.to_date(f"%d {form}", strict=False).dt.to_string("%Y-%m")
    if not day:
        return texts.str.to_time(form, strict=False).dt.to_string("%H:%M:%S")
    if clock:
        return texts.str.to_datetime(form, strict=False, time_unit="us").dt.to_string("%Y-%m-%d %H:%M:%S")
    return texts.str.to_date(form, strict=False)


def _read_stated(column: pl.Series, form: str, source: str) -> pl.Series:
    if column.dtype == pl.Date or not column.count():
        return column
    if "%" not in form:
        raise PolicyError(f'{source}: the form of "{column.name}" has no codes; write {_write_codes(form)}')
    dates = read_form(column.cast(pl.String), form)
    strange = dates.null_count() - column.null_count()
    if strange:
        cells = "1 cell is not a date" if strange == 1 else f"{strange:,} cells are not dates"
        raise DataError(
            f'{source}: in "{column.name}", {cells} of the form {form}; correct the form under [data], or mark what '
            "means missing"
        )
    return dates.alias(column.name)


def _write_codes(form: str) -> str:
    """The codes of strftime for what other tools write as DD/MM/YYYY."""
    codes = form
    for letters, code in (("yyyy", "%Y"), ("yy", "%y"), ("dd", "%d"), ("MM", "%m"), ("mm", "%m"), ("hh", "%H")):
        codes = re.sub(letters, code, codes, flags=0 if letters.lower() == "mm" else re.IGNORECASE)
    return f'"{codes}"' if "%" in codes else '"%d/%m/%Y", where %d is the day, %m the month and %Y the year'


def _fits_form(texts: pl.Series, form: str) -> bool:
    for part in (texts.head(100), texts):  # most columns are done after the first
        if read_form(part, form).null_count():
            return False
    if form in _TIMES:
        return True
    years = read_form(texts, form).cast(pl.String).str.slice(0, 4).cast(pl.Int32, strict=False)
    return years.null_count() == 0 and bool(years.is_between(*_YEARS).all())
