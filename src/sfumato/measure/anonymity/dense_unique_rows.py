# SPDX-License-Identifier: MIT
"""Count unique rows by many combinations of columns in one pass, where columns have few values.

Each combination has a place for every row that it could have, which notes whether none, one or more rows are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from sfumato.arrays import Bytes
from sfumato.engine.stored_rows import StoredRows

MOST_PLACES = 1 << 21
"""A combination with more possible rows is counted otherwise."""
MOST_VALUES = 1 << 16
"""So is one with a column of more values."""
MOST_COLUMNS = 3
"""So is one of more columns."""
MOST_AT_ONCE = 1 << 26
"""This many places are noted in one pass over the rows, a byte each."""
Combination = tuple[str, ...]


def count_possible_rows(columns: Sequence[str], values: Mapping[str, int]) -> int:
    """How many different rows some columns could have."""
    return prod(values[name] for name in columns)


def is_dense(columns: Sequence[str], values: Mapping[str, int]) -> bool:
    """Whether a combination can be counted here."""
    few = len(columns) <= MOST_COLUMNS and all(values[name] <= MOST_VALUES for name in columns)
    return few and count_possible_rows(columns, values) <= MOST_PLACES


def count_dense_unique(
    rows: StoredRows, combinations: Sequence[Combination], values: Mapping[str, int]
) -> dict[Combination, int]:
    """How many rows are unique by each combination, given how many values each column has, a missing cell being one."""
    groups: list[list[Combination]] = []
    room = 0
    for combination in combinations:
        places = count_possible_rows(combination, values)
        if places > room:
            groups.append([])
            room = MOST_AT_ONCE
        groups[-1].append(combination)
        room -= places
    return {
        combination: count for group in groups for combination, count in _count_in_one_pass(rows, group, values).items()
    }


def _count_in_one_pass(
    rows: StoredRows, combinations: Sequence[Combination], values: Mapping[str, int]
) -> dict[Combination, int]:
    wider = {combination: _find_wider(combination, combinations) for combination in combinations}
    place_states = _note_places(
        rows, [combination for combination in combinations if wider[combination] is None], values
    )
    return {
        combination: _count_alone(combination, other or combination, place_states, values)
        for combination, other in wider.items()
    }


def _find_wider(combination: Combination, combinations: Sequence[Combination]) -> Combination | None:
    """Another combination that has all these columns and needs no wider one itself."""
    return next(
        (c for c in combinations if len(c) == MOST_COLUMNS > len(combination) and set(combination) < set(c)), None
    )


def _note_places(
    rows: StoredRows, combinations: Sequence[Combination], values: Mapping[str, int]
) -> dict[Combination, Bytes]:
    """For every row that a combination could have, whether none, one or more rows are there."""
    from sfumato.kernels.anonymity.seen_places import note_seen_places

    names = list(dict.fromkeys(name for combination in combinations for name in combination))
    columns = np.zeros((len(combinations), MOST_COLUMNS), dtype=np.int64)
    steps = np.zeros((len(combinations), MOST_COLUMNS), dtype=np.int32)
    for number, combination in enumerate(combinations):
        columns[number, : len(combination)] = [names.index(name) for name in combination]
        steps[number, : len(combination)] = [
            count_possible_rows(combination[position + 1 :], values) for position in range(len(combination))
        ]
    ends = np.cumsum([count_possible_rows(combination, values) for combination in combinations])
    place_states = np.zeros(int(ends[-1]), dtype=np.uint8)
    begins = np.concatenate([[0], ends[:-1]]).astype(np.int32)
    for codes in rows.iterate_numbered(names):
        note_seen_places(codes, columns, steps, begins, place_states)
    return dict(zip(combinations, np.split(place_states, ends[:-1]), strict=True))


def _count_alone(
    combination: Combination,
    wider_combination: Combination,
    place_states: Mapping[Combination, Bytes],
    values: Mapping[str, int],
) -> int:
    """How many places of a combination have one row, from those of a combination with these columns and others."""
    grid = place_states[wider_combination].reshape([values[name] for name in wider_combination])
    other_axes = tuple(axis for axis, name in enumerate(wider_combination) if name not in combination)
    return int(np.count_nonzero(grid.sum(axis=other_axes, dtype=np.int64) == 1))
