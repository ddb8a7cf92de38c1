# SPDX-License-Identifier: MIT
"""Quantile matching: a rival has data of the same kind, and maps its distribution onto the codes.

Against codes that keep the order of values, whatever the function: the share of rows below a code is the share of rows
below its value. What leaks is the true value of a code, within a radius. Bu, Lakshmanan, Ng and Ramesh (ICDE 2007) name
a rival's sample as knowledge but do not run this attack; it is the strongest against codes that keep the order.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from sfumato.attack.attack import Attack, Outcome
from sfumato.attack.codes.code_guesses import Cracks, attack_code_columns
from sfumato.mine.codes.coded_columns import CodedColumn
from sfumato.mine.codes.crack_functions import draw_rival_samples, guess_by_quantile
from sfumato.progress import report_progress
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table


class QuantileMatching(Attack):
    """A rival hospital with its own patients sorts the codes, and reads the values off its own sorted column.

    The adversary has a sample of true values, here a share of the rows, without codes or classes. A code with a tenth
    of the rows below it gets the value that has a tenth of the sample below it, or above it if codes fall while values
    rise. The risk is the share of people whose value is read within the radius, in the median of many samples and in
    the column where most are. A single curve or random breakpoints do not protect, since they keep the order; permuted
    values do.
    """

    story: ClassVar[str] = (
        "A rival who has values of {target} of its own sorts the codes, and reads the values off its own sorted column."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column", "share", "radius", "trials")

    attack: Literal["quantile_matching"] = "quantile_matching"
    column: str | None = None
    """The column to crack; by default every column of numbers."""
    share: float = Field(default=0.1, gt=0.0, le=1.0)
    """The size of the rival's sample, as a share of the rows."""
    radius: float = Field(default=0.02, gt=0.0, le=1.0)
    """How close a guess must be, as a share of the dynamic range."""
    trials: int = Field(default=500, ge=1, strict=True)
    """How many times a sample is drawn; once is enough if it contains all rows."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Draw samples, match quantiles; count whose values are read in the median trial."""
        chance = (randomness or Randomness.seeded(0)).generator()

        def crack_column(column: CodedColumn, judge: CodedColumn, trials: int) -> dict[str, Cracks]:
            rising, falling, negated_column = [], [], column.negate()
            for done_count in range(trials):
                report_progress("matching quantiles", done_count, trials)
                sample = draw_rival_samples(column, self.share, 1, chance)[0]
                rising.append(Cracks.of(judge, guess_by_quantile(column, sample), self.radius))
                falling.append(Cracks.of(judge, guess_by_quantile(negated_column, sample)[::-1], self.radius))
            return {"by quantile": Cracks.join(rising), "by quantile, falling": Cracks.join(falling)}

        trials = 1 if self.share == 1 else self.trials
        return attack_code_columns(
            release, truth, control, self.column, self.radius, trials, crack_column, {"share": self.share}
        )
