# SPDX-License-Identifier: MIT
"""Homogeneity: learn what all the rows have in common that somebody may be.

Against a release that hides people among others without looking at what those others have: the adversary need
not find the person's row when every row that fits says the same. What leaks is the sensitive value itself.
Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, *l-diversity* (2006).
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
    look_up_candidates,
)
from sfumato.attack.anonymity.links import Links
from sfumato.attack.attack import Attack, GuessedColumns, Outcome
from sfumato.progress import report_progress
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table

_DIGITS = 12


class Homogeneity(Attack):
    """A neighbour looks somebody up, finds several rows, and sees that they all name the same disease.

    The adversary knows that the person is in the table, and their quasi-identifying values. It takes the rows
    that fit, as in linking, and learns the sensitive value when all of them agree, or at least a share of them.
    The risk is the share of people whose value is disclosed, and rightly. k-anonymity does not help; l-diversity
    with l ≥ 2 leaves nothing to a share of 1. Machanavajjhala et al. 2006.
    """

    story: ClassVar[str] = (
        "A neighbour looks a person up by {known}, finds several rows, and sees that they all have the same {any}."
    )
    guesses: ClassVar[GuessedColumns] = "sensitive"
    public_fields: ClassVar[tuple[str, ...]] = ("column", "share")

    attack: Literal["homogeneity"] = "homogeneity"
    column: str | None = None
    """The sensitive column to learn; every sensitive column in turn if not given, and one learnt is a success."""
    share: float = Field(default=1.0, gt=0.0, le=1.0)
    """The share of the rows found that must agree before the adversary believes them."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Look up every person; count whose value the rows found agree on."""
        published_table: Table = release.data
        names = choose_sensitive_columns(published_table, self.column)
        report_progress("homogeneity")
        people, control = draw_tried_people(release, truth, control)
        links, look_up = choose_candidates(
            release, people, count=lambda links: self._count_learnt(links, published_table, people, names)
        )
        sets = CandidateSets.of(links)
        hit, blind, agree = np.zeros(len(people), bool), np.zeros(len(people), bool), np.zeros(len(sets.sizes), bool)
        for name in names:
            tally = sets.tally(published_table, people, name)
            agree |= self._flag_agreeing_sets(tally)
            hit |= self._flag_learned(tally)
            blind |= tally.truth == 0
        return Outcome(
            attempts=len(people),
            successes=int(hit.sum()),
            baseline=int(blind.sum()),
            control=None if control is None else self._count_learnt(look_up(control), published_table, control, names),
            facts={
                "homogeneous_classes": int(agree.sum()),
                "classes": len(agree),
                "people_in_them": int(sets.spread_to_people(agree).sum()),
                "columns": list(names),
            },
        )

    def _flag_agreeing_sets(self, tally: ValueTally) -> Flags:
        """In which sets of rows enough of them say the same."""
        return np.asarray(np.round(tally.most / tally.sizes - self.share, _DIGITS) >= 0)

    def _count_learnt(self, links: Links, published_table: Table, people: Table, names: tuple[str, ...]) -> int:
        """About how many of some people the rows that fit agree, and are right."""
        sets, hit = CandidateSets.of(links), np.zeros(len(people), bool)
        for name in names:
            hit |= self._flag_learned(sets.tally(published_table, people, name))
        return int(hit.sum())

    def _flag_learned(self, tally: ValueTally) -> Flags:
        """Whose value is disclosed, and rightly."""
        guesses = np.where(self._flag_agreeing_sets(tally), tally.commonest, -2)
        return np.asarray(tally.sets.spread_to_people(guesses, -2) == tally.truth)


def count_homogeneous_people(published_table: Table, people: Table, names: tuple[str, ...]) -> int:
    """About how many of some people the rows that cover them agree, and are right."""
    return Homogeneity()._count_learnt(look_up_candidates(published_table, people), published_table, people, names)
