# SPDX-License-Identifier: MIT
from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.mine.baskets.itemsets import find_itemsets
from sfumato.mine.baskets.published_rules import count_rule_people, list_rule_patterns
from sfumato.mine.patterns.inference_channels import inference_channels
from sfumato.mine.patterns.known_sets import KnownSets
from sfumato.patterns import Patterns
from sfumato.runtime.progress import listen_to_progress
from tests import brute_patterns as brute

small_baskets = st.lists(st.sets(st.sampled_from("abcde")), min_size=1, max_size=14)


def as_dict(frame: pl.DataFrame) -> dict[tuple[frozenset[str], frozenset[str]], int]:
    supports = {(frozenset(i), frozenset(o)): s for i, o, s in frame.select("inner", "outer", "support").iter_rows()}
    assert len(supports) == frame.height
    return supports


@settings(deadline=None, max_examples=150)
@given(lists=small_baskets, least=st.integers(1, 6), k=st.integers(1, 6))
def test_channels_are_those_of_the_definition(lists: list[set[str]], least: int, k: int) -> None:
    channels = as_dict(inference_channels(sf.Baskets.of(lists), least, k))
    assert channels == brute.channels(lists, least, k)


@settings(deadline=None, max_examples=100)
@given(lists=small_baskets, least=st.integers(1, 6), k=st.integers(2, 6))
def test_maximal_channels_lie_inside_no_other(lists: list[set[str]], least: int, k: int) -> None:
    every = brute.channels(lists, least, k)
    widest = {
        channel: many
        for channel, many in every.items()
        if not any(other != channel and other[0] <= channel[0] and channel[1] <= other[1] for other in every)
    }
    assert as_dict(inference_channels(sf.Baskets.of(lists), least, k, maximal=True)) == widest


def test_lists_are_sorted_and_typed() -> None:
    frame = inference_channels(sf.Baskets.of([[30, 4], [4, 30], [4]]), 1, 2)
    assert frame.schema == {"inner": pl.List(pl.Int64), "outer": pl.List(pl.Int64), "support": pl.Int64}
    assert frame.rows() == [([], [30], 1), ([4], [4, 30], 1)]
    text = inference_channels(sf.Baskets.of([["b", "a"], ["a"]]), 1, 2)
    assert text.schema["inner"] == pl.List(pl.String)


def test_nothing_frequent_gives_an_empty_frame() -> None:
    frame = inference_channels(sf.Baskets.of([["a"], ["b"]]), 2, 2)
    assert frame.height == 0
    assert frame.columns == ["inner", "outer", "support"]
    assert inference_channels(sf.Baskets.of([["a"], ["b"]]), 2, 2, maximal=True).height == 0


def test_a_share_is_a_support_too() -> None:
    baskets = sf.Baskets.of([["a", "b"]] * 3 + [["a"]])
    assert inference_channels(baskets, 0.75, 2).equals(inference_channels(baskets, 3, 2))


def test_bad_input_is_named() -> None:
    baskets = sf.Baskets.of([["a"]])
    with pytest.raises(sf.PolicyError, match="k must be a whole number"):
        inference_channels(baskets, 1, 0)
    with pytest.raises(sf.PolicyError, match="k must be a whole number"):
        inference_channels(baskets, 1, True)
    with pytest.raises(sf.PolicyError, match="min_support"):
        inference_channels(baskets, 0, 2)


def test_the_search_tells_how_far_it_is() -> None:
    step_names: list[str] = []
    with listen_to_progress(lambda step, count, total: step_names.append(step)):
        inference_channels(sf.Baskets.of([["a", "b"], ["a"]]), 1, 2, maximal=True)
    assert {"looking for inference channels", "looking for maximal channels"} <= set(step_names)


@settings(deadline=None, max_examples=60)
@given(
    sets=st.dictionaries(st.frozensets(st.integers(0, 5), min_size=1, max_size=4), st.integers(1, 9), max_size=20),
)
def test_the_tree_holds_what_has_all_its_subsets(sets: dict[frozenset[int], int]) -> None:
    patterns = sf_patterns(sets)
    set_tree = KnownSets.of(patterns.offsets, patterns.codes, patterns.supports, 9)
    tree_sets = {frozenset(set_tree.list_members(node)) for node in range(1, len(set_tree.rows))}
    item_codes = {item: code for code, item in enumerate(patterns.items)}
    coded = {frozenset(item_codes[item] for item in itemset) for itemset in sets}
    assert tree_sets == {itemset for itemset in coded if all(part in coded for part in brute.subsets(itemset) if part)}
    assert len(tree_sets) + len(set_tree.left_over) == len(sets)
    maximal = {frozenset(set_tree.list_members(node)) for node in set_tree.flag_maximal().nonzero()[0].tolist()}
    every: set[frozenset[int]] = tree_sets | {frozenset()}
    assert maximal == {itemset for itemset in every if not any(itemset < other for other in every)}


def sf_patterns(sets: dict[frozenset[int], int]) -> Patterns:
    return Patterns.of(list(sets.items()), 9)


def test_channels_of_mushroom_are_consistent_with_counting(shared_data: Path) -> None:
    """Every channel of real data, recounted on the baskets."""
    baskets = sf.Baskets.read(shared_data / "fimi" / "mushroom.dat")
    frame = inference_channels(baskets, 0.5, 10)
    assert frame.height > 10
    rows = [frozenset(basket) for basket in baskets.to_lists()]
    for inner, outer, support in frame.head(15).iter_rows():
        inner_items, rest = frozenset(inner), frozenset(outer) - frozenset(inner)
        assert sum(inner_items <= row and not rest & row for row in rows) == support
    assert len(find_itemsets(baskets, 0.5)) == 153


def test_a_confident_rule_leaves_one_individual() -> None:
    """Giannotti et al. (2009): support 80, confidence 98.7 %."""
    assert count_rule_people(80, 0.987).antecedent == 81
    assert count_rule_people(80, 0.987).individuals == 1
    assert count_rule_people(80, 0.988).antecedent == 81
    assert count_rule_people(80, 1).individuals == 0
    assert count_rule_people(0, 0.5).antecedent == 0
    with pytest.raises(sf.PolicyError):
        count_rule_people(-1, 0.5)
    with pytest.raises(sf.PolicyError):
        count_rule_people(3, 0.0)


def test_rules_give_their_supports_away() -> None:
    rules = pl.DataFrame({"antecedent": [["x", "y"]], "consequent": [["z"]], "support": [80], "confidence": [80 / 81]})
    patterns = list_rule_patterns(rules, 100)
    assert patterns.to_lists() == [(["x", "y"], 81), (["x", "y", "z"], 80)]
    with pytest.raises(sf.DataError, match="confidence"):
        list_rule_patterns(rules.drop("confidence"), 100)
