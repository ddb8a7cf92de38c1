# SPDX-License-Identifier: MIT
"""HideItems: what it takes and refuses, what a release says, and real baskets."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.baskets import Baskets
from sfumato.errors import DataError, PolicyError
from sfumato.measure.baskets.side_effects import count_baskets, count_foreign_items, exposed_rules
from sfumato.protect.baskets.hide_items import HideItems

SHOP = [
    ["oat milk", "rye bread"],
    ["oat milk", "rye bread"],
    ["oat milk", "rye bread", "tea"],
    ["rye bread"],
    [],
    ["tea"],
]


def hide(**fields: Any) -> HideItems:
    arguments = {"items": ("oat milk",), "min_support": 2, "min_confidence": 0.7} | fields
    return HideItems(**arguments)


def test_an_item_is_taken_out_just_often_enough() -> None:
    """rye bread ==> oat milk is 3 of 4; at 0.7 one basket must lose the milk. Empty baskets stay."""
    release = hide().protect(Baskets.of(SHOP))
    assert release.data.to_lists()[3:] == SHOP[3:]
    assert [(item, word) for _, item, word in release.details["changes"]] == [("oat milk", "removed")]
    assert release.losses["changes"] == release.losses["removed"] == 1
    assert release.losses["loss"] == pytest.approx(1 / 9)
    assert release.losses["dissimilarity"] == pytest.approx(1 / 9)


def test_a_confidence_of_exactly_the_threshold_shows() -> None:
    assert hide(min_confidence=0.75).protect(Baskets.of(SHOP)).losses["changes"] == 1
    assert hide(min_confidence=0.76).protect(Baskets.of(SHOP)).losses["changes"] == 0


@pytest.mark.parametrize("strategy", ["complete", "islf", "dsrf", "exact"])
def test_claims_hold_by_independent_measures(strategy: str) -> None:
    data = Baskets.of(SHOP)
    release = hide(strategy=strategy).protect(data)
    rule_claim, *change_claims, foreign, count = release.claims
    assert len(change_claims) == (strategy in ("complete", "exact"))
    assert all(finding.holds for finding in sf.check(release, data))
    assert rule_claim.needs_original and foreign.needs_original and not count.needs_original
    least: Any = rule_claim.arguments["min_support"]
    confidence: Any = rule_claim.arguments["min_confidence"]
    measured = exposed_rules(release.data, release.details["sensitive"], least, confidence)
    assert rule_claim.holds(measured)
    assert foreign.holds(count_foreign_items(release.data, data))
    assert count.holds(count_baskets(release.data))
    assert not count.holds(len(data) + 1)
    assert list(release.details["rows"]) == list(range(len(data)))


def test_the_certificate_does_not_say_what_is_hidden() -> None:
    method = hide(items=("oat milk", "tea"))
    assert "milk" not in str(method.describe())
    assert method.describe()["items"] == 2
    assert "milk" not in repr(method)
    assert all("milk" not in claim.model_dump_json() for claim in method.protect(Baskets.of(SHOP)).claims)


def test_literal_strategies_are_for_study() -> None:
    assert hide(strategy="islf").maturity == "for study"
    assert hide().maturity == "stable"


def test_its_technique_says_that_items_are_added() -> None:
    """By hand: to lower B ==> C, ISLF puts B into the large baskets that hold neither, and removes nothing."""
    data = Baskets.of([["B", "C"]] * 3 + [["B"]] + [["A"]] * 4)
    losses = {
        strategy: hide(items=("C",), min_support=2, min_confidence=0.7, strategy=strategy).protect(data).losses
        for strategy in ("complete", "exact", "islf", "dsrf")
    }
    assert losses["islf"]["added"] > 0 == losses["islf"]["removed"]
    assert losses["complete"]["added"] == losses["exact"]["added"] == 0
    assert HideItems.iso_20889 == "local suppression; islf and dsrf also add items"


def test_json_round_trip_keeps_numbers_numbers() -> None:
    method = HideItems(items=(7, 12), min_support=0.5, min_confidence=0.6, strategy="exact", seconds=5)
    assert HideItems.model_validate_json(method.model_dump_json()) == method
    assert method.items == (7, 12)


def test_the_input_is_not_changed_and_whose_basket_it_is_stays_home() -> None:
    data = Baskets.of(SHOP, ids=range(6))
    original = copy.deepcopy(data)
    release = hide().protect(data)
    assert data == original
    assert release.data.ids is None


def test_numbers_and_their_text_are_the_same_items() -> None:
    rows = [[1, 2], [1, 2], [2]]
    assert HideItems(items=("2",), min_support=2, min_confidence=0.7).protect(Baskets.of(rows)).losses["changes"] == 1
    texts = [[str(item) for item in row] for row in rows]
    assert HideItems(items=(2,), min_support=2, min_confidence=0.7).protect(Baskets.of(texts)).losses["changes"] == 1


def test_items_that_are_nowhere_are_counted_not_named() -> None:
    with pytest.raises(PolicyError, match="2 items that no basket holds") as error_info:
        hide(items=("oat milk", "saffron", "salt")).protect(Baskets.of(SHOP))
    assert "saffron" not in str(error_info.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_support": 0}, {"min_support": 0.0}, {"min_support": 1.5}, {"min_support": True}, {"min_confidence": 0},
        {"min_confidence": 1.1}, {"items": ()}, {"strategy": "best"}, {"seconds": 0},
    ],
)  # fmt: skip
def test_nonsense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        hide(**wrong)


def test_no_baskets_are_refused() -> None:
    with pytest.raises(DataError, match="no baskets"):
        hide().protect(Baskets.of([]))


@pytest.mark.parametrize("strategy", ["complete", "islf", "dsrf", "exact"])
def test_a_support_of_all_baskets_or_more_changes_nothing(strategy: str) -> None:
    for least in (1.0, 7):
        assert hide(min_support=least, strategy=strategy).protect(Baskets.of(SHOP)).data == Baskets.of(SHOP)


@pytest.mark.parametrize("strategy", ["complete", "exact"])
def test_a_support_of_one_leaves_no_pair_that_is_sure(strategy: str) -> None:
    release = hide(min_support=1, min_confidence=1.0, strategy=strategy).protect(Baskets.of(SHOP))
    assert exposed_rules(release.data, release.details["sensitive"], 1, 1.0) == 0


def test_an_item_named_twice_is_one() -> None:
    single_release, double_release = (
        hide().protect(Baskets.of(SHOP)),
        hide(items=("oat milk", "oat milk")).protect(Baskets.of(SHOP)),
    )
    assert single_release.data == double_release.data


def test_real_baskets(shared_data: Path) -> None:
    data = Baskets.read(shared_data / "fimi" / "bms-webview-1.dat")
    method = HideItems(items=(10311, 12703), min_support=60, min_confidence=0.3)
    release = method.protect(data)
    assert release.losses["changes"] > 0
    assert exposed_rules(release.data, release.details["sensitive"], 60, 0.3) == 0
    assert exposed_rules(data, release.details["sensitive"], 60, 0.3) > 0


def test_islf_does_not_mine_the_baskets_that_it_filled() -> None:
    """It adds the same items to the largest baskets, which then hold more itemsets than any memory does."""
    chance = np.random.default_rng(1)
    share = 1 / np.arange(1, 170) ** 0.8
    membership = chance.random((9835, 169)) < np.minimum(share / share.sum() * 4.4, 0.9)
    data = Baskets.of([[f"i{item}" for item in np.flatnonzero(row)] for row in membership])
    method = hide(items=("i0", "i1"), min_support=0.005, min_confidence=0.3, strategy="islf")
    release = method.protect(data)
    assert release.losses["added"] > len(data) and release.details["visible_rules"] > 0
    assert "hidden_rules" not in {claim.property for claim in release.claims}
