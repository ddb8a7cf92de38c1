# SPDX-License-Identifier: MIT
"""How a column of numbers was recoded, read off the published cells: its base, its ends, its order.

None of these rules is drawn by chance, so anyone who knows the rule knows the cell. If several rules fit, take the one
under which the known numbers are distributed like the published ones. `change_kinds.py` says which kind of change is
read how.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.data.hierarchies.hierarchy import spell_cells

ALIKE = 0.9
"""The least share of numbers that are spread alike before a rule is believed that nobody stated."""
_LONGEST_GRID = 1_000_000
_LARGE = 1e100

Recode = Callable[[pl.Series], pl.Series]
"""Original values → the cells that are published of them."""


class RecodedColumn(NamedTuple):
    """What an outsider sees of a recoded column, and values that the same people are known to have."""

    cells: pl.Series
    known_values: pl.Series
    has_law: bool
    """Whether the release publishes how the column was randomized."""


def read_rounding(column: RecodedColumn) -> Recode | None:
    """The rounding under which the numbers are spread most alike; None for words, and for numbers with noise."""
    cells = column.cells.drop_nulls()
    if column.has_law or not are_numbers(cells, column.known_values):
        return None
    return _choose_rule(cells, column.known_values)


def are_numbers(cells: pl.Series, values: pl.Series) -> bool:
    """Whether both are numbers or both are dates, there are any, and none is too large to compute with."""
    alike = (cells.dtype.is_numeric() and values.dtype.is_numeric()) or cells.dtype == values.dtype == pl.Date
    if not alike or not len(cells) or not values.count():
        return False
    return all(bool((np.abs(_read_numbers_or_days(column.drop_nulls())) < _LARGE).all()) for column in (cells, values))


def _choose_rule(cells: pl.Series, values: pl.Series) -> Recode:
    """The rounding under which the numbers are spread most alike; by rank if none comes near."""
    rules = [*list_roundings(cells), _align_ranks(cells, values)]
    likeness = [measure_likeness(cells, rule(values)) for rule in rules]
    best = int(np.argmax(likeness[:-1]))
    return rules[best] if likeness[best] >= ALIKE * likeness[-1] else rules[-1]


def list_roundings(cells: pl.Series) -> list[Recode]:
    """Down, up, and to the nearest with a half up, down or to an even multiple."""
    grid = _read_grid(_read_numbers_or_days(cells))

    def snap(choose_place: Callable[[Ints, Floats], Ints]) -> Recode:
        def recode(values: pl.Series) -> pl.Series:
            numbers = _read_numbers_or_days(values)
            left = np.clip(np.searchsorted(grid, numbers * (1 + 1e-12 * np.sign(numbers)), "right") - 1, 0, None)
            right = np.minimum(left + 1, len(grid) - 1)
            width = grid[right] - grid[left]
            share = np.divide(numbers - grid[left], width, out=np.zeros(len(numbers)), where=width > 0)
            places = left + (right > left) * choose_place(left, np.clip(share, 0.0, 1.0).round(9))
            return restore_cells(grid[places], values.is_not_null(), cells.dtype)

        return recode

    def is_odd(places: Ints) -> Ints:
        step = grid[1] - grid[0] if len(grid) > 1 else 1.0
        with np.errstate(over="ignore", invalid="ignore"):  # a tiny step says nothing about large numbers
            return np.asarray(np.nan_to_num(np.round(grid[places] / step) % 2), dtype=np.int64)

    return [
        snap(lambda _, share: np.asarray(share >= 0.5, dtype=np.int64)),
        snap(lambda index, share: np.where(share == 0.5, is_odd(index), share > 0.5).astype(np.int64)),
        snap(lambda _, share: np.asarray(share > 0.5, dtype=np.int64)),
        snap(lambda _, share: np.asarray(share == 1.0, dtype=np.int64)),
        snap(lambda _, share: np.asarray(share > 0.0, dtype=np.int64)),
    ]


def _read_grid(numbers: Floats) -> Floats:
    """The multiples of the base between the ends; the published numbers themselves if they have no base."""
    distinct = np.unique(numbers)
    gaps = np.diff(distinct)
    if not len(gaps):
        return distinct
    base = float(gaps.min())
    with np.errstate(over="ignore"):  # of gaps that differ so much
        steps = gaps / base
        count = float(steps.sum())
    if count > _LONGEST_GRID or np.abs(steps - np.round(steps)).max() > 1e-6:
        return distinct
    # Published numbers stay as they are spelled; only the multiples between them are computed.
    grid: Floats = distinct[0] + base * np.arange(round(count) + 1)
    grid[np.round((distinct - distinct[0]) / base).astype(np.int64)] = distinct
    return grid


def _align_ranks(cells: pl.Series, values: pl.Series) -> Recode:
    """Any rule that keeps the order: as many people are below a published number as cells are."""
    own_values, counts = np.unique(_read_numbers_or_days(cells), return_counts=True)
    known_numbers = np.sort(_read_numbers_or_days(values.drop_nulls()))
    ends = np.round(np.cumsum(counts)[:-1] / counts.sum() * len(known_numbers)).astype(np.int64)
    cuts = known_numbers[np.clip(ends, 0, len(known_numbers) - 1)]

    def recode(other_values: pl.Series) -> pl.Series:
        places = np.searchsorted(cuts, _read_numbers_or_days(other_values), "right")
        return restore_cells(own_values[places], other_values.is_not_null(), cells.dtype)

    return recode


def restore_cells(numbers: Floats, is_known: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Numbers as cells of the published column; what is missing stays so."""
    physical = pl.Series(numbers if dtype.is_float() else np.round(numbers).astype(np.int64))
    cells = physical.cast(pl.Int32).cast(dtype) if dtype == pl.Date else physical.cast(dtype)
    return cells.zip_with(is_known, cells.clear(len(cells)))


def measure_likeness(cells: pl.Series, recoded_cells: pl.Series) -> float:
    """The share that two columns have in common, value by value."""
    shares = []
    for column in (cells, recoded_cells.drop_nulls()):
        counts = spell_cells(column).alias("cell").value_counts(name="count")
        shares.append(counts.select("cell", pl.col("count") / max(len(column), 1)))
    common_shares = shares[0].join(shares[1], on="cell")
    return float(common_shares.select(pl.min_horizontal("count", "count_right").sum()).item() or 0.0)


def _read_numbers_or_days(column: pl.Series) -> Floats:
    """Numbers, or dates in days; missing ones NaN."""
    return np.asarray(column.to_physical().cast(pl.Float64).to_numpy(), dtype=np.float64)
