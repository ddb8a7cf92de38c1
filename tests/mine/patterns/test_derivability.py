# SPDX-License-Identifier: MIT
from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.mine.baskets.itemsets import frequent_itemsets
from sfumato.mine.patterns import derivability
from sfumato.mine.patterns.derivability import (
    Conjunction,
    ForcedPattern,
    SupportBounds,
    find_exactly_forced,
    forced_patterns,
    support_bounds,
)
from sfumato.mine.patterns.inference_channels import inference_channels
from sfumato.mine.patterns.support_worlds import count_basket_kinds
from sfumato.patterns import Patterns
from tests import brute_patterns as brute
from tests.brute_baskets import itemsets
from tests.brute_patterns import spell_items

COUNTER_EXAMPLE = [["a", "b", "c"], *[["a", "b"]] * 4, *[["a", "c"]] * 4, *[["b", "c"]] * 4, *[["b"]] * 5, *[["c"]] * 5]
three_items = st.lists(st.sets(st.sampled_from("abc")), min_size=1, max_size=7)


def published(lists: list[Any], least: int, complete: bool) -> Patterns:
    baskets = sf.Baskets.of(lists)
    return Patterns.of(frequent_itemsets(baskets, least), len(baskets), least if complete else None)


def singles(patterns: list[ForcedPattern]) -> dict[tuple[frozenset[Any], frozenset[Any]], tuple[int, int]]:
    return {
        (frozenset(pattern.conjunctions[0].present), frozenset(pattern.conjunctions[0].absent)): (
            pattern.least,
            pattern.most,
        )
        for pattern in patterns
        if len(pattern.conjunctions) == 1
    }


@example(lists=[set(), {"b", "a"}, {"a", "c"}, {"b", "a", "c"}], least=2, k=3, complete=True)
@settings(deadline=None, max_examples=60)
@given(lists=three_items, least=st.integers(1, 4), k=st.integers(2, 4), complete=st.booleans())
def test_few_items_are_reasoned_about_exactly(lists: list[set[str]], least: int, k: int, complete: bool) -> None:
    """Against every database of up to seven baskets."""
    patterns = published(lists, least, complete)
    supports = itemsets(lists, least)
    expected = brute.forced(supports, len(lists), k, least - 1 if complete else None) if supports else {}
    assert singles(forced_patterns(patterns, k)) == expected


@settings(deadline=None, max_examples=60)
@given(lists=three_items, least=st.integers(1, 4), k=st.integers(2, 4), complete=st.booleans())
def test_without_integer_programs_nothing_false_is_found(
    lists: list[set[str]], least: int, k: int, complete: bool
) -> None:
    patterns = published(lists, least, complete)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derivability, "EXACT_ITEMS", 0)
        derived_patterns = forced_patterns(patterns, k)
    supports = itemsets(lists, least)
    worlds = list(brute.worlds(supports, len(lists), least - 1 if complete else None)) if supports else []
    for pattern in derived_patterns:
        pairs = [(frozenset(part.present), frozenset(part.absent)) for part in pattern.conjunctions]
        counts = [sum(brute.count(world, pair) for pair in pairs) for world in worlds]
        assert 0 < pattern.least <= min(counts)
        assert max(counts) <= pattern.most < k


@settings(deadline=None, max_examples=80)
@given(
    lists=three_items, least=st.integers(1, 4), complete=st.booleans(), target_items=st.sets(st.sampled_from("abcx"))
)
def test_bounds_hold_in_every_database(
    lists: list[set[str]], least: int, complete: bool, target_items: set[str]
) -> None:
    patterns = published(lists, least, complete)
    supports = itemsets(lists, least)
    bounds = support_bounds(patterns, target_items)
    worlds = list(brute.worlds(supports, len(lists), least - 1 if complete else None)) if supports else []
    if target_items <= frozenset().union(*supports):
        counts = [brute.count(world, (frozenset(target_items), frozenset())) for world in worlds]
        assert all(bounds.lower <= many <= bounds.upper for many in counts)
        if all(part in supports for part in brute.subsets(target_items) if part and part < target_items):
            # Where all proper subsets are known, the deduction rules are tight.
            assert not counts or (min(counts), max(counts)) == bounds


def test_the_counter_example_has_no_channel_and_forces_one_person() -> None:
    """Minterms abc:1, ab:4, ac:4, bc:4, b:5, c:5."""
    baskets = sf.Baskets.of(COUNTER_EXAMPLE)
    assert inference_channels(baskets, 5, 3).height == 0
    patterns = published(COUNTER_EXAMPLE, 5, complete=False)
    assert support_bounds(patterns, "abc") == SupportBounds(1, 1)
    assert forced_patterns(patterns, 3) == [ForcedPattern((Conjunction(("a", "b", "c"), ()),), 1, 1)]


def test_what_follows_is_used_to_learn_more() -> None:
    """Without integer programs: with a or b in every basket, abc follows, and from it and the rest abcd."""
    lists = [["a", "b", "c", "d"]] * 2 + [["a", "c", "d"]] * 9 + [["b", "c", "d"]] * 9 + [["a", "b", "d"]] * 9
    lists += [["a", "b", "c"]] * 9 + [["a"]] * 4 + [["b"]] * 4
    patterns = published(lists, 11, complete=False)
    assert ["a", "b", "c", "d"] not in patterns.frame["items"].to_list()
    reasoning = derivability.reason_from_supports(patterns, 3)
    sets = {reasoning.known_sets.list_members(node) for node in range(1, len(reasoning.known_sets.rows))}
    assert (0, 1, 2, 3) in sets
    assert support_bounds(patterns, "abcd") == SupportBounds(2, 2)


def known_sets(patterns: Patterns, k: int = 2) -> dict[tuple[int, ...], int]:
    set_tree = derivability.reason_from_supports(patterns, k).known_sets
    return {set_tree.list_members(node): int(set_tree.supports[node]) for node in range(1, len(set_tree.rows))}


def test_an_item_in_every_basket_adds_nothing() -> None:
    """What holds b holds a and b, whether that is published or not."""
    assert known_sets(Patterns.of(spell_items({"a": 10, "b": 5}), 10)) == {(0,): 10, (1,): 5, (0, 1): 5}
    assert known_sets(Patterns.of(spell_items({"a": 9, "b": 5}), 10)) == {(0,): 9, (1,): 5}


def test_a_rare_pair_may_follow_from_completeness() -> None:
    """At least 6 of 10 hold both; unpublished at 7, it is 6."""
    assert known_sets(Patterns.of(spell_items({"a": 8, "b": 8}), 10, 7))[0, 1] == 6
    assert (0, 1) not in known_sets(Patterns.of(spell_items({"a": 8, "b": 8}), 10, 8))


def test_an_unpublished_pair_of_few_people(monkeypatch: pytest.MonkeyPatch) -> None:
    """At least 2 of 10 hold both, and fewer than 3, since it is not published."""
    monkeypatch.setattr(derivability, "EXACT_ITEMS", 0)
    derived_patterns = forced_patterns(Patterns.of(spell_items({"a": 6, "b": 6}), 10, 3), 3)
    assert ForcedPattern((Conjunction(("a", "b"), ()),), 2, 2) in derived_patterns
    assert forced_patterns(Patterns.of(spell_items({"a": 6, "b": 6}), 10), 3) == []


def test_two_patterns_may_be_known_together_only() -> None:
    """All pairs of three items known: "all or none of abc" is one person, but which of the two nobody knows."""
    lists = [["a"], ["b"], ["c"], ["a", "b"], ["a", "c"], ["b", "c"]] * 4 + [["a", "b", "c"]]
    patterns = published(lists, 5, complete=False)
    pair_patterns = [pattern for pattern in forced_patterns(patterns, 3) if len(pattern.conjunctions) == 2]
    assert [
        (set(map(len, pattern.conjunctions[0] + pattern.conjunctions[1])), pattern.least) for pattern in pair_patterns
    ] == [({0, 3}, 1)]


def test_completeness_tells_more() -> None:
    """ab has to be 2 or more; unpublished at 3 it is 2, and then one person has a and not b."""
    lists = [["a", "b"]] * 2 + [["a"], ["b"], ["b"]]
    open_end, complete = published(lists, 3, complete=False), published(lists, 3, complete=True)
    assert support_bounds(open_end, "ab").upper == 3
    assert support_bounds(complete, "ab").upper == 2
    assert len(forced_patterns(complete, 3)) > len(forced_patterns(open_end, 3))


def test_intervals_of_sets_without_all_subsets() -> None:
    """The two supports that a rule gives away are enough."""
    patterns = Patterns.of({("x", "y", "z", "w"): 80, ("x", "y", "z"): 81}, 100)
    assert forced_patterns(patterns, 3) == [ForcedPattern((Conjunction(("x", "y", "z"), ("w",)),), 1, 1)]


def test_supports_that_no_database_has_are_refused() -> None:
    with pytest.raises(sf.DataError, match="contradict"):
        forced_patterns(Patterns.of(spell_items({"a": 9, "b": 9, "c": 9, "ab": 1, "ac": 1, "bc": 1}), 9), 2)
    with pytest.raises(sf.DataError, match="contradict"):
        find_exactly_forced(Patterns.of(spell_items({"a": 9, "b": 9, "ab": 1}), 9), 2)
    with pytest.raises(sf.PolicyError):
        forced_patterns(Patterns.of({}, 3), 0)
    assert forced_patterns(Patterns.of({}, 3), 2) == []


SEVERAL_UNKNOWNS = {
    "a": 8, "b": 20, "c": 21, "d": 17, "ab": 5, "ac": 6, "ad": 4, "bc": 14, "bd": 10, "cd": 12, "abc": 3, "bcd": 7,
}  # fmt: skip
"""Of 29 baskets, complete from support 3: no set alone gives anything away, all of them together do."""


def test_several_unknowns_at_once_need_integer_programs() -> None:
    patterns = Patterns.of(spell_items(SEVERAL_UNKNOWNS), 29, 3)
    assert not len(derivability.reason_from_supports(patterns, 2).records)
    bounds = singles(forced_patterns(patterns, 2))
    assert len(bounds) == 5
    assert bounds[frozenset("c"), frozenset("abd")] == (1, 1)


def test_a_witness_changes_nothing_but_the_time() -> None:
    chance = random.Random(4)
    lists = [[item for item in "abcd" if chance.random() < 0.6] for _ in range(30)]
    patterns = published(lists, 10, complete=True)
    baskets = sf.Baskets.of(lists)
    assert find_exactly_forced(patterns, 3) == find_exactly_forced(
        patterns, 3, count_basket_kinds(baskets, patterns.items)
    )
