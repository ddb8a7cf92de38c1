# SPDX-License-Identifier: MIT
"""Attacks on codes, as counts: many trials of guessing every code of every column, and their median.

Chance decides what an adversary happens to know, so an attack is tried many times. What counts is the median trial; the
interval of the median (distribution-free, from order statistics) and the spread of the trials are told beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from sfumato.arrays import Floats
from sfumato.attack.attack import Outcome
from sfumato.mine.codes.coded_columns import CodedColumn, coded_columns
from sfumato.progress import tell
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table

_Z = 1.959963984540054
_CELLS = 4_000_000
"""Guesses that are made at once: trials times codes."""

Cracking = Callable[[CodedColumn, CodedColumn, int], Floats]
"""How many codes of a column are cracked in each of some trials; the second column judges the guesses."""


@dataclass(frozen=True)
class Trials:
    """How many codes of a column were cracked, trial by trial."""

    column: CodedColumn
    cracked: Floats

    @property
    def median(self) -> float:
        """The share of codes that the median trial cracks."""
        return float(np.median(self.cracked)) / len(self.column.codes)

    @property
    def interval(self) -> tuple[float, float]:
        """A 95 % interval of the median, from order statistics."""
        many, ordered = len(self.cracked), np.sort(self.cracked) / len(self.column.codes)
        reach = _Z * sqrt(many) / 2
        low, high = int(np.floor(many / 2 - reach)), int(np.ceil(many / 2 + reach))
        return float(ordered[max(low, 0)]), float(ordered[min(high, many - 1)])

    def as_json(self) -> dict[str, Any]:
        """For a report: shares, nothing that tells a value."""
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


def in_parts(trials: int, codes: int) -> Iterator[int]:
    """Split trials so that their guesses fit into memory."""
    step = max(1, _CELLS // max(codes, 1))
    for done in range(0, trials, step):
        yield min(step, trials - done)


def attacked(
    release: Release,
    truth: Table,
    control: Table | None,
    column: str | None,
    radius: float,
    trials: int,
    cracking: Cracking,
    facts: Mapping[str, Any],
) -> Outcome:
    """Try every column, and count codes cracked in the median trial."""
    columns = coded_columns(release.data, truth, release.details, column)
    found = _tried(columns, columns, trials, cracking)
    return Outcome(
        attempts=sum(len(one.codes) for one in columns),
        successes=sum(_median(one) for one in found),
        baseline=sum(round(one.by_chance(radius)) for one in columns),
        control=None if control is None else _control(columns, control, trials, cracking),
        facts={
            **facts,
            "radius": radius,
            "trials": trials,
            "columns": {one.column.name: one.as_json() for one in found},
        },
    )


def _tried(
    columns: Sequence[CodedColumn], judges: Sequence[CodedColumn], trials: int, cracking: Cracking
) -> list[Trials]:
    found = []
    for done, (one, judge) in enumerate(zip(columns, judges, strict=True)):
        tell("guessing codes", done, len(columns))
        found.append(Trials(one, cracking(one, judge, trials)))
    return found


def _median(trials: Trials) -> int:
    return int(np.floor(np.median(trials.cracked)))


def _control(columns: Sequence[CodedColumn], control: Table, trials: int, cracking: Cracking) -> int:
    """The same guesses, held against the values of people who are not in the data."""
    judges = []
    for one in columns:
        values = control.frame[one.name].drop_nulls().to_numpy().astype(np.float64)
        strange = np.resize(Randomness.seeded(0).generator().permutation(values), len(one.codes))
        judges.append(replace(one, low=strange, high=strange))
    return sum(_median(one) for one in _tried(columns, judges, trials, cracking))
