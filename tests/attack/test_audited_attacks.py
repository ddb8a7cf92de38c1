# SPDX-License-Identifier: MIT
"""What an audit found wrong in the outcomes of attacks and in the sentences about them."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.workflow import attack_words


def describe(outcome: sf.attack.Outcome, attack: str = "linking") -> attack_words.AttackInWords:
    return attack_words.describe_attack({"attack": attack, **outcome.as_json()})


@pytest.mark.parametrize(
    ("attempts", "successes", "baseline"), [(100, 21, 1), (60, 18, 6), (400, 172, 92), (50, 11, 1), (5000, 1001, 1)]
)
def test_a_gain_of_exactly_twenty_points_is_alarming(attempts: int, successes: int, baseline: int) -> None:
    words = describe(sf.attack.Outcome(attempts, successes, baseline))
    assert words.alarming
    assert words.words == "alarming: 20 percentage points above guessing"


@pytest.mark.parametrize(
    ("attempts", "gained", "points"), [(200, 39, "19.5"), (10_000, 1_999, "19.99"), (100, 19, "19"), (1_000, 194, "19")]
)
def test_points_are_not_rounded_across_the_border(attempts: int, gained: int, points: str) -> None:
    words = describe(sf.attack.Outcome(attempts, gained, 0))
    assert not words.alarming
    assert words.words == f"{points} percentage points above guessing"
