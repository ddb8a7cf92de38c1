# SPDX-License-Identifier: MIT
"""What every attack must do: succeed when the release is the original, fail on pure noise."""

from __future__ import annotations

from string import Formatter
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attack import ATTACKS
from sfumato.fields.field_docs import find_field_doc
from tests.contract.examples import ATTACK_EXAMPLES, Example

parametrize_examples = pytest.mark.parametrize("example", ATTACK_EXAMPLES, ids=lambda example: example.name)


def as_is(data: Any) -> sf.Release:
    return sf.Release(data, None, (), {})


def noise(data: Any) -> sf.Release:
    """Rows drawn column by column, or baskets and sequences filled at random, with no person behind them."""
    chance = np.random.default_rng(5)
    if isinstance(data, sf.Sequences):
        lengths = np.diff(data.offsets)
        return sf.Release(
            sf.Sequences.of([[data.items[code] for code in chance.integers(0, len(data.items), n)] for n in lengths]),
            None,
            (),
            {},
        )
    if isinstance(data, sf.Baskets):
        purchases = chance.random((len(data), len(data.items))) < 0.5
        random_baskets = [[data.items[code] for code in np.flatnonzero(row)] for row in purchases]
        return sf.Release(sf.Baskets.of(random_baskets), None, (), {})
    columns = [
        data.frame[name].gather(chance.integers(0, len(data), len(data))).alias(name) for name in data.frame.columns
    ]
    return sf.Release(data.replace_frame(pl.DataFrame(columns)), None, (), {})


@parametrize_examples
def test_json_round_trip(example: Example) -> None:
    kind = type(example.subject)
    assert kind.model_validate_json(example.subject.model_dump_json()) == example.subject


@parametrize_examples
def test_it_succeeds_on_the_original(example: Example) -> None:
    data = example.data()
    outcome = example.subject.run(as_is(data), data)
    if isinstance(data, sf.Table):
        assert outcome.attempts == min(getattr(example.subject, "attempts", len(data)), len(data))
    assert outcome.attempts > 0
    assert outcome.low > 0.5
    known_names = {name for party in outcome.known_columns for name in party}
    assert len(set(outcome.targets)) == len(outcome.targets), "a column is guessed once: verify refuses others"
    assert known_names.isdisjoint(outcome.targets), "what an attacker knows is not guessed: verify refuses it"


@parametrize_examples
def test_it_fails_on_noise(example: Example) -> None:
    data = example.data()
    outcome = example.subject.run(noise(data), data)
    # Of yes and no, or of a handful of rules, noise hits some: no more than blind guessing does.
    blind = 0.0 if isinstance(data, sf.Table) else outcome.baseline / max(outcome.attempts, 1)
    assert outcome.risk < 0.02 or outcome.low <= blind


@parametrize_examples
def test_outcomes_repeat(example: Example) -> None:
    data = example.data()
    assert example.subject.run(as_is(data), data) == example.subject.run(as_is(data), data)


@parametrize_examples
def test_counts_make_sense(example: Example) -> None:
    data = example.data()
    outcome = example.subject.run(as_is(data), data, control=example.data())
    assert 0 <= outcome.successes <= outcome.attempts
    assert 0 <= outcome.baseline <= outcome.attempts
    assert outcome.control is not None
    assert outcome.low <= outcome.risk <= outcome.high
    assert {"attempts", "successes", "risk", "low", "high", "baseline", "control"} <= set(outcome.as_json())


@parametrize_examples
def test_the_outcome_states_what_was_guessed_and_known(example: Example) -> None:
    """The verdict names the sensitive columns that no attack guessed, and the report what the attacker knew."""
    data, attack = example.data(), example.subject
    outcome = attack.run(as_is(data), data)
    if not isinstance(data, sf.Table):
        assert (outcome.targets, outcome.known_columns) == ((), ())
        return
    names = set(data.frame.columns)
    known_columns = {name for side in outcome.known_columns for name in side}
    assert set(outcome.targets) <= names and known_columns <= names and not known_columns & set(outcome.targets)
    columns = attack.list_named_columns()
    aims = {name for field in ("column", "columns") for name in columns.get(field, ())}
    assert not aims or aims == set(outcome.targets), "state in Outcome(targets=...) the columns that were guessed"
    if {"column", "columns"} & set(type(attack).model_fields):
        assert outcome.targets, "state in Outcome(targets=...) the columns that were guessed"
    parts = {part for _, part, _, _ in Formatter().parse(attack.story) if part}
    assert not parts & {"known", "others"} or known_columns, "its story needs Outcome(known_columns=...)"
    if "max_record_risk" in attack.gates:
        assert outcome.highest_risk is not None, "the gate max_record_risk needs Outcome(highest_risk=...)"


@pytest.mark.parametrize("kind", ATTACKS)
def test_labels_are_about_its_own_public_fields(kind: type[sf.Attack]) -> None:
    assert set(kind.report_labels) <= set(kind.public_fields), "label public fields: the signed report prints them"


@pytest.mark.parametrize("kind", ATTACKS)
def test_every_field_is_documented(kind: type[sf.Attack]) -> None:
    undocumented = [name for name in kind.model_fields if not find_field_doc(kind, name) and name != "attack"]
    assert undocumented == []
    assert len(kind.__doc__ or "") > 200
