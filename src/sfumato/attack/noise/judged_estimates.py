# SPDX-License-Identifier: MIT
"""How close estimates of noisy numbers come to the true ones, and for how many people a guess is right.

Against Agrawal and Srikant's promise: with confidence c, a true value is known only to within an interval of a stated
width. An adversary who estimates values breaks it if a narrower interval around the estimate holds the share c of all
true values. No guess about a missing cell is right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.attack import Outcome
from sfumato.attack.row_distance import compare_with_control, sample_people
from sfumato.errors import DataError, count_noun
from sfumato.public.noise_law import get_published_range, read_numbers
from sfumato.public.number_law import NumberLaw
from sfumato.release import Release
from sfumato.table import Table

_SIMPLE = ("as published", "the mean")


@dataclass(frozen=True, eq=False)
class ValueTarget:
    """Whom an adversary tries, and what else it may guess."""

    people: Table
    attempts: int
    tolerance: float
    guess_otherwise: Callable[[str, Ints], Mapping[str, Floats]]


def read_finite_floats(column: pl.Series, source: str) -> Floats:
    """The numbers of a column, missing ones as NaN; refuses infinite ones, which are far from every estimate."""
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
    true = read_finite_floats(people.frame[name], people.source)
    low, high = get_published_range(release, name) or (_find_minimum(true), -_find_minimum(-true))
    published_numbers = read_finite_floats(release.data.frame[name], release.data.source)
    guess = read_finite_floats(estimate[name], release.data.source)
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
        true = read_finite_floats(strangers.frame[column.name], strangers.source)[column_indices == position]
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
