# SPDX-License-Identifier: MIT
"""Baskets as Bloom filters: bits by the book, nothing missed, false positives counted."""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.key import Key
from sfumato.measure.codes.code_checks import count_strange_bits, count_unfiltered_items
from sfumato.mine.codes.bloom_filters import BloomKey, filter_requests, hash_item
from sfumato.protect.codes.encode_bloom import EncodeBloom

quick = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
rows = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=5), min_size=1, max_size=20).filter(any)


def make_baskets(seed: int = 1) -> sf.Baskets:
    membership = np.random.default_rng(seed).random((60, 8)) < 0.3
    return sf.Baskets.of([[f"item {index}" for index in np.flatnonzero(row)] for row in membership])


@quick
@given(rows, st.integers(1, 40), st.integers(1, 5), st.integers(0, 99))
def test_a_filter_holds_the_bits_of_its_items_and_no_others(
    lists: list[list[str]], bits: int, hashes: int, seed: int
) -> None:
    data = sf.Baskets.of(lists)
    method = EncodeBloom(bits=bits, hashes=hashes)
    key = method.new_key(data, sf.Randomness.seeded(seed))
    release = method.protect(data, key)
    opened = BloomKey.open(key)
    item_filters = dict(zip(opened.items, opened.list_filters(), strict=True))
    for basket, published in zip(data.to_lists(), release.data.to_lists(), strict=True):
        assert set(published) == {bit for item in basket for bit in item_filters[item]}
    supports = [
        sum(set(item_filters[item]) <= set(published_bits) for published_bits in release.data.to_lists())
        for item in data.items
    ]
    assert opened.supports == tuple(supports)
    true = sum(map(len, data.to_lists()))
    assert release.losses["false_positives"] == sum(supports) - true
    assert count_unfiltered_items(release.data, data) == count_strange_bits(release.data, bits) == 0


def test_bits_are_keyed_hashes() -> None:
    digest = hmac.new(b"secret", b"1:milk", hashlib.sha256).digest()
    assert hash_item("milk", 1000, 2, b"secret")[1] == int.from_bytes(digest, "big") % 1000
    assert hash_item("milk", 10**6, 3, b"secret") != hash_item("milk", 10**6, 3)


def test_unkeyed_filters_are_the_same_under_every_key() -> None:
    data = make_baskets()
    for keyed in (False, True):
        method = EncodeBloom(keyed=keyed)
        published, two = (method.protect(data, method.new_key(data)).data for _ in range(2))
        assert (published == two) is not keyed


def test_requests_name_nothing_and_have_no_order() -> None:
    data = make_baskets()
    method = EncodeBloom()
    key = method.new_key(data)
    requests = filter_requests(key)
    assert requests.ids is not None
    assert list(requests.ids) == sorted(requests.ids)
    request_filters = dict(zip(BloomKey.open(key).requests, BloomKey.open(key).list_filters(), strict=True))
    assert [set(row) for row in requests.to_lists()] == [set(request_filters[int(number)]) for number in requests.ids]


def test_wrong_and_changed_keys_are_refused() -> None:
    data, method = make_baskets(), EncodeBloom()
    key = method.new_key(data)
    with pytest.raises(sf.DataError, match="changed or damaged"):
        method.protect(data, Key(key.method, {**key.secret, "secret": "00" * 32}))
    with pytest.raises(sf.DataError, match="changed or damaged"):
        method.protect(data, Key("encode_items", key.secret))
    with pytest.raises(sf.DataError, match="other baskets"):
        method.protect(make_baskets(2), key)
    with pytest.raises(sf.PolicyError, match="another number of bits"):
        EncodeBloom(bits=64).protect(data, key)
    with pytest.raises(sf.PolicyError, match="needs a key"):
        method.protect(data)
    with pytest.raises(sf.DataError, match="no item"):
        method.new_key(sf.Baskets.of([[]]))


def test_measures_tell_a_broken_encoding() -> None:
    data = sf.Baskets.of([["a", "b"], ["a"]])
    assert count_unfiltered_items(sf.Baskets.of([[1, 2], [1]]), data) == 0
    assert count_unfiltered_items(sf.Baskets.of([[1, 2], [3]]), data) == 1
    assert count_strange_bits(sf.Baskets.of([[1, 2, 9]]), 9) == 1
    assert count_strange_bits(data, 9) == 2
