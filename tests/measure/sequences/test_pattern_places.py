# SPDX-License-Identifier: MIT
"""How many sequences contain a pattern: by the places of its items, and by looking at every position."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.measure.sequences.pattern_places import ItemPlaces
from sfumato.sequences import Sequences
from tests.brute_sequences import Row, count_matching_plainly, has_match


def draw_rows(chance: np.random.Generator, rows: int, longest: int, items: int, largest: int) -> list[Row]:
    return [
        [
            chance.choice(items, size=chance.integers(1, largest + 1), replace=False).tolist()
            for _ in range(chance.integers(0, longest + 1))
        ]
        for _ in range(rows)
    ]


def draw_limit(chance: np.random.Generator, least: int, most: int) -> int | None:
    return None if chance.random() < 0.3 else int(chance.integers(least, most))


@pytest.mark.parametrize(("largest", "longest"), [(1, 40), (3, 12), (2, 7)])
def test_counts_are_those_of_every_position(largest: int, longest: int) -> None:
    chance = np.random.default_rng(largest)
    for _ in range(150):
        rows = [[[0]], *draw_rows(chance, 6, longest, 5, largest)]
        places = ItemPlaces(Sequences.of(rows))
        for pattern in draw_rows(chance, 4, 4, 6, largest):
            limits = (draw_limit(chance, 0, 6), draw_limit(chance, 1, 9))
            if pattern:
                expected = count_matching_plainly(rows, tuple(map(tuple, pattern)), *limits)
                assert places.count_matching(pattern, *limits) == expected
                if longest < 10:
                    assert expected == sum(has_match(row, tuple(map(tuple, pattern)), *limits) for row in rows)


def test_a_match_stays_in_its_sequence() -> None:
    places = ItemPlaces(Sequences.of([["a"], ["b"], [], ["a", "b"]]))
    assert places.count_matching([["a"], ["b"]]) == 1
    assert places.count_matching([["b"], ["a"]]) == 0


def test_items_are_compared_as_text_and_unknown_ones_are_nowhere() -> None:
    places = ItemPlaces(Sequences.of([[1, 2], [2, 1]]))
    assert places.count_matching([["1"], ["2"]]) == 1
    assert places.count_matching([["1"], ["3"]]) == 0
    assert places.count_matching([]) == 2


def test_an_earlier_start_may_be_too_long_where_a_later_one_is_not() -> None:
    places = ItemPlaces(Sequences.of([[*"abxxab", "c"]]))
    assert places.count_matching([["a"], ["b"], ["c"]], None, 3) == 1
    assert places.count_matching([["a"], ["b"], ["c"]], None, 2) == 0
