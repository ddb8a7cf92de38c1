# SPDX-License-Identifier: MIT
from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from sfumato.attack.entries.rule_inference import RuleInference
from sfumato.details import EntryDetails
from sfumato.mine.entries import agreeing_rows
from tests.contract.examples import people
from tests.contract.test_attacks import as_is, noise

Rows = list[list[str | None]]


def table(rows: Rows) -> sf.Table:
    columns = {f"c{index}": pl.Series([row[index] for row in rows], dtype=pl.String) for index in range(len(rows[0]))}
    return sf.Table.of(columns)


def blanked(rows: Rows, places: set[tuple[int, int]]) -> Rows:
    return [[None if (i, j) in places else cell for j, cell in enumerate(row)] for i, row in enumerate(rows)]


def planted(rows: int = 1000, seed: int = 1) -> tuple[sf.Table, sf.Release]:
    """Job and town together say the salary, in nine of ten rows; 100 salaries are blank, and nothing else."""
    chance = np.random.default_rng(seed)
    job, town = chance.integers(0, 3, rows), chance.integers(0, 2, rows)
    salary = np.where(chance.random(rows) < 0.9, 2 * job + town, chance.integers(0, 6, rows))
    hobby = chance.integers(0, 4, rows)
    truth: Rows = [[f"j{a}", f"t{b}", f"s{c}", f"h{d}"] for a, b, c, d in zip(job, town, salary, hobby, strict=True)]
    places = {(int(row), 2) for row in chance.choice(rows, rows // 10, replace=False)}
    return table(truth), as_is(table(blanked(truth, places)))


def test_a_planted_rule_is_found_and_fired() -> None:
    """About 92 of 100 are hit where the prior hits about a sixth; five deviations either way."""
    truth, release = planted()
    outcome = RuleInference(min_support=20).run(release, truth)
    assert outcome.attempts == 100
    assert outcome.successes > 92 - 5 * np.sqrt(100 * 0.92 * 0.08)
    assert outcome.baseline < 17 + 5 * np.sqrt(100 * 0.17 * 0.83)
    facts = outcome.facts
    assert facts["fired"] == 100
    assert facts["confidence_claimed"] > 0.85
    assert facts["confidence_found"] == outcome.risk
    assert facts["columns"]["c2"]["hits"] == outcome.successes
    assert 6 <= facts["rules_fired"] <= 24


def test_noise_does_not_beat_the_prior() -> None:
    """Columns drawn apart: hits and prior are within five deviations, whatever confidence the rules claim."""
    chance = np.random.default_rng(4)
    rows: Rows = [[str(cell) for cell in row] for row in chance.choice(4, (2000, 5), p=[0.5, 0.3, 0.1, 0.1])]
    places = {(int(number) // 5, int(number) % 5) for number in chance.choice(10_000, 600, replace=False)}
    outcome = RuleInference(min_support=5).run(as_is(table(blanked(rows, places))), table(rows))
    assert outcome.attempts == 600
    assert outcome.successes < outcome.baseline + 5 * np.sqrt(2 * 600 * 0.25)
    assert outcome.facts["confidence_claimed"] > outcome.facts["confidence_found"] + 0.05


def test_the_original_is_read_and_noise_says_nothing() -> None:
    """A column that is private as a whole: what is visible of it is simply read."""
    data, strangers = people(), people(seed=8)
    attack = RuleInference(columns=("name",))
    outcome = attack.run(as_is(data), data, strangers)
    assert (outcome.attempts, outcome.successes) == (400, 400)
    assert outcome.control is not None and outcome.control < 20
    assert outcome.facts["visible"] == 400
    assert attack.run(noise(data), data).risk < 0.02


def test_what_holds_for_strangers_is_no_breach() -> None:
    truth, release = planted()
    strangers, _ = planted(seed=2)
    outcome = RuleInference(min_support=20).run(release, truth, strangers)
    assert outcome.control is not None and outcome.control > 70
    assert outcome.facts["risk_over_control_interval"][0] == 0


def test_the_release_says_what_is_private() -> None:
    """Of blank entries only those on the list count, and their value is the list's: a midpoint, for instance."""
    rows: Rows = [["a", "1"], ["a", "1"], ["a", None], ["a", None]]
    hidden_cells = pl.DataFrame({"row": [2], "column": ["c1"], "value": ["1"]})
    release = sf.Release(table(rows), None, (), {}, EntryDetails(hidden=hidden_cells))
    truth = table([["a", "0.9"], ["a", "1.1"], ["a", "1.2"], ["a", "1.2"]])
    outcome = RuleInference(min_support=1).run(release, truth)
    assert (outcome.attempts, outcome.successes, outcome.baseline) == (1, 1, 1)
    assert outcome.facts["rules_fired"] == 1
    assert RuleInference(min_support=1).run(as_is(table(rows)), truth).attempts == 2
    empty_release = sf.Release(table(rows), None, (), {}, EntryDetails(hidden=hidden_cells.clear()))
    assert RuleInference(min_support=1).run(empty_release, truth).attempts == 0


def test_the_best_rule_is_the_surest_then_the_best_supported() -> None:
    """a → x in 2 of 3, b → y in 2 of 2, c → z in 3 of 3; who has all three is taken for z."""
    rows: Rows = [
        ["a", None, None, "x"], ["a", None, None, "x"], ["a", None, None, "w"],
        [None, "b", None, "y"], [None, "b", None, "y"],
        [None, None, "c", "z"], [None, None, "c", "z"], [None, None, "c", "z"],
        ["a", "b", "c", None],
    ]  # fmt: skip
    for value, right in (("z", 1), ("y", 0), ("x", 0)):
        truth = table([*rows[:-1], ["a", "b", "c", value]])
        assert RuleInference(min_support=1).run(as_is(table(rows)), truth).successes == right
    truth = table([*rows[:-1], ["a", None, None, "x"]])
    short = as_is(table([*rows[:-1], ["a", None, None, None]]))
    assert RuleInference(min_support=1).run(short, truth).facts["fired"] == 1
    # Nothing reaches 0.7: the most common value, z, is guessed.
    unsure = RuleInference(min_support=1, confidence=0.7).run(short, truth)
    assert (unsure.facts["fired"], unsure.successes) == (0, 0)
    assert RuleInference(min_support=4).run(short, truth).facts["fired"] == 0


def by_hand(rows: Rows, least: int, share: Fraction, longest: int | None) -> dict[tuple[int, int], tuple[int, int]]:
    """For each blank entry the confidence and support of its best rule, over every set of columns."""
    inferences = {}
    width = len(rows[0])
    for i, j in itertools.product(range(len(rows)), range(width)):
        if rows[i][j] is not None:
            continue
        visible_columns = [column for column in range(width) if column != j and rows[i][column] is not None]
        best = (Fraction(0), 0)
        for length in range(1, min(len(visible_columns), longest or width) + 1):
            for premise in itertools.combinations(visible_columns, length):
                conclusions = [
                    row[j]
                    for row in rows
                    if row[j] is not None and all(row[column] == rows[i][column] for column in premise)
                ]
                if len(conclusions) >= least:
                    sure = Fraction(Counter(conclusions).most_common(1)[0][1], len(conclusions))
                    best = max(best, (sure, len(conclusions))) if sure >= share else best
        if best[1]:
            inferences[i, j] = best
    return inferences  # type: ignore[return-value]


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.sampled_from(["x", "y", None]), min_size=width, max_size=width), min_size=1, max_size=9
        )
    ),
    st.integers(1, 3),
    st.sampled_from([0.25, 0.5, 0.6, 1.0]),
    st.sampled_from([None, 1, 2]),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_the_best_rules_are_those_of_enumeration(
    rows: Rows, least: int, share: float, longest: int | None, sparse: bool
) -> None:
    truth = table([[cell or "x" for cell in row] for row in rows])
    expected = by_hand(rows, least, Fraction(str(share)), longest)
    attack = RuleInference(min_support=least, confidence=share, max_length=longest)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreeing_rows, "_DENSE", 0 if sparse else agreeing_rows._DENSE)
        outcome = attack.run(as_is(table(rows)), truth)
    assert outcome.attempts == sum(cell is None for row in rows for cell in row)
    assert outcome.facts["fired"] == len(expected)
    if expected:
        mean = float(sum(sure for sure, _ in expected.values())) / len(expected)
        assert outcome.facts["confidence_claimed"] == pytest.approx(mean, abs=1e-9)


def test_nothing_hidden_nothing_tried() -> None:
    data = people(20)
    outcome = RuleInference().run(as_is(data), data)
    assert (outcome.attempts, outcome.successes, outcome.high) == (0, 0, 1.0)


def test_a_column_of_which_nothing_is_seen_is_not_guessed() -> None:
    truth = table([["a", "x"], ["b", "x"]])
    outcome = RuleInference(min_support=1).run(as_is(table([["a", None], ["b", None]])), truth)
    assert (outcome.attempts, outcome.successes, outcome.baseline) == (2, 0, 0)


def test_bad_input_is_refused() -> None:
    data = people(20)
    for wrong in (
        {"min_support": 0},
        {"min_support": 1.5},
        {"confidence": 0},
        {"max_length": 0},
        {"min_support": True},
    ):
        with pytest.raises(ValidationError):
            RuleInference(**wrong)
    with pytest.raises(sf.DataError, match='"shoe_size"'):
        RuleInference(columns=("shoe_size",)).run(as_is(data), data)
    with pytest.raises(sf.DataError, match="originals"):
        RuleInference().run(as_is(data), people(10))
    with pytest.raises(sf.DataError, match="control has no rows"):
        RuleInference(columns=("disease",)).run(as_is(data), data, data.replace_frame(data.frame.head(0)))
    listed = pl.DataFrame({"row": [99], "column": ["age"], "value": ["1"]})
    with pytest.raises(sf.DataError, match="1 row that it does not have"):
        RuleInference().run(sf.Release(data, None, (), {}, EntryDetails(hidden=listed)), data)
