# SPDX-License-Identifier: MIT
"""Which methods fit into one policy, in which order, and what the message says of those that do not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
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


TABLE_METHODS = (
    sf.SwapConfidential(column="ill", share=0.5),
    sf.Generalize(models=[sf.KAnonymity(k=2)]),
    sf.Generalize(models=[sf.KAnonymity(k=2)], suppression_limit=0.5, suppressed_rows="drop"),
    sf.Generalize(models=[sf.KAnonymity(k=2), sf.LDiversity(l=2, column="ill")]),
    sf.Partition(models=[sf.KAnonymity(k=2)]),
    sf.TopCode(columns=["age"], k=2),
    sf.RandomizeResponse(column="ill", p=0.7),
    sf.SuppressEntries(private={"columns": ["ill"]}, confidence=0.5),
)


def find_message(methods: Sequence[Method], table: sf.Table) -> str | None:
    try:
        refuse_misfits(methods, table)
    except sf.PolicyError as error:
        return str(error)
    return None


@pytest.mark.parametrize("missing", ["own_value", "drop"])
def test_no_message_recommends_an_order_that_is_refused_too(missing: Any) -> None:
    table = sf.Table.of(
        {"age": [30, 40, 50, 60], "ill": ["flu", "cold", "flu", "cold"]},
        roles={"age": "quasi_identifying", "ill": "sensitive"},
        missing=missing,
    )
    recommended = 0
    for first, second in permutations(TABLE_METHODS, 2):
        message = find_message([first, second], table)
        if message is not None and re.search(r"; put \w+ first", message):
            assert find_message([second, first], table) is None, message
            recommended += 1
    assert recommended


def test_two_methods_that_drop_rows_are_told_why() -> None:
    """Each message said to list the other method first."""
    table = sf.Table.of(
        {"age": [30, None], "ill": ["flu", "cold"]},
        roles={"age": "quasi_identifying", "ill": "sensitive"},
        missing="drop",
    )
    swap, generalize, dropping_generalize = TABLE_METHODS[:3]
    kept_rows = replace(table, missing=sf.Missing.OWN_VALUE)
    message = find_message([swap, generalize], table)
    assert message is not None and message.endswith('cells than "drop", such as own_value, or remove one of them')
    message = find_message([generalize, swap], table)
    assert message is not None and "such as own_value, and put swap_confidential first, or" in message
    assert find_message([swap, generalize], kept_rows) is None  # as both say
    assert find_message([generalize, swap], kept_rows) is not None
    message = find_message([swap, dropping_generalize], table)
    assert message is not None and message.endswith("cover; remove one of them")
