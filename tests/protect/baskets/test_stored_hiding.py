# SPDX-License-Identifier: MIT
"""What is hidden in baskets that stay in their file is what memory hides, to the order of the changes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.engine import stored_baskets
from sfumato.engine.basket_staging import BasketSource, open_stored_baskets
from sfumato.errors import DataError, SfumatoError
from sfumato.protect.baskets.stored_hiding import StoredHidingPlan
from sfumato.protect.stored_method import explain_unstored_method, plan_stored
from sfumato.randomness import Randomness

CHANCE = Randomness.secure()
STRATEGIES = ("joint", "1b", "2a", "2b", "2c", "cyclic", "greedy", "isolated")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def draw_baskets(seed: int, rows: int, items: int) -> list[list[int]]:
    """Some items are common, most are rare, and some baskets hold none of the common ones."""
    chance = np.random.default_rng(seed)
    shares = 0.8 / np.sqrt(np.arange(1, items + 1))
    membership = chance.random((rows, items)) < shares
    membership[chance.random(rows) < 0.2, :4] = False
    return [[int(item) + 1 for item in np.flatnonzero(row)] or [items + 1] for row in membership]


def build_published(plan: StoredHidingPlan) -> sf.Baskets:
    parts = list(plan.publish())
    sizes = np.concatenate([batch.sizes for batch in parts])
    codes = np.concatenate([batch.codes for batch in parts])
    return sf.Baskets(plan.original.items, np.concatenate(([0], np.cumsum(sizes))), codes)


def compare_plans(method: Any, lists: list[list[int]], folder: Path, batch: int = 7) -> StoredHidingPlan | None:
    baskets = sf.Baskets.of(lists)
    baskets.write(folder / "hidden.dat")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_baskets, "BATCH_BASKETS", batch)
        stored = open_stored_baskets(BasketSource(folder / "hidden.dat"), folder)
        try:
            release = method.protect(baskets)
        except SfumatoError as error:
            with pytest.raises(type(error)) as error_info:
                plan_stored(method, stored, CHANCE)
            assert str(error_info.value) == str(error)
            return None
        plan = plan_stored(method, stored, CHANCE)
        assert plan.release.details["changes"] == release.details["changes"]
        assert build_published(plan) == release.data
    assert plan.release.claims == release.claims
    assert plan.release.losses == release.losses
    assert plan.release.details["sensitive"] == release.details["sensitive"]
    assert plan.release.details["scans"] == release.details["scans"]
    assert plan.smallest == np.diff(release.data.offsets).min()
    new_counts = dict(zip(release.data.items, np.bincount(release.data.codes).tolist(), strict=True))
    assert plan.counts.tolist() == [new_counts.get(item, 0) for item in stored.items]
    return plan


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(STRATEGIES), st.integers(0, 10_000), st.integers(20, 120), st.integers(2, 12))
def test_rules(folder: Path, strategy: Any, seed: int, rows: int, least: int) -> None:
    method = sf.HideRules(
        rules=[((1,), (2,)), ((2, 3), (4,))],
        itemsets=[(1, 3), (5,)][: seed % 3],
        min_support=least,
        min_confidence=0.4,
        strategy=strategy,
    )
    compare_plans(method, draw_baskets(seed, rows, 12), folder)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(20, 120), st.floats(0.03, 0.2), st.floats(0.2, 0.8))
def test_items(folder: Path, seed: int, rows: int, least: float, confidence: float) -> None:
    method = sf.HideItems(items=(3, 1), min_support=least, min_confidence=confidence)
    compare_plans(method, draw_baskets(seed, rows, 12), folder)


def test_something_is_hidden_and_an_item_that_is_gone_is_not_in_the_vocabulary(folder: Path) -> None:
    method = sf.HideRules(itemsets=[(9,)], min_support=1, strategy="2b")
    plan = compare_plans(method, [[1, 9], [1], [9], [2, 9]], folder)
    assert plan is not None
    assert plan.release.losses["removed"] == 3
    assert build_published(plan).items == (1, 2)
    assert plan.smallest == 0


def test_what_does_not_run_is_named() -> None:
    for strategy in ("1a", "block", "exact"):
        method = sf.HideRules(rules="1 ==> 2", min_support=1, min_confidence=0.5, strategy=strategy)
        assert explain_unstored_method(method) == f"hide_rules with strategy = {strategy}"
    items = sf.HideItems(items=(1,), min_support=1, min_confidence=0.5, strategy="islf")
    assert explain_unstored_method(items) == "hide_items with strategy = islf"
    assert explain_unstored_method(sf.RandomizeBaskets(keep=0.5, add=0.1)) == "randomize_baskets"


def test_what_does_not_fit_is_refused_before_anything_is_hidden(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sf.Baskets.of([[1, 2]] * 50 + [[3]] * 500).write(folder / "large.dat")
    stored = open_stored_baskets(BasketSource(folder / "large.dat"), folder)
    monkeypatch.setattr(stored_baskets, "find_memory_budget", lambda: 50 * 64 + 100 * 64)
    rules = sf.HideRules(rules="1 ==> 2", min_support=10, min_confidence=0.5)
    with pytest.raises(DataError, match=r"hiding rules would hold 50 baskets with 100 items in memory, .*SFUMATO"):
        plan_stored(rules, stored, CHANCE)
    monkeypatch.setattr(stored_baskets, "find_memory_budget", lambda: 50 * 66 + 100 * 64)
    assert plan_stored(rules, stored, CHANCE).release.losses["removed"] == 26
