# SPDX-License-Identifier: MIT
"""Patterns that were hidden entirely, and that marks give away: never weaker than a vote of ten lines."""

from __future__ import annotations

from collections import Counter

import pytest

import sfumato as sf
from sfumato.attack.sequences.vanished_patterns import find_vanished
from sfumato.data.generators.movements import generate_cars

CARS = sf.Sequences.of(generate_cars())
PAIRS = [("r1c6", "r1c5"), ("r0c4", "r1c4"), ("r2c7", "r2c6"), ("r4c6", "r3c6"), ("r0c5", "r0c4")]


def vote_for_pairs(rows: list[list[str]]) -> list[tuple[str, str]]:
    """The pairs that occur nowhere and would be in most sequences if one mark of theirs were filled in."""
    remaining_pairs = {(x, y) for row in rows for position, x in enumerate(row) for y in row[position + 1 :]}
    items = {item for row in rows for item in row} - {"Δ"}
    votes: Counter[tuple[str, str]] = Counter()
    for row in rows:
        explained: set[tuple[str, str]] = set()
        for position, item in enumerate(row):
            if item == "Δ":
                explained |= {(x, y) for x in row[:position] for y in items if x != "Δ"}
                explained |= {(x, y) for y in row[position + 1 :] for x in items if y != "Δ"}
        votes.update(explained - remaining_pairs)
    return [pair for pair, _ in votes.most_common()]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_a_pair_that_marks_explain_is_named_and_its_marks_are_filled_in(pair: tuple[str, str]) -> None:
    release = sf.HideSequences(patterns=[pair], threshold=0, mark="Δ").protect(CARS)
    assert vote_for_pairs(release.data.to_lists())[0] == pair
    remining, filled = (
        attack.run(release, CARS) for attack in (sf.attack.SequenceRemining(), sf.attack.MarkGuessing())
    )
    assert (remining.successes, remining.attempts) == (1, 1)
    assert filled.successes == filled.attempts > 0


def test_pairs_are_counted_in_the_sequences_that_marks_would_let_hold_them() -> None:
    rows = [list("aΔb"), list("Δc"), list("cba"), list("ΔbΔ")]
    (mined,) = find_vanished(sf.Sequences.of(rows), longest=2)
    named_pairs = [(x, y) for ((x,), (y,)) in mined.near_patterns]
    voted = vote_for_pairs(rows)
    assert set(named_pairs) == set(voted) and ("a", "b") not in named_pairs  # it is published


def test_patterns_of_three_are_looked_for_apart() -> None:
    secret = ["r1c6", "r1c5", "r1c4"]
    release = sf.HideSequences(patterns=[secret], threshold=0, mark="Δ").protect(CARS)
    pairs, triples, union = find_vanished(release.data, longest=3)
    assert {len(pattern) for pattern in pairs.near_patterns} == {2} and {
        len(pattern) for pattern in triples.near_patterns
    } == {3}
    assert {*union.near_patterns} == {*pairs.near_patterns, *triples.near_patterns}


def test_nothing_is_suspected_where_no_mark_shows() -> None:
    assert find_vanished(CARS, longest=3) == []
    assert find_vanished(sf.Sequences.of([[["a", "b"], ["Δ"]], [["c"]]]), longest=2) == []
