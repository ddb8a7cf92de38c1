# SPDX-License-Identifier: MIT
"""Columns that noise can be added to: numbers, whole numbers and dates, with the range that privacy is a share of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.data.coarse_range import widen_range
from sfumato.errors import DataError, ImpossibleRelease, PolicyError, quote_names
from sfumato.table import Table

_DAY = "%Y-%m-%d"
_CALENDAR = (float((date.min - date(1970, 1, 1)).days), float((date.max - date(1970, 1, 1)).days))
LARGE, _SMALL = 1e100, 1e-100
"""Beyond these, squares of numbers are no numbers any more."""


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """The cells of one column as numbers, and where they lie."""

    column: pl.Series
    known: Flags
    """Which cells are not missing; all else is about those."""
    numbers: Floats
    whole: Ints | None
    """The same numbers where they are whole: days since 1970 for dates."""
    low: float
    high: float
    given: bool
    """Whether the custodian gave the range; if not it is the data's, and may not be told."""

    @property
    def name(self) -> str:
        """The column's."""
        return self.column.name

    @property
    def step(self) -> float:
        """What values are whole numbers of."""
        return 0.0 if self.whole is None else 1.0

    @property
    def span(self) -> float:
        """The width of the range."""
        return self.high - self.low

    def ends(self) -> list[float] | list[int]:
        """The range, as it is told."""
        return [self.low, self.high] if self.whole is None else [int(self.low), int(self.high)]

    @property
    def grain(self) -> float:
        """What the largest number of the range is rounded to when it is stored; 0 for whole ones."""
        return self.measure_grain(0.0)

    def measure_grain(self, reach: float) -> float:
        """What numbers that lie as far as `reach` outside of the range are rounded to; 0 for whole ones."""
        if self.whole is not None:
            return 0.0
        largest = max(abs(self.low), abs(self.high)) + reach
        return float(np.spacing(np.float32(largest) if self.column.dtype == pl.Float32 else largest))

    def moved(self, noise: Floats | Ints, grid: float) -> pl.Series:
        """The column with noise added to each known cell, both in whole steps of the grid.

        Numbers and noise are counted in steps before they are added, so that a published number is the same whatever
        digits below the grid the original had: the sum of two floats would tell them.
        """
        steps = np.asarray(noise if noise.dtype.kind == "i" else np.rint(noise / grid), dtype=np.int64)
        if self.whole is not None:
            return self._published(self.whole + steps)
        steps = steps + np.rint(self.numbers / grid).astype(np.int64)
        # One division by a whole number: the float nearest to a short decimal, which is written as such.
        return self._published(np.asarray(steps / np.rint(1 / grid) if grid < 1 else steps * grid, dtype=np.float64))

    def replaced(self, values: Floats | Ints) -> pl.Series:
        """The column with other values in the known cells."""
        return self._published(values)

    def refuse_beyond(self, reach: float) -> None:
        """Refuse to take values as far as `reach`, if they could not be stored there.

        This does not look at what was drawn: noise that is drawn again until it fits is not the noise that was told.
        """
        least, most = self._measure_room()
        far = int(((self.numbers - reach < least) | (self.numbers + reach > most)).sum())
        if not far and reach <= most - least:
            return
        if self.is_date:
            raise ImpossibleRelease(
                f'"{self.name}": noise takes {far} dates out of the calendar, which has the years 1 to 9999; make '
                'dates that stand for "never" or "unknown" missing, give `ranges` of dates that occur, or ask for less '
                "privacy"
            )
        raise ImpossibleRelease(
            f'"{self.name}": {far} noisy values are too large to be stored; divide them first, or ask for less privacy'
        )

    @property
    def is_date(self) -> bool:
        """Whether the numbers are days."""
        return self.column.dtype in (pl.Date, pl.String)

    def _measure_room(self) -> tuple[float, float]:
        if self.is_date:
            return _CALENDAR
        limit = LARGE if self.whole is None else 2.0**63 - 1025
        limit = 3e38 if self.column.dtype == pl.Float32 else limit
        return -limit, limit

    def _published(self, values: Floats | Ints) -> pl.Series:
        full = np.zeros(len(self.known), dtype=values.dtype)
        full[self.known] = values
        made = pl.Series(self.name, full).set(pl.Series(~self.known), None)
        kind = self.column.dtype
        if kind == pl.String:  # dates that nobody had read as such
            return made.cast(pl.Date)
        if kind.is_integer() and self.whole is None:  # its range says that decimals are possible
            return made
        if kind.is_integer():  # a small type has no room for what lies beyond its range
            fits = made.cast(kind, strict=False)
            return fits if fits.null_count() == made.null_count() else made
        return made.cast(kind)


def read_number_column(table: Table, name: str, given: Sequence[Any] | None, *, exact: bool = False) -> NumberColumn:
    """Read a column; what is no number, not finite or outside of the range is refused.

    A range that is not given is that of the data, widened to a coarse grid unless it is wanted `exact`. One that is
    given with a point, as in 0.0, says that numbers have decimals: then it does not matter whether anybody's has.
    """
    column = table.frame[name]
    known = column.is_not_null().to_numpy()
    cells = _read_physical_column(table, column).drop_nulls()
    integers = cells.dtype.is_integer() and not says_decimals(given)
    whole = cells.cast(pl.Int64).to_numpy() if integers else None
    numbers = cells.cast(pl.Float64).to_numpy()
    strange = int((~np.isfinite(numbers)).sum())
    if strange:
        raise DataError(
            f'{table.source}: "{name}" has {strange} cells that are no finite number; make them missing, or mend them'
        )
    low, high = _choose_column_range(table, name, numbers, given)
    _refuse_extremes(table, name, numbers, low, high)
    if given is None and not exact:
        low, high = (float(end) for end in widen_range(low, high, whole=whole is not None))
    return NumberColumn(column, known, numbers, whole, low, high, given is not None)


def says_decimals(given: Sequence[Any] | None) -> bool:
    """Whether a range is written with a decimal point."""
    return any(isinstance(end, float) for end in given or ())


def _read_physical_column(table: Table, column: pl.Series) -> pl.Series:
    """Numbers as they are, dates as days."""
    kind = column.dtype
    if kind.is_integer() and (far := int((column.cast(pl.Float64).abs() > 2**53).sum())):
        raise DataError(
            f'{table.source}: "{column.name}" has {far} whole numbers beyond 2⁵³, which are no amounts of anything; '
            "drop the column if they are codes, or divide them first"
        )
    if kind.is_float() or kind.is_integer():
        return column
    if kind == pl.Date:
        return column.to_physical()
    if kind == pl.String and column.null_count() < len(column):
        days = column.str.to_date(_DAY, strict=False)
        if days.null_count() == column.null_count():
            return days.to_physical()
    words = "text" if kind == pl.String else str(kind).lower()
    raise PolicyError(
        f'{table.source}: "{column.name}" holds {words}; noise is added to numbers and to dates (2009-06-30). Decimals '
        "and times of day are kept as text: make them numbers first. For categories there is randomized response"
    )


def _choose_column_range(
    table: Table, name: str, numbers: Floats, given_range: Sequence[Any] | None
) -> tuple[float, float]:
    if given_range is None:
        if not len(numbers):
            raise ImpossibleRelease(
                f'{table.source}: "{name}" has no known value, so there is no range to take a share of; leave the '
                f'column out, or give a range, as in ranges={{"{name}": (0, 120)}}'
            )
        if numbers.min() == numbers.max():
            raise ImpossibleRelease(
                f'{table.source}: all {len(numbers)} known values of "{name}" are the same, so there is no range to '
                f'take a share of; give one, as in ranges={{"{name}": (0, 120)}}'
            )
        return float(numbers.min()), float(numbers.max())
    low, high = (_parse_end(end) for end in given_range)
    if not (low < high and np.isfinite(high - low)):
        raise PolicyError(f'the range of "{name}" goes from a least to a greatest finite value, and the two differ')
    outside = int(((numbers < low) | (numbers > high)).sum())
    if outside:
        raise DataError(
            f'{table.source}: "{name}" has {outside} values outside of the range that was given for it; widen the '
            "range, or bring the values into it"
        )
    return low, high


def _refuse_extremes(table: Table, name: str, numbers: Floats, low: float, high: float) -> None:
    large = int((np.abs(numbers) > LARGE).sum())
    if large:
        raise DataError(
            f'{table.source}: "{name}" has {large} values beyond ±10¹⁰⁰, with which nothing can be computed; divide '
            "all of them first, or make these missing"
        )
    if max(-low, high) > LARGE or high - low < _SMALL:
        raise DataError(
            f'{table.source}: the range of the {len(numbers)} known values of "{name}" reaches beyond ±10¹⁰⁰ or is '
            "narrower than 10⁻¹⁰⁰, with which nothing can be computed; divide or multiply them first, or give a "
            "range of another size"
        )


def _parse_end(end: Any) -> float:
    return float((end - date(1970, 1, 1)).days) if isinstance(end, date) else float(end)


def compute_column_covariance(columns: Sequence[NumberColumn], source: str) -> Floats:
    """How the columns go together, over the rows that have them all."""
    whole = np.logical_and.reduce([column.known for column in columns])
    if int(whole.sum()) < 2:
        names = ", ".join(f'"{column.name}"' for column in columns)
        raise ImpossibleRelease(
            f"{source}: {int(whole.sum())} rows have a value in each of {names}, and correlated noise is "
            "shaped by such rows; name fewer columns, or fill what is missing"
        )
    chosen = np.array([column.numbers[whole[column.known]] for column in columns])
    flat = [column.name for column, row in zip(columns, chosen, strict=True) if row.min() == row.max()]
    if flat:
        raise ImpossibleRelease(
            f"{source}: all values of {quote_names(flat)} are the same, and noise shaped like "
            'them would be none; leave the column out, or use kind = "gaussian" and give its range'
        )
    return np.atleast_2d(np.cov(chosen, bias=True))
