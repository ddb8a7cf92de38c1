# SPDX-License-Identifier: MIT
"""How many stored rows are unique by very few columns: found as in memory, counted where the rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from sfumato.data.coded_cells import encode_cells
from sfumato.engine.memory_budget import find_memory_budget
from sfumato.engine.stored_rows import RowCounts, StoredRows
from sfumato.measure.anonymity.dense_unique_rows import MOST_PLACES, count_dense_unique, count_places
from sfumato.measure.anonymity.unique_rows import MOST_COLUMNS, UniqueRows, search_unique_rows

_MOST_TUPLES = 1 << 21
"""The most combinations that are counted once and held, instead of counting the rows again and again."""
_BYTES_A_CELL = 24


def find_stored_unique_rows(
    rows: StoredRows, columns: Sequence[str], most: int = MOST_COLUMNS
) -> tuple[UniqueRows, ...]:
    """For one, two, … up to `most` columns, the combination in which the most rows are unique."""
    return search_unique_rows(_StoredCounter(rows, list(columns)), most) if columns else ()


class _StoredCounter:
    """Columns with few combinations are compressed together once; what involves others is counted in the rows."""

    def __init__(self, rows: StoredRows, columns: list[str]) -> None:
        self._rows, self.columns, self.height = rows, columns, rows.height
        missing = rows.count_missing()
        self._values = {name: rows.count_values(name) + (missing[name] > 0) for name in columns}
        self._held = _choose_held_columns(rows, sorted(columns, key=lambda name: self._values[name]), self._values)
        self._counted: RowCounts | None = None

    def count_values(self, column: str) -> int:
        return self._values[column]

    def count_unique(self, combinations: Sequence[tuple[str, ...]]) -> list[int]:
        dense = [chosen for chosen in combinations if not self._is_held(chosen) and self._is_dense(chosen)]
        known = count_dense_unique(self._rows, dense, self._values) if dense else {}
        return [known[chosen] if chosen in known else self._count_unique(chosen) for chosen in combinations]

    def _is_held(self, columns: Sequence[str]) -> bool:
        return set(columns) <= set(self._held)

    def _is_dense(self, columns: Sequence[str]) -> bool:
        # A single column is counted sooner by itself than in a pass of its own over all.
        return len(columns) > 1 and count_places(columns, self._values) <= MOST_PLACES

    def _count_unique(self, columns: Sequence[str]) -> int:
        if not self._is_held(columns):
            return self._rows.count_sizes(columns).unique
        if self._counted is None:
            counted = self._rows.count_rows(self._held)
            codes = [pl.Series(name, encode_cells(counted.frame[name]).codes) for name in self._held]
            self._counted = RowCounts(pl.DataFrame(codes), counted.counts)
        frame = self._counted.frame.select(columns).with_columns(pl.Series("\0count", self._counted.counts))
        return int((frame.group_by(columns).agg(pl.col("\0count").sum())["\0count"] == 1).sum())


def _choose_held_columns(rows: StoredRows, columns: list[str], values: Mapping[str, int]) -> list[str]:
    """As many of the columns, which come in order of their values, as have few enough combinations."""
    most = min(_MOST_TUPLES, find_memory_budget() // 4 // (_BYTES_A_CELL * len(columns)))
    held, beyond = 0, len(columns) + 1
    while held < len(columns) and count_places(columns[: held + 1], values) <= most:
        held += 1  # so many in any case
    while beyond - held > 1:
        middle = (held + beyond) // 2
        if rows.estimate_tuples(columns[:middle]) <= most:
            held = middle
        else:
            beyond = middle
    return columns[:held]
