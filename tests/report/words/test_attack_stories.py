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
    assert 'knows the person\'s "age", "zip" and "sex". ' in tell(
        attack="linking", known_columns=[["age", "zip", "sex"]]
    )
    assert 'knows the person\'s "zip". ' in tell(attack="linking", known_columns=[["zip"]])


def test_a_card_names_its_target() -> None:
    assert tell(attack="homogeneity", targets=["disease"]).startswith('Homogeneity: "disease". ')
    assert tell(attack="inference", targets=["sex"], known_columns=[["age", "zip"]]) == (
        'Inference: "sex". A colleague knows a person\'s "age" and "zip", and reads their "sex" off the most similar '
        "published row."
    )
    assert 'by "age" and "zip", finds' in tell(attack="similarity", targets=["sex"], known_columns=[["age", "zip"]])
    assert 'one "age", the other "sex" and "zip"' in tell(attack="linkability", known_columns=[["age"], ["sex", "zip"]])


def test_columns_that_may_not_leave_are_not_guessed() -> None:
    story = tell(attack="rule_inference", min_support=2)
    assert not any(name in story for name in ROLES)
    assert 'blank entries of "disease"' in tell(
        attack="rule_inference", targets=["disease"], columns={"disease": {"cells": 3}}
    )


STORIES = {kind.model_fields["attack"].default: kind.story for kind in ATTACKS if kind.story}


@pytest.mark.parametrize("tag", sorted(STORIES))
def test_stories_belong_to_attacks_and_can_be_told(tag: str) -> None:
    assert tag in TAGS
    targets = [] if tag == "linkability" else ["disease"]
    story = tell(
        {"public": {"disease": {"kind": "uniform", "scale": 1.0}}},
        attack=tag,
        targets=targets,
        known_columns=[["age"], ["zip"]],
    )
    parts = {part for _, part, _, _ in Formatter().parse(STORIES[tag]) if part}
    assert ("disease" in story.split(". ", 1)[1]) == bool({"target", "any"} & parts)
    assert "{" not in story


def test_long_lists_are_cut() -> None:
    assert join_columns([]) == ""
    assert join_columns(["a"]) == '"a"'
    assert join_columns([f"c{n}" for n in range(20)]).endswith('"c7" and 12 more')


LAWS = {
    "age": {"kind": "gaussian", "scale": 1.0},
    "pay": {"kind": "uniform", "scale": 1.0},
    "zip": {"kind": "discretize", "scale": 1.0},
    "born": {"kind": "intervals", "edges": [0, 5, 9]},
    "sex": {"kind": "k_ary", "p": 0.8, "q": 0.2, "categories": ["f", "m"]},
}


def test_only_columns_with_noise_are_called_noisy() -> None:
    """Of columns that were only cut into intervals, a story does not say that noise is removed from them."""
    body: dict[str, Any] = {"public": LAWS}
    likeliest = tell(body, attack="likeliest_value", targets=["age", "pay", "zip"])
    assert 'values of "age" and "pay" cluster' in likeliest
    assert likeliest.endswith('The release states no noise in "zip": each published number is taken as it is.')
    reveal = tell(body, attack="range_reveal", targets=["pay", "born"])
    assert reveal.startswith('Range reveal: "pay" and "born". ') and 'values of "pay" nobody has' in reveal
    assert 'no noise in "born":' in reveal


@pytest.mark.parametrize("tag", ["bayes_estimate", "likeliest_value", "spectral_filter", "range_reveal"])
def test_a_story_of_cut_columns_speaks_of_no_noise(tag: str) -> None:
    public = {"age": LAWS["born"], "zip": LAWS["born"], "sex": LAWS["sex"]}
    story = 'The release states no noise in "age" and "zip": each published number is taken as it is.'
    assert tell_attack({"attack": tag, "targets": ["age", "zip"]}, BODY | {"public": public})[1] == story
    assert 'no noise in "age":' in tell(attack=tag, targets=["age"])
