# SPDX-License-Identifier: MIT
"""Numbers that are kept as text: dates, timestamps, times and amounts, all of a column in the same format.

A text file has no dates, and a table keeps timestamps and exact amounts as text. Drawn as words they would be people's
own values. Here they become whole numbers: of days, of the coarsest unit of time that all use, or of the last decimal;
and they are written in the same format again. A column is read this way only if every one of its texts round-trips.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from sfumato.arrays import Ints
from sfumato.data.cells.moments_in_text import DAY_FORMATS, find_moment_kind

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
    """A date, or a timestamp without what follows the second, in strftime codes."""
    day: bool = True
    """Whether a timestamp has a day; otherwise it is a time."""
    zone: str = ""
    """The suffix of every timestamp."""
    step: int = 1
    """How many of the smallest units make up the unit of the timestamps."""

    @classmethod
    def of(cls, column: pl.Series) -> NumberSpelling | None:
        """The format in which a column spells numbers; None if it does not."""
        if column.dtype != pl.String or column.null_count() == len(column):
            return None
        texts = column.drop_nulls().unique()
        for spelling in _list_fitting_spellings(texts[0]):
            numbers = spelling.read(texts)
            if numbers.null_count() == 0 and spelling.write(numbers).equals(texts):
                return spelling._find_coarsest_step(numbers)
        return None

    def read(self, texts: pl.Series) -> pl.Series:
        """The numbers; texts in another format become missing."""
        if self.kind == "date":
            whole = texts if "%d" in self.pattern else texts + "-01"  # a month is its first day
            form = self.pattern if "%d" in self.pattern else f"{self.pattern}-%d"
            return whole.str.to_date(form, strict=False).to_physical().cast(pl.Int64)
        if self.kind == "decimal":
            return texts.str.replace(".", "", literal=True).cast(pl.Int64, strict=False)
        plain = texts.str.strip_suffix(self.zone) if self.zone else texts
        plain = plain if self.day else _NO_DAY + plain
        moments = plain.str.to_datetime(
            self.pattern + ("%.f" if self.digits else ""), time_unit=self._unit, time_zone=None, strict=False
        )
        return moments.to_physical().cast(pl.Int64) // self.step

    def write(self, numbers: pl.Series) -> pl.Series:
        """Numbers in this format."""
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
        """Timestamps that are all given to the minute stay so."""
        if self.kind != "moment":
            return self
        return replace(self, step=next((step for step in self._list_steps() if not (numbers % step != 0).any()), 1))

    def _list_steps(self) -> list[int]:
        """Days, hours, minutes, seconds and their decimals, in the smallest unit."""
        second = 10**9 if self._unit == "ns" else 10**6
        return [
            *(seconds * second for seconds in _SECONDS),
            *(second // 10**position for position in range(1, self.digits + 1)),
        ]

    def settle_moments(self, column: pl.Series, learnt_people: Ints, fewest: int) -> pl.Series:
        """Timestamps in the coarsest unit that all but fewer than `fewest` of the people learned from keep to.

        Otherwise one person's minutes would appear in everybody's. The few are moved towards the middle, so that none
        reaches further than before.
        """
        fine = replace(self, step=1)
        numbers = fine.read(column)
        known_numbers = numbers[learnt_people].drop_nulls()
        step = next((unit for unit in self._list_steps() if int((known_numbers % unit != 0).sum()) < fewest), 1)
        if not len(known_numbers) or step == 1:
            return column
        middle = int(known_numbers.sort()[len(known_numbers) // 2])
        lower_numbers = numbers - numbers % step
        upper_numbers = lower_numbers + step * (numbers % step != 0).cast(pl.Int64)
        return fine.write(upper_numbers.zip_with(upper_numbers <= middle, lower_numbers)).alias(column.name)


def _list_fitting_spellings(text: str) -> Iterator[NumberSpelling]:
    """The formats in which a text may spell a number."""
    if (spelling := DAY_FORMATS.get(find_moment_kind(text) or "")) is not None:
        yield NumberSpelling("date", pattern=spelling)
    if find_moment_kind(text) == "month":
        yield NumberSpelling("date", pattern="%Y-%m")
    amount = re.fullmatch(r"-?\d+\.(\d+)", text)
    if amount:
        yield NumberSpelling("decimal", len(amount[1]))
    moment = _MOMENT.fullmatch(text)
    if moment:
        pattern = f"%Y-%m-%d{moment['mark'] or ' '}%H:%M{':%S' if moment['second'] else ''}"
        yield NumberSpelling(
            "moment", len(moment["digits"] or ""), pattern, moment["day"] is not None, moment["zone"] or ""
        )
