# SPDX-License-Identifier: MIT
"""Bloom dictionary: unkeyed filters fall to names, keyed ones to supports."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.attack.codes.bloom_dictionary import BloomDictionary
from sfumato.protect.codes.encode_bloom import EncodeBloom


def shop(items: int = 12, rows: int = 600, seed: int = 2) -> sf.Baskets:
    chance = np.random.default_rng(seed)
    purchases = chance.random((rows, items)) < np.linspace(0.05, 0.6, items)
    return sf.Baskets.of([[f"i{code}" for code in np.flatnonzero(row)] for row in purchases])


def released(data: sf.Baskets, **fields: int | bool) -> sf.Release:
    method = EncodeBloom(**fields)
    return method.protect(data, method.new_key(data, sf.Randomness.seeded(1)))


def test_a_dictionary_opens_unkeyed_filters_and_no_keyed_ones() -> None:
    data = shop()
    opened = BloomDictionary().run(released(data, keyed=False, bits=256), data)
    assert (opened.attempts, opened.successes, opened.baseline) == (12, 12, 0)
    assert BloomDictionary().run(released(data, bits=256), data).successes == 0


def test_known_supports_open_keyed_filters() -> None:
    data = shop()
    outcome = BloomDictionary(knowledge="supports").run(released(data, bits=256), data)
    assert outcome.successes >= 11
    crowded = BloomDictionary(knowledge="supports").run(released(data, bits=12, hashes=4), data)
    assert crowded.successes < outcome.successes


@pytest.mark.parametrize("knowledge", ["dictionary", "supports"])
def test_noise_originals_and_strangers(knowledge: str) -> None:
    data = shop()
    attack = BloomDictionary(knowledge=knowledge)
    assert attack.run(sf.Release(data, None, (), {}), data).risk == 1
    purchases = np.random.default_rng(5).random((len(data), 12)) < 0.5
    noise = sf.Baskets.of([[f"i{code}" for code in np.flatnonzero(row)] for row in purchases])
    assert attack.run(sf.Release(noise, None, (), {}), data).successes == 0
    outcome = attack.run(released(data, keyed=False), data, control=shop(seed=8, rows=300))
    assert outcome.control is not None
    assert outcome.control <= outcome.attempts


def test_the_baseline_knows_what_everybody_buys() -> None:
    data = sf.Baskets.of([["bag", "milk"] if number % 2 else ["bag"] for number in range(40)])
    outcome = BloomDictionary().run(released(data), data)
    assert (outcome.baseline, outcome.attempts) == (1, 2)


def test_other_baskets_are_refused() -> None:
    with pytest.raises(sf.PolicyError, match="must be equal"):
        BloomDictionary().run(released(shop()), shop(rows=50))


def test_filters_of_unknown_size_are_not_called_safe() -> None:
    """Read from a folder, a release has no method: unkeyed filters, open to anyone, had a risk of 0."""
    data = sf.Baskets.of([["milk", "bread"], ["milk"], ["bread", "tea"]] * 4)
    release = released(data, bits=128, hashes=3, keyed=False)
    bare_release = sf.Release(release.data, None, (), {})
    with pytest.raises(sf.PolicyError, match="give `bits` and `hashes`"):
        BloomDictionary().run(bare_release, data)
    outcome = BloomDictionary(bits=128, hashes=3).run(bare_release, data)
    assert outcome.successes == BloomDictionary().run(release, data).successes == 3


def build_filters(bits: dict[int, int], rows: int = 100) -> sf.Release:
    """Each bit is set in the first baskets, as many as it says."""
    return sf.Release(sf.Baskets.of([[bit for bit in bits if row < bits[bit]] for row in range(rows)]), None, (), {})


def test_items_whose_bits_are_shared_take_no_bits_from_others() -> None:
    """The two commonest items have no bit of their own; each of the others has, and one has two in the same baskets."""
    supports = {"a": 55, "b": 54, "c": 47, "d": 30, "e": 20}
    data = sf.Baskets.of([[item for item in supports if row < supports[item]] for row in range(100)])
    release = build_filters({0: 90, 1: 89, 2: 88, 3: 47, 4: 47, 5: 30, 6: 20})
    assert BloomDictionary(knowledge="supports", agreement=0.98).run(release, data).successes == 3


def test_bits_of_the_same_baskets_may_stand_for_two_items() -> None:
    """Bits 0 and 1 are set in the same baskets. If they count once, "b" takes the bit of "c", and "c" that of "d"."""
    supports = {"a": 50, "b": 49, "c": 40, "d": 30}
    data = sf.Baskets.of([[item for item in supports if row < supports[item]] for row in range(100)])
    release = build_filters({0: 50, 1: 50, 2: 40, 3: 30})
    assert BloomDictionary(knowledge="supports").run(release, data).successes == 4
