# SPDX-License-Identifier: MIT
"""RandomizeBaskets: what it takes and refuses, and that it draws with the probabilities it states."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.protect.baskets.basket_draws import _scatter

SHOP = sf.Baskets.of([["beer", "nuts"], ["beer"], [], ["bread", "butter", "nuts"]] * 50)
BASKETS: Any = sf.RandomizeBaskets


def read_claims(release: sf.Release) -> dict[str, float]:
    return {claim.property: claim.threshold for claim in release.claims}


def test_epsilon_and_amplification_by_hand() -> None:
    claims = read_claims(sf.RandomizeBaskets(keep=0.9, add=0.02).protect(SHOP))
    assert claims["amplification"] == pytest.approx(45.0)  # 0.9 / 0.02, above 0.98 / 0.1
    assert claims["epsilon"] == pytest.approx(log(45))
    assert claims["epsilon_in_all"] == pytest.approx(4 * log(45))


def test_mask_adds_as_it_drops_unless_told_otherwise() -> None:
    public = BASKETS(0.9).protect(SHOP).public["items"]
    assert (public["keep"], public["add"]) == (0.9, pytest.approx(0.1))
    assert public["categories"] == ["beer", "bread", "butter", "nuts"]


def test_epsilon_sets_the_probabilities() -> None:
    public = sf.RandomizeBaskets(epsilon=2.0).protect(SHOP).public["items"]
    assert public["keep"] / public["add"] == pytest.approx(exp(2))
    assert public["keep"] + public["add"] == pytest.approx(1)
    pasted = sf.RandomizeBaskets(operator="cut_and_paste", epsilon=4.0, cutoff=2).protect(SHOP)
    level = pasted.public["items"]["level"]
    assert 1 + 1 / level + 1 / level**2 == pytest.approx(exp(4))
    assert read_claims(pasted)["amplification"] == pytest.approx(exp(4), rel=1e-6)


def test_an_item_can_have_its_own_probabilities() -> None:
    release = sf.RandomizeBaskets(keep={"*": 0.9, "nuts": 0.6}, add=0.1).protect(SHOP)
    assert release.public["items"]["keep"] == [0.9, 0.9, 0.9, 0.6]
    numbers = sf.Baskets.of([[1, 2], [2, 3]])
    assert BASKETS(keep={1: 0.9, "*": 0.8}).protect(numbers).public["items"]["keep"] == [0.9, 0.8, 0.8]


def test_given_items_can_appear_though_no_basket_held_them() -> None:
    release = sf.RandomizeBaskets(keep=0.9, items=("wine", "beer", "nuts", "bread", "butter")).protect(SHOP)
    assert "wine" in release.data.items
    assert release.public["items"]["domain"] == "given"
    numbers = sf.RandomizeBaskets(keep=0.9, items=(9, 10, 2)).protect(sf.Baskets.of([[2], [10]] * 40))
    assert numbers.data.items == (2, 9, 10) and numbers.public["items"]["categories"] == ["2", "9", "10"]


def test_cut_and_paste_publishes_sizes_and_orders_by_them() -> None:
    release = sf.RandomizeBaskets(operator="cut_and_paste", level=0.2).protect(SHOP)
    assert release.public["items"]["sizes"] == [[0, 50], [1, 50], [2, 50], [3, 50]]
    assert np.diff(SHOP.offsets)[release.details["rows"]].tolist() == sorted(np.diff(SHOP.offsets).tolist())
    assert all(finding.holds for finding in sf.check(release, SHOP))


@pytest.mark.parametrize("share", [0.003, 0.2, 0.9])
def test_cells_are_drawn_independently(share: float) -> None:
    """Against an independent draw of each cell: counts of cells, and of neighbours; five standard errors."""
    chance, cells, times = np.random.default_rng(1), 400, 500
    cell_draws = np.zeros((times, cells))
    for row in cell_draws:
        row[_scatter(cells, share, chance)] = 1
    every = times * cells
    for mean, expected in ((cell_draws.mean(), share), ((cell_draws[:, 1:] * cell_draws[:, :-1]).mean(), share**2)):
        assert abs(mean - expected) <= 5 * np.sqrt(expected * (1 - expected) / every) * 2
    assert cell_draws[:, 0].mean() == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / times))


WRONG: dict[str, dict[str, Any]] = {
    "give either keep": {},
    "give either keep (": {"keep": 0.9, "epsilon": 1.0},
    "give either keep (with": {"add": 0.1},
    "without the ends": {"keep": 0.9, "add": 0.0},
    "without the ends:": {"keep": {"*": 1.0}},
    "are for operator": {"keep": 0.9, "cutoff": 2},
    "cut_and_paste takes cutoff and level": {"operator": "cut_and_paste", "keep": 0.9},
    "either level or epsilon": {"operator": "cut_and_paste"},
    "each once": {"keep": 0.9, "items": ("a", "a")},
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_parameters_are_refused_with_a_sentence(words: str) -> None:
    with pytest.raises(ValueError) as error_info:
        BASKETS(**WRONG[words])
    assert words in str(error_info.value)


REFUSED: dict[str, dict[str, Any]] = {
    "3 items of the baskets are not among the 1": {"keep": 0.9, "items": ("beer",)},
    "names 1 item that no basket can hold": {"keep": {"*": 0.9, "wine": 0.5}},
    "lacks 3 of the items": {"keep": {"beer": 0.9}},
    "epsilon must be above": {"operator": "cut_and_paste", "cutoff": 3, "epsilon": 1.0},
    "so large that nothing is protected": {"epsilon": 50.0},
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_does_not_fit_the_data_is_refused_and_names_no_item(words: str) -> None:
    with pytest.raises(sf.SfumatoError) as error_info:
        BASKETS(**REFUSED[words]).protect(SHOP)
    assert words in str(error_info.value) and "nuts" not in str(error_info.value)


def test_a_release_that_would_not_fit_is_refused() -> None:
    wide = sf.Baskets.of([list(range(40_000)), *([[]] * 40_000)])
    with pytest.raises(sf.PolicyError, match=r"would be published, .* in every basket; lower `add`"):
        sf.RandomizeBaskets(keep=0.8).protect(wide)


def test_a_policy_must_say_that_items_come_from_the_data() -> None:
    with pytest.raises(sf.PolicyError, match=r'Those of the data \(4 items\) would be published.*"from_data"'):
        sf.RandomizeBaskets(keep=0.9).refuse_undeclared(SHOP)
    sf.RandomizeBaskets(keep=0.9, items="from_data").refuse_undeclared(SHOP)


def test_no_gate_may_choose_among_draws() -> None:
    method = {"method": "randomize_baskets", "keep": 0.9, "items": "from_data"}
    with pytest.raises(ValueError, match="would break their epsilon"):
        sf.Policy(data={"path": "x.dat"}, protect=[method], gate={"max_loss": 0.5})


@pytest.mark.parametrize(
    "fields", [{"operator": "cut_and_paste", "level": 1e-200}, {"keep": 1e-320}, {"keep": 0.9, "add": 1e-320}]
)
def test_probabilities_that_protect_nothing_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="certain"):
        sf.RandomizeBaskets(**fields)
