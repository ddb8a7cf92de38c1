# SPDX-License-Identifier: MIT
"""Family matching: the adversary knows the kind of distribution, and a few points to find its parameters by.

Against codes that keep the order of values, whatever the function: the share of rows below a code is the share of rows
below its value, and a distribution says which value that is. What leaks is the true value of a code, within a radius.
Bu, Lakshmanan, Ng and Ramesh (ICDE 2007), Section 3.3, name an adversary who knows "that a given attribute follows a
certain distribution (e.g., Zipf, Gaussian), even though the parameters may not be known exactly", and do not run it.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.attack.codes.code_guesses import CrackPlan, Cracks, DrawnCodeAttack, split_trials
from sfumato.public.codes.coded_columns import CodedColumn
from sfumato.public.codes.crack_functions import KnowledgePoints
from sfumato.public.codes.distribution_families import Family, guess_by_family
from sfumato.release import Release
from sfumato.runtime.progress import report_progress


class FamilyMatching(DrawnCodeAttack):
    """A provider knows that body heights are Gaussian and what two codes stand for, and works out all the others.

    The adversary knows the family of the column's distribution, and for a few codes about which value they stand for.
    How many rows have a smaller code can be counted, so these points give the location and the scale, and every other
    code gets the value that the distribution has at its share of rows; the other way round if codes fall while values
    rise. The risk is the share of people whose value is read within the radius, in the median of many draws of points,
    and in the column where most are. A single curve or random breakpoints do not protect, since they keep the order;
    permuted values do, and so does a column that is far from every common family.
    """

    story: ClassVar[str] = (
        "A provider knows what kind of distribution {target} has and what a few codes stand for, works out "
        "the parameters, and reads off all other values."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column", "family", "points", "bad", "radius", "trials")
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    attack: Literal["family_matching"] = "family_matching"
    family: Family = "gaussian"
    """What the adversary knows of the distribution: `gaussian`, `uniform`, `exponential`, `lognormal`, or `zipf` (the
    share of larger values falls as a power of the value)."""
    points: int = Field(default=2, ge=2, strict=True)
    """How many codes the adversary knows, each to within the radius."""
    bad: int = Field(default=0, ge=0, strict=True)
    """How many further codes the adversary is mistaken about, by more than five radii."""

    def plan_cracking(self, release: Release, chance: np.random.Generator) -> CrackPlan:
        """Draw points, fit the family, and read off all codes."""

        def crack_column(column: CodedColumn, judge: CodedColumn, trials: int) -> dict[str, Cracks]:
            ascending_cracks: list[Cracks] = []
            descending_cracks: list[Cracks] = []
            for done_count, part in enumerate(split_trials(trials, column)):
                report_progress("matching a family", done_count)
                known_points = KnowledgePoints.draw(column, self.points, self.bad, self.radius, part, chance)
                shares = column.middle[np.searchsorted(column.codes, known_points.codes)]
                for outcomes, code_shares, point_shares in (
                    (ascending_cracks, column.middle, shares),
                    (descending_cracks, 1 - column.middle, 1 - shares),
                ):
                    guesses = guess_by_family(self.family, code_shares, point_shares, known_points.values)
                    outcomes.append(Cracks.of(judge, guesses, self.radius))
            return {"by family": Cracks.join(ascending_cracks), "by family, falling": Cracks.join(descending_cracks)}

        facts = {"family": self.family, "good_points": self.points, "bad_points": self.bad}
        return CrackPlan(crack_column, self.trials, facts)
