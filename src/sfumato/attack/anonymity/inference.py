# SPDX-License-Identifier: MIT
"""Inference: read somebody's secret off the published row that is most like them.

The third of the three questions of the Article 29 Working Party (WP216, 2014). Against a release that hides who
is who but keeps what goes with what. What is learnt of people who are not in the data is knowledge about the
world, not a breach: the control group tells the two apart. Giomi, Boenisch, Wehmeyer, Tasnádi (Anonymeter,
PoPETs 2023); the code is our own. What «nearest» means stands in `linkability`.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Flags, Ints
from sfumato.attack.anonymity.nearest import Labels, Nearest, over_control, require, some, some_of
from sfumato.attack.attack import Attack, Columns, Outcome
from sfumato.errors import DataError
from sfumato.progress import tell
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
        names = self._knowledge(published)
        require((*names, self.column), published, truth, control)
        chance = (randomness or Randomness.seeded(0)).generator()
        tell("inference")
        nearest, secrets = Nearest.of(published, names), Labels.of(published, self.column)
        people = some_of(release, truth, self.attempts, chance)
        if not len(published):
            return Outcome(attempts=len(people), successes=0, baseline=0, control=None if control is None else 0)
        successes = self._told(nearest, secrets, people, chance)
        blind = secrets.codes[chance.integers(0, len(published), len(people))]
        baseline = int(self._right(secrets, blind, people.frame[self.column], chance).sum())
        strangers = None if control is None else some(control, self.attempts, chance)
        told = None if strangers is None else self._told(nearest, secrets, strangers, chance)
        return Outcome(
            attempts=len(people),
            successes=successes,
            baseline=baseline,
            control=told,
            facts={
                "column": self.column,
                "known": list(names),
                **over_control(successes, len(people), told, 0 if strangers is None else len(strangers)),
            },
        )

    def _knowledge(self, published: Table) -> tuple[str, ...]:
        names = self.known or tuple(name for name in published.quasi_identifying if name != self.column)
        if self.column in names:
            raise DataError(f"inference: «{self.column}» is both known and to be learnt; take it out of `known`")
        if not names:
            raise DataError(f"{published.source}: no column is known to the adversary; name some as `known`")
        return names

    def _told(self, nearest: Nearest, secrets: Labels, people: Table, chance: np.random.Generator) -> int:
        """How many people's secrets the nearest rows tell."""
        votes = secrets.codes[nearest.rows(people, self.neighbours, chance)]
        return int(self._right(secrets, _commonest(votes), people.frame[self.column], chance).sum())

    def _right(self, secrets: Labels, guesses: Ints, truth: pl.Series, chance: np.random.Generator) -> Flags:
        """Which guesses are right; «not known» is no secret, so nobody is right about it."""
        distinct, place = np.unique(guesses, return_inverse=True)
        guessed = secrets.take(distinct)
        here = np.arange(len(truth))
        # Of the values that a label covers the adversary takes one.
        drawn = chance.random(len(truth)) * guessed.sizes[place] < 1
        right = guessed.covers(truth)[here, place] & drawn
        if truth.dtype.is_numeric():
            numbers = truth.cast(pl.Float64).fill_null(float("nan")).to_numpy()
            middle = ((guessed.low + guessed.high) / 2)[place]
            close = np.abs(middle - numbers) <= self.tolerance * np.abs(numbers) + 1e-12 * np.abs(numbers)
            right = np.where(np.isfinite(middle), close, right)
        return np.asarray(right & truth.is_not_null().to_numpy())


def _commonest(votes: Ints) -> Ints:
    """The label that stands most often in each row, the first of several."""
    counts = (votes[:, :, None] == votes[:, None, :]).sum(axis=2)
    return np.asarray(votes[np.arange(len(votes)), counts.argmax(axis=1)])
