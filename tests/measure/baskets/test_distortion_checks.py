# SPDX-License-Identifier: MIT
"""The checks of randomized baskets: recomputed privacy, and cheats that counting finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import exp, log

import numpy as np
import pytest

import sfumato as sf
from sfumato.measure.baskets.distortion_checks import (
    compute_basket_epsilon,
    compute_basket_epsilon_in_all,
    count_strange_items,
    count_wrong_sizes,
)
from sfumato.measure.checks import CHECKS, Evidence
from sfumato.release import Release


def draw_shop(rows: int = 3000) -> sf.Baskets:
    purchases = np.random.default_rng(7).random((rows, 8)) < 0.3
    return sf.Baskets.of([np.flatnonzero(row).tolist() for row in purchases])


SHOP = draw_shop()
MASK = sf.RandomizeBaskets(keep=0.8, add=0.1)
PASTE = sf.RandomizeBaskets(operator="cut_and_paste", cutoff=2, level=0.2)


def list_ratios(shown_count: int, size: int, cutoff: int, level: float) -> list[float]:
    """How likely cut and paste leads from baskets of one size to a basket of as many items, by their overlap."""
    from math import comb

    draw_sizes = [min(number, size) for number in range(cutoff + 1)]
    return [
        sum(comb(overlap, i) / comb(size, i) * level ** (shown_count - i) for i in draw_sizes)
        for overlap in range(size + 1)
    ]


def test_privacy_by_hand() -> None:
    assert compute_basket_epsilon("mask", ["0.9"], ["0.02"]) == pytest.approx(log(45))
    assert compute_basket_epsilon_in_all(["0.9", "0.5"], ["0.02", "0.1"], ["7", "2"]) == pytest.approx(
        7 * log(45) + 2 * log(5)
    )
    ratios = list_ratios(6, 4, 3, 0.3)
    assert exp(compute_basket_epsilon("cut_and_paste", cutoff=3, level=0.3)) == pytest.approx(max(ratios) / min(ratios))
    assert CHECKS["basket_amplification"](Evidence(SHOP), {"operator": "mask", "keep": ["0.5"], "add": ["0.1"]}) == 5.0


def test_counts_of_what_must_not_be() -> None:
    assert count_strange_items(sf.Baskets.of([["a", "b"], ["c"]]), ["a", "c"]) == 1
    baskets = sf.Baskets.of([["a"], ["a", "b"], []])
    assert count_wrong_sizes(baskets, np.array([2, 0, 1]), ["0:1", "1:1", "2:1"]) == 0
    assert count_wrong_sizes(baskets, np.array([2, 1, 0]), ["0:1", "1:1", "2:1"]) == 2
    assert count_wrong_sizes(baskets, np.array([2, 1, 0]), ["0:1"]) == 3


@pytest.mark.parametrize("method", [MASK, PASTE], ids=["mask", "cut and paste"])
@pytest.mark.parametrize("seed", range(5))
def test_an_honest_release_passes(method: sf.RandomizeBaskets, seed: int) -> None:
    findings = sf.check(method.protect(SHOP, sf.Randomness.seeded(seed)), SHOP)
    assert all(finding.holds for finding in findings)


def keep_one_item(rows: list[list[int]], originals: list[list[int]]) -> list[list[int]]:
    """One item is always true."""
    return [
        sorted({*(i for i in row if i != 3), *(i for i in was if i == 3)})
        for row, was in zip(rows, originals, strict=True)
    ]


def spare_some_people(rows: list[list[int]], originals: list[list[int]]) -> list[list[int]]:
    """A quarter of the baskets is not randomized."""
    return [was if index % 4 == 0 else row for index, (row, was) in enumerate(zip(rows, originals, strict=True))]


def repeat_draws(rows: list[list[int]], originals: list[list[int]]) -> list[list[int]]:
    """Every second basket gets the added items of the one before, so that comparing them tells."""
    forged_rows = [list(row) for row in rows]
    for index in range(1, len(rows), 2):
        added = set(rows[index - 1]) - set(originals[index - 1])
        kept_items = set(rows[index]) & set(originals[index])
        forged_rows[index] = sorted(kept_items | (added - set(originals[index])))
    return forged_rows


@pytest.mark.parametrize("cheat", [keep_one_item, spare_some_people, repeat_draws], ids=lambda cheat: cheat.__name__)
@pytest.mark.parametrize("method", [MASK, PASTE], ids=["mask", "cut and paste"])
def test_cheats_are_found(
    method: sf.RandomizeBaskets, cheat: Callable[[list[list[int]], list[list[int]]], list[list[int]]]
) -> None:
    release = method.protect(SHOP, sf.Randomness.seeded(1))
    lists = SHOP.to_lists()
    originals = [[int(item) for item in lists[row]] for row in release.details["rows"]]
    published_rows = [[int(item) for item in row] for row in release.data.to_lists()]
    forged: Release = replace(release, data=sf.Baskets.of(cheat(published_rows, originals)))
    failures = [finding.property for finding in sf.check(forged, SHOP) if not finding.holds]
    assert failures == ["items_off_channel"]
