# SPDX-License-Identifier: MIT
"""Check how many different values a published column has: of numbers cut into intervals, no more than intervals."""

from __future__ import annotations

import polars as pl

from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.measure.alignment import require_columns
from sfumato.measure.checks import checks_claim
from sfumato.table import Table


def count_distinct_numbers(table: Table, column: str) -> int:
    """How many different values the cells have; empty cells and `*` have none."""
    require_columns(table.frame, (column,), table.source)
    cells = spell_cells(table.frame[column]).drop_nulls()
    return cells.filter(cells.ne(pl.Series([STAR]))).n_unique()


checks_claim("distinct_numbers", "at_most", arguments=("column",))(
    lambda evidence, arguments: count_distinct_numbers(evidence.published_data, **arguments)
)
