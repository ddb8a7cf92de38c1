# SPDX-License-Identifier: MIT
"""Columns as sequential trees read and write them: a number for every cell, and the way back to the column's type.

A cell's code is the index of its value among the distinct values of the training people; trees only use the
order, so dates, large numbers and small ones are treated the same. A smoothed number lies between two indices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.errors import DataError, count_noun
from sfumato.protect.number_spelling import NumberSpelling

MISSING = -1
MOST_CLASSES = 64
"""How many categories a tree distinguishes when it predicts a column; the rarer ones are one group."""
_MOST_DECIMALS = 6
_MOSTLY = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class SynthesisColumn:
    """A column of the people that are learned from."""

    name: str
    kind: Literal["number", "category"]
    dtype: pl.DataType
    values: pl.Series
    """The distinct values in order, without missing."""
    codes: Ints
    """The index of every cell's value among them; −1 for a missing one."""
    counts: Ints
    """How many people have each value."""
    numbers: npt.NDArray[Any]
    """The values as whole or real numbers (days for dates); empty for categories."""
    is_listed: bool
    """Whether the values are listed in a hierarchy."""
    decimals: int | None
    """The number of decimals of the numbers; 0 for whole ones, None for more than six."""
    spelling: NumberSpelling | None = None
    """How text spells the numbers, if it does."""

    @classmethod
    def of(
        cls, column: pl.Series, source: str, is_listed: bool = False, spelling: NumberSpelling | None = None
    ) -> SynthesisColumn:
        """Read a column, whose numbers are finite."""
        column = spelling.read(column).alias(column.name) if spelling else column
        values = column.drop_nulls().unique().sort()
        if column.dtype == pl.String:
            places = column.cast(pl.Enum(values)).to_physical().cast(pl.Int64)
        else:
            places = column.rank("dense").cast(pl.Int64) - 1
        codes = places.fill_null(MISSING).to_numpy().astype(np.int64)
        counts = np.bincount(codes[codes >= 0], minlength=len(values)).astype(np.int64)
        number = column.dtype.is_numeric() or column.dtype == pl.Date
        numbers = _read_column_values(column, values, source) if number else np.zeros(0)
        decimals = _count_decimals(numbers) if column.dtype.is_float() else 0
        kind: Literal["number", "category"] = "number" if number else "category"
        return cls(column.name, kind, column.dtype, values, codes, counts, numbers, is_listed, decimals, spelling)

    @property
    def known_people(self) -> Ints:
        """The people whose value is not missing."""
        return np.flatnonzero(self.codes >= 0).astype(np.int64)

    def list_common(self, fewest: int) -> Ints:
        """The people whose value at least this many have."""
        known_people = self.known_people
        return known_people[self.counts[self.codes[known_people]] >= fewest]

    def measure_rare_share(self, fewest: int) -> float:
        """Of the people who have a value, the share with a value of fewer than this many people."""
        return 1 - len(self.list_common(fewest)) / max(len(self.known_people), 1)

    def list_allowed(self, fewest: int) -> npt.NDArray[Any] | None:
        """The numbers to which drawn ones are moved, if a hierarchy lists them; None if any may be drawn.

        All that are listed if they fill most of their range, as ages do: no number discloses more than its neighbour.
        Otherwise those of enough people, if most people have one. Days of birth are neither.
        """
        if not self.is_listed or not len(self.numbers):
            return None
        if self.decimals == 0 and 2 * len(self.numbers) > float(self.numbers[-1]) - float(self.numbers[0]):
            return self.numbers
        return self.numbers[self.counts >= fewest] if self.measure_rare_share(fewest) < _MOSTLY else None

    def publish(self, cells: DrawnCells) -> pl.Series:
        """The drawn cells in the column's type."""
        unknown = pl.Series(cells.codes < 0)
        if self.kind == "category":
            places = pl.Series(cells.codes.astype(np.int64)).set(unknown, None)
            return self.values.gather(places).alias(self.name)
        numbers = pl.Series(self.name, cells.numbers).set(unknown, None).cast(self.dtype)
        return self.spelling.write(numbers).alias(self.name) if self.spelling else numbers


@dataclass(frozen=True, eq=False, repr=False)
class DrawnCells:
    """Synthetic cells of one column."""

    codes: Floats
    """The index of each value among those learned from: between two indices if it is none of them; −1 if missing."""
    numbers: npt.NDArray[Any]
    """The value itself, for numbers and dates."""

    @classmethod
    def keep(cls, column: SynthesisColumn) -> DrawnCells:
        """Cells that stay unchanged."""
        places = np.maximum(column.codes, 0)
        numbers = column.numbers[places] if column.kind == "number" and len(column.numbers) else np.zeros(0)
        return cls(column.codes.astype(np.float64), numbers)

    def take(self, rows: Ints) -> DrawnCells:
        """The cells of some rows."""
        return DrawnCells(self.codes[rows], self.numbers[rows] if len(self.numbers) else self.numbers)

    def fill_rows(self, rows: Ints, other: DrawnCells) -> None:
        """Replace some cells by others."""
        self.codes[rows] = other.codes
        if len(self.numbers):
            self.numbers[rows] = other.numbers


def refuse_infinite_cells(frame: pl.DataFrame, source: str) -> None:
    """Refuse infinite numbers: none lies between a finite and an infinite one."""
    for column in frame.get_columns():
        infinite = int(column.is_infinite().sum()) if column.dtype.is_float() else 0
        if infinite:
            raise DataError(
                f'{source}: "{column.name}" has {count_noun(infinite, "infinite cell")}, which cannot be compared with '
                "others; make them missing"
            )


def settle_digits(column: pl.Series, learnt_people: Ints, fewest: int, spelling: NumberSpelling | None) -> pl.Series:
    """Numbers and timestamps as precise as at least `fewest` of the people learned from need."""
    if spelling is None:
        return settle_decimals(column, learnt_people, fewest)
    return spelling.settle_moments(column, learnt_people, fewest) if spelling.kind == "moment" else column


def settle_decimals(column: pl.Series, learnt_people: Ints, fewest: int) -> pl.Series:
    """Numbers with as many decimals as at least `fewest` of the people learned from need; whole if none.

    Otherwise one person's decimals would appear in everybody's. Numbers are truncated towards the middle, so that no
    number reaches further than before.
    """
    if not column.dtype.is_float() or column.is_nan().any():
        return column
    known_numbers = column[learnt_people].drop_nulls().cast(pl.Float64).to_numpy()
    digits = next(
        (d for d in range(_MOST_DECIMALS + 1) if int((np.round(known_numbers, d) != known_numbers).sum()) < fewest),
        None,
    )
    if digits is None or not len(known_numbers) or np.abs(known_numbers).max() * 10.0**digits > 2.0**53:
        return column
    numbers = column.cast(pl.Float64).fill_null(0.0).to_numpy()
    steps, rounded_numbers = numbers * 10.0**digits, np.round(numbers, digits)
    inward = np.where(numbers > np.median(known_numbers), np.floor(steps), np.ceil(steps)) / 10.0**digits
    settled_column = pl.Series(column.name, np.where(rounded_numbers == numbers, rounded_numbers, inward)).set(
        column.is_null(), None
    )
    return settled_column.cast(column.dtype if digits else pl.Int64)


def _read_column_values(column: pl.Series, values: pl.Series, source: str) -> npt.NDArray[Any]:
    if column.dtype.is_float():
        return values.to_numpy().astype(np.float64)
    try:
        return values.to_physical().cast(pl.Int64).to_numpy().astype(np.int64)
    except pl.exceptions.PolarsError:
        raise DataError(
            f'{source}: "{column.name}" has whole numbers beyond 2⁶³; read the column as text or as real numbers'
        ) from None


def _count_decimals(numbers: npt.NDArray[Any]) -> int | None:
    """The smallest number of decimals that spells every number."""
    for digits in range(_MOST_DECIMALS + 1):
        if np.array_equal(np.round(numbers, digits), numbers):
            return digits
    return None


class CategoryGroups(NamedTuple):
    """The categories that a tree distinguishes."""

    groups: Ints
    group_count: int


def group_rare_categories(column: SynthesisColumn, fewest: int) -> CategoryGroups:
    """The categories of a column that a tree distinguishes as a predictor: those of fewer than `fewest` people are one
    group, since a separate code could identify a single person; missing is a group too."""
    rare = column.counts < fewest
    group = np.where(rare, 0, np.cumsum(~rare)).astype(np.int64)
    return CategoryGroups(np.append(group, int(group.max(initial=0)) + 1), int(group.max(initial=0)) + 2)


def number_target_classes(column: SynthesisColumn, people: Ints) -> CategoryGroups:
    """The categories that a tree distinguishes when it predicts them."""
    if len(column.values) <= MOST_CLASSES:
        return CategoryGroups(column.codes[people], len(column.values))
    common = np.sort(np.argsort(-column.counts, kind="stable")[: MOST_CLASSES - 1])
    group = np.full(len(column.values), MOST_CLASSES - 1, dtype=np.int64)
    group[common] = np.arange(len(common))
    return CategoryGroups(group[column.codes[people]], MOST_CLASSES)


def order_by_classes(groups: Ints, count: int, classes: Ints, width: int) -> Floats:
    """A number for each group of a predictor, so that groups with similar class shares are neighbours.

    The first principal component of the groups' shares, weighted by their size: for two classes it is the share of one,
    and the best split lies between two neighbours (Breiman and others 1984); for more, as Coppersmith and others
    (1999).
    """
    table = np.bincount(groups * width + classes, minlength=count * width).reshape(count, width).astype(np.float64)
    sizes = table.sum(axis=1)
    shares = table / np.maximum(sizes, 1.0)[:, None] - table.sum(axis=0) / max(sizes.sum(), 1.0)
    shares[sizes == 0] = 0.0
    spread = (shares * sizes[:, None]).T @ shares
    _, axes = np.linalg.eigh(spread)
    axis = axes[:, -1]
    axis = axis * (np.sign(axis[np.argmax(np.abs(axis))]) or 1.0)
    return np.asarray(shares @ axis)


def order_by_mean(groups: Ints, count: int, target: Floats) -> Floats:
    """The mean of a number in each group."""
    sizes = np.bincount(groups, minlength=count)
    sums = np.bincount(groups, weights=target, minlength=count)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), target.mean() if len(target) else 0.0)
