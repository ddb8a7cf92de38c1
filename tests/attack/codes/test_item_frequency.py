# SPDX-License-Identifier: MIT
"""Item frequency: breaks one-to-n mapping, is held up by padded supports, sees nothing in noise."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.attack.codes.added_baskets import weigh_true_baskets
from sfumato.attack.codes.item_frequency import ItemFrequency
from sfumato.protect.codes.encode_items import EncodeItems


def shop(items: int = 24, rows: int = 1500, seed: int = 2) -> sf.Baskets:
    """Items of different frequency, some of which go together."""
    chance = np.random.default_rng(seed)
    purchases = chance.random((rows, items)) < 1 / np.arange(2, items + 2) ** 0.7
    for item in range(0, items, 3):
        purchases[:, item] |= purchases[:, (item * 7 + 1) % items] & (chance.random(rows) < 0.5)
    return sf.Baskets.of([[f"i{code}" for code in np.flatnonzero(row)] for row in purchases])


def released(method: EncodeItems, data: sf.Baskets) -> sf.Release:
    return method.protect(data, method.new_key(data, sf.Randomness.seeded(1)))


def test_one_to_one_without_padding_is_read_off() -> None:
    data = shop()
    release = released(EncodeItems(kind="one_to_n", n=1, fake_codes=0, noise=0.0), data)
    for knowledge in ("supports", "pairs"):
        outcome = ItemFrequency(knowledge=knowledge).run(release, data)
        assert outcome.attempts == 24
        assert outcome.successes >= 22
        assert outcome.baseline == 1


def test_one_to_n_breaks_and_padding_holds_supports_back() -> None:
    """The published break: fake codes and shared ones do not help; k = 6 leaves one guess of six at best."""
    data = shop()
    plain_outcome = ItemFrequency().run(released(EncodeItems(kind="one_to_n", n=2), data), data)
    padded = ItemFrequency(knowledge="supports", clean=False).run(released(EncodeItems(k=6), data), data)
    assert plain_outcome.risk > 0.5
    assert padded.risk < 0.35
    assert plain_outcome.low > padded.risk


def test_added_baskets_are_told_apart_by_a_mixture() -> None:
    """Supports alone name few of the padded codes; in the baskets that are likely true, they name nearly all."""
    data = shop()
    release = released(EncodeItems(k=6), data)
    mixture = ItemFrequency(knowledge="supports").run(release, data)
    assert mixture.successes >= 18 and mixture.facts["best_guess"] == "true baskets"
    assert ItemFrequency().run(release, data).successes >= mixture.successes
    weights = list(weigh_true_baskets(release.data, len(data)))
    true = np.asarray(release.details["rows"]) >= 0
    assert max(float(weight_row[true].mean() - weight_row[~true].mean()) for weight_row in weights) > 0.8


def test_without_added_baskets_there_is_nothing_to_tell_apart() -> None:
    data = shop(items=6, rows=60)
    assert list(weigh_true_baskets(data, len(data))) == []
    everywhere = sf.Baskets.of([["a", *row] for row in data.to_lists()])
    assert len(list(weigh_true_baskets(everywhere, 40))) == 6


def test_knowledge_of_pairs_and_its_error() -> None:
    data = shop()
    release = released(EncodeItems(kind="one_to_n", n=2), data)
    exact = ItemFrequency().run(release, data)
    assert exact.successes >= ItemFrequency(error=0.5).run(release, data).successes
    assert exact.successes >= ItemFrequency(knowledge="supports", clean=False).run(release, data).successes


@pytest.mark.parametrize("knowledge", ["supports", "pairs"])
def test_noise_and_strangers(knowledge: str) -> None:
    data = shop()
    chance = np.random.default_rng(5)
    purchases = chance.random((len(data), 24)) < 0.5
    noise = sf.Baskets.of([[f"i{code}" for code in np.flatnonzero(row)] for row in purchases])
    attack = ItemFrequency(knowledge=knowledge)
    assert attack.run(sf.Release(noise, None, (), {}), data).successes == 0
    outcome = attack.run(sf.Release(data, None, (), {}), data, control=shop(seed=9))
    assert outcome.risk > 0.9
    assert outcome.control is not None
    assert outcome.control <= outcome.successes


def test_fewer_codes_than_items() -> None:
    data = shop()
    few = sf.Baskets.of([row[:1] for row in data.to_lists()])
    outcome = ItemFrequency(items=5).run(sf.Release(few, None, (), {}), data)
    assert outcome.attempts == 5
    empty = sf.Baskets.of([[] for _ in range(len(data))])
    assert ItemFrequency(items=5).run(sf.Release(empty, None, (), {}), data).successes == 0


@pytest.mark.parametrize("knowledge", ["supports", "pairs"])
def test_who_knows_fewer_large_itemsets_names_fewer_items(knowledge: str) -> None:
    """alpha of Wong et al.: nothing known, nothing named; with half of the supports, no more than those are named."""
    data = shop()
    release = released(EncodeItems(kind="one_to_n", n=1, fake_codes=0, noise=0.0), data)

    def name(share: float) -> list[float]:
        attack = ItemFrequency(knowledge=knowledge, known_share=share)
        return [attack.run(release, data, randomness=sf.Randomness.seeded(seed)).successes for seed in range(5)]

    full_knowledge, half, few = name(1.0), name(0.5), name(0.1)
    assert name(0.0) == [0] * 5
    assert min(full_knowledge) >= 22
    assert sum(few) < sum(half) <= sum(full_knowledge)
    assert all(ItemFrequency(known_share=share).run(release, data).attempts == 24 for share in (0.0, 0.3))
    if knowledge == "supports":
        assert max(half) <= 12 and max(few) <= 2


def test_pairs_make_up_for_unknown_supports() -> None:
    """An item whose own support is unknown is found by what it is bought with."""
    data = shop()
    release = released(EncodeItems(kind="one_to_n", n=1, fake_codes=0, noise=0.0), data)
    outcome = ItemFrequency(known_share=0.5).run(release, data)
    assert outcome.successes > 12


def test_who_knows_more_never_names_fewer_items() -> None:
    """Pairs beside supports, and cleaning beside none: the ways of whoever knows less are tried as well."""
    for seed in range(30):
        data = shop(items=4 + seed % 6, rows=40, seed=seed)
        release = released(EncodeItems(kind="one_to_n", n=2) if seed % 2 else EncodeItems(k=2), data)
        for share in (1.0, 0.5):
            right = {
                (knowledge, clean): ItemFrequency(knowledge=knowledge, clean=clean, known_share=share)
                .run(release, data, randomness=sf.Randomness.seeded(seed))
                .successes
                for knowledge in ("supports", "pairs")
                for clean in (False, True)
            }
            assert right["pairs", False] >= right["supports", False], seed
            assert right["pairs", True] >= max(right["supports", True], right["pairs", False]), seed
            assert right["supports", True] >= right["supports", False], seed
