# SPDX-License-Identifier: MIT
"""Frequency matching: a code stands for as many rows as its value, whatever order the codes have.

Against values that changed places: a bijection keeps how often each occurs. What leaks is the true value of a code,
within a radius. Bu, Lakshmanan, Ng and Ramesh (ICDE 2007) count modal values among an adversary's knowledge
and do not run this attack; it is the oldest one against substitution.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Floats, Ints
from sfumato.attack.attack import Attack, Outcome
from sfumato.attack.codes.code_guesses import attack_code_columns
from sfumato.errors import PolicyError
from sfumato.mine.codes.coded_columns import CodedColumn
from sfumato.mine.codes.crack_functions import draw_rival_samples, guess_by_frequency, number_runs
from sfumato.mine.codes.learner_columns import find_class_ranges
from sfumato.progress import report_progress
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table


class FrequencyMatching(Attack):
    """A rival knows how often each salary occurs; among codes that were shuffled, the commonest is the commonest.

    The adversary has a sample of true values with their frequencies, here a share of the rows, without codes. It sees
    the classes in the release, so it sees which stretches of codes are of one class, where values may have changed
    places. Within each it matches codes and values by how often they occur; everywhere else by quantile. The risk is
    the share of distinct codes whose guess is within the radius, in the median of many samples.
    """

    public_fields: ClassVar[tuple[str, ...]] = ("column", "target", "share", "radius", "trials")

    attack: Literal["frequency_matching"] = "frequency_matching"
    column: str | None = None
    """The column to crack; every column of numbers if not given."""
    target: str | None = None
    """The column of classes; without it all codes are matched by frequency alone."""
    share: float = Field(default=0.1, gt=0.0, le=1.0)
    """How large the rival's sample is, as a share of the rows."""
    radius: float = Field(default=0.02, gt=0.0, le=1.0)
    """How near a guess must be, as a share of the dynamic range."""
    trials: int = Field(default=500, ge=1, strict=True)
    """How often a sample is drawn; once is enough where it is everything."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Draw samples, match frequencies; count cracks in the median trial."""
        chance = (randomness or Randomness.seeded(0)).generator()
        classes = self._classes(release.data)

        def cracking(column: CodedColumn, judge: CodedColumn, trials: int) -> Floats:
            runs, cracked = _number_class_runs(column, classes), np.zeros(trials)
            for done in range(trials):
                report_progress("matching frequencies", done, trials)
                sample = draw_rival_samples(column, self.share, 1, chance)[0]
                cracked[done] = judge.cracked(guess_by_frequency(column, sample, runs), self.radius).sum()
            return cracked

        trials = 1 if self.share == 1 else self.trials
        return attack_code_columns(
            release, truth, control, self.column, self.radius, trials, cracking, {"share": self.share}
        )

    def _classes(self, published: Table) -> Ints | None:
        if self.target is None:
            return None
        if self.target not in published.frame.columns:
            raise PolicyError(f'the target "{self.target}" is no column of the release')
        return published.frame[self.target].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1


def _number_class_runs(column: CodedColumn, classes: Ints | None) -> Ints:
    """The run of each code: neighbours of one class; everything, if classes are not known."""
    if classes is None:
        return np.zeros(len(column.codes), dtype=np.int64)
    low, high = find_class_ranges(column.place, classes, len(column.codes))
    return number_runs(low, low != high)
