# SPDX-License-Identifier: MIT
"""Weights that are counted again near a mark only, against a count of the whole sequence; and what uses them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.protect.sequences.edited_sequences import SequenceDraft
from sfumato.protect.sequences.hiding_strategies import hide_in_two_stages
from sfumato.protect.sequences.marked_sequences import delete_marked
from sfumato.protect.sequences.replacements import replace_marked
from sfumato.protect.sequences.row_weights import RowWeights, measure_reach
from sfumato.runtime.progress import listen_to_progress

AB, BC = (("a",), ("b",)), (("b",), ("c",))


def draw_row(chance: np.random.Generator, length: int, *, sets: bool) -> list[list[str]]:
    return [
        sorted({str(item) for item in chance.choice(list("abc"), 1 + sets * int(chance.integers(2)))})
        for _ in range(length)
    ]


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize(("gap", "window"), [(0, None), (1, None), (None, 2), (None, 4), (2, 3), (3, 12)])
def test_weights_near_a_mark_equal_those_of_the_whole_sequence(
    gap: int | None, window: int | None, in_place: bool
) -> None:
    chance = np.random.default_rng(5)
    patterns = [AB, (("c",),), (("a",), ("b",), ("a", "c")), (("b",), ("b",))]
    for case in range(6):
        data = sf.Sequences.of([[["a", "b", "c"]], draw_row(chance, 90, sets=case % 2 == 1), [["b"]]])
        draft = SequenceDraft(data, patterns, gap, window, in_place=in_place)
        reach = measure_reach(draft, [0, 2, 3])
        assert reach is not None
        assert 4 * reach < 90
        weights = RowWeights(draft, 1, [0, 2, 3])
        while weights.values.any():
            assert weights.values.tolist() == draft.weigh(1, [0, 2, 3]).tolist()
            weights.mark(int(chance.choice(np.flatnonzero(weights.values))))
        assert not draft.weigh(1, [0, 2, 3]).any()


def test_the_whole_sequence_is_counted_where_a_match_has_no_limit_or_floats_are_not_exact() -> None:
    long = tuple(("a",) for _ in range(30))
    data = sf.Sequences.of([list("abc" * 100)])
    assert measure_reach(SequenceDraft(data, [AB, BC]), [0, 1]) is None
    assert measure_reach(SequenceDraft(data, [AB, BC], 3), [0, 1]) == 5
    assert measure_reach(SequenceDraft(data, [AB, BC], 3, 4), [0, 1]) == 4
    assert measure_reach(SequenceDraft(data, [long], 9), [0]) is None
    assert measure_reach(SequenceDraft(data, [long, AB], 9), [1]) == 11


def test_a_replacement_lets_no_secret_pattern_back_in_after_one_that_was_given_up() -> None:
    """A try that fails must not count as a match: the next item of the sequence was then replaced by anything."""
    for seed in range(200):
        chance = np.random.default_rng(seed)
        data = sf.Sequences.of([["abc"[item] for item in chance.integers(0, 3, 8)] for _ in range(4)])
        draft = SequenceDraft(data, [AB, BC], in_place=True)
        hide_in_two_stages(draft, np.array([0, 0]), "HH", chance)
        replace_marked(draft, 100, chance)
        replaced = delete_marked(draft.data, draft.alive, draft.elements.codes)
        assert SequenceDraft(replaced, [AB, BC]).supports.tolist() == [0, 0]


@pytest.mark.parametrize("mark", ["delete", "Δ"])
def test_every_long_sequence_shows_progress(mark: Any) -> None:
    counts: list[int] = []
    data = sf.Sequences.of([list("abcde" * 200)] * 3)
    method = sf.HideSequences(patterns=[["a", "b"]], threshold=0, mark=mark, max_gap=0)
    with listen_to_progress(lambda step, count, total: counts.append(count) if step == "hiding patterns" else None):
        method.protect(data)
    assert counts == [0, 1, 2]
