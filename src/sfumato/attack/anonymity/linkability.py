# SPDX-License-Identifier: MIT
"""Linkability: join what two sources know about someone by means of the release.

The second of the three questions of the Article 29 Working Party (WP216, 2014). Two parties each know some
columns of the same people and do not know whom they have in common. If the published row nearest to someone's
left half is also the one nearest to the right half, the release has joined the halves. Control group and
intervals as in Giomi, Boenisch, Wehmeyer, Tasnádi (Anonymeter, PoPETs 2023); the code is our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import comb
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field, field_validator

from sfumato.arrays import Ints
from sfumato.attack.anonymity.recoding import Recoding, list_recodings
from sfumato.attack.anonymity.row_search import RowSearch
from sfumato.attack.anonymity.strongest_links import search_by_likelihood
from sfumato.attack.attack import Attack, Outcome, round_expected
from sfumato.attack.literal_values import LiteralValues
from sfumato.attack.missing_readings import list_readings
from sfumato.attack.row_distance import (
    compare_with_control,
    require_attacked_columns,
    sample_people,
    sample_published_people,
)
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table


class Linkability(Attack):
    """Two firms hold different columns about the same people, and the release tells them whom they share.

    The adversary takes someone's left columns and looks for the nearest published rows, then the right columns,
    and claims that the two halves belong together if some row is among both. Nearest is by the distance of cells, or by
    how likely they are given all that is published; the one that joins more halves is taken. The risk is the share of
    people whose halves are joined. The baseline takes rows blindly; the control are people who are not in the data,
    whose halves are joined by likeness alone. WP216, 2014; Giomi and others, Anonymeter, 2023.
    """

    story: ClassVar[str] = (
        "Two firms hold different columns about the same people, one {known}, the other {others}. The "
        "release tells them whom they share."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("known", "neighbours", "attempts")
    report_labels: ClassVar[Mapping[str, str]] = {"neighbours": "Nearest rows asked on each side"}
    column_fields: ClassVar[tuple[str, ...]] = ("known",)

    attack: Literal["linkability"] = "linkability"
    known: tuple[tuple[str, ...], tuple[str, ...]]
    """The columns of the one party, and those of the other."""
    neighbours: int = Field(default=1, ge=1)
    """How many nearest rows are taken for each half."""
    attempts: int = Field(default=500, ge=1)
    """How many people are tried; everybody if there are fewer."""

    @field_validator("known")
    @classmethod
    def _check_columns_apart(
        cls, column_pair: tuple[tuple[str, ...], tuple[str, ...]]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        left, right = column_pair
        if not left or not right or len({*left, *right}) < len(left) + len(right):
            raise ValueError("name at least one column for each party, and each column once")
        return column_pair

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Join the halves of some people; count how often it worked."""
        published_table: Table = release.data
        require_attacked_columns((*self.known[0], *self.known[1]), published_table, truth, control)
        chance = (randomness or Randomness.seeded(0)).generator()
        report_progress("linkability")
        people = sample_published_people(release, truth, self.attempts, chance)
        readings = LiteralValues.list_readings(release, truth, (*self.known[0], *self.known[1]))
        ways = [way for values in readings for way in self._list_ways(values, release, people)]
        joined_by_way = [self._count_joined(way, people, chance) for way in ways]
        successes = max(joined_by_way)
        best = ways[joined_by_way.index(successes)]
        strangers = None if control is None else sample_people(control, self.attempts, chance)
        joined_strangers = None if strangers is None else self._count_joined(best, strangers, chance)
        return Outcome(
            attempts=len(people),
            successes=successes,
            baseline=round_expected(len(people) * _meet_by_chance(len(published_table), self.neighbours)),
            control=joined_strangers,
            known_columns=self.known,
            facts={
                "known": [list(names) for names in self.known],
                "neighbours": self.neighbours,
                **compare_with_control(
                    successes, len(people), joined_strangers, 0 if strangers is None else len(strangers)
                ),
            },
        )

    def _list_ways(self, values: LiteralValues, release: Release, people: Table) -> list[_JoinStrategy]:
        """Either search for the nearest rows of both halves, with every way in which numbers may be recoded."""
        every_name = (*self.known[0], *self.known[1])
        release, people = values.spell_release(release), values.spell(people)
        return [
            _JoinStrategy(tuple(halves), recoding, values)
            for reading in list_readings(release, people, every_name)
            for recoding in list_recodings(reading, people, every_name)
            for halves in (
                [RowSearch.search_by_distance(reading.data, names) for names in self.known],
                [search_by_likelihood(reading, people, names, recoding) for names in self.known],
            )
        ]

    def _count_joined(self, way: _JoinStrategy, people: Table, chance: np.random.Generator) -> int:
        recoded_people = way.recoding.apply(way.values.spell(people))
        left, right = (half.draw_rows(recoded_people, self.neighbours, chance) for half in way.halves)
        return _count_shared_rows(left, right)


class _JoinStrategy(NamedTuple):
    """How both halves are searched for."""

    halves: tuple[RowSearch, ...]
    recoding: Recoding
    values: LiteralValues


def _count_shared_rows(left: Ints, right: Ints) -> int:
    """How many people have a row among both halves' rows."""
    return int((left[:, :, None] == right[:, None, :]).any(axis=(1, 2)).sum())


def _meet_by_chance(rows: int, neighbours: int) -> Fraction:
    """How likely two draws of some different rows have a row in common."""
    count = min(neighbours, rows)
    return 1 - Fraction(comb(rows - count, count), comb(rows, count)) if rows else Fraction(0)
