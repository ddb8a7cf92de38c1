# SPDX-License-Identifier: MIT
"""How many stored rows are unique by very few columns: found as in memory, counted where the rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import comb

import polars as pl

from sfumato.data.cells.coded_cells import encode_cells
from sfumato.engine.memory_budget import find_memory_budget
from sfumato.engine.stored_rows import RowCounts, StoredRows
from sfumato.measure.anonymity.dense_unique_rows import MOST_AT_ONCE, count_dense_unique, count_possible_rows, is_dense
from sfumato.measure.anonymity.unique_rows import MOST_COLUMNS, UniqueRows, search_unique_rows

_MOST_TUPLES = 1 << 21
"""The most combinations that are counted once and held, instead of counting the rows again and again."""
_BYTES_A_CELL = 24
_MOST_AHEAD = 200
"""Up to this many combinations are counted before they are asked for."""


def find_stored_unique_rows(
    rows: StoredRows, columns: Sequence[str], most: int = MOST_COLUMNS
) -> tuple[UniqueRows, ...]:
    """For one, two, … up to `most` columns, the combination in which the most rows are unique."""
    return search_unique_rows(StoredCounter(rows, list(columns)), most) if columns else ()


class StoredCounter:
    """Combinations with few possible rows are counted together in one pass over all rows.

    Of the others, those of columns with few combinations are counted in these, which are held; the rest in the rows.
    """

    def __init__(self, rows: StoredRows, columns: list[str]) -> None:
        """Count the values of each column."""
        self._rows, self.columns, self.height = rows, columns, rows.height
        missing = rows.count_missing()
        self._values = {name: rows.count_values(name) + (missing[name] > 0) for name in columns}
        self._unique_counts: dict[tuple[str, ...], int] = {}

    def count_values(self, column: str) -> int:
        """How many values a column has; a missing cell is one."""
        return self._values[column]

    def count_unique(self, combinations: Sequence[tuple[str, ...]]) -> list[int]:
        """For each combination, its columns in the order given first, how many rows no other row equals in them."""
        # A single column is counted sooner by itself than in a pass of its own over all.
        wanted_combinations = [
            combination
            for combination in combinations
            if len(combination) > 1 and combination not in self._unique_counts
        ]
        dense = [combination for combination in wanted_combinations if is_dense(combination, self._values)]
        if dense:
            self._unique_counts |= count_dense_unique(self._rows, self._look_ahead(dense), self._values)
        return [self._unique_counts[c] if c in self._unique_counts else self._count_unique(c) for c in combinations]

    def _look_ahead(self, wanted_combinations: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """All that may be asked of as many columns and of more, if that saves further passes over the rows."""
        least, count = min(map(len, wanted_combinations)), len(self.columns)
        if sum(comb(count, size) for size in range(least, MOST_COLUMNS + 1)) > _MOST_AHEAD:
            return wanted_combinations
        sizes = range(least, MOST_COLUMNS + 1)
        dense = [c for size in sizes for c in combinations(self.columns, size) if is_dense(c, self._values)]
        return (
            dense if sum(count_possible_rows(c, self._values) for c in dense) <= MOST_AT_ONCE else wanted_combinations
        )

    @cached_property
    def _held_columns(self) -> list[str]:
        by_values = sorted(self.columns, key=lambda name: self._values[name])
        return _choose_held_columns(self._rows, by_values, self._values)

    @cached_property
    def _row_counts(self) -> RowCounts:
        row_counts = self._rows.count_rows(self._held_columns)
        codes = [pl.Series(name, encode_cells(row_counts.frame[name]).codes) for name in self._held_columns]
        return RowCounts(pl.DataFrame(codes), row_counts.counts)

    def _count_unique(self, columns: Sequence[str]) -> int:
        if len(columns) == 1 or not set(columns) <= set(self._held_columns):
            return self._rows.count_sizes(columns).unique
        frame = self._row_counts.frame.select(columns).with_columns(pl.Series("\0count", self._row_counts.counts))
        return int((frame.group_by(columns).agg(pl.col("\0count").sum())["\0count"] == 1).sum())


def _choose_held_columns(rows: StoredRows, columns: list[str], values: Mapping[str, int]) -> list[str]:
    """As many of the columns, which come in order of their values, as have few enough combinations."""
    most = min(_MOST_TUPLES, find_memory_budget() // 4 // (_BYTES_A_CELL * len(columns)))
    held_count, upper_count = 0, len(columns) + 1
    while held_count < len(columns) and count_possible_rows(columns[: held_count + 1], values) <= most:
        held_count += 1  # so many in any case
    while upper_count - held_count > 1:
        middle = (held_count + upper_count) // 2
        if rows.estimate_tuples(columns[:middle]) <= most:
            held_count = middle
        else:
            upper_count = middle
    return columns[:held_count]
