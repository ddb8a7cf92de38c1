# SPDX-License-Identifier: MIT
"""Count unique rows by several combinations of columns in one pass, where columns have few values.

Each combination has a place for every row that it could have, which notes whether none, one or more rows are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import numpy as np
import polars as pl

from sfumato.arrays import Bytes, Codes
from sfumato.engine.coded_columns import split_column
from sfumato.engine.stored_rows import StoredRows

MOST_PLACES = 1 << 21
"""A combination with more possible rows is counted otherwise."""
_ROWS = 1 << 20
"""So many rows are counted at a time."""
Combination = tuple[str, ...]


def count_places(columns: Sequence[str], values: Mapping[str, int]) -> int:
    """How many different rows some columns could have."""
    return prod(values[name] for name in columns)


def count_dense_unique(
    rows: StoredRows, combinations: Sequence[Combination], values: Mapping[str, int]
) -> dict[Combination, int]:
    """How many rows are unique by each combination, given how many values each column has, a missing cell being one."""
    columns = list(dict.fromkeys(name for chosen in combinations for name in chosen))
    places: dict[Combination, Bytes] = {
        chosen: np.zeros(count_places(chosen, values), dtype=np.uint8) for chosen in combinations
    }
    for codes in _iterate_codes(rows, columns):
        for chosen, seen in places.items():
            key = codes[chosen[0]]
            for name in chosen[1:]:
                key = key * np.int32(values[name]) + codes[name]
            np.minimum(seen + np.minimum(np.bincount(key, minlength=len(seen)), 2).astype(np.uint8), 2, out=seen)
    return {chosen: int(np.count_nonzero(seen == 1)) for chosen, seen in places.items()}


def _iterate_codes(rows: StoredRows, columns: list[str]) -> Iterator[dict[str, Codes]]:
    """Numbers for the cells of columns, the same for the same value in all batches, many rows at a time."""
    numbers: dict[str, dict[object, int]] = {name: {} for name in columns}
    held: list[dict[str, Codes]] = []
    for batch in rows.iterate_coded_batches(columns):
        held.append({name: _number_cells(batch[name], numbers[name]) for name in columns})
        if sum(len(part[columns[0]]) for part in held) >= _ROWS:
            yield _join(held)
            held = []
    if held:
        yield _join(held)


def _number_cells(column: pl.Series, number_of: dict[object, int]) -> Codes:
    """The number of each cell; only values that occur get one."""
    values, codes = split_column(column)
    numbers = np.zeros(len(values), dtype=np.int32)
    listed = values.to_list()
    for place in np.flatnonzero(np.bincount(codes, minlength=len(values))):
        numbers[place] = number_of.setdefault(listed[place], len(number_of))
    return numbers[codes]


def _join(parts: list[dict[str, Codes]]) -> dict[str, Codes]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
