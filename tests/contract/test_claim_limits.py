# SPDX-License-Identifier: MIT
"""What a release promises is set by the policy and the number of rows, never by what came out.

A limit computed from the outcome promises nothing: it holds whatever happened, and tells what happened. So every method
is run on its example and on other data with the same columns, values and counts; the limits must be the same.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.release import Claim, Release
from tests.contract.examples import METHOD_EXAMPLES, Example, market, people
from tests.contract.releases import released

STRATEGIES = (
    Example("islf", sf.HideItems(items=("nuts",), min_support=0.05, min_confidence=0.3, strategy="islf"), market),
    Example("dsrf", sf.HideItems(items=("nuts",), min_support=0.05, min_confidence=0.3, strategy="dsrf"), market),
    Example("swap all", sf.SwapConfidential(column="disease", share=1.0, search="random"), people),
)
SLOW = ("generalize, local", "synthesize")
"""Other examples of the same methods make the same claims."""
LAWS_OF_DATA = ("add noise, correlated",)
"""How much noise is added follows from the ranges of the columns, coarsely, and is public: who mines needs it."""
tried = [example for example in (*METHOD_EXAMPLES, *STRATEGIES) if example.name not in SLOW]
each = pytest.mark.parametrize("example", tried, ids=lambda example: example.name)
of_numbers = pytest.mark.parametrize(
    "example",
    [example for example in tried if example.subject.shape == "table" and example.name not in LAWS_OF_DATA],
    ids=lambda example: example.name,
)


def mix(data: Any) -> Any:
    """The same values as often as before, in other rows: nothing is left of what goes together."""
    chance = np.random.default_rng(5)
    if isinstance(data, sf.Table):
        columns = [column.gather(chance.permutation(len(data))) for column in data.frame.get_columns()]
        return data.with_frame(pl.DataFrame(columns))
    lists = data.to_lists()
    held = {item: chance.permutation([item in basket for basket in lists]) for item in data.items}
    return type(data).of([[item for item in held if held[item][row]] for row in range(len(lists))])


def lower_tops(table: sf.Table) -> sf.Table:
    """The same table, but the largest number of each column is its second largest."""
    lowered = []
    for column in table.frame.get_columns():
        values = column.drop_nulls().unique().sort()
        moved = column.dtype.is_numeric() and len(values) > 2
        lowered.append(column.replace(values[-1], values[-2]) if moved else column)
    return table.with_frame(pl.DataFrame(lowered))


def describe_claims(release: Release) -> list[tuple[Any, ...]]:
    """All that claims say."""
    return [(c.property, c.bound, c.threshold, c.meaning, dict(c.arguments)) for c in release.claims]


def list_limits(claims: tuple[Claim, ...]) -> dict[tuple[str, str], list[float]]:
    """The limits of each property, by the column it is about."""
    limits: dict[tuple[str, str], list[float]] = {}
    for claim in claims:
        limits.setdefault((claim.property, str(claim.arguments.get("column"))), []).append(float(claim.threshold))
    return limits


def find_differences(first: Release, second: Release) -> list[tuple[str, str]]:
    """The claims of both that promise different things."""
    ours, theirs = list_limits(first.claims), list_limits(second.claims)
    return [name for name in ours if name in theirs and ours[name] != theirs[name]]


@each
def test_limits_do_not_depend_on_the_outcome(example: Example) -> None:
    data = example.data()
    first = released(example, data)
    try:
        second = released(example, mix(data))
    except sf.ImpossibleRelease:
        pytest.skip("mixed rows cannot be protected")
    assert find_differences(first, second) == []


@of_numbers
def test_claims_say_nothing_of_the_largest_value(example: Example) -> None:
    data = example.data()
    told, others = (describe_claims(released(example, table)) for table in (data, lower_tops(data)))
    assert told == others, (
        "a threshold, a meaning or an argument of a claim was taken from the data, and leaves with the certificate: "
        "take it from the fields of the method"
    )


def test_a_claim_that_says_the_largest_value_is_noticed() -> None:
    data = people(100)

    def claim_largest(table: sf.Table) -> Release:
        meaning = f"No age is above {max(table.frame['age'].to_list())}."
        claim = Claim(property="k_anonymity", threshold=2, measure="k_anonymity", bound="at_least", meaning=meaning)
        return Release(table, None, (claim,), {})

    assert describe_claims(claim_largest(data)) != describe_claims(claim_largest(lower_tops(data)))


def test_mixing_keeps_values_and_changes_rows() -> None:
    """Otherwise the test above shows nothing."""
    table, baskets = people(), market()
    mixed, others = mix(table), mix(baskets)
    assert all(Counter(table.frame[name]) == Counter(mixed.frame[name]) for name in table.frame.columns)
    assert not table.frame.equals(mixed.frame) and others.to_lists() != baskets.to_lists()
    count = [Counter(item for basket in one.to_lists() for item in basket) for one in (baskets, others)]
    assert count[0] == count[1]


def test_a_limit_that_came_out_of_the_method_is_noticed() -> None:
    data = people(100)

    def claim_measured(table: sf.Table) -> Release:
        measured = table.frame.group_by("age", "disease").len()["len"].max()
        claim = Claim(property="largest_group", threshold=int(measured), measure="k_anonymity", bound="at_most")  # type: ignore[arg-type]
        return Release(table, None, (claim,), {})

    assert find_differences(claim_measured(data), claim_measured(mix(data))) == [("largest_group", "None")]
