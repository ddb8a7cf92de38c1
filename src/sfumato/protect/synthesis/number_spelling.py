# SPDX-License-Identifier: MIT
"""Numbers that are kept as text: dates, moments, times and amounts, all of a column spelt in one way.

A file of text knows no dates, and a table keeps moments and exact amounts as text. Drawn as words they would be
people's own, day by day. Here they are whole numbers, of days, of the coarsest unit of time in which all are told, or
of the last digit after the point; and they are spelt again as they were. A column is read so only if every one of its
texts comes back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

_MOMENT = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2}(?P<mark>[T ]))?\d{2}:\d{2}(?P<second>:\d{2}(?:\.(?P<digits>\d{1,9}))?)?"
    r"(?P<zone>Z| ?[+-]\d{2}:?\d{2}| [A-Z]{1,5})?"
)
_SECONDS = (86_400, 3_600, 60, 1)
_NO_DAY = "1970-01-01 "


@dataclass(frozen=True)
class NumberSpelling:
    """How a column of text spells numbers."""

    kind: Literal["date", "moment", "decimal"]
    digits: int = 0
    """Digits after the point."""
    pattern: str = "%Y-%m-%d"
    """A moment in strftime's signs, without what follows the second."""
    day: bool = True
    """Whether a moment has a day; otherwise it is a time."""
    zone: str = ""
    """What stands at the end of every moment."""
    step: int = 1
    """How many of the smallest units a moment is told in."""

    @classmethod
    def of(cls, column: pl.Series) -> NumberSpelling | None:
        """The way in which a column spells numbers; None if it does not."""
        if column.dtype != pl.String or column.null_count() == len(column):
            return None
        texts = column.drop_nulls().unique()
        for spelling in _list_fitting_spellings(texts[0]):
            numbers = spelling.read(texts)
            if numbers.null_count() == 0 and spelling.write(numbers).equals(texts):
                return spelling._find_coarsest_step(numbers)
        return None

    def read(self, texts: pl.Series) -> pl.Series:
        """The numbers; what is spelt otherwise becomes missing."""
        if self.kind == "date":
            return texts.str.to_date(self.pattern, strict=False).to_physical().cast(pl.Int64)
        if self.kind == "decimal":
            return texts.str.replace(".", "", literal=True).cast(pl.Int64, strict=False)
        plain = texts.str.strip_suffix(self.zone) if self.zone else texts
        plain = plain if self.day else _NO_DAY + plain
        moments = plain.str.to_datetime(
            self.pattern + ("%.f" if self.digits else ""), time_unit=self._unit, time_zone=None, strict=False
        )
        return moments.to_physical().cast(pl.Int64) // self.step

    def write(self, numbers: pl.Series) -> pl.Series:
        """Numbers, spelt in this way."""
        if self.kind == "date":
            return numbers.cast(pl.Int32).cast(pl.Date).dt.strftime(self.pattern)
        if self.kind == "decimal":
            whole = numbers.abs().cast(pl.String).str.zfill(self.digits + 1)
            sign = pl.Series(["", "-"]).gather((numbers < 0).cast(pl.UInt32))
            return sign + whole.str.head(-self.digits) + "." + whole.str.tail(self.digits)
        full = {"us": 6, "ns": 9}[self._unit]
        moments = (numbers * self.step).cast(pl.Datetime(self._unit))
        texts = moments.dt.strftime(self.pattern + (f"%.{full}f" if self.digits else ""))
        if self.digits:
            texts = texts.str.head(self.digits - full) if self.digits < full else texts
        return (texts if self.day else texts.str.slice(len(_NO_DAY))) + self.zone

    @property
    def _unit(self) -> Literal["us", "ns"]:
        return "ns" if self.digits > 6 else "us"

    def _find_coarsest_step(self, numbers: pl.Series) -> NumberSpelling:
        """Moments that are all told by the minute stay so."""
        if self.kind != "moment":
            return self
        second = 10**9 if self._unit == "ns" else 10**6
        steps = [
            *(seconds * second for seconds in _SECONDS),
            *(second // 10**position for position in range(1, self.digits + 1)),
        ]
        return replace(self, step=next((step for step in steps if not (numbers % step != 0).any()), 1))


def _list_fitting_spellings(text: str) -> Iterator[NumberSpelling]:
    """The ways in which a text may spell a number."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        yield NumberSpelling("date")
    amount = re.fullmatch(r"-?\d+\.(\d+)", text)
    if amount:
        yield NumberSpelling("decimal", len(amount[1]))
    moment = _MOMENT.fullmatch(text)
    if moment:
        pattern = f"%Y-%m-%d{moment['mark'] or ' '}%H:%M{':%S' if moment['second'] else ''}"
        yield NumberSpelling(
            "moment", len(moment["digits"] or ""), pattern, moment["day"] is not None, moment["zone"] or ""
        )
