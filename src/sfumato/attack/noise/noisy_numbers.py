# SPDX-License-Identifier: MIT
"""What attacks on added noise share: reading a release's numbers as a matrix, and judging estimates of them.

Against Agrawal and Srikant's promise: with confidence c, a true value is known only to within an interval of a stated
width. An adversary who estimates values breaks it if a narrower interval around the estimate holds the share c of all
true values. An estimate uses only published information: the data, and how noise was drawn (`release.public`).

Dates are days. A missing cell stays missing, and no guess about it is right.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.attack import Attack, Columns, Outcome
from sfumato.attack.candidates import trace_people
from sfumato.attack.row_distance import compare_with_control, require_attacked_columns, sample_people
from sfumato.data.roles.role import Role
from sfumato.errors import DataError, count_noun
from sfumato.public.cut_intervals import list_cut_columns
from sfumato.public.noise_law import (
    NoiseLaw,
    get_noise,
    get_noise_covariance,
    get_published_range,
    list_noisy_columns,
    read_numbers,
)
from sfumato.public.number_law import NumberLaw
from sfumato.published_law import PublishedLaw
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

_CELLS = 2_000_000
_SIMPLE = ("as published", "the mean")


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


@dataclass(frozen=True, eq=False)
class ValueTarget:
    """Whom an adversary tries, and what else it may guess."""

    people: Table
    attempts: int
    tolerance: float
    guess_otherwise: Callable[[str, Ints], Mapping[str, Floats]]


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
        matrix[:, position] = _read_finite_floats(frame[name], source)
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


def _read_finite_floats(column: pl.Series, source: str) -> Floats:
    numbers = read_numbers(column)
    infinite = int(np.isinf(numbers).sum())
    if infinite:
        raise DataError(
            f'{source}: "{column.name}" has {count_noun(infinite, "infinite cell")}; make them missing, or leave the '
            "column out"
        )
    return numbers


@dataclass(frozen=True, eq=False)
class JudgedColumn:
    """One column: true, published and estimated values, and the promise."""

    name: str
    true: Floats
    published_numbers: Floats
    estimate: Floats
    span: float
    """The width of the range that privacy shares refer to; that of whole numbers is their count."""
    step: float
    """The unit of whole numbers."""
    privacy: float | None
    """The promised privacy, as a share of the range."""
    confidence: float

    @property
    def deviation(self) -> float:
        """The standard deviation of the true values."""
        return float(np.nanstd(self.true)) if np.isfinite(self.true).any() else 0.0

    def flag_hits(self, guess: Floats, rows: Ints, tolerance: float) -> Flags:
        """For which people a guess is close enough to the truth, up to rounding errors."""
        true = self.true[rows]
        slack = 1e-9 * np.maximum(np.abs(true), self.deviation)
        return np.asarray(np.abs(guess - true) <= tolerance * self.deviation + slack)

    def measure_left_privacy(self, guess: Floats, share: float | None = None) -> float | None:
        """The narrowest interval that holds this share of the errors, as a share of the range."""
        width = measure_narrowest_errors(guess - self.true, self.confidence if share is None else share)
        return None if width is None or not self.span else (width + self.step) / self.span

    @property
    def is_broken(self) -> bool:
        """Whether the promise is broken by more than three standard errors of the share."""
        errors = int(np.isfinite(self.estimate - self.true).sum())
        if self.privacy is None or not errors:
            return False
        more = self.confidence + 3 * np.sqrt(self.confidence * (1 - self.confidence) / errors)
        remaining_privacy = self.measure_left_privacy(self.estimate, min(1.0, more))
        return remaining_privacy is not None and remaining_privacy < self.privacy


def judge_estimate(release: Release, people: Table, estimate: pl.DataFrame, name: str) -> JudgedColumn:
    """Pair an estimated column with the truth and the promise."""
    law = release.public.get(name)
    stated_law = law if isinstance(law, NumberLaw) else None
    true = _read_finite_floats(people.frame[name], people.source)
    low, high = get_published_range(release, name) or (_find_minimum(true), -_find_minimum(-true))
    published_numbers = _read_finite_floats(release.data.frame[name], release.data.source)
    guess = _read_finite_floats(estimate[name], release.data.source)
    confidence = (stated_law and stated_law.confidence) or 0.95
    step = float(stated_law.step) if stated_law else 0.0
    promised_share = stated_law.privacy_share if stated_law else None
    span = float(high) - float(low) + step
    return JudgedColumn(name, true, published_numbers, guess, span, step, promised_share, confidence)


def _find_minimum(values: Floats) -> float:
    return float(np.nanmin(values)) if np.isfinite(values).any() else 0.0


def measure_narrowest_errors(errors: Floats, share: float) -> float | None:
    """The width of the narrowest interval that holds a share of some errors; None without errors."""
    finite_errors = np.sort(errors[np.isfinite(errors)])
    if not len(finite_errors):
        return None
    held_count = min(len(finite_errors), max(1, int(np.ceil(share * len(finite_errors) - 1e-9))))
    return float((finite_errors[held_count - 1 :] - finite_errors[: len(finite_errors) - held_count + 1]).min())


def compute_rmse(errors: Floats) -> float:
    """The root mean square of the errors that are not missing."""
    finite_errors = errors[np.isfinite(errors)]
    return float(np.sqrt(np.mean(finite_errors**2))) if len(finite_errors) else 0.0


def count_value_outcome(
    judged_columns: Sequence[JudgedColumn],
    target: ValueTarget,
    control: Table | None,
    chance: np.random.Generator,
    facts: Mapping[str, Any],
) -> Outcome:
    """Draw people and one cell of each; count for whom the best guess of its column is right.

    A guess is the estimate, the published value, the release's mean, or what else the adversary may prefer. The
    baseline is the better of the published value and the mean, again of each column. A stranger has no row, so the only
    guess is the mean.
    """
    rows = np.sort(chance.choice(len(target.people), min(target.attempts, len(target.people)), replace=False))
    column_indices = chance.integers(0, len(judged_columns), len(rows))
    hits = {
        column.name: _count_right_guesses(column, target, rows[column_indices == position])
        for position, column in enumerate(judged_columns)
    }
    simple = {name: {guess: counts[guess] for guess in _SIMPLE} for name, counts in hits.items()}
    right = sum(max(counts.values()) for counts in hits.values())
    strangers = None if control is None else sample_people(control, target.attempts, chance)
    right_strangers = (
        None if strangers is None else _count_right_strangers(judged_columns, strangers, target.tolerance, chance)
    )
    return Outcome(
        attempts=len(rows),
        successes=right,
        baseline=sum(max(counts.values()) for counts in simple.values()),
        control=right_strangers,
        targets=tuple(column.name for column in judged_columns),
        facts={
            "columns": [column.name for column in judged_columns],
            "baseline_is": " or ".join(sorted({_name_best_guess(counts) for counts in simple.values()})),
            "best_guess": {name: _name_best_guess(counts) for name, counts in hits.items()},
            **compare_with_control(right, len(rows), right_strangers, 0 if strangers is None else len(strangers)),
            **summarize_errors(judged_columns),
            **facts,
        },
    )


def _name_best_guess(counts: Mapping[str, int]) -> str:
    return max(counts, key=counts.__getitem__)


def _count_right_guesses(column: JudgedColumn, target: ValueTarget, rows: Ints) -> dict[str, int]:
    """For how many of some people each guess is close enough, by the name of the guess."""
    guesses = {
        "the estimate": column.estimate[rows],
        **target.guess_otherwise(column.name, rows),
        "as published": column.published_numbers[rows],
        "the mean": np.full(len(rows), average_present_cells(column.published_numbers)),
    }
    return {name: int(column.flag_hits(guess, rows, target.tolerance).sum()) for name, guess in guesses.items()}


def _count_right_strangers(
    judged_columns: Sequence[JudgedColumn], strangers: Table, tolerance: float, chance: np.random.Generator
) -> int:
    column_indices = chance.integers(0, len(judged_columns), len(strangers))
    right = 0
    for position, column in enumerate(judged_columns):
        true = _read_finite_floats(strangers.frame[column.name], strangers.source)[column_indices == position]
        slack = 1e-9 * np.abs(true)
        right += int(
            (
                np.abs(average_present_cells(column.published_numbers) - true) <= tolerance * column.deviation + slack
            ).sum()
        )
    return right


def average_present_cells(values: Floats) -> float:
    """The mean of the cells that are not missing."""
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


def summarize_errors(judged_columns: Sequence[JudgedColumn]) -> dict[str, Any]:
    """Errors and privacy of every column, and errors overall, in true standard deviations."""
    varying_columns = [column for column in judged_columns if column.deviation > 0]
    published_errors = [
        compute_rmse(column.published_numbers - column.true) / column.deviation for column in varying_columns
    ]
    estimate_errors = [compute_rmse(column.estimate - column.true) / column.deviation for column in varying_columns]
    return {
        "rmse_over_deviation": {
            "published": _compute_quadratic_mean(published_errors),
            "estimate": _compute_quadratic_mean(estimate_errors),
        },
        "rmse_published": {
            column.name: _round_fact(compute_rmse(column.published_numbers - column.true)) for column in judged_columns
        },
        "rmse_estimate": {
            column.name: _round_fact(compute_rmse(column.estimate - column.true)) for column in judged_columns
        },
        "privacy_promised": {column.name: column.privacy for column in judged_columns},
        "privacy_published": {
            column.name: _round_fact(column.measure_left_privacy(column.published_numbers)) for column in judged_columns
        },
        "privacy_left": {
            column.name: _round_fact(column.measure_left_privacy(column.estimate)) for column in judged_columns
        },
        "broken": [column.name for column in judged_columns if column.is_broken],
    }


def _compute_quadratic_mean(values: Sequence[float]) -> float | None:
    return _round_fact(float(np.sqrt(np.mean(np.square(values))))) if values else None


def _round_fact(value: float | None) -> float | None:
    """Sums of floats differ in their last digits with the number of cores; facts must not."""
    return None if value is None else float(f"{value:.9g}")
