# SPDX-License-Identifier: MIT
"""ItemBreach: posteriors by hand, what partners add, and that amplification bounds breaches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sfumato as sf

BREACH: Any = sf.attack.ItemBreach


def draw_shop(rows: int = 4000) -> sf.Baskets:
    """A rare item that nearly always comes with two others."""
    chance = np.random.default_rng(9)
    rare = chance.random(rows) < 0.08
    purchases = chance.random((rows, 3)) < [0.05, 0.05, 0.4]
    purchases[:, :2] |= rare[:, None] & (chance.random((rows, 2)) < 0.95)
    return sf.Baskets.of(
        [[*np.flatnonzero(row).tolist(), *([9] if has else [])] for row, has in zip(purchases, rare, strict=True)]
    )


SHOP = draw_shop()


def attack(method: sf.RandomizeBaskets, **fields: Any) -> sf.Outcome:
    release = method.protect(SHOP, sf.Randomness.seeded(1))
    return sf.attack.ItemBreach(**{"items": (9,), "prior": 0.1, "posterior": 0.5, **fields}).run(release, SHOP)


def test_the_posterior_by_hand() -> None:
    """Prior 0.08, keep 0.9, add 0.02: shown, 0.072 / (0.072 + 0.0184) = 0.8. All shown ones are named, or none."""
    method = sf.RandomizeBaskets(keep=0.9, add=0.02)
    outcome = attack(method, partners=0, posterior=0.7)
    assert outcome.risk == pytest.approx(0.9, abs=0.06)
    assert attack(method, partners=0, posterior=0.9).successes == 0
    assert outcome.facts["best_way"] == "alone" and outcome.facts["items"] == 1
    assert outcome.baseline < outcome.attempts / 5


def test_partners_tell_more_than_the_item_itself() -> None:
    method = sf.RandomizeBaskets(keep=0.8, add=0.2)
    item_outcome, partner_outcome = attack(method, partners=0), attack(method, partners=2)
    assert item_outcome.successes == 0  # amplification 4 raises 0.08 to 0.26 at most
    assert partner_outcome.risk > 0.4 and partner_outcome.facts["best_way"] == "with_partners"
    assert partner_outcome.successes / partner_outcome.facts["named"] > 0.45  # what is called probable is


def test_amplification_prevents_breaches() -> None:
    """γ = 3.8: from a prior of 0.1 to 0.3 at most, whatever basket of the same size is published."""
    chance = np.random.default_rng(2)
    shop = sf.Baskets.of(
        [[9 if chance.random() < 0.08 else 8, *chance.permutation(8)[:2].tolist()] for _ in range(3000)]
    )
    breach = sf.attack.ItemBreach(items=(9,), posterior=0.35)
    tight = sf.RandomizeBaskets(operator="cut_and_paste", cutoff=1, level=0.36)
    assert breach.run(tight.protect(shop, sf.Randomness.seeded(1)), shop).successes == 0
    loose = sf.RandomizeBaskets(operator="cut_and_paste", cutoff=3, level=0.005)
    assert breach.run(loose.protect(shop, sf.Randomness.seeded(1)), shop).risk > 0.3


def test_baskets_of_one_size_tell_who_has_what_only_they_hold() -> None:
    """Cut and paste publishes sizes: an item of all baskets of three and of no other is certain in each of them."""
    chance = np.random.default_rng(1)
    sizes = chance.choice([1, 2, 3, 4, 5], 3000, p=[0.25, 0.25, 0.06, 0.22, 0.22]).tolist()
    lists = [["kit", "a", "b"] if size == 3 else chance.permutation(list("cdefgh"))[:size].tolist() for size in sizes]
    shop = sf.Baskets.of(lists)
    method = sf.RandomizeBaskets(operator="cut_and_paste", level=0.2)
    outcome = BREACH(items=("kit",)).run(method.protect(shop, sf.Randomness.seeded(1)), shop)
    assert (outcome.risk, outcome.facts["best_way"]) == (1.0, "by_size")
    assert outcome.facts["named"] == outcome.successes


def count_naive_hits(release: sf.Release, true_flags: np.ndarray, item: str, posterior: float) -> int:
    """Bayes' rule for every size by itself, with the share that its own baskets show; `held` in published order."""
    law = release.public["items"]
    published_flags = np.array([item in row for row in release.data.to_lists()])
    claims, begin = np.zeros(len(published_flags), dtype=bool), 0
    for size, count in law["sizes"]:
        part, begin = slice(begin, begin + count), begin + count
        pasted = np.mean([min(draw_size, size) / max(size, 1) for draw_size in range(law["cutoff"] + 1)])
        chance = pasted + (1 - pasted) * law["level"]
        if chance - law["level"] < 1e-12:
            continue
        share = np.clip((published_flags[part].mean() - law["level"]) / (chance - law["level"]), 0, 1)
        yes = share * chance / (share * chance + (1 - share) * law["level"])
        no = share * (1 - chance) / (share * (1 - chance) + (1 - share) * (1 - law["level"]))
        claims[part] = np.where(published_flags[part], yes, no) >= posterior
    return int((claims & true_flags).sum())


def test_counting_baskets_of_each_size_is_no_better_attack() -> None:
    chance = np.random.default_rng(0)
    for seed in range(6):
        purchases = chance.random((4000, 4)) < chance.uniform(0.03, 0.4, 4)
        purchases[:, 1] |= purchases[:, 0] & (chance.random(4000) < 0.9)
        shop = sf.Baskets.of([["abcd"[code] for code in np.flatnonzero(row)] for row in purchases])
        method = sf.RandomizeBaskets(operator="cut_and_paste", level=0.2, items=tuple("abcd"))
        release = method.protect(shop, sf.Randomness.seeded(seed))
        outcome = BREACH(items=("a",), prior=0.5, posterior=0.6).run(release, shop)
        naive = count_naive_hits(release, purchases[np.asarray(release.details.rows), 0], "a", 0.6)
        assert outcome.successes >= 0.95 * naive - 5


def test_without_randomness_everything_is_read() -> None:
    outcome = BREACH(prior=0.5, posterior=0.9).run(sf.Release(SHOP, None, (), {}), SHOP)
    assert outcome.risk == 1.0


def test_wrong_parameters_and_data_are_refused() -> None:
    with pytest.raises(ValueError, match="a posterior above the prior"):
        BREACH(prior=0.5, posterior=0.5)
    release = sf.RandomizeBaskets(keep=0.9).protect(SHOP)
    with pytest.raises(sf.DataError, match="1 of the attack's `items` are not among"):
        BREACH(items=("zzz",)).run(release, SHOP)
    with pytest.raises(sf.PolicyError, match="the counts must match"):
        BREACH().run(release, sf.Baskets.of([["a"]]))
