# SPDX-License-Identifier: MIT
"""What attacks on added noise share: which columns they estimate, and a release's numbers as a matrix.

An estimate uses only published information: the data, and how noise was drawn (`release.public`). Dates are days. A
missing cell stays missing, and no guess about it is right. How close estimates come is judged in `judged_estimates`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Floats, Ints
from sfumato.attack.attack import Attack, Columns, Outcome
from sfumato.attack.candidates import trace_people
from sfumato.attack.noise.judged_estimates import ValueTarget, count_value_outcome, judge_estimate, read_finite_floats
from sfumato.attack.row_distance import require_attacked_columns
from sfumato.data.roles.role import Role
from sfumato.errors import DataError
from sfumato.public.cut_intervals import list_cut_columns
from sfumato.public.noise_law import (
    NoiseLaw,
    get_noise,
    get_noise_covariance,
    list_noisy_columns,
)
from sfumato.published_law import PublishedLaw
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

_CELLS = 2_000_000


class NumberEstimates(NamedTuple):
    """What an attack takes the true numbers for, and further facts for the report."""

    frame: pl.DataFrame
    facts: Mapping[str, Any]


class NumberAttack(Attack):
    """An adversary who estimates published numbers; see the subclasses."""

    columns: Columns | None = None
    """The columns to estimate; by default all that have public noise. If none has, those whose numbers were cut into
    published intervals, or else all numbers."""
    attempts: int = Field(default=500, ge=1)
    """How many people are tried, one random cell of each; everybody if there are fewer."""

    @classmethod
    def weighs_law(cls, law: PublishedLaw) -> bool:
        """Noise; a number of any other column is taken as it is published."""
        return isinstance(law, NoiseLaw)

    @classmethod
    def list_plain_targets(cls, targets: Sequence[str], laws: Mapping[str, PublishedLaw]) -> list[str]:
        """Those without a law that is weighed."""
        return [name for name in targets if name not in laws or not cls.weighs_law(laws[name])]

    def estimate(self, release: Release) -> pl.DataFrame:
        """The release as the adversary believes it was before noise; numbers as floats, dates as dates."""
        return self.estimate_with_facts(release).frame

    @abstractmethod
    def estimate_with_facts(self, release: Release) -> NumberEstimates:
        """The estimate, and further facts for the report."""


class ValueAttack(NumberAttack):
    """An attack whose guess is right if it is close to the true value."""

    report_labels: ClassVar[Mapping[str, str]] = {
        "tolerance": "Estimates right within this share of a standard deviation"
    }

    tolerance: float = Field(default=0.2, ge=0.0)
    """How far an estimate may be from the right value, as a share of the column's true standard deviation."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Estimate the release's numbers; count the people for whom the best guess of each column is about right."""
        names = choose_noisy_columns(release, self.columns)
        require_attacked_columns(names, release.data, truth, control)
        people = trace_people(release, truth)
        estimate, facts = self.estimate_with_facts(release)
        chance = (randomness or Randomness.seeded(0)).generator()
        judged_columns = [judge_estimate(release, people, estimate, name) for name in names]
        target = ValueTarget(
            people, self.attempts, self.tolerance, lambda *cells: self.guess_otherwise(release, *cells)
        )
        return count_value_outcome(judged_columns, target, control, chance, facts)

    def guess_otherwise(self, release: Release, name: str, rows: Ints) -> Mapping[str, Floats]:
        """Other estimates of some cells of one column, by name, that the adversary may prefer."""
        return {}


def choose_noisy_columns(release: Release, columns: Sequence[str] | None) -> tuple[str, ...]:
    """The columns to estimate: those requested, those with noise, those cut into intervals, or else all numbers."""
    frame, source = release.data.frame, release.data.source
    lawful_names = (*list_noisy_columns(release), *list_cut_columns(release))
    if columns is None:
        identifying_names = [name for name, role in release.data.roles.items() if role is Role.IDENTIFYING]
        columns = (
            [name for name in list_noisy_columns(release) if name in frame.columns]
            or [name for name in list_cut_columns(release) if name in frame.columns]
            or [name for name, kind in frame.schema.items() if _is_number_type(kind) and name not in identifying_names]
        )
    if not columns:
        raise DataError(f"{source}: the release has no column of numbers or dates to estimate")
    absent = [name for name in columns if name not in frame.columns]
    # In a release read from a file, dates may be text.
    exempt_names = {*absent, *lawful_names}
    other = [name for name in columns if name not in exempt_names and not _is_number_type(frame.schema[name])]
    if absent or other:
        problem = "is not in the release" if absent else "holds no numbers or dates"
        raise DataError(f'{source}: "{(absent or other)[0]}" {problem}; name noisy columns of numbers or dates')
    return tuple(columns)


def filter_noisy_columns(release: Release, names: Sequence[str]) -> tuple[str, ...]:
    """Those columns for which the release states noise; the others were published unchanged."""
    noisy = set(list_noisy_columns(release))
    return tuple(name for name in names if name in noisy)


def compute_noise_covariance(release: Release, names: tuple[str, ...]) -> Floats:
    """The covariance of the added noise and of rounding afterwards."""
    steps = np.array([get_noise(release, name).step for name in names])
    return get_noise_covariance(release, names) + np.diag(steps**2 / 12)


@dataclass(frozen=True, eq=False)
class ColumnPrior:
    """The reconstructed distribution of a column's true values: uniform within each bin."""

    edges: Floats
    probabilities: Floats

    @property
    def density(self) -> Floats:
        """The density per unit of the column."""
        return np.asarray(self.probabilities / np.diff(self.edges))

    @property
    def deviation(self) -> float:
        """The standard deviation of the true values."""
        bin_variances, middles = np.diff(self.edges) ** 2 / 12, (self.edges[:-1] + self.edges[1:]) / 2
        squared_deviations = (middles - self.probabilities @ middles) ** 2
        return float(np.sqrt(self.probabilities @ (bin_variances + squared_deviations)))

    @property
    def low(self) -> float:
        """The lower end of the true values."""
        return float(self.edges[0])

    @property
    def high(self) -> float:
        """The upper end of the true values."""
        return float(self.edges[-1])


def read_number_matrix(frame: pl.DataFrame, names: Sequence[str], source: str = "table") -> Floats:
    """Some columns as a matrix of floats, dates as days, missing cells as NaN; infinite cells are rejected."""
    matrix = np.empty((frame.height, len(names)), order="F")
    for position, name in enumerate(names):
        matrix[:, position] = read_finite_floats(frame[name], source)
    return matrix


def read_number_blocks(frame: pl.DataFrame, names: Sequence[str], step: str, source: str = "table") -> Iterator[Floats]:
    """The same in blocks of rows, reporting progress."""
    for start, part in _split_into_row_blocks(frame, len(names)):
        report_progress(step, start, frame.height)
        yield read_number_matrix(part, names, source)


def replace_estimated_columns(frame: pl.DataFrame, names: Sequence[str], estimates: Iterator[Floats]) -> pl.DataFrame:
    """A frame with some columns replaced by blocks of estimates (columns × rows); missing cells stay missing."""
    blocks = [
        pl.DataFrame([pl.Series(name, row) for name, row in zip(names, block, strict=True)]) for block in estimates
    ]
    if not blocks:
        return frame
    whole = pl.concat(blocks, rechunk=False)
    return frame.with_columns(_match_column_type(frame[name], whole[name]) for name in names)


def _match_column_type(column: pl.Series, estimate: pl.Series) -> pl.Series:
    """The estimate with the column's missing cells and date type."""
    blank = column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()
    if blank.any():
        estimate = estimate.set(blank.fill_null(True), None)
    dates = column.dtype in (pl.Date, pl.String)
    return estimate.round(0).cast(pl.Int32).cast(pl.Date) if dates else estimate


def _split_into_row_blocks(frame: pl.DataFrame, columns: int) -> Iterator[tuple[int, pl.DataFrame]]:
    step = max(256, _CELLS // max(columns, 1))
    return ((start, frame[start : start + step]) for start in range(0, frame.height, step))


def _is_number_type(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind == pl.Date
