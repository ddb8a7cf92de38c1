# SPDX-License-Identifier: MIT
"""What a format of a data file cannot hold: refused with the column and the remedy, before any work starts.

A workbook, a Stata and an SPSS file have limits that text, Parquet and Arrow do not have: names of columns, lengths of
text, whole numbers beyond the exact ones of a float, early dates, and an empty text that is not a missing one.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from sfumato.data.reading.file_kinds import require_library
from sfumato.errors import DataError, count_noun, quote_some_names

_EXACT = 2**53
_OTHER_FORMATS = "choose csv, parquet or arrow"
_STATA_WORDS = frozenset(
    [
        "_all",
        "_b",
        "byte",
        "_coef",
        "_cons",
        "double",
        "float",
        "if",
        "in",
        "int",
        "long",
        "_n",
        "_N",
        "_pi",
        "_pred",
        "_rc",
        "_skip",
        "strL",
        "using",
        "with",
    ]
)
_SPSS_WORDS = frozenset(["ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"])


@dataclass(frozen=True)
class FormatLimits:
    """The limits of one format."""

    words: str
    """What the format is called."""
    columns: int
    rows: int
    letters: int
    """The longest text: of a workbook in characters, of others in bytes."""
    first_day: dt.date
    counts_bytes: bool = True
    trims: bool = False
    """Whether blanks at the end of a text are lost."""


LIMITS = {
    "excel": FormatLimits("an Excel file", 16_384, 1_048_575, 32_767, dt.date(1900, 3, 1), counts_bytes=False),
    "stata": FormatLimits("a Stata file", 32_767, 2**31 - 1, 2_044, dt.date(100, 1, 1)),
    "spss": FormatLimits("an SPSS file", 20_000, 2**31 - 1, 32_767, dt.date(1583, 1, 1), trims=True),
}


def refuse_unwritable(frame: pl.DataFrame, form: str | None, *, sure: tuple[str, ...] | None = None) -> None:
    """Stop if a format cannot hold a table; only the cells of `sure` columns are judged, or those of all."""
    limits = LIMITS.get(form or "")
    if limits is None or form is None:
        return
    require_library(form, "output", "writing")
    _refuse_size(frame, limits)
    _refuse_names(frame.columns, form, limits)
    for column in frame.get_columns():
        if sure is not None and column.name not in sure:
            continue
        problem = next(_list_problems(column, form, limits), None)
        if problem is not None:
            raise DataError(f'{limits.words} cannot hold the column "{column.name}": {problem}')
    if sure is None and form == "excel" and frame.width:
        empty = int(frame.select(pl.all_horizontal(pl.all().is_null()).sum()).item())
        if empty:
            raise DataError(
                f"{limits.words} cannot hold {count_noun(empty, 'row')} in which every cell is missing; "
                f"{_OTHER_FORMATS}"
            )


def _refuse_size(frame: pl.DataFrame, limits: FormatLimits) -> None:
    for count, most, noun in ((frame.height, limits.rows, "rows"), (frame.width, limits.columns, "columns")):
        if count > most:
            raise DataError(f"{limits.words} holds at most {most:,} {noun}, and there are {count:,}; {_OTHER_FORMATS}")


def _refuse_names(names: list[str], form: str, limits: FormatLimits) -> None:
    if form == "excel":
        wrong = [name for name in names if not name.strip() or len(name) > limits.letters or name != name.strip()]
        rule = "a name that does not begin or end with a blank"
    else:
        wrong = [name for name in names if not _is_name(name, form)]
        rule = (
            "1 to 32 letters, digits and underscores that do not begin with a digit, and no word of Stata's own"
            if form == "stata"
            else "up to 64 letters, digits, underscores and dots that begin with a letter, and no word of SPSS's own"
        )
        lower = [name.lower() for name in names]
        if form == "spss":
            wrong += [name for name in names if lower.count(name.lower()) > 1 and name not in wrong]
            rule += ", distinct also if small and capital letters are the same"
    if wrong:
        raise DataError(
            f"{limits.words} cannot have columns called {quote_some_names(wrong)}; give other names under columns in "
            f"[data] ({rule}), or {_OTHER_FORMATS}"
        )


def _is_name(name: str, form: str) -> bool:
    if form == "stata":
        fits = re.fullmatch(r"[^\W\d]\w{0,31}", name) and name not in _STATA_WORDS
        return bool(fits) and not re.fullmatch(r"str[0-9]+", name)
    fits = re.fullmatch(r"[^\W\d_][\w.]*", name) and name.upper() not in _SPSS_WORDS
    return bool(fits) and len(name.encode()) <= 64 and not name.endswith((".", "_"))


def _list_problems(column: pl.Series, form: str, limits: FormatLimits) -> Iterator[str]:
    kind = column.dtype
    if kind == pl.String:
        yield from _list_text_problems(column, form, limits)
    elif kind == pl.Date:
        early = int((column < limits.first_day).sum())
        if early:
            yield (
                f"{count_noun(early, 'date is', 'dates are')} before {limits.first_day}; write them as text, or "
                f"{_OTHER_FORMATS}"
            )
    elif kind.is_integer():
        # Compared as floats: the least of 64 bits has no absolute value.
        large = int((column.cast(pl.Float64).abs() >= _EXACT).sum())
        if large:
            yield (
                f"{count_noun(large, 'whole number has', 'whole numbers have')} too many digits to be exact there; "
                f"{_OTHER_FORMATS}"
            )
    elif kind.is_float():
        endless = int(column.is_infinite().sum()) + (int((column.abs() > 8.9e307).sum()) if form == "stata" else 0)
        if endless:
            yield (
                f"{count_noun(endless, 'number is', 'numbers are')} infinite or too large; correct them, or "
                f"{_OTHER_FORMATS}"
            )
    elif kind != pl.Boolean:
        yield f"it is of a type that the format lacks; {_OTHER_FORMATS}"


def _list_text_problems(column: pl.Series, form: str, limits: FormatLimits) -> Iterator[str]:
    lengths = column.str.len_bytes() if limits.counts_bytes else column.str.len_chars()
    if long := int((lengths > limits.letters).sum()):
        yield f"{count_noun(long, 'text is', 'texts are')} longer than {limits.letters:,}; {_OTHER_FORMATS}"
    if empty := int((column == "").sum()):
        yield (
            f"{count_noun(empty, 'text is', 'texts are')} empty, which the format cannot tell from missing; put "
            '"" among missing_marks'
        )
    if form != "excel" and (strange := int(column.str.contains("\0", literal=True).sum())):
        yield f"{count_noun(strange, 'text holds', 'texts hold')} a NUL character; correct them, or {_OTHER_FORMATS}"
    if limits.trims and (ends := int(column.str.ends_with(" ").sum())):
        yield (
            f"{count_noun(ends, 'text ends', 'texts end')} in a blank, which the format drops; remove it, or "
            f"{_OTHER_FORMATS}"
        )
