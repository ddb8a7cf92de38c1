# SPDX-License-Identifier: MIT
"""Search a release for the rows that are likeliest to be someone's: those of least cost, added up over the columns.

People and rows that are alike are looked at once, and where a column has just one label that fits a value, only the
rows with that label are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints, Places
from sfumato.attack.anonymity.likelihood import (
    ColumnPrices,
    KnownColumn,
    LabelPrice,
    NumberPrice,
    Price,
    price_distance,
)
from sfumato.attack.anonymity.matched_keys import MatchedRows
from sfumato.attack.row_distance import LabelColumn
from sfumato.table import Missing, Table

_BLOCK = 2_000_000
_MOST_PEOPLE = 500
# The share of a cost by which sums of the same terms may differ, and less than any cost: they only order rows that cost
# the same.
_TIE, _LEAST = 1e-12, 1e-280


class NearClasses(NamedTuple):
    """Pairs of a person and a class of rows, person by person."""

    persons: Ints
    classes: Ints


class CostBlock(NamedTuple):
    """What rows cost some people."""

    people: slice
    """Which people, by their places."""
    costs: Floats
    """People × classes of rows."""


@dataclass(frozen=True, eq=False, repr=False)
class RowSearch:
    """A release, ready to be searched for the rows that cost someone least."""

    published_table: Table
    prices: Mapping[str, ColumnPrices]
    blanked_columns: frozenset[str] = field(default_factory=frozenset)
    """Columns in which an empty cell may hide anything, whatever the table says of missing ones.

    If a missing cell is a value of its own, who lacks a value has an empty cell; else it may be anything, too.
    """
    filled_columns: frozenset[str] = field(default_factory=frozenset)
    """Those of them in which who lacks a value may show one."""

    @classmethod
    def search_by_distance(cls, published_table: Table, names: Sequence[str]) -> RowSearch:
        """By the distance of each cell, which `row_distance` describes."""
        return cls(published_table, dict.fromkeys(names, price_distance))

    def find_rows(self, people: Table) -> MatchedRows:
        """The rows of least cost for every person: published rows in order, where theirs begin, how many there are."""
        person_groups = _group_alike(people.frame, list(self.prices))
        if not self.classes.height or not person_groups.height:
            zero_counts = np.zeros(people.frame.height, dtype=np.int64)
            return MatchedRows(np.zeros(0, dtype=np.int64), zero_counts, zero_counts)
        counts, classes = _search_rows(self._price(person_groups), person_groups.height, self.classes.height)
        order, start, count = expand_classes(classes, counts, self.classes["\0at"])
        persons = person_groups["\0at"].explode().to_numpy()
        of_person = np.empty(len(persons), dtype=np.int64)
        of_person[persons] = np.repeat(np.arange(person_groups.height), person_groups["\0at"].list.len().to_numpy())
        return MatchedRows(order, start[of_person], count[of_person])

    def draw_rows(self, people: Table, neighbours: int, chance: np.random.Generator) -> Ints:
        """The rows that cost each person least, the cheapest first; rows of the same cost are as likely."""
        most = min(neighbours, len(self.class_of_row))
        if most == 1:
            return self._draw_nearest_row(people, chance)[:, None]
        nearest = np.zeros((len(people), most), dtype=np.int64)
        for part, costs in self.iterate_costs(people) if most else ():
            by_row = costs[:, self.class_of_row]
            by_row += chance.random(by_row.shape) * (by_row * _TIE + _LEAST)
            near_rows = np.argpartition(by_row, most - 1, axis=1)[:, :most]
            nearest[part] = np.take_along_axis(near_rows, np.take_along_axis(by_row, near_rows, 1).argsort(axis=1), 1)
        return nearest

    def _draw_nearest_row(self, people: Table, chance: np.random.Generator) -> Ints:
        """One of the rows of least cost for each person, by its place among the rows of all nearest classes."""
        persons, classes = self.list_nearest_classes(people, 1)
        rows = self.classes["\0at"].explode().to_numpy().astype(np.int64)
        sizes = self.classes["\0at"].list.len().to_numpy().astype(np.int64)
        ends = np.cumsum(sizes[classes])
        begins = np.concatenate([[0], ends])[np.searchsorted(persons, np.arange(len(people) + 1))]
        places = begins[:-1] + np.floor(chance.random(len(people)) * np.diff(begins)).astype(np.int64)
        pair = np.searchsorted(ends, places, side="right")
        last_of_class = np.cumsum(sizes)[classes[pair]]
        return np.asarray(rows[last_of_class - (ends[pair] - places)])

    def measure_costs(self, people: Table, rows: Ints) -> Floats:
        """What one row costs each person."""
        classes, row_costs = self.class_of_row[rows], np.zeros(len(people))
        for part, costs in self.iterate_costs(people):
            row_costs[part] = costs[np.arange(len(costs)), classes[part]]
        return row_costs

    def list_nearest_classes(self, people: Table, neighbours: int) -> NearClasses:
        """Pairs of a person and a class: of the rows that cost least, and of all that cost no more than the last."""
        persons, nearest = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        last = min(neighbours, len(self.class_of_row)) - 1
        for part, costs in self.iterate_costs(people) if last >= 0 else ():
            limit = costs.min(axis=1) if last == 0 else np.partition(costs[:, self.class_of_row], last, axis=1)[:, last]
            person, near_classes = np.nonzero(costs <= limit[:, None] * (1 + _TIE))
            persons.append(person + part.start)
            nearest.append(near_classes)
        return NearClasses(np.concatenate(persons), np.concatenate(nearest))

    def iterate_costs(self, people: Table) -> Iterator[CostBlock]:
        """People × classes, some people at a time."""
        widest = max(len(self.class_of_row), 1)
        for begin in range(0, len(people), _MOST_PEOPLE):
            people_block = people.frame[begin : begin + _MOST_PEOPLE]
            prices = self._price(people_block)
            step = max(1, _BLOCK // widest)
            for first in range(0, people_block.height, step):
                part = slice(first, min(first + step, people_block.height))
                costs = np.zeros((part.stop - first, self.classes.height))
                for price in prices:
                    costs += price.compute_costs(part)
                yield CostBlock(slice(begin + first, begin + part.stop), costs)

    @cached_property
    def classes(self) -> pl.DataFrame:
        """The distinct published rows, and which rows they are."""
        return _group_alike(self.published_table.frame, list(self.prices))

    @cached_property
    def class_of_row(self) -> Ints:
        """The class of each published row."""
        sizes = self.classes["\0at"].list.len().to_numpy()
        of_row = np.empty(int(sizes.sum()), dtype=np.int64)
        of_row[self.classes["\0at"].explode().to_numpy()] = np.repeat(np.arange(len(sizes)), sizes)
        return of_row

    @cached_property
    def _labels(self) -> Mapping[str, LabelColumn]:
        hierarchies = self.published_table.hierarchies
        return {
            name: LabelColumn.read(self.classes[name], hierarchies.get(name), self._get_missing(name))
            for name in self.prices
        }

    def _get_missing(self, name: str) -> Missing:
        missing = self.published_table.missing
        is_wild = name in self.filled_columns or missing is not Missing.OWN_VALUE
        return Missing.MATCHES_ANY if is_wild and name in self.blanked_columns else missing

    def _price(self, people: pl.DataFrame) -> list[Price]:
        return [
            price(
                KnownColumn(
                    people[name],
                    self._labels[name],
                    self.classes[name],
                    self._get_missing(name),
                    name in self.blanked_columns,
                )
            )
            for name, price in self.prices.items()
        ]


def _group_alike(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    return frame.select(names).with_row_index("\0at").group_by(names, maintain_order=True).agg("\0at")


def _search_rows(prices: Sequence[Price], people: int, rows: int) -> tuple[Ints, Ints]:
    """How many rows cost each person least, and which: rows that a truthful column rules out are passed over."""
    from sfumato.kernels.anonymity.likeliest import LabelCosts, NumberCosts, list_cheapest_rows

    numbers = sorted((price for price in prices if isinstance(price, NumberPrice)), key=lambda price: -price.sharpness)
    labels = [price for price in prices if isinstance(price, LabelPrice)]
    person_blocks, row_blocks, is_blocked = _number_blocks(labels, people, rows)
    can_sweep = bool(numbers) and numbers[0].sharpness > 0
    order = np.lexsort((numbers[0].low, row_blocks)) if can_sweep else np.argsort(row_blocks, kind="stable")
    first, last = (np.searchsorted(row_blocks[order], person_blocks, side) for side in ("left", "right"))
    whole = ~is_blocked | (first == last)
    first, last = np.where(whole, 0, first), np.where(whole, rows, last)
    sizes = np.asarray([price.costs.size for price in labels], dtype=np.int64)
    layout = np.column_stack([np.cumsum(sizes) - sizes, [price.costs.shape[1] for price in labels]]) if labels else None
    counts, cheapest = list_cheapest_rows(
        NumberCosts(
            _stack([price.person_numbers for price in numbers], people),
            _stack([price.low[order] for price in numbers], rows),
            _stack([price.high[order] for price in numbers], rows),
            np.asarray([price.law for price in numbers], dtype=np.float64).reshape(-1, 5),
        ),
        LabelCosts(
            _stack([price.person_labels for price in labels], people).astype(np.int64),
            _stack([price.row_labels[order] for price in labels], rows).astype(np.int64),
            np.concatenate([np.zeros(0, np.float32), *(price.costs.ravel().astype(np.float32) for price in labels)]),
            np.zeros((0, 2), dtype=np.int64) if layout is None else layout.astype(np.int64),
        ),
        first.astype(np.int64),
        last.astype(np.int64),
        np.full(people, can_sweep) & (~whole | (row_blocks.max(initial=0) == row_blocks.min(initial=0))),
    )
    return counts, order[cheapest]


class _BlockNumbers(NamedTuple):
    """Numbers of blocks, equal for people and rows that no truthful column keeps apart."""

    person_blocks: Ints
    row_blocks: Ints
    fits: Flags
    """For whom there are such rows."""


def _number_blocks(labels: Sequence[LabelPrice], people: int, rows: int) -> _BlockNumbers:
    """Equal numbers for people and rows that no truthful column keeps apart; and for whom there are such rows."""
    person_blocks, row_blocks = np.zeros(people, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    fits = np.ones(people, dtype=np.bool_)
    for column in labels:
        only_labels = column.find_only_labels()
        if only_labels is None:
            continue
        fits &= only_labels >= 0
        width = column.costs.shape[1] + 1
        joint_numbers = np.concatenate([person_blocks * width + only_labels, row_blocks * width + column.row_labels])
        joint_numbers = np.unique(joint_numbers, return_inverse=True)[1].ravel().astype(np.int64)
        person_blocks, row_blocks = joint_numbers[:people], joint_numbers[people:]
    return _BlockNumbers(person_blocks, row_blocks, fits)


def _stack(columns: Sequence[Floats | Ints], height: int) -> Floats:
    if not columns:
        return np.zeros((height, 0))
    return np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.float64)


def expand_classes(classes: Ints, counts: Ints, members: pl.Series) -> MatchedRows:
    """From the classes of distinct people to the rows in them: rows in order, where each one's begin, how many.

    People with one class share its rows; only those with several have a list of their own.
    """
    sizes = members.list.len().cast(pl.Int64).to_numpy()
    flat = members.explode().to_numpy().astype(np.int64) if len(members) else np.zeros(0, dtype=np.int64)
    begins = np.cumsum(sizes) - sizes
    first = np.cumsum(counts) - counts
    start, count = np.zeros(len(counts), dtype=np.int64), np.zeros(len(counts), dtype=np.int64)
    single = counts == 1
    start[single], count[single] = begins[classes[first[single]]], sizes[classes[first[single]]]
    several = classes[np.repeat(counts > 1, counts)]
    lengths = sizes[several]
    total = int(lengths.sum())
    row_offsets = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    order = np.concatenate([flat, flat[np.repeat(begins[several], lengths) + row_offsets]])
    row_sums = np.concatenate([[0], np.cumsum(lengths)])
    many = counts > 1
    last = np.cumsum(counts[many])
    start[many] = len(flat) + row_sums[last - counts[many]]
    count[many] = row_sums[last] - row_sums[last - counts[many]]
    return MatchedRows(order, start, count)


def expand_ranges(starts: Places, lengths: Places) -> Ints:
    """Whole numbers from each start on, as many as its length, one after another."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(starts - (ends - lengths), lengths))
