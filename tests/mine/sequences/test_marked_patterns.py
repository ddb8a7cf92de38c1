# SPDX-License-Identifier: MIT
"""Marks of hidden items are never mined, and keep their positions where gaps are limited."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.mine.sequences.subsequences import PatternKind


def mine(kind: PatternKind, max_gap: int | None = None) -> dict[str, int]:
    data = sf.Sequences.of([list("aΔb"), list("aΔb"), list("ΔΔ")])
    patterns = sf.mine.frequent_subsequences(data, 2, max_gap=max_gap, kind=kind)
    return {"".join(pattern): count for pattern, count in patterns.iter_rows()}


@pytest.mark.parametrize(
    ("kind", "max_gap", "patterns"),
    [
        ("all", None, {"a": 2, "ab": 2, "b": 2}),
        ("closed", None, {"ab": 2}),
        ("maximal", None, {"ab": 2}),
        ("all", 0, {"a": 2, "b": 2}),  # a mark lies between them
        ("maximal", 0, {"a": 2, "b": 2}),
        ("closed", 1, {"ab": 2}),
    ],
)
def test_a_mark_is_part_of_no_pattern(kind: PatternKind, max_gap: int | None, patterns: dict[str, int]) -> None:
    assert mine(kind, max_gap) == patterns


@pytest.mark.parametrize("max_gap", [None, 0])
def test_an_item_that_is_called_like_the_mark_is_mined_if_there_is_no_mark(max_gap: int | None) -> None:
    data = sf.Sequences.of([list("aΔb"), list("aΔb"), list("ΔΔ")])
    renamed = sf.Sequences.of([list("aωb"), list("aωb"), list("ωω")])
    found = sf.mine.frequent_subsequences(data, 2, max_gap=max_gap, mark="")
    expected = sf.mine.frequent_subsequences(renamed, 2, max_gap=max_gap)
    assert [["ω" if item == "Δ" else item for item in pattern] for pattern, _ in found.rows()] == [
        pattern for pattern, _ in expected.rows()
    ]
    assert found["support"].to_list() == expected["support"].to_list()


def test_a_mark_beside_items_is_left_out_of_their_element() -> None:
    data = sf.Sequences.of([[["a", "Δ"], ["b"]], [["a", "Δ"], ["Δ"]]])
    for max_gap in (None, 0):
        patterns = sf.mine.frequent_subsequences(data, 2, max_gap=max_gap)
        assert patterns.rows() == [([["a"]], 2)]
