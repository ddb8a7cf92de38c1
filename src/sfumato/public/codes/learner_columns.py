# SPDX-License-Identifier: MIT
"""Columns as decision trees see them, and the index of each cell among the distinct values.

scikit-learn's trees compare 32-bit floats, and treat neighbours that are very close as equal. Whole numbers in a narrow
range are indexed by counting; anything else is sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints, Singles
from sfumato.errors import DataError, count_noun

_Task = TypeVar("_Task")
_TaskResult = TypeVar("_TaskResult")

UNKNOWN = -1
"""The index of a cell that is missing, or not one of the values."""
TOO_CLOSE = np.float32(1e-7)
"""scikit-learn treats a value as equal to the one before it if it is no further away than this (in 32-bit floats)."""
_THREADS = 2
_FEW_VALUES = 2**15
"""Up to this many values fit a processor's cache, and looking up a cell among them is faster than sorting the cells."""


def is_learnable_type(kind: pl.DataType) -> bool:
    """Whether trees accept such a column unchanged."""
    return kind.is_numeric() or kind == pl.Boolean


def convert_for_learners(column: pl.Series, source: str) -> Singles:
    """A column as scikit-learn's trees see it: 32-bit floats, missing as NaN."""
    wide = column.cast(pl.Float64).to_numpy()
    with np.errstate(over="ignore"):
        cells = wide.astype(np.float32) + np.float32(0)  # −0 and 0 are one value
    infinite = int(np.isinf(cells).sum())
    if infinite:
        raise DataError(
            f'{source}: "{column.name}": {count_noun(infinite, "number exceeds", "numbers exceed")} 32-bit floats, '
            "which trees use; "
            "divide the column by a power of ten"
        )
    return np.asarray(cells)


class RankedCells(NamedTuple):
    """Distinct values in order, and the index of each cell among them."""

    values: Singles
    indices: Ints


def rank_cells(cells: Singles) -> RankedCells:
    """The distinct values in order, and the index of each cell among them; a missing cell is at `UNKNOWN`."""
    known_mask = ~np.isnan(cells)
    if known_mask.all():
        return _rank_known_cells(cells)
    values, ranks = _rank_known_cells(cells[known_mask])
    places = np.full(len(cells), UNKNOWN, dtype=np.int64)
    places[known_mask] = ranks
    return RankedCells(values, places)


def _rank_known_cells(cells: Singles) -> RankedCells:
    if _is_narrow(cells, len(cells)):
        low = cells.min()
        steps = (cells - low).astype(np.int64)
        present = np.bincount(steps) > 0
        numbers = np.cumsum(present) - 1
        return RankedCells(np.flatnonzero(present).astype(np.float32) + low, numbers[steps])
    values, places = np.unique(cells, return_inverse=True)
    return RankedCells(values, places.astype(np.int64))


def look_up_cells(cells: Singles, values: Singles) -> Ints:
    """The index of each cell among given distinct values; `UNKNOWN` if it is missing or not one of them."""
    if not len(values):
        return np.full(len(cells), UNKNOWN, dtype=np.int64)
    if _is_narrow(values, len(cells)):
        return _look_up_by_table(cells, values)
    if len(values) > _FEW_VALUES:
        distinct_cells, places = rank_cells(cells)
        return np.append(_look_up_by_search(distinct_cells, values), UNKNOWN)[places]
    return _look_up_by_search(cells, values)


def _look_up_by_search(cells: Singles, values: Singles) -> Ints:
    places = np.minimum(np.searchsorted(values, cells), len(values) - 1)
    return np.where(values[places] == cells, places, UNKNOWN).astype(np.int64)


def _look_up_by_table(cells: Singles, values: Singles) -> Ints:
    low, high = values[0], values[-1]
    range_mask = (cells >= low) & (cells <= high)
    steps = np.where(range_mask, cells - low, 0).astype(np.int64)
    numbers = np.full(int(high - low) + 1, UNKNOWN, dtype=np.int64)
    numbers[(values - low).astype(np.int64)] = np.arange(len(values))
    places = numbers[steps]
    right = range_mask & (values[places] == cells)
    return places if right.all() else np.where(right, places, UNKNOWN)


def _is_narrow(cells: Singles, rows: int) -> bool:
    """Whether cells are whole numbers in so narrow a range that counting is faster than sorting."""
    if not len(cells):
        return False
    low, high = float(cells.min()), float(cells.max())
    return max(abs(low), abs(high)) < 2**23 and high - low <= 4 * rows + 1024 and bool((np.rint(cells) == cells).all())


def flag_indistinct_values(values: Singles) -> Flags:
    """For each distinct value but the first, whether trees treat it as equal to the one before it."""
    return np.asarray(values[1:] <= values[:-1] + TOO_CLOSE)


class ClassRanges(NamedTuple):
    """The smallest and the largest class of each value."""

    low: Ints
    high: Ints


def find_class_ranges(places: Ints, classes: Ints, values: int) -> ClassRanges:
    """The smallest and the largest class among the rows of each value; for a value without rows, 1 and 0.

    Classes are numbered from 0; rows at `UNKNOWN` are skipped.
    """
    known_mask = places >= 0
    rows, known_classes = (places, classes) if known_mask.all() else (places[known_mask], classes[known_mask])
    low, high = np.full(values, np.iinfo(np.int64).max), np.full(values, -1, dtype=np.int64)
    np.minimum.at(low, rows, known_classes)
    np.maximum.at(high, rows, known_classes)
    empty = high < 0
    return ClassRanges(np.where(empty, 1, low), np.where(empty, 0, high))


def map_in_threads(work: Callable[[_Task], _TaskResult], tasks: Iterable[_Task]) -> list[_TaskResult]:
    """Process several columns, two at a time: numpy releases the interpreter lock while it sorts."""
    todo = list(tasks)
    if len(todo) < 2:
        return [work(task) for task in todo]
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(work, todo))
