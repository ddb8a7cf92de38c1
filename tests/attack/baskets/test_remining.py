# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.attack.baskets.mined_rules import count_one_basket_short
from sfumato.attack.baskets.remining import Remining
from sfumato.protect.baskets.hide_items import HideItems
from sfumato.protect.baskets.hide_rules import HideRules
from sfumato.public.thresholds import MiningThresholds
from sfumato.public.unknown_items import mark_unknowns
from tests.attack.patterns.test_support_inference import as_is, noise

RULES = ("i0 ==> i1", "i2 ==> i3", "i4 ==> i5", "i6 ==> i7", "i8 ==> i9")


def pairs(seed: int = 3, count: int = 2000) -> sf.Baskets:
    """Ten items; each even one comes mostly with the odd one after it, the others hardly ever together."""
    chance = np.random.default_rng(seed)
    purchases = chance.random((count, 10)) < 0.08
    for even in range(0, 10, 2):
        purchases[:, even] = chance.random(count) < 0.2
        purchases[:, even + 1] |= purchases[:, even] & (chance.random(count) < 0.85)
    return sf.Baskets.of([[f"i{code}" for code in np.flatnonzero(row)] for row in purchases])


ATTACK = Remining(rules=RULES, min_support=0.05, min_confidence=0.6)


def test_it_succeeds_on_the_original_and_fails_on_noise() -> None:
    data = pairs()
    outcome = ATTACK.run(as_is(data), data)
    assert (outcome.attempts, outcome.successes) == (5, 5)
    assert outcome.low > 0.5
    assert outcome.facts["visible"] == 5
    blind = ATTACK.run(noise(data), data)
    assert blind.facts["visible"] == 0
    assert blind.low <= blind.baseline / blind.attempts


def test_rules_hidden_a_hair_below_the_threshold_are_found() -> None:
    data = pairs()
    release = HideRules(rules=RULES, min_support=0.05, min_confidence=0.6, strategy="1b").protect(data)
    outcome = Remining(reach=0.5).run(release, data)
    assert outcome.facts["visible"] == 0
    assert outcome.facts["seen_below"] == 5
    assert outcome.successes == 5 > outcome.baseline
    assert outcome.facts["farthest"] < 0.02
    assert outcome.facts["just_below"] >= 5


def test_a_rule_far_below_is_found_by_the_gap_that_it_leaves() -> None:
    """The item is taken out of all baskets with the left side: no mining shows it, but nothing else is as rare."""
    data = pairs()
    emptied = [[i for i in basket if not (i == "i1" and "i0" in basket)] for basket in data.to_lists()]
    outcome = Remining(rules=RULES[:1], min_support=0.05, min_confidence=0.6).run(as_is(sf.Baskets.of(emptied)), data)
    assert (outcome.attempts, outcome.facts["seen_below"]) == (1, 0)
    assert outcome.successes >= 0.5  # one of two directions


def test_ranks_by_hand() -> None:
    """Confidences 0.59 (hidden), 0.55 and 0.4 below 0.6; the nearest one is named."""
    lists = [["a", "x"]] * 59 + [["a"]] * 41 + [["b", "y"]] * 55 + [["b"]] * 45 + [["c", "z"]] * 40 + [["c"]] * 60
    lists += [["x"]] * 100 + [["y"]] * 100 + [["z"]] * 100
    truth = sf.Baskets.of([["a", "x"]] * 60 + lists[60:])
    attack = Remining(rules=((("a",), ("x",)),), min_support=20, min_confidence=0.6)
    outcome = attack.run(as_is(sf.Baskets.of(lists)), truth)
    assert (outcome.attempts, outcome.successes) == (1, 1)
    # These, and the reverse of two: 59/159, 55/155; not 40/140. And 12 pairs that never occur, in both directions.
    assert outcome.facts["candidates"] == 5 + 2 * 12
    assert outcome.facts["nearest"] == pytest.approx(1 - 0.59 / 0.6)
    assert (outcome.facts["just_below"], outcome.facts["further_below"]) == (2, 0)
    shallow = Remining(rules=((("a",), ("x",)),), min_support=20, min_confidence=0.6, reach=0.01)
    outcome = shallow.run(as_is(sf.Baskets.of(lists)), truth)
    assert outcome.successes == outcome.baseline == pytest.approx(1 / 30)  # drawn from the rules of two of six items


def test_it_says_among_how_few_rules_the_secrets_hide() -> None:
    """Five hidden rules are one basket short, and hardly any other rule is."""
    data = pairs()
    release = HideRules(rules=RULES, min_support=0.05, min_confidence=0.6, strategy="1b").protect(data)
    facts = Remining().run(release, data).facts
    assert facts["hidden_one_basket_short"] == 5 <= facts["one_basket_short"] < 10
    # The count is the same whatever the attack looks for: it is about the release.
    other = Remining(rules=("i0 ==> i1",), itemsets=("i2,i3",), min_support=0.05, min_confidence=0.6)
    assert other.run(release, data).facts["one_basket_short"] == facts["one_basket_short"]


def test_one_basket_short_by_hand() -> None:
    """a ==> x holds in 5 of 10: at 0.6 one more basket would show it; b ==> y in 4 of 10, two more."""
    lists = [["a", "x"]] * 5 + [["a"]] * 5 + [["b", "y"]] * 4 + [["b"]] * 6 + [["x"]] * 9 + [["y"]] * 9
    baskets = sf.Baskets.of(lists)
    assert count_one_basket_short(baskets, [MiningThresholds(3, 0.6)]) == 1
    assert count_one_basket_short(baskets, [MiningThresholds(3, 0.4)]) == 1  # x ==> a: 5 of 14, needs 6
    assert count_one_basket_short(baskets, [MiningThresholds(5, None)]) == 1  # {b, y}
    assert count_one_basket_short(baskets, [MiningThresholds(1, None)]) == 0
    # At two thresholds: a ==> x, x ==> a and {b, y}; the same ones twice count once.
    thresholds = [MiningThresholds(*pair) for pair in ((3, 0.6), (3, 0.4), (5, None), (3, 0.60))]
    assert count_one_basket_short(baskets, thresholds) == 3


def test_secrets_that_lack_a_larger_share_but_fewer_baskets_are_found() -> None:
    """Hidden: 5 of 10, one basket short of 0.6. Others lack a smaller share: 580 of 1000, twenty baskets short."""
    lists = [["a", "x"]] * 5 + [["a"]] * 5 + [["x"]] * 50
    lists += [["b", "y"]] * 580 + [["b"]] * 420 + [["y"]] * 900
    truth = sf.Baskets.of([["a", "x"], *lists[1:5], ["a", "x"], *lists[6:]])
    outcome = Remining(rules=("a ==> x",), min_support=3, min_confidence=0.6).run(as_is(sf.Baskets.of(lists)), truth)
    assert (outcome.attempts, outcome.successes) == (1, 1)


def test_itemsets_and_items() -> None:
    data = pairs()
    sets = HideRules(itemsets=("i0,i1", "i2,i3"), min_support=0.05, strategy="cyclic").protect(data)
    outcome = Remining().run(sets, data)
    assert (outcome.attempts, outcome.facts["visible"], outcome.facts["seen_below"]) == (2, 0, 2)
    items = HideItems(items=("i1",), min_support=0.05, min_confidence=0.6).protect(data)
    outcome = Remining().run(items, data)
    assert outcome.attempts >= 1
    assert outcome.facts["visible"] == 0
    item_outcome = Remining(items=("i1",), min_support=0.05, min_confidence=0.6).run(as_is(data), data)
    assert item_outcome.successes == item_outcome.attempts >= 1


def test_unknowns_are_not_there() -> None:
    data = sf.Baskets.of([["a", "x"]] * 10)
    certain = sf.Baskets.of([["a", "x"]] * 5 + [["a"]] * 5)
    release = as_is(mark_unknowns(certain, list(range(5, 10)), ["x"] * 5))
    outcome = Remining(rules=("a ==> x",), min_support=2, min_confidence=0.8).run(release, data)
    assert (outcome.facts["visible"], outcome.successes) == (0, 1)


def hide_both(data: sf.Baskets, rules: HideRules, items: HideItems) -> sf.Release:
    """The release of a policy of two methods."""
    return sf.run(data, [rules, items], sf.Randomness.seeded(1)).release


def test_what_each_method_hid_is_looked_for_at_its_own_thresholds() -> None:
    """A second method with high thresholds, which hides nothing, changes nothing about what the first one hid."""
    data = pairs()
    rules = HideRules(rules=RULES[:2], min_support=0.05, min_confidence=0.6, strategy="1b")
    items = HideItems(items=("i9",), min_support=0.9, min_confidence=0.95)
    alone, both = (Remining().run(release, data) for release in (rules.protect(data), hide_both(data, rules, items)))
    assert alone.attempts == alone.successes == 2
    assert (both.attempts, both.successes, both.baseline) == (alone.attempts, alone.successes, alone.baseline)
    assert both.facts["one_basket_short"] == alone.facts["one_basket_short"] > 0
    assert both.facts["hidden_one_basket_short"] == alone.facts["hidden_one_basket_short"] == 2


def test_a_secret_is_not_called_visible_by_the_thresholds_of_another_method() -> None:
    data = pairs()
    rules = HideRules(rules=RULES[:1], min_support=0.1, min_confidence=0.7)
    items = HideItems(items=("i3",), min_support=0.02, min_confidence=0.5)
    release = hide_both(data, rules, items)
    assert Remining().run(release, data).facts["visible"] == 0
    # Named secrets are those of the method that hid them, and of the last one otherwise.
    assert Remining(rules=RULES[:1]).run(release, data).facts["visible"] == 0
    assert Remining(rules=("i8 ==> i9",)).run(release, data).facts["visible"] == 1


def test_one_secret_at_one_threshold_is_one_target() -> None:
    """i0 ==> i1 is a secret rule, and one about a secret item."""
    data = pairs()
    rules = HideRules(rules=RULES[:1], min_support=0.05, min_confidence=0.6)
    items = HideItems(items=("i1",), min_support=0.05, min_confidence=0.6)
    alone = Remining().run(items.protect(data), data)
    assert Remining().run(hide_both(data, rules, items), data).attempts == alone.attempts


def test_an_item_that_ends_in_the_mark_is_an_item_if_the_method_marks_nothing() -> None:
    data = pairs()
    named = sf.Baskets.of([["i1?" if item == "i1" else item for item in basket] for basket in data.to_lists()])
    for strategy in ("joint", "1b"):
        plain, marked = (
            HideRules(rules=[rule], min_support=0.05, min_confidence=0.6, strategy=strategy).protect(baskets)
            for rule, baskets in (("i0 ==> i1", data), ("i0 ==> i1?", named))
        )
        assert Remining().run(marked, named) == Remining().run(plain, data)
    nobody = sf.attack.FillUnknowns().run(marked, named)
    assert (nobody.attempts, nobody.facts["unknowns"]) == (0, 0)


@pytest.mark.parametrize("least", [1, 2])
def test_itemsets_that_were_hidden_entirely_are_found_by_their_absence(least: int) -> None:
    data = pairs(3, 300)
    release = HideRules(itemsets=("i0, i2",), min_support=least, strategy="greedy").protect(data)
    outcome = Remining().run(release, data)
    assert (outcome.attempts, outcome.successes) == (1, 1)
    assert outcome.baseline < 0.1


def test_three_items_that_never_meet_although_each_two_do_are_found() -> None:
    lists = [list("abc")] * 30 + [list("ab")] * 20 + [list("ac")] * 20 + [list("bc")] * 20 + [list("d")] * 40
    lists += [list("abd"), list("acd"), list("bcd")] * 5
    data = sf.Baskets.of(lists)
    release = HideRules(itemsets=("a, b, c",), min_support=1, strategy="cyclic").protect(data)
    outcome = Remining().run(release, data)
    assert (outcome.attempts, outcome.successes) == (1, 1)


@pytest.mark.parametrize("strategy", ["2b", "2c", "cyclic", "greedy", "isolated"])
def test_rules_whose_support_was_lowered_are_found_however_low_their_confidence_is(strategy: Any) -> None:
    data = pairs()
    release = HideRules(rules=RULES[:1], min_support=20, min_confidence=0.6, strategy=strategy).protect(data)
    outcome = Remining().run(release, data)
    assert (outcome.attempts, outcome.facts["seen_below"]) == (1, 0)
    assert outcome.successes >= 0.5 > outcome.baseline  # the items, and one of two directions


def test_where_marks_stand_tells_which_rules_were_blocked() -> None:
    """Items that come as they like: nothing else tells one rule below the thresholds from the others."""
    hits = []
    for seed in range(5):
        held = np.random.default_rng(seed).random((150, 10)) < 0.35
        data = sf.Baskets.of([[f"i{code}" for code in np.flatnonzero(row)] for row in held])
        release = HideRules(rules=("i0 ==> i1",), min_support=10, min_confidence=0.25, strategy="block").protect(data)
        outcome = Remining().run(release, data)
        assert (outcome.attempts, outcome.facts["visible"]) == (1, 0)
        assert outcome.baseline < 0.02
        hits.append(outcome.successes)
    assert hits == [1] * 5


def test_longer_rules_and_itemsets_are_told_by_marks() -> None:
    held = np.random.default_rng(1).random((400, 8)) < 0.5
    data = sf.Baskets.of([[f"i{code}" for code in np.flatnonzero(row)] for row in held])
    for secret in ({"rules": ("i0, i2 ==> i5",)}, {"rules": ("i0 ==> i2, i5",)}, {"itemsets": ("i0, i2, i5",)}):
        release = HideRules(**secret, min_support=10, min_confidence=0.1, strategy="block").protect(data)
        outcome = Remining().run(release, data)
        assert (outcome.attempts, outcome.facts["visible"]) == (1, 0)
        assert outcome.successes >= 0.5 > 5 * outcome.baseline


def test_it_is_never_below_its_own_blind_guess() -> None:
    """From noise nothing can be told: whoever draws is right now and then, and so is the attack."""
    data = pairs(4, 500)
    for seed in range(5):
        held = np.random.default_rng(seed).random((500, 10)) < 0.25
        drawn = sf.Baskets.of([[f"i{code}" for code in np.flatnonzero(row)] for row in held])
        outcome = Remining(rules=RULES, min_support=60, min_confidence=0.6).run(as_is(drawn), data)
        assert outcome.successes >= outcome.baseline > 0


def test_outcomes_repeat_and_counts_make_sense() -> None:
    data = pairs(4, 500)
    outcome, two = (ATTACK.run(noise(data), data, control=pairs(5, 500)) for _ in range(2))
    assert outcome == two
    assert outcome.control is not None
    assert 0 <= outcome.baseline <= outcome.attempts
    assert outcome.control == 5


def test_json_round_trip_and_bad_input() -> None:
    assert Remining.model_validate_json(ATTACK.model_dump_json()) == ATTACK
    data = pairs(1, 50)
    with pytest.raises(sf.PolicyError, match="min_support"):
        Remining(rules=RULES).run(as_is(data), data)
    with pytest.raises(sf.PolicyError, match="rules, itemsets or items that were hidden"):
        Remining(min_support=2, min_confidence=0.5).run(as_is(data), data)
    with pytest.raises(ValueError, match="a,b ==> c"):
        Remining(rules=("a,b",), min_support=2)
