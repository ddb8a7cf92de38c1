# SPDX-License-Identifier: MIT
"""How many stored rows are unique by very few columns: found as in memory, counted where the rows are."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.engine.stored_rows import RowCounts, StoredRows
from sfumato.measure.anonymity.unique_rows import MOST_COLUMNS, UniqueRows, search_unique_rows

_MOST_TUPLES = 1 << 21
"""The most combinations that are counted once and held, instead of counting the rows again and again."""


def find_stored_unique_rows(
    rows: StoredRows, columns: Sequence[str], most: int = MOST_COLUMNS
) -> tuple[UniqueRows, ...]:
    """For one, two, … up to `most` columns, the combination in which the most rows are unique."""
    return search_unique_rows(_StoredCounter(rows, list(columns)), most) if columns else ()


class _StoredCounter:
    """Columns with few values are compressed together once; what involves others is counted in the rows."""

    def __init__(self, rows: StoredRows, columns: list[str]) -> None:
        self._rows, self.columns, self.height = rows, columns, rows.height
        missing = rows.count_missing()
        self._values = {name: rows.count_values(name) + (missing[name] > 0) for name in columns}
        self._held: list[str] = []
        tuples = 1
        for name in sorted(columns, key=lambda name: self._values[name]):
            tuples *= max(self._values[name], 1)
            if tuples <= _MOST_TUPLES:
                self._held.append(name)
        self._counted: RowCounts | None = None

    def count_values(self, column: str) -> int:
        return self._values[column]

    def count_unique(self, columns: Sequence[str]) -> int:
        if not set(columns) <= set(self._held):
            return self._rows.count_sizes(columns).unique
        if self._counted is None:
            self._counted = self._rows.count_rows(self._held)
        frame = self._counted.frame.select(columns).with_columns(pl.Series("\0count", self._counted.counts))
        return int((frame.group_by(columns).agg(pl.col("\0count").sum())["\0count"] == 1).sum())
