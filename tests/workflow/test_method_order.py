# SPDX-License-Identifier: MIT
"""What a method says about the methods that it may follow on data without columns."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import pytest

import sfumato as sf
from sfumato.protect.method import Method
from sfumato.randomness import Randomness
from sfumato.workflow.policy_parts.method_order import refuse_misfits

BASKETS = sf.Baskets.of([{"a", "b"}, {"b", "c"}])
RULES = sf.HideRules(rules=("a ==> b",), min_support=1, min_confidence=0.5)
ITEMS = sf.HideItems(items=("b",), min_support=1, min_confidence=0.5)


class Repeat(Method):
    """A third method on baskets, which says nothing about others."""

    shape: ClassVar[str] = "baskets"
    gives: ClassVar[str] = "baskets"
    method: Literal["repeat"] = "repeat"

    @property
    def alone(self) -> bool:
        return False

    def protect(self, data: Any, randomness: Randomness | None = None) -> sf.Release:
        raise NotImplementedError


class Append(Repeat):
    """One that may follow any other."""

    method: Literal["append"] = "append"  # type: ignore[assignment]

    def explain_misfit(self, earlier: Method) -> str | None:
        return None


def test_a_method_that_says_nothing_is_not_told_about_hiding() -> None:
    """It was told that it could bring back what was hidden, and to hide rules first."""
    with pytest.raises(sf.PolicyError, match="repeat cannot follow hide_items: nothing says that it keeps"):
        refuse_misfits([ITEMS, Repeat()], BASKETS)


def test_a_method_says_what_it_may_follow() -> None:
    refuse_misfits([RULES, ITEMS], BASKETS)
    refuse_misfits([RULES, Append()], BASKETS)
    with pytest.raises(sf.PolicyError, match=r"hide_rules cannot follow hide_items: .*hide rules first"):
        refuse_misfits([ITEMS, RULES], BASKETS)
