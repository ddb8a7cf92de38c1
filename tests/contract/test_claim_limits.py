# SPDX-License-Identifier: MIT
"""What a release promises is set by the policy and the number of rows, never by what came out.

A limit computed from the outcome promises nothing: it holds whatever happened, and tells what happened. So every method
is run on its example and on other data with the same columns, values and counts; the limits must be the same. And each
limit is one of the method's fields, or was computed by hand: its sentence and its check may be wrong in the same way.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.details import Details
from sfumato.protect import METHODS
from sfumato.published_law import read_laws
from sfumato.release import Claim, Release
from tests.contract.claim_words import list_numbers
from tests.contract.examples import METHOD_EXAMPLES, Example, market, people
from tests.contract.releases import Made, make_all, make_once, released
from tests.contract.test_missing_cells import list_changed, remove_cells

STRATEGIES = (
    Example("islf", sf.HideItems(items=("nuts",), min_support=0.05, min_confidence=0.3, strategy="islf"), market),
    Example("dsrf", sf.HideItems(items=("nuts",), min_support=0.05, min_confidence=0.3, strategy="dsrf"), market),
    Example("swap all", sf.SwapConfidential(column="disease", share=1.0, search="random"), people),
)
SLOW = ("generalize, local", "synthesize")
"""Other examples of the same methods make the same claims."""
LAWS_OF_DATA = ("add noise, correlated",)
"""How much noise is added follows from the ranges of the columns, coarsely, and is public: who mines needs it."""
examples = [example for example in (*METHOD_EXAMPLES, *STRATEGIES) if example.name not in SLOW]
parametrize_examples = pytest.mark.parametrize("example", examples, ids=lambda example: example.name)
of_numbers = pytest.mark.parametrize(
    "example",
    [example for example in examples if example.subject.shape == "table" and example.name not in LAWS_OF_DATA],
    ids=lambda example: example.name,
)


_LONGER = " longer"


def mix(data: Any) -> Any:
    """The same values as often as before, in other rows: nothing is left of what goes together."""
    chance = np.random.default_rng(5)
    if isinstance(data, sf.Table):
        columns = [column.gather(chance.permutation(len(data))) for column in data.frame.get_columns()]
        return data.replace_frame(pl.DataFrame(columns))
    lists = data.to_lists()
    item_columns = {item: chance.permutation([item in basket for basket in lists]) for item in data.items}
    return type(data).of([[item for item in item_columns if item_columns[item][row]] for row in range(len(lists))])


def lower_tops(table: sf.Table) -> sf.Table:
    """The same table, but the largest number or date of each column is its second largest."""
    lowered = []
    for column in table.frame.get_columns():
        values = column.drop_nulls().unique().sort()
        moved = (column.dtype.is_numeric() or column.dtype == pl.Date) and len(values) > 2
        lowered.append(column.replace(values[-1], values[-2]) if moved else column)
    return table.replace_frame(pl.DataFrame(lowered))


def lengthen_texts(table: sf.Table) -> sf.Table:
    """The same table with seven more characters at the end of every text, in its hierarchies too."""
    longer = table.frame.with_columns(pl.col(pl.String) + _LONGER)
    texts = set(table.frame.select(pl.col(pl.String)).columns)
    hierarchies = {
        name: Hierarchy.of([(row[0] + _LONGER, *row[1:]) for row in hierarchy.rows], name)
        if name in texts
        else hierarchy
        for name, hierarchy in table.hierarchies.items()
    }
    return sf.Table.of(longer, dict(table.roles), hierarchies)


def shorten_texts(table: sf.Table) -> sf.Table:
    """The same table with the first letter of every text, without hierarchies of texts."""
    short = table.frame.with_columns(pl.col(pl.String).str.slice(0, 1))
    texts = set(table.frame.select(pl.col(pl.String)).columns)
    hierarchies = {name: hierarchy for name, hierarchy in table.hierarchies.items() if name not in texts}
    return sf.Table.of(short, dict(table.roles), hierarchies)


def describe_claims(release: Release) -> list[tuple[Any, ...]]:
    """All that claims say."""
    return [(c.property, c.bound, c.threshold, c.meaning, dict(c.arguments)) for c in release.claims]


def describe_laws(release: Release) -> dict[str, Any]:
    """The published laws of chance, but for those that say that they were taken from the data."""
    return {name: dict(law) for name, law in release.public.items() if law.get("domain") != "data"}


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


def list_other_sizes(table: sf.Table) -> Iterator[sf.Table]:
    """The first rows of a table, some of its rows, and each of its rows twice."""
    size = len(table)
    for rows in ([0], range(12), range(0, size, 3), [*range(size), *range(size)]):
        yield table.replace_frame(table.frame[[row for row in rows if row < size]])


def find_sized_limits(example: Example, first: Release) -> list[tuple[str, str]]:
    """Claims whose limits follow how many rows there are, or how many are alike; a number of rows is no such limit."""
    differences, data = [], example.data()
    size_claims = {name for name, limits in list_limits(first.claims).items() if {*limits} == {float(len(data))}}
    for table in list_other_sizes(data):
        try:
            second = released(example, table)
        except sf.SfumatoError:
            continue
        differences += [name for name in find_differences(first, second) if name not in size_claims]
    by_law = BY_LAW.get(example.subject.method, set())
    return [name for name in differences if name[0] not in by_law]


@parametrize_examples
def test_limits_do_not_depend_on_the_outcome(example: Example) -> None:
    data = example.data()
    first = released(example, data)
    if isinstance(data, sf.Table) and not example.subject.draws_rows(example.subject.describe()):
        sized_limits = find_sized_limits(example, first)
        assert sized_limits == [], (
            f"{type(example.subject).__name__}: the threshold of {sized_limits} is another for fewer rows, or for each "
            "row twice: take it from the fields of the method, never from counts of the data"
        )
    try:
        second = released(example, mix(data))
    except sf.ImpossibleRelease:
        pytest.skip("mixed rows cannot be protected")
    assert find_differences(first, second) == []


@of_numbers
def test_claims_say_nothing_of_the_largest_value(example: Example) -> None:
    data = example.data()
    first, second = (released(example, table) for table in (data, lower_tops(data)))
    assert describe_claims(first) == describe_claims(second), (
        "a threshold, a meaning or an argument of a claim was taken from the data, and leaves with the certificate: "
        "take it from the fields of the method"
    )
    assert describe_laws(first) == describe_laws(second), (
        "a law of `details.public` was taken from the data, and leaves with the certificate: take it from the fields "
        'of the method; or let the policy allow it, and say "domain": "data" in the law'
    )


@of_numbers
def test_claims_say_nothing_of_how_many_cells_are_missing(example: Example) -> None:
    data = example.data()
    changed = list_changed(make_once(example))
    try:
        first, second = (released(example, remove_cells(data, changed, step)) for step in (9, 5))
    except sf.SfumatoError:
        pytest.skip("it refuses missing cells")
    # What chance may do depends on how many cells it changed, and these are published.
    by_law = BY_LAW.get(example.subject.method, set())
    data_columns = {
        name for name, law in first.public.items() if law.get("domain") == "data"
    }  # cuts of the data are published
    ours, theirs = (
        [
            claim
            for claim in describe_claims(release)
            if claim[0] not in by_law and claim[-1].get("column") not in data_columns
        ]
        for release in (first, second)
    )
    assert ours == theirs, (
        "a threshold, a meaning or an argument of a claim tells how many cells are missing, and leaves with the "
        "certificate: take it from the fields of the method"
    )


@of_numbers
def test_claims_say_nothing_of_how_long_texts_are(example: Example) -> None:
    data = example.data()
    try:
        second = released(example, lengthen_texts(data))
    except sf.SfumatoError:
        pytest.skip("it names values, which the longer texts are not")
    first = released(example, data)
    assert find_longer_claims(first, second) == [], (
        "a threshold, a meaning or an argument of a claim depends on how long texts are, and leaves with the "
        "certificate: take it from the fields of the method"
    )
    laws = [json.dumps(describe_laws(release), default=str).replace(_LONGER, "") for release in (first, second)]
    assert laws[0] == laws[1], (
        "a law of `details.public` depends on how long texts are, and leaves with the certificate: take it from the "
        "fields of the method"
    )


@of_numbers
def test_limits_are_the_same_where_texts_are_short(example: Example) -> None:
    """A limit that is measured in what was published would follow them."""
    data = example.data()
    try:
        second = released(example, shorten_texts(data))
    except sf.SfumatoError:
        pytest.skip("it names values, which the first letters are not, or a hierarchy has none for them")
    by_law = BY_LAW.get(example.subject.method, set())
    other_limits = [name for name in find_differences(released(example, data), second) if name[0] not in by_law]
    assert other_limits == [], (
        f"the threshold of {other_limits} is another where texts have one letter: take it from the fields of the "
        "method, not from what was published"
    )


def find_longer_claims(first: Release, second: Release) -> list[tuple[Any, ...]]:
    """Claims that say other things where texts are longer, but for the texts."""
    claim_lists = [
        json.loads(json.dumps(describe_claims(release), default=str).replace(_LONGER, ""))
        for release in (first, second)
    ]
    return [claim for claim in claim_lists[1] if claim not in claim_lists[0]]


BY_LAW = {
    "add_noise": {
        "noise_privacy", "noise_law", "unchanged_cells", "noise_centre", "noise_dependence", "noise_shape",
        "interval_privacy", "cut_privacy",
    },
    "randomize_response": {"epsilon", "epsilon_in_all", "answers_off_channel"},
    "randomize_baskets": {"epsilon", "epsilon_in_all", "amplification", "items_off_channel"},
}  # fmt: skip
"""Limits that follow from a law of chance; `tests/protect/noise` and `tests/protect/answers` compute them anew."""


def explain_strange_limit(result: Made, claim: Claim) -> str:
    """Why a threshold is not what the policy asks for, and the cure; empty if it is."""
    example = result.example
    expected_limit = example.limits.get(claim.property)
    if expected_limit is not None:
        same = abs(float(claim.threshold) - expected_limit) < 1e-9
        return (
            ""
            if same
            else f"is {claim.threshold:g}, and by hand it is {expected_limit:g}: repair the one that is wrong"
        )
    fields = list_numbers(example.subject.model_dump(mode="json"))
    known_numbers = (0.0, float(len(result.data)), float(len(result.release.data)), *fields)
    if any(abs(float(claim.threshold) - number) < 1e-12 for number in known_numbers):
        return ""
    return (
        f"is {claim.threshold:g}, which is no number of the method's fields: promise what the policy asks for; if "
        f'another number follows from the fields, compute it by hand in limits={{"{claim.property}": …}} of the '
        "example (tests/contract/examples.py)"
    )


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_a_limit_is_a_field_or_computed_by_hand(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for claim in result.release.claims:
            wrong = explain_strange_limit(result, claim)
            assert not wrong or claim.property in BY_LAW.get(result.example.subject.method, ()), (
                f'{kind.__name__}, example "{result.example.name}": the threshold of "{claim.property}" {wrong}'
            )


def test_a_limit_that_is_laxer_in_words_too_is_noticed() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "group rare values"))
    claim = result.release.claims[0]
    assert explain_strange_limit(result, claim) == "" and "20" in claim.meaning
    lax = claim.model_copy(update={"threshold": 2, "meaning": claim.meaning.replace("20", "2")})
    assert "no number of the method's fields" in explain_strange_limit(result, lax)
    by_hand = result._replace(example=replace(result.example, limits={claim.property: 20.0}))
    assert "by hand it is 20" in explain_strange_limit(by_hand, lax)


def test_a_claim_that_says_the_largest_value_is_noticed() -> None:
    data = people(100)

    def claim_largest(table: sf.Table) -> Release:
        meaning = f"No age is above {max(table.frame['age'].to_list())}."
        claim = Claim(property="k_anonymity", threshold=2, measure="k_anonymity", bound="at_least", meaning=meaning)
        return Release(table, None, (claim,), {})

    assert describe_claims(claim_largest(data)) != describe_claims(claim_largest(lower_tops(data)))


def test_a_law_that_says_the_largest_value_is_noticed() -> None:
    data = people(100)

    def publish_range(table: sf.Table, domain: str) -> Release:
        law = {"kind": "uniform", "scale": 1.0, "domain": domain, "range": [0, max(table.frame["age"].to_list())]}
        return Release(table, None, (), {}, Details(public=read_laws({"age": law})))

    assert describe_laws(publish_range(data, "given")) != describe_laws(publish_range(lower_tops(data), "given"))
    assert describe_laws(publish_range(data, "data")) == {}


def test_a_claim_that_says_how_long_texts_are_is_noticed() -> None:
    data = people(100)

    def claim_longest(table: sf.Table) -> Release:
        longest = int(table.frame["disease"].str.len_chars().max())  # type: ignore[arg-type]
        claim = Claim(property="k_anonymity", threshold=longest, measure="k_anonymity", bound="at_least", meaning="")
        return Release(table, None, (claim,), {})

    assert len(find_longer_claims(claim_longest(data), claim_longest(lengthen_texts(data)))) == 1
    assert find_longer_claims(claim_longest(data), claim_longest(mix(data))) == []


def test_mixing_keeps_values_and_changes_rows() -> None:
    """Otherwise the test above shows nothing."""
    table, baskets = people(), market()
    mixed, mixed_baskets = mix(table), mix(baskets)
    assert all(Counter(table.frame[name]) == Counter(mixed.frame[name]) for name in table.frame.columns)
    assert not table.frame.equals(mixed.frame) and mixed_baskets.to_lists() != baskets.to_lists()
    count = [
        Counter(item for basket in basket_set.to_lists() for item in basket) for basket_set in (baskets, mixed_baskets)
    ]
    assert count[0] == count[1]


def test_a_limit_that_came_out_of_the_method_is_noticed() -> None:
    data = people(100)

    def claim_measured(table: sf.Table) -> Release:
        measured = table.frame.group_by("age", "disease").len()["len"].max()
        claim = Claim(property="largest_group", threshold=int(measured), measure="k_anonymity", bound="at_most")  # type: ignore[arg-type]
        return Release(table, None, (claim,), {})

    assert find_differences(claim_measured(data), claim_measured(mix(data))) == [("largest_group", "None")]
