# SPDX-License-Identifier: MIT
"""Inference: read somebody's secret off the published row that is most like them.

The third of the three questions of the Article 29 Working Party (WP216, 2014). Against a release that hides who
is who but keeps what goes with what. What is learnt of people who are not in the data is knowledge about the
world, not a breach: the control group tells the two apart. Giomi, Boenisch, Wehmeyer, Tasnádi (Anonymeter,
PoPETs 2023); the code is our own. What "nearest" means stands in `linkability`.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Flags, Ints
from sfumato.attack.anonymity.row_distance import (
    LabelColumn,
    RowSearch,
    compare_with_control,
    require_known_columns,
    sample_people,
    sample_published_people,
)
from sfumato.attack.attack import Attack, Columns, Outcome
from sfumato.errors import DataError
from sfumato.progress import report_progress
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table


class Inference(Attack):
    """A colleague knows somebody's age, sex and home, and reads their salary off the most similar published row.

    The adversary takes the rows nearest to what is known, and guesses the secret that most of them have. A number
    is right within a tolerance; of a published label that covers several values one is drawn, of a range the
    middle is taken. The risk is the share of right guesses. The baseline draws from the release's own
    distribution; the control are people who are not in the data. WP216, 2014; Giomi and others, Anonymeter, 2023.
    """

    public_fields: ClassVar[tuple[str, ...]] = ("column", "known", "attempts", "neighbours", "tolerance")

    attack: Literal["inference"] = "inference"
    column: str
    """The secret: the column that is guessed."""
    known: Columns | None = None
    """The columns that the adversary knows; all quasi-identifying ones but the secret if not given."""
    attempts: int = Field(default=500, ge=1)
    """How many people are tried; everybody if there are fewer."""
    neighbours: int = Field(default=1, ge=1)
    """How many nearest rows are asked; the secret that most of them have is guessed, the nearest's if all differ."""
    tolerance: float = Field(default=0.05, ge=0.0)
    """How far a guessed number may be from the right one, as a share of it."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Guess the secret of some people; count how often it was right."""
        published: Table = release.data
        names = self._choose_known_columns(published)
        require_known_columns((*names, self.column), published, truth, control)
        chance = (randomness or Randomness.seeded(0)).generator()
        report_progress("inference")
        nearest, secrets = RowSearch.of(published, names), LabelColumn.of(published, self.column)
        people = sample_published_people(release, truth, self.attempts, chance)
        if not len(published):
            return Outcome(attempts=len(people), successes=0, baseline=0, control=None if control is None else 0)
        successes = self._count_told_secrets(nearest, secrets, people, chance)
        blind = secrets.codes[chance.integers(0, len(published), len(people))]
        baseline = int(self._right(secrets, blind, people.frame[self.column], chance).sum())
        strangers = None if control is None else sample_people(control, self.attempts, chance)
        stranger_guesses = None if strangers is None else self._count_told_secrets(nearest, secrets, strangers, chance)
        return Outcome(
            attempts=len(people),
            successes=successes,
            baseline=baseline,
            control=stranger_guesses,
            facts={
                "column": self.column,
                "known": list(names),
                **compare_with_control(
                    successes, len(people), stranger_guesses, 0 if strangers is None else len(strangers)
                ),
            },
        )

    def _choose_known_columns(self, published: Table) -> tuple[str, ...]:
        names = self.known or tuple(name for name in published.quasi_identifying if name != self.column)
        if self.column in names:
            raise DataError(f'inference: "{self.column}" is both known and to be learnt; take it out of `known`')
        if not names:
            raise DataError(f"{published.source}: no column is known to the adversary; name some as `known`")
        return names

    def _count_told_secrets(
        self, nearest: RowSearch, secrets: LabelColumn, people: Table, chance: np.random.Generator
    ) -> int:
        """How many people's secrets the nearest rows tell."""
        votes = secrets.codes[nearest.rows(people, self.neighbours, chance)]
        return int(self._right(secrets, _pick_most_voted(votes), people.frame[self.column], chance).sum())

    def _right(self, secrets: LabelColumn, guesses: Ints, truth: pl.Series, chance: np.random.Generator) -> Flags:
        """Which guesses are right; "not known" is no secret, so nobody is right about it."""
        distinct, guess_index = np.unique(guesses, return_inverse=True)
        guessed = secrets.take(distinct)
        here = np.arange(len(truth))
        # Of the values that a label covers the adversary takes one.
        is_drawn = chance.random(len(truth)) * guessed.sizes[guess_index] < 1
        right = guessed.covers(truth)[here, guess_index] & is_drawn
        if truth.dtype.is_numeric():
            numbers = truth.cast(pl.Float64).fill_null(float("nan")).to_numpy()
            middle = ((guessed.low + guessed.high) / 2)[guess_index]
            close = np.abs(middle - numbers) <= self.tolerance * np.abs(numbers) + 1e-12 * np.abs(numbers)
            right = np.where(np.isfinite(middle), close, right)
        return np.asarray(right & truth.is_not_null().to_numpy())


def _pick_most_voted(votes: Ints) -> Ints:
    """The label that stands most often in each row, the first of several."""
    counts = (votes[:, :, None] == votes[:, None, :]).sum(axis=2)
    return np.asarray(votes[np.arange(len(votes)), counts.argmax(axis=1)])
