# SPDX-License-Identifier: MIT
"""Inference: read someone's secret off the published row that is most like them.

The third of the three questions of the Article 29 Working Party (WP216, 2014). Against a release that hides who
is who but keeps what goes with what. What is learned of people who are not in the data is knowledge about the
world, not a breach: the control group distinguishes the two. Giomi, Boenisch, Wehmeyer, Tasnádi (Anonymeter,
PoPETs 2023); the code is our own. What "nearest" means stands in `row_distance` and `likelihood`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Floats, Ints
from sfumato.attack.anonymity.links import find_links
from sfumato.attack.anonymity.recoding import Recoding, list_recodings
from sfumato.attack.anonymity.row_search import RowSearch
from sfumato.attack.anonymity.secret_votes import SecretVotes
from sfumato.attack.anonymity.strongest_links import refuse_codes, search_by_likelihood
from sfumato.attack.attack import Attack, Columns, Outcome, round_expected
from sfumato.attack.literal_values import LiteralValues
from sfumato.attack.missing_readings import list_readings
from sfumato.attack.row_distance import (
    LabelColumn,
    compare_with_control,
    require_attacked_columns,
    sample_people,
    sample_published_people,
)
from sfumato.errors import DataError
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

_Guess = Callable[[Table], Ints]
"""For each of some people, which published label of the secret is guessed."""


class _GuessReading(NamedTuple):
    """A way to guess, and which texts it takes for values."""

    guess: _Guess
    secrets: LabelColumn
    values: LiteralValues


class Inference(Attack):
    """A colleague knows someone's age, sex and home, and reads their salary off the most similar published row.

    The adversary takes the rows nearest to what is known, by the distance of cells or by how likely they are given all
    that is published, or all rows that fit, and guesses the secret that most of them have; or does not look, and
    guesses the most common. It does what works best on other people, whose secrets it knows; if the release has at most
    twice as many people as attempts, it tunes on the attacked people themselves, so the risk is an upper bound. A
    number is right within a tolerance; of a published label that covers several values one is drawn, and the average is
    counted; of a range the middle is taken. The risk is the share of right guesses. The baseline guesses the most
    common secret for everybody; the control are people who are not in the data. WP216, 2014; Giomi and others,
    Anonymeter, 2023.
    """

    story: ClassVar[str] = (
        "A colleague knows a person's {known}, and reads their {target} off the most similar published row."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column", "known", "attempts", "neighbours", "tolerance")
    report_labels: ClassVar[Mapping[str, str]] = {
        "neighbours": "Nearest rows asked",
        "tolerance": "Numbers right within this share",
    }
    column_fields: ClassVar[tuple[str, ...]] = ("column", "known")

    attack: Literal["inference"] = "inference"
    column: str
    """The secret: the column that is guessed."""
    known: Columns | None = None
    """The columns that the adversary knows; all quasi-identifying ones but the secret if not given."""
    attempts: int = Field(default=500, ge=1)
    """How many people are tried; everybody if there are fewer."""
    neighbours: int = Field(default=1, ge=1)
    """How many nearest rows are asked, and all that are as near as the last; the secret that most have is guessed. The
    nearest alone is asked, too."""
    tolerance: float = Field(default=0.05, ge=0.0)
    """How far a guessed number may be from the right one, as a share of it."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Guess the secret of some people; count how often it was right."""
        published_table: Table = release.data
        names = self._choose_known_columns(published_table)
        refuse_codes(release, names)
        require_attacked_columns((*names, self.column), published_table, truth, control)
        chance = (randomness or Randomness.seeded(0)).generator()
        report_progress("inference")
        people, acquaintances = self._draw_people(release, truth, chance)
        if not len(published_table):
            return Outcome(
                attempts=len(people),
                successes=0,
                baseline=0,
                control=None if control is None else 0,
                targets=(self.column,),
                known_columns=(names,),
            )
        readings = LiteralValues.list_readings(release, truth, (*names, self.column))
        ways = [way for values in readings for way in self._list_ways(values, release, people, names)]
        best = max(ways, key=lambda way: self._count_right(way, acquaintances))
        blind = next(way for way in reversed(ways) if way.values is best.values)
        successes, baseline = (self._count_right(way, people) for way in (best, blind))
        strangers = None if control is None else sample_people(control, self.attempts, chance)
        stranger_guesses = None if strangers is None else self._count_right(best, strangers)
        return Outcome(
            attempts=len(people),
            successes=successes,
            baseline=baseline,
            control=stranger_guesses,
            targets=(self.column,),
            known_columns=(names,),
            facts={
                "column": self.column,
                "known": list(names),
                **compare_with_control(
                    successes, len(people), stranger_guesses, 0 if strangers is None else len(strangers)
                ),
            },
        )

    def _choose_known_columns(self, published_table: Table) -> tuple[str, ...]:
        names = self.known or tuple(name for name in published_table.quasi_identifying if name != self.column)
        if self.column in names:
            raise DataError(f'inference: "{self.column}" is the target; remove it from `known`')
        if not names:
            raise DataError(f"{published_table.source}: no column is known to the adversary; name some as `known`")
        return names

    def _draw_people(self, release: Release, truth: Table, chance: np.random.Generator) -> tuple[Table, Table]:
        """The people to try, and others whose secrets the adversary knows; the same ones where too few are left."""
        drawn_people = sample_published_people(release, truth, 2 * self.attempts, chance)
        if len(drawn_people) < 2 * self.attempts:
            people = sample_people(drawn_people, self.attempts, chance)
            return people, people
        order = chance.permutation(len(drawn_people))
        tried_rows, acquaintance_rows = (np.sort(part) for part in (order[: self.attempts], order[self.attempts :]))
        return drawn_people.replace_frame(drawn_people.frame[tried_rows]), drawn_people.replace_frame(
            drawn_people.frame[acquaintance_rows]
        )

    def _list_ways(
        self, values: LiteralValues, release: Release, people: Table, names: Sequence[str]
    ) -> list[_GuessReading]:
        """The ways to guess: by either search for the nearest rows or row, by all that fit, last without looking."""
        release, people = values.spell_release(release), values.spell(people)
        secrets = LabelColumn.of(release.data, self.column)
        votes = SecretVotes(secrets, self.tolerance if people.frame[self.column].dtype.is_numeric() else None)
        blind = votes.choose_blindly()

        def ask(search: RowSearch, recoding: Recoding, neighbours: int) -> _Guess:
            return lambda targets: votes.choose(search, recoding.apply(targets), neighbours)

        def ask_all(published_table: Table, recoding: Recoding, *, prefer_rare: bool) -> _Guess:
            return lambda targets: votes.choose_among(
                find_links(published_table, recoding.apply(targets), names), prefer_rare=prefer_rare
            )

        guesses = list[_Guess]()
        for reading in list_readings(release, people, names):
            for recoding in list_recodings(reading, people, names):
                by_distance = RowSearch.search_by_distance(reading.data, names)
                by_likelihood = search_by_likelihood(reading, people, names, recoding)
                for neighbours in sorted({self.neighbours, 1}, reverse=True):
                    guesses += [ask(search, recoding, neighbours) for search in (by_distance, by_likelihood)]
                guesses += [ask_all(reading.data, recoding, prefer_rare=prefer_rare) for prefer_rare in (False, True)]
        guesses.append(lambda targets: np.full(len(targets), blind))
        return [_GuessReading(guess, secrets, values) for guess in guesses]

    def _count_right(self, way: _GuessReading, people: Table) -> float:
        """How many guesses are right on average."""
        targets = way.values.spell(people)
        chances = self._weigh_right(way.secrets, way.guess(targets), targets.frame[self.column])
        return round_expected(float(chances.sum()))

    def _weigh_right(self, secrets: LabelColumn, guesses: Ints, truth: pl.Series) -> Floats:
        """How likely each guess is right; "not known" is not a secret, so nobody is right about it."""
        distinct, guess_index = np.unique(guesses, return_inverse=True)
        guessed_labels = secrets.take(distinct)
        # Of the values that a label covers the adversary takes one.
        right = guessed_labels.covers(truth)[np.arange(len(truth)), guess_index] / guessed_labels.sizes[guess_index]
        if truth.dtype.is_numeric():
            numbers = truth.cast(pl.Float64).fill_null(float("nan")).to_numpy()
            middle = ((guessed_labels.low + guessed_labels.high) / 2)[guess_index]
            close = np.abs(middle - numbers) <= self.tolerance * np.abs(numbers) + 1e-12 * np.abs(numbers)
            right = np.where(np.isfinite(middle), close, right)
        return np.asarray(right * truth.is_not_null().to_numpy())
