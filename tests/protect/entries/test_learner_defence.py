# SPDX-License-Identifier: MIT
from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta

import sfumato as sf
from sfumato.attack.attack import compute_wilson_interval
from sfumato.mine.entries.learner import LearningBudget, predict_hidden
from sfumato.protect.entries.learner_defence import (
    blank_frame_entries,
    bound_guessed_share,
    choose_entries_against_learners,
    count_allowed_guesses,
)

BAYES = ("bayes",)


def world(rows: int = 800, share: float = 0.15, seed: int = 1) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A trade that town and tool tell in four of five rows each; some trades are private, and blank."""
    chance = np.random.default_rng(seed)
    trade = chance.integers(0, 4, rows)
    town, tool = (np.where(chance.random(rows) < 0.75, trade, chance.integers(0, 4, rows)) for _ in range(2))
    frame = pl.DataFrame(
        {
            "trade": [f"r{number}" for number in trade],
            "town": [f"t{number}" for number in town],
            "tool": [f"u{number}" for number in tool],
            "luck": chance.integers(0, 50, rows),
        }
    )
    private = np.sort(chance.choice(rows, int(share * rows), replace=False))
    values = frame["trade"].gather(private)
    hidden_entries = pl.DataFrame({"row": private, "column": ["trade"] * len(private), "value": values})
    return blank_frame_entries(frame, [(int(row), "trade") for row in private]), hidden_entries


def right(frame: pl.DataFrame, hidden_entries: pl.DataFrame, seed: int, learners: tuple[str, ...] = BAYES) -> int:
    (prediction,) = predict_hidden(frame, hidden_entries, learners, np.random.default_rng(seed))
    return int((prediction.guess == prediction.classes.number(hidden_entries["value"])).sum())


@pytest.mark.parametrize("threshold", [0.7, 0.5])
def test_the_learner_ends_under_the_threshold(threshold: float) -> None:
    """The same learner, trained anew with other chance, is under the threshold; before it was far above."""
    frame, hidden_entries = world()
    original = frame.clone()
    assert bound_guessed_share(right(frame, hidden_entries, 5), hidden_entries.height) > 0.85
    entries = choose_entries_against_learners(frame, hidden_entries, threshold, np.random.default_rng(2), BAYES)
    assert frame.equals(original)
    blanked_frame = blank_frame_entries(frame, entries)
    assert bound_guessed_share(right(blanked_frame, hidden_entries, 5), hidden_entries.height) <= threshold
    # Only entries that were visible, each once, and nearly all of them hints.
    assert len(set(entries)) == len(entries)
    assert all(frame[column][row] is not None for row, column in entries)
    assert {row for row, _ in entries} <= set(hidden_entries["row"].to_list())
    assert sum(column == "luck" for _, column in entries) < 0.2 * len(entries)
    assert len(entries) < 2 * hidden_entries.height


def test_all_learners_together() -> None:
    frame, hidden_entries = world(400, 0.2)
    entries = choose_entries_against_learners(frame, hidden_entries, 0.6, np.random.default_rng(2))
    assert (
        bound_guessed_share(right(blank_frame_entries(frame, entries), hidden_entries, 6), hidden_entries.height)
        <= 0.65
    )


def test_a_lower_threshold_costs_more() -> None:
    frame, hidden_entries = world()
    costs = [
        len(choose_entries_against_learners(frame, hidden_entries, limit, np.random.default_rng(2), BAYES))
        for limit in (0.8, 0.6)
    ]
    assert 0 < costs[0] < costs[1]


def test_nothing_is_blanked_where_nothing_must() -> None:
    frame, hidden_entries = world()
    assert choose_entries_against_learners(frame, hidden_entries, 1.0, np.random.default_rng(0), BAYES) == []
    assert choose_entries_against_learners(frame, hidden_entries.head(0), 0.1, np.random.default_rng(0), BAYES) == []


def test_the_same_chance_blanks_the_same() -> None:
    frame, hidden_entries = world(300)
    first_entries, other = (
        choose_entries_against_learners(
            frame, hidden_entries, 0.7, np.random.default_rng(4), BAYES, LearningBudget(training_rows=100)
        )
        for _ in range(2)
    )
    assert first_entries == other


def test_several_columns_at_once() -> None:
    frame, hidden_entries = world(500)
    rows = [row for row in range(500) if row % 11 == 0]
    more = pl.DataFrame({"row": rows, "column": ["town"] * len(rows), "value": frame["town"].gather(rows)})
    all_entries = pl.concat([hidden_entries, more.with_columns(pl.col("row").cast(hidden_entries["row"].dtype))])
    blank = blank_frame_entries(frame, [(row, "town") for row in rows])
    entries = choose_entries_against_learners(blank, all_entries, 0.6, np.random.default_rng(3), BAYES)
    new_frame = blank_frame_entries(blank, entries)
    predictions = predict_hidden(new_frame, all_entries, BAYES, np.random.default_rng(9))
    hits = sum(
        int(
            (
                prediction.guess
                == prediction.classes.number(all_entries.filter(pl.col("column") == prediction.column)["value"])
            ).sum()
        )
        for prediction in predictions
    )
    assert bound_guessed_share(hits, all_entries.height) <= 0.6


def test_the_prior_sets_a_limit() -> None:
    """Nine of ten have the same trade: no blanking makes that less likely, and the message says how likely it is."""
    frame = pl.DataFrame({"trade": (["baker"] * 9 + ["smith"]) * 40, "town": ["a", "b"] * 200})
    rows = list(range(1, 400, 4))
    hidden_entries = pl.DataFrame({"row": rows, "column": ["trade"] * 100, "value": frame["trade"].gather(rows)})
    blank = blank_frame_entries(frame, [(row, "trade") for row in rows])
    share = int((hidden_entries["value"] == "baker").sum())
    with pytest.raises(sf.ImpossibleRelease, match=rf"{share} of 100 private entries \(0\.{share}") as error_info:
        choose_entries_against_learners(blank, hidden_entries, 0.5, np.random.default_rng(0), BAYES)
    assert "baker" not in str(error_info.value)


def test_too_few_entries_show_nothing() -> None:
    """Of 5 entries and no right guess Wilson's interval still ends at 0.43."""
    frame, hidden_entries = world()
    five = hidden_entries.head(5)
    with pytest.raises(sf.ImpossibleRelease, match=r"too few .* 0\.4345"):
        choose_entries_against_learners(frame, five, 0.2, np.random.default_rng(0), BAYES)


def test_bad_input_is_refused() -> None:
    frame, hidden_entries = world()
    chance = np.random.default_rng(0)
    for threshold in (0.0, 1.1):
        with pytest.raises(sf.PolicyError, match="threshold"):
            choose_entries_against_learners(frame, hidden_entries, threshold, chance)
    with pytest.raises(sf.DataError, match=r"^\d+ private entries are visible"):
        choose_entries_against_learners(frame, hidden_entries.with_columns(pl.lit("town").alias("column")), 0.5, chance)
    with pytest.raises(sf.DataError, match="1 column with private entries is not in the table"):
        choose_entries_against_learners(frame, hidden_entries.with_columns(pl.lit("wage").alias("column")), 0.5, chance)


def test_the_bound_is_wilsons() -> None:
    for successes, attempts in ((0, 5), (3, 10), (120, 150), (10, 10)):
        assert bound_guessed_share(successes, attempts) == pytest.approx(
            compute_wilson_interval(successes, attempts)[1], abs=1e-12
        )
    # Not the exact one of Clopper and Pearson, which is wider.
    assert bound_guessed_share(3, 10) < beta.ppf(0.975, 4, 7)


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.99, 1.0])
def test_the_most_that_is_allowed(threshold: float) -> None:
    for total in (1, 7, 100):
        most = count_allowed_guesses(total, threshold)
        allowed_counts = [guesses for guesses in range(total + 1) if bound_guessed_share(guesses, total) <= threshold]
        assert most == max(allowed_counts, default=-1)
