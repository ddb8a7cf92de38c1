# SPDX-License-Identifier: MIT
"""Further entries to blank, so that learners also guess few of the private ones.

Against an adversary who trains on what is visible (`mine.learner`) and fills in what is blank. If a learner guesses
private entries correctly, the entries of those rows on which the guesses depend most are blanked, the learner is
retrained, and so on, until the upper end of Wilson's 95 % interval of its success is under the threshold. This is
measured, not proven: it holds for these learners, trained on this many rows, and another one may do better. Blanking
more can reopen rules (Aggarwal, Pei, Zhang 2006, do not mention it): mine again afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints
from sfumato.bound_words import spell_at_most
from sfumato.details import Entry
from sfumato.errors import DataError, ImpossibleRelease, PolicyError, count_noun
from sfumato.mine.entries.learner import (
    LEARNERS,
    ColumnGuesses,
    LearnerFeatures,
    LearningBudget,
    measure_leaning,
    predict_hidden,
)
from sfumato.runtime.progress import report_progress


def choose_entries_against_learners(
    frame: pl.DataFrame,
    hidden_entries: pl.DataFrame,
    threshold: float,
    chance: np.random.Generator,
    learners: Sequence[str] = LEARNERS,
    budget: LearningBudget | None = None,
) -> list[Entry]:
    """Visible entries to blank besides the hidden ones, as (row, column), in the order of choice.

    `hidden_entries` are the private entries (`row`, `column`, `value` as text), blank in the frame. Raises
    `ImpossibleRelease` if guessing the most common values alone is right more often than the threshold allows, or if
    there are too few private entries to show anything.
    """
    if not 0 < threshold <= 1:
        raise PolicyError("the threshold for learners must be a share above 0 and at most 1")
    secrets = hidden_entries.drop_nulls("value")
    _refuse_visible_secrets(frame, secrets)
    total = secrets.height
    if not total:
        return []
    allowed_count = count_allowed_guesses(total, threshold)
    blanked_entries: list[Entry] = []
    while True:
        report_progress("blanking against learners", len(blanked_entries))
        guesses_by_column = predict_hidden(frame, secrets, learners, chance, budget)
        rounds = [_GuessingRound.of(guesses, secrets) for guesses in guesses_by_column]
        _refuse_hopeless(rounds, total, allowed_count, threshold)
        excess = sum(int(guessing_round.right.sum()) for guessing_round in rounds) - allowed_count
        if excess <= 0:
            return blanked_entries
        chosen_entries = _list_misleading_entries(rounds, excess)
        if not chosen_entries:
            raise ImpossibleRelease(
                f"learners guess {count_noun(excess, 'private entry', 'private entries')} more than a threshold of "
                f"{threshold} allows, although nothing is visible any more in their rows; raise the threshold, or make "
                "fewer entries private"
            )
        blanked_entries += chosen_entries
        frame = blank_frame_entries(frame, chosen_entries)


def count_allowed_guesses(total: int, threshold: float) -> int:
    """The most correct guesses of `total` whose share is surely under the threshold; −1 if not even 0 is."""
    low, high = -1, total
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if bound_guessed_share(middle, total) <= threshold else (low, middle - 1)
    return low


def bound_guessed_share(successes: int, attempts: int) -> float:
    """The upper end of Wilson's 95 % interval of a share."""
    from scipy.stats import binomtest

    return float(binomtest(successes, attempts).proportion_ci(method="wilson").high)


def blank_frame_entries(frame: pl.DataFrame, entries: Sequence[Entry]) -> pl.DataFrame:
    """The frame with some entries blank."""
    rows: dict[str, list[int]] = {}
    for row, column in entries:
        rows.setdefault(column, []).append(row)
    blanks = [frame[name].clone().scatter(places, None) for name, places in rows.items()]
    return frame.with_columns(blanks)


@dataclass(frozen=True, eq=False)
class _GuessingRound:
    """The guesses for one column, and which are correct."""

    guesses: ColumnGuesses
    right: Flags
    prior: int
    """How many correct guesses the most common value would give."""

    @classmethod
    def of(cls, guesses: ColumnGuesses, secrets: pl.DataFrame) -> _GuessingRound:
        true = guesses.classes.number(secrets.filter(pl.col("column") == guesses.column)["value"])
        known_mask = true >= 0
        return cls(guesses, (guesses.guess == true) & known_mask, int(((true == guesses.prior) & known_mask).sum()))

    @property
    def open(self) -> Flags:
        """Correct guesses in whose rows something is visible."""
        return np.asarray(self.right & self.guesses.features.take_rows(self.guesses.rows).visible.any(axis=1))

    @property
    def leans(self) -> Flags:
        """Those of them that would differ if nothing were visible."""
        if not self.right.any():
            return self.right
        blind = self.guesses.model.predict_probabilities(self.guesses.features.build_empty_row()).argmax(axis=1)
        return np.asarray(self.open & (self.guesses.guess != blind[0]))


def _list_misleading_entries(rounds: Sequence[_GuessingRound], excess: int) -> list[Entry]:
    """Entries whose blanking changes the excess correct guesses, the most confident ones first."""
    owner = np.concatenate([np.full(len(guessing_round.right), index) for index, guessing_round in enumerate(rounds)])
    positions = np.concatenate([np.arange(len(guessing_round.right)) for guessing_round in rounds])
    sure = np.concatenate([guessing_round.guesses.confidence for guessing_round in rounds])
    can = np.concatenate([guessing_round.open for guessing_round in rounds])
    can_turn = np.concatenate([guessing_round.leans for guessing_round in rounds])
    # Blanking does not change a guess for a row without any entry; such rows are a last resort.
    candidates = np.flatnonzero(can_turn if can_turn.any() else can)
    order = candidates[np.argsort(-sure[candidates], kind="stable")][:excess]
    chosen_entries: dict[Entry, None] = {}
    for index, guessing_round in enumerate(rounds):
        own_order = order[owner[order] == index]
        chosen_entries |= dict.fromkeys(
            _list_turning_entries(guessing_round.guesses, positions[own_order]) if len(own_order) else ()
        )
    return list(chosen_entries)


def _list_turning_entries(guesses: ColumnGuesses, guess_indices: Ints) -> list[Entry]:
    """For some guesses of a column, the entries to blank until the current learner would guess otherwise."""
    features = guesses.features.take_rows(guesses.rows[guess_indices])
    still = np.arange(len(guess_indices))
    chosen_entries: list[Entry] = []
    while len(still):
        report_progress("blanking against learners")
        part = features.take_rows(still)
        column_leanings = measure_leaning(guesses, guess_indices[still], part)
        column = column_leanings.argmax(axis=1)
        visible_mask = part.visible[np.arange(len(still)), column]
        still, column = still[visible_mask], column[visible_mask]
        chosen_entries += [
            (int(guesses.rows[guess_indices[row]]), features.names[index])
            for row, index in zip(still, column, strict=True)
        ]
        features = _blank_features(features, still, column)
        new_guesses = (
            guesses.model.predict_probabilities(features.take_rows(still)).argmax(axis=1) if len(still) else still
        )
        still = still[new_guesses == guesses.guess[guess_indices[still]]]
    return chosen_entries


def _blank_features(features: LearnerFeatures, rows: Ints, columns: Ints) -> LearnerFeatures:
    numbers, bins = features.numbers.copy(), features.bins.copy()
    numbers[rows, columns], bins[rows, columns] = np.nan, features.widths[columns]
    return LearnerFeatures(features.names, numbers, bins, features.widths, features.coded_mask)


def _refuse_visible_secrets(frame: pl.DataFrame, secrets: pl.DataFrame) -> None:
    absent = set(secrets["column"].to_list()) - set(frame.columns)
    if absent:
        raise DataError(
            f"{count_noun(len(absent), 'column with private entries is', 'columns with private entries are')} not in "
            "the table"
        )
    visible = sum(
        int(frame[str(name)].gather(part["row"]).is_not_null().sum()) for (name,), part in secrets.group_by("column")
    )
    if visible:
        raise DataError(
            f"{count_noun(visible, 'private entry is', 'private entries are')} visible; blank them before the entries "
            "that learners use"
        )


def _refuse_hopeless(rounds: Sequence[_GuessingRound], total: int, allowed_count: int, threshold: float) -> None:
    if allowed_count < 0:
        raise ImpossibleRelease(
            f"{count_noun(total, 'private entry is', 'private entries are')} too few to show that learners guess at "
            f"most {threshold} of them: even without a correct guess the interval ends at "
            f"{spell_at_most(bound_guessed_share(0, total))}; raise the threshold"
        )
    prior = sum(guessing_round.prior for guessing_round in rounds)
    if prior > allowed_count:
        raise ImpossibleRelease(
            f"guessing the most common value of each column is right for {prior} of {total} private entries "
            f"({prior / total:.4f}, interval up to {bound_guessed_share(prior, total):.4f}), which blanking others "
            f"does not change; a threshold of {threshold} cannot be reached"
        )
