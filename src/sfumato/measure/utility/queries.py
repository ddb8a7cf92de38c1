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
from sfumato.data.cells.coded_cells import narrow_places
from sfumato.data.hierarchies.published_labels import Domain
from sfumato.errors import DataError, PolicyError
from sfumato.measure.utility.distances import choose_compared_columns, select_counted_rows
from sfumato.randomness import Randomness
from sfumato.table import Table

QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95)
"""The quantiles of the errors that are reported."""

_DIGITS = 12
_ENTRIES = 4_000_000
_MOST_KEYS = 1 << 22
"""Up to this many combinations of values, rows are counted in a table with a place for each."""


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
        nonzero_mask = true != 0
        errors = np.round(np.abs(read[nonzero_mask] - true[nonzero_mask]) / np.abs(true[nonzero_mask]), _DIGITS)
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
    published_table: Table,
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
    truth = select_counted_rows(original, published_table)
    if columns is None:
        columns = [
            name for name in (*truth.quasi_identifying, *truth.sensitive) if name in published_table.frame.columns
        ]
    names = choose_compared_columns(truth, published_table, columns)
    summed_column = _choose_sum_column(truth, published_table, names, sum_column) if sums else None
    release = _QueryTable.of(truth, published_table, [*names, summed_column] if summed_column else names)
    originals = _QueryTable.of(truth, None, [*names, summed_column] if summed_column else names)
    generator = (randomness or Randomness.seeded(0)).generator()
    drawn_queries = _draw_queries(
        originals, names, set(truth.quasi_identifying), (queries, columns_per_query), selectivity, generator
    )
    true, read = originals.answer(drawn_queries, summed_column), release.answer(drawn_queries, summed_column)
    sum_errors = QueryErrors.compare_answers(true.sums, read.sums) if summed_column else None
    return QueryAccuracy(QueryErrors.compare_answers(true.counts, read.counts), sum_errors, summed_column)


@dataclass(frozen=True)
class _QueryTable:
    """A table to query, with every column read over its leaves."""

    domains: Mapping[str, Domain]
    readings: Mapping[str, _LabelledCells]

    @classmethod
    def of(cls, truth: Table, published_table: Table | None, names: Sequence[str]) -> _QueryTable:
        domains, readings = {}, {}
        for name in dict.fromkeys(names):
            column = truth.frame[name]
            domain = domains[name] = _get_column_domain(truth, name)
            if published_table is None:
                reading = domain.read_exactly(column)
            else:
                reading = domain.read(published_table.frame[name], column.null_count() > 0)
            labels = replace(reading, codes=np.zeros(0, dtype=np.int64))  # lets go of the wide codes
            readings[name] = _LabelledCells(narrow_places(reading.codes, reading.cover.labels), labels.average_values)
        return cls(domains, readings)

    def answer(self, queries: Sequence[AggregateQuery], summed_column: str | None) -> _QueryAnswers:
        """COUNT of every query and SUM of a column; queries over the same columns are answered together."""
        numbers_by_columns: dict[tuple[str, ...], list[int]] = {}
        for number, query in enumerate(queries):
            numbers_by_columns.setdefault(tuple(query.conditions), []).append(number)
        amounts = None if summed_column is None else self._expect_amounts(summed_column)
        answers = _QueryAnswers(np.zeros(len(queries)), np.zeros(len(queries)))
        for names, numbers in numbers_by_columns.items():
            alike = self._group_alike_rows(names, None if summed_column in names else amounts)
            step = max(1, _ENTRIES // max(len(alike.counts), 1))
            for begin in range(0, len(numbers), step):
                query_numbers = numbers[begin : begin + step]
                batch_queries = [queries[number] for number in query_numbers]
                answers.counts[query_numbers] = self._answer(alike, alike.counts, batch_queries, None)
                if summed_column is not None:
                    answers.sums[query_numbers] = self._answer(alike, alike.sums, batch_queries, summed_column)
        return answers

    def _group_alike_rows(self, names: tuple[str, ...], amounts: Floats | None) -> _AlikeRows:
        """The distinct rows of some columns, with their count and their sum of what each row adds: 1 by default."""
        columns = [self.readings[name].codes for name in names]
        widths = [int(codes.max(initial=0)) + 1 for codes in columns]
        if prod(widths) > _MOST_KEYS:
            rows = pl.DataFrame(dict(zip(names, columns, strict=True)))
            weighted_rows = rows.with_columns(pl.Series("\0sum", np.ones(rows.height) if amounts is None else amounts))
            weighted_rows = weighted_rows.group_by(names, maintain_order=True).agg(
                pl.sum("\0sum"), pl.len().alias("\0count")
            )
            counts, sums = (weighted_rows[name].cast(pl.Float64).to_numpy() for name in ("\0count", "\0sum"))
            return _AlikeRows({name: weighted_rows[name].to_numpy() for name in names}, counts, sums)
        keys = np.zeros(len(columns[0]), dtype=np.int64)
        for codes, width in zip(columns, widths, strict=True):
            keys *= width
            keys += codes
        numbers = np.bincount(keys)
        present_keys = np.flatnonzero(numbers)
        counts = numbers[present_keys].astype(np.float64)
        sums = counts if amounts is None else np.bincount(keys, amounts)[present_keys].astype(np.float64)
        return _AlikeRows(dict(zip(names, np.unravel_index(present_keys, tuple(widths)), strict=True)), counts, sums)

    def _expect_amounts(self, summed_column: str) -> Floats:
        """What each row is expected to add to a sum."""
        reading = self.readings[summed_column]
        return reading.share(_compute_leaf_amounts(self.domains[summed_column]))[reading.codes]

    def _answer(
        self, alike: _AlikeRows, amounts: Floats, queries: list[AggregateQuery], summed_column: str | None
    ) -> Floats:
        weights = np.repeat(amounts[:, None], len(queries), axis=1)
        for name, codes in alike.codes.items():
            condition_matrix = np.column_stack([query.conditions[name] for query in queries]).astype(np.float64)
            if name == summed_column:
                condition_matrix *= _compute_leaf_amounts(self.domains[name])[:, None]
            weights *= self.readings[name].share(condition_matrix)[codes]
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


def _choose_sum_column(
    truth: Table, published_table: Table, names: Sequence[str], sum_column: str | None
) -> str | None:
    if sum_column is None:
        every = dict.fromkeys([*names, *choose_compared_columns(truth, published_table, None)])
        numeric = (name for name in every if truth.frame.schema[name].is_numeric())
        sums = (name for name in numeric if _get_column_domain(truth, name).numbers is not None)
        return next(sums, None)
    choose_compared_columns(truth, published_table, [sum_column])
    if _get_column_domain(truth, sum_column).numbers is None:
        raise DataError(f'{truth.source}: the column "{sum_column}" does not hold numbers only, so it cannot be summed')
    return sum_column


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
    seen_leaves = {name: _SeenLeaves.of(originals, name) for name in names}
    people = generator.integers(0, len(next(iter(originals.readings.values())).codes), queries)
    drawn_queries = []
    for person in people.tolist():
        leader = leaders[int(generator.integers(len(leaders)))]
        other_indices = [i for i in generator.permutation(len(names)).tolist() if i != leader][: wide - 1]
        chosen_names = [names[i] for i in sorted([leader, *other_indices])]
        drawn_queries.append(
            AggregateQuery({name: seen_leaves[name].draw_condition(person, share, generator) for name in chosen_names})
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
    is_ordered: bool
    size: int

    @classmethod
    def of(cls, originals: _QueryTable, name: str) -> _SeenLeaves:
        domain, codes = originals.domains[name], originals.readings[name].codes
        known_leaves = np.flatnonzero(np.bincount(codes, minlength=len(domain.leaves))[: len(domain.leaves)])
        if domain.numbers is not None:
            known_leaves = known_leaves[np.argsort(domain.numbers[known_leaves], kind="stable")]
        places = np.full(len(domain.leaves) + 1, -1, dtype=np.int64)
        places[known_leaves] = np.arange(len(known_leaves))
        return cls(known_leaves, codes, places, domain.numbers is not None, len(domain.leaves) + 1)

    def draw_condition(self, person: int, share: float, generator: np.random.Generator) -> Flags:
        """Some of the leaves, including the person's: neighbours if the column is ordered, any otherwise."""
        leaf_mask = np.zeros(self.size, dtype=np.bool_)
        if not len(self.leaves):
            return leaf_mask
        many = min(max(1, round(share * len(self.leaves))), len(self.leaves))
        leaf_place = int(self.places[self.codes[person]])
        if leaf_place < 0:
            leaf_place = int(generator.integers(len(self.leaves)))
        if self.is_ordered:
            begin = int(generator.integers(max(0, leaf_place - many + 1), min(leaf_place, len(self.leaves) - many) + 1))
            leaf_mask[self.leaves[begin : begin + many]] = True
        else:
            other_places = generator.permutation(len(self.leaves) - 1)[: many - 1]
            leaf_mask[self.leaves[other_places + (other_places >= leaf_place)]] = True
            leaf_mask[self.leaves[leaf_place]] = True
        return leaf_mask
