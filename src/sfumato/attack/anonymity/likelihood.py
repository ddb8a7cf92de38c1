# SPDX-License-Identifier: MIT
"""How well a published row fits someone when cells are noisy, randomized, averaged or moved: a cost per known cell.

The cost of a cell is minus the logarithm of how likely it is for the known value, up to a constant.

- Noise and randomized answers: by the published law, which everybody has.
- A label that covers the value: the logarithm of how many values it covers, since a row that fits few people is more
  likely theirs. A label that does not: so much that no other column makes up for it, where cells are truthful.
- Averages, swapped and other numbers, dates and times: half the square of the gap, in deviations of the known ones.
- Other values: the more for a value that differs, the rarer agreement by chance is (Fellegi and Sunter 1969).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.attack.row_distance import LabelColumn
from sfumato.data.cells.moments_in_text import locate_moments
from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.public.answer_channel import NO_ANSWER, AnswerChannel, AnswerLaw
from sfumato.public.noise_law import CorrelatedNoiseLaw, Noise, get_noise, get_noise_covariance, read_numbers
from sfumato.release import Release
from sfumato.table import Missing

DENIAL_COST = 1e4
"""More than all else together: what a truthful cell rules out."""
_DIFFERS = 3.0
_WIDTH = 1e-2
_MAY_BE = 1.0
_QUARTILES_OF_NORMAL = 1.349
"""How many deviations the quartiles of a normal distribution are apart."""
_FAR = 4.0
_LARGEST_TABLE = 8_000_000
_DAY = 86_400e6
"""Positions in time are counted in microseconds."""


@dataclass(frozen=True, eq=False, repr=False)
class KnownColumn:
    """One known column: the values of distinct people, and the labels of distinct published rows."""

    values: pl.Series
    labels: LabelColumn
    cells: pl.Series
    missing: Missing
    is_blanked: bool = False
    """Whether an empty cell may hide any value. What a missing value shows as, `missing` says: by itself nothing else
    than an empty cell."""


@dataclass(frozen=True, eq=False, repr=False)
class NumberPrice:
    """A column whose cost grows with the gap between two numbers; fields as in the kernel's `NumberCosts`."""

    person_numbers: Floats
    low: Floats
    high: Floats
    law: tuple[float, float, float, float, float]

    def compute_costs(self, people: slice) -> Floats:
        """People × rows, as the kernel computes one by one."""
        known_numbers, (scale, wall, unknown_cost, blank_cost, both_blank_cost) = (
            self.person_numbers[people, None],
            self.law,
        )
        with np.errstate(over="ignore"):  # of numbers that are too far apart
            gap = np.maximum(np.maximum(self.low - known_numbers, known_numbers - self.high), 0.0)
            ratio = gap / (scale or 1.0)
            costs = 0.5 * ratio * ratio if wall == 0 else 1e-6 * ratio * ratio + wall * (ratio > 1 + 1e-9)
        costs = np.where(gap > 0, wall, 0.0) if scale == 0 else costs
        unknown, blank = np.isnan(known_numbers), np.isnan(self.low)
        costs_of_unknown = np.where(blank, both_blank_cost, np.where(np.isneginf(self.low), blank_cost, unknown_cost))
        return np.asarray(np.where(unknown, costs_of_unknown, np.where(blank, blank_cost, costs)))

    @property
    def sharpness(self) -> float:
        """How few rows are near one another, so that a search that begins with this column ends soon; 0 if none can."""
        if not len(self.low) or not np.isfinite(self.low).all() or not np.array_equal(self.low, self.high):
            return 0.0
        bins = np.floor(self.low / max(self.law[0] / 4, 1e-300))
        shares = np.unique(bins, return_counts=True)[1] / len(bins)
        return float(1 / (shares**2).sum())


@dataclass(frozen=True, eq=False, repr=False)
class LabelPrice:
    """A column whose cost is looked up by value and label."""

    person_labels: Ints
    row_labels: Ints
    costs: Floats
    """Values × labels."""

    def compute_costs(self, people: slice) -> Floats:
        """People × rows."""
        return np.asarray(self.costs[self.person_labels[people]][:, self.row_labels])

    def find_only_labels(self) -> Ints | None:
        """For each person the one label that is not denied, −1 for none; None where someone has more."""
        fits = self.costs < DENIAL_COST
        if not len(fits) or int(fits.sum(axis=1).max(initial=0)) > 1:
            return None
        return np.asarray(np.where(fits.any(axis=1), fits.argmax(axis=1), -1)[self.person_labels], dtype=np.int64)


Price = NumberPrice | LabelPrice
ColumnPrices = Callable[[KnownColumn], Price]


def price_covering(column: KnownColumn, denied_cost: float = DENIAL_COST) -> Price:
    """Nothing for a label that may stand for the value, `denied_cost` for any other."""
    if _is_too_large(column):
        return _read_bounds(column, 0.0, denied_cost) or _price_equality(column, denied_cost)
    weight = 1.0 if denied_cost == DENIAL_COST else _WIDTH

    def compute_costs(labels: LabelColumn, values: pl.Series) -> Floats:
        fits = labels.covers(values)
        costs = np.where(fits, weight * np.log(np.maximum(fits.sum(axis=0), 1)), denied_cost)
        unknown, blank = values.is_null().to_numpy(), labels.texts.is_null().to_numpy()
        may_be = max(weight * np.log(max(len(values), 1)), weight)
        if column.missing is Missing.MATCHES_ANY:
            costs[unknown] = may_be
            costs[:, blank] = may_be
        elif column.is_blanked:
            costs[np.ix_(~unknown, blank)] = may_be
        return costs

    return _tabulate(column, compute_costs)


def price_fitting(blank_cost: float) -> ColumnPrices:
    """Nothing for a label that may stand for the value, however many it covers; `blank_cost` for what may hide it."""

    def compute_costs(column: KnownColumn, labels: LabelColumn, values: pl.Series) -> Floats:
        unknown, blank = values.is_null().to_numpy(), labels.texts.is_null().to_numpy()
        costs = np.where(labels.covers(values), 0.0, DENIAL_COST)
        if column.missing is Missing.MATCHES_ANY:
            costs[unknown] = 0.0
        if column.missing is Missing.MATCHES_ANY or column.is_blanked:
            costs[np.ix_(~unknown, blank)] = blank_cost
        return costs

    def price(column: KnownColumn) -> Price:
        if _is_too_large(column):
            covering_price = price_covering(column)
            assert isinstance(covering_price, NumberPrice)
            scale, wall, *missing_costs = (blank_cost if cost == _MAY_BE else cost for cost in covering_price.law)
            unknown, blank, both_missing = missing_costs
            return replace(covering_price, law=(scale, wall, unknown, blank, both_missing))
        return _tabulate(column, partial(compute_costs, column))

    return price


def price_distance(column: KnownColumn) -> Price:
    """The distance from 0 to 1 that `row_distance` describes, of numbers and labels alike."""
    return _tabulate(column, lambda labels, values: labels.measure_distances(values))


def price_nearness(column: KnownColumn, share: float = 1.0) -> Price:
    """The gap between numbers or moments, in a share of the deviation of known ones; of others, whether they differ."""
    numbers = _read_values(column.values)
    scale = share * _measure_deviation(numbers[~np.isnan(numbers)]) if numbers is not None else 0.0
    return _read_bounds(column, max(scale, 1e-12), 0.0) or price_covering(column, 0.5)


def _measure_deviation(numbers: Floats) -> float:
    """The deviation of known numbers; that of the middle half if a few far ones, such as 9999999999, widen it a lot."""
    series = pl.Series(numbers)  # which deviates infinitely where numbers are extreme, without a warning
    deviation, low, high = float(series.std() or 0.0), series.quantile(0.25), series.quantile(0.75)  # type: ignore[arg-type]  # a column of numbers
    middle_deviation = ((high or 0.0) - (low or 0.0)) / _QUARTILES_OF_NORMAL
    return middle_deviation if 0 < middle_deviation < deviation / _FAR else deviation


def price_agreement(column: KnownColumn) -> Price:
    """Whether the value differs, however near it is: the more, the rarer it is that two rows agree by chance."""
    shares = np.bincount(column.labels.codes) / max(len(column.labels.codes), 1)
    return price_covering(column, 1.0 - float(np.log((shares**2).sum() or 1.0)))


def price_loosely(column: KnownColumn) -> Price:
    """Averages, swapped and other cells: numbers by their gap, other values by agreement."""
    return price_nearness(column) if _read_bounds(column, 1.0, 0.0) else price_agreement(column)


def price_means(columns: int) -> ColumnPrices:
    """Means of groups that were formed by several columns: g groups in d columns are about g^(1/d) times narrower."""

    def price(column: KnownColumn) -> Price:
        share = max(column.cells.n_unique(), 1) ** (-1 / columns)
        return price_nearness(column, share) if _read_bounds(column, 1.0, 0.0) else price_agreement(column)

    return price


def price_noise(noise: Noise) -> ColumnPrices:
    """By the law of the noise: Gaussian, or flat up to a bound."""
    half = {"uniform": 1.0, "discretize": 0.5}.get(noise.kind)
    reach = noise.scale if half is None else half * noise.scale + max(noise.step, noise.grid)

    def price(column: KnownColumn) -> Price:
        return _read_bounds(column, reach, 0.0 if half is None else DENIAL_COST) or price_agreement(column)

    return price


def price_answers(channel: AnswerChannel) -> ColumnPrices:
    """By the channel: how likely the answer, or the bit of the true category, is."""

    def price(column: KnownColumn) -> Price:
        texts = column.labels.texts
        if channel.one_answer:
            answers = channel.code_answers(texts)
            odds = channel.build_matrix()[np.maximum(answers, 0)]
        else:
            bits = np.zeros((len(texts), len(channel.categories)))
            bits[texts.is_not_null().to_numpy()] = channel.read_bits(texts)
            p, q = np.clip([channel.p, channel.q], 1e-12, 1 - 1e-12)
            odds = np.where(bits == 1, p / q, (1 - p) / (1 - q))
            answers = np.where(texts.is_null().to_numpy(), NO_ANSWER, 0)
        costs_of_truth = -np.log(np.maximum(odds.T / max(float(odds.max(initial=0.0)), 1e-12), 1e-12))

        def compute_costs(_: LabelColumn, values: pl.Series) -> Floats:
            truth = channel.code_answers(values)
            costs = costs_of_truth[np.maximum(truth, 0)]
            # Who gave no answer, or is no category, is known by it.
            unheard = (truth < 0)[:, None] | (answers < 0)
            return np.where(unheard, np.where(truth[:, None] == answers, 0.0, _DIFFERS), costs)

        return _tabulate(column, compute_costs)

    return price


def whiten_noise(release: Release, names: Sequence[str]) -> dict[str, ColumnPrices]:
    """Rotate correlated noise into independent components."""
    turn = np.linalg.inv(np.linalg.cholesky(get_noise_covariance(release, tuple(names))))
    columns: dict[str, KnownColumn] = {}

    def price_turned(number: int) -> ColumnPrices:
        def price(column: KnownColumn) -> Price:
            columns[names[number]] = column
            leading_columns = [columns[name] for name in names[: number + 1]]  # the matrix is triangular
            person_numbers, row_numbers = (
                turn[number, : number + 1] @ np.stack([read_numbers(part) for part in parts])
                for parts in (
                    [known_column.values for known_column in leading_columns],
                    [known_column.cells for known_column in leading_columns],
                )
            )
            return NumberPrice(person_numbers, row_numbers, row_numbers, (1.0, 0.0, _DIFFERS, _DIFFERS, 0.0))

        return price

    return {name: price_turned(number) for number, name in enumerate(names)}


def price_by_law(release: Release, names: Sequence[str]) -> dict[str, ColumnPrices]:
    """For each of some columns that chance changed by a published law, how its cells are priced."""
    laws = {name: release.public[name] for name in names}
    correlated_columns = [name for name, law in laws.items() if isinstance(law, CorrelatedNoiseLaw)]
    prices: dict[str, ColumnPrices] = {}
    for name, law in laws.items():
        prices[name] = price_answers(law) if isinstance(law, AnswerLaw) else price_noise(get_noise(release, name))
    numeric = all(release.data.frame[name].dtype.is_numeric() for name in correlated_columns)
    return prices | (whiten_noise(release, correlated_columns) if len(correlated_columns) > 1 and numeric else {})


def _is_too_large(column: KnownColumn) -> bool:
    """Whether a table of all values and labels would take too much memory."""
    return len(column.labels.texts) * column.values.n_unique() > _LARGEST_TABLE


def _tabulate(column: KnownColumn, compute_costs: Callable[[LabelColumn, pl.Series], Floats]) -> LabelPrice:
    distinct = column.values.unique(maintain_order=True)
    index = pl.DataFrame({"value": distinct}).with_row_index("at")
    person_labels = pl.DataFrame({"value": column.values}).join(
        index, on="value", how="left", maintain_order="left", nulls_equal=True
    )
    costs = compute_costs(column.labels, distinct)
    return LabelPrice(person_labels["at"].to_numpy().astype(np.int64), column.labels.codes, costs)


def _read_bounds(column: KnownColumn, scale: float, wall: float) -> NumberPrice | None:
    """The column as numbers, moments or ranges of them, a `*` as all of them; None where it holds anything else."""
    person_numbers = _read_values(column.values)
    if person_numbers is None:
        return None
    blank_cost = _DIFFERS if wall == 0 else wall
    law = (scale, wall, *_price_missing(column, blank_cost))
    in_time = not column.values.dtype.is_numeric()
    if column.cells.dtype.is_numeric():
        row_numbers = read_numbers(column.cells)
        return None if in_time else NumberPrice(person_numbers, row_numbers, row_numbers, law)
    labels, unit = column.labels, _DAY if in_time else 1.0
    suppressed_mask = (labels.texts == STAR).fill_null(False).to_numpy()
    if not (np.isfinite(labels.low) | suppressed_mask | labels.texts.is_null().to_numpy()).all():
        return None
    low, high = (
        np.where(suppressed_mask, -np.inf, labels.low / unit),
        np.where(suppressed_mask, np.inf, labels.high / unit),
    )
    return NumberPrice(person_numbers, low[labels.codes], high[labels.codes], law)


def _read_values(values: pl.Series) -> Floats | None:
    """Numbers as they are, moments in days, in which noise on dates is drawn; None for anything else."""
    if values.dtype.is_numeric():
        return read_numbers(values)
    moments = locate_moments(spell_cells(values))
    return None if moments is None else np.asarray(moments.fill_null(float("nan")).to_numpy() / _DAY)


def _price_equality(column: KnownColumn, denied_cost: float) -> NumberPrice:
    """So many values that a table would be too large: only whether they are the same, and what is missing."""
    texts = pl.DataFrame({"text": column.labels.texts.drop_nulls()}).with_row_index("at")
    known_texts = pl.DataFrame({"text": spell_cells(column.values)})
    person_codes = (
        known_texts.join(texts, on="text", how="left", maintain_order="left")["at"].cast(pl.Float64).fill_null(-1.0)
    )
    person_codes = person_codes.zip_with(known_texts["text"].is_not_null(), pl.Series([float("nan")]))
    blank = column.labels.texts.is_null().to_numpy()[column.labels.codes]
    suppressed_mask = (column.labels.texts == STAR).fill_null(False).to_numpy()[column.labels.codes]
    row_codes = np.where(blank, np.nan, column.labels.codes.astype(np.float64))
    low, high = np.where(suppressed_mask, -np.inf, row_codes), np.where(suppressed_mask, np.inf, row_codes)
    return NumberPrice(person_codes.to_numpy(), low, high, (0.0, denied_cost, *_price_missing(column, denied_cost)))


class _MissingCosts(NamedTuple):
    """What it costs that a number is missing."""

    unknown: float
    """The person's alone; against a `*`, as if the row's were."""
    blank: float
    """The row's alone."""
    both_missing: float


def _price_missing(column: KnownColumn, cost: float) -> _MissingCosts:
    """By what the column's missing cells mean."""
    if column.missing is Missing.MATCHES_ANY:
        return _MissingCosts(_MAY_BE, _MAY_BE, _MAY_BE)
    if column.missing is Missing.NEVER_MATCHES:
        return _MissingCosts(cost, cost, cost)
    return _MissingCosts(cost, _MAY_BE if column.is_blanked else cost, 0.0)
