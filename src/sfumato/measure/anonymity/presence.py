# SPDX-License-Identifier: MIT
"""What a release reveals if it is a sample of a known population: k-map and δ-presence.

Against an adversary who holds the population's quasi-identifying values. k-map (Sweeney 2002) asks how many people a
published row could be; δ-presence (Nergiz, Atzori and Clifton 2007) how certain it is that someone is in the release
at all. Both are only as good as the given population.

A published label matches an original value below it in the column's hierarchy, the release's own or else the
population's. `*` matches everything. A label that is in no hierarchy matches only itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, spell_cells
from sfumato.errors import DataError, PolicyError, quote_names
from sfumato.measure.anonymity.class_tally import GroupedRows
from sfumato.measure.anonymity.crowd_sizes import StarredRows, read_starred_rows
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.release import Number
from sfumato.table import Missing, Table

_ANY_VALUE, _UNKNOWN = -1, -2
_ROW, _PEOPLE = "\0row", "\0people"


class Presence(NamedTuple):
    """How certain an adversary may be that someone of the population is in the release."""

    low: float
    """The smallest share of a class's people who are; 0 if someone matches no published class."""
    high: float
    """The largest share; 1 if as many are published as there are."""


def k_map(table: Table, population: Table, *, starred_rows: StarredRows = "class") -> int:
    """The smallest number of people of the population that a published row could be; 0 without published rows."""
    return PopulationFit.of(table, population, starred_rows).k_map


def delta_presence(table: Table, population: Table, *, starred_rows: StarredRows = "class") -> Presence:
    """The smallest and largest share of the people matching a class that are in the release.

    A class with more published rows than people in the population counts as 1: everyone who matches it is in.
    """
    return PopulationFit.of(table, population, starred_rows).presence


@dataclass(frozen=True)
class PopulationFit:
    """How the people of a population match the published classes."""

    crowds: Ints
    """Published rows that a row of each class could be confused with."""
    people: Ints
    """People who match each class."""
    has_outsiders: bool
    """Whether someone matches none."""

    @classmethod
    def of(
        cls, table: Table, population: Table, starred_rows: StarredRows, rows_behind: Ints | None = None
    ) -> PopulationFit:
        """Match people with classes; with `rows_behind`, each row of the table stands for this many, and is a class."""
        names = list(table.quasi_identifying)
        absent = [name for name in names if name not in population.frame.columns]
        if absent:
            raise DataError(f"{population.source}: the population lacks the quasi-identifying {quote_names(absent)}")
        grouped_rows = GroupedRows.of(table, starred_rows)
        placed_frame = grouped_rows.frame.select(names)
        if grouped_rows.placed_mask is not None:
            placed_frame = placed_frame.filter(grouped_rows.placed_mask)
        classes = _spell_frame(placed_frame[grouped_rows.find_first_rows()])
        people = _spell_frame(population.frame.select(names))
        if table.missing is Missing.DROP:
            people = people.drop_nulls()
        people = people.group_by(names, maintain_order=True).agg(pl.len().cast(pl.Int64).alias(_PEOPLE))
        labels = {name: _LabelLevels.of(name, table, population) for name in names}
        counts, matched_mask = _count_fitting_people(classes, people, labels, table.missing)
        if rows_behind is None:
            return cls(grouped_rows.measure_crowds(), counts, not bool(matched_mask.all()))
        placed_rows = rows_behind if grouped_rows.placed_mask is None else rows_behind[grouped_rows.placed_mask]
        return cls(placed_rows[grouped_rows.find_first_rows()], counts, not bool(matched_mask.all()))

    @property
    def k_map(self) -> int:
        """The smallest number of people whom a published row could be."""
        return int(self.people.min()) if len(self.people) else 0

    @property
    def presence(self) -> Presence:
        """How certain it is that someone is in the release."""
        shares = np.minimum(self.crowds / np.maximum(self.people, 1), 1.0)
        # If nobody matches a class, a share is undefined; assume the worst.
        shares = np.where(self.people == 0, 1.0, shares)
        low = 0.0 if self.has_outsiders or not len(shares) else float(shares.min())
        return Presence(round(low, 12), round(float(shares.max(initial=0.0)), 12))


@dataclass(frozen=True)
class _LabelLevels:
    """The hierarchy level of each label of a column."""

    name: str
    hierarchy: Hierarchy | None
    level_of: dict[str, int]

    @classmethod
    def of(cls, name: str, table: Table, population: Table) -> _LabelLevels:
        hierarchy = table.hierarchies.get(name) or population.hierarchies.get(name)
        widest: dict[str, tuple[int, int]] = {}
        for number, level in enumerate(hierarchy.levels if hierarchy else ()):
            for label, count in zip(level.labels, level.leaves_under.tolist(), strict=True):
                # A label at several levels may mean any of them: the widest covers all.
                widest[label] = max(widest.get(label, (0, 0)), (count, number))
        return cls(name, hierarchy, {label: number for label, (_, number) in widest.items()})

    def find_levels(self, cells: pl.Series) -> pl.Series:
        """The level of each published cell, `_ANY_VALUE` for `*`, `_UNKNOWN` for a missing one."""
        known_labels = cells.drop_nulls().unique().to_list()
        numbers = [_ANY_VALUE if label == STAR else self.level_of.get(label, 0) for label in known_labels]
        levels = cells.replace_strict(known_labels, numbers, default=None, return_dtype=pl.Int32)
        return levels.fill_null(_UNKNOWN).alias(self.name)

    def generalize_cells(self, cells: pl.Series, level: int) -> pl.Series:
        """Original cells as they would be published at a level."""
        if self.hierarchy is None or level < 1:
            return cells
        labels_above = {row[0]: row[level] for row in self.hierarchy.rows}
        labels = cells.replace_strict(
            list(labels_above), list(labels_above.values()), default=cells, return_dtype=pl.String
        )
        return labels.fill_null(self.hierarchy.levels[level].labels[0]) if self._covers_all(level) else labels

    def _covers_all(self, level: int) -> bool:
        assert self.hierarchy is not None
        return self.hierarchy.swallows_missing(level)


def _spell_frame(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame([spell_cells(column) for column in frame.get_columns()])


def _count_fitting_people(
    classes: pl.DataFrame, people: pl.DataFrame, labels: dict[str, _LabelLevels], missing: Missing
) -> tuple[Ints, Flags]:
    """How many people match each class, and which people (in `people`'s rows) match some class."""
    counts = np.zeros(classes.height, dtype=np.int64)
    matched_mask = np.zeros(people.height, dtype=np.bool_)
    population_size = int(people[_PEOPLE].sum())
    for signature, rows in _split_classes_by_level(classes, labels):
        if missing is Missing.NEVER_MATCHES and _UNKNOWN in signature.values():
            counts[rows] = 1  # a row that matches nobody else is alone
            continue
        used_levels = {
            name: level
            for name, level in signature.items()
            if level != _ANY_VALUE and not (level == _UNKNOWN and missing is Missing.MATCHES_ANY)
        }
        if not used_levels:
            counts[rows] = population_size
            matched_mask[:] = True
            continue
        class_frame = classes[rows].select(list(used_levels)).with_columns(pl.Series(_ROW, rows))
        people_frame = people.select(
            labels[name].generalize_cells(people[name], level) for name, level in used_levels.items()
        )
        people_frame = people_frame.with_columns(people[_PEOPLE]).with_row_index("\0person")
        for known_names, part in _split_people_by_known(people_frame, list(used_levels), missing):
            _join_people(class_frame, part, known_names, counts, matched_mask)
    return counts, matched_mask


def _split_classes_by_level(
    classes: pl.DataFrame, labels: dict[str, _LabelLevels]
) -> Iterator[tuple[dict[str, int], Ints]]:
    """The classes, grouped by the levels of their labels."""
    levels = classes.select(labels[name].find_levels(classes[name]) for name in labels).with_row_index(_ROW)
    for *levels_here, rows in levels.group_by(list(labels), maintain_order=True).agg(_ROW).iter_rows():
        yield dict(zip(labels, levels_here, strict=True)), np.asarray(rows, dtype=np.int64)


def _split_people_by_known(
    people: pl.DataFrame, names: list[str], missing: Missing
) -> Iterator[tuple[list[str], pl.DataFrame]]:
    """People grouped by the columns to compare, which exclude missing cells that match anything."""
    if missing is not Missing.MATCHES_ANY:
        yield names, people
        return
    holes = people.select(pl.col(name).is_null() for name in names).with_row_index(_ROW)
    for *missing_flags, rows in holes.group_by(names, maintain_order=True).agg(_ROW).iter_rows():
        yield [name for name, hole in zip(names, missing_flags, strict=True) if not hole], people[rows]


def _join_people(
    classes: pl.DataFrame,
    people: pl.DataFrame,
    names: list[str],
    counts: Ints,
    matched_mask: Flags,
) -> None:
    """Add the people who agree with a class in the named columns to its count, and mark them as matched.

    Missing cells still compared are values of their own here: every other meaning has been handled before.
    """
    if not names:
        counts[classes[_ROW].to_numpy()] += int(people[_PEOPLE].sum())
        matched_mask[people["\0person"].to_numpy()] = True
        return
    sums = people.group_by(names).agg(pl.col(_PEOPLE).sum())
    matches = classes.join(sums, on=names, how="inner", nulls_equal=True)
    counts[matches[_ROW].to_numpy()] += matches[_PEOPLE].to_numpy()
    fitting_people = people.join(classes, on=names, how="semi", nulls_equal=True)
    matched_mask[fitting_people["\0person"].to_numpy()] = True


@checks_claim("k_map", "at_least", needs_original=True)
def _check_k_map(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return k_map(evidence.published_data, _require_population(evidence), starred_rows=read_starred_rows(arguments))


@checks_claim("delta_presence", "at_most", needs_original=True)
def _check_delta_presence(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    starred_rows = read_starred_rows(arguments)
    return delta_presence(evidence.published_data, _require_population(evidence), starred_rows=starred_rows).high


def _require_population(evidence: Evidence) -> Table:
    if evidence.population is None:
        raise PolicyError("a claim compares with a population, which was not given")
    return evidence.population
