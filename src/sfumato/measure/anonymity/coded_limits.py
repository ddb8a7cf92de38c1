# SPDX-License-Identifier: MIT
"""Check cell by cell whether numbers were top and bottom coded as promised, independently of the method."""

from __future__ import annotations

import polars as pl

from sfumato.errors import DataError
from sfumato.measure.alignment import Rows, align_originals, make_comparison_check, require_columns
from sfumato.measure.checks import checks_claim
from sfumato.release import Number
from sfumato.table import Table

_SHOWN_ARGUMENTS = ("cap?", "column", "floor?")


def count_beyond_limits(table: Table, column: str, floor: Number | None = None, cap: Number | None = None) -> int:
    """How many numbers of a column lie below a floor or above a cap."""
    cells = _read_limited_numbers(table.frame, column, table.source)
    count_below = 0 if floor is None else int((cells < _cast_limit(floor, cells)).sum())
    return count_below + (0 if cap is None else int((cells > _cast_limit(cap, cells)).sum()))


def count_rows_at_limits(table: Table, column: str, floor: Number | None = None, cap: Number | None = None) -> int:
    """How many rows hold the cap, or the floor if those are fewer; 0 without limits."""
    cells = _read_limited_numbers(table.frame, column, table.source)
    return min((int((cells == _cast_limit(end, cells)).sum()) for end in (floor, cap) if end is not None), default=0)


def count_miscoded_cells(
    original: Table,
    published_table: Table,
    column: str,
    floor: Number | None = None,
    cap: Number | None = None,
    rows: Rows = None,
) -> int:
    """How many cells are neither their original nor, where that lies beyond a limit, the limit."""
    original_numbers = _read_limited_numbers(align_originals(original, published_table, rows), column, original.source)
    published_numbers = _read_limited_numbers(published_table.frame, column, published_table.source)
    if original_numbers.dtype == pl.Float32 and published_numbers.dtype.is_float():
        published_numbers = published_numbers.cast(pl.Float32)
    wanted_numbers = original_numbers
    for comparison, limit in ((original_numbers.__gt__, cap), (original_numbers.__lt__, floor)):
        if limit is not None:
            coded_mask = comparison(_cast_limit(limit, original_numbers)).fill_null(False)
            wanted_numbers = pl.repeat(limit, len(original_numbers), eager=True).zip_with(coded_mask, wanted_numbers)
    return int(wanted_numbers.cast(published_numbers.dtype, strict=False).ne_missing(published_numbers).sum())


checks_claim("beyond_limits", "exactly", arguments=_SHOWN_ARGUMENTS)(
    lambda evidence, arguments: count_beyond_limits(evidence.published_data, **arguments)
)
checks_claim("rows_at_limits", "at_least", arguments=_SHOWN_ARGUMENTS)(
    lambda evidence, arguments: count_rows_at_limits(evidence.published_data, **arguments)
)
checks_claim("miscoded_cells", "exactly", needs_original=True)(make_comparison_check(count_miscoded_cells))


def _read_limited_numbers(frame: pl.DataFrame, column: str, source: str) -> pl.Series:
    require_columns(frame, (column,), source)
    if not frame[column].dtype.is_numeric():
        raise DataError(f'{source}: "{column}" holds no numbers; no other method may change a coded column')
    return frame[column]


def _cast_limit(limit: Number, cells: pl.Series) -> pl.Series:
    """A limit as the column would hold it: a file has 0.1 where a 32-bit float is slightly more."""
    if not isinstance(limit, (int, float)):
        raise DataError("a cap or a floor must be a number")
    return pl.Series([limit]).cast(cells.dtype if cells.dtype.is_float() else pl.Float64 if limit % 1 else pl.Int64)
