# SPDX-License-Identifier: MIT
from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.attack.baskets.fill_unknowns import FillUnknowns, predict_item_presence
from sfumato.protect.baskets.hide_rules import HideRules
from sfumato.public.unknown_items import mark_unknowns
from tests.attack.baskets.test_remining import RULES, pairs
from tests.attack.patterns.test_support_inference import as_is, noise


def blocked(data: sf.Baskets, item: str, rows: list[int]) -> sf.Release:
    lists = [[i for i in basket if not (i == item and row in rows)] for row, basket in enumerate(data.to_lists())]
    return as_is(mark_unknowns(sf.Baskets.of(lists), rows, [item] * len(rows)))


def test_it_succeeds_on_the_original_and_fails_on_noise() -> None:
    """Where nothing is unknown the answers are read off; from noise they are no better than blind ones."""
    data = pairs()
    attack = FillUnknowns(items=("i1", "i3"))
    outcome = attack.run(as_is(data), data)
    assert outcome.attempts == 2 * len(data)
    assert outcome.risk == 1.0
    blind = attack.run(noise(data), data)
    assert blind.low <= blind.baseline / blind.attempts
    assert blind.successes == blind.baseline  # always no is right more often than what noise says


def test_what_people_with_the_rest_buy_fills_most_unknowns() -> None:
    """i1 unknown in a hundred baskets taken as they come: whoever has i0 mostly has it."""
    data = pairs()
    rows = list(range(0, 2000, 20))
    outcome = FillUnknowns().run(blocked(data, "i1", rows), data)
    assert outcome.attempts == outcome.facts["unknowns"] == 100
    assert outcome.successes > outcome.baseline
    assert outcome.low > 0.7


def test_unknowns_that_are_all_there_are_read_as_yes() -> None:
    data = pairs()
    rows = [row for row, basket in enumerate(data.to_lists()) if "i1" in basket][:80]
    outcome = FillUnknowns(guess="present").run(blocked(data, "i1", rows), data)
    assert outcome.risk == 1.0
    assert outcome.facts["were_there"] == outcome.facts["guessed_there"] == 80


def test_blocking_with_decoys_leaves_half_a_guess() -> None:
    data = pairs()
    release = HideRules(rules=RULES[:2], min_support=0.05, min_confidence=0.6, strategy="block").protect(data)
    sure = FillUnknowns(guess="present").run(release, data)
    assert sure.attempts == sure.facts["unknowns"] > 0
    assert sure.risk == pytest.approx(0.5, abs=0.02)
    assert sure.facts["items"] == 2


def sell_milk_with(left: tuple[str, ...], seed: int) -> sf.Baskets:
    """Most baskets with the whole left side hold milk too, so few of them can be decoys."""
    chance = np.random.default_rng(seed)
    lists = []
    for _ in range(200):
        basket = {f"i{number}" for number in np.flatnonzero(chance.random(6) < 0.3)}
        basket |= {item for item in left if chance.random() < 0.6}
        if chance.random() < (0.9 if basket.issuperset(left) else 0.3):
            basket.add("milk")
        lists.append(sorted(basket))
    return sf.Baskets.of(lists)


@pytest.mark.parametrize("left", [("bread",), ("bread", "butter")])
@pytest.mark.parametrize("seed", range(3))
def test_decoys_without_the_left_side_give_themselves_away(left: tuple[str, ...], seed: int) -> None:
    """Blocked baskets all hold the left side, so whoever lacks it is a decoy; the release shows which side that is."""
    data = sell_milk_with(left, seed)
    release = HideRules(rules=[(left, ("milk",))], min_support=5, min_confidence=0.3, strategy="block").protect(data)
    outcome = FillUnknowns().run(release, data)
    marked = [set(basket) for basket in release.data.to_lists() if "milk?" in basket]
    without_left = sum(not basket.issuperset(left) for basket in marked)
    assert without_left > 0.3 * outcome.attempts  # else there is nothing to see
    assert outcome.successes >= outcome.attempts / 2 + without_left


def test_marks_at_random_are_guessed_hardly_better_than_by_a_coin() -> None:
    chance = np.random.default_rng(0)
    risks = []
    for _ in range(20):
        held = chance.random((300, 8)) < 0.4
        data = sf.Baskets.of([[f"i{number}" for number in np.flatnonzero(row)] for row in held])
        has, lacks = (chance.permutation(np.flatnonzero(held[:, 1] == flag))[:50] for flag in (True, False))
        risks.append(FillUnknowns().run(blocked(data, "i1", sorted([*has.tolist(), *lacks.tolist()])), data).risk)
    assert 0.5 <= np.mean(risks) < 0.57


def test_naive_bayes_by_hand() -> None:
    """Of 6 with a 4 have x, of 6 without 1 has; the row asked about is left out of the counts."""
    baskets = sf.Baskets.of([["a", "x"]] * 4 + [["a"]] * 2 + [["x"]] + [["b"]] * 5 + [["a"], ["b"]])
    assert predict_item_presence(baskets, "x", np.array([12, 13])).tolist() == [True, False]
    mostly = sf.Baskets.of([["a", "x"]] * 4 + [["a"]] * 2 + [["b"]] * 3 + [["a"]] * 20)
    assert predict_item_presence(mostly, "x", np.arange(9, 29)).all()
    assert predict_item_presence(sf.Baskets.of([[], []]), "x", np.array([0])).tolist() == [False]


def test_only_named_items_are_asked_about_where_nothing_is_unknown() -> None:
    data = pairs(2, 100)
    empty_outcome = FillUnknowns().run(as_is(data, sensitive=((("i0",), ("i1",)), "i4")), data)
    assert (empty_outcome.attempts, empty_outcome.successes, empty_outcome.baseline) == (0, 0, 0)
    assert FillUnknowns(items=("i1", "i4")).run(as_is(data), data).attempts == 200


def test_outcomes_repeat_and_counts_make_sense() -> None:
    data = pairs(2, 400)
    release = blocked(data, "i1", list(range(0, 400, 10)))
    outcome, two = (FillUnknowns().run(release, data, control=pairs(9, 400)) for _ in range(2))
    assert outcome == two
    assert 0 <= outcome.successes <= outcome.attempts
    assert outcome.baseline <= outcome.attempts
    assert outcome.control is not None
    assert outcome.control < outcome.successes


def test_json_round_trip_and_bad_input() -> None:
    attack = FillUnknowns(guess="present", items=("a", 3))
    assert FillUnknowns.model_validate_json(attack.model_dump_json()) == attack
    with pytest.raises(sf.DataError, match="1 published baskets"):
        FillUnknowns().run(as_is(sf.Baskets.of([["a"]])), sf.Baskets.of([["a"], ["b"]]))
