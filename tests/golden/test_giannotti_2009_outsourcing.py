# SPDX-License-Identifier: MIT
"""Giannotti et al. (2009), outsourcing: the one-to-n example, and what Bloom filters miss (nothing) and feign.

Printed: a → {1, 3}, b → {2, 3}; t = {a, b} → {1, 2, 3}, at random {1, 2, 3, 4, 6}. Filters by an independent count: m =
16, k = 2 gives 138 sets for 12 true, m = 128, k = 4 gives 12. Its baskets are not recorded, so ours are: 12 frequent
itemsets, and the same shape of answer.
"""

from __future__ import annotations

from statistics import mean
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.key import Key
from sfumato.mine.codes.bloom_filters import filter_requests, mine_filters
from sfumato.mine.codes.decoded_itemsets import decode_itemsets
from sfumato.protect.codes.encode_bloom import EncodeBloom
from sfumato.protect.codes.encode_items import EncodeItems
from sfumato.public.codes.item_key import ItemKey
from sfumato.public.sealed_key import fingerprint_baskets, seal_key
from tests import brute_baskets as brute

TWELVE_SETS = sf.Baskets.of(
    [
        list(row)
        for row in ("abc", "abcd", "abc", "abd", "ae", "bf", "cg", "dh", "abcij", "kl", "efgh", "ijkl", "dabc", "e")
    ]
)
LEAST = 3


def slides_key() -> ItemKey:
    """The printed mapping; codes 4 and 6 are fake, 5 belongs to a third item that shares code 3."""
    data = sf.Baskets.of([["a", "b"], ["a"], ["b"], ["c"]])
    return ItemKey(
        kind="one_to_n", items=data.items, codes=(1, 2, 5, 3, 4, 6), images=((0, 3), (1, 3), (2, 3)), fakes=(),
        fake_places=(), supports=(2, 2, 1, 4, 0, 0), noise=0.0, seed=1, baskets=4, data=fingerprint_baskets(data),
    )  # fmt: skip


def test_the_slides_transformation() -> None:
    data = sf.Baskets.of([["a", "b"], ["a"], ["b"], ["c"]])
    release = EncodeItems(kind="one_to_n").protect(data, slides_key().seal())
    assert release.data.to_lists() == [[1, 2, 3], [1, 3], [2, 3], [3, 5]]


def test_fakes_do_not_disturb_the_slides_inverse() -> None:
    """N⁻¹({1, 2, 3, 4, 6}) = {a, b}: the items whose images it holds."""
    key = slides_key()
    codes = {1, 2, 3, 4, 6}
    items = {item for item, image in zip(key.items, key.published_images, strict=True) if image <= codes}
    assert items == {"a", "b"}
    assert key.find_itemset(frozenset({1, 2, 3})) == (0, 1)
    assert key.find_itemset(frozenset({1, 2})) is None
    assert key.find_itemset(frozenset({1, 2, 3, 4})) is None


def test_an_image_that_others_cover_is_refused() -> None:
    """One-to-n without care: m(a) = {1, 2} is covered by m(b) = {1} and m(c) = {2}."""
    content: dict[str, Any] = dict(slides_key().seal().secret)
    content.pop("seal")
    content["images"] = [[0, 1], [1], [2]]
    with pytest.raises(DataError, match="not a valid key"):
        ItemKey.open(seal_key("encode_items", content))


@pytest.mark.parametrize(("bits", "hashes"), [(16, 2), (128, 4)])
def test_bloom_filters_never_miss(bits: int, hashes: int) -> None:
    true = brute.itemsets(TWELVE_SETS.to_lists(), LEAST)
    assert len(true) == 12
    sizes = []
    for seed in range(12):
        method = EncodeBloom(bits=bits, hashes=hashes)
        key: Key = method.new_key(TWELVE_SETS, sf.Randomness.seeded(seed))
        itemsets = mine_filters(method.protect(TWELVE_SETS, key).data, filter_requests(key), LEAST)
        decoded_itemsets = decode_itemsets(itemsets, key)
        assert true.keys() <= {frozenset(items) for items in decoded_itemsets["items"].to_list()}
        exact = decode_itemsets(itemsets, key, TWELVE_SETS, LEAST)
        assert {frozenset(items) for items in exact["items"].to_list()} == true.keys()
        sizes.append(len(decoded_itemsets))
    if bits == 16:
        assert mean(sizes) > 30
    else:
        assert mean(sizes) < 12.5
        assert sizes.count(12) >= 10
