# SPDX-License-Identifier: MIT
"""Quantile matching: a rival has data of the same kind, and lays its distribution over the codes.

Against codes that keep the order of values, whatever function gave them: the share of rows below a code is the share of
rows below its value. What leaks is the true value of a code, within a radius. Bu, Lakshmanan, Ng and Ramesh (ICDE 2007,
Bu et al. (2007)) name a rival's sample as knowledge and do not run this attack; it is the strongest against order.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.arrays import Floats
from sfumato.attack.attack import Attack, Outcome
from sfumato.attack.codes.code_guesses import attack_code_columns
from sfumato.mine.codes.coded_columns import CodedColumn
from sfumato.mine.codes.crack_functions import draw_rival_samples, guess_by_quantile
from sfumato.progress import report_progress
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table


class QuantileMatching(Attack):
    """A rival hospital with patients of its own sorts the codes, and reads the values off its own sorted column.

    The adversary has a sample of true values, here a share of the rows, without codes or classes. A code with a tenth
    of the rows below it gets the value that has a tenth of the sample below it. The risk is the share of distinct codes
    whose guess is within the radius, in the median of many samples. One curve or random breakpoints are no shelter,
    since they keep the order; values that changed places are.
    """

    public_fields: ClassVar[tuple[str, ...]] = ("column", "share", "radius", "trials")

    attack: Literal["quantile_matching"] = "quantile_matching"
    column: str | None = None
    """The column to crack; every column of numbers if not given."""
    share: float = Field(default=0.1, gt=0.0, le=1.0)
    """How large the rival's sample is, as a share of the rows."""
    radius: float = Field(default=0.02, gt=0.0, le=1.0)
    """How near a guess must be, as a share of the dynamic range."""
    trials: int = Field(default=500, ge=1, strict=True)
    """How often a sample is drawn; once is enough where it is everything."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Draw samples, match quantiles; count cracks in the median trial."""
        chance = (randomness or Randomness.seeded(0)).generator()

        def cracking(column: CodedColumn, judge: CodedColumn, trials: int) -> Floats:
            cracked = np.zeros(trials)
            for done in range(trials):
                report_progress("matching quantiles", done, trials)
                sample = draw_rival_samples(column, self.share, 1, chance)[0]
                cracked[done] = judge.cracked(guess_by_quantile(column, sample), self.radius).sum()
            return cracked

        trials = 1 if self.share == 1 else self.trials
        return attack_code_columns(
            release, truth, control, self.column, self.radius, trials, cracking, {"share": self.share}
        )
