# SPDX-License-Identifier: MIT
"""Averaging repeated answers: it works on fresh ones, fails on memoized ones, and knows copies from answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sfumato.attack.answers.repeated_answers import RepeatedAnswers
from sfumato.errors import DataError
from sfumato.protect.answers.randomize_response import RandomizeResponse
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table


def people(n: int = 2000, share: float = 0.3) -> Table:
    chance = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "name": [f"person {number}" for number in range(n)],
            "code": np.arange(n),
            "yes": chance.random(n) < share,
            "kind": chance.choice(list("abcdefghijklmnopqrst"), n),
        }
    )
    roles = {"name": "identifying", "code": "quasi_identifying", "yes": "sensitive", "kind": "sensitive"}
    return Table.of(frame, roles)


TABLE = people()


def ask_repeatedly(times: int, column: str = "yes", seed: int = 0, **how: float | str) -> list[Release]:
    method = RandomizeResponse(column=column, **how)
    return [method.protect(TABLE, Randomness.seeded(seed + offset)) for offset in range(times)]


def test_releases_at_hand_tell_what_the_majority_tells() -> None:
    first, *more = ask_repeatedly(5, p=0.7)
    attack = RepeatedAnswers(prior="flat").add_releases(*more)
    votes = np.mean([release.data.frame["yes"].to_numpy() for release in (first, *more)], axis=0)
    assert (attack.estimate(first)["yes"].to_numpy() == (votes > 0.5)).all()
    outcome = attack.run(first, TABLE)
    assert outcome.successes == int(((votes > 0.5) == TABLE.frame["yes"].to_numpy()).sum())
    assert outcome.facts["answers"] == 5
    assert outcome.facts["copies"] == 0
    single_hits = int((first.data.frame["yes"] == TABLE.frame["yes"]).sum())
    assert RepeatedAnswers(prior="flat").run(first, TABLE).facts["once_right"] == single_hits


def test_a_prior_helps_and_never_hurts_much() -> None:
    first, *more = ask_repeatedly(3, p=0.65)
    plain = RepeatedAnswers(prior="flat").add_releases(*more).run(first, TABLE)
    better = RepeatedAnswers().add_releases(*more).run(first, TABLE)
    assert better.successes > plain.successes
    assert better.successes >= better.baseline


def test_bits_and_categories_are_added_up_too() -> None:
    for how in ({"p": 0.4}, {"epsilon": 2.5, "kind": "unary"}):
        first, *more = ask_repeatedly(8, "kind", **how)
        outcome = RepeatedAnswers(column="kind").add_releases(*more).run(first, TABLE)
        assert outcome.facts["once_right"] < 0.55 * len(TABLE)
        assert outcome.risk > 0.78
        assert RepeatedAnswers(column="kind", times=8).run(first, TABLE).risk == pytest.approx(outcome.risk, abs=0.06)


def test_turned_answers_are_turned_back() -> None:
    first, *more = ask_repeatedly(9, p=0.2)
    assert RepeatedAnswers(prior="flat").add_releases(*more).run(first, TABLE).risk > 0.93


def test_memoized_answers_gain_nothing() -> None:
    method = RandomizeResponse(column="yes", p=0.7)
    key = method.new_key(Randomness.seeded(1))
    first, *more = (method.protect(TABLE, key=key) for _ in range(4))
    attack = RepeatedAnswers(times=50).add_releases(*more)
    outcome = attack.run(first, TABLE)
    assert outcome.successes == max(outcome.facts["once_right"], outcome.baseline)
    assert (outcome.facts["answers"], outcome.facts["copies"]) == (1, 3)
    assert attack.estimate(first).equals(RepeatedAnswers().estimate(first))


def test_of_memoized_answers_only_changed_ones_are_news() -> None:
    method = RandomizeResponse(column="yes", p=0.7)
    key = method.new_key(Randomness.seeded(1))
    first = method.protect(TABLE, key=key)
    turned = pl.col("yes").xor(pl.col("code") < 100)
    second = method.protect(TABLE.replace_frame(TABLE.frame.with_columns(turned)), key=key)
    votes, copies = RepeatedAnswers()._collect_votes(first, "yes", TABLE)
    assert (len(votes), copies) == (1, 0)
    votes, copies = RepeatedAnswers().add_releases(second)._collect_votes(first, "yes", TABLE)
    assert (len(votes), copies) == (2, 0)
    differ = first.data.frame["yes"] != second.data.frame["yes"]
    assert votes[1].answered_mask.tolist() == differ.to_list()
    assert 0 < int(differ.sum()) < 100


def test_people_are_told_by_columns_in_any_order() -> None:
    first, second = ask_repeatedly(2, p=0.7)
    mixed = second.data.replace_frame(second.data.frame.sample(fraction=1.0, shuffle=True, seed=2))
    attack = RepeatedAnswers(by=("code",))
    assert attack.add_releases(mixed).estimate(first).equals(attack.add_releases(second.data).estimate(first))
    fewer = mixed.replace_frame(mixed.frame.head(50))
    assert attack.add_releases(fewer).run(first, TABLE).facts["answers"] == 2
    with pytest.raises(DataError, match="50 rows cannot be the same people as 2000"):
        RepeatedAnswers().add_releases(fewer).run(first, TABLE)
    with pytest.raises(DataError, match="several rows agree"):
        RepeatedAnswers(by=("kind",)).add_releases(mixed).run(first, TABLE)
    with pytest.raises(DataError, match='"nowhere"'):
        RepeatedAnswers(by=("nowhere",)).add_releases(mixed).run(first, TABLE)


def test_another_release_may_lie_in_a_file(tmp_path: Path) -> None:
    first, second = ask_repeatedly(2, p=0.7)
    second.data.frame.write_csv(tmp_path / "second.csv")
    from_file = RepeatedAnswers(other=str(tmp_path / "second.csv"))
    assert from_file.estimate(first).equals(RepeatedAnswers().add_releases(second.data).estimate(first))


def test_categories_in_another_order_are_the_same_categories() -> None:
    method = RandomizeResponse(column="kind", p=0.5, categories=tuple("abcdefghijklmnopqrst"))
    two = RandomizeResponse(column="kind", p=0.5, categories=tuple("tsrqponmlkjihgfedcba"))
    first, second = method.protect(TABLE, Randomness.seeded(1)), two.protect(TABLE, Randomness.seeded(2))
    same = RepeatedAnswers(column="kind").add_releases(second.data).estimate(first)
    assert RepeatedAnswers(column="kind").add_releases(second).estimate(first).equals(same)


def test_a_release_that_tells_no_channel_is_read_as_it_is() -> None:
    release = Release(TABLE, None, (), {})
    attack = RepeatedAnswers(column="name", times=5)
    assert attack.estimate(release).equals(TABLE.frame)
    outcome = attack.run(release, TABLE, control=TABLE)
    assert outcome.successes == outcome.attempts == len(TABLE)
    assert outcome.baseline == outcome.control == 1


def test_outcomes_repeat_and_chance_can_be_given() -> None:
    (first,) = ask_repeatedly(1, p=0.7)
    attack = RepeatedAnswers(times=4)
    assert attack.run(first, TABLE) == attack.run(first, TABLE)
    assert attack.run(first, TABLE, randomness=Randomness.seeded(9)) != attack.run(first, TABLE)
