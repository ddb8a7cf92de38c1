# SPDX-License-Identifier: MIT
"""How many rows are unique by very few columns, whatever the columns' roles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import comb, prod
from typing import NamedTuple, Protocol

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Places
from sfumato.data.cells.coded_cells import encode_narrowly, narrow_places
from sfumato.runtime.progress import report_progress

MOST_COLUMNS = 3
"""The largest number of columns that are combined."""
MOST_CELLS = 20_000_000
MOST_COMBINATIONS = 1_000
"""Up to this many combinations, and rows times combinations, all are tried; else the most telling are extended."""
MOST_EXTENDED = 5
"""How many of the most telling combinations are extended by other columns."""
MOST_EXTENSIONS = 40
"""How many columns are combined, those first by which most rows are unique or which have most values."""
_LARGEST_SHORT_KEY, _LARGEST_KEY = 1 << 31, 1 << 62
_FEW_KEYS = 1 << 19
"""Up to this many keys, there is a counter for each."""
_MANY_ROWS = 50_000


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
    ranking = _rank([(name,) for name in rows.columns], rows)
    best = ranking[:1]
    names = _choose_telling_columns(ranking, rows)
    for size in range(2, min(most, len(names)) + 1):
        report_progress("looking for unique rows", size, most)
        count = comb(len(names), size)
        exhaustive = count <= MOST_COMBINATIONS and count * rows.height <= MOST_CELLS
        candidates = combinations(names, size) if exhaustive else _extend_combinations(ranking[:MOST_EXTENDED], names)
        ranking = _rank(candidates, rows)
        best.append(ranking[0])
    return tuple(best)


class _BoundedKeys(NamedTuple):
    """One whole number a row, equal exactly where some columns are, and an upper bound for it."""

    keys: Places
    radix: int

    def append(self, column: _BoundedKeys) -> _BoundedKeys:
        """The same with one column more."""
        keys, radix = self
        if radix * column.radix >= _LARGEST_KEY:
            keys, radix = np.unique(keys, return_inverse=True)[1], len(keys)
        radix *= column.radix
        # Short ones sort faster.
        longer: Places = keys.astype(np.int32) if radix < _LARGEST_SHORT_KEY else keys.astype(np.int64)
        np.multiply(longer, column.radix, out=longer)
        np.add(longer, column.keys, out=longer)
        return _BoundedKeys(longer, radix)

    def count_unique(self, is_single: Flags | None) -> int:
        """How many rows have a key that no other row has; `is_single` flags those that stand for one row, not more."""
        count = len(self.keys)
        if self.radix <= max(_FEW_KEYS, count // 4):
            many = np.bincount(self.keys, None if is_single is None else 2.0 - is_single)
            return int(np.count_nonzero(many == 1))
        order = None if is_single is None else np.argsort(self.keys)
        sorted_keys = np.sort(self.keys) if order is None else self.keys[order]
        is_new = np.ones(count + 1, dtype=np.bool_)
        np.not_equal(sorted_keys[1:], sorted_keys[:-1], out=is_new[1:-1])
        unique_mask = is_new[1:] & is_new[:-1]
        return int(
            np.count_nonzero(unique_mask if is_single is None or order is None else unique_mask & is_single[order])
        )


class _CodedRows:
    """A frame, each cell as the place of its value, so that texts are compared only once."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.columns, self.height = frame.columns, frame.height
        cells = {column.name: encode_narrowly(column) for column in frame.get_columns()}
        self._columns = {name: _BoundedKeys(codes, len(values)) for name, (values, codes) in cells.items()}
        self._is_single: Flags | None = None
        self._common: tuple[str, ...] = ()
        self._common_keys: _BoundedKeys | None = None
        if self.height >= _MANY_ROWS:
            self._join_equal_rows()

    def _join_equal_rows(self) -> None:
        """Where most rows equal others in all columns, as in most releases, let one stand for all of them."""
        if prod(column.radix for column in self._columns.values()) >= _LARGEST_KEY:
            return
        sorted_keys = np.sort(reduce(_BoundedKeys.append, self._columns.values()).keys).astype(np.int64, copy=False)
        begins = np.flatnonzero(np.concatenate([[True], sorted_keys[1:] != sorted_keys[:-1]]))
        if len(begins) > self.height // 3:
            return
        keys = sorted_keys[begins]
        self._is_single = np.diff(begins, append=len(sorted_keys)) == 1
        for name, column in reversed(self._columns.items()):
            self._columns[name] = _BoundedKeys(narrow_places(keys % column.radix, column.radix), column.radix)
            keys = keys // column.radix

    def count_unique(self, combinations: Sequence[tuple[str, ...]]) -> list[int]:
        if not self.height:
            return [0 for _ in combinations]
        return [self._number_rows(columns).count_unique(self._is_single) for columns in combinations]

    def _number_rows(self, columns: tuple[str, ...]) -> _BoundedKeys:
        """The keys by some columns; those by all but the last are kept, for the next combination may begin alike."""
        *common, last = columns
        if not common:
            return self._columns[last]
        if tuple(common) != self._common or self._common_keys is None:
            self._common = tuple(common)
            self._common_keys = reduce(_BoundedKeys.append, (self._columns[name] for name in common))
        return self._common_keys.append(self._columns[last])

    def count_values(self, column: str) -> int:
        return self._columns[column].radix


def _rank(candidates: Iterable[tuple[str, ...]], rows: RowCounter) -> list[UniqueRows]:
    """Combinations of columns, those first by which most rows are unique."""
    sorted_candidates = sorted(candidates)  # those that begin alike together
    counts = zip(sorted_candidates, rows.count_unique(sorted_candidates), strict=True)
    shares = [UniqueRows(columns, float(count) / rows.height if rows.height else 0.0) for columns, count in counts]
    return sorted(shares, key=lambda unique_rows: (-unique_rows.share, unique_rows.columns))


def _choose_telling_columns(ranking: list[UniqueRows], rows: RowCounter) -> list[str]:
    """The columns that are combined, in the order of the table."""
    if len(rows.columns) <= MOST_EXTENSIONS:
        return rows.columns
    values = {name: rows.count_values(name) for name in rows.columns}
    order = sorted(ranking, key=lambda unique_rows: (-unique_rows.share, -values[unique_rows.columns[0]]))
    chosen_names = {unique_rows.columns[0] for unique_rows in order[:MOST_EXTENSIONS]}
    return [name for name in rows.columns if name in chosen_names]


def _extend_combinations(ranking: Iterable[UniqueRows], names: Sequence[str]) -> list[tuple[str, ...]]:
    """The combinations with one column more, each once, in the order of the columns."""
    wider = {frozenset((*rows.columns, name)) for rows in ranking for name in names if name not in rows.columns}
    return [tuple(sorted(column_set, key=names.index)) for column_set in wider]
