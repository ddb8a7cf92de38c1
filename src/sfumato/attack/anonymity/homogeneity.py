# SPDX-License-Identifier: MIT
"""Homogeneity: learn the value shared by all rows that match a person.

Against a release that hides people among others without looking at what those others have: the adversary need
not find the person's row when every row that fits says the same. What leaks is the sensitive value itself.
Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, *l-diversity* (2006).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.arrays import Flags
from sfumato.attack.anonymity.sensitive_guesses import SensitiveAttack
from sfumato.attack.candidates import CandidateSets, ValueTally, look_up_candidates
from sfumato.table import Table

_DIGITS = 12


class Homogeneity(SensitiveAttack):
    """A neighbour looks someone up, finds several rows, and sees that they all name the same disease.

    The adversary knows that the person is in the table, and their quasi-identifying values. It takes the rows
    that fit, as in linking, and learns the sensitive value when all of them agree, or at least a share of them.
    The risk is the share of people whose value is disclosed, and rightly. The baseline guesses the most common value
    for those about whom enough rows agree. k-anonymity does not help; l-diversity with l ≥ 2 leaves nothing to a share
    of 1. Machanavajjhala et al. 2006.
    """

    story: ClassVar[str] = (
        "A neighbour looks a person up by {known}, finds several rows, and checks whether they all have the same {any}."
    )
    story_of_share: ClassVar[str] = (
        "A neighbour looks a person up by {{known}}, finds several rows, and checks whether at least {share:g} % of "
        "them have the same {{any}}."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column", "share")
    speaks_of_some: ClassVar[bool] = True
    report_labels: ClassVar[Mapping[str, str]] = {"share": "Rows that must agree"}
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    attack: Literal["homogeneity"] = "homogeneity"
    share: float = Field(default=1.0, gt=0.0, le=1.0)
    """The share of the rows found that must agree before the adversary believes them."""

    @classmethod
    def choose_story(cls, attack: Mapping[str, Any]) -> str:
        """With a share below 1, not all rows must agree."""
        share = attack.get("share", 1.0)
        return cls.story if share == 1 else cls.story_of_share.format(share=round(100 * share, 10))

    def flag_learnt(self, tally: ValueTally) -> Flags:
        """Whose value is disclosed, and rightly."""
        guesses = np.where(self.flag_telling(tally), tally.commonest, -2)
        return np.asarray(tally.sets.spread_to_people(guesses, -2) == tally.truth)

    def flag_blind(self, tally: ValueTally) -> Flags:
        """Who has the most common value, of those about whom something is said."""
        says_value = self.flag_telling(tally) & (tally.commonest < tally.value_count)
        return np.asarray(tally.sets.spread_to_people(says_value) & (tally.truth == 0))

    def flag_telling(self, tally: ValueTally) -> Flags:
        """In which sets of rows enough of them say the same."""
        return np.asarray(np.round(tally.most / tally.sizes - self.share, _DIGITS) >= 0)

    def state_facts(self, sets: CandidateSets, telling_mask: Flags) -> Mapping[str, Any]:
        """How many sets of rows agree, and how many people may be in them."""
        return {
            "homogeneous_classes": int(telling_mask.sum()),
            "classes": len(telling_mask),
            "people_in_them": int(sets.spread_to_people(telling_mask).sum()),
        }


def count_homogeneous_people(published_table: Table, people: Table, names: tuple[str, ...]) -> int:
    """About how many of some people the rows that cover them agree, and are right."""
    return Homogeneity().count_learnt(look_up_candidates(published_table, people), published_table, people, names)
