# SPDX-License-Identifier: MIT
"""Encoded items: every item can be recovered, supports are shared, and the key stays home."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.key import Key
from sfumato.measure.codes.code_checks import count_named_items, count_shared_supports, count_unrecoverable_items
from sfumato.protect.codes.encode_items import EncodeItems, _count_lacking_baskets
from sfumato.public.codes.item_key import ItemKey

quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
rows = st.lists(st.lists(st.integers(0, 7), max_size=6), min_size=1, max_size=25).filter(any)


def make_baskets(seed: int = 1, count: int = 80) -> sf.Baskets:
    membership = np.random.default_rng(seed).random((count, 9)) < np.linspace(0.1, 0.8, 9)
    return sf.Baskets.of([[f"item {index}" for index in np.flatnonzero(row)] for row in membership])


def released(method: EncodeItems, data: sf.Baskets, seed: int = 3) -> tuple[sf.Release, ItemKey]:
    key = method.new_key(data, sf.Randomness.seeded(seed))
    return method.protect(data, key), ItemKey.open(key)


@quick
@given(rows, st.integers(1, 4), st.integers(1, 4), st.floats(0, 4), st.integers(0, 99))
def test_one_to_n_is_admissible(lists: list[list[int]], n: int, shared: int, noise: float, seed: int) -> None:
    """N⁻¹(t′) = t for every basket, and no image is covered by the others, by plain sets."""
    data = sf.Baskets.of(lists)
    method = EncodeItems(kind="one_to_n", n=n, shared_codes=shared, fake_codes=3, noise=noise)
    release, key = released(method, data, seed)
    images = {item: {key.codes[index] for index in image} for item, image in zip(key.items, key.images, strict=True)}
    for item, image in images.items():
        assert not image <= set().union(*(other for name, other in images.items() if name != item))
        assert len(image) <= n
    for basket, published in zip(data.to_lists(), release.data.to_lists(), strict=True):
        assert {item for item, image in images.items() if image <= set(published)} == set(basket)
    assert count_unrecoverable_items(release.data, data, release.details["rows"]) == 0


@quick
@given(rows, st.integers(2, 4), st.integers(0, 99))
def test_padded_supports_are_shared(lists: list[list[int]], k: int, seed: int) -> None:
    data = sf.Baskets.of(lists)
    if len(data.items) < k:
        with pytest.raises(sf.ImpossibleRelease, match="cannot share"):
            EncodeItems(k=k).new_key(data)
        return
    release, key = released(EncodeItems(k=k), data, seed)
    assert count_shared_supports(release.data) >= k
    assert count_unrecoverable_items(release.data, data, release.details["rows"]) == 0
    name = dict(zip(key.codes, key.items, strict=True))
    real = [
        published_row
        for published_row, row in zip(release.data.to_lists(), release.details["rows"], strict=True)
        if row >= 0
    ]
    assert [sorted(name[code] for code in published_row) for published_row in real] == data.to_lists()


@quick
@given(st.lists(st.integers(1, 30), min_size=2, max_size=7), st.integers(2, 3))
def test_as_little_is_added_as_can_be(supports: list[int], k: int) -> None:
    """Against every way to lift supports so that k at least are equal: any target is one of the supports."""
    if len(supports) < k:
        return
    lacking = _count_lacking_baskets(np.array(supports), k)
    lifted = sorted(np.array(supports) + lacking)
    assert all(lifted.count(support) >= k for support in lifted)
    assert lacking.min() >= 0
    assert lacking.sum() == _least_lift(tuple(sorted(supports)), k)


def _least_lift(supports: tuple[int, ...], k: int) -> float:
    """The fewest baskets by trying every set of fellows of the largest."""
    if not supports:
        return 0
    best = float("inf")
    *other_supports, top = supports
    for size in range(k - 1, len(other_supports) + 1):
        for fellows in combinations(range(len(other_supports)), size):
            rest = tuple(support for index, support in enumerate(other_supports) if index not in fellows)
            cost = sum(top - other_supports[index] for index in fellows)
            best = min(best, cost + (_least_lift(rest, k) if len(rest) >= k or not rest else float("inf")))
    return best


@pytest.mark.parametrize("method", [EncodeItems(k=3), EncodeItems(kind="one_to_n", n=3)])
def test_same_key_same_release_new_key_new_codes(method: EncodeItems) -> None:
    data = make_baskets()
    key = method.new_key(data)
    assert method.protect(data, key).data == method.protect(data, key).data
    other = method.protect(data, method.new_key(data)).data
    assert not set(other.items) & set(method.protect(data, key).data.items)
    assert count_named_items(other, data) == 0


def test_fake_baskets_are_no_larger_or_smaller_on_average() -> None:
    data = make_baskets(count=400)
    release, key = released(EncodeItems(k=3), data)
    sizes = np.diff(release.data.offsets)
    fake = release.details["rows"] < 0
    assert len(key.fakes) == fake.sum() == release.losses["added_baskets"] > 20
    assert sizes[fake].mean() <= sizes[~fake].max()
    assert release.losses["loss"] == pytest.approx(sizes[fake].sum() / sizes.sum())


@pytest.mark.parametrize("method", [EncodeItems(k=3), EncodeItems(kind="one_to_n")])
def test_wrong_and_changed_keys_are_refused(method: EncodeItems, tmp_path: Path) -> None:
    data = make_baskets()
    key = method.new_key(data)
    loaded = Key.load(key.save(tmp_path / "key.json"))
    assert method.protect(data, loaded).data == method.protect(data, key).data
    for part in ("codes", "items", "supports"):
        changed = Key(key.method, {**key.secret, part: list(reversed(key.secret[part]))})
        with pytest.raises(sf.DataError, match="changed or damaged"):
            method.protect(data, changed)
    with pytest.raises(sf.DataError, match="other baskets"):
        method.protect(make_baskets(2), key)
    with pytest.raises(sf.PolicyError, match="needs a key"):
        method.protect(data)
    other = EncodeItems(kind="one_to_n" if method.kind == "padded" else "padded", k=3)
    with pytest.raises(sf.PolicyError, match="the key is for kind"):
        other.protect(data, key)


def test_the_release_holds_no_key_and_no_name() -> None:
    data = make_baskets()
    method = EncodeItems(k=3)
    key = method.new_key(data)
    release = method.protect(data, key)
    assert set(release.details) == {"rows"}
    assert key.secret["data"] not in repr(release.details) + repr(release.data.to_lists())
    assert "item" not in str(release.data.to_lists())


def test_one_item_cannot_be_padded_at_any_k() -> None:
    with pytest.raises(sf.ImpossibleRelease, match=r"each; use one_to_n$"):
        EncodeItems(k=2).new_key(sf.Baskets.of([["a"], ["a"]]))


def test_maturity_and_bad_fields() -> None:
    assert EncodeItems().maturity == "for study"
    assert EncodeItems(kind="one_to_n").maturity == "for study"
    for wrong in ({"k": 1}, {"n": 0}, {"noise": -1.0}, {"kind": "two_to_n"}):
        with pytest.raises(ValueError, match="EncodeItems: "):
            EncodeItems(**wrong)
    with pytest.raises(sf.DataError, match="no item"):
        EncodeItems().new_key(sf.Baskets.of([[], []]))


def test_measures_tell_a_broken_encoding() -> None:
    data = sf.Baskets.of([["a", "b"], ["a"], ["b"]])
    assert count_unrecoverable_items(sf.Baskets.of([[1, 2], [1], [2]]), data) == 0
    assert count_unrecoverable_items(sf.Baskets.of([[1, 2], [1, 2], [2]]), data) == 1  # b is where a is
    assert count_unrecoverable_items(sf.Baskets.of([[1], [2], [3]]), data) == 2
    assert count_shared_supports(sf.Baskets.of([[1, 2], [1, 2], [3]])) == 1
    assert count_named_items(sf.Baskets.of([["a", "c"]]), data) == 1
    with pytest.raises(sf.DataError, match="published exactly once"):
        count_unrecoverable_items(sf.Baskets.of([[1], [2]]), data)
