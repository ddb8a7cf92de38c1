# SPDX-License-Identifier: MIT
"""Quantile matching: a rival has data of the same kind, and maps its distribution onto the codes.

Against codes that keep the order of values, whatever the function: the share of rows below a code is the share of rows
below its value. What leaks is the true value of a code, within a radius. Bu, Lakshmanan, Ng and Ramesh (ICDE 2007) name
a rival's sample as knowledge but do not run this attack; it is the strongest against codes that keep the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.attack.codes.code_guesses import CrackPlan, Cracks, DrawnCodeAttack
from sfumato.public.codes.coded_columns import CodedColumn
from sfumato.public.codes.crack_functions import RankWindows, draw_rival_samples, guess_by_quantile, guess_by_rank
from sfumato.release import Release
from sfumato.runtime.progress import report_progress

_WAYS = {"by quantile": guess_by_quantile, "by rank": guess_by_rank}


class QuantileMatching(DrawnCodeAttack):
    """A rival hospital with its own patients sorts the codes, and reads the values off its own sorted column.

    The adversary has a sample of true values, here a share of the rows, without codes or classes. A code with a tenth
    of the rows below it gets the value that has a tenth of the sample below it, between two values by interpolation or
    as one of the sample (by rank); or the sorted people and the sorted sample are laid side by side, so that people of
    one code may get different values (people by rank). All this from above, too, if codes fall while values rise. The
    best way counts. The risk is the share of people whose value is read within the radius, in the median of many
    samples and in the column where most are. A single curve or random breakpoints do not protect, since they keep the
    order; permuted values do.
    """

    story: ClassVar[str] = (
        "A rival who has values of {target} of its own sorts the codes, and reads the values off its own sorted column."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column", "share", "radius", "trials")
    report_labels: ClassVar[Mapping[str, str]] = {"share": "Size of the rival's sample, as a share of the people"}
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    attack: Literal["quantile_matching"] = "quantile_matching"
    share: float = Field(default=0.1, gt=0.0, le=1.0)
    """The size of the rival's sample, as a share of the rows; of all rows, one trial is enough."""

    def plan_cracking(self, release: Release, chance: np.random.Generator) -> CrackPlan:
        """Draw samples, match quantiles."""

        def crack_column(column: CodedColumn, judge: CodedColumn, trials: int) -> dict[str, Cracks]:
            ways: dict[str, list[Cracks]] = {}
            negated_column = column.negate()
            for done_count in range(trials):
                report_progress("matching quantiles", done_count, trials)
                sample = draw_rival_samples(column, self.share, 1, chance)[0]
                for way, guess in _WAYS.items():
                    ascending_guess, descending_guess = guess(column, sample), guess(negated_column, sample)[::-1]
                    ways.setdefault(way, []).append(Cracks.of(judge, ascending_guess, self.radius))
                    ways.setdefault(f"{way}, falling", []).append(Cracks.of(judge, descending_guess, self.radius))
                windows = RankWindows.of(column, sample)
                for way, side in (("people by rank", windows), ("people by rank, falling", windows.reverse())):
                    ways.setdefault(way, []).append(Cracks.expect(judge, side, self.radius))
            return {way: Cracks.join(parts) for way, parts in ways.items()}

        return CrackPlan(crack_column, 1 if self.share == 1 else self.trials, {"share": self.share})
