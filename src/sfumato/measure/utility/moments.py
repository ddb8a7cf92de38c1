# SPDX-License-Identifier: MIT
"""What a release does to numbers: mean, deviation, skewness and quantiles of each column, and correlations.

Plain differences, before and after. Added noise keeps means and widens the rest;
`sfumato.mine.reconstruct_distribution` estimates what an analyst can recover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats
from sfumato.errors import DataError, PolicyError, quote_names

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class NumberMoments:
    """The moments of one column's known cells; dates count in days since 1970. None without values."""

    count: int
    mean: float | None
    std: float | None
    """The population standard deviation (divided by the number of values)."""
    skewness: float | None
    """Also None if all values are the same."""
    quantiles: tuple[float, ...]
    """At the requested shares; empty without values."""


@dataclass(frozen=True)
class ColumnMoments:
    """One column before and after."""

    column: str
    before: NumberMoments
    after: NumberMoments

    @property
    def mean_shift(self) -> float | None:
        """By how many original standard deviations the mean moved; None without a deviation."""
        if self.before.mean is None or self.after.mean is None or not self.before.std:
            return None
        return (self.after.mean - self.before.mean) / self.before.std

    @property
    def std_ratio(self) -> float | None:
        """The ratio of the published to the original standard deviation; None if the original is 0."""
        return self.after.std / self.before.std if self.before.std and self.after.std is not None else None


class _MomentRow(NamedTuple):
    """A measure of a column before and after."""

    measure: str
    before: float | None
    after: float | None


@dataclass(frozen=True)
class MomentTable:
    """The moments of all number columns."""

    columns: tuple[ColumnMoments, ...]
    shares: tuple[float, ...]

    def __getitem__(self, column: str) -> ColumnMoments:
        """One column's."""
        for moments_of_column in self.columns:
            if moments_of_column.column == column:
                return moments_of_column
        raise DataError(f'"{column}" is not a column of numbers in both tables; those are: {", ".join(self.names)}')

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the table's order."""
        return tuple(moments_of_column.column for moments_of_column in self.columns)

    def to_frame(self) -> pl.DataFrame:
        """One row per column and measure: `column`, `measure`, `before`, `after`."""
        rows = [
            (moments_of_column.column, *row)
            for moments_of_column in self.columns
            for row in self._list_rows(moments_of_column)
        ]
        kinds = {"column": pl.String, "measure": pl.String, "before": pl.Float64, "after": pl.Float64}
        return pl.DataFrame(rows, schema=kinds, orient="row")

    def _list_rows(self, moments_of_column: ColumnMoments) -> list[_MomentRow]:
        rows = [
            _MomentRow(word, getattr(moments_of_column.before, word), getattr(moments_of_column.after, word))
            for word in ("mean", "std", "skewness")
        ]
        if moments_of_column.before.quantiles and moments_of_column.after.quantiles:
            pairs = zip(self.shares, moments_of_column.before.quantiles, moments_of_column.after.quantiles, strict=True)
            rows += [
                _MomentRow(f"quantile {share:g}", original, published_quantile)
                for share, original, published_quantile in pairs
            ]
        return rows


@dataclass(frozen=True, eq=False)
class Correlations:
    """Correlations before and after; NaN where a column is constant."""

    columns: tuple[str, ...]
    before: Floats
    after: Floats
    largest: float
    """The largest absolute difference over all pairs; a constant column counts as uncorrelated."""
    mean: float
    """The mean absolute difference over all pairs."""

    def to_frame(self) -> pl.DataFrame:
        """One row per pair: `one`, `other`, `before`, `after`."""
        pairs = [
            (row, column_index)
            for row in range(len(self.columns))
            for column_index in range(row + 1, len(self.columns))
        ]
        return pl.DataFrame(
            {
                "one": pl.Series([self.columns[row] for row, _ in pairs], dtype=pl.String),
                "other": pl.Series([self.columns[column_index] for _, column_index in pairs], dtype=pl.String),
                "before": pl.Series([self.before[pair] for pair in pairs], dtype=pl.Float64),
                "after": pl.Series([self.after[pair] for pair in pairs], dtype=pl.Float64),
            }
        )


def moments(
    original: Any, published_table: Any, columns: Sequence[str] | None = None, quantiles: Sequence[float] = QUANTILES
) -> MomentTable:
    """The moments of every number or date column in both tables; the rows may differ."""
    shares = tuple(float(quantile) for quantile in quantiles)
    if not all(0 <= quantile <= 1 for quantile in shares):
        raise PolicyError("quantiles must be shares between 0 and 1")
    first, second = _get_frame(original), _get_frame(published_table)
    names = _choose_number_columns(first, second, columns)
    table = (
        ColumnMoments(
            name, *(_compute_moments(_select_finite_numbers(frame[name]), shares) for frame in (first, second))
        )
        for name in names
    )
    return MomentTable(tuple(table), shares)


def correlations(original: Any, published_table: Any, columns: Sequence[str] | None = None) -> Correlations:
    """Pearson's correlation of every pair of columns, over the rows in which both are known."""
    first, second = _get_frame(original), _get_frame(published_table)
    names = _choose_number_columns(first, second, columns)
    original_matrix, published_matrix = (
        _compute_correlations([_read_physical_numbers(frame[name]) for name in names]) for frame in (first, second)
    )
    upper = np.triu_indices(len(names), 1)
    gaps = np.abs(np.nan_to_num(original_matrix) - np.nan_to_num(published_matrix))[upper]
    largest, mean = (float(gaps.max()), float(gaps.mean())) if len(gaps) else (0.0, 0.0)
    return Correlations(names, original_matrix, published_matrix, largest, mean)


def _get_frame(data: Any) -> pl.DataFrame:
    frame = getattr(data, "frame", data)
    if not isinstance(frame, pl.DataFrame):
        raise DataError("moments need tables or polars frames")
    return frame


def _choose_number_columns(first: pl.DataFrame, second: pl.DataFrame, columns: Sequence[str] | None) -> tuple[str, ...]:
    common_names = [name for name in first.columns if name in second.columns]
    if columns is None:
        return tuple(
            name for name in common_names if _is_number_column(first[name]) and _is_number_column(second[name])
        )
    strange = [
        n
        for n in columns
        if n not in common_names or not (_is_number_column(first[n]) and _is_number_column(second[n]))
    ]
    if strange:
        raise DataError(f"{quote_names(strange)} is not a column of numbers or dates in both tables")
    return tuple(columns)


def _is_number_column(column: pl.Series) -> bool:
    return column.dtype.is_numeric() or column.dtype == pl.Date


def _read_physical_numbers(column: pl.Series) -> Floats:
    return np.asarray(column.to_physical().cast(pl.Float64).to_numpy(), dtype=np.float64)


def _select_finite_numbers(column: pl.Series) -> Floats:
    numbers = _read_physical_numbers(column)
    return numbers[np.isfinite(numbers)]


def _compute_moments(values: Floats, shares: tuple[float, ...]) -> NumberMoments:
    if not len(values):
        return NumberMoments(0, None, None, None, ())
    mean, std = float(values.mean()), float(values.std())
    flat = values.min() == values.max()
    skewness = None if flat or std == 0 else float((((values - mean) / std) ** 3).mean())
    quantiles = tuple(float(quantile) for quantile in np.quantile(values, shares)) if shares else ()
    return NumberMoments(len(values), mean, 0.0 if flat else std, skewness, quantiles)


def _compute_correlations(columns: Sequence[Floats]) -> Floats:
    matrix = np.eye(len(columns))
    for row, numbers in enumerate(columns):
        for column_index in range(row + 1, len(columns)):
            matrix[row, column_index] = matrix[column_index, row] = _compute_correlation(numbers, columns[column_index])
    return matrix


def _compute_correlation(first_column: Floats, other: Floats) -> float:
    known_mask = np.isfinite(first_column) & np.isfinite(other)
    first, second = first_column[known_mask], other[known_mask]
    if len(first) < 2 or first.min() == first.max() or second.min() == second.max():
        return float("nan")
    first, second = first - first.mean(), second - second.mean()
    return float(first @ second / np.sqrt((first @ first) * (second @ second)))
