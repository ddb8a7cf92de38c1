# SPDX-License-Identifier: MIT
"""How many sequences contain the rarest published one, beside counting one by one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sfumato.measure.sequences.sequence_checks import measure_least_containing
from sfumato.sequences import Sequences
from tests.brute_sequences import has_match


def draw_lists(chance: random.Random, rows: int, nested: bool, items: int) -> list[list[Any]]:
    """Sequences that begin alike, some longer than what one word holds of their beginnings."""
    beginning = [[chance.randrange(items)] for _ in range(chance.choice([0, 3, 30]))]
    size = 3 if nested else 1
    sequences = [
        beginning + [sorted({chance.randrange(items) for _ in range(size)}) for _ in range(chance.randint(0, 4))]
        for _ in range(rows)
    ]
    return sequences if nested else [[element[0] for element in row] for row in sequences]


@pytest.mark.parametrize("items", [1, 2, 300])
@pytest.mark.parametrize("nested", [False, True])
def test_the_least_is_that_of_counting_one_by_one(items: int, nested: bool) -> None:
    chance = random.Random(f"{items} {nested}")
    for _ in range(25):
        pool = draw_lists(chance, chance.randint(1, 30), nested, items)
        published = [row[chance.randint(0, 1) :] for row in pool if chance.random() < 0.7] + pool[:1]
        rows = [[element if nested else [element] for element in row] for row in pool]
        patterns = [[element if nested else [element] for element in row] for row in published]
        expected = min(sum(has_match(row, tuple(map(tuple, pattern))) for row in rows) for pattern in patterns)
        assert measure_least_containing(Sequences.of(published), Sequences.of(pool)) == expected


def test_what_no_other_contains_is_contained_by_none() -> None:
    published, pool = Sequences.of([["z", "z"]]), Sequences.of([["a"], ["b"]])
    assert measure_least_containing(published, pool) == 0
    assert measure_least_containing(published, Sequences.of([])) == 0
