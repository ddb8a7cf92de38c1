# SPDX-License-Identifier: MIT
"""What attacks on added noise share: a release's numbers as a matrix, and how estimates of them are judged.

Against Agrawal and Srikant's promise: with confidence c, a value is told no better than to an interval of a stated
width. An adversary who estimates values breaks it where a narrower interval around the estimate holds the share c of
all true values. Everything an estimate uses is published: the data, and how noise was drawn (`release.public`).

Dates are days. A missing cell stays missing, and nobody is right about it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.anonymity.candidates import people_of
from sfumato.attack.anonymity.nearest import over_control, require, some
from sfumato.attack.attack import Attack, Columns, Outcome
from sfumato.data.roles import Role
from sfumato.errors import DataError
from sfumato.progress import tell
from sfumato.public.noise_law import noise_covariance, noise_of, noisy_columns, numbers_of
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table

_CELLS = 2_000_000
_DIGITS = 12


class NumberAttack(Attack):
    """An adversary who estimates published numbers; see the attacks themselves."""

    columns: Columns | None = None
    """The columns that are estimated; if not given, all that the release tells noise of, or all numbers if of none."""
    attempts: int = Field(default=500, ge=1)
    """How many people are tried, one of their cells each, drawn; everybody if there are fewer."""

    def estimate(self, release: Release) -> pl.DataFrame:
        """The release as the adversary believes it was before noise; numbers as floats, dates as dates."""
        return self.estimated(release)[0]

    @abstractmethod
    def estimated(self, release: Release) -> tuple[pl.DataFrame, Mapping[str, Any]]:
        """The estimate, and what else was found on the way."""


class ValueAttack(NumberAttack):
    """One that is right where its estimate is near the true value."""

    tolerance: float = Field(default=0.2, ge=0.0)
    """How far an estimate may be from the right value, as a share of the column's true standard deviation."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Estimate the release's numbers; count how many people's are about right."""
        names = attacked(release, self.columns)
        require(names, release.data, truth, control)
        people = people_of(release, truth)
        estimate, found = self.estimated(release)
        chance = (randomness or Randomness.seeded(0)).generator()
        judged = [judge(release, people, estimate, name) for name in names]
        return outcome(judged, people, control, self.attempts, self.tolerance, chance, found)


def attacked(release: Release, columns: Sequence[str] | None) -> tuple[str, ...]:
    """The columns to estimate: those asked for, those with noise, or every number where no noise is told of."""
    frame, source = release.data.frame, release.data.source
    if columns is None:
        columns = [name for name in noisy_columns(release) if name in frame.columns]
        named = [name for name, role in release.data.roles.items() if role is Role.IDENTIFYING]
        columns = columns or [name for name, kind in frame.schema.items() if _is_number(kind) and name not in named]
    if not columns:
        raise DataError(f"{source}: the release has no column of numbers or dates to estimate")
    absent = [name for name in columns if name not in frame.columns]
    # Dates may be spelt as text where a release was read from a file.
    known = {*absent, *noisy_columns(release)}
    other = [name for name in columns if name not in known and not _is_number(frame.schema[name])]
    if absent or other:
        why = "is not in the release" if absent else "holds no numbers or dates"
        raise DataError(f"{source}: «{(absent or other)[0]}» {why}; name noisy columns of numbers or dates")
    return tuple(columns)


def with_noise(release: Release, names: Sequence[str]) -> tuple[str, ...]:
    """Those of some columns that the release tells noise of; the others are as they were."""
    noisy = set(noisy_columns(release))
    return tuple(name for name in names if name in noisy)


def covariance_of_noise(release: Release, names: tuple[str, ...]) -> Floats:
    """The covariance of what was added, and of rounding afterwards."""
    steps = np.array([noise_of(release, name).step for name in names])
    return noise_covariance(release, names) + np.diag(steps**2 / 12)


@dataclass(frozen=True, eq=False)
class Prior:
    """How a column's true values lie, as reconstructed: even within each bin."""

    edges: Floats
    probabilities: Floats

    @property
    def density(self) -> Floats:
        """Per unit of the column."""
        return np.asarray(self.probabilities / np.diff(self.edges))

    @property
    def low(self) -> float:
        """Where true values begin."""
        return float(self.edges[0])

    @property
    def high(self) -> float:
        """Where they end."""
        return float(self.edges[-1])


def prior_of(release: Release, name: str, values: Floats, bins: int, stop: Any = "chi2") -> Prior:
    """Reconstruct a column's distribution from its published values; over the range that is told, or theirs."""
    from sfumato.mine.noise.reconstruction import binned_em, channel_of, counted, noisy_edges_of, true_edges_of

    noise = noise_of(release, name)
    low, high = release.public[name].get("range") or (float(values.min()), float(values.max()))
    edges = true_edges_of(float(low), float(high), bins, noise.step)
    seen = noisy_edges_of(noise, edges)
    return Prior(edges, binned_em(counted(values, seen), channel_of(noise, edges, seen), stop=stop))


def numbers(frame: pl.DataFrame, names: Sequence[str], source: str = "table") -> Floats:
    """Some columns as a matrix of floats, dates as days, missing cells as NaN; infinite ones are refused."""
    matrix = np.empty((frame.height, len(names)), order="F")
    for place, name in enumerate(names):
        matrix[:, place] = _floats(frame[name], source)
    return matrix


def blocks(frame: pl.DataFrame, names: Sequence[str], step: str, source: str = "table") -> Iterator[Floats]:
    """The same, some rows at a time, telling how far it is."""
    for start, part in _parts(frame, len(names)):
        tell(step, start, frame.height)
        yield numbers(part, names, source)


def replaced(frame: pl.DataFrame, names: Sequence[str], estimates: Iterator[Floats]) -> pl.DataFrame:
    """A frame with blocks of estimates (columns × rows) in the place of some columns; what was missing stays so."""
    found = [pl.DataFrame([pl.Series(name, row) for name, row in zip(names, one, strict=True)]) for one in estimates]
    if not found:
        return frame
    whole = pl.concat(found, rechunk=False)
    return frame.with_columns(_like(frame[name], whole[name]) for name in names)


def _like(column: pl.Series, estimate: pl.Series) -> pl.Series:
    """An estimate that misses what was missing; days as dates where they were."""
    blank = column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()
    if blank.any():
        estimate = estimate.set(blank.fill_null(True), None)
    dates = column.dtype in (pl.Date, pl.String)
    return estimate.round(0).cast(pl.Int32).cast(pl.Date) if dates else estimate


def _parts(frame: pl.DataFrame, columns: int) -> Iterator[tuple[int, pl.DataFrame]]:
    step = max(256, _CELLS // max(columns, 1))
    return ((start, frame[start : start + step]) for start in range(0, frame.height, step))


def _is_number(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind == pl.Date


def _floats(column: pl.Series, source: str) -> Floats:
    found = numbers_of(column)
    infinite = int(np.isinf(found).sum())
    if infinite:
        raise DataError(f"{source}: «{column.name}» has {infinite} infinite cells; make them missing, or leave it out")
    return found


@dataclass(frozen=True, eq=False)
class Judged:
    """One column: what is true, what was published, what was estimated, and what had been promised."""

    name: str
    true: Floats
    published: Floats
    estimate: Floats
    span: float
    """The range that shares of privacy refer to."""
    privacy: float | None
    """What the release promises, as a share of the range."""
    confidence: float

    @property
    def deviation(self) -> float:
        """The standard deviation of the true values."""
        return float(np.nanstd(self.true)) if np.isfinite(self.true).any() else 0.0

    def hits(self, guess: Floats, rows: Ints, tolerance: float) -> Flags:
        """Whose true value a guess is near enough to; rounding errors do not count."""
        true = self.true[rows]
        slack = 1e-9 * np.maximum(np.abs(true), self.deviation)
        return np.asarray(np.abs(guess - true) <= tolerance * self.deviation + slack)

    def privacy_of(self, guess: Floats, share: float | None = None) -> float | None:
        """The narrowest interval that holds so many of the errors, as a share of the range."""
        width = narrowest(guess - self.true, self.confidence if share is None else share)
        return None if width is None or not self.span else width / self.span

    @property
    def broken(self) -> bool:
        """Whether the promise is broken by more than three standard errors of the share."""
        errors = int(np.isfinite(self.estimate - self.true).sum())
        if self.privacy is None or not errors:
            return False
        more = self.confidence + 3 * np.sqrt(self.confidence * (1 - self.confidence) / errors)
        left = self.privacy_of(self.estimate, min(1.0, more))
        return left is not None and left < self.privacy


def judge(release: Release, people: Table, estimate: pl.DataFrame, name: str) -> Judged:
    """Set an estimated column beside the truth and the promise."""
    told = release.public.get(name, {})
    true = _floats(people.frame[name], people.source)
    low, high = told.get("range") or (_least(true), -_least(-true))
    published = _floats(release.data.frame[name], release.data.source)
    guess = _floats(estimate[name], release.data.source)
    confidence = float(told.get("confidence") or 0.95)
    return Judged(name, true, published, guess, float(high) - float(low), told.get("privacy"), confidence)


def _least(values: Floats) -> float:
    return float(np.nanmin(values)) if np.isfinite(values).any() else 0.0


def narrowest(errors: Floats, share: float) -> float | None:
    """The width of the narrowest interval that holds a share of some errors; None if there are none."""
    known = np.sort(errors[np.isfinite(errors)])
    if not len(known):
        return None
    held = min(len(known), max(1, int(np.ceil(share * len(known) - 1e-9))))
    return float((known[held - 1 :] - known[: len(known) - held + 1]).min())


def rmse(errors: Floats) -> float:
    """The root of the mean square of errors that there are."""
    known = errors[np.isfinite(errors)]
    return float(np.sqrt(np.mean(known**2))) if len(known) else 0.0


def outcome(
    judged: Sequence[Judged],
    people: Table,
    control: Table | None,
    attempts: int,
    tolerance: float,
    chance: np.random.Generator,
    found: Mapping[str, Any],
) -> Outcome:
    """Draw people and a cell of each; count whom the estimate, the release as it is, and the mean are right about.

    The baseline is the better of the last two. Of a stranger, who has no row, nothing can be said
    but the release's mean.
    """
    rows = np.sort(chance.choice(len(people), min(attempts, len(people)), replace=False))
    which = chance.integers(0, len(judged), len(rows))
    counts = {"estimate": 0, "as published": 0, "the mean": 0}
    for place, one in enumerate(judged):
        mine = rows[which == place]
        counts["estimate"] += int(one.hits(one.estimate[mine], mine, tolerance).sum())
        counts["as published"] += int(one.hits(one.published[mine], mine, tolerance).sum())
        counts["the mean"] += int(one.hits(np.full(len(mine), mean_of(one.published)), mine, tolerance).sum())
    best = max(("as published", "the mean"), key=counts.__getitem__)
    strangers = None if control is None else some(control, attempts, chance)
    told = None if strangers is None else _of_strangers(judged, strangers, tolerance, chance)
    return Outcome(
        attempts=len(rows),
        successes=counts["estimate"],
        baseline=counts[best],
        control=told,
        facts={
            "columns": [one.name for one in judged],
            "baseline_is": best,
            **over_control(counts["estimate"], len(rows), told, 0 if strangers is None else len(strangers)),
            **errors_of(judged),
            **found,
        },
    )


def _of_strangers(judged: Sequence[Judged], strangers: Table, tolerance: float, chance: np.random.Generator) -> int:
    which = chance.integers(0, len(judged), len(strangers))
    right = 0
    for place, one in enumerate(judged):
        true = _floats(strangers.frame[one.name], strangers.source)[which == place]
        slack = 1e-9 * np.abs(true)
        right += int((np.abs(mean_of(one.published) - true) <= tolerance * one.deviation + slack).sum())
    return right


def mean_of(values: Floats) -> float:
    """The mean of the cells there are."""
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


def errors_of(judged: Sequence[Judged]) -> dict[str, Any]:
    """Errors and privacy of every column, and errors overall, in true standard deviations."""
    scaled = [one for one in judged if one.deviation > 0]
    published = [rmse(one.published - one.true) / one.deviation for one in scaled]
    estimated = [rmse(one.estimate - one.true) / one.deviation for one in scaled]
    return {
        "rmse_over_deviation": {"published": _quadratic(published), "estimate": _quadratic(estimated)},
        "rmse_published": {one.name: _short(rmse(one.published - one.true)) for one in judged},
        "rmse_estimate": {one.name: _short(rmse(one.estimate - one.true)) for one in judged},
        "privacy_promised": {one.name: one.privacy for one in judged},
        "privacy_published": {one.name: _short(one.privacy_of(one.published)) for one in judged},
        "privacy_left": {one.name: _short(one.privacy_of(one.estimate)) for one in judged},
        "broken": [one.name for one in judged if one.broken],
    }


def _quadratic(values: Sequence[float]) -> float | None:
    return _short(float(np.sqrt(np.mean(np.square(values))))) if values else None


def _short(value: float | None) -> float | None:
    """Sums of floats differ in their last digits with the number of cores; facts do not."""
    return None if value is None else float(f"{value:.9g}")
