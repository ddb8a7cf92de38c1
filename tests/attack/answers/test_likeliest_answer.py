# SPDX-License-Identifier: MIT
"""The likeliest truth behind one randomized answer: by Bayes' rule, with shares from the release."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfumato.attack.answers.likeliest_answer import CategoryShares, LikeliestAnswer
from sfumato.errors import DataError, PolicyError
from sfumato.protect.answers.randomize_response import RandomizeResponse
from sfumato.public.answer_channel import get_channel
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table


def people(n: int = 6000, seed: int = 1) -> Table:
    """A secret that is common in the north and rare in the south."""
    chance = np.random.default_rng(seed)
    north = chance.random(n) < 0.5
    ill = chance.random(n) < np.where(north, 0.8, 0.1)
    frame = pl.DataFrame(
        {
            "name": [f"person {number}" for number in range(n)],
            "place": np.where(north, "north", "south"),
            "ill": pl.Series(ill).set(pl.Series(np.arange(n) % 50 == 0), None),
            "rank": chance.choice(12, n, p=np.arange(1, 13) / 78),
        }
    )
    roles = {"name": "identifying", "place": "quasi_identifying", "ill": "sensitive", "rank": "sensitive"}
    return Table.of(frame, roles)


TABLE = people()


@pytest.mark.parametrize("how", [{"p": 0.5}, {"p": 0.05, "kind": "k_ary"}, {"epsilon": 1.0, "kind": "unary"}])
def test_it_is_bayes_rule_row_by_row(how: dict[str, float]) -> None:
    release = RandomizeResponse(column="rank", **how).protect(TABLE, Randomness.seeded(1))
    channel, shares = get_channel(release, "rank"), CategoryShares.of(release, "rank").overall
    guessed = LikeliestAnswer(column="rank").estimate(release)["rank"].cast(pl.Int64)
    names = [int(name or 0) for name in channel.categories]
    cells = release.data.frame["rank"]
    for row in range(0, len(TABLE), 97):
        if channel.one_answer:
            likely = channel.build_matrix()[names.index(cells[row])]
        else:
            bits = channel.read_bits(cells.slice(row, 1))[0]
            base_likelihoods = [np.prod(np.where(bits == 1, channel.q, 1 - channel.q))] * 12
            ratios = [np.where(bit, channel.p / channel.q, (1 - channel.p) / (1 - channel.q)) for bit in bits]
            likely = np.asarray(base_likelihoods) * np.asarray(ratios)
        assert guessed[row] == names[int(np.argmax(np.round(np.log(likely * shares + 1e-300), 9)))]


def test_reading_is_believed_only_where_it_is_likely() -> None:
    """30 % are ill and p = 0.6: a yes is still more likely chance than truth, so nobody is believed to be ill."""
    table = TABLE.replace_frame(TABLE.frame.with_columns(pl.Series("ill", np.arange(6000) % 10 < 3)))
    release = RandomizeResponse(column="ill", p=0.6).protect(table, Randomness.seeded(1))
    outcome = LikeliestAnswer().run(release, table)
    assert outcome.successes == outcome.baseline == 4200
    assert not LikeliestAnswer().estimate(release)["ill"].any()
    sure = LikeliestAnswer().run(RandomizeResponse(column="ill", p=0.9).protect(table, Randomness.seeded(1)), table)
    assert sure.risk == pytest.approx(0.9, abs=0.02)


def test_another_column_helps_and_the_control_tells_how_much_is_no_breach() -> None:
    release = RandomizeResponse(column="ill", p=0.7).protect(TABLE, Randomness.seeded(1))
    plain_outcome = LikeliestAnswer().run(release, TABLE, control=people(2000, 9))
    informed_outcome = LikeliestAnswer(known="place").run(release, TABLE, control=people(2000, 9))
    assert informed_outcome.successes > plain_outcome.successes
    assert informed_outcome.control is not None
    assert plain_outcome.control is not None
    assert informed_outcome.control > plain_outcome.control + 400
    assert informed_outcome.control / 2000 == pytest.approx(0.85 * 0.98, abs=0.03)
    assert informed_outcome.facts == {"column": "ill", "known": "place", "best_guess": "the likeliest"}


def test_the_other_column_may_be_randomized_too() -> None:
    release = RandomizeResponse(column=("ill", "place"), p=0.8).protect(TABLE, Randomness.seeded(1))
    plain_outcome = LikeliestAnswer(column="ill").run(release, TABLE)
    informed_outcome = LikeliestAnswer(column="ill", known="place").run(release, TABLE)
    assert informed_outcome.successes >= plain_outcome.successes
    bits = RandomizeResponse(column=("ill", "rank"), epsilon=0.5).protect(TABLE)
    assert bits.public["rank"]["kind"] == "unary"
    with pytest.raises(PolicyError, match='"rank" holds bits'):
        LikeliestAnswer(column="ill", known="rank").run(bits, TABLE)


def test_missing_answers_stay_missing_and_other_cells_as_they_are() -> None:
    release = RandomizeResponse(column="ill", p=0.7).protect(TABLE, Randomness.seeded(1))
    estimate = LikeliestAnswer(known="place").estimate(release)
    assert estimate["ill"].is_null().equals(TABLE.frame["ill"].is_null())
    assert estimate.drop("ill").equals(release.data.frame.drop("ill"))
    assert estimate.schema == release.data.frame.schema


def test_pure_chance_tells_nothing() -> None:
    release = RandomizeResponse(column="ill", p=0.5).protect(TABLE)
    outcome = LikeliestAnswer().run(release, TABLE)
    assert outcome.successes == outcome.baseline


def test_a_release_that_tells_no_channel_is_read_as_it_is() -> None:
    release = Release(TABLE, None, (), {})
    attack = LikeliestAnswer(column="name")
    assert attack.estimate(release).equals(TABLE.frame)
    outcome = attack.run(release, TABLE, control=TABLE)
    assert outcome.successes == outcome.attempts == len(TABLE)
    assert (outcome.baseline, outcome.control) == (1, 1)


def test_a_column_has_to_be_there_and_only_one() -> None:
    release = RandomizeResponse(column=("ill", "rank"), p=0.5).protect(TABLE)
    with pytest.raises(DataError, match='"ill", "rank" could hold'):
        LikeliestAnswer().run(release, TABLE)
    with pytest.raises(DataError, match='"nowhere"'):
        LikeliestAnswer(column="nowhere").run(release, TABLE)
