# SPDX-License-Identifier: MIT
"""Natural mistakes in Python with baskets, sequences, keys and attacks, and the sentence that each of them gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf

SHOP = sf.Baskets.of([["bread", "butter", "milk"]] * 3 + [["bread", "butter"], ["milk"], ["beer", "nuts"]])
PEOPLE = sf.Table.of(
    {"age": [30 + row % 5 for row in range(30)], "ill": ["flu", "gout", "flu"] * 10},
    roles={"age": "quasi_identifying", "ill": "sensitive"},
)
HIDDEN = sf.HideItems(items=["milk"], min_support=2, min_confidence=0.5).protect(SHOP)
CODED = sf.TopCode(columns=["age"], k=3).protect(PEOPLE)
SEED: Any = 424242
GENERATOR: Any = np.random.default_rng(1)
FRAME: Any = pd.DataFrame({"id": [1], "item": ["a"]})
WORDS = r"randomness must be sf\.Randomness\.secure\(\), the default, or sf\.Randomness\.seeded\(7\) for tests"


@pytest.mark.parametrize(
    "make",
    [
        lambda: sf.RandomizeBaskets(keep=0.9).protect(SHOP, SEED),
        lambda: sf.Synthesize(min_leaf=5).protect(PEOPLE, randomness=SEED),
        lambda: sf.Synthesize(min_leaf=5).protect(PEOPLE, GENERATOR),
        lambda: sf.EncodeItems(k=2).new_key(SHOP, SEED),
        lambda: sf.EncodeBloom().new_key(SHOP, randomness=SEED),
        lambda: sf.EncodeForTrees(target="ill").new_key(PEOPLE, SEED),
        lambda: sf.attack.Inference(column="ill").run(CODED, PEOPLE, randomness=SEED),
    ],
)
def test_a_seed_is_no_randomness(make: Callable[[], Any]) -> None:
    with pytest.raises(sf.PolicyError, match=WORDS) as error_info:
        make()
    assert str(SEED) not in str(error_info.value)


@pytest.mark.parametrize(
    ("attack", "release", "truth", "words"),
    [
        (sf.attack.Linking(), HIDDEN, SHOP, "linking attacks a table, and this release holds baskets"),
        (sf.attack.SequenceLinking(), HIDDEN, SHOP, "attacks sequences, and this release holds baskets"),
        (sf.attack.SupportInference(), CODED, PEOPLE, "attacks patterns, and this release holds a table"),
        (sf.attack.Remining(), CODED, PEOPLE, "remining attacks baskets, and this release holds a table"),
        (sf.attack.Linking(), CODED, SHOP, "originals of the release, and what was given holds baskets"),
    ],
)
def test_an_attack_on_another_shape_is_refused(attack: Any, release: Any, truth: Any, words: str) -> None:
    with pytest.raises(sf.SfumatoError, match=words):
        attack.run(release, truth)


def test_a_check_needs_originals_of_the_same_shape() -> None:
    with pytest.raises(sf.DataError, match="TopCode takes a Table"):
        sf.check(CODED, SHOP)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: sf.Baskets.of(FRAME),
            r'df\.groupby\("id"\)\["item"\]\.agg\(list\)',
        ),
        (lambda: sf.Baskets.of({"ann": ["a"]}), r"give its values: list\(baskets\.values\(\)\)"),
        (lambda: sf.parties.mine_horizontal({"a": SHOP, "b": SHOP, "c": SHOP}, 0.3), "give the sites as a list"),  # type: ignore[arg-type]
        (lambda: sf.parties.mine_horizontal([PEOPLE] * 3, 0.3), "have Baskets, and these have a Table"),  # type: ignore[list-item]
        (lambda: sf.Table.of(pd.DataFrame([[1, 2]]), roles={0: "sensitive", 1: "sensitive"}), 'write "0" for 0'),  # type: ignore[dict-item]
    ],
)
def test_what_is_no_list_of_lists_is_refused_with_its_cure(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(sf.SfumatoError, match=words):
        make()


def test_the_cures_work() -> None:
    long = pd.DataFrame({"id": [1, 1, 2], "item": ["a", "b", "a"]})
    assert sf.Baskets.of(long.groupby("id")["item"].agg(list)).to_lists() == [["a", "b"], ["a"]]
    frame = pd.DataFrame([[1, 2]])
    assert sf.Table.of(frame, roles={"0": "sensitive", "1": "sensitive"}).columns == ("0", "1")


def test_one_itemset_may_be_a_text() -> None:
    release = sf.HideRules(itemsets="bread, milk", min_support=2).protect(SHOP)
    assert sum({"bread", "milk"} <= set(basket) for basket in release.data.to_lists()) == 1


@pytest.mark.parametrize("attack", ["item_frequency", "bloom_dictionary"])
def test_attacks_on_codes_are_refused_where_items_have_their_names(attack: str) -> None:
    """They were run, and found alarming what everybody reads."""
    method = {"method": "hide_items", "items": ["milk"], "min_support": 2, "min_confidence": 0.5}
    fields = {"data": {"path": "shop.dat"}, "protect": [method], "attack": [{"attack": attack}]}
    with pytest.raises(ValueError, match="finds items behind codes, and hide_items publishes items by their names"):
        sf.Policy.model_validate(fields)
