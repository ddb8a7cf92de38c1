# SPDX-License-Identifier: MIT
"""How many rows are unique by very few columns, whatever the columns' roles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Protocol

import polars as pl

from sfumato.data.coded_cells import encode_cells
from sfumato.engine.classes import count_class_sizes
from sfumato.progress import report_progress

MOST_COLUMNS = 3
"""The largest number of columns that are combined."""
MOST_CELLS = 20_000_000
MOST_COMBINATIONS = 1_000
"""Up to so many combinations, and rows times combinations, all are tried; else the most telling are extended."""
EXTENDED = 5
"""How many of the most telling combinations are extended by other columns."""
MOST_EXTENSIONS = 40
"""How many columns are combined, those first by which most rows are unique or which have most values."""


@dataclass(frozen=True)
class UniqueRows:
    """Columns, and the share of rows that no other row equals in them."""

    columns: tuple[str, ...]
    share: float


class RowCounter(Protocol):
    """Rows whose unique ones are counted."""

    columns: list[str]
    height: int

    def count_unique(self, combinations: Sequence[tuple[str, ...]]) -> list[int]:
        """For each combination of columns, how many rows no other row equals in them."""

    def count_values(self, column: str) -> int:
        """How many values a column has; a missing cell is one."""


def find_unique_rows(
    frame: pl.DataFrame, columns: Sequence[str] | None = None, most: int = MOST_COLUMNS
) -> tuple[UniqueRows, ...]:
    """For one, two, … up to `most` columns, the combination in which the most rows are unique.

    A missing cell is a value like any other. With many rows and columns not every combination is tried, so that a
    share is then a lower bound.
    """
    return search_unique_rows(_CodedRows(frame.select(list(frame.columns if columns is None else columns))), most)


def search_unique_rows(rows: RowCounter, most: int = MOST_COLUMNS) -> tuple[UniqueRows, ...]:
    """The same for rows that are counted elsewhere."""
    ranked = _rank([(name,) for name in rows.columns], rows)
    best = ranked[:1]
    names = _choose_telling_columns(ranked, rows)
    for size in range(2, min(most, len(names)) + 1):
        report_progress("looking for unique rows", size, most)
        count = comb(len(names), size)
        exhaustive = count <= MOST_COMBINATIONS and count * rows.height <= MOST_CELLS
        tried = combinations(names, size) if exhaustive else _extend(ranked[:EXTENDED], names)
        ranked = _rank(tried, rows)
        best.append(ranked[0])
    return tuple(best)


class _CodedRows:
    """A frame, each cell as the place of its value, so that texts are compared only once."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._coded = pl.DataFrame([pl.Series(column.name, encode_cells(column).codes) for column in frame])
        self.columns, self.height = self._coded.columns, self._coded.height

    def count_unique(self, combinations: Sequence[tuple[str, ...]]) -> list[int]:
        return [int((count_class_sizes(self._coded, columns) == 1).sum()) for columns in combinations]

    def count_values(self, column: str) -> int:
        largest = self._coded[column].max()
        return 0 if largest is None else int(largest) + 1  # type: ignore[arg-type]


def _rank(tried: Iterable[tuple[str, ...]], rows: RowCounter) -> list[UniqueRows]:
    """Combinations of columns, those first by which most rows are unique."""
    chosen = list(tried)
    counts = zip(chosen, rows.count_unique(chosen), strict=True)
    shares = [UniqueRows(columns, float(count) / rows.height if rows.height else 0.0) for columns, count in counts]
    return sorted(shares, key=lambda unique_rows: (-unique_rows.share, unique_rows.columns))


def _choose_telling_columns(ranked: list[UniqueRows], rows: RowCounter) -> list[str]:
    """The columns that are combined, in the order of the table."""
    if len(rows.columns) <= MOST_EXTENSIONS:
        return rows.columns
    values = {name: rows.count_values(name) for name in rows.columns}
    order = sorted(ranked, key=lambda unique_rows: (-unique_rows.share, -values[unique_rows.columns[0]]))
    chosen = {unique_rows.columns[0] for unique_rows in order[:MOST_EXTENSIONS]}
    return [name for name in rows.columns if name in chosen]


def _extend(ranked: Iterable[UniqueRows], names: Sequence[str]) -> list[tuple[str, ...]]:
    """The combinations with one column more, each once, in the order of the columns."""
    wider = {frozenset((*rows.columns, name)) for rows in ranked for name in names if name not in rows.columns}
    return [tuple(sorted(chosen, key=names.index)) for chosen in wider]
