# SPDX-License-Identifier: MIT
"""Count unique rows by many combinations of columns in one pass, where columns have few values.

Each combination has a place for every row that it could have, which notes whether none, one or more rows are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import numpy as np
import polars as pl

from sfumato.arrays import ShortCodes
from sfumato.engine.coded_columns import is_coded, list_categories, split_column
from sfumato.engine.stored_rows import StoredRows

MOST_PLACES = 1 << 21
"""A combination with more possible rows is counted otherwise."""
MOST_VALUES = 1 << 16
"""So is one with a column of more values."""
MOST_COLUMNS = 3
"""So is one of more columns."""
MOST_AT_ONCE = 1 << 26
"""So many places are noted in one pass over the rows, a byte each."""
_ROWS = 1 << 18
"""So many rows are counted at a time."""
Combination = tuple[str, ...]


def count_places(columns: Sequence[str], values: Mapping[str, int]) -> int:
    """How many different rows some columns could have."""
    return prod(values[name] for name in columns)


def is_dense(columns: Sequence[str], values: Mapping[str, int]) -> bool:
    """Whether a combination can be counted here."""
    few = len(columns) <= MOST_COLUMNS and all(values[name] <= MOST_VALUES for name in columns)
    return few and count_places(columns, values) <= MOST_PLACES


def count_dense_unique(
    rows: StoredRows, combinations: Sequence[Combination], values: Mapping[str, int]
) -> dict[Combination, int]:
    """How many rows are unique by each combination, given how many values each column has, a missing cell being one."""
    groups: list[list[Combination]] = []
    room = 0
    for chosen in combinations:
        places = count_places(chosen, values)
        if places > room:
            groups.append([])
            room = MOST_AT_ONCE
        groups[-1].append(chosen)
        room -= places
    return {chosen: count for group in groups for chosen, count in _count_in_one_pass(rows, group, values).items()}


def _count_in_one_pass(
    rows: StoredRows, combinations: Sequence[Combination], values: Mapping[str, int]
) -> dict[Combination, int]:
    from sfumato.kernels.anonymity.seen_places import note_seen_places

    names = list(dict.fromkeys(name for chosen in combinations for name in chosen))
    columns = np.zeros((len(combinations), MOST_COLUMNS), dtype=np.int64)
    steps = np.zeros((len(combinations), MOST_COLUMNS), dtype=np.int32)
    for number, chosen in enumerate(combinations):
        columns[number, : len(chosen)] = [names.index(name) for name in chosen]
        steps[number, : len(chosen)] = [count_places(chosen[place + 1 :], values) for place in range(len(chosen))]
    ends = np.cumsum([count_places(chosen, values) for chosen in combinations])
    seen = np.zeros(int(ends[-1]), dtype=np.uint8)
    begins = np.concatenate([[0], ends[:-1]]).astype(np.int32)
    for codes in _iterate_codes(rows, names):
        note_seen_places(codes, columns, steps, begins, seen)
    alone = (np.count_nonzero(part == 1) for part in np.split(seen, ends[:-1]))
    return dict(zip(combinations, map(int, alone), strict=True))


def _iterate_codes(rows: StoredRows, columns: list[str]) -> Iterator[ShortCodes]:
    """Numbers for the cells of columns, the same for the same value in all batches, some rows at a time."""
    numbers: dict[str, dict[object, int]] = {name: {} for name in columns}
    for batch in rows.iterate_coded_batches(columns):
        for part in batch.iter_slices(_ROWS):
            codes = np.empty((len(columns), part.height), dtype=np.uint16)
            for line, name in zip(codes, columns, strict=True):
                _number_cells(part[name], numbers[name], line)
            yield codes


def _number_cells(column: pl.Series, number_of: dict[object, int], line: ShortCodes) -> None:
    """Write the number of each cell; only values that occur get one."""
    if is_coded(column) and not column.null_count() and all(text in number_of for text in list_categories(column)):
        known = np.array([number_of[text] for text in list_categories(column)], dtype=np.uint16)
        np.take(known, column.to_physical().to_numpy(), out=line)
        return
    values, codes = split_column(column)
    numbers = np.zeros(len(values), dtype=np.uint16)
    listed = values.to_list()
    for place in np.flatnonzero(np.bincount(codes, minlength=len(values))):
        numbers[place] = number_of.setdefault(listed[place], len(number_of))
    np.take(numbers, codes, out=line)
