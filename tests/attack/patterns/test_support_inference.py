# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.attack.patterns.support_inference import SupportInference
from sfumato.details import accept_details
from sfumato.errors import PolicyError
from sfumato.mine.patterns.inference_channels import inference_channels
from sfumato.patterns import Patterns
from sfumato.protect.patterns.publish_patterns import PublishPatterns
from sfumato.public.thresholds import CrowdThresholds
from tests.brute_patterns import spell_items
from tests.mine.patterns.test_derivability import COUNTER_EXAMPLE


def shoppers(seed: int = 1, count: int = 600) -> sf.Baskets:
    """Baskets of a few kinds of people, with rare mixtures among them."""
    chance = np.random.default_rng(seed)
    kinds = chance.random((5, 9)) < 0.6
    purchases = kinds[chance.integers(0, 5, count)] ^ (chance.random((count, 9)) < 0.01)
    return sf.Baskets.of([[f"i{code}" for code in np.flatnonzero(row)] for row in purchases])


def as_is(data: object, **details: Any) -> sf.Release:
    return sf.Release(data, None, (), {}, accept_details(details))


def noise(data: sf.Baskets, seed: int = 5) -> sf.Release:
    """As many of each item as there were, in baskets drawn at random: nobody is behind them."""
    chance = np.random.default_rng(seed)
    purchases = np.zeros((len(data), len(data.items)), dtype=bool)
    for code, count in enumerate(np.bincount(data.codes, minlength=len(data.items))):
        purchases[chance.choice(len(data), count, replace=False), code] = True
    return as_is(sf.Baskets.of([[data.items[code] for code in np.flatnonzero(row)] for row in purchases]))


ATTACK = SupportInference(k=5, min_support=0.2)


def test_it_succeeds_on_the_original_and_fails_on_noise() -> None:
    data = shoppers()
    outcome = ATTACK.run(as_is(data), data)
    assert outcome.attempts >= inference_channels(data, 0.2, 5).height
    assert outcome.attempts > 100
    assert outcome.low > 0.9
    blind = ATTACK.run(noise(data), data)
    assert blind.facts["found"] > 50
    assert blind.successes <= blind.baseline
    assert blind.risk < 0.1


@pytest.mark.parametrize("repair", ["additive", "suppressive"])
def test_repaired_patterns_give_nothing_away(repair: str) -> None:
    data = shoppers()
    release = PublishPatterns(k=5, min_support=0.2, repair=repair, seconds=0.2).protect(data)
    outcome = SupportInference().run(release, data)
    assert outcome.successes == 0
    assert outcome.facts["found"] == 0
    assert outcome.attempts > 100
    plain = PublishPatterns(k=5, min_support=0.2, repair="none").protect(data)
    assert SupportInference().run(plain, data).risk == 1.0


def test_every_channel_is_a_target_and_a_hit() -> None:
    twelve = [
        "abcdefgh",
        "abcdeg",
        "abcde",
        "abcdefg",
        "abcde",
        "abcde",
        "abde",
        "aefg",
        "cdefg",
        "cde",
        "cdefgh",
        "abfg",
    ]
    data = sf.Baskets.of([list(basket) for basket in twelve])
    release = PublishPatterns(k=3, min_support=8, repair="none").protect(data)
    outcome = SupportInference().run(release, data)
    assert outcome.attempts == outcome.successes >= 13
    assert outcome.facts["itemsets"] == 11


def test_the_counter_example_is_found_without_a_channel() -> None:
    data = sf.Baskets.of(COUNTER_EXAMPLE)
    outcome = SupportInference().run(PublishPatterns(k=3, min_support=5, repair="none").protect(data), data)
    assert (outcome.attempts, outcome.successes) == (1, 1)
    assert outcome.facts["of_one_person"] == outcome.facts["exactly"] == 1


def test_rules_are_enough() -> None:
    data = sf.Baskets.of([["x", "y"]] * 80 + [["x"]] + [["y"]] * 19)
    outcome = SupportInference(k=3, min_support=50).run(as_is(Patterns.of(spell_items({"x": 81, "xy": 80}), 100)), data)
    assert outcome.successes == 1


def test_a_wrong_guess_is_no_success() -> None:
    """Supports of other people: "one has a, not b" is not true here."""
    data = sf.Baskets.of([["a", "b"]] * 10)
    other = Patterns.of(spell_items({"a": 10, "b": 9, "ab": 9}), 10)
    outcome = SupportInference(k=3, min_support=5).run(as_is(other), data)
    assert outcome.facts["found"] > 0
    assert (outcome.successes, outcome.attempts) == (0, 0)
    assert SupportInference(k=3, min_support=5).run(as_is(other), data, control=data).control == 0


def test_supports_that_contradict_tell_nothing() -> None:
    data = sf.Baskets.of([["a", "b"]] * 10)
    bad_patterns = Patterns.of(spell_items({"a": 9, "b": 9, "c": 9, "ab": 1, "ac": 1, "bc": 1}), 9)
    assert SupportInference(k=3, min_support=5).run(as_is(bad_patterns), data).facts["found"] == 0


def test_outcomes_repeat_and_counts_make_sense() -> None:
    data = shoppers(2, 300)
    outcome, two = (ATTACK.run(as_is(data), data, control=shoppers(3, 300)) for _ in range(2))
    assert outcome == two
    assert 0 <= outcome.baseline <= outcome.attempts
    assert outcome.control is not None


def test_json_round_trip_and_bad_input() -> None:
    assert SupportInference.model_validate_json(ATTACK.model_dump_json()) == ATTACK
    with pytest.raises(sf.PolicyError, match="k and min_support"):
        SupportInference().run(as_is(Patterns.of({}, 1)), shoppers())
    with pytest.raises(ValueError, match="k"):
        SupportInference(k=1)


def test_numbers_and_the_same_numbers_as_text_are_the_same_patterns() -> None:
    """A file of patterns names its items if one is negative, and reads them back as text."""
    chance = np.random.default_rng(1)
    lists = [[number for number in (1, 2, 3, -7) if chance.random() < 0.7] for _ in range(40)]
    originals, published = (sf.Baskets.of([[kind(item) for item in row] for row in lists]) for kind in (int, str))
    attack = SupportInference(k=12, min_support=9)
    same, other = (attack.run(as_is(data), originals) for data in (originals, published))
    assert same.attempts > 0
    assert (same.attempts, same.successes, same.baseline) == (other.attempts, other.successes, other.baseline)


class PeoplePatterns(PublishPatterns):
    """A method whose k is no number of people."""

    people: int

    @classmethod
    def find_crowd_thresholds(cls, parameters: Mapping[str, Any]) -> CrowdThresholds | None:
        return CrowdThresholds(parameters["people"], parameters["min_support"])


def test_k_is_what_the_method_states() -> None:
    data = shoppers()
    release = PublishPatterns(k=5, min_support=0.2, repair="none").protect(data)
    other = replace(release, method=PeoplePatterns(k=2, min_support=0.2, repair="none", people=5))
    assert SupportInference().run(other, data) == SupportInference().run(release, data) == ATTACK.run(release, data)
    with pytest.raises(PolicyError, match="give k and min_support"):
        SupportInference().run(replace(release, method=sf.EncodeItems(k=5)), data)
