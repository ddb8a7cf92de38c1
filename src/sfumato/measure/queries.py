# SPDX-License-Identifier: MIT
"""How far aggregates move: random COUNT and SUM queries, answered from the originals and from the release.

An analyst who asks the release "how many women between 30 and 39 live here" spreads each published row evenly over what
its labels cover, column by column (Xiao & Tao 2006; LeFevre, DeWitt & Ramakrishnan 2006). A suppressed row is spread
over everything, a missing cell matches no condition, and a row that was left out is not counted. The errors are
computed from the originals: they are for the custodian, and say nothing about a single person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.arrays import Flags, Floats, Ints, Places
from sfumato.data.coded_cells import narrow_places
from sfumato.data.published_labels import Domain
from sfumato.errors import DataError, PolicyError
from sfumato.measure.distances import choose_compared_columns, select_counted_rows
from sfumato.randomness import Randomness
from sfumato.table import Table

QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95)
"""The quantiles of the errors that are reported."""

_DIGITS = 12
_ENTRIES = 4_000_000
_MOST_KEYS = 1 << 22
"""Up to so many combinations of values, rows are counted in a table with a place for each."""


@dataclass(frozen=True)
class QueryErrors:
    """Relative errors |answer from the release − true answer| / |true answer| of many queries."""

    queries: int
    """How many queries have a nonzero true answer, so that a relative error exists."""
    median: float
    """The median error."""
    mean: float
    """The mean error."""
    quantiles: Mapping[float, float]
    """The error that each of these shares of the queries does not exceed."""

    @classmethod
    def compare_answers(cls, true: Floats, read: Floats) -> QueryErrors:
        """Compare answers; all errors are 0 if there are none to compare."""
        asked = true != 0
        errors = np.round(np.abs(read[asked] - true[asked]) / np.abs(true[asked]), _DIGITS)
        if not len(errors):
            return cls(0, 0.0, 0.0, MappingProxyType(dict.fromkeys(QUANTILES, 0.0)))
        quantiles = dict(zip(QUANTILES, np.quantile(errors, QUANTILES).round(_DIGITS).tolist(), strict=True))
        mean = round(float(errors.mean()), _DIGITS)
        return cls(len(errors), quantiles[0.5], mean, MappingProxyType(quantiles))


@dataclass(frozen=True)
class QueryAccuracy:
    """The errors of queries on the release."""

    count: QueryErrors
    """The errors of COUNT."""
    sum: QueryErrors | None
    """The errors of SUM over `sum_column`; None without a number column."""
    sum_column: str | None
    """The column that was summed."""


@dataclass(frozen=True)
class AggregateQuery:
    """Conditions that a row must satisfy together: for each column, the leaves that match."""

    conditions: Mapping[str, Flags]


def query_accuracy(
    original: Table,
    published: Table,
    queries: int = 1000,
    columns_per_query: int = 2,
    selectivity: float = 0.1,
    randomness: Randomness | None = None,
    *,
    columns: Sequence[str] | None = None,
    sum_column: str | None = None,
    sums: bool = True,
) -> QueryAccuracy:
    """The errors of random queries; by default over the quasi-identifying and sensitive columns.

    Each query is drawn around a person, so that it has an answer: a range of a number column's values, or a subset of
    another column's, sized to give `selectivity` if columns were independent and uniform. SUM is over `sum_column`, or
    the first number column; `sums=False` asks for none. Without `randomness` the same queries are drawn each time.
    """
    if queries < 1 or columns_per_query < 1 or not 0 < selectivity <= 1:
        raise PolicyError("queries and columns_per_query must be at least 1; selectivity must be above 0 and at most 1")
    truth = select_counted_rows(original, published)
    if columns is None:
        columns = [name for name in (*truth.quasi_identifying, *truth.sensitive) if name in published.frame.columns]
    names = choose_compared_columns(truth, published, columns)
    summed = _choose_sum_column(truth, published, names, sum_column) if sums else None
    release = _QueryTable.of(truth, published, [*names, summed] if summed else names)
    originals = _QueryTable.of(truth, None, [*names, summed] if summed else names)
    generator = (randomness or Randomness.seeded(0)).generator()
    asked = _draw_queries(
        originals, names, set(truth.quasi_identifying), (queries, columns_per_query), selectivity, generator
    )
    true, read = originals.answer(asked, summed), release.answer(asked, summed)
    sum_errors = QueryErrors.compare_answers(true.sums, read.sums) if summed else None
    return QueryAccuracy(QueryErrors.compare_answers(true.counts, read.counts), sum_errors, summed)


@dataclass(frozen=True)
class _QueryTable:
    """A table to query, with every column read over its leaves."""

    domains: Mapping[str, Domain]
    readings: Mapping[str, _LabelledCells]

    @classmethod
    def of(cls, truth: Table, published: Table | None, names: Sequence[str]) -> _QueryTable:
        domains, readings = {}, {}
        for name in dict.fromkeys(names):
            column = truth.frame[name]
            domain = domains[name] = _get_column_domain(truth, name)
            if published is None:
                reading = domain.read_exactly(column)
            else:
                reading = domain.read(published.frame[name], column.null_count() > 0)
            labels = replace(reading, codes=np.zeros(0, dtype=np.int64))  # lets go of the wide codes
            readings[name] = _LabelledCells(narrow_places(reading.codes, reading.cover.labels), labels.average_values)
        return cls(domains, readings)

    def answer(self, queries: Sequence[AggregateQuery], summed: str | None) -> _QueryAnswers:
        """COUNT of every query and SUM of a column; queries over the same columns are answered together."""
        together: dict[tuple[str, ...], list[int]] = {}
        for number, query in enumerate(queries):
            together.setdefault(tuple(query.conditions), []).append(number)
        amounts = None if summed is None else self._expect_amounts(summed)
        answers = _QueryAnswers(np.zeros(len(queries)), np.zeros(len(queries)))
        for names, numbers in together.items():
            alike = self._group_alike_rows(names, None if summed in names else amounts)
            step = max(1, _ENTRIES // max(len(alike.counts), 1))
            for begin in range(0, len(numbers), step):
                some = numbers[begin : begin + step]
                asked = [queries[number] for number in some]
                answers.counts[some] = self._answer(alike, alike.counts, asked, None)
                if summed is not None:
                    answers.sums[some] = self._answer(alike, alike.sums, asked, summed)
        return answers

    def _group_alike_rows(self, names: tuple[str, ...], amounts: Floats | None) -> _AlikeRows:
        """The distinct rows of some columns, with their count and their sum of what each row adds: 1 by default."""
        columns = [self.readings[name].codes for name in names]
        widths = [int(codes.max(initial=0)) + 1 for codes in columns]
        if prod(widths) > _MOST_KEYS:
            rows = pl.DataFrame(dict(zip(names, columns, strict=True)))
            weighed = rows.with_columns(pl.Series("\0sum", np.ones(rows.height) if amounts is None else amounts))
            weighed = weighed.group_by(names, maintain_order=True).agg(pl.sum("\0sum"), pl.len().alias("\0count"))
            counts, sums = (weighed[name].cast(pl.Float64).to_numpy() for name in ("\0count", "\0sum"))
            return _AlikeRows({name: weighed[name].to_numpy() for name in names}, counts, sums)
        keys = np.zeros(len(columns[0]), dtype=np.int64)
        for codes, width in zip(columns, widths, strict=True):
            keys *= width
            keys += codes
        numbers = np.bincount(keys)
        seen = np.flatnonzero(numbers)
        counts = numbers[seen].astype(np.float64)
        sums = counts if amounts is None else np.bincount(keys, amounts)[seen].astype(np.float64)
        return _AlikeRows(dict(zip(names, np.unravel_index(seen, tuple(widths)), strict=True)), counts, sums)

    def _expect_amounts(self, summed: str) -> Floats:
        """What each row is expected to add to a sum."""
        reading = self.readings[summed]
        return reading.share(_compute_leaf_amounts(self.domains[summed]))[reading.codes]

    def _answer(self, alike: _AlikeRows, amounts: Floats, queries: list[AggregateQuery], summed: str | None) -> Floats:
        weights = np.repeat(amounts[:, None], len(queries), axis=1)
        for name, codes in alike.codes.items():
            wanted = np.column_stack([query.conditions[name] for query in queries]).astype(np.float64)
            if name == summed:
                wanted *= _compute_leaf_amounts(self.domains[name])[:, None]
            weights *= self.readings[name].share(wanted)[codes]
        answers: Floats = weights.sum(axis=0)
        return answers


class _LabelledCells(NamedTuple):
    """A column as the label of each row, and what turns values of leaves into those of labels."""

    codes: Places
    share: Callable[[npt.ArrayLike], Floats]


class _QueryAnswers(NamedTuple):
    counts: Floats
    sums: Floats


class _AlikeRows(NamedTuple):
    """Distinct rows: the label of each in every column, how many rows are like it, and what they add to a sum."""

    codes: Mapping[str, Places]
    counts: Floats
    sums: Floats


def _compute_leaf_amounts(domain: Domain) -> Floats:
    """What each leaf adds to a sum; a missing cell adds nothing."""
    assert domain.numbers is not None
    return np.append(domain.numbers, 0.0)


def _choose_sum_column(truth: Table, published: Table, names: Sequence[str], asked: str | None) -> str | None:
    if asked is None:
        every = dict.fromkeys([*names, *choose_compared_columns(truth, published, None)])
        numeric = (name for name in every if truth.frame.schema[name].is_numeric())
        sums = (name for name in numeric if _get_column_domain(truth, name).numbers is not None)
        return next(sums, None)
    choose_compared_columns(truth, published, [asked])
    if _get_column_domain(truth, asked).numbers is None:
        raise DataError(f'{truth.source}: the column "{asked}" does not hold numbers only, so it cannot be summed')
    return asked


def _get_column_domain(truth: Table, name: str) -> Domain:
    return Domain.of(truth.frame[name], truth.hierarchies.get(name))


def _draw_queries(
    originals: _QueryTable,
    names: Sequence[str],
    first: set[str],
    size: tuple[int, int],
    selectivity: float,
    generator: np.random.Generator,
) -> list[AggregateQuery]:
    """Random queries, each with at least one quasi-identifying column if there is one."""
    queries, wide = size[0], min(size[1], len(names))
    share = selectivity ** (1 / wide)
    leaders = [i for i, name in enumerate(names) if name in first] or list(range(len(names)))
    seen = {name: _SeenLeaves.of(originals, name) for name in names}
    people = generator.integers(0, len(next(iter(originals.readings.values())).codes), queries)
    drawn_queries = []
    for person in people.tolist():
        leader = leaders[int(generator.integers(len(leaders)))]
        others = [i for i in generator.permutation(len(names)).tolist() if i != leader][: wide - 1]
        chosen = [names[i] for i in sorted([leader, *others])]
        drawn_queries.append(
            AggregateQuery({name: seen[name].draw_condition(person, share, generator) for name in chosen})
        )
    return drawn_queries


@dataclass(frozen=True)
class _SeenLeaves:
    """The leaves of a column that occur, in the order that a range uses."""

    leaves: Ints
    codes: Places
    """Each person's leaf."""
    places: Ints
    """The index of each leaf among them; −1 for a missing value."""
    ordered: bool
    size: int

    @classmethod
    def of(cls, originals: _QueryTable, name: str) -> _SeenLeaves:
        domain, codes = originals.domains[name], originals.readings[name].codes
        known = np.flatnonzero(np.bincount(codes, minlength=len(domain.leaves))[: len(domain.leaves)])
        if domain.numbers is not None:
            known = known[np.argsort(domain.numbers[known], kind="stable")]
        places = np.full(len(domain.leaves) + 1, -1, dtype=np.int64)
        places[known] = np.arange(len(known))
        return cls(known, codes, places, domain.numbers is not None, len(domain.leaves) + 1)

    def draw_condition(self, person: int, share: float, generator: np.random.Generator) -> Flags:
        """Some of the leaves, including the person's: neighbours if the column is ordered, any otherwise."""
        wanted = np.zeros(self.size, dtype=np.bool_)
        if not len(self.leaves):
            return wanted
        many = min(max(1, round(share * len(self.leaves))), len(self.leaves))
        leaf_place = int(self.places[self.codes[person]])
        if leaf_place < 0:
            leaf_place = int(generator.integers(len(self.leaves)))
        if self.ordered:
            begin = int(generator.integers(max(0, leaf_place - many + 1), min(leaf_place, len(self.leaves) - many) + 1))
            wanted[self.leaves[begin : begin + many]] = True
        else:
            others = generator.permutation(len(self.leaves) - 1)[: many - 1]
            wanted[self.leaves[others + (others >= leaf_place)]] = True
            wanted[self.leaves[leaf_place]] = True
        return wanted
