# SPDX-License-Identifier: MIT
"""Supports and rules behind randomized baskets: by hand, against brute force, and over many draws."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.details import Details
from sfumato.public.basket_distortion import BasketDistortion
from sfumato.published_law import read_laws
from sfumato.release import Release

NAMES = ["ale", "bread", "cheese", "dill", "eggs"]


def draw_shop(rows: int = 600) -> sf.Baskets:
    chance = np.random.default_rng(5)
    membership = chance.random((rows, 5)) < [0.4, 0.5, 0.2, 0.1, 0.3]
    membership[:, 2] |= membership[:, 1] & (chance.random(rows) < 0.5)
    return sf.Baskets.of([[NAMES[index] for index in np.flatnonzero(row)] for row in membership])


SHOP = draw_shop()
METHODS: dict[str, Any] = {
    "mask": sf.RandomizeBaskets(keep=0.9, add=0.05),
    "mask by item": sf.RandomizeBaskets(keep={"*": 0.85, "ale": 0.7}, add={"*": 0.1, "dill": 0.02}),
    "inverted": sf.RandomizeBaskets(keep=0.1, add=0.9),
    "cut and paste": sf.RandomizeBaskets(operator="cut_and_paste", cutoff=3, level=0.1),
}
method_cases = pytest.mark.parametrize("name", METHODS)


def count(items: tuple[str, ...], baskets: sf.Baskets = SHOP) -> float:
    return sum(set(items) <= set(row) for row in baskets.to_lists()) / len(baskets)


def test_one_item_by_hand() -> None:
    """350 of 1,000 show it; with keep .9 and add .1, (0.35 − 0.1) / 0.8 had it."""
    law = BasketDistortion(kind="mask", categories=("a", "b"), keep=0.9, add=0.1)
    published = sf.Baskets.of([["a"]] * 350 + [["b"]] * 650)
    release = Release(
        published, None, (), {}, Details(public=read_laws({"items": law.model_dump(mode="json", exclude_none=True)}))
    )
    estimates = sf.mine.estimate_itemsets(release, 0.01)
    assert dict(zip(estimates["items"].list.join(" "), estimates["support"], strict=True)) == {
        "b": pytest.approx(0.6875),
        "a": pytest.approx(0.3125),
    }
    # Theory: keep (1 − keep) s + add (1 − add) (1 − s), over (keep − add)² n.
    error = 1.959964 * np.sqrt(0.09 / 0.64 / 1000)
    assert estimates["high"][1] - estimates["low"][1] == pytest.approx(2 * error, rel=0.02)


def estimate_by_rows(release: sf.Release, items: tuple[str, ...]) -> float:
    """The mean of the product of (shown − add) / (keep − add), basket by basket."""
    law = release.public["items"]
    places = [law["categories"].index(item) for item in items]
    keep, add = (np.broadcast_to(law[part], len(law["categories"])) for part in ("keep", "add"))
    values = [
        np.prod(
            [
                ((item in row) - add[position]) / (keep[position] - add[position])
                for item, position in zip(items, places, strict=True)
            ]
        )
        for row in release.data.to_lists()
    ]
    return float(np.mean(values))


@pytest.mark.parametrize("name", ["mask", "mask by item", "inverted"])
def test_estimates_are_means_over_baskets(name: str) -> None:
    release = METHODS[name].protect(SHOP, sf.Randomness.seeded(2))
    estimates = sf.mine.estimate_itemsets(release, 0.05)
    assert {len(items) for items in estimates["items"]} >= {1, 2}
    for items, support, low, high in estimates.iter_rows():
        assert support == pytest.approx(estimate_by_rows(release, tuple(items)))
        assert low <= support <= high
        assert support >= 0.05 and items == sorted(items)


@method_cases
def test_a_frequent_set_is_not_lost(name: str) -> None:
    """Every set of up to three items that is clearly frequent is found, though subsets vary too."""
    release = METHODS[name].protect(draw_shop(6000), sf.Randomness.seeded(3))
    estimated_sets = {tuple(items) for items in sf.mine.estimate_itemsets(release, 0.1, max_length=3)["items"]}
    large = draw_shop(6000)
    frequent = {s for k in (1, 2, 3) for s in combinations(NAMES, k) if count(s, large) >= 0.15}
    assert frequent and frequent <= estimated_sets


SETS = (("ale",), ("bread", "cheese"), ("ale", "bread", "eggs"))
DRAWS = 60


@pytest.fixture(scope="module", params=METHODS)
def draws(request: pytest.FixtureRequest) -> list[list[tuple[float, float, float]]]:
    """For each of three sets, its estimates over many draws."""
    estimates: list[list[tuple[float, float, float]]] = [[], [], []]
    for seed in range(DRAWS):
        release = METHODS[request.param].protect(SHOP, sf.Randomness.seeded(seed))
        itemsets = sf.mine.estimate_itemsets(release, 0.02, max_length=3)
        rows = {tuple(items): rest for items, *rest in itemsets.iter_rows()}
        for index, items in enumerate(SETS):
            if items in rows:  # an estimate below the threshold is not returned
                support, low, high = rows[items]
                estimates[index].append((support, low, high))
    return estimates


def test_estimates_have_no_bias_and_intervals_cover(draws: list[list[tuple[float, float, float]]]) -> None:
    """Over 60 draws: the mean within four standard errors of the truth; at 95 %, at least 80 % cover (p < 1e-4)."""
    for items, rows in zip(SETS, draws, strict=True):
        estimates = np.array(rows)
        true = count(items)
        if len(rows) == DRAWS:
            error = estimates[:, 0].std() / np.sqrt(DRAWS)
            assert abs(estimates[:, 0].mean() - true) < 4 * error
        covered = np.mean((estimates[:, 1] <= true) & (true <= estimates[:, 2]))
        assert covered >= 0.8


def test_intervals_are_not_wider_than_needed() -> None:
    """The mean half-width is the standard deviation over draws, times 1.96, within a third."""
    method, spread, widths = METHODS["mask"], [], []
    for seed in range(60):
        estimates = sf.mine.estimate_itemsets(method.protect(SHOP, sf.Randomness.seeded(seed)), 0.1, max_length=2)
        row = estimates.filter(estimates["items"].list.join(" ") == "bread cheese").row(0)
        spread.append(row[1])
        widths.append((row[3] - row[2]) / 2)
    assert np.mean(widths) == pytest.approx(1.96 * np.std(spread), rel=0.33)
    wider = sf.mine.estimate_itemsets(method.protect(SHOP, sf.Randomness.seeded(0)), 0.1, of="population")
    narrow = sf.mine.estimate_itemsets(method.protect(SHOP, sf.Randomness.seeded(0)), 0.1)
    assert ((wider["high"] - wider["low"]) > (narrow["high"] - narrow["low"])).all()


@pytest.mark.parametrize("name", ["mask", "cut and paste"])
def test_rules_and_their_confidence(name: str) -> None:
    big = draw_shop(8_000)
    release = METHODS[name].protect(big, sf.Randomness.seeded(4))
    rules = sf.mine.estimate_rules(release, 0.05, 0.3, max_length=2)
    true = {
        (tuple(row["antecedent"]), tuple(row["consequent"])): row
        for row in sf.mine.association_rules(big, 0.01, 0.05, max_length=2).iter_rows(named=True)
    }
    assert rules.height >= 3
    for row in rules.iter_rows(named=True):
        expected = true[tuple(row["antecedent"]), tuple(row["consequent"])]
        half = (row["high"] - row["low"]) / 2
        assert abs(row["confidence"] - expected["confidence"]) <= 2.5 * half  # 4.9 standard errors
        assert 0 < half < 0.2
        assert row["low"] <= row["confidence"] <= row["high"]


def test_the_interval_of_a_confidence_covers() -> None:
    true = count(("bread", "cheese")) / count(("bread",))
    covered = 0
    for seed in range(DRAWS):
        rules = sf.mine.estimate_rules(METHODS["mask"].protect(SHOP, sf.Randomness.seeded(seed)), 0.1, 0.1, 2)
        row = rules.filter(
            (rules["antecedent"].list.join(" ") == "bread") & (rules["consequent"].list.join(" ") == "cheese")
        ).row(0, named=True)
        covered += row["low"] <= true <= row["high"]
    assert covered >= 0.8 * DRAWS


def test_the_transition_of_cut_and_paste_is_that_of_simulation() -> None:
    law = BasketDistortion(kind="cut_and_paste", categories=tuple("abcdef"), cutoff=2, level=0.3, sizes=((4, 20_000),))
    method = sf.RandomizeBaskets(operator="cut_and_paste", cutoff=2, level=0.3, items=tuple("abcdef"))
    baskets = sf.Baskets.of([list("abcd")] * 20_000)
    published_rows = method.protect(baskets, sf.Randomness.seeded(6)).data.to_lists()
    for items in ("abe", "aef", "abc"):
        counts = np.bincount([len(set(items) & set(row)) for row in published_rows], minlength=4) / len(published_rows)
        column = law.build_transition(4, 3)[:, len(set(items) & set("abcd"))]
        assert counts == pytest.approx(column, abs=5 * 0.5 / np.sqrt(len(published_rows)))
        assert column.sum() == pytest.approx(1)


def test_what_cannot_be_estimated_is_refused() -> None:
    with pytest.raises(sf.DataError, match="no randomized baskets"):
        sf.mine.estimate_itemsets(Release(SHOP, None, (), {}), 0.1)
    with pytest.raises(sf.PolicyError, match="whatever the truth is"):
        sf.mine.estimate_itemsets(sf.RandomizeBaskets(keep=0.5).protect(SHOP), 0.1)
    release = METHODS["mask"].protect(SHOP)
    with pytest.raises(sf.PolicyError, match="confidence must lie"):
        sf.mine.estimate_itemsets(release, 0.1, confidence=1.0)
    foreign = Release(sf.Baskets.of([["zzz"]] * 600), None, (), {}, release.details)
    with pytest.raises(sf.DataError, match="1 published item is not among the 5 possible ones"):
        sf.mine.estimate_itemsets(foreign, 0.1)
    pasted = METHODS["cut and paste"].protect(SHOP)
    with pytest.raises(sf.DataError, match="600 sizes are published"):
        sf.mine.estimate_itemsets(Release(sf.Baskets.of([["ale"]] * 3), None, (), {}, pasted.details), 0.1)
    assert max(map(len, sf.mine.estimate_itemsets(pasted, 1)["items"])) <= 3  # the cutoff


def test_data_without_their_release_are_refused() -> None:
    release = METHODS["mask"].protect(SHOP, sf.Randomness.seeded(1))
    with pytest.raises(sf.PolicyError, match="give the release, not its data"):
        sf.mine.estimate_itemsets(release.data, 0.1)
    with pytest.raises(sf.PolicyError, match="give the release, not its data"):
        sf.mine.estimate_rules(release.data, 0.1, 0.5)
