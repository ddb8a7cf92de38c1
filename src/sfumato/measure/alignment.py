# SPDX-License-Identifier: MIT
"""Align published rows with the originals they were made from, for measures that compare them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sfumato.arrays import Ints
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError, quote_names
from sfumato.release import Number
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.measure.checks import Evidence

Rows = Sequence[int] | Ints | None
"""The original row of each published row; None if they are the same rows."""


def select_originals(original: Table, rows: Rows) -> pl.DataFrame:
    """The original rows that the published rows were made from."""
    if rows is None:
        return original.frame
    numbers = np.asarray(rows, dtype=np.int64)
    if len(numbers) == len(original) and bool((numbers == np.arange(len(numbers))).all()):
        return original.frame
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < len(original):
        raise DataError(f"{original.source}: {len(original)} originals lack some rows that the release was made from")
    return original.frame[numbers]


def align_originals(original: Table, published_table: Table, rows: Rows) -> pl.DataFrame:
    """The original rows, one per published row; an error if the counts differ."""
    original_frame = select_originals(original, rows)
    if original_frame.height != len(published_table):
        raise DataError(
            f"{published_table.source}: {len(published_table)} published rows cannot be compared with "
            f"{original_frame.height} originals; give the table that the release was made from"
        )
    return original_frame


def require_columns(frame: pl.DataFrame, names: Sequence[str], source: str) -> None:
    """Reject a frame that lacks a column."""
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise DataError(f"{source}: there is no column {quote_names(absent)}")


def count_changes_elsewhere(original: Table, published_table: Table, columns: Sequence[str], rows: Rows) -> int:
    """How many cells differ from their originals outside some columns; a column that names nobody must be published."""
    original_frame = align_originals(original, published_table, rows)
    require_columns(original_frame, (*published_table.frame.columns, *columns), original.source)
    expected_names = [name for name in original_frame.columns if name not in original.identifying]
    require_columns(published_table.frame, (*expected_names, *columns), published_table.source)
    return sum(
        int(spell_cells(published_table.frame[name]).ne_missing(spell_cells(original_frame[name])).sum())
        for name in published_table.frame.columns
        if name not in columns
    )


def make_comparison_check(measure: Callable[..., Number]) -> Callable[[Evidence, Mapping[str, Any]], Number]:
    """Turn a measure of originals, release and rows into a check of claims."""

    def check(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
        return measure(evidence.original, evidence.published_data, rows=evidence.rows, **arguments)

    return check
