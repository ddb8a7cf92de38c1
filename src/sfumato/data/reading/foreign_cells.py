# SPDX-License-Identifier: MIT
"""Bring the cells of workbooks, statistics files and databases into the types of a table.

Excel, SPSS and SAS have one kind of number and no dates but numbers that are shown as dates: a column of whole numbers
becomes integers, moments that are all midnight become dates. Decimals of a database become numbers if no digit is lost,
as in a text file.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import polars as pl

from sfumato.data.cells.cell_types import type_cells
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.reading.foreign_worker import STATISTICS

_EXACT = 2**53


def simplify_stored_cells(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    """The cells as a table types them."""
    columns = [_simplify_column(column, kind) for column in frame.get_columns()]
    simple = pl.DataFrame(columns)
    if kind == "excel" and simple.width:  # a row without any cell is a gap between rows, not a person
        simple = simple.filter(~pl.all_horizontal(pl.all().is_null()))
    return simple


def _simplify_column(column: pl.Series, kind: str) -> pl.Series:
    if column.dtype.is_float() and kind != "duckdb":
        return narrow_whole_numbers(column.fill_nan(None))
    if column.dtype == pl.Decimal:
        return type_cells(column.cast(pl.String).to_frame()).to_series()
    if isinstance(column.dtype, pl.Datetime) and kind == "excel":
        return _simplify_moments(column)
    if column.dtype == pl.String and kind in STATISTICS:
        return column.set(column == "", None)  # these formats have no other way to say that a text is missing
    return column


def narrow_whole_numbers(column: pl.Series) -> pl.Series:
    """Integers, if every number is whole and exact."""
    known_numbers = column.drop_nulls()
    whole = bool(len(known_numbers)) and bool(((known_numbers % 1 == 0) & (known_numbers.abs() < _EXACT)).all())
    return column.cast(pl.Int64) if whole else column


def _simplify_moments(column: pl.Series) -> pl.Series:
    """Dates if every moment is midnight, times of day if none has a date."""
    known_moments = column.drop_nulls()
    if len(known_moments) and (known_moments.dt.time() == dt.time()).all():
        return column.dt.date()
    if len(known_moments) and (known_moments.dt.year() == 1899).all():
        return column.dt.time()
    return column


def mark_missing(frame: pl.DataFrame, marks: Sequence[str]) -> pl.DataFrame:
    """Cells that equal a mark are missing, in text and in numbers."""
    numeric = [mark for mark in marks if mark.lstrip("-").replace(".", "", 1).isdigit()]
    return pl.DataFrame(
        [_mark_column(column, marks if column.dtype == pl.String else numeric) for column in frame.get_columns()]
    )


def _mark_column(column: pl.Series, marks: Sequence[str]) -> pl.Series:
    if not marks or not (column.dtype == pl.String or column.dtype.is_numeric()):
        return column
    missing_mask = spell_cells(column).is_in(list(marks)).fill_null(value=False)
    return column.set(missing_mask, None) if missing_mask.any() else column
