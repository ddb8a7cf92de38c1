# SPDX-License-Identifier: MIT
"""Background knowledge: rule out what the person does not have, and take what is left.

Against a release whose classes hold several values: an adversary who knows that Bob has no heart disease strikes
those rows out. What leaks is the value that remains, or that is the commonest of those that remain. How much an
adversary knows cannot be told beforehand, so the strongest is taken: it happens to know just the wrong values that
stand in its way. Machanavajjhala et al., *l-diversity* (2006); Martin et al., *worst-case background knowledge* (2007).
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.arrays import Flags
from sfumato.attack.anonymity.candidates import (
    CandidateSets,
    ValueTally,
    choose_candidates,
    choose_sensitive_columns,
    draw_tried_people,
)
from sfumato.attack.anonymity.links import Links
from sfumato.attack.attack import Attack, GuessedColumns, Outcome
from sfumato.progress import report_progress
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table


class BackgroundKnowledge(Attack):
    """A colleague looks somebody up, finds three diseases, and knows that it is not two of them.

    The adversary links as usual, and can rule out some values for the target. The strongest such adversary is
    played: it rules out the wrong values that are commonest among the rows found, so many as it may, and guesses
    the commonest value left. The risk is the share of people whose value is guessed rightly. Under distinct
    l-diversity l − 2 exclusions leave at least two values; l − 1 pin the value in a class that has just l.
    Machanavajjhala et al. 2006.
    """

    story: ClassVar[str] = (
        "A colleague looks a person up by {known}, finds several values of {any}, and knows which of them are wrong."
    )
    guesses: ClassVar[GuessedColumns] = "sensitive"
    public_fields: ClassVar[tuple[str, ...]] = ("column", "excluded")

    attack: Literal["background_knowledge"] = "background_knowledge"
    column: str | None = None
    """The sensitive column to learn; every sensitive column in turn if not given, and one learnt is a success."""
    excluded: int = Field(default=1, ge=0, strict=True)
    """How many wrong values the adversary can rule out for each person."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Look up every person, strike out, guess the commonest left."""
        published_table: Table = release.data
        names = choose_sensitive_columns(published_table, self.column)
        report_progress("background knowledge")
        people, control = draw_tried_people(release, truth, control)
        links, look_up = choose_candidates(
            release, people, count=lambda links: self._count_right(links, published_table, people, names)
        )
        sets = CandidateSets.of(links)
        hit, pinned_mask, blind = (np.zeros(len(people), dtype=np.bool_) for _ in range(3))
        for name in names:
            tally = sets.tally(published_table, people, name)
            hit |= self._flag_guessed(tally)
            pinned_mask |= self._flag_pinned_people(tally)
            blind |= (tally.truth >= 0) & (tally.truth <= self.excluded)
        return Outcome(
            attempts=len(people),
            successes=int(hit.sum()),
            baseline=int(blind.sum()),
            control=None if control is None else self._count_right(look_up(control), published_table, control, names),
            facts={"pinned": int(pinned_mask.sum()), "columns": list(names)},
        )

    def _flag_guessed(self, tally: ValueTally) -> Flags:
        """Whose own value comes first once the commonest wrong ones are struck out.

        Every value before it in the order of commonness is wrong: if they are few enough, all are struck out; if
        not, one of them is still there and is guessed.
        """
        truth_places = tally.find_truth_places()
        return np.asarray((truth_places >= 0) & (np.append(tally.rank, 0)[truth_places] <= self.excluded))

    def _flag_pinned_people(self, tally: ValueTally) -> Flags:
        """For whom no other value is left."""
        few = tally.sets.spread_to_people(tally.distinct, 0) <= self.excluded + 1
        return np.asarray(few & (tally.find_truth_places() >= 0))

    def _count_right(self, links: Links, published_table: Table, people: Table, names: tuple[str, ...]) -> int:
        sets = CandidateSets.of(links)
        hit = np.zeros(len(people), dtype=np.bool_)
        for name in names:
            hit |= self._flag_guessed(sets.tally(published_table, people, name))
        return int(hit.sum())
