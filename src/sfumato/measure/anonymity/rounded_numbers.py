# SPDX-License-Identifier: MIT
"""Check that published numbers are multiples of a step, and how far they are from the originals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sfumato.arrays import Floats
from sfumato.data.hierarchies.hierarchy import STAR
from sfumato.errors import DataError
from sfumato.measure.alignment import Rows, align_originals, make_comparison_check, require_columns
from sfumato.measure.checks import checks_claim
from sfumato.table import Table


def count_between_steps(table: Table, columns: Sequence[str], step: float) -> int:
    """How many cells are not a multiple of the step; empty cells and `*` do not count, any other label does."""
    if not 0 < step < np.inf:
        raise DataError("a step must be a number above 0")
    require_columns(table.frame, columns, table.source)
    return sum(_count_off(table.frame[name], step) for name in columns)


def _count_off(column: pl.Series, step: float) -> int:
    numbers = _cast_numbers(column)
    finite = np.isfinite(numbers)
    finite_numbers = numbers[finite]
    distances = np.abs(finite_numbers - np.round(finite_numbers / step) * step)
    labels = column.drop_nulls().cast(pl.String).ne(STAR).sum() - int(finite.sum())
    return int((distances > 1e-9 * step + _measure_grain(finite_numbers)).sum()) + int(labels)


def measure_largest_rounding(
    original: Table, published_table: Table, columns: Sequence[str], rows: Rows = None
) -> float:
    """The largest distance of a published number from its original, to the precision of stored numbers.

    A number where there was none is infinitely far, and so is a label or a word; empty cells and `*` do not count.
    """
    frame = align_originals(original, published_table, rows)
    for compared_frame, source in ((frame, original.source), (published_table.frame, published_table.source)):
        require_columns(compared_frame, columns, source)
    return max((_measure_farthest(frame[name], published_table.frame[name]) for name in columns), default=0.0)


def _measure_farthest(original: pl.Series, published_cells: pl.Series) -> float:
    is_shown = published_cells.cast(pl.String).ne(STAR).fill_null(False)
    true, published_numbers = (_cast_numbers(cells.filter(is_shown)) for cells in (original, published_cells))
    if not (np.isfinite(true).all() and np.isfinite(published_numbers).all()):
        return float("inf")
    distances = np.abs(true - published_numbers) - _measure_grain(true) - _measure_grain(published_numbers)
    return round(float(distances.max(initial=0.0)), 12)


def _measure_grain(numbers: Floats) -> Floats:
    """The error of numbers that were computed and written as decimals."""
    return np.asarray(4 * np.spacing(np.abs(numbers)), dtype=np.float64)


def _cast_numbers(column: pl.Series) -> Floats:
    """Cells as numbers; NaN where there is none."""
    cells = column if column.dtype.is_numeric() else column.cast(pl.String)
    return np.asarray(cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy(), dtype=np.float64)


checks_claim("numbers_between_steps", "exactly", arguments=("columns", "step"))(
    lambda evidence, arguments: count_between_steps(evidence.published_data, **arguments)
)
checks_claim("largest_rounding", "at_most", needs_original=True)(make_comparison_check(measure_largest_rounding))
