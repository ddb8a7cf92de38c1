# SPDX-License-Identifier: MIT
"""Text that looks like dates whose order is not known: never published as a set of exact ones.

`3/4/1970` and `03/14/70` name a day, but not on which side of another; a method that publishes ranges would treat each
as a word. It stops instead, and says which form to state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import polars as pl

from sfumato.data.cells.spelled_dates import FittingForms, read_form
from sfumato.errors import DataError

_WORDS = (
    "jan|feb|fév|fev|mar|mär|mrz|apr|avr|abr|may|mai|maj|mag|jun|jui|giu|jul|lug|aug|aoû|ago|sep|set|oct|okt|ott|out|"
    "nov|dec|déc|dez|dic|ene|gen"
)
_NUMBERS = r"(?:0?[1-9]|[12]\d|3[01])"
_DATES = (
    rf"^(?i)(?:[^\W\d]{{2,9}}\.?,? )?(?:{_NUMBERS}[/-]{_NUMBERS}[/-](?:\d{{4}}|\d\d)"
    rf"|{_NUMBERS}\.{_NUMBERS}\.\d{{4}}|\d\d\.\d\d\.\d\d"
    rf"|\d{{4}}[/.-]{_NUMBERS}[/.-]{_NUMBERS}"
    rf"|{_NUMBERS}(?:st|nd|rd|th|\.)?[ -]?(?:{_WORDS})[^\W\d]{{0,7}}\.?[ ,-]{{0,2}}'?(?:\d{{4}}|\d\d)"
    rf"|(?:{_WORDS})[^\W\d]{{0,7}}\.?[ -]{_NUMBERS}(?:st|nd|rd|th)?,? '?(?:\d{{4}}|\d\d)"
    rf"|(?:{_WORDS})[^\W\d]{{0,7}}\.?[ -]'?\d{{4}}|(?:0?[1-9]|1[0-2])[/.-](?:18|19|20)\d\d"
    r"|(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?: ?[ap]\.?m\.?)?)(?:$|[T ,].*)"
)
_SHORT_YEARS = ("%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%m-%y", "%m-%d-%y", "%d-%b-%y", "%d %b %y", "%d%b%y")
_TYPICAL = 0.5
_DIGIT = re.compile(r"\d")


def has_digits(texts: Iterable[str]) -> bool:
    """Whether some text has a digit, as every date has: asked first, for it costs a hundredth of `flag_dates`."""
    return _DIGIT.search("\n".join(texts)) is not None


def flag_dates(texts: pl.Series) -> pl.Series:
    """Which texts look like a date or a time in any spelling."""
    flags = texts.str.contains(_DATES)
    return flags.fill_null(False) if flags.null_count() else flags


def refuse_unread_dates(values: pl.Series, source: str) -> None:
    """Stop if most of a column's distinct values look like dates; called where their order is not known."""
    known_texts = values.drop_nulls().unique() if values.dtype == pl.String else values.clear()
    alike = int(flag_dates(known_texts).sum()) if len(known_texts) else 0
    if not len(known_texts) or alike < _TYPICAL * len(known_texts):
        return
    count = f"{alike:,} values look like dates" if alike > 1 else "1 value looks like a date"
    raise DataError(f'{source}: in "{values.name}", {count}, {_explain_unclear_dates(known_texts, alike)}')


def _explain_unclear_dates(known_texts: pl.Series, alike: int) -> str:
    """What is unclear about some dates, and what to write."""
    fitting_forms = FittingForms()
    fitting_forms.observe(known_texts)
    short = [form for form in _SHORT_YEARS if not read_form(known_texts, form).null_count()]
    if len(fitting_forms.forms) > 1:
        first, second = fitting_forms.forms[:2]
        return f"and {first} fits them as well as {second}. Say which: {_write_form(known_texts, first)}"
    if short:
        return (
            f"with two digits for the year. Write four, or state the form (00 to 69 are then 2000 to 2069): "
            f"{_write_form(known_texts, short[0])}"
        )
    if alike < len(known_texts):
        other_count = len(known_texts) - alike
        rest = "1 does not" if other_count == 1 else f"{other_count:,} do not"
        return f"and {rest}. Correct those, or mark what means missing (missing_marks)"
    return "in a spelling that is not read. Write 2009-06-30, or give the column a hierarchy"


def _write_form(known_texts: pl.Series, form: str) -> str:
    name = known_texts.name
    return f'dates = {{ "{name}" = "{form}" }} under [data]; in Python sf.Table.of(df, dates={{"{name}": "{form}"}})'
