# SPDX-License-Identifier: MIT
"""Frequency matching: a code occurs in as many rows as its value, whatever the order of the codes.

Against permuted values: a bijection preserves frequencies. What leaks is the true value of a code, within a radius. Bu,
Lakshmanan, Ng and Ramesh (ICDE 2007) count modal values among an adversary's knowledge but do not run this attack; it
is the oldest attack on substitution ciphers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Floats, Ints
from sfumato.attack.codes.code_guesses import CrackPlan, Cracks, DrawnCodeAttack
from sfumato.errors import PolicyError
from sfumato.public.codes.coded_columns import CodedColumn
from sfumato.public.codes.crack_functions import (
    RankWindows,
    draw_rival_samples,
    guess_by_frequency,
    guess_by_quantile,
    guess_by_rank,
    number_runs,
)
from sfumato.public.codes.learner_columns import find_class_ranges
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table


class FrequencyMatching(DrawnCodeAttack):
    """A rival knows how often each salary occurs; even among shuffled codes, the most common code is the most common
    salary.

    The adversary has a sample of true values with their frequencies, here a share of the rows, without codes. The
    release shows the classes, and so which runs of codes belong to one class and may be permuted. Within each run it
    matches codes and values by frequency; everywhere else by quantile. It also tries to match all codes by frequency,
    and all by quantile or rank, of codes or of people; all this with rising and with falling values. The risk is the
    share of people whose value is read within the radius by the best of these, in the median of many samples and in the
    column where most are.
    """

    story: ClassVar[str] = (
        "A rival knows how often each value of {target} occurs; even among shuffled codes, the most common "
        "code is the most common value."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column", "target", "share", "radius", "trials")
    report_labels: ClassVar[Mapping[str, str]] = {"share": "Size of the rival's sample, as a share of the people"}
    column_fields: ClassVar[tuple[str, ...]] = ("column", "target")

    attack: Literal["frequency_matching"] = "frequency_matching"
    target: str | None = None
    """The column of classes; without it, all codes are matched by frequency alone."""
    share: float = Field(default=0.1, gt=0.0, le=1.0)
    """The size of the rival's sample, as a share of the rows; of all rows, one trial is enough."""

    def plan_cracking(self, release: Release, chance: np.random.Generator) -> CrackPlan:
        """Draw samples, match frequencies."""
        classes = self._number_target_classes(release.data)

        def crack_column(column: CodedColumn, judge: CodedColumn, trials: int) -> dict[str, Cracks]:
            ways: dict[str, list[Cracks]] = {}
            runs, negated_column = _number_class_runs(column, classes), column.negate()
            for done_count in range(trials):
                report_progress("matching frequencies", done_count, trials)
                sample = draw_rival_samples(column, self.share, 1, chance)[0]
                ascending_guesses = _guess_in_order(column, sample, runs)
                descending_guesses = _guess_in_order(negated_column, sample, runs[-1] - runs[::-1])
                guesses = ascending_guesses | {
                    f"{way}, falling": guess[::-1] for way, guess in descending_guesses.items()
                }
                for way, guess in guesses.items():
                    ways.setdefault(way, []).append(Cracks.of(judge, guess, self.radius))
                windows = RankWindows.of(column, sample)
                for way, side in (("people by rank", windows), ("people by rank, falling", windows.reverse())):
                    ways.setdefault(way, []).append(Cracks.expect(judge, side, self.radius))
            return {way: Cracks.join(parts) for way, parts in ways.items()}

        return CrackPlan(crack_column, 1 if self.share == 1 else self.trials, {"share": self.share})

    def _number_target_classes(self, published_table: Table) -> Ints | None:
        if self.target is None:
            return None
        if self.target not in published_table.frame.columns:
            raise PolicyError(f'the target "{self.target}" is not a column of the release')
        return published_table.frame[self.target].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1


def _guess_in_order(column: CodedColumn, sample: Ints, runs: Ints) -> dict[str, Floats]:
    """What each way guesses for every code if values rise with codes."""
    return {
        "within classes": guess_by_frequency(column, sample, runs),
        "by frequency alone": guess_by_frequency(column, sample, np.zeros_like(runs)),
        "by quantile": guess_by_quantile(column, sample),
        "by rank": guess_by_rank(column, sample),
    }


def _number_class_runs(column: CodedColumn, classes: Ints | None) -> Ints:
    """The run of each code: neighbouring codes of one class; a single run without classes."""
    if classes is None:
        return np.zeros(len(column.codes), dtype=np.int64)
    low, high = find_class_ranges(column.code_index, classes, len(column.codes))
    return number_runs(low, low != high)
