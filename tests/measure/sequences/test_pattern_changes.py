# SPDX-License-Identifier: MIT
"""Patterns before and after by hand and by brute force; visits, flows and edit distances."""

from __future__ import annotations

import random
from typing import Any

import pytest

import sfumato as sf
from sfumato.measure.sequences.changed_items import count_marks
from sfumato.measure.sequences.pattern_changes import pattern_changes
from tests.brute_sequences import mine


def rows_of(*texts: str) -> sf.Sequences:
    return sf.Sequences.of([list(text) for text in texts])


def test_the_anonymous_example_of_the_course() -> None:
    """D and its 2-anonymous D': Giannotti's course (2009). E, BE, CE and BCE had support 1 and are gone."""
    original, published = rows_of("BC", "ABCD", "ABCD", "BCE"), rows_of("BC", "ABCD", "ABCD", "BC")
    at_two = sf.measure.pattern_changes(original, published, 2)
    assert (at_two.before, at_two.after, at_two.lost_patterns, at_two.ghosts) == (15, 15, 0, 0)
    assert (at_two.sup_sim, at_two.f_measure, at_two.support_distance, at_two.pattern_distortion) == (1, 1, 0, 0)
    at_one = sf.measure.pattern_changes(original, published, 1)
    assert (at_one.before, at_one.lost_patterns, at_one.recall, at_one.precision) == (19, 4, 15 / 19, 1)
    assert at_one.f_measure == pytest.approx(2 * 15 / 34)
    assert (at_one.support_distance, at_one.marks, at_one.pattern_distortion) == (4, 1, 4 / 19)


def test_m3_is_undefined_when_nothing_is_left() -> None:
    changes = pattern_changes(rows_of("ab", "ab"), rows_of("", "a"), 2)
    assert (changes.before, changes.after, changes.pattern_distortion) == (3, 0, 1)
    assert changes.support_distortion is None and changes.sup_sim is None
    assert changes.f_measure == 0
    no_changes = pattern_changes(rows_of("a"), rows_of("a"), 2)
    assert no_changes.pattern_distortion is None and no_changes.f_measure == 1


def test_supports_that_fell_and_patterns_that_rose() -> None:
    original, published = rows_of("ab", "ab", "ab", "c", "c"), rows_of("ab", "ab", "b", "cd", "d")
    changes = pattern_changes(original, published, 2)
    # before: a 3, b 3, ab 3, c 2; after: a 2, b 3, ab 2, d 2
    assert (changes.before, changes.after, changes.lost_patterns, changes.ghosts) == (4, 4, 1, 1)
    assert changes.sup_sim == pytest.approx((2 / 3 + 1 + 2 / 3) / 3)
    assert changes.support_distortion == pytest.approx((1 / 3 + 0 + 1 / 3) / 3)
    assert changes.support_distance == 1 + 0 + 1 + 1 + 2


def test_marks_are_never_mined_and_secrets_are_no_loss() -> None:
    original, published = rows_of("abc", "abc"), rows_of("aΔc", "aΔc")
    changes = pattern_changes(original, published, 2)
    assert (changes.after, changes.marks) == (3, 2)
    assert pattern_changes(original, published, 2, hidden_patterns=[["b"]]).lost_patterns == 0
    assert count_marks(original, rows_of("ac", "abc")) == 1


def test_an_item_that_is_called_like_the_mark_counts_if_there_is_no_mark() -> None:
    """Figures of data with another name for the item."""
    several = [
        [rows_of(*[text.replace("q", name) for text in texts]) for texts in (("aqb", "aqb", "q"), ("aqb", "ab", "q"))]
        for name in "Δω"
    ]
    (original, published), (renamed, renamed_release) = several
    assert pattern_changes(original, published, 2, mark="") == pattern_changes(renamed, renamed_release, 2)
    assert pattern_changes(original, published, 2).before < pattern_changes(renamed, renamed_release, 2).before
    visits, flows = (count(original, published, "") for count in (sf.measure.visit_counts, sf.measure.flow_counts))
    assert visits.rows() == [("a", 2, 2), ("b", 2, 2), ("Δ", 3, 2)]
    assert ("a", "Δ", 2, 1) in flows.rows()
    assert "Δ" not in sf.measure.visit_counts(original, published)["region"]


def test_neither_secrets_nor_what_contains_one_counts() -> None:
    original, published = rows_of("cba", "cba", "b", "b"), rows_of("ca", "ca", "b", "b")
    every, counted = (
        pattern_changes(original, published, 2, hidden_patterns=secrets) for secrets in ([], [["c"], ["b", "a"]])
    )
    assert (every.before, every.after) == (7, 4)  # a, b, c, ba, ca, cb, cba; and a, b, c, ca
    assert (counted.before, counted.after, counted.pattern_distortion) == (2, 2, 0)  # a, b


def test_replaced_items_count_as_marked() -> None:
    """M1 of Abul et al. (2007) is the number of marks, whatever becomes of them."""
    original = rows_of("abc", "abc", "abcd")
    assert count_marks(original, rows_of("bcc", "abc", "abcd")) == 2
    assert count_marks(original, rows_of("xbΔ", "abc", "xd")) == 5
    sets = sf.Sequences.of([[["a", "b"], ["c"]], [["a"]]])
    assert count_marks(sets, sf.Sequences.of([[["b"], ["d"]], [["a"]]])) == 2
    method = sf.HideSequences(patterns=[["a", "b"]], threshold=0, mark="replace", min_support=2)
    release = method.protect(rows_of("axb", "acb", "ab", "cxx", "xcx"), sf.Randomness.seeded(1))
    assert count_marks(rows_of("axb", "acb", "ab", "cxx", "xcx"), release.data) == release.losses["changes"] == 3
    numbers = sf.Sequences.of([[1, 2], [1, 2]])
    read_back = sf.Sequences.of([["1", "Δ"], ["1", "Δ"]])
    assert pattern_changes(numbers, read_back, 2).lost_patterns == 2


@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_brute_force(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(10):
        rows = [[chance.choice("abcd") for _ in range(chance.randint(0, 5))] for _ in range(6)]
        other_rows = [[item for item in row if chance.random() < 0.7] + ["a"] * chance.randint(0, 1) for row in rows]
        limits: dict[str, Any] = {"max_gap": chance.choice([None, 0]), "window": chance.choice([None, 3])}
        before, after = (mine([[[item] for item in row] for row in side], 2, **limits) for side in (rows, other_rows))
        changes = pattern_changes(sf.Sequences.of(rows), sf.Sequences.of(other_rows), 2, **limits)
        assert (changes.before, changes.after) == (len(before), len(after))
        assert (changes.lost_patterns, changes.ghosts) == (
            len(before.keys() - after.keys()),
            len(after.keys() - before.keys()),
        )


def test_visits_and_flows() -> None:
    original, published = rows_of("abca", "ab"), rows_of("aΔca", "b")
    visits = sf.measure.visit_counts(original, published)
    assert visits.rows() == [("a", 3, 2), ("b", 2, 1), ("c", 1, 1)]
    flows = sf.measure.flow_counts(original, published)
    assert flows.rows() == [("a", "b", 2, 0), ("b", "c", 1, 0), ("c", "a", 1, 1)]
    nested = sf.Sequences.of([[["a", "b"], ["c", "d"]]])
    assert sf.measure.flow_counts(nested, nested).height == 4
    assert sf.measure.flow_counts(sf.Sequences.of([[]]), sf.Sequences.of([[]])).height == 0


def brute_distance(sequence: list[str], other: list[str]) -> int:
    if not sequence or not other:
        return len(sequence) + len(other)
    return min(
        brute_distance(sequence[1:], other[1:]) + (sequence[0] != other[0]),
        brute_distance(sequence[1:], other) + 1,
        brute_distance(sequence, other[1:]) + 1,
    )


def test_edit_distances_are_those_of_brute_force() -> None:
    chance = random.Random(5)
    rows = [[chance.choice("abc") for _ in range(chance.randint(0, 6))] for _ in range(60)]
    other_rows = [[chance.choice("abcd") for _ in range(chance.randint(0, 6))] for _ in range(60)]
    distances = sf.measure.edit_distances(sf.Sequences.of(rows), sf.Sequences.of(other_rows))
    assert distances.tolist() == [brute_distance(*pair) for pair in zip(rows, other_rows, strict=True)]
    nested, fewer = sf.Sequences.of([[["a", "b"], ["c"]]]), sf.Sequences.of([[["a"], ["c"]]])
    assert sf.measure.edit_distances(nested, fewer).tolist() == [1]
    single_row, three = rows_of("ab"), rows_of("ab", "a", "")
    assert sf.measure.edit_distances(single_row, three, rows=[0, 0, 0]).tolist() == [0, 1, 2]
    with pytest.raises(sf.DataError, match="1 sequence became 3"):
        sf.measure.edit_distances(single_row, three)


def measure_by_table(sequence: list[int], other: list[int]) -> int:
    costs = list(range(len(other) + 1))
    for item in sequence:
        diagonal_cost, costs[0] = costs[0], costs[0] + 1
        for position, letter in enumerate(other, 1):
            diagonal_cost, costs[position] = (
                costs[position],
                min(diagonal_cost + (item != letter), costs[position] + 1, costs[position - 1] + 1),
            )
    return costs[-1]


def test_edit_distances_around_a_word_of_positions() -> None:
    """Up to 64 positions are compared at once, longer rows one by one."""
    chance = random.Random(8)
    lengths = [0, 1, 62, 63, 64, 65, 66, 130]
    pairs = [(a, b) for a in lengths for b in lengths]
    rows = [[chance.randrange(4) for _ in range(a)] for a, _ in pairs]
    other_rows = [[chance.randrange(5) for _ in range(b)] for _, b in pairs]
    distances = sf.measure.edit_distances(sf.Sequences.of(rows), sf.Sequences.of(other_rows))
    assert distances.tolist() == [measure_by_table(*pair) for pair in zip(rows, other_rows, strict=True)]
