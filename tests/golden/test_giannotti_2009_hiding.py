# SPDX-License-Identifier: MIT
"""Hiding rules by confidence and support (Dasseni et al. 2001): the example of Giannotti et al. (2009), and errata."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sfumato.baskets import Baskets
from sfumato.errors import ImpossibleRelease
from sfumato.protect.baskets.hide_rules import HideRules
from tests import brute_baskets

ROWS = [list("ABC"), list("ABC"), list("AC"), list("A"), list("B")]


def confidence(baskets: list[list[str]], left: str, right: str) -> Fraction:
    return Fraction(brute_baskets.support(baskets, left + right), brute_baskets.support(baskets, left))


def hide_rules(strategy: str, min_confidence: float = 0.8, rows: list[list[str]] = ROWS) -> list[list[str]]:
    method = HideRules(
        rules="A,B ==> C",
        min_support=0.2,
        min_confidence=min_confidence,
        strategy=strategy,
    )
    published: list[list[str]] = method.protect(Baskets.of(rows)).data.to_lists()
    return published


def test_the_slides_before() -> None:
    assert confidence(ROWS, "AB", "C") == 1
    assert confidence(ROWS, "BC", "A") == 1


def test_1a_adds_b_to_t4() -> None:
    published = hide_rules("1a")
    assert published == [list("ABC"), list("ABC"), list("AC"), list("AB"), list("B")]
    assert confidence(published, "AB", "C") == Fraction(2, 3)
    assert confidence(published, "BC", "A") == 1


def test_1b_removes_c_from_t1() -> None:
    published = hide_rules("1b")
    assert published == [list("AB"), list("ABC"), list("AC"), list("A"), list("B")]
    assert confidence(published, "AB", "C") == Fraction(1, 2)
    assert confidence(published, "BC", "A") == 1


@pytest.mark.parametrize("strategy", ["1b", "2a", "joint", "exact"])
def test_at_the_threshold_is_not_below_it(strategy: str) -> None:
    """Half the confidence is what one removal gives; at a threshold of one half a second one is needed."""
    published = hide_rules(strategy, 0.5)
    whole, premise_support = brute_baskets.support(published, "ABC"), brute_baskets.support(published, "AB")
    assert whole < 1 or Fraction(whole, premise_support) < Fraction(1, 2)


def test_1a_at_the_threshold_needs_a_third_basket() -> None:
    """2/3 at a threshold of 0.5 takes AB in three more baskets: T4, T5 and no other lack C."""
    with pytest.raises(ImpossibleRelease, match="3 baskets, but only 2 could"):
        hide_rules("1a", 0.5)
    published = hide_rules("1a", 0.5, [*ROWS, list("A")])
    assert confidence(published, "AB", "C") == Fraction(2, 5)
