# SPDX-License-Identifier: MIT
"""What every method must do."""

from __future__ import annotations

import copy
import pickle

import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.protect.k_optimize import KOptimize as _K
from sfumato.protect.microaggregate import Microaggregate as _M
METHODS = (_K, _M)
from sfumato.randomness import Randomness
from tests.contract.examples import Example, people
from sfumato.protect.k_optimize import KOptimize
from sfumato.protect.microaggregate import Microaggregate
from sfumato.data.population import population, population_hierarchies, population_roles

def few():
    roles = dict(population_roles()) | dict.fromkeys(("zip", "education", "occupation"), "insensitive")
    return sf.Table.of(population(400, 7), roles, population_hierarchies())

METHOD_EXAMPLES = (Example("k_optimize", KOptimize(k=5, seconds=None), few), Example("k_optimize cm", KOptimize(k=4, metric="classification", target="salary_level", suppress=False, seconds=None), few), Example("microaggregate", Microaggregate(k=3), people), Example("micro fast", Microaggregate(k=4, search="fast", centre="median"), people))

each = pytest.mark.parametrize("example", METHOD_EXAMPLES, ids=lambda example: example.name)


def test_every_method_has_an_example() -> None:
    assert {type(example.subject) for example in METHOD_EXAMPLES} == set(METHODS)


@each
def test_json_round_trip(example: Example) -> None:
    kind = type(example.subject)
    assert kind.model_validate_json(example.subject.model_dump_json()) == example.subject


@each
def test_the_input_is_not_changed(example: Example) -> None:
    data = example.data()
    before = copy.deepcopy(data.frame)
    example.subject.protect(data, randomness=Randomness.seeded(1))
    assert data.frame.equals(before)


@each
def test_same_chance_same_release(example: Example) -> None:
    one = example.subject.protect(example.data(), randomness=Randomness.seeded(1))
    two = example.subject.protect(example.data(), randomness=Randomness.seeded(1))
    assert one.data == two.data
    assert one.losses == two.losses


@each
def test_no_column_or_index_is_added(example: Example) -> None:
    data = example.data()
    release = example.subject.protect(data)
    expected = [name for name in data.frame.columns if name not in data.identifying]
    assert release.data.frame.columns == expected
    assert len(release.data) <= len(data)
    assert set(release.data.roles) == set(expected)


@each
def test_claims_hold_by_independent_measures(example: Example) -> None:
    data = example.data()
    findings = sf.check(example.subject.protect(data), data)
    assert findings
    assert all(found.holds for found in findings)


@each
def test_claims_can_break(example: Example) -> None:
    """A release that was not made by the method does not keep its claims: the originals themselves."""
    data = example.data()
    release = example.subject.protect(data)
    forged = sf.Release(data, release.method, release.claims, release.losses, {"rows": range(len(data))})
    assert not all(found.holds for found in sf.check(forged, data))


@each
def test_losses_and_details_are_named(example: Example) -> None:
    release = example.subject.protect(example.data())
    assert {"loss", "discernibility", "height", "average_class_size", "suppressed_rows"} <= set(release.losses)
    assert {"levels", "rows"} <= set(release.details)
    assert len(release.details["rows"]) == len(release.data)


@each
def test_an_empty_table_is_refused(example: Example) -> None:
    data = example.data()
    with pytest.raises(sf.SfumatoError):
        example.subject.protect(data.with_frame(data.frame.clear()))


@each
def test_a_table_without_roles_is_refused(example: Example) -> None:
    with pytest.raises(sf.DataError, match="no roles are given"):
        example.subject.protect(sf.Table.of(example.data().frame))


@each
def test_the_release_can_be_pickled_and_shows_no_cell(example: Example) -> None:
    """Notebooks and process pools pickle; logs print."""
    data = example.data()
    release = example.subject.protect(data)
    assert pickle.loads(pickle.dumps(release.data.frame)).equals(release.data.frame)
    shown = repr(data)
    assert not any(str(name) in shown for name in data.frame["name"].to_list())


@pytest.mark.parametrize("kind", METHODS)
def test_every_field_is_documented(kind: type[sf.Method]) -> None:
    undocumented = [name for name, field in kind.model_fields.items() if not field.description and name != "method"]
    assert undocumented == []
    doc = kind.__doc__ or ""
    for word in ("Guarantee:", "Against:", "Limits:", "Papers:"):
        assert word in doc


@each
def test_unknown_fields_are_refused_and_values_not_echoed(example: Example) -> None:
    described = example.subject.model_dump(mode="json") | {"zzsecret": "zzvaluezz"}
    with pytest.raises(ValidationError) as caught:
        type(example.subject).model_validate(described)
    assert "zzvaluezz" not in str(caught.value)


@each
def test_it_cannot_be_changed(example: Example) -> None:
    field = next(iter(type(example.subject).model_fields))
    with pytest.raises(ValidationError):
        setattr(example.subject, field, None)
