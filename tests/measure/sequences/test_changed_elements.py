# SPDX-License-Identifier: MIT
"""The loss of a release of sequences, measured on the file, against a plain comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.measure.sequences.changed_elements import measure_changed_elements
from tests.brute_sequences import count_common


def compare_plainly(before: list[list[Any]], after: list[list[Any]], rows: Sequence[int]) -> float:
    total = sum(map(len, before)) + sum(map(len, after))
    common_total = sum(count_common(before[row], published) for row, published in zip(rows, after, strict=True))
    return 1 - 2 * common_total / total if total else 0.0


@pytest.mark.parametrize(("items", "longest"), [(3, 9), (5, 70), (2, 200), (40, 150)])
def test_what_is_kept_is_the_longest_common_subsequence(items: int, longest: int) -> None:
    chance = np.random.default_rng(items)
    for _ in range(25):
        before = [chance.integers(0, items, chance.integers(0, longest + 1)).tolist() for _ in range(6)]
        rows = chance.permutation(6)[: chance.integers(1, 7)]
        after = [draw_change(chance, before[row], items) for row in rows]
        changed_share = measure_changed_elements(sf.Sequences.of(before), sf.Sequences.of(after), rows)
        assert changed_share == pytest.approx(compare_plainly(before, after, rows.tolist()), abs=1e-12)


def draw_change(chance: np.random.Generator, row: list[int], items: int) -> list[int]:
    """Some elements deleted, some inserted; or nothing, or all."""
    new_row = [item for item in row if chance.random() < chance.choice([0, 0.6, 1])]
    for _ in range(chance.choice([0, 3])):
        new_row.insert(int(chance.integers(0, len(new_row) + 1)), int(chance.integers(0, items)))
    return new_row


def test_elements_of_several_items_are_kept_as_a_whole() -> None:
    before = [[["a", "b"], ["c"]], [["a"], ["b", "c"]]]
    after = [[["b", "a"], ["c"]], [["a"], ["b"]]]
    changed_share = measure_changed_elements(sf.Sequences.of(before), sf.Sequences.of(after))
    assert changed_share == pytest.approx(1 - 2 * 3 / 8)


def test_items_are_the_same_by_their_text() -> None:
    assert measure_changed_elements(sf.Sequences.of([[1, 2, 3]]), sf.Sequences.of([["1", "3"]])) == pytest.approx(0.2)


@pytest.mark.parametrize("long", [64, 65, 128, 129])
def test_words_are_joined_where_they_meet(long: int) -> None:
    """All but the first element of one, then all but the last of the other."""
    row = [str(number) for number in range(long)]
    before, after = [[*row[1:], "x"], ["y", *row[:-1]]], [["y", *row[1:]], [*row[:-1], "x"]]
    changed_share = measure_changed_elements(sf.Sequences.of(before), sf.Sequences.of(after))
    assert changed_share == pytest.approx(compare_plainly(before, after, (0, 1)))
