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
    def must_be_alone(self) -> bool:
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
        if message is not None and re.search(r"; put \w+ first, or", message):
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


@pytest.mark.parametrize(
    "sensitive_method",
    [
        sf.TopCode(columns=["pay"], k=2),
        sf.RoundNumbers(columns=["pay"], step=10),
        sf.AddNoise(columns="pay", privacy=0.5, ranges={"pay": (0, 100)}),
        sf.SwapConfidential(column="pay", share=0.5),
    ],
    ids=lambda method: str(method.method),
)
@pytest.mark.parametrize(
    "star_method",
    [sf.Generalize(models=[sf.KAnonymity(k=2)], suppression_limit=0.5), sf.KOptimize(k=2)],
    ids=lambda method: str(method.method),
)
def test_methods_of_sensitive_columns_are_told_about_stars(sensitive_method: Any, star_method: Any) -> None:
    """Both orders were refused with "give each method columns of its own", which they had."""
    table = sf.Table.of(
        {"age": [30, 40, 50, 60], "pay": [10, 20, 30, 40]}, roles={"age": "quasi_identifying", "pay": "sensitive"}
    )
    tag, kept_orders = str(star_method.method), 0
    starless = {"suppression_limit": 0} if isinstance(star_method, sf.Generalize) else {"suppress": False}
    for order in permutations((star_method, sensitive_method)):
        message = find_message(order, table)
        assert message is not None and f'{tag} empties "pay" in suppressed rows' in message
        settings = message.partition(f"let {tag} star no row (")[2].partition(")")[0]
        assert settings and set(re.findall(r"(\w+) = ", settings)) <= set(type(star_method).model_fields)
        put_first = re.search(r"put (\w+) first, and let", message)
        cured_order = sorted(order, key=lambda method: method.method != put_first[1]) if put_first else order
        may_drop = '"drop"' in message and isinstance(star_method, sf.Generalize)
        for update in (starless, *([{"suppressed_rows": "drop"}] if may_drop else [])):
            methods = [method.model_copy(update=update) if method is star_method else method for method in cured_order]
            assert find_message(methods, table) is None, message
        kept_orders += not put_first
    assert kept_orders
