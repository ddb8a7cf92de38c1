# SPDX-License-Identifier: MIT
"""The probability that a guess at someone's identity is right: prosecutor, journalist and marketer risk.

Against three adversaries who know quasi-identifying values. The *prosecutor* looks for one person who is known to be in
the table; the *journalist* for anybody in a population that contains the table; the *marketer* wants as many correct
matches as possible, none of them for certain. El Emam and Dankar (2008); El Emam, *Guide to the De-Identification of
Personal Health Information* (2013); the same figures as ARX. The risk of a record is 1 / the number of people it could
be: the size of its class in the table, or in the population.

A row with `*` in every quasi-identifying column is a suppressed row. Suppressed rows form a class of their own: anyone
who matches no other row must be one of them. (ARX leaves them out.) In a population, their class is everyone who
matches no other published row. Missing cells count by the table's declared meaning; a dropped record has no risk and is
not counted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, spell_cells
from sfumato.data.hierarchies.label_ranges import flag_between, is_range
from sfumato.data.hierarchies.published_labels import parse_set
from sfumato.errors import DataError, PolicyError, quote_names
from sfumato.measure.anonymity.crowd_sizes import crowds, flag_starred_rows, match_class_pairs
from sfumato.measure.anonymity.population_size import (
    ClassSizes,
    PopulationEstimate,
    bound_population,
    estimate_population,
)
from sfumato.table import Missing, Table

_DIGITS = 12
_ANY_VALUE, _LOOSE = 1 << 20, -1


@dataclass(frozen=True)
class Risk:
    """The risk from one adversary."""

    records: int
    """The number of records."""
    records_at_risk: float
    """The share of records whose risk exceeds the threshold."""
    highest_risk: float
    """The largest risk of a record; 0 without records."""
    success_rate: float
    """The share of correct guesses, if every record is guessed."""


@dataclass(frozen=True)
class Uniques:
    """Unique records and people."""

    sample: int
    """Records that are unique in the table."""
    population: float | None
    """People who are unique in the whole population, estimated; None if the population is given."""
    sample_and_population: float
    """Records that are unique in the table and in the population, estimated or counted."""


@dataclass(frozen=True)
class Risks:
    """The three adversaries' risks, and the source of the population."""

    threshold: float
    """The largest acceptable risk of a record."""
    prosecutor: Risk
    """Knows that the target is in the table."""
    journalist: Risk
    """Knows only that the target is in the population."""
    marketer: Risk
    """The risk of a record is the journalist's; the marketer's measure is the success rate."""
    uniques: Uniques
    """Uniques in the sample and in the population."""
    estimator: str
    """`given`, `pitman`, `zayatz`, `snb`, `negative_binomial`, or `none: …`; a reason may follow a colon."""
    suppressed_rows: int
    """Suppressed records: counted above, as a class of their own."""

    def as_json(self) -> dict[str, Any]:
        """The risks for a script or a report."""
        return asdict(self)


def risk(
    table: Table, threshold: float = 0.2, population: Table | None = None, sampling_share: float | None = None
) -> Risks:
    """The risks of a published table.

    The population is a table of original values that includes the published people, or is estimated from the share of
    it that the table holds. With neither, every class is assumed to be entirely in the table, an upper bound.
    """
    _refuse_strange_arguments(threshold, population, sampling_share)
    class_frame = crowds(table)
    rows, crowd = class_frame["rows"].to_numpy().astype(np.float64), class_frame["crowd"].to_numpy().astype(np.float64)
    prosecutor = _compute_risk(rows, 1 / crowd, threshold)
    if population is not None:
        rows, people, unique_in_both = _count_class_people(table, population)
        inverse, mean, estimator, population_uniques = 1 / people, people, "given", None
    else:
        guess = _choose_estimate(_collect_class_sizes(rows, crowd), sampling_share)
        size_index = np.searchsorted(np.unique(crowd), crowd)
        inverse, mean, estimator = guess.inverse[size_index], guess.mean[size_index], guess.estimator
        population_uniques, unique_in_both = round(guess.uniques, 6), round(guess.joint_uniques, 6)
    marketer = _compute_risk(rows, inverse, threshold)
    # El Emam's journalist takes the better of two guesses: from everybody in the table, or from the population.
    table_rate = _round_risk(len(rows) / float(mean.sum())) if len(rows) else 0.0
    journalist = Risk(
        marketer.records, marketer.records_at_risk, marketer.highest_risk, max(marketer.success_rate, table_rate)
    )
    return Risks(
        threshold=threshold,
        prosecutor=prosecutor,
        journalist=journalist,
        marketer=marketer,
        uniques=Uniques(
            int(class_frame.filter(pl.col("crowd") == 1)["rows"].sum()), population_uniques, unique_in_both
        ),
        estimator=estimator,
        suppressed_rows=int(flag_starred_rows(table.frame, table.quasi_identifying).sum()),
    )


def _refuse_strange_arguments(threshold: float, population: Table | None, sampling_share: float | None) -> None:
    if not 0 <= threshold <= 1:
        raise PolicyError("threshold must be a risk from 0 to 1")
    if population is not None and sampling_share is not None:
        raise PolicyError("give the population or the sampling_share, not both: with a population nothing is estimated")
    if sampling_share is not None and not 0 < sampling_share <= 1:
        raise PolicyError("sampling_share must be the share of the population in the table, above 0 and at most 1")


def _compute_risk(rows: Floats, inverse: Floats, threshold: float) -> Risk:
    records = float(rows.sum())
    if not records:
        return Risk(0, 0.0, 0.0, 0.0)
    risk_mask = np.round(inverse, _DIGITS) > round(threshold, _DIGITS)
    return Risk(
        records=int(records),
        records_at_risk=_round_risk(float(rows[risk_mask].sum()) / records),
        highest_risk=_round_risk(float(inverse.max())),
        success_rate=_round_risk(float(rows @ inverse) / records),
    )


def _round_risk(value: float) -> float:
    return round(value, _DIGITS)


def _collect_class_sizes(rows: Floats, crowd: Floats) -> ClassSizes:
    """The number of classes of each size; if missing cells match anything, s people with a class of s are one class."""
    sizes, size_index = np.unique(crowd, return_inverse=True)
    return ClassSizes(sizes, np.bincount(size_index, rows, len(sizes)) / sizes)


def _choose_estimate(sample: ClassSizes, sampling_share: float | None) -> PopulationEstimate:
    if not len(sample.sizes):
        return bound_population(sample, "nobody is in the table")
    if sampling_share is None:
        return bound_population(sample, "no population; each class is taken to be in the table whole")
    return estimate_population(sample, sampling_share)


class _ClassPeople(NamedTuple):
    rows: Floats
    """The rows of each class."""
    people: Floats
    """The people of the population whom one of its rows could be."""
    joint_uniques: float
    """The rows that are alone in the table and in the population."""


def _count_class_people(table: Table, population: Table) -> _ClassPeople:
    names = list(table.quasi_identifying)
    absent = [name for name in names if name not in population.frame.columns]
    if absent:
        raise DataError(f"{population.source}: the population lacks the column {quote_names(absent)}")
    published_frame = pl.DataFrame([spell_cells(table.frame[name]) for name in names])
    people = pl.DataFrame([spell_cells(population.frame[name]) for name in names])
    if table.missing is Missing.DROP:
        published_frame, people = published_frame.drop_nulls(), people.drop_nulls()
    classes = published_frame.group_by(names, maintain_order=True).agg(pl.len().cast(pl.Int64).alias("\0rows"))
    persons = people.group_by(names, maintain_order=True).agg(pl.len().cast(pl.Int64).alias("\0people"))
    fit = _ClassFit(
        classes.select(names),
        persons.select(names),
        persons["\0people"].to_numpy(),
        [_CoveringColumn.of(name, table, population, classes, persons) for name in names],
        table.missing,
    )
    rows = classes["\0rows"].to_numpy()
    # Published people belong to the population, whether or not the given population contains them.
    counts = np.maximum(fit.count_matches(), rows)
    if table.missing is Missing.NEVER_MATCHES:
        missing_mask = classes.select(pl.any_horizontal(pl.col(names).is_null())).to_series().to_numpy()
        counts = np.where(missing_mask, 1, counts)
    unique_mask = counts == 1
    if table.missing is Missing.MATCHES_ANY:
        # The population need not know everybody who is published: a row may be alone there and not in the table.
        unique_mask &= match_class_pairs(classes, names)["crowd"].to_numpy() == 1
    return _ClassPeople(rows.astype(np.float64), counts.astype(np.float64), float(rows[unique_mask].sum()))


@dataclass(frozen=True)
class _CoveringColumn:
    """How the published labels of a column cover the values of the population."""

    hierarchy: Hierarchy | None
    levels: Ints
    """The level of each class's label; `_ANY_VALUE` for `*`, `_LOOSE` for a range or a set."""
    codes: Ints
    """The value of each person, as an index into `values`."""
    values: pl.Series
    """The distinct values of the population; a missing value last."""
    missing: Missing

    @classmethod
    def of(
        cls, name: str, table: Table, people: Table, classes: pl.DataFrame, persons: pl.DataFrame
    ) -> _CoveringColumn:
        hierarchy = table.hierarchies.get(name) or people.hierarchies.get(name)
        level_of: dict[str, tuple[int, int]] = {}
        for number, level in enumerate(hierarchy.levels if hierarchy else ()):
            for label, count in zip(level.labels, level.leaves_under.tolist(), strict=True):
                # A label at several levels may mean any of them: the widest covers all.
                level_of[label] = max(level_of.get(label, (0, 0)), (count, number))
        labels = classes[name].drop_nulls().unique()
        known_values = persons[name].drop_nulls().unique(maintain_order=True)
        own_texts = set(known_values.to_list())
        levels = [_find_label_level(label, level_of, own_texts) for label in labels.to_list()]
        return cls(
            hierarchy,
            classes[name].replace_strict(labels, levels, default=0, return_dtype=pl.Int64).to_numpy(),
            persons[name]
            .replace_strict(known_values, range(len(known_values)), default=len(known_values), return_dtype=pl.Int64)
            .to_numpy(),
            known_values.extend(pl.Series([None], dtype=pl.String)),
            table.missing,
        )

    def generalize(self, level: int) -> pl.Series:
        """The distinct values as they would be published at a level."""
        if level == _ANY_VALUE:
            return pl.repeat(STAR, len(self.values), eager=True)
        if self.hierarchy is None or level < 1:
            return self.values
        labels_above = {row[0]: row[level] for row in self.hierarchy.rows}
        labels = self.values.replace_strict(
            list(labels_above), list(labels_above.values()), default=self.values, return_dtype=pl.String
        )
        covers_missing = self.hierarchy.swallows_missing(level)
        return labels.fill_null(self.hierarchy.levels[level].labels[0]) if covers_missing else labels

    def flag_covered(self, label: str | None, level: int) -> Flags:
        """Which of the distinct values a label may stand for."""
        blank = self.values.is_null()
        matches_any = self.missing is Missing.MATCHES_ANY
        if label is None:
            fits = blank | matches_any
        elif level == _LOOSE:
            fits = _flag_loose_values(self.values, label)
        else:
            fits = (self.generalize(level) == label).fill_null(False)
        return np.asarray((fits | (blank & matches_any)).to_numpy())


def _find_label_level(label: str, level_of: dict[str, tuple[int, int]], own_texts: set[str]) -> int:
    """The level of a label; what looks like a range or a set is a value if the population holds it as one."""
    if label == STAR:
        return _ANY_VALUE
    if label in level_of:
        return level_of[label][1]
    if label in own_texts:
        return 0
    return _LOOSE if is_range(label) or parse_set(label) is not None else 0


def _flag_loose_values(values: pl.Series, label: str) -> pl.Series:
    """Which values lie in a range, or in a set."""
    if is_range(label):
        return flag_between(values, label)
    return values.is_in(parse_set(label) or ()).fill_null(False)


@dataclass(frozen=True)
class _ClassFit:
    """Distinct published classes, distinct people of a population, and who matches which class."""

    classes: pl.DataFrame
    persons: pl.DataFrame
    weights: Ints
    """How many people each distinct person stands for."""
    columns: list[_CoveringColumn]
    missing: Missing

    def count_matches(self) -> Ints:
        """How many people match each class; for suppressed rows, how many match no other."""
        counts = np.zeros(self.classes.height, dtype=np.int64)
        matched_mask = np.zeros(self.persons.height, dtype=np.bool_)
        starred_mask = flag_starred_rows(self.classes, self.classes.columns).to_numpy()
        levels = np.stack([column.levels for column in self.columns], axis=1)
        holes = self.missing is Missing.MATCHES_ANY and bool(
            sum(self.classes.null_count().row(0)) + sum(self.persons.null_count().row(0))
        )
        joinable_mask = ~starred_mask & (levels >= 0).all(axis=1) & (not holes)
        signatures, signature_index = np.unique(levels[joinable_mask], axis=0, return_inverse=True)
        for number, signature in enumerate(signatures):
            self._join(
                np.flatnonzero(joinable_mask)[signature_index.ravel() == number], signature, counts, matched_mask
            )
        self._search(np.flatnonzero(~starred_mask & ~joinable_mask), levels, counts, matched_mask)
        counts[starred_mask] = self.weights[~matched_mask].sum()
        return counts

    def _join(self, rows: Ints, signature: Ints, counts: Ints, matched_mask: Flags) -> None:
        """For classes whose labels are all at the same levels: generalize the people, and join."""
        names = self.classes.columns
        labels = [
            column.generalize(int(level)).gather(column.codes).alias(name)
            for name, column, level in zip(names, self.columns, signature, strict=True)
        ]
        people_frame = pl.DataFrame(labels).with_columns(pl.Series("\0people", self.weights)).with_row_index("\0person")
        class_frame = self.classes[rows].with_columns(pl.Series("\0row", rows))
        alike = self.missing is not Missing.NEVER_MATCHES
        matches = class_frame.join(
            people_frame.group_by(names).agg(pl.col("\0people").sum()), on=names, how="inner", nulls_equal=alike
        )
        counts[matches["\0row"].to_numpy()] = matches["\0people"].to_numpy()
        matched_mask[people_frame.join(class_frame, on=names, how="semi", nulls_equal=alike)["\0person"].to_numpy()] = (
            True
        )

    def _search(self, rows: Ints, levels: Ints, counts: Ints, matched_mask: Flags) -> None:
        """For classes whose labels may overlap: search the people who match the rarest label, one class at a time."""
        covers: list[dict[str | None, Flags]] = [{} for _ in self.columns]
        for row in rows.tolist():
            fits: list[tuple[int, int]] = []
            cells = self.classes.row(row)
            for position, (cell, column) in enumerate(zip(cells, self.columns, strict=True)):
                if cell not in covers[position]:
                    covers[position][cell] = column.flag_covered(cell, int(levels[row, position]))[column.codes]
                fits.append((int(covers[position][cell].sum()), position))
            person_indices = np.arange(self.persons.height)
            for _, position in sorted(fits):
                person_indices = person_indices[covers[position][cells[position]][person_indices]]
            counts[row] = self.weights[person_indices].sum()
            matched_mask[person_indices] = True
