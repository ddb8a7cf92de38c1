# SPDX-License-Identifier: MIT
"""Who could be whom: everybody's candidate rows in a release, and the sensitive values among them, counted once.

As arrays over distinct sets of rows, so that a million people are looked up in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.arrays import Ints, Places
from sfumato.attack.anonymity.links import Links, find_links
from sfumato.attack.anonymity.row_search import expand_ranges
from sfumato.attack.anonymity.strongest_links import ChosenLinks, choose_links, draw_tried, try_ways
from sfumato.attack.missing_readings import list_readings
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError
from sfumato.release import Release
from sfumato.table import Table

Scalar = TypeVar("Scalar", bound=np.generic)


def trace_people(release: Release, truth: Table) -> Table:
    """The people behind the published rows, in the rows' order."""
    rows = release.details.trace_rows(len(release.data))
    if len(rows) != len(release.data) or (len(rows) and int(rows.max()) >= len(truth)):
        raise DataError(
            f"{truth.source}: {len(truth)} originals cannot be the people behind {len(release.data)} published rows; "
            "give the table that the release was made from"
        )
    in_order = len(rows) == len(truth) and bool((rows == np.arange(len(rows))).all())
    return truth.replace_frame(truth.frame if in_order else truth.frame[rows])


class ComparedPeople(NamedTuple):
    """The people who are looked up, and the control."""

    people: Table
    control: Table | None
    """People who are not in the data, if any are given."""


def draw_tried_people(
    release: Release, truth: Table, control: Table | None, names: Sequence[str] | None = None
) -> ComparedPeople:
    """The people behind the published rows and the control; some of each if it took long to look everybody up."""
    known_columns = release.data.quasi_identifying if names is None else tuple(names)
    tried_people = draw_tried(release, trace_people(release, truth), known_columns)
    return ComparedPeople(tried_people.people, tried_people.take_as_many(control))


def choose_sensitive_columns(published_table: Table, column: str | None) -> tuple[str, ...]:
    """The column to learn, or every sensitive one."""
    names = published_table.sensitive if column is None else (column,)
    if not names:
        raise DataError(f"{published_table.source}: no column is sensitive; name one as `column`")
    if names[0] not in published_table.frame.columns:
        raise DataError(f'{published_table.source}: there is no column "{names[0]}" in the release to learn')
    return names


def look_up_candidates(published_table: Table, people: Table) -> Links:
    """The rows that fit each person in every quasi-identifying column of the release."""
    return find_links(published_table, people, _require_known_columns(published_table))


def choose_candidates(
    release: Release,
    people: Table,
    names: Sequence[str] | None = None,
    count: Callable[[Links], float] = Links.count_expected_hits,
) -> ChosenLinks:
    """The rows of the way of linking by which an attack counts most successes, the plain one if all count the same.

    A release that states nothing is not searched for likely rows: there, people whom no row covers are not found.
    Missing cells that mean anything but a value of their own are no reason to give up.
    """
    known_columns = _require_known_columns(release.data) if names is None else tuple(names)
    if len(list_readings(release, people, known_columns)) == 1 and not (release.changes or release.public):
        candidates = next(try_ways(release, people, known_columns))
        if not (candidates.links.counts > 0).all():
            return candidates
    return choose_links(release, people, known_columns, count)


def _require_known_columns(published_table: Table) -> tuple[str, ...]:
    if not published_table.quasi_identifying:
        raise DataError(f"{published_table.source}: no column is quasi_identifying, so people cannot be looked up")
    return published_table.quasi_identifying


@dataclass(frozen=True)
class CandidateSets:
    """The distinct sets of rows that people link to: a class each, or what several ways of generalizing add up to."""

    of_person: Ints
    """The number of each person's set; −1 where no row fits."""
    sizes: Ints
    """How many rows each set has."""
    parts: tuple[tuple[Places, Places, Places], ...]
    """As in `Links`, a set in the place of a person: rows in order, where each set's begin, how many there are."""

    @classmethod
    def of(cls, links: Links) -> CandidateSets:
        """Bring people together who link to the same rows."""
        # Every row has a random weight: sums agree for the same rows, and for others once in 2⁶⁴ pairs.
        rows = max((int(order.max(initial=-1)) for order, _, _ in links.parts), default=-1) + 1
        weights = np.random.default_rng(0).integers(0, 1 << 64, rows, dtype=np.uint64)
        key = np.zeros(len(links.counts), dtype=np.uint64)
        for order, start, count in links.parts:
            sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(weights[order], dtype=np.uint64)])
            key += sums[start + count] - sums[start]
        has_links = links.counts > 0
        first_person, number = np.unique(key[has_links], return_index=True, return_inverse=True)[1:]
        of_person = np.full(len(key), -1, dtype=np.int64)
        of_person[has_links] = number
        representatives = np.flatnonzero(has_links)[first_person]
        parts = tuple((order, start[representatives], count[representatives]) for order, start, count in links.parts)
        return cls(of_person, links.counts[representatives], parts)

    def spread_to_people(self, of_sets: npt.NDArray[Scalar], otherwise: int = 0) -> npt.NDArray[Scalar]:
        """What holds of a set, for each person; `otherwise` where no row fits."""
        padded_values: npt.NDArray[Scalar] = np.concatenate([of_sets, np.asarray([otherwise]).astype(of_sets.dtype)])
        return padded_values[self.of_person]

    def tally(self, published_table: Table, people: Table, column: str) -> ValueTally:
        """How often each value of a column stands in each set."""
        if column not in people.frame.columns:
            raise DataError(f'{people.source}: there is no column "{column}" to check guesses against')
        codes, truth, values = _encode_by_frequency(published_table.frame[column], people.frame[column])
        width, keys, counts = max(len(values), 1), [], []
        for order, start, count in self.parts:
            # Each slice of rows is counted once, however many sets have it.
            begins, first_index, number = np.unique(
                np.where(count > 0, start, -1), return_index=True, return_inverse=True
            )
            lengths = np.where(begins >= 0, count[first_index], 0)
            slices = np.repeat(np.arange(len(begins)), lengths)
            pairs, times = np.unique(slices * width + codes[order[expand_ranges(begins, lengths)]], return_counts=True)
            first = np.searchsorted(pairs, np.arange(len(begins) + 1) * width)
            many = np.diff(first)[number]
            pair_indices = expand_ranges(first[number], many)
            keys.append(np.repeat(np.arange(len(number)), many) * width + pairs[pair_indices] % width)
            counts.append(times[pair_indices])
        return ValueTally.of(self, truth, keys, counts, values)


@dataclass(frozen=True)
class ValueTally:
    """How often each value stands among the rows of each set, and what is true of each person.

    Values are numbered by how common they are in the release, the most common 0; so ties go to the commoner value.
    """

    sets: CandidateSets
    truth: Ints
    """The number of each person's own value; −1 where it is missing, or not in the release at all."""
    first: Ints
    """Where the values of each set begin, and last where they end."""
    codes: Ints
    """The values, set by set, in ascending order."""
    counts: Ints
    """How many rows of the set have the value."""
    values: pl.Series
    """What the numbers mean, as text; last a null if the release has missing cells."""

    @classmethod
    def of(
        cls, sets: CandidateSets, truth: Ints, keys: list[Ints], counts: list[Ints], values: pl.Series
    ) -> ValueTally:
        """Add up what the ways of generalizing found."""
        width = max(len(values), 1)
        every = np.concatenate(keys) if keys else np.zeros(0, dtype=np.int64)
        distinct, value_index = np.unique(every, return_inverse=True)
        total = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(total, value_index, np.concatenate(counts) if counts else 0)
        first = np.searchsorted(distinct, np.arange(len(sets.sizes) + 1) * width)
        return cls(sets, truth, first.astype(np.int64), distinct % width, total, values)

    @property
    def value_count(self) -> int:
        """How many values are numbered; the next number is that of a missing cell."""
        return len(self.values) - self.values.null_count()

    @property
    def sizes(self) -> Ints:
        """How many rows each set has."""
        return self.sets.sizes

    @cached_property
    def set_of(self) -> Ints:
        """The set that each value stands in."""
        return np.repeat(np.arange(len(self.sizes)), self.distinct)

    @property
    def distinct(self) -> Ints:
        """How many values each set has; missing is one of them."""
        return np.diff(self.first)

    @cached_property
    def rank(self) -> Ints:
        """For each value of each set, how many values of the set come before it: commoner ones, 0 for the first."""
        order = np.lexsort((self.codes, -self.counts, self.set_of))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - self.first[:-1][self.set_of]
        return rank

    @property
    def commonest(self) -> Ints:
        """The most common value of each set."""
        return np.asarray(self.codes[self.rank == 0])

    @property
    def most(self) -> Ints:
        """How many rows of each set have its most common value."""
        return np.asarray(self.counts[self.rank == 0])

    def find_truth_places(self) -> Ints:
        """Where each person's own value stands among those of their set; −1 where it does not."""
        return self.locate_values(self.sets.of_person, self.truth)

    def locate_values(self, sets: Ints, codes: Ints) -> Ints:
        """Where values stand in sets; −1 where they do not."""
        width = max(len(self.values), 1)
        keys = self.set_of * width + self.codes
        sought_keys = np.where((sets >= 0) & (codes >= 0), sets * width + codes, -1)
        key_index = np.minimum(np.searchsorted(keys, sought_keys), max(len(keys) - 1, 0))
        if not len(keys):
            return np.full(len(sought_keys), -1, dtype=np.int64)
        return np.where(keys[key_index] == sought_keys, key_index, -1)


class _RankedValues(NamedTuple):
    """Published and true values by number, the most common published value 0."""

    codes: Ints
    """Of the published rows; a missing value is the last."""
    truth: Ints
    """Of the people; −1 for a value that is not published."""
    values: pl.Series


def _encode_by_frequency(published_cells: pl.Series, people: pl.Series) -> _RankedValues:
    """Numbers for published and true values, the most common published value 0, missing last of all."""
    cells = spell_cells(published_cells).alias("value")
    ranked_values = cells.drop_nulls().value_counts(name="n").sort(["n", "value"], descending=[True, False])["value"]
    numbers = pl.Series(np.arange(len(ranked_values)), dtype=pl.Int64)

    def code_cells(column: pl.Series, missing: int) -> Ints:
        codes = column.replace_strict(ranked_values, numbers, default=None, return_dtype=pl.Int64)
        return codes.fill_null(missing).to_numpy().astype(np.int64)

    values = pl.concat([ranked_values, pl.Series([None], dtype=pl.String)]) if cells.null_count() else ranked_values
    return _RankedValues(code_cells(cells, len(ranked_values)), code_cells(spell_cells(people), -1), values)
