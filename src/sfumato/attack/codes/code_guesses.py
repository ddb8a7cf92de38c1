# SPDX-License-Identifier: MIT
"""Attacks on codes: many trials of guessing every code of every column, and their median.

What an adversary happens to know is random, so an attack runs many trials. The result is the median trial; its
distribution-free interval (from order statistics) and the spread of the trials are reported with it. People are counted
column by column, and the column in which most are read is the result: many codes of one column must not hide that every
value of another is known. Papers count distinct codes; the facts do so too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from sfumato.arrays import Floats
from sfumato.attack.attack import Attack, Outcome
from sfumato.change import ChangeKind
from sfumato.public.codes.coded_columns import CodedColumn, pair_coded_columns
from sfumato.public.codes.crack_functions import CodeRanges, RankWindows, guess_plainly
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

_Z = 1.959963984540054
_BLIND = "one value for all"
_CELLS = 4_000_000
"""The most guesses made at once: trials times codes."""


@dataclass(frozen=True)
class Cracks:
    """What one way of guessing finds out about a column, by trial."""

    codes: Floats
    """How many distinct codes are cracked."""
    people: Floats
    """How many people's values are read."""

    @classmethod
    def of(cls, judge: CodedColumn, guesses: Floats, radius: float) -> Cracks:
        """Judge guesses, one for each code, of one trial or of many."""
        trials = np.atleast_2d(guesses)
        return cls(judge.flag_cracks(trials, radius).sum(axis=1).astype(np.float64), judge.count_read(trials, radius))

    @classmethod
    def expect(cls, judge: CodedColumn, ranges: CodeRanges | RankWindows, radius: float) -> Cracks:
        """The expected result of values drawn from a range of each code."""
        return cls(
            np.array([ranges.compute_crack_chance(judge, radius).sum()]), np.array([ranges.expect_read(judge, radius)])
        )

    @classmethod
    def join(cls, parts: Sequence[Cracks]) -> Cracks:
        """The trials of all parts."""
        return cls(np.concatenate([part.codes for part in parts]), np.concatenate([part.people for part in parts]))


CrackMethod = Callable[[CodedColumn, CodedColumn, int], Mapping[str, Cracks]]
"""Tries to crack a column in several ways, the attack's own first; the second column judges the guesses."""


@dataclass(frozen=True)
class CrackTrials:
    """How a column was attacked: by the attack's own way of guessing, and by the best one."""

    column: CodedColumn
    ways: Mapping[str, Cracks]

    @property
    def best(self) -> str:
        """The way of guessing that reads most people's values."""
        return max(self.ways, key=self.count_read)

    def count_read(self, way: str) -> int:
        """How many people's values are read in the median trial."""
        return int(np.floor(np.median(self.ways[way].people)))

    @property
    def risk(self) -> float:
        """The share of people whose value is read."""
        return self.count_read(self.best) / self.column.people

    def as_json(self) -> dict[str, Any]:
        """Counts of people, and shares of distinct codes that the attack's own way cracks; nothing that reveals a
        value.
        """
        shares = next(iter(self.ways.values())).codes / len(self.column.codes)
        low, high = _bound_median(shares)
        return {
            "people": self.column.people,
            "people_read": self.count_read(self.best),
            "best_guess": self.best,
            "codes": len(self.column.codes),
            "median": float(np.median(shares)),
            "median_low": low,
            "median_high": high,
            "tenth": float(np.quantile(shares, 0.1)),
            "ninetieth": float(np.quantile(shares, 0.9)),
        }


def _bound_median(values: Floats) -> tuple[float, float]:
    """A 95 % interval of the median, from order statistics."""
    many, sorted_values = len(values), np.sort(values)
    reach = _Z * sqrt(many) / 2
    low, high = int(np.floor(many / 2 - reach)), int(np.ceil(many / 2 + reach))
    return float(sorted_values[max(low, 0)]), float(sorted_values[min(high, many - 1)])


def split_trials(trials: int, column: CodedColumn) -> Iterator[int]:
    """Split trials so that their guesses fit into memory."""
    step = max(1, _CELLS // max(len(column.pairs.code), 1))
    for done_count in range(0, trials, step):
        yield min(step, trials - done_count)


class CrackPlan(NamedTuple):
    """How an attack on codes guesses, how often, and further facts for the report."""

    method: CrackMethod
    trials: int
    facts: Mapping[str, Any]


class CodeAttack(Attack):
    """An adversary who guesses what each code stands for; see the subclasses."""

    column: str | None = None
    """The column to crack; by default every column of numbers that was encoded."""
    radius: float = Field(default=0.02, gt=0.0, le=1.0)
    """How close a guess must be, as a share of the dynamic range."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Guess every code in every trial; count the people whose value is read, in the column where most are."""
        plan = self.plan_cracking(release, (randomness or Randomness.seeded(0)).generator())
        columns = self._choose_columns(release, truth)
        attacked_columns = []
        for done_count, coded_column in enumerate(columns):
            report_progress("guessing codes", done_count, len(columns))
            attacked_columns.append(self._try_column(coded_column, coded_column, plan))
        worst = max(attacked_columns, key=lambda column_trials: column_trials.risk)
        return Outcome(
            attempts=worst.column.people,
            successes=worst.count_read(worst.best),
            baseline=worst.count_read(_BLIND),
            control=None if control is None else self._count_read_strangers(worst, control, plan),
            targets=tuple(column_trials.column.name for column_trials in attacked_columns),
            facts={
                **plan.facts,
                "radius": self.radius,
                "trials": plan.trials,
                "column": worst.column.name,
                "columns": {column_trials.column.name: column_trials.as_json() for column_trials in attacked_columns},
            },
        )

    def _choose_columns(self, release: Release, truth: Table) -> tuple[CodedColumn, ...]:
        """The column to crack, or all that are stated to be codes: others are published as they are."""
        columns = pair_coded_columns(release.data, truth, release.details, self.column)
        coded_columns = tuple(
            column for column in columns if ChangeKind.CODED in release.list_column_kinds(column.name)
        )
        return columns if self.column is not None else coded_columns or columns

    @abstractmethod
    def plan_cracking(self, release: Release, chance: np.random.Generator) -> CrackPlan:
        """How a column is cracked."""

    def _try_column(self, column: CodedColumn, judge: CodedColumn, plan: CrackPlan) -> CrackTrials:
        """The attack's ways of guessing, and what anyone would try first: codes are values, or everybody has one."""
        common_values = np.full(len(column.codes), column.find_common_value(self.radius))
        simple = {**guess_plainly(column), _BLIND: common_values}
        ways = {way: Cracks.of(judge, guesses, self.radius) for way, guesses in simple.items()}
        return CrackTrials(column, {**plan.method(column, judge, plan.trials), **ways})

    def _count_read_strangers(self, worst: CrackTrials, control: Table, plan: CrackPlan) -> int:
        """The same guesses, compared with the values of people who are not in the data."""
        column = worst.column
        values = control.frame[column.name].drop_nulls().to_numpy().astype(np.float64)
        strange = np.resize(Randomness.seeded(0).generator().permutation(values), len(column.codes))
        judge = replace(column, low=strange, high=strange, several=None)
        return self._try_column(column, judge, plan).count_read(worst.best)


class DrawnCodeAttack(CodeAttack):
    """An adversary whose knowledge is drawn anew in each of many trials; see the subclasses."""

    trials: int = Field(default=500, ge=1, strict=True)
    """How many times the adversary's knowledge is drawn."""
