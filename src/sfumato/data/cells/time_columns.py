# SPDX-License-Identifier: MIT
"""Columns of times: numbers, dates, or texts that spell one of them, put in order.

Nothing is put in a wrong order silently. As text, `10` stands before `9`, `10:15` before `8:05` and `05/01/2024` before
`12/31/2023`; so texts are read as what they spell, and refused where that is not certain.
"""

from __future__ import annotations

import polars as pl

from sfumato.data.cells.moments_in_text import locate_moments
from sfumato.errors import DataError

_CURE = "write times as 2009-06-30 12:00, or as numbers"
_TWO_WAYS = r"^\s*(\d{1,2})[/-](\d{1,2})[/-]\d{2,4}"
"""A day before its month, or a month before its day."""
_CLOCK = r"^\s*\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*([AaPp]\.?[Mm]\.?)?\s*$"
_MONTH_FIRST = r"^\s*(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?:[ T]+(\d.*))?$"


def read_text_times(path: object, column: pl.Series) -> pl.Series | None:
    """Texts without a missing one as numbers, or as seconds since 1970 or midnight; None if they are no times."""
    numbers = column.cast(pl.Float64, strict=False)
    if not numbers.null_count() and numbers.is_finite().all():
        whole = column.cast(pl.Int64, strict=False)
        return numbers if whole.null_count() else whole
    moments = locate_moments(_turn_months(column))
    if moments is not None:
        return moments / 1e6
    dates = _parse_dates(column)
    if dates.null_count():
        return None
    _refuse_two_ways(path, column)
    return dates.cast(pl.Datetime("us")).to_physical() / 1e6


def order_texts(path: object, column: pl.Series) -> pl.Series:
    """Texts that are no times, in the order of their letters, if numbers in them do not contradict it."""
    _refuse_two_ways(path, column)
    numbers = column.cast(pl.Float64, strict=False).is_finite().fill_null(False)
    if numbers.any():
        raise DataError(
            f'{path}: "{column.name}" is a number in {numbers.sum()} of {column.len()} rows and text in the others, '
            f"first in row {(~numbers).arg_max()} (from 0); {_CURE}"
        )
    forms = column.str.replace_all(r"\d", "0")
    longest = str(forms[forms.str.len_chars().arg_max() or 0])
    known_forms = [form for form in forms.unique() if _begins(longest, form)]
    odd = ~forms.is_in(known_forms)
    if odd.any() and column.str.contains(r"\d").any():
        raise DataError(
            f'{path}: "{column.name}" mixes several text formats that cannot be sorted, in '
            f"{odd.sum()} of {column.len()} rows, first in row {odd.arg_max()} (from 0); {_CURE}"
        )
    return column


def explain_no_times(path: object, column: pl.Series) -> DataError:
    """The error for texts of which some or all are no times."""
    _refuse_two_ways(path, column)
    numbers = column.cast(pl.Float64, strict=False).is_finite().fill_null(False)
    clocks = column.str.contains(_CLOCK)
    read = [numbers] if numbers.any() else [_parse_dates(column).is_not_null(), clocks]
    odd = ~max(read, key=lambda flags: int(flags.sum()))  # as what most of them are
    return DataError(
        f'{path}: "{column.name}" is not a valid time in {odd.sum()} of {column.len()} rows, first in row '
        f"{odd.arg_max()} (from 0); {_CURE}"
    )


def _begins(longest: str, form: str) -> bool:
    """Whether a form is the beginning of another, not within a number: 2024-05 and 2024-05-01, but not T0 and T00."""
    return longest.startswith(form) and not longest[len(form) :][:1].isdigit()


def _refuse_two_ways(path: object, column: pl.Series) -> None:
    first, second = (column.str.extract(_TWO_WAYS, group).cast(pl.Int64, strict=False) for group in (1, 2))
    if first.count() and (first.max() or 0) <= 12:  # type: ignore[operator]  # a column of numbers
        is_clear = (second.max() or 0) > 12  # type: ignore[operator]  # a column of numbers
        reason = "that have several forms, or no four digits for the year" if is_clear else ""
        raise DataError(
            f'{path}: "{column.name}" holds dates in {first.count()} of {column.len()} rows '
            f"{reason or 'with ambiguous day and month'}; {_CURE}"
        )


def _turn_months(column: pl.Series) -> pl.Series:
    """Dates whose month must stand first, since some second number is no month, as 2009-06-30; others as they are."""
    month, day, year, rest = (column.str.extract(_MONTH_FIRST, group) for group in (1, 2, 3, 4))
    first, second = month.cast(pl.Int64), day.cast(pl.Int64)
    if first.null_count() or not column.len() or first.max() > 12 or second.max() <= 12:  # type: ignore[operator]  # a column of numbers
        return column
    dates = year + "-" + month.str.zfill(2) + "-" + day.str.zfill(2)
    return dates + (" " + rest.str.replace(r"^(\d):", "0${1}:")).fill_null("")


def _parse_dates(column: pl.Series) -> pl.Series:
    """Text as dates, null where it is none."""
    try:
        return column.str.to_datetime(strict=False)
    except pl.exceptions.ComputeError:  # not even the first one has a known form
        return pl.Series(column.name, [None] * column.len(), dtype=pl.Datetime("us"))
