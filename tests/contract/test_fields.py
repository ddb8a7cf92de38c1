# SPDX-License-Identifier: MIT
"""Another value of a field is another release that keeps its claims: no field is read by halves, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from pydantic import ValidationError

import sfumato as sf
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.releases import Made, make_once, released
from tests.contract.test_modes import list_options

QUIET = {
    ("add_noise", "exact_range"), ("encode_for_trees", "min_width"), ("encode_for_trees", "permute"),
    ("k_optimize", "suppress"), ("partition", "relaxed"), ("suppress_entries", "blanking_factor"),
    ("suppress_entries", "min_support"), ("suppress_entries", "prior"), ("swap_confidential", "group_share"),
    ("synthesize", "copies"),
}  # fmt: skip
"""Fields that make no difference to the data of their method's example; `tests/protect` gives them other values."""
SEARCHES = ("search", "seconds", "metric", "memory", "solver")
"""How something is searched may give the same."""


class OtherField(NamedTuple):
    """A method with another value in one of its fields."""

    example: Example
    """The example as it is."""
    field: str
    subject: sf.Method

    def __str__(self) -> str:
        """The name of the test."""
        return f"{self.example.name}: {self.field}"


def guess_others(value: Any, hint: Any) -> Iterator[Any]:
    """Other values that a field may take in place of a number, a choice or a word; none for anything else."""
    choices = [option for option in list_options(hint) if option != value]
    if choices:
        yield from choices
    elif isinstance(value, int):
        yield from (value * 2, value + 1)
    elif isinstance(value, float):
        yield from (value * 4, value / 2)
    elif isinstance(value, str):
        yield "zz another"
    elif isinstance(value, Mapping) and value and all(isinstance(part, int | float) for part in value.values()):
        yield {key: part * 0.9 for key, part in value.items()}


def list_other_fields() -> Iterator[OtherField]:
    """For the first example of each method, one other value of each field that is a number, a choice or a word.

    And for the first in which a field has numbers of columns, other numbers.
    """
    covered_fields: set[tuple[type, str]] = set()
    for example in METHOD_EXAMPLES:
        kind = type(example.subject)
        if example.subject.shape != "table" or example.subject.gives != "table":
            continue
        columns = example.data().frame.columns
        for field, information in kind.model_fields.items():
            value = getattr(example.subject, field)
            if field in ("method", *SEARCHES) or (example.subject.method, field) in QUIET or value in columns:
                continue
            if (kind, field) in covered_fields or value == {}:
                continue
            covered_fields.add((kind, field))
            for other in guess_others(value, information.annotation):
                try:
                    subject = kind.model_validate({**example.subject.model_dump(mode="json"), field: other})
                except (ValidationError, sf.SfumatoError):
                    continue
                yield OtherField(example, field, subject)
                break


def describe(release: sf.Release) -> list[tuple[str, float]]:
    """What claims promise."""
    return [(claim.property, float(claim.threshold)) for claim in release.claims]


def explain_unread(result: Made, other: sf.Release, field: str) -> str:
    """Whether another value of a field left the release as it was, or broke its claims, with the cure."""
    failures = [finding.title() for finding in sf.check(other, result.data) if not finding.holds]
    always = (
        [finding.title() for finding in sf.check(result.release, result.data) if not finding.holds] if failures else []
    )
    if always:
        return f"{'; '.join(always)} does not hold with the fields of its example either: repair that first"
    if failures:
        return (
            f"with another `{field}`, {'; '.join(failures)} does not hold: let `protect` and the claim read the field"
        )
    if other.data == result.release.data and describe(other) == describe(result.release):
        return (
            f"with another `{field}` it publishes and claims the same: let `protect` read the field, or choose data "
            "for its example in which it makes a difference"
        )
    return ""


OTHERS = tuple(list_other_fields())


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_another_value_of_a_field_is_another_release(other: OtherField) -> None:
    result = make_once(other.example)
    try:
        release = released(replace(other.example, subject=other.subject), result.data)
    except sf.SfumatoError:
        return
    wrong = explain_unread(result, release, other.field)
    assert not wrong, f"{type(other.subject).__name__}: {wrong}"


def list_outside_values(information: Any, value: Any) -> list[Any]:
    """Values that a number in a field should not have, or that are at the end of what it may have."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return []
    limits = [
        getattr(part, name) for part in information.metadata for name in ("ge", "gt", "le", "lt") if hasattr(part, name)
    ]
    return [*dict.fromkeys([-1, 0, *(type(value)(limit + step) for limit in limits for step in (-1, 0, 1))])]


def explain_outside_value(example: Example, field: str, value: Any) -> str:
    """How a method ends that has a value at an end or just outside in one of its fields, with the cure.

    Empty if it refuses the value, or publishes something.
    """
    kind, data = type(example.subject), make_once(example).data
    try:
        subject = kind.model_validate({**example.subject.model_dump(mode="json"), field: value})
        if value > MOST_TRIED:
            return ""
        release = released(replace(example, subject=subject), data)
    except (ValidationError, sf.SfumatoError):
        return ""
    except Exception as crash:
        return (
            f"`{field}` = {value} is accepted, and `protect` crashes ({crash!r}): limit the field, as in `{field}: "
            "int = Field(ge=1)`, or refuse it with a PolicyError that says which values are possible"
        )
    if isinstance(release.data, sf.Table) and not len(release.data):
        return (
            f"`{field}` = {value} is accepted, and no row of {len(data)} is published: limit the field, as in "
            f"`{field}: int = Field(ge=1)`, or refuse with an ImpossibleRelease that says which values leave rows"
        )
    return ""


MOST_TRIED = 10_000_000
"""Larger sizes that a field accepts are not tried: filters of sixteen million bits take ten seconds."""
FIRST_EXAMPLES = {type(example.subject): example for example in reversed(METHOD_EXAMPLES)}


@pytest.mark.parametrize("kind", FIRST_EXAMPLES, ids=lambda kind: kind.__name__)
def test_a_number_just_outside_is_refused(kind: type[sf.Method]) -> None:
    example = FIRST_EXAMPLES[kind]
    for field, information in kind.model_fields.items():
        if field not in SEARCHES:
            for value in list_outside_values(information, getattr(example.subject, field)):
                wrong = explain_outside_value(example, field, value)
                assert not wrong, f"{kind.__name__}: {wrong}"


def test_a_number_outside_that_crashes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    example = next(example for example in METHOD_EXAMPLES if example.name == "group rare values")
    assert explain_outside_value(example, "min_count", 0) == ""

    def divide(self: sf.GroupRareValues, data: sf.Table, randomness: Any = None) -> sf.Release:
        raise ZeroDivisionError

    protect = sf.GroupRareValues.protect

    def publish_nothing(self: sf.GroupRareValues, data: sf.Table, randomness: Any = None) -> sf.Release:
        release = protect(self, data, randomness)
        return replace(release, data=release.data.replace_frame(release.data.frame.clear()))

    monkeypatch.setattr(sf.GroupRareValues, "protect", divide)
    assert "is accepted, and `protect` crashes" in explain_outside_value(example, "min_count", 30)
    monkeypatch.setattr(sf.GroupRareValues, "protect", publish_nothing)
    assert "no row of 400 is published" in explain_outside_value(example, "min_count", 30)


def test_a_field_that_is_not_read_is_noticed() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "group rare values"))
    assert "publishes and claims the same" in explain_unread(result, result.release, "min_count")
    fields = {(type(other.subject).__name__, other.field) for other in OTHERS}
    assert {("GroupRareValues", "label"), ("TopCode", "floors"), ("RoundNumbers", "step")} <= fields
