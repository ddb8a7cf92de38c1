# SPDX-License-Identifier: MIT
"""What a provider mined, decoded: exactly the itemsets of the originals, by brute force; or refused."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.key import Key
from sfumato.mine.baskets.itemsets import find_itemsets, frequent_itemsets
from sfumato.mine.codes.bloom_filters import BloomKey, filter_requests, mine_filters
from sfumato.mine.codes.decoded_itemsets import decode_itemsets, decode_mining, decode_rules
from sfumato.protect.codes.encode_bloom import EncodeBloom
from sfumato.protect.codes.encode_items import EncodeItems
from sfumato.public.codes.item_key import ItemKey
from sfumato.public.sealed_key import seal_key
from tests import brute_baskets as brute

quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
words = st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), min_size=1, max_size=20).filter(any)
numbers = st.lists(st.lists(st.integers(0, 5), max_size=5), min_size=1, max_size=20).filter(any)
MARKET = ["abc", "abd", "ab", "cd", "ace", "bde", "abce", "ad", "bc", "abcd", "e", "ef", "abf", "acf"]


def as_counts(itemsets: pl.DataFrame) -> dict[frozenset[Any], int]:
    return {frozenset(row["items"]): row["support"] for row in itemsets.iter_rows(named=True)}


@quick
@given(st.one_of(words, numbers), st.sampled_from(["padded", "one_to_n"]), st.integers(1, 6), st.integers(0, 99))
def test_decoded_itemsets_are_those_of_the_originals(lists: list[list[Any]], kind: Any, least: int, seed: int) -> None:
    data = sf.Baskets.of(lists)
    method = EncodeItems(kind=kind, k=max(2, min(3, len(data.items))), n=3, fake_codes=2, noise=0.3)
    if kind == "padded" and len(data.items) < 2:
        return
    key = method.new_key(data, sf.Randomness.seeded(seed))
    itemsets = frequent_itemsets(method.protect(data, key).data, least)
    true = brute.itemsets(data.to_lists(), least)
    decoded = decode_itemsets(itemsets, key, min_support=least)
    assert as_counts(decoded) == true
    assert all(row == sorted(row) for row in decoded["items"].to_list())
    assert as_counts(decode_itemsets(itemsets, key, data, least)) == true
    lowest = min(itemsets["support"].to_list(), default=1)
    assert as_counts(decode_itemsets(itemsets, key)) == {
        itemset: count for itemset, count in true.items() if count >= lowest
    }


@quick
@given(words, st.integers(3, 40), st.integers(1, 4), st.integers(1, 6), st.integers(0, 99))
def test_filters_never_miss_and_the_originals_make_them_exact(
    lists: list[list[str]], bits: int, hashes: int, least: int, seed: int
) -> None:
    data = sf.Baskets.of(lists)
    method = EncodeBloom(bits=bits, hashes=hashes)
    key = method.new_key(data, sf.Randomness.seeded(seed))
    itemsets = mine_filters(method.protect(data, key).data, filter_requests(key), least)
    true = brute.itemsets(data.to_lists(), least)
    decoded_counts = as_counts(decode_itemsets(itemsets, key))
    assert all(decoded_counts[itemset] >= count for itemset, count in true.items())
    assert as_counts(decode_itemsets(itemsets, key, data, least)) == true


@quick
@given(words, st.integers(2, 10), st.integers(1, 3), st.integers(1, 5), st.integers(1, 3))
def test_mining_filters_by_brute_force(
    lists: list[list[str]], bits: int, hashes: int, least: int, longest: int
) -> None:
    data = sf.Baskets.of(lists)
    method = EncodeBloom(bits=bits, hashes=hashes)
    key = method.new_key(data, sf.Randomness.seeded(0))
    filters, requests = method.protect(data, key).data, filter_requests(key)
    assert requests.ids is not None
    request_sets = dict(zip(requests.ids, map(set, requests.to_lists()), strict=True))
    matches = [
        [number for number, request in request_sets.items() if request <= set(row)] for row in filters.to_lists()
    ]
    assert as_counts(mine_filters(filters, requests, least, longest)) == brute.itemsets(matches, least, longest)


def encoded(method: EncodeItems | EncodeBloom) -> tuple[sf.Baskets, Key, pl.DataFrame]:
    data = sf.Baskets.of([list(row) for row in MARKET])
    key = method.new_key(data, sf.Randomness.seeded(1))
    published = method.protect(data, key).data
    if isinstance(method, EncodeBloom):
        return data, key, mine_filters(published, filter_requests(key), 2)
    return data, key, frequent_itemsets(published, 2)


method_cases = pytest.mark.parametrize("method", [EncodeItems(k=3), EncodeItems(kind="one_to_n"), EncodeBloom()])


@method_cases
def test_wrong_and_changed_keys_are_refused(method: EncodeItems | EncodeBloom) -> None:
    data, key, itemsets = encoded(method)
    with pytest.raises(sf.DataError, match="not of this key"):
        decode_itemsets(itemsets, method.new_key(data))
    changed = Key(key.method, {**key.secret, "items": list(reversed(key.secret["items"]))})
    with pytest.raises(sf.DataError, match="changed or damaged"):
        decode_itemsets(itemsets, changed)
    with pytest.raises(sf.DataError, match="not a key of"):
        decode_itemsets(itemsets, Key("encode_for_trees", dict(key.secret)))
    with pytest.raises(sf.DataError, match="other baskets"):
        decode_itemsets(itemsets, key, sf.Baskets.of([["a"]]))


@method_cases
def test_a_provider_who_is_wrong_is_noticed(method: EncodeItems | EncodeBloom) -> None:
    _, key, itemsets = encoded(method)
    with pytest.raises(sf.DataError, match="missing or rarer"):
        decode_itemsets(itemsets.filter(pl.col("items").list.len() > 1), key)
    with pytest.raises(sf.DataError, match="a different support"):
        decode_itemsets(itemsets.with_columns(pl.col("support") + 1), key)
    with pytest.raises(sf.PolicyError, match="columns"):
        decode_itemsets(itemsets.rename({"items": "sets"}), key)
    words = pl.DataFrame({"items": [["bread"]], "support": [3]})
    with pytest.raises(sf.DataError, match="not whole numbers"):
        decode_itemsets(words, key)


def without_spot_checks(key: Key) -> Key:
    """The key as an earlier version drew it."""
    remaining_secret = {name: value for name, value in key.secret.items() if name not in ("seal", "spot_checks")}
    return seal_key(key.method, remaining_secret)


def test_wrong_counts_of_larger_sets_are_noticed_with_the_originals() -> None:
    data, key, itemsets = encoded(EncodeItems(k=3))
    key = without_spot_checks(key)
    longest = itemsets["items"].list.len().max()
    lower = pl.when(pl.col("items").list.len() == longest).then(pl.col("support") - 1).otherwise(pl.col("support"))
    with pytest.raises(
        sf.DataError, match=r"has another support in the originals|have another support in the originals"
    ):
        decode_itemsets(itemsets.with_columns(lower.alias("support")), key, data, 1)


def test_arrays_text_and_nothing_at_all() -> None:
    data, key, itemsets = encoded(EncodeItems(k=3))
    published = EncodeItems(k=3).protect(data, key).data
    exact = as_counts(decode_itemsets(itemsets, key, min_support=2))
    assert as_counts(decode_itemsets(find_itemsets(published, 2), key, min_support=2)) == exact
    text = itemsets.with_columns(pl.col("items").cast(pl.List(pl.String)))
    assert as_counts(decode_itemsets(text, key, min_support=2)) == exact
    share = 3 / len(data)
    assert as_counts(decode_itemsets(itemsets, key, min_support=share)) == brute.itemsets(data.to_lists(), 3)
    assert decode_itemsets(itemsets.clear(), key).schema == frequent_itemsets(data, 2).schema


def test_filters_are_refused_where_they_are_none() -> None:
    data, key, _ = encoded(EncodeBloom())
    with pytest.raises(sf.DataError, match="bit numbers"):
        mine_filters(data, filter_requests(key), 2)
    with pytest.raises(sf.PolicyError, match="max_length"):
        mine_filters(EncodeBloom().protect(data, key).data, filter_requests(key), 2, 0)


@pytest.mark.parametrize("method", [sf.EncodeItems(k=3), sf.EncodeItems(kind="one_to_n"), sf.EncodeBloom()])
def test_a_provider_who_mined_higher_is_noticed_by_missing_codes(method: Any) -> None:
    data = sf.Baskets.of([list(row) for row in ("abc", "abd", "ab", "ac", "bd", "acd", "d", "e", "f", "ef")])
    key = method.new_key(data, sf.Randomness.seeded(3))
    release = method.protect(data, key).data
    mined = mine_filters(release, filter_requests(key), 5) if isinstance(method, sf.EncodeBloom) else None
    higher = frequent_itemsets(release, 5) if mined is None else mined
    with pytest.raises(sf.DataError, match="codes with a support of 2 or more"):
        decode_itemsets(higher, key, min_support=2)
    assert decode_itemsets(higher, key, min_support=5).height <= higher.height
    no_itemsets = higher.clear()
    assert decode_itemsets(no_itemsets, key).height == 0


@method_cases
def test_left_out_itemsets_fail_spot_checks(method: EncodeItems | EncodeBloom) -> None:
    _, key, itemsets = encoded(method)
    short = itemsets.filter(pl.col("items").list.len() == 1)
    with pytest.raises(sf.DataError, match=r"the provider did not return [1-9]"):
        decode_itemsets(short, key, min_support=2)
    assert decode_mining(itemsets, key, min_support=2).spot_checks > 3
    assert decode_itemsets(short, without_spot_checks(key), min_support=2).height > 0


@quick
@given(words, st.sampled_from([0, 1, 2]), st.integers(1, 4), st.integers(0, 99), st.data())
def test_no_left_out_itemset_gets_past_the_originals(
    lists: list[list[str]], method_index: int, least: int, seed: int, sampler: Any
) -> None:
    data = sf.Baskets.of(lists)
    if len(data.items) < 3:
        return
    method = (EncodeItems(k=3), EncodeItems(kind="one_to_n"), EncodeBloom(bits=24, hashes=2))[method_index]
    key = method.new_key(data, sf.Randomness.seeded(seed))
    published = method.protect(data, key).data
    is_bloom = isinstance(method, EncodeBloom)
    itemsets = mine_filters(published, filter_requests(key), least) if is_bloom else frequent_itemsets(published, least)
    assert decode_mining(itemsets, key, data, least).is_complete
    true = brute.itemsets(data.to_lists(), least)
    maximal = [itemset for itemset in true if len(itemset) > 1 and not any(itemset < other for other in true)]
    if not maximal:
        return
    lost_itemset = sampler.draw(st.sampled_from(sorted(maximal, key=sorted)))
    image = find_image(key, sorted(data.items.index(item) for item in lost_itemset))
    cheated = itemsets.filter(
        pl.Series([not image <= set(itemset) for itemset in itemsets["items"].to_list()], dtype=pl.Boolean)
    )
    with pytest.raises(sf.DataError, match="did not return"):
        decode_itemsets(cheated, without_spot_checks(key), data, least)


def find_image(key: Key, items: list[int]) -> set[int]:
    """The published numbers of some items."""
    if key.method == "encode_bloom":
        return {BloomKey.open(key).requests[item] for item in items}
    return {code for item in items for code in ItemKey.open(key).published_images[item]}


@method_cases
def test_short_itemsets_are_decoded_if_asked_for(method: EncodeItems | EncodeBloom) -> None:
    data, key, itemsets = encoded(method)
    if isinstance(method, EncodeItems) and method.kind == "one_to_n":
        return  # an itemset of two items may have four codes
    pairs = itemsets.filter(pl.col("items").list.len() <= 2)
    true = brute.itemsets(data.to_lists(), 2, 2)
    assert as_counts(decode_itemsets(pairs, key, data, 2, max_length=2)) == true
    assert as_counts(decode_itemsets(itemsets, key, data, 2, max_length=2)) == true
    with pytest.raises(sf.DataError, match="max_length"):
        decode_itemsets(pairs, key, data, 2)
    with pytest.raises(sf.DataError, match="max_length"):
        decode_itemsets(pairs, without_spot_checks(key), data, 2)
    with pytest.raises(sf.PolicyError, match="max_length"):
        decode_itemsets(pairs, key, max_length=0)


@quick
@given(words, st.sampled_from(["padded", "one_to_n"]), st.integers(1, 5), st.sampled_from([0.3, 0.75, 1.0]))
def test_decoded_rules_are_those_of_the_originals(
    lists: list[list[str]], kind: Any, least: int, confidence: float
) -> None:
    data = sf.Baskets.of(lists)
    if len(data.items) < 2:
        return
    method = EncodeItems(kind=kind, k=2)
    key = method.new_key(data, sf.Randomness.seeded(4))
    itemsets = frequent_itemsets(method.protect(data, key).data, least)
    rules = decode_rules(itemsets, key, min_support=least, min_confidence=confidence)
    order = ["antecedent", "consequent"]
    true = sf.mine.association_rules(data, least, confidence)
    assert rules.sort(order).equals(true.sort(order))


def test_rules_from_filters_need_the_originals() -> None:
    data, key, itemsets = encoded(EncodeBloom())
    with pytest.raises(sf.PolicyError, match="decode with the originals"):
        decode_rules(itemsets, key, min_support=2)
    true = sf.mine.association_rules(data, 2, 0.6).sort("antecedent", "consequent")
    assert decode_rules(itemsets, key, data, 2, 0.6).sort("antecedent", "consequent").equals(true)
