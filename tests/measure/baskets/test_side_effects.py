# SPDX-License-Identifier: MIT
from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.baskets.changed_items import measure_changed_items
from sfumato.measure.baskets.hiding_steps import combine_effects, measure_step_effects
from sfumato.measure.baskets.recount import ItemColumns, recount_itemsets
from sfumato.measure.baskets.side_effects import (
    SideEffects,
    count_baskets,
    count_foreign_items,
    exposed_item_rules,
    exposed_rules,
    side_effects,
)
from sfumato.mine.baskets.itemsets import find_itemsets
from sfumato.public.unknown_items import MARK, find_unknown_mark, mark_unknowns
from tests import brute_baskets as brute

HALF = Fraction(1, 2)
items = st.sampled_from("abcd")
lists = st.lists(st.sets(items), min_size=1, max_size=8)
shares = st.sampled_from([Fraction(1, 3), HALF, Fraction(2, 3), Fraction(1)])
rules = st.tuples(st.frozensets(items, max_size=2), st.frozensets(items, min_size=1, max_size=2)).filter(
    lambda rule: not rule[0] & rule[1]
)


@settings(deadline=None, max_examples=100)
@given(baskets=lists, least=st.integers(1, 4))
def test_itemsets_are_counted_as_by_the_book(baskets: list[set[str]], least: int) -> None:
    assert recount_itemsets(sf.Baskets.of(baskets), least) == brute.itemsets(baskets, least)


def test_many_items_go_another_way() -> None:
    """Above 128 items the first item's baskets are cut out."""
    baskets = [[f"i{(7 * row + step * step) % 200:03}" for step in range(row % 6 + 1)] for row in range(900)]
    itemsets = recount_itemsets(sf.Baskets.of(baskets), 3)
    assert itemsets == brute.itemsets(baskets, 3)
    assert len({name for itemset in itemsets for name in itemset}) > 128
    assert any(len(itemset) > 2 for itemset in itemsets)
    share = Fraction(1, 5)
    rule_counts = {right: 0 for _, right in brute.rules(baskets, 3, share) if len(right) == 1}
    for left, right in brute.rules(baskets, 3, share):
        if right in rule_counts and left:
            rule_counts[right] += 1
    for right in sorted(rule_counts, key=sorted)[::10]:
        assert exposed_item_rules(sf.Baskets.of(baskets), right, 3, share) == rule_counts[right] > 0


def shows(baskets: list[set[str]], rule: tuple[frozenset[str], frozenset[str]], least: int, share: Fraction) -> bool:
    left, right = rule
    whole, left_support = brute.support(baskets, left | right), brute.support(baskets, left)
    return whole >= least and (not left or Fraction(whole, left_support or 1) >= share)


@settings(deadline=None, max_examples=100)
@given(baskets=lists, secret=st.lists(rules, max_size=4), least=st.integers(1, 4), share=shares)
def test_exposed_rules_by_hand(baskets: list[set[str]], secret: list[Any], least: int, share: Fraction) -> None:
    published = sf.Baskets.of(baskets)
    expected = sum(shows(baskets, rule, least, share) for rule in set(secret))
    assert exposed_rules(published, secret, least, share) == expected
    itemset_rules = [rule for rule in set(secret) if not rule[0]]
    assert exposed_rules(published, itemset_rules, least) == sum(
        shows(baskets, rule, least, share) for rule in itemset_rules
    )


@settings(deadline=None, max_examples=100)
@given(baskets=lists, hidden_items=st.sets(items, min_size=1, max_size=2), least=st.integers(1, 4), share=shares)
def test_exposed_item_rules_by_hand(
    baskets: list[set[str]], hidden_items: set[str], least: int, share: Fraction
) -> None:
    published = sf.Baskets.of(baskets)
    mined_rules = brute.rules(baskets, least, share)
    expected = sum(len(right) == 1 and right <= hidden_items for _, right in mined_rules)
    assert exposed_item_rules(published, hidden_items, least, share) == expected
    assert exposed_rules(published, sorted(hidden_items), least, share) == expected


@settings(deadline=None, max_examples=100)
@given(
    before=lists,
    flips=st.lists(st.tuples(st.integers(0, 7), items), max_size=6),
    secret=st.lists(st.one_of(rules, items), max_size=2),
    least=st.integers(1, 4),
    share=shares,
)
def test_side_effects_by_hand(
    before: list[set[str]], flips: list[tuple[int, str]], secret: list[Any], least: int, share: Fraction
) -> None:
    after = [set(basket) for basket in before]
    for row, item in flips:
        if row < len(after):
            after[row] ^= {item}
    effects = side_effects(sf.Baskets.of(before), sf.Baskets.of(after), least, share, secret)
    old, new = brute.rules(before, least, share), brute.rules(after, least, share)
    sets, new_sets = brute.itemsets(before, least), brute.itemsets(after, least)
    whole = {right for left, right in (entry for entry in secret if not isinstance(entry, str)) if not left}
    secret_items = {name for name in secret if isinstance(name, str)}

    def is_secret(rule: tuple[frozenset[str], frozenset[str]]) -> bool:
        left, right = rule
        return rule in secret or bool(right & secret_items) or any(itemset <= left | right for itemset in whole)

    assert effects.rules == sum(not is_secret(rule) for rule in old)
    assert effects.lost_rules == sum(not is_secret(rule) and rule not in new for rule in old)
    assert effects.ghost_rules == sum(not is_secret(rule) and rule not in old for rule in new)
    assert effects.rules_published == len(new)
    assert effects.itemsets == sum(not any(itemset <= items for itemset in whole) for items in sets)
    assert effects.lost_itemsets == sum(
        items not in new_sets and not any(itemset <= items for itemset in whole) for items in sets
    )
    assert effects.ghost_itemsets == sum(items not in sets for items in new_sets)
    assert effects.sensitive == sum(map(is_secret, old)) + sum(itemset in sets for itemset in whole)
    assert effects.exposed == sum(map(is_secret, new)) + sum(itemset in new_sets for itemset in whole)
    pairs = list(zip(before, after, strict=True))
    assert effects.added == sum(len(b - a) for a, b in pairs)
    assert effects.removed == sum(len(a - b) for a, b in pairs)
    assert effects.changed_baskets == sum(a != b for a, b in pairs)
    gaps = sum(abs(brute.support(before, [letter]) - brute.support(after, [letter])) for letter in "abcd")
    assert effects.dissimilarity == (gaps / sum(map(len, before)) if any(before) else float(any(after)))


def test_shares_of_the_effects() -> None:
    effects = SideEffects(4, 1, 9, 2, 0, 10, 5, 2, 8, 0.1, 0, 3, 2)
    assert (effects.hiding_failure, effects.misses_cost, effects.artifactual_patterns) == (0.25, 0.5, 0.25)
    no_effects = SideEffects(0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0, 0, 0)
    assert (no_effects.hiding_failure, no_effects.misses_cost, no_effects.artifactual_patterns) == (0, 0, 0)


def test_itemsets_alone_need_no_confidence() -> None:
    before, after = sf.Baskets.of([["a", "b"]] * 3), sf.Baskets.of([["a", "b"], ["a"], ["a"]])
    effects = side_effects(before, after, 2, None, [((), ("a", "b"))])
    assert (effects.sensitive, effects.exposed, effects.rules) == (1, 0, 0)
    assert (effects.itemsets, effects.lost_itemsets) == (2, 1)


def test_unknowns_count_as_not_there() -> None:
    original = sf.Baskets.of([["bread", "milk"]] * 4)
    certain = sf.Baskets.of([["bread", "milk"], ["bread"], ["bread"], ["bread"]])
    blocked = mark_unknowns(certain, [1, 2, 3], ["milk"] * 3)
    assert exposed_rules(blocked, [(("bread",), ("milk",))], 2, HALF) == 0
    assert count_foreign_items(blocked, original) == 1
    assert count_foreign_items(blocked, original, MARK) == 0
    effects = side_effects(original, blocked, 2, HALF, [(("bread",), ("milk",))], MARK)
    assert (effects.sensitive, effects.exposed, effects.ghost_itemsets) == (1, 0, 0)
    assert (effects.removed, effects.unknown, effects.changed_baskets) == (0, 3, 3)
    absent = mark_unknowns(sf.Baskets.of([["bread", "milk"]] * 4), [0], ["beer"])
    never_held = side_effects(original, absent, 2, HALF, [(("bread",), ("milk",))], MARK)
    assert (never_held.added, never_held.removed, never_held.unknown, never_held.changed_baskets) == (0, 0, 1, 1)
    assert count_baskets(blocked) == 4


def test_a_name_that_ends_in_the_mark_is_unknown_only_if_a_method_marks() -> None:
    """The item is called "milk?", and one of three was removed."""
    original = sf.Baskets.of([["bread", "milk?"]] * 3)
    release = sf.HideRules(rules=["bread ==> milk?"], min_support=3, min_confidence=0.9).protect(original)
    (effects,) = measure_step_effects(release, original, release.data)
    assert (effects.unknown, effects.removed, effects.changed_baskets) == (0, 1, 1)
    assert find_unknown_mark(release) == ""
    assert measure_changed_items(original, release.data, "") == pytest.approx(1 / 6)
    named = sf.Baskets.of([["bread", "milk"]] * 6 + [["bread"]] * 6)
    blocked = sf.HideRules(rules=["bread ==> milk"], min_support=3, min_confidence=0.5, strategy="block").protect(named)
    assert find_unknown_mark(blocked) == MARK
    # A recipient has no method, but the claims say it.
    assert find_unknown_mark(pickle.loads(pickle.dumps(blocked))) == MARK
    assert find_unknown_mark(pickle.loads(pickle.dumps(release))) == ""


def test_what_another_method_hid_is_not_lost() -> None:
    before, after = sf.Baskets.of([["a", "b"]] * 3), sf.Baskets.of([["a", "b"], ["a"], ["a"]])
    secret = [(("a",), ("b",))]
    alone = side_effects(before, after, 2, 1, [])
    beside = side_effects(before, after, 2, 1, [], other_secrets=secret)
    assert (alone.rules, alone.lost_rules) == (2, 2)
    assert (beside.sensitive, beside.rules, beside.lost_rules) == (0, 1, 1)
    both = combine_effects([beside, side_effects(before, after, 3, 1, secret)])
    assert (both.sensitive, both.exposed, both.rules, both.lost_rules, both.lost_itemsets) == (1, 0, 1, 1, 2)


def test_names_and_numbers_are_the_same_items() -> None:
    numbers = sf.Baskets.of([[1, 2], [1, 2]])
    assert exposed_rules(numbers, [(("1",), ("2",))], 2, 1) == 1
    assert exposed_item_rules(numbers, ["2"], 1, 1) == 1
    assert count_foreign_items(sf.Baskets.of([["1", "3"]]), numbers) == 1
    assert exposed_rules(numbers, [(("9",), ("2",))], 1, 1) == 0
    assert ItemColumns.of(numbers).count_support([]) == 2


def test_bad_input_is_named() -> None:
    baskets, two = sf.Baskets.of([["a"]]), sf.Baskets.of([["a"], ["b"]])
    with pytest.raises(sf.DataError, match="1 basket became 2"):
        side_effects(baskets, two, 1, 1, [])
    with pytest.raises(sf.PolicyError):
        side_effects(baskets, baskets, 0, 1, [])
    with pytest.raises(sf.PolicyError):
        exposed_item_rules(baskets, ["a"], 1, 2)


def test_retail_is_counted_in_seconds(shared_data: Path) -> None:
    baskets = sf.Baskets.read(shared_data / "fimi" / "retail.dat.gz")
    assert len(recount_itemsets(baskets, 882)) == len(find_itemsets(baskets, 882))
    assert exposed_item_rules(baskets, [39], 882, HALF) > 0
