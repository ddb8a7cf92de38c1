# SPDX-License-Identifier: MIT
"""Copied records: take a synthetic row that matches someone as that person's own, and read the rest off it.

Against synthetic data. Its publisher says that no row is anybody's; but a model that memorized people reproduces them,
and the rarer someone is, the more certain a match. What is read about held-out people, whom the model never saw, is
knowledge about the world: only the excess comes from copying. The question is that of Platzer and Reutterer (2021) and
of memorization tests; the distance is defined in `measure.synthesis.closest_record`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Flags, Ints
from sfumato.attack.anonymity.row_search import RowSearch
from sfumato.attack.attack import Attack, Columns, Outcome, round_expected
from sfumato.attack.literal_values import LiteralValues
from sfumato.attack.missing_readings import list_table_readings
from sfumato.attack.row_distance import (
    compare_with_control,
    require_attacked_columns,
    sample_people,
    sample_published_people,
)
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.roles.role import Role
from sfumato.errors import DataError, quote_names
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

# Distances are sums of shares of ranges: rounding must not make an equal row unequal.
_ROUNDING = 1e-9
_CELLS = 2_000_000
"""How many pairs of a person and a row are compared at a time."""


class CopiedRecords(Attack):
    """Someone finds a published row with a neighbour's age, town and job, and believes that it is the neighbour's.

    The adversary looks up the row nearest to what is known about a person. If it is near enough, the adversary believes
    it to be a copy of the person's record and reads the rest. It is a success if every secret read is right: the
    release contains the person's record. The risk is the share of people for whom it does. The baseline reads a row
    taken blindly for those for whom a row is believed, and counts how often that is right on average. The control is
    people who are not in the data, or were held out before the release was made: for them, the same is right only by
    chance and similarity. Platzer, Reutterer 2021.
    """

    story: ClassVar[str] = (
        "Someone finds a published row with a neighbour's {known}, and believes that it is the neighbour's."
    )
    needs_equal_sides: ClassVar[bool] = False  # a copy of anybody is one
    speaks_of_some: ClassVar[bool] = True
    public_fields: ClassVar[tuple[str, ...]] = ("known", "columns", "within", "tolerance", "attempts")
    report_labels: ClassVar[Mapping[str, str]] = {
        "within": "Rows believed within a distance of",
        "tolerance": "Numbers right within this share",
    }
    column_fields: ClassVar[tuple[str, ...]] = ("known", "columns")

    attack: Literal["copied_records"] = "copied_records"
    known: Columns | None = None
    """The columns that the adversary knows; by default the quasi-identifying ones."""
    columns: Columns | None = None
    """The columns read off the row; by default the other published columns. All of them must be right."""
    within: float = Field(default=0.0, ge=0.0, le=1.0)
    """How far a row may be from the known values and still be believed: the mean over the known columns of a distance
    from 0 to 1. With 0 it must be equal; with 1 any nearest row is believed.
    """
    tolerance: float = Field(default=0.0, ge=0.0)
    """How far a number may be from the right one, as a share of it."""
    attempts: int = Field(default=500, ge=1)
    """How many people are tried; everybody if there are fewer."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Look up people; count those whose record was believed to be found and was."""
        published_table: Table = release.data
        known_columns, secrets = self._choose_columns(published_table)
        require_attacked_columns((*known_columns, *secrets), published_table, truth, control)
        chance = (randomness or Randomness.seeded(0)).generator()
        report_progress("copied records")
        people = sample_published_people(release, truth, self.attempts, chance)
        if not len(published_table):
            no_strangers = None if control is None else 0
            return Outcome(len(people), 0, 0, no_strangers, targets=secrets, known_columns=(known_columns,))
        searches = [
            _RecordSearch(RowSearch.search_by_distance(table, known_columns), values)
            for values in LiteralValues.list_readings(release, truth, known_columns)
            for table in list_table_readings(values.spell_release(release).data, people, known_columns)
        ]
        copies = [self._count_copies(search, published_table, people, secrets, chance) for search in searches]
        nearest, counts = max(zip(searches, copies, strict=True), key=lambda way: way[1].right)
        blind = self._count_right_rows(
            published_table, people.replace_frame(people.frame.filter(counts.believed_mask)), secrets
        )
        strangers = None if control is None else sample_people(control, self.attempts, chance)
        stranger_copies = (
            None if strangers is None else self._count_copies(nearest, published_table, strangers, secrets, chance)
        )
        return Outcome(
            attempts=len(people),
            successes=counts.right,
            baseline=round_expected(Fraction(blind, len(published_table))),
            control=None if stranger_copies is None else stranger_copies.right,
            targets=tuple(secrets),
            known_columns=(tuple(known_columns),),
            facts={
                "known": list(known_columns),
                "columns": list(secrets),
                "believed": int(counts.believed_mask.sum()),
                **({} if stranger_copies is None else {"control_believed": int(stranger_copies.believed_mask.sum())}),
                **compare_with_control(
                    counts.right,
                    len(people),
                    None if stranger_copies is None else stranger_copies.right,
                    0 if strangers is None else len(strangers),
                ),
            },
        )

    def _choose_columns(self, published_table: Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
        known_columns = self.known or published_table.quasi_identifying
        if not known_columns:
            raise DataError(f"{published_table.source}: no column is known to the adversary; name some as `known`")
        column_names = [
            name for name in published_table.frame.columns if published_table.roles.get(name) is not Role.IDENTIFYING
        ]
        secrets = self.columns or tuple(name for name in column_names if name not in known_columns)
        common_columns = [name for name in secrets if name in known_columns]
        if common_columns or not secrets:
            reason = (
                f"{quote_names(common_columns)} cannot be both known and read"
                if common_columns
                else "all columns are known"
            )
            raise DataError(f"{published_table.source}: {reason}; name other columns as `known` or `columns`")
        return known_columns, secrets

    def _count_copies(
        self,
        nearest: _RecordSearch,
        published_table: Table,
        people: Table,
        secrets: Sequence[str],
        chance: np.random.Generator,
    ) -> _CopyCounts:
        search, sought_people = nearest.search, nearest.values.spell(people)
        rows = search.draw_rows(sought_people, 1, chance)[:, 0]
        believed_mask = search.measure_costs(sought_people, rows) <= self.within * len(search.prices) + _ROUNDING
        right = believed_mask & self._flag_right(published_table, rows, people, secrets)
        return _CopyCounts(believed_mask, int(right.sum()))

    def _flag_right(self, published_table: Table, rows: Ints, people: Table, secrets: Sequence[str]) -> Flags:
        """For whom the row holds all secrets; a person without known secrets does not count."""
        right = np.ones(len(rows), dtype=np.bool_)
        for name in secrets:
            right &= self._compare_cells(published_table.frame[name].gather(rows), people.frame[name])
        return right & _flag_known(people, secrets)

    def _count_right_rows(self, published_table: Table, people: Table, secrets: Sequence[str]) -> int:
        """How many pairs of a person and a row there are in which the row holds all secrets."""
        distinct_rows = published_table.frame.group_by(secrets).len("\0times")
        persons = people.frame.filter(_flag_known(people, secrets)).group_by(secrets).len("\0times")
        count, step = 0, max(1, _CELLS // max(distinct_rows.height, 1))
        for begin in range(0, persons.height, step):
            pairs = persons[begin : begin + step].join(distinct_rows, how="cross", suffix="\0read")
            right = np.ones(pairs.height, dtype=np.bool_)
            for name in secrets:
                right &= self._compare_cells(pairs[f"{name}\0read"], pairs[name])
            count += int((pairs["\0times"] * pairs["\0times\0read"]).filter(right).sum())
        return count

    def _compare_cells(self, read: pl.Series, own_cells: pl.Series) -> Flags:
        """Which cells are the same, or numbers that are close enough."""
        same_mask = spell_cells(read).eq_missing(spell_cells(own_cells)).to_numpy()
        if self.tolerance and own_cells.dtype.is_numeric() and read.dtype.is_numeric():
            gap = (read.cast(pl.Float64) - own_cells.cast(pl.Float64)).abs()
            close = gap <= self.tolerance * own_cells.cast(pl.Float64).abs()
            same_mask = same_mask | close.fill_null(value=False).to_numpy()
        return np.asarray(same_mask)


def _flag_known(people: Table, secrets: Sequence[str]) -> Flags:
    """Who has a secret at all."""
    return np.asarray(np.logical_or.reduce([people.frame[name].is_not_null().to_numpy() for name in secrets]))


class _RecordSearch(NamedTuple):
    """A search for the nearest row, and the columns in which it takes texts for values."""

    search: RowSearch
    values: LiteralValues


@dataclass(frozen=True)
class _CopyCounts:
    """For whom a row was believed to be their own, and how many of these rows were."""

    believed_mask: Flags
    right: int
