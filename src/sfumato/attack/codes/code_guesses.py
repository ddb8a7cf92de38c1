# SPDX-License-Identifier: MIT
"""Attacks on codes: many trials of guessing every code of every column, and their median.

What an adversary happens to know is random, so an attack runs many trials. The result is the median trial; its
distribution-free interval (from order statistics) and the spread of the trials are reported with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from sfumato.arrays import Floats
from sfumato.attack.attack import Outcome
from sfumato.mine.codes.coded_columns import CodedColumn, list_coded_columns
from sfumato.progress import report_progress
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table

_Z = 1.959963984540054
_CELLS = 4_000_000
"""The most guesses made at once: trials times codes."""

Cracking = Callable[[CodedColumn, CodedColumn, int], Floats]
"""Counts the cracked codes of a column in each trial; the second column judges the guesses."""


@dataclass(frozen=True)
class CrackTrials:
    """How many codes of a column were cracked, by trial."""

    column: CodedColumn
    cracked: Floats

    @property
    def median(self) -> float:
        """The share of codes cracked in the median trial."""
        return float(np.median(self.cracked)) / len(self.column.codes)

    @property
    def interval(self) -> tuple[float, float]:
        """A 95 % interval of the median, from order statistics."""
        many, ordered = len(self.cracked), np.sort(self.cracked) / len(self.column.codes)
        reach = _Z * sqrt(many) / 2
        low, high = int(np.floor(many / 2 - reach)), int(np.ceil(many / 2 + reach))
        return float(ordered[max(low, 0)]), float(ordered[min(high, many - 1)])

    def as_json(self) -> dict[str, Any]:
        """Shares for a report; nothing that reveals a value."""
        shares = self.cracked / len(self.column.codes)
        low, high = self.interval
        return {
            "codes": len(self.column.codes),
            "median": self.median,
            "median_low": low,
            "median_high": high,
            "tenth": float(np.quantile(shares, 0.1)),
            "ninetieth": float(np.quantile(shares, 0.9)),
        }


def split_trials(trials: int, codes: int) -> Iterator[int]:
    """Split trials so that their guesses fit into memory."""
    step = max(1, _CELLS // max(codes, 1))
    for done in range(0, trials, step):
        yield min(step, trials - done)


def attack_code_columns(
    release: Release,
    truth: Table,
    control: Table | None,
    column: str | None,
    radius: float,
    trials: int,
    cracking: Cracking,
    facts: Mapping[str, Any],
) -> Outcome:
    """Attack every column; count the codes cracked in the median trial."""
    columns = list_coded_columns(release.data, truth, release.details, column)
    trials_by_column = _try_code_columns(columns, columns, trials, cracking)
    return Outcome(
        attempts=sum(len(column.codes) for column in columns),
        successes=sum(_count_median_cracked(trials_of_column) for trials_of_column in trials_by_column),
        baseline=sum(round(column.by_chance(radius)) for column in columns),
        control=None if control is None else _count_control_cracked(columns, control, trials, cracking),
        facts={
            **facts,
            "radius": radius,
            "trials": trials,
            "columns": {
                trials_of_column.column.name: trials_of_column.as_json() for trials_of_column in trials_by_column
            },
        },
    )


def _try_code_columns(
    columns: Sequence[CodedColumn], judges: Sequence[CodedColumn], trials: int, cracking: Cracking
) -> list[CrackTrials]:
    all_trials = []
    for done, (column, judge) in enumerate(zip(columns, judges, strict=True)):
        report_progress("guessing codes", done, len(columns))
        all_trials.append(CrackTrials(column, cracking(column, judge, trials)))
    return all_trials


def _count_median_cracked(trials: CrackTrials) -> int:
    return int(np.floor(np.median(trials.cracked)))


def _count_control_cracked(columns: Sequence[CodedColumn], control: Table, trials: int, cracking: Cracking) -> int:
    """The same guesses, compared with the values of people who are not in the data."""
    judges = []
    for column in columns:
        values = control.frame[column.name].drop_nulls().to_numpy().astype(np.float64)
        strange = np.resize(Randomness.seeded(0).generator().permutation(values), len(column.codes))
        judges.append(replace(column, low=strange, high=strange))
    return sum(
        _count_median_cracked(trials_of_column)
        for trials_of_column in _try_code_columns(columns, judges, trials, cracking)
    )
