# SPDX-License-Identifier: MIT
from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.patterns import pattern_privacy
from sfumato.measure.patterns.pattern_privacy import (
    count_lost_itemsets,
    count_untrue_supports,
    find_least_support,
    inferable_patterns,
)
from sfumato.mine.patterns.derivability import forced_patterns
from sfumato.patterns import Patterns
from tests import brute_patterns as brute
from tests.brute_baskets import itemsets
from tests.brute_patterns import spell_items
from tests.mine.patterns.test_derivability import COUNTER_EXAMPLE, SEVERAL_UNKNOWNS

three_items = st.lists(st.sets(st.sampled_from("abc")), min_size=1, max_size=7)


def published(lists: list[set[str]], least: int) -> Patterns:
    return Patterns.of(list(itemsets(lists, least).items()), len(lists))


@settings(deadline=None, max_examples=60)
@given(lists=three_items, least=st.integers(1, 4), k=st.integers(2, 4), complete=st.booleans())
def test_whatever_is_forced_is_found(lists: list[set[str]], least: int, k: int, complete: bool) -> None:
    """Against every database of up to seven baskets."""
    patterns = published(lists, least)
    supports = itemsets(lists, least)
    forced = brute.forced(supports, len(lists), k, least - 1 if complete else None) if supports else {}
    inferable_count = inferable_patterns(patterns, k, least if complete else None)
    if forced:
        assert inferable_count > 0
    if inferable_count == 0:
        assert not forced


@settings(deadline=None, max_examples=40)
@given(
    lists=st.lists(st.sets(st.sampled_from("abcd")), min_size=1, max_size=20),
    least=st.integers(2, 6),
    k=st.integers(2, 4),
    complete=st.booleans(),
)
def test_it_agrees_with_the_miner_of_the_method(lists: list[set[str]], least: int, k: int, complete: bool) -> None:
    """Two programs that share nothing say "safe" of the same patterns."""
    patterns = Patterns.of(list(itemsets(lists, least).items()), len(lists), least if complete else None)
    theirs = forced_patterns(patterns, k) if least >= k else []
    if least >= k:
        assert (inferable_patterns(patterns, k, patterns.complete_from) == 0) == (not theirs)


def test_channels_are_counted_once_each() -> None:
    """Two of the four baskets hold a and not b."""
    patterns = Patterns.of(spell_items({"a": 4, "b": 2, "ab": 2}), 4)
    assert inferable_patterns(patterns, 3) == 4  # b, not b; and of ab: both, and a without b
    assert inferable_patterns(patterns, 2) == 0


def test_the_counter_example() -> None:
    patterns = published([set(basket) for basket in COUNTER_EXAMPLE], 5)
    assert inferable_patterns(patterns, 3) == 1
    assert inferable_patterns(patterns, 1) == 0


def test_the_linear_program_finds_what_needs_several_unknowns(monkeypatch: pytest.MonkeyPatch) -> None:
    patterns = Patterns.of(spell_items(SEVERAL_UNKNOWNS), 29)
    assert inferable_patterns(patterns, 2, 3) == 5
    monkeypatch.setattr(pattern_privacy, "FEW_ITEMS", 0)
    assert inferable_patterns(patterns, 2, 3) == 0


def test_pairs_that_are_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """At least 2 of 10 hold both, and fewer than 3 if all from 3 on is published; then 2 hold neither."""
    monkeypatch.setattr(pattern_privacy, "FEW_ITEMS", 0)
    assert inferable_patterns(Patterns.of(spell_items({"a": 6, "b": 6}), 10), 3) == 0
    assert inferable_patterns(Patterns.of(spell_items({"a": 6, "b": 6}), 10), 3, 3) == 1


def test_what_follows_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """a is in every basket, so ab, ac, abc and the rest follow: it is the same whether they are published."""
    monkeypatch.setattr(pattern_privacy, "FEW_ITEMS", 0)
    sets = {"a": 9, "b": 6, "c": 5, "d": 5, "bc": 3, "bd": 3, "cd": 2, "ad": 5}
    expected = inferable_patterns(
        Patterns.of(spell_items({**sets, "ab": 6, "ac": 5, "abc": 3, "abd": 3, "acd": 2}), 9), 2
    )
    assert inferable_patterns(Patterns.of(spell_items(sets), 9), 2) == expected == 7


def test_intervals_of_sets_without_all_subsets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_privacy, "FEW_ITEMS", 0)
    patterns = Patterns.of(spell_items({"xyzw": 80, "xyz": 81}), 100)
    assert inferable_patterns(patterns, 3) == 1
    assert inferable_patterns(patterns, 1) == 0


def test_true_supports_and_lost_sets() -> None:
    baskets = sf.Baskets.of([["a", "b"], ["a", "b"], ["a"]])
    true = Patterns.of(spell_items({"a": 3, "b": 2, "ab": 2}), 3)
    assert count_untrue_supports(true, baskets) == 0
    assert count_lost_itemsets(true, baskets, 2) == 0
    assert count_untrue_supports(Patterns.of(spell_items({"a": 3, "ab": 1}), 4), baskets) == 2
    assert count_lost_itemsets(Patterns.of(spell_items({"a": 3, "ab": 1}), 4), baskets, 2) == 2
    assert count_untrue_supports(Patterns.of(spell_items({"z": 1}), 3), baskets) == 1
    assert find_least_support(true) == 2
    assert find_least_support(Patterns.of({}, 7)) == 7


def test_supports_that_contradict_are_refused() -> None:
    for sets in ({"a": 9, "b": 9, "ab": 1}, {"a": 9, "b": 9, "c": 9, "ab": 5, "ac": 5, "bc": 5}):
        with pytest.raises(sf.DataError, match="contradict"):
            inferable_patterns(Patterns.of(spell_items(sets), 9), 2)
