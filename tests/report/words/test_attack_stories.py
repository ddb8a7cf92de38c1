# SPDX-License-Identifier: MIT
"""Attack stories: they use the columns of the policy, name their target, and say no more than may leave."""

from __future__ import annotations

from string import Formatter
from typing import Any

import pytest

from sfumato.attack import ATTACKS
from sfumato.report.words.attack_stories import join_columns, tell_attack

ROLES = {"age": "quasi_identifying", "zip": "quasi_identifying", "sex": "quasi_identifying", "disease": "sensitive"}
BODY: dict[str, Any] = {"roles": ROLES, "public": {}, "claims": []}
TAGS = {kind.model_fields["attack"].default for kind in ATTACKS}


def tell(body: dict[str, Any] | None = None, **attack: Any) -> str:
    return ". ".join(tell_attack(attack, BODY | (body or {})))


def test_linking_names_what_the_neighbour_knows() -> None:
    assert "knows the person's age, zip and sex. " in tell(attack="linking", knowledge=None)
    assert "knows the person's zip. " in tell(attack="linking", knowledge=["zip"])


def test_a_card_names_its_target() -> None:
    assert tell(attack="homogeneity", column=None).startswith("Homogeneity: disease. ")
    assert tell(attack="inference", column="sex", known=["age", "zip"]) == (
        "Inference: sex. A colleague knows a person's age and zip, and reads their sex off the most similar published "
        "row."
    )
    assert "by age and zip, finds" in tell(attack="similarity", column="sex")  # it is not known and guessed at once
    assert "one age, the other sex and zip" in tell(attack="linkability", known=[["age"], ["sex", "zip"]])


def test_randomized_and_swapped_columns_are_targets_without_being_named() -> None:
    public = {"age": {"kind": "gaussian"}, "disease": {"kind": "k_ary"}}
    assert tell({"public": public}, attack="bayes_estimate", columns=None).startswith("Bayes estimate: age. ")
    assert tell({"public": public}, attack="likeliest_answer", column=None).startswith("Likeliest answer: disease. ")
    changes = [{"column": "disease", "kind": "swapped"}, {"column": "age", "kind": "capped"}]
    assert "reads disease there" in tell({"changes": changes}, attack="swap_linkage", column=None, knowledge=None)


def test_columns_that_may_not_leave_are_not_guessed() -> None:
    story = tell(attack="rule_inference", min_support=2)
    assert not any(name in story for name in ROLES)
    assert "blank entries of disease" in tell(attack="rule_inference", columns={"disease": {"cells": 3}})


STORIES = {kind.model_fields["attack"].default: kind.story for kind in ATTACKS if kind.story}


@pytest.mark.parametrize("tag", sorted(STORIES))
def test_stories_belong_to_attacks_and_can_be_told(tag: str) -> None:
    assert tag in TAGS
    options: dict[str, Any] = {"known": [["age"], ["zip"]]} if tag == "linkability" else {"column": "disease"}
    story = tell(attack=tag, **options)
    parts = {part for _, part, _, _ in Formatter().parse(STORIES[tag]) if part}
    assert ("disease" in story.split(". ", 1)[1]) == bool({"target", "any"} & parts)
    assert "{" not in story


def test_long_lists_are_cut() -> None:
    assert join_columns([]) == ""
    assert join_columns(["a"]) == "a"
    assert join_columns([f"c{n}" for n in range(20)]).endswith("c7 and 12 more")


LAWS = {
    "age": {"kind": "gaussian"},
    "pay": {"kind": "uniform"},
    "zip": {"kind": "discretize"},
    "born": {"kind": "intervals"},
    "sex": {"kind": "k_ary"},
}


def test_only_columns_with_noise_are_called_noisy() -> None:
    """Of a release with noise, the columns that were only cut into intervals are no targets."""
    body: dict[str, Any] = {"public": LAWS}
    assert tell(body, attack="bayes_estimate", columns=None).startswith("Bayes estimate: age, pay and zip. ")
    likeliest = tell(body, attack="likeliest_value", columns=None)
    assert "values of age and pay cluster" in likeliest
    assert likeliest.endswith("The release states no noise in zip: each published number is taken as it is.")
    reveal = tell(body, attack="range_reveal", columns=["age", "pay", "born"])
    assert reveal.startswith("Range reveal: pay and born. ") and "values of pay nobody has" in reveal
    assert "no noise in born:" in reveal
    assert tell(body, attack="range_reveal", columns=None).startswith("Range reveal: pay and zip. ")


@pytest.mark.parametrize("tag", ["bayes_estimate", "likeliest_value", "spectral_filter", "range_reveal"])
def test_a_story_of_cut_columns_speaks_of_no_noise(tag: str) -> None:
    public = {"age": {"kind": "intervals"}, "zip": {"kind": "intervals"}, "sex": {"kind": "k_ary"}}
    story = "The release states no noise in age and zip: each published number is taken as it is."
    assert tell_attack({"attack": tag, "columns": None}, BODY | {"public": public})[1] == story
    assert tell_attack({"attack": tag, "columns": ["age", "zip"]}, BODY | {"public": public})[1] == story
    assert "no noise in age:" in tell(attack=tag, columns=["age"])
