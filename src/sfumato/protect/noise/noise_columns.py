# SPDX-License-Identifier: MIT
"""Columns that noise can be added to: numbers, whole numbers and dates, with the range that privacy is a share of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.data.cells.cell_types import count_spelled_numbers, phrase_all_words
from sfumato.data.cells.moments_in_text import are_moments, find_moment_kind
from sfumato.data.hierarchies.coarse_range import widen_range
from sfumato.errors import DataError, ImpossibleRelease, PolicyError, count_noun, quote_names
from sfumato.public.number_law import PublishedRange
from sfumato.table import Table

_DAY = "%Y-%m-%d"
_CALENDAR = (float((date.min - date(1970, 1, 1)).days), float((date.max - date(1970, 1, 1)).days))
LARGE, _SMALL = 1e100, 1e-100
"""Beyond these magnitudes, squares overflow or underflow."""


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """The cells of one column as numbers, and their range."""

    column: pl.Series
    known_mask: Flags
    """Which cells are not missing; everything else is about those."""
    numbers: Floats
    whole: Ints | None
    """The same numbers if they are whole: days since 1970 for dates."""
    low: float
    high: float
    has_given_range: bool
    """Whether the custodian gave the range; otherwise it is the data's, and must not be disclosed."""
    total: int | None = None
    """How many known cells the whole column has, if these are only some of them."""

    @property
    def count(self) -> int:
        """How many known cells the column has."""
        return len(self.numbers) if self.total is None else self.total

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def step(self) -> float:
        """The unit of whole values."""
        return 0.0 if self.whole is None else 1.0

    @property
    def span(self) -> float:
        """The distance between the ends of the range."""
        return self.high - self.low

    @property
    def width(self) -> float:
        """The width of the range, of which levels are shares; that of whole numbers is their count."""
        return self.span + self.step

    def get_ends(self) -> PublishedRange:
        """The range, as reported."""
        return (
            PublishedRange(self.low, self.high) if self.whole is None else PublishedRange(int(self.low), int(self.high))
        )

    @property
    def grain(self) -> float:
        """The rounding error of the largest number of the range when stored; 0 for whole ones."""
        return self.measure_grain(0.0)

    def measure_grain(self, reach: float) -> float:
        """The rounding error of numbers up to `reach` outside the range; 0 for whole ones."""
        if self.whole is not None:
            return 0.0
        largest = max(abs(self.low), abs(self.high)) + reach
        return float(np.spacing(np.float32(largest) if self.column.dtype == pl.Float32 else largest))

    def take(self, column: pl.Series) -> NumberColumn:
        """The same column with other cells of it."""
        cells = _convert_to_numbers(column)
        assert cells is not None, "refused before"
        known_cells = cells.drop_nulls()
        whole = None if self.whole is None else known_cells.cast(pl.Int64).to_numpy()
        return replace(
            self,
            column=column,
            known_mask=cells.is_not_null().to_numpy(),
            numbers=known_cells.cast(pl.Float64).to_numpy(),
            whole=whole,
        )

    def move(self, noise: Floats | Ints, grid: float) -> pl.Series:
        """The column with noise added to each known cell, both in whole steps of the grid.

        Numbers and noise are counted in steps before they are added, so a published number does not depend on the
        original's digits below the grid; the sum of two floats would disclose them.
        """
        steps = np.asarray(noise if noise.dtype.kind == "i" else np.rint(noise / grid), dtype=np.int64)
        if self.whole is not None:
            return self._build_published(self.whole + steps)
        steps = steps + np.rint(self.numbers / grid).astype(np.int64)
        # One division by an integer: the float nearest to a short decimal, which is written as such.
        return self._build_published(
            np.asarray(steps / np.rint(1 / grid) if grid < 1 else steps * grid, dtype=np.float64)
        )

    def replace_known(self, values: Floats | Ints) -> pl.Series:
        """The column with other values in the known cells."""
        return self._build_published(values)

    def refuse_beyond(self, reach: float) -> None:
        """Refuse a `reach` that takes values where they could not be stored.

        This does not look at the drawn noise: noise that is redrawn until it fits is not the stated noise.
        """
        least, most = self._measure_room()
        far = self.count_outside(least + reach, most - reach)
        if not far and reach <= most - least:
            return
        if self.is_date:
            raise ImpossibleRelease(
                f'"{self.name}": noise moves {count_noun(far, "date")} outside the calendar, which has the years 1 to '
                '9999; make dates that stand for "never" or "unknown" missing, give `ranges` of dates that occur, or '
                "lower `privacy`"
            )
        raise ImpossibleRelease(
            f'"{self.name}": {count_noun(far, "noisy value is", "noisy values are")} too large to store; divide the '
            "column first, or lower `privacy`"
        )

    def count_outside(self, least: float, most: float) -> int:
        """How many known cells lie below one number or above another."""
        return int(((self.numbers < least) | (self.numbers > most)).sum())

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

    def _build_published(self, values: Floats | Ints) -> pl.Series:
        full = np.zeros(len(self.known_mask), dtype=values.dtype)
        full[self.known_mask] = values
        published_cells = pl.Series(self.name, full).set(pl.Series(~self.known_mask), None)
        kind = self.column.dtype
        if kind == pl.String:  # dates that were not parsed as such
            return published_cells.cast(pl.Date)
        if kind.is_integer() and self.whole is None:  # its range allows decimals
            return published_cells
        if kind.is_integer():  # a small type cannot hold values beyond its range
            fits = published_cells.cast(kind, strict=False)
            return fits if fits.null_count() == published_cells.null_count() else published_cells
        return published_cells.cast(kind)


@dataclass(frozen=True)
class NumberFacts:
    """What must be known about all cells of a column before noise is chosen; facts about parts of it add up."""

    cells: int = 0
    known_count: int = 0
    texts: int = 0
    """Known cells that are neither numbers nor dates; a number next to a word is stored as a text."""
    spelled_numbers: int = 0
    """Those of them that spell numbers."""
    distant: int = 0
    """Whole numbers that floats do not distinguish."""
    strange: int = 0
    """Numbers that are not finite."""
    outside_count: int = 0
    """Numbers outside the given range."""
    large: int = 0
    """Numbers too large to compute with."""
    low: float = np.inf
    high: float = -np.inf

    @classmethod
    def of(cls, column: pl.Series, given_range: Sequence[Any] | None) -> NumberFacts:
        """Look at some cells."""
        cells = _convert_to_numbers(column)
        if cells is None:
            return cls(len(column), column.count(), texts=column.count())
        numbers = cells.drop_nulls().cast(pl.Float64).to_numpy()
        low, high = (-np.inf, np.inf) if given_range is None else map(parse_end, given_range)
        return cls(
            cells=len(column),
            known_count=column.count(),
            texts=column.count() - len(numbers),
            spelled_numbers=count_spelled_numbers(column),
            distant=int((np.abs(numbers) > 2**53).sum()) if column.dtype.is_integer() else 0,
            strange=int((~np.isfinite(numbers)).sum()),
            outside_count=int(((numbers < low) | (numbers > high)).sum()),
            large=int((np.abs(numbers) > LARGE).sum()),
            low=float(numbers.min(initial=np.inf)),
            high=float(numbers.max(initial=-np.inf)),
        )

    def __add__(self, other: NumberFacts) -> NumberFacts:
        """The facts of two parts of a column."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in _COUNTS}
        return NumberFacts(**sums, low=min(self.low, other.low), high=max(self.high, other.high))


_COUNTS = ("cells", "known_count", "texts", "spelled_numbers", "distant", "strange", "outside_count", "large")


def read_number_column(
    table: Table, name: str, given_range: Sequence[Any] | None, *, exact: bool = False
) -> NumberColumn:
    """Read a column; refuse cells that are not finite numbers or are outside the range.

    If no range is given, it is that of the data, widened to a coarse grid unless `exact`. A given range with a point,
    as in 0.0, means that numbers have decimals, whether or not anybody's has.
    """
    column = table.frame[name]
    return fit_number_column(column, NumberFacts.of(column, given_range), table.source, given_range, exact=exact)


def fit_number_column(
    column: pl.Series, facts: NumberFacts, source: str, given_range: Sequence[Any] | None, *, exact: bool = False
) -> NumberColumn:
    """Some cells of a column, with the range that the facts about all of its cells give."""
    _refuse_other_cells(column, facts, source)
    low, high = _choose_column_range(column.name, facts, source, given_range)
    _refuse_extremes(column.name, facts, source, low, high)
    whole = _are_whole(column, given_range)
    if given_range is None and not exact:
        low, high = (float(end) for end in widen_range(low, high, whole=whole))
    no_numbers = np.zeros(0)
    known_mask: Flags = np.zeros(0, dtype=np.bool_)
    empty = np.zeros(0, dtype=np.int64) if whole else None
    frame = NumberColumn(
        column.clear(), known_mask, no_numbers, empty, low, high, given_range is not None, facts.known_count
    )
    return frame.take(column)


def says_decimals(given_range: Sequence[Any] | None) -> bool:
    """Whether a range is written with a decimal point."""
    return any(isinstance(end, float) for end in given_range or ())


def _convert_to_numbers(column: pl.Series) -> pl.Series | None:
    """Numbers as they are, dates as days, null for other texts; None for cells of another kind."""
    kind = column.dtype
    if kind.is_float() or kind.is_integer():
        return column
    if kind == pl.Date:
        return column.to_physical()
    return column.str.to_date(_DAY, strict=False).to_physical() if kind == pl.String else None


def _are_whole(column: pl.Series, given_range: Sequence[Any] | None) -> bool:
    """Whether noise moves cells by whole steps."""
    return not column.dtype.is_float() and not says_decimals(given_range)


def _explain_texts(column: pl.Series, facts: NumberFacts) -> str:
    """What a column holds that is neither numbers nor dates, and the cure."""
    is_text = column.dtype == pl.String
    if is_text and are_moments(column):
        has_days = find_moment_kind(column.drop_nulls()[0]) != "time"
        words, cure = ("times of day", "the minutes since midnight")
        if has_days:
            words, cure = ("dates with a time of day", "the day alone, or the minutes since a certain day")
        return (
            f"{words} in {count_noun(facts.known_count, 'row')}, and noise can be added to numbers and dates: before "
            f"you read the file, write {cure}"
        )
    reason = phrase_all_words(facts.spelled_numbers, facts.known_count)
    return (
        f"{'text' if is_text else str(column.dtype).lower()} ({reason}); noise can be added to numbers and dates "
        f'(2009-06-30; state the form of others: dates = {{ "{column.name}" = "%d.%m.%Y" }} under [data]). Decimals '
        "are kept as text: convert them to numbers first. For categories, use randomized response"
    )


def _refuse_other_cells(column: pl.Series, facts: NumberFacts, source: str) -> None:
    name, kind = column.name, column.dtype
    if facts.distant:
        raise DataError(
            f'{source}: "{name}" has {count_noun(facts.distant, "whole number")} beyond 2⁵³, probably no amounts; drop '
            "the column if they are codes, or divide them first"
        )
    is_number = kind.is_float() or kind.is_integer() or kind == pl.Date
    if not facts.known_count and not is_number:  # a column of nothing has no type
        raise PolicyError(
            f'{source}: every cell of "{name}" is missing, so there is nothing to add noise to; take the column out of '
            "the method's `columns`"
        )
    if facts.texts:
        raise PolicyError(f'{source}: "{name}" holds {_explain_texts(column, facts)}')
    if facts.strange:
        raise DataError(
            f'{source}: "{name}" has '
            f"{count_noun(facts.strange, 'cell that is not a finite number', 'cells that are not finite numbers')}; "
            "make them missing, or correct them"
        )


_PROPOSE_RANGE = (
    "give the range of values that are possible, under `ranges` in the spelling of the column: COLUMN = [0, 120] in a "
    'policy file, dates as "2024-01-31"'
)


def _choose_column_range(
    name: str, facts: NumberFacts, source: str, given_range: Sequence[Any] | None
) -> tuple[float, float]:
    if given_range is None:
        if not facts.known_count:
            raise ImpossibleRelease(
                f'{source}: "{name}" has no known value, so its range is undefined; leave the '
                f"column out, or {_PROPOSE_RANGE}"
            )
        if facts.low == facts.high:
            equal_text = f'all {facts.known_count:,} known values of "{name}" are the same'
            values = f'"{name}" has a single known value' if facts.known_count == 1 else equal_text
            raise ImpossibleRelease(f"{source}: {values}, so its range has no width; {_PROPOSE_RANGE}")
        return facts.low, facts.high
    low, high = (parse_end(end) for end in given_range)
    if not (low < high and np.isfinite(high - low)):
        raise PolicyError(f'the range of "{name}" must consist of two different finite values, the smaller first')
    if facts.outside_count:
        raise DataError(
            f'{source}: "{name}" has {count_noun(facts.outside_count, "value")} outside the given range; widen the '
            "range, or bring them into it"
        )
    return low, high


def _refuse_extremes(name: str, facts: NumberFacts, source: str, low: float, high: float) -> None:
    if facts.large:
        raise DataError(
            f'{source}: "{name}" has {count_noun(facts.large, "value")} beyond ±10¹⁰⁰, too large to compute with; '
            "divide all of them first, or make these missing"
        )
    if max(-low, high) > LARGE or high - low < _SMALL:
        raise DataError(
            f'{source}: the range of the known values of "{name}" reaches beyond ±10¹⁰⁰ or is narrower than 10⁻¹⁰⁰, '
            "which cannot be computed with; divide or multiply them first, or give a range of another size"
        )


def parse_end(end: Any) -> float:
    """An end of a range, or a cut, as a number; a date in days since 1970."""
    return float((end - date(1970, 1, 1)).days) if isinstance(end, date) else float(end)


def compute_column_covariance(columns: Sequence[NumberColumn], source: str) -> Floats:
    """The covariance of the columns, over the rows that have them all."""
    whole = np.logical_and.reduce([column.known_mask for column in columns])
    if int(whole.sum()) < 2:
        names = ", ".join(f'"{column.name}"' for column in columns)
        raise ImpossibleRelease(
            f"{source}: only {count_noun(int(whole.sum()), 'row has', 'rows have')} a value in each of {names}, and "
            "correlated noise needs such rows; name fewer columns, or fill missing values"
        )
    complete_numbers = np.array([column.numbers[whole[column.known_mask]] for column in columns])
    flat = [column.name for column, row in zip(columns, complete_numbers, strict=True) if row.min() == row.max()]
    if flat:
        raise ImpossibleRelease(
            f"{source}: all values of {quote_names(flat)} are the same, so noise shaped like "
            'them would be zero; leave the column out, or use kind = "gaussian" and give its range'
        )
    return np.atleast_2d(np.cov(complete_numbers, bias=True))
