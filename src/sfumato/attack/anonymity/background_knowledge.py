# SPDX-License-Identifier: MIT
"""Background knowledge: rule out what the person does not have, and take what is left.

Against a release whose classes hold several values: an adversary who knows that Bob has no heart disease strikes those
rows out. What leaks is the value that remains, or that is the most common of those that remain. What an adversary knows
cannot be predicted, so the attack assumes the strongest one: it happens to know just the wrong values that stand in its
way. Machanavajjhala et al., *l-diversity* (2006); Martin et al., *worst-case background knowledge* (2007).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.arrays import Flags
from sfumato.attack.anonymity.sensitive_guesses import SensitiveAttack
from sfumato.attack.candidates import CandidateSets, ValueTally


class BackgroundKnowledge(SensitiveAttack):
    """A colleague looks someone up, finds three diseases, and knows that it is not two of them.

    The adversary links as usual, and can rule out some values for the target. The strongest such adversary is
    played: it rules out the wrong values that are most common among the rows found, as many as it may, and guesses
    the most common value left; or does so with the values of all rows, as the baseline does, if that is right more
    often. The risk is the share of people whose value is guessed rightly. Under distinct l-diversity l − 2 exclusions
    leave at least two values; l − 1 pin the value in a class that has just l. Machanavajjhala et al. 2006.
    """

    story: ClassVar[str] = (
        "A colleague looks a person up by {known}, finds several values of {any}, and knows which of them are wrong."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column", "excluded")
    speaks_of_some: ClassVar[bool] = True
    guesses_anyway: ClassVar[bool] = True
    report_labels: ClassVar[Mapping[str, str]] = {"excluded": "Wrong values ruled out"}
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    attack: Literal["background_knowledge"] = "background_knowledge"
    excluded: int = Field(default=1, ge=0, strict=True)
    """How many wrong values the adversary can rule out for each person."""

    def flag_learnt(self, tally: ValueTally) -> Flags:
        """Whose own value comes first once the most common wrong ones are struck out.

        Every value before it in the order of commonness is wrong: if they are few enough, all are struck out; if
        not, one of them is still there and is guessed.
        """
        truth_places = tally.find_truth_places()
        return np.asarray((truth_places >= 0) & (np.append(tally.rank, 0)[truth_places] <= self.excluded))

    def flag_telling(self, tally: ValueTally) -> Flags:
        """For whom no other value is left."""
        few = tally.sets.spread_to_people(tally.distinct, 0) <= self.excluded + 1
        return np.asarray(few & (tally.find_truth_places() >= 0))

    def flag_blind(self, tally: ValueTally) -> Flags:
        """Who has one of the most common values, of those whom rows fit."""
        return np.asarray((tally.sets.of_person >= 0) & (tally.truth >= 0) & (tally.truth <= self.excluded))

    def state_facts(self, sets: CandidateSets, telling_mask: Flags) -> Mapping[str, Any]:
        """How many people have no other value left."""
        return {"pinned": int(telling_mask.sum())}
