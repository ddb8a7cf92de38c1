# SPDX-License-Identifier: MIT
from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.attack.entries.learned_inference import LearnedInference
from sfumato.details import EntryDetails
from sfumato.mine.entries.learner import (
    LEARNERS,
    GuessedClasses,
    LearnerFeatures,
    measure_leaning,
    predict_hidden,
    train_learner,
)
from tests.contract.examples import people
from tests.contract.test_attacks import as_is, noise


def world(rows: int = 900, seed: int = 1, noise_only: bool = False) -> pl.DataFrame:
    """Five weak hints, each right in six of ten rows, that together say the class; a number that follows it."""
    chance = np.random.default_rng(seed)
    kind = chance.integers(0, 3, rows)
    random_hints = chance.integers(0, 3, (5, rows))
    hints = random_hints if noise_only else np.where(chance.random((5, rows)) < 0.5, kind, random_hints)
    income = chance.normal(0, 1, rows) + (0 if noise_only else 10) * kind
    columns = {"kind": [f"k{code}" for code in kind]} | {
        f"h{hint_index}": [f"v{code}" for code in hints[hint_index]] for hint_index in range(5)
    }
    return pl.DataFrame(columns | {"income": income})


def release(truth: pl.DataFrame, column: str, share: float = 0.15, seed: int = 3) -> sf.Release:
    """Some entries of a column blank, and a few of every other one."""
    chance = np.random.default_rng(seed)
    blank_masks = {name: chance.random(truth.height) < (share if name == column else 0.02) for name in truth.columns}
    columns = [pl.when(pl.Series(~blank_masks[name])).then(pl.col(name)).alias(name) for name in truth.columns]
    data = truth.select(columns)
    rows = np.flatnonzero(blank_masks[column])
    hidden_cells = pl.DataFrame({"row": rows, "column": [column] * len(rows), "value": truth[column].gather(rows)})
    return sf.Release(sf.Table.of(data), None, (), {}, EntryDetails(hidden=hidden_cells))


@pytest.mark.parametrize("learner", LEARNERS)
def test_each_learner_adds_up_weak_hints(learner: str) -> None:
    """One hint is right in two of three rows, all together in more than three of four, the prior in one of three."""
    truth = world().drop("income")
    outcome = LearnedInference(learners=(learner,)).run(release(truth, "kind"), sf.Table.of(truth))
    assert outcome.attempts > 100
    assert outcome.low > 0.68
    assert outcome.baseline < 0.5 * outcome.attempts
    facts = outcome.facts["columns"]["kind"]
    assert facts["learner"] == learner
    assert facts["held_out_scores"][learner] > facts["held_out_scores"]["prior"] + 0.2
    # Hidden entries are no easier than visible ones: within five deviations the control is as well guessed.
    assert outcome.control is not None
    assert abs(outcome.control - outcome.successes) < 5 * np.sqrt(2 * outcome.attempts * 0.2)
    assert outcome.facts["control_attempts"] == outcome.attempts


def test_noise_is_guessed_as_the_prior_is() -> None:
    truth = world(noise_only=True)
    outcome = LearnedInference().run(release(truth, "kind"), sf.Table.of(truth))
    assert outcome.successes < outcome.baseline + 5 * np.sqrt(2 * outcome.attempts * 0.22)


def test_numbers_are_right_in_their_interval() -> None:
    """Ten intervals of about equally many rows: the prior hits about a tenth, the learner three times as many."""
    truth = world()
    outcome = LearnedInference(intervals=10).run(release(truth, "income"), sf.Table.of(truth))
    facts = outcome.facts["columns"]["income"]
    assert (facts["classes"], facts["intervals"]) == (10, True)
    assert outcome.baseline < 0.25 * outcome.attempts
    assert outcome.successes > 1.5 * outcome.baseline
    few = truth.with_columns((pl.col("income") > 5).cast(pl.Int64).alias("income"))
    outcome = LearnedInference(intervals=10).run(release(few, "income"), sf.Table.of(few))
    assert outcome.facts["columns"]["income"]["classes"] == 2
    assert outcome.low > 0.8


def test_the_original_is_read_and_noise_says_nothing() -> None:
    data, strangers = people(), people(seed=8)
    attack = LearnedInference(columns=("name",))
    outcome = attack.run(as_is(data), data)
    assert (outcome.attempts, outcome.successes, outcome.control) == (400, 400, 0)
    outcome = attack.run(as_is(data), data, strangers)
    assert outcome.successes == 400
    assert outcome.control is not None and outcome.control < 20
    assert attack.run(noise(data), data).risk < 0.02


def test_strangers_are_the_control_if_given() -> None:
    truth, strangers = world(), sf.Table.of(world(seed=2))
    outcome = LearnedInference(learners=("bayes",)).run(release(truth, "kind"), sf.Table.of(truth), strangers)
    assert outcome.facts["control_group"] == "people not in the data"
    assert outcome.facts["control_attempts"] == outcome.attempts
    assert outcome.control is not None and outcome.control > 0.7 * outcome.attempts
    with pytest.raises(sf.DataError, match='"kind"'):
        LearnedInference().run(release(truth, "kind"), sf.Table.of(truth), sf.Table.of(world().drop("kind")))


def test_the_same_chance_gives_the_same_outcome() -> None:
    truth = world(400)
    seeds = [sf.Randomness.seeded(5), sf.Randomness.seeded(5)]
    outcome, other = (LearnedInference().run(release(truth, "kind"), sf.Table.of(truth), randomness=r) for r in seeds)
    assert outcome == other


def test_fewer_rows_are_said() -> None:
    truth = world()
    outcome = LearnedInference(training_rows=50, learners=("bayes",)).run(release(truth, "kind"), sf.Table.of(truth))
    facts = outcome.facts["columns"]["kind"]
    assert (outcome.facts["training_rows"], facts["trained_on"]) == (50, 50)
    assert facts["visible_entries"] == 900 - outcome.attempts


def test_values_that_are_too_rare_are_said() -> None:
    """A column of 200 different names: nothing can be learned, and nothing is guessed."""
    truth = pl.DataFrame({"name": [f"n{number}" for number in range(200)], "x": ["a", "b"] * 100})
    outcome = LearnedInference().run(release(truth, "name"), sf.Table.of(truth))
    facts = outcome.facts["columns"]["name"]
    assert (outcome.successes, outcome.baseline, outcome.control) == (0, 0, 0)
    assert facts["too_rare_to_learn"] == facts["visible_entries"] > 150
    assert facts["learner"] == "prior"


def test_that_an_entry_is_blank_is_a_hint() -> None:
    """h0 is blank in every row of kind k0, and in no other: learners see it."""
    truth = world(600, noise_only=True)
    base_release = release(truth, "kind")
    hint_column = pl.when(truth["kind"] != "k0").then(pl.col("h0")).alias("h0")
    leaky = sf.Release(
        sf.Table.of(base_release.data.frame.with_columns(hint_column)), None, (), {}, base_release.details
    )
    outcome = LearnedInference().run(leaky, sf.Table.of(truth))
    assert outcome.successes > outcome.baseline + 0.15 * outcome.attempts


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_entry_that_a_guess_leans_on(learner: str) -> None:
    """y copies a; b is noise. Blanking a costs the guess its probability, blanking b next to nothing."""
    chance = np.random.default_rng(2)
    a, b = (chance.integers(0, 3, 300) for _ in range(2))
    frame = pl.DataFrame(
        {"a": [f"a{code}" for code in a], "b": [f"b{code}" for code in b], "y": [f"y{code}" for code in a]}
    )
    row_number = pl.int_range(300)
    frame = frame.with_columns(
        pl.when(row_number >= 20).then("y").alias("y"), pl.when(row_number > 0).then("b").alias("b")
    )
    cells = pl.DataFrame({"row": range(20), "column": ["y"] * 20})
    (prediction,) = predict_hidden(frame, cells, (learner,), np.random.default_rng(0))
    assert (prediction.guess == a[:20]).all()
    cell_numbers = np.arange(20)
    losses = measure_leaning(prediction, cell_numbers, prediction.features.take_rows(prediction.rows))
    assert losses[0, 1] == -np.inf
    assert (losses[:, 0] > 0.2).all() and (losses[1:, 0] > losses[1:, 1]).all()


def test_intervals_hold_about_equally_many() -> None:
    numbers = pl.Series("n", np.random.default_rng(1).exponential(size=2000))
    classes = GuessedClasses.of(numbers, 8)
    counts = np.bincount(classes.number(numbers), minlength=8)
    assert counts.min() >= 248 and counts.max() <= 252
    assert classes.number(pl.Series(["-1", "1e9", None, "word"])).tolist() == [0, 7, -1, -1]


def test_one_class_alone_is_the_prior() -> None:
    features = LearnerFeatures.of(pl.DataFrame({"a": ["x", "y", None]}))
    model = train_learner("boosting", features, np.zeros(3, dtype=np.int64), 2, 0)
    assert model.learner == "prior"
    assert model.predict_probabilities(features).tolist() == [[1.0, 0.0]] * 3


def test_tables_at_the_edge() -> None:
    """One column, nothing visible, nothing hidden, one row."""
    single_column = pl.DataFrame({"a": ["x", "x", "x", "x", "y", None]})
    truth = sf.Table.of(pl.DataFrame({"a": ["x", "x", "x", "x", "y", "x"]}))
    outcome = LearnedInference().run(as_is(sf.Table.of(single_column)), truth)
    assert (outcome.attempts, outcome.successes, outcome.baseline) == (1, 1, 1)
    blank = pl.DataFrame({"a": pl.Series([None, None], dtype=pl.String), "b": [1, 2]})
    outcome = LearnedInference().run(as_is(sf.Table.of(blank)), sf.Table.of({"a": ["x", "y"], "b": [1, 2]}))
    assert (outcome.attempts, outcome.successes, outcome.baseline) == (2, 0, 0)
    data = people(20)
    assert LearnedInference().run(as_is(data), data).attempts == 0


def test_bad_input_is_refused() -> None:
    for wrong in ({"learners": ()}, {"learners": ("oracle",)}, {"learners": ("bayes", "bayes")}, {"training_rows": 1}):
        with pytest.raises(ValidationError):
            LearnedInference(**wrong)
    cells = pl.DataFrame({"row": [0], "column": ["b"]})
    with pytest.raises(sf.DataError, match='"b"'):
        predict_hidden(pl.DataFrame({"a": ["x"]}), cells, LEARNERS, np.random.default_rng(0))
    with pytest.raises(sf.PolicyError, match="boosting"):
        predict_hidden(pl.DataFrame({"a": ["x"]}), cells, ("oracle",), np.random.default_rng(0))
