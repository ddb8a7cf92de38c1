# SPDX-License-Identifier: MIT
"""What a release does to numbers: mean, deviation, skewness and quantiles of each column, and how columns go together.

Plain differences, before and after. Added noise keeps means and spreads out everything else; what an analyst can win
back is another matter (`sfumato.mine.reconstruct_distribution`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Floats
from sfumato.errors import DataError, PolicyError

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Moments:
    """One column's, of the cells that are known; dates count in days since 1970. None where there is nothing."""

    count: int
    mean: float | None
    std: float | None
    """Of the values as they are: divided by their number."""
    skewness: float | None
    """None also where all values are the same."""
    quantiles: tuple[float, ...]
    """At the shares that were asked for; empty where there is nothing."""


@dataclass(frozen=True)
class ColumnMoments:
    """One column before and after."""

    column: str
    before: Moments
    after: Moments

    @property
    def mean_shift(self) -> float | None:
        """By how many deviations of the original the mean moved; None where there is none."""
        if self.before.mean is None or self.after.mean is None or not self.before.std:
            return None
        return (self.after.mean - self.before.mean) / self.before.std

    @property
    def std_ratio(self) -> float | None:
        """How much wider the published values are spread; None where the originals are not spread at all."""
        return self.after.std / self.before.std if self.before.std and self.after.std is not None else None


@dataclass(frozen=True)
class MomentTable:
    """The moments of all columns of numbers."""

    columns: tuple[ColumnMoments, ...]
    shares: tuple[float, ...]

    def __getitem__(self, column: str) -> ColumnMoments:
        """One column's."""
        for one in self.columns:
            if one.column == column:
                return one
        raise DataError(f"«{column}» is no column of numbers in both; there are: {', '.join(self.names)}")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the table's order."""
        return tuple(one.column for one in self.columns)

    def to_frame(self) -> pl.DataFrame:
        """One row a column and measure: `column`, `measure`, `before`, `after`."""
        rows = [(one.column, *row) for one in self.columns for row in self._rows(one)]
        kinds = {"column": pl.String, "measure": pl.String, "before": pl.Float64, "after": pl.Float64}
        return pl.DataFrame(rows, schema=kinds, orient="row")

    def _rows(self, one: ColumnMoments) -> list[tuple[str, float | None, float | None]]:
        found: list[tuple[str, float | None, float | None]] = [
            (word, getattr(one.before, word), getattr(one.after, word)) for word in ("mean", "std", "skewness")
        ]
        if one.before.quantiles and one.after.quantiles:
            pairs = zip(self.shares, one.before.quantiles, one.after.quantiles, strict=True)
            found += [(f"quantile {share:g}", before, after) for share, before, after in pairs]
        return found


@dataclass(frozen=True, eq=False)
class Correlations:
    """How columns go together, before and after; NaN where a column does not vary."""

    columns: tuple[str, ...]
    before: Floats
    after: Floats
    largest: float
    """The largest absolute difference over all pairs; what does not vary goes with nothing, so it counts as 0."""
    mean: float
    """The mean absolute difference over all pairs."""

    def to_frame(self) -> pl.DataFrame:
        """One row a pair: `one`, `other`, `before`, `after`."""
        pairs = [(row, to) for row in range(len(self.columns)) for to in range(row + 1, len(self.columns))]
        return pl.DataFrame(
            {
                "one": pl.Series([self.columns[row] for row, _ in pairs], dtype=pl.String),
                "other": pl.Series([self.columns[to] for _, to in pairs], dtype=pl.String),
                "before": pl.Series([self.before[pair] for pair in pairs], dtype=pl.Float64),
                "after": pl.Series([self.after[pair] for pair in pairs], dtype=pl.Float64),
            }
        )


def moments(
    original: Any, published: Any, columns: Sequence[str] | None = None, quantiles: Sequence[float] = QUANTILES
) -> MomentTable:
    """The moments of every column of numbers or dates that both have; rows need not be the same, or as many."""
    shares = tuple(float(one) for one in quantiles)
    if not all(0 <= one <= 1 for one in shares):
        raise PolicyError("a quantile is asked for at a share between 0 and 1")
    first, second = _frame(original), _frame(published)
    names = _names(first, second, columns)
    found = (ColumnMoments(name, *(_moments(_known(one[name]), shares) for one in (first, second))) for name in names)
    return MomentTable(tuple(found), shares)


def correlations(original: Any, published: Any, columns: Sequence[str] | None = None) -> Correlations:
    """Pearson's correlation of every pair of columns, over the rows in which both are known."""
    first, second = _frame(original), _frame(published)
    names = _names(first, second, columns)
    before, after = (_correlations([_numbers(one[name]) for name in names]) for one in (first, second))
    upper = np.triu_indices(len(names), 1)
    gaps = np.abs(np.nan_to_num(before) - np.nan_to_num(after))[upper]
    largest, mean = (float(gaps.max()), float(gaps.mean())) if len(gaps) else (0.0, 0.0)
    return Correlations(names, before, after, largest, mean)


def _frame(data: Any) -> pl.DataFrame:
    found = getattr(data, "frame", data)
    if not isinstance(found, pl.DataFrame):
        raise DataError("moments are taken of tables or polars frames")
    return found


def _names(first: pl.DataFrame, second: pl.DataFrame, wanted: Sequence[str] | None) -> tuple[str, ...]:
    both = [name for name in first.columns if name in second.columns]
    if wanted is None:
        return tuple(name for name in both if _is_number(first[name]) and _is_number(second[name]))
    strange = [n for n in wanted if n not in both or not (_is_number(first[n]) and _is_number(second[n]))]
    if strange:
        raise DataError(f"{', '.join(f'«{name}»' for name in strange)} is no column of numbers or dates in both tables")
    return tuple(wanted)


def _is_number(column: pl.Series) -> bool:
    return column.dtype.is_numeric() or column.dtype == pl.Date


def _numbers(column: pl.Series) -> Floats:
    return np.asarray(column.to_physical().cast(pl.Float64).to_numpy(), dtype=np.float64)


def _known(column: pl.Series) -> Floats:
    found = _numbers(column)
    return found[np.isfinite(found)]


def _moments(values: Floats, shares: tuple[float, ...]) -> Moments:
    if not len(values):
        return Moments(0, None, None, None, ())
    mean, std = float(values.mean()), float(values.std())
    flat = values.min() == values.max()
    skewness = None if flat or std == 0 else float((((values - mean) / std) ** 3).mean())
    found = tuple(float(one) for one in np.quantile(values, shares)) if shares else ()
    return Moments(len(values), mean, 0.0 if flat else std, skewness, found)


def _correlations(columns: Sequence[Floats]) -> Floats:
    found = np.eye(len(columns))
    for row, one in enumerate(columns):
        for to in range(row + 1, len(columns)):
            found[row, to] = found[to, row] = _correlation(one, columns[to])
    return found


def _correlation(one: Floats, other: Floats) -> float:
    known = np.isfinite(one) & np.isfinite(other)
    first, second = one[known], other[known]
    if len(first) < 2 or first.min() == first.max() or second.min() == second.max():
        return float("nan")
    first, second = first - first.mean(), second - second.mean()
    return float(first @ second / np.sqrt((first @ first) * (second @ second)))
