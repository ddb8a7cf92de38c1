# SPDX-License-Identifier: MIT
"""Sorting: put the codes in order, and assign them the values of the domain in order.

Against codes that keep the order of values. If every value between the smallest and the largest occurs, the rank is the
value; only gaps in the domain and permuted values protect. What leaks is the true value of a code, within a radius. Bu,
Lakshmanan, Ng and Ramesh (ICDE 2007), Sections 3.3, 5.4 and 6.2.3.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from sfumato.arrays import Floats
from sfumato.attack.codes.code_guesses import CodeAttack, CrackPlan, Cracks
from sfumato.public.codes.coded_columns import CodedColumn
from sfumato.public.codes.crack_functions import CodeRanges, bound_by_rank, rescale_codes, spread_evenly
from sfumato.release import Release


class Sorting(CodeAttack):
    """A miner knows that the data has employees of every age from 20 to 65; the codes, sorted, are the ages.

    The adversary knows the smallest and the largest true value (the worst case), and the step of the domain. The number
    of codes below and above a code bounds its value; the guess is drawn from this range, is its lower or its upper end,
    codes are spread evenly over the domain, or they are shifted and stretched to it; all this with rising and with
    falling values. The risk is the share of people whose value is read within the radius by the best of these, in the
    column where most are. For guesses drawn from ranges it is the expected share: |R_g ∩ R_ρ| / |R_g|, summed. With
    `knows_range` off, it uses the smallest and largest code instead. The facts state what share of distinct codes is
    cracked. Bu et al. 2007.
    """

    story: ClassVar[str] = (
        "A miner knows which values of {target} occur; the codes, sorted, are the values in their order."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column", "knows_range", "radius")
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    attack: Literal["sorting"] = "sorting"
    knows_range: bool = True
    """Whether the adversary knows the smallest and largest true value."""

    def plan_cracking(self, release: Release, chance: np.random.Generator) -> CrackPlan:
        """Assign the values of the domain to the sorted codes, in several ways."""
        spread: dict[str, float] = {}

        def crack_column(column: CodedColumn, judge: CodedColumn, _: int) -> dict[str, Cracks]:
            many = len(column.codes)
            least, greatest = self._choose_ends(column)
            ranges, even = bound_by_rank(many, least, greatest, column.unit), spread_evenly(many, least, greatest)
            spread.setdefault(column.name, float(judge.flag_cracks(even, self.radius).mean()))
            ascending_cracks = self._crack_in_order(judge, ranges, even, rescale_codes(column.codes, least, greatest))
            descending_cracks = self._crack_in_order(
                judge, ranges.reverse(), even[::-1], rescale_codes(column.codes, greatest, least)
            )
            return ascending_cracks | {f"{way}, falling": cracks for way, cracks in descending_cracks.items()}

        facts = {"knows_range": self.knows_range, "evenly_spread": spread}
        return CrackPlan(crack_column, 1, facts)

    def _crack_in_order(
        self, judge: CodedColumn, ranges: CodeRanges, even: Floats, stretch: Floats
    ) -> dict[str, Cracks]:
        return {
            "drawn from the range": Cracks.expect(judge, ranges, self.radius),
            "spread evenly": Cracks.of(judge, even, self.radius),
            "stretched to the range": Cracks.of(judge, stretch, self.radius),
            "counted up": Cracks.of(judge, ranges.low, self.radius),
            "counted down": Cracks.of(judge, ranges.high, self.radius),
        }

    def _choose_ends(self, column: CodedColumn) -> tuple[float, float]:
        known_values = column.domain if self.knows_range else column.codes
        return float(known_values[0]), float(known_values[-1])
