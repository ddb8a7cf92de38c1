# SPDX-License-Identifier: MIT
"""Check how many rows share each published value, and that rare values were grouped as stated."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.cells.coded_cells import count_cells
from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.measure.alignment import Rows, align_originals, make_comparison_check, require_columns
from sfumato.measure.checks import checks_claim
from sfumato.table import Table


def count_rows_of_rarest_value(table: Table, columns: Sequence[str]) -> int:
    """The fewest rows that have the same cell in a column; empty cells are equal, and `*` is not a value."""
    require_columns(table.frame, columns, table.source)
    return min((count for name in columns for count in _count_rows(table.frame[name])), default=0)


def _count_rows(column: pl.Series) -> list[int]:
    """How many rows have each value, in no order."""
    cells = spell_cells(column)
    counts: list[int] = count_cells(cells.filter(cells.ne_missing(pl.Series([STAR])))).counts.tolist()
    return counts


def count_wrongly_grouped_cells(
    original: Table, published_table: Table, columns: Sequence[str], label: str, rows: Rows = None
) -> int:
    """How many cells are neither their original nor the label, or are the label though their original is published."""
    frame = align_originals(original, published_table, rows)
    for compared_frame, source in ((frame, original.source), (published_table.frame, published_table.source)):
        require_columns(compared_frame, columns, source)
    return sum(_count_wrong(spell_cells(frame[n]), spell_cells(published_table.frame[n]), label) for n in columns)


def _count_wrong(original: pl.Series, published_cells: pl.Series, label: str) -> int:
    changed_mask = original.ne_missing(published_cells)
    label_mask = published_cells.eq_missing(pl.Series([label]))
    shown_mask = original.is_in(published_cells.drop_nulls().unique()).fill_null(published_cells.null_count() > 0)
    return int((changed_mask & (~label_mask | shown_mask)).sum())


checks_claim("rows_with_each_value", "at_least", arguments=("columns",))(
    lambda evidence, arguments: count_rows_of_rarest_value(evidence.published_data, **arguments)
)
checks_claim("cells_grouped_wrongly", "exactly", needs_original=True)(
    make_comparison_check(count_wrongly_grouped_cells)
)
