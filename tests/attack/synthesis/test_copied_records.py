# SPDX-License-Identifier: MIT
"""Copied records, and the other attacks, on synthetic data with people set aside as control."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.synthesis.copied_records import CopiedRecords
from sfumato.data.generators.population import build_population_hierarchies, generate_population, list_population_roles
from sfumato.protect.synthesis.synthesize import Synthesize


def people(size: int = 400, seed: int = 7) -> sf.Table:
    return sf.Table.of(generate_population(size, seed), list_population_roles(), build_population_hierarchies())


def as_is(table: sf.Table) -> sf.Release:
    return sf.Release(table, None, (), {})


def noise(table: sf.Table) -> sf.Release:
    chance = np.random.default_rng(5)
    columns = [table.frame[n].gather(chance.integers(0, len(table), len(table))).alias(n) for n in table.frame.columns]
    return as_is(table.replace_frame(pl.DataFrame(columns)))


def synthetic(table: sf.Table, holdout: float = 0.5, **settings: Any) -> sf.Release:
    return Synthesize(holdout=holdout, **settings).protect(table, sf.Randomness.seeded(2))


def sides(release: sf.Release, table: sf.Table) -> tuple[sf.Table, sf.Table]:
    """The people learned from, and those set aside."""
    training_side, aside = (table.replace_frame(table.frame[release.details[name]]) for name in ("training", "holdout"))
    return training_side, aside


def test_it_succeeds_on_the_original_and_fails_on_noise() -> None:
    table = people()
    outcome = CopiedRecords().run(as_is(table), table)
    assert outcome.attempts == 400
    assert outcome.low > 0.5
    assert outcome.facts["believed"] == 400
    assert outcome == CopiedRecords().run(as_is(table), table)
    assert CopiedRecords().run(noise(table), table).risk < 0.02
    assert CopiedRecords(attempts=50).run(as_is(table), table, control=people()).attempts == 50


def test_by_hand() -> None:
    """Three people: one is copied, one is near with another secret, one is nowhere."""
    roles = {"age": "quasi_identifying", "sex": "quasi_identifying", "ill": "sensitive", "pay": "sensitive"}
    truth = sf.Table.of(
        {"age": [20, 40, 60], "sex": ["f", "f", "m"], "ill": ["yes", "no", "no"], "pay": [100, 200, 300]}, roles
    )
    published_table = sf.Table.of(
        {"age": [20, 42, 30], "sex": ["f", "f", "f"], "ill": ["yes", "no", "no"], "pay": [100, 210, 9]}, roles
    )
    release = as_is(published_table)
    exact = CopiedRecords().run(release, truth)
    assert (exact.successes, exact.facts["believed"]) == (1, 1)
    # 2 of a range of 22 in one of two columns: 0.045 in the mean.
    near_outcome = CopiedRecords(within=0.05).run(release, truth)
    assert (near_outcome.successes, near_outcome.facts["believed"]) == (1, 2)
    assert CopiedRecords(within=0.05, tolerance=0.05).run(release, truth).successes == 2
    assert CopiedRecords(within=0.05, columns=("ill",)).run(release, truth).successes == 2
    assert CopiedRecords(within=1.0).run(release, truth).facts["believed"] == 3


def test_a_missing_secret_is_none() -> None:
    roles = {"age": "quasi_identifying", "ill": "sensitive"}
    truth = sf.Table.of({"age": [20, 40], "ill": pl.Series([None, "no"])}, roles)
    assert CopiedRecords().run(as_is(truth), truth).successes == 1


def test_a_model_that_learnt_by_heart_is_found_out() -> None:
    """One person a leaf and the only earlier columns the known ones: whoever is drawn is copied whole."""
    table = people(600)
    heart = synthetic(table, min_leaf=1, smooth=False, copies="allow", rows=3000)
    careful = synthetic(table, min_leaf=20, rare="keep")  # leaves are to be judged, not words that are left out
    outcomes = {}
    for name, release in (("heart", heart), ("careful", careful)):
        _, aside = sides(release, table)
        outcomes[name] = CopiedRecords().run(release, table, control=aside)
    assert outcomes["heart"].low > 0.4
    assert outcomes["heart"].control is not None
    assert outcomes["heart"].control <= 5
    assert outcomes["heart"].facts["risk_over_control"] > 0.4
    assert outcomes["careful"].high < 0.05


def test_the_three_questions_run_with_people_set_aside_as_control() -> None:
    """Risks close to those of people of whom nothing was learned: within five standard errors of the difference."""
    table = people(2400)
    release = synthetic(table, min_leaf=10)
    training_side, aside = sides(release, table)
    halves = (("age", "zip", "sex", "marital_status"), ("education", "occupation", "salary_level", "disease"))
    outcomes = [
        sf.attack.SinglingOut(attempts=200).run(release, training_side, aside),
        sf.attack.Linkability(known=halves, attempts=400).run(release, table, aside),
        sf.attack.Inference(column="disease", attempts=400).run(release, table, aside),
        CopiedRecords(attempts=400).run(release, table, aside),
    ]
    for outcome in outcomes:
        assert outcome.control is not None
        error = np.sqrt(2 * 0.25 / outcome.attempts)
        assert abs(outcome.successes - outcome.control) / outcome.attempts < 5 * error
        assert outcome.risk < 0.6
        assert "risk_over_control" in outcome.facts


def test_bad_input() -> None:
    table = people(20)
    with pytest.raises(sf.DataError, match="both known and read"):
        CopiedRecords(known=("age",), columns=("age",)).run(as_is(table), table)
    with pytest.raises(sf.DataError, match="all columns are known"):
        CopiedRecords(known=tuple(table.frame.columns[1:])).run(as_is(table), table)
    with pytest.raises(sf.DataError, match='no column "zz"'):
        CopiedRecords(columns=("zz",)).run(as_is(table), table)
    bare = sf.Table.of({"x": [1]}, {"x": "sensitive"})
    with pytest.raises(sf.DataError, match="no column is known"):
        CopiedRecords().run(as_is(bare), bare)
    with pytest.raises(ValueError, match="each once"):
        CopiedRecords(known=("a", "a"))
    empty_outcome = CopiedRecords().run(as_is(table.replace_frame(table.frame.clear())), table, control=table)
    assert (empty_outcome.attempts, empty_outcome.successes, empty_outcome.control) == (20, 0, 0)


def test_blind_reading_is_counted_on_average() -> None:
    """Of four rows two say 100, one 105 and one nothing; a row is believed for a, b and c, but not for z."""
    roles = {"q": "quasi_identifying", "s": "sensitive"}
    release = as_is(sf.Table.of({"q": ["a", "b", "c", "d"], "s": [100, 100, 105, None]}, roles))
    truth = sf.Table.of({"q": ["a", "b", "c", "z"], "s": [100, 105, None, 100]}, roles)
    assert CopiedRecords().run(release, truth).baseline == 2 / 4 + 1 / 4  # nobody is right about c, who has no secret
    assert CopiedRecords(tolerance=0.05).run(release, truth).baseline == 3 / 4 + 3 / 4
    assert CopiedRecords(within=1.0).run(release, truth).baseline == 2 / 4 + 1 / 4 + 2 / 4
