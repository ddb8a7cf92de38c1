# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.attack.anonymity.inference import Inference
from tests.contract.examples import people
from tests.contract.test_attacks import as_is, noise

ROLES = {"q": "quasi_identifying", "s": "sensitive"}


def run(
    attack: Inference, published: Mapping[str, object], truth: Mapping[str, object], **options: object
) -> sf.Outcome:
    tables = [sf.Table.of(data, ROLES, **options) for data in (published, truth)]  # type: ignore[arg-type]
    return attack.run(as_is(tables[0]), tables[1])


def test_the_original_tells_and_noise_does_not() -> None:
    data, strangers = people(), people(seed=8)
    outcome = Inference(column="disease").run(as_is(data), data, strangers)
    assert outcome.attempts == 400
    assert outcome.low > 0.95
    assert outcome.control is not None and outcome.control < 100
    assert outcome.facts["risk_over_control"] > 0.95
    dull = Inference(column="disease").run(noise(data), data, strangers)
    # Noise tells no more than the distribution of diseases does, within four deviations of a difference.
    assert dull.successes < dull.baseline + 4 * np.sqrt(2 * 400 * 0.16)
    assert Inference(column="name").run(noise(data), data).risk < 0.02


def test_what_holds_for_strangers_is_no_breach() -> None:
    """Everybody with q = a has s = x, in the data and out of it: all guesses are right, and none is a breach."""
    world = sf.Table.of({"q": ["a", "b"] * 50, "s": ["x", "y"] * 50}, ROLES)
    outcome = Inference(column="s").run(as_is(world), world, world)
    assert (outcome.successes, outcome.control) == (100, 100)
    assert outcome.facts["risk_over_control"] == 0


def test_a_number_is_right_within_the_tolerance() -> None:
    published = {"q": ["a", "b", "c", "d"], "s": [100, 100, 100, 0]}
    truth = {"q": ["a", "b", "c", "d"], "s": [105, 95, 106, 0]}
    assert run(Inference(column="s"), published, truth).successes == 2  # 5/105 and 0 are within, 5/95 is not
    assert run(Inference(column="s", tolerance=0.06), published, truth).successes == 4
    assert run(Inference(column="s", tolerance=0.0), published, truth).successes == 1


def test_a_range_is_guessed_at_its_middle() -> None:
    truth = {"q": ["a", "b"], "s": [100, 110]}
    assert run(Inference(column="s"), {"q": ["a", "b"], "s": ["[90, 110]", "[90, 110]"]}, truth).successes == 1


def test_of_a_label_one_value_is_guessed() -> None:
    """A label over four values, 2,000 people: a quarter is right on average; "*" likewise."""
    tree = [[v, "any", "*"] for v in "wxyz"]
    rows = {"q": [f"p{i}" for i in range(2000)], "s": ["w", "x", "y", "z"] * 500}
    truth = sf.Table.of(rows, ROLES, {"s": tree})
    for label in ("any", "*", "{w, x, y, z}"):
        release = as_is(sf.Table.of(rows | {"s": [label] * 2000}, ROLES, {"s": tree}))
        outcome = Inference(column="s", attempts=2000).run(release, truth)
        assert outcome.successes == outcome.baseline == 500


@pytest.mark.parametrize("seed", range(3))
def test_who_may_ask_more_neighbours_learns_no_less(seed: int) -> None:
    """With noise, the nearest row is mostly one's own; two strangers who are nearly as near would outvote it."""
    chance = np.random.default_rng(seed)
    truth = {"q": chance.normal(0, 10, 60), "sex": chance.choice(["f", "m"], 60), "s": chance.integers(0, 5, 60)}
    published = truth | {"q": truth["q"] + chance.normal(0, 0.5, 60)}
    roles = ROLES | {"sex": "quasi_identifying"}
    tables = [sf.Table.of(columns, roles) for columns in (published, truth)]
    right = [
        Inference(column="s", neighbours=neighbours, tolerance=0.0).run(as_is(tables[0]), tables[1]).successes
        for neighbours in (1, 3, 5)
    ]
    assert right[0] > 30
    assert min(right) == right[0]


def test_most_neighbours_win() -> None:
    """The nearest row says y; of the three nearest two say x; of all the most say z."""
    published = {"q": [90, 91, 92, 10, 11, 9], "s": ["z", "z", "z", "y", "x", "x"]}
    truth = {"q": [10], "s": ["x"]}
    assert run(Inference(column="s"), published, truth).successes == 0
    assert run(Inference(column="s", neighbours=3), published, truth).successes == 1
    assert run(Inference(column="s", neighbours=100), published, truth).successes == 0


def test_rows_that_are_as_near_vote() -> None:
    """Of a class of five, four say x: a row drawn from it would be right for 17 of 25 people."""
    rows = {"q": ["a"] * 5 + ["b"] * 5, "s": [*"xxxxy", *"zzzzw"]}
    assert run(Inference(column="s"), rows, rows).successes == 8


def test_numbers_vote_within_the_tolerance() -> None:
    """100 is within 5 % of three of the numbers; 200 stands there twice."""
    rows = {"q": ["a"] * 5 + ["b"] * 6, "s": [98, 100, 102, 200, 200, *range(1000, 7000, 1000)]}
    outcome = run(Inference(column="s"), rows, rows)
    assert (outcome.successes, outcome.baseline) == (4, 3)


def test_nobody_is_right_about_what_is_not_known() -> None:
    rows = {"q": ["a", "b"], "s": [None, "x"]}
    assert run(Inference(column="s"), rows, rows).successes == 1
    assert run(Inference(column="s"), rows, rows, missing="matches_any").successes == 1


def test_the_baseline_is_the_commonest_secret() -> None:
    rows = {"q": list(range(2000)), "s": ["x", "x", "x", "y"] * 500}
    outcome = run(Inference(column="s", attempts=2000), rows, rows)
    assert (outcome.successes, outcome.baseline) == (2000, 1500)


def test_who_learns_nothing_from_rows_answers_the_commonest() -> None:
    """Of 2,000 people seven in eight have x, whatever is known of them: what the nearest row says is right less often.

    That this is so is seen on people who are not tried.
    """
    chance = np.random.default_rng(4)
    truth, published = (
        {"q": chance.random(2000), "s": chance.permutation(["x"] * 7 * 250 + ["y"] * 250)} for _ in "ab"
    )
    outcome = run(Inference(column="s", attempts=800), published, truth)
    assert outcome.successes == outcome.baseline > 600


def test_k_anonymity_is_no_help_where_a_class_agrees() -> None:
    rows = {"q": ["a"] * 5 + ["b"] * 5, "s": ["x"] * 5 + ["y"] * 5}
    table = sf.Table.of(rows, ROLES)
    release = sf.Generalize(models=(sf.KAnonymity(k=5),)).protect(table)
    assert Inference(column="s").run(release, table).risk == 1


def test_knowledge_is_what_is_quasi_identifying_unless_named() -> None:
    data = people(50)
    assert Inference(column="age").run(as_is(data), data).facts["known"] == [
        name for name in data.quasi_identifying if name != "age"
    ]
    assert Inference(column="disease", known=("salary_level",)).run(as_is(data), data).facts["known"] == [
        "salary_level"
    ]


def test_an_empty_release_tells_nothing() -> None:
    data = people(30)
    outcome = Inference(column="disease").run(as_is(data.replace_frame(data.frame.clear())), data, data)
    assert (outcome.attempts, outcome.successes, outcome.baseline, outcome.control) == (30, 0, 0, 0)


def test_outcomes_repeat_and_follow_the_given_chance() -> None:
    data = people()
    attack = Inference(column="zip", known=("sex",), attempts=100)
    outcome, repeat = (attack.run(as_is(data), data) for _ in range(2))
    assert outcome == repeat
    success_counts = {
        attack.run(as_is(data), data, randomness=sf.Randomness.seeded(seed)).successes for seed in range(1, 9)
    }
    assert len(success_counts) > 1


def test_bad_fields_are_refused() -> None:
    data = people(20)
    for known_columns in ((), ("age", "age")):
        with pytest.raises(ValidationError, match="each once"):
            Inference(column="disease", known=known_columns)
    with pytest.raises(ValidationError):
        Inference(column="disease", tolerance=-0.1)
    with pytest.raises(sf.DataError, match="is the target; remove it from"):
        Inference(column="age", known=("age",)).run(as_is(data), data)
    with pytest.raises(sf.DataError, match='"shoe"'):
        Inference(column="shoe").run(as_is(data), data)
    lone = sf.Table.of({"q": ["a"]}, {"q": "quasi_identifying"})
    with pytest.raises(sf.DataError, match="name some as `known`"):
        Inference(column="q").run(as_is(lone), lone)


def test_numbers_too_far_apart_for_a_float_are_infinitely_far() -> None:
    """Beside a cap of 1e300, the squares of gaps warned of an overflow."""
    numbers = [1.0, 2.0, 3.0, 1.5, 1e300, -1e300, 1e300, -1e300, 2.0, 3.0]
    frame = {"pay": numbers, "day": [f"2020-01-0{n % 3 + 1}" for n in range(10)]}
    table = sf.Table.of(frame, {"pay": "quasi_identifying", "day": "sensitive"})
    release = sf.TopCode(columns="pay", k=2, ends="both").protect(table)
    assert sf.attack.Inference(column="day", known=("pay",)).run(release, table).successes >= 3
