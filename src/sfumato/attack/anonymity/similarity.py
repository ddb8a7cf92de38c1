# SPDX-License-Identifier: MIT
"""Similarity: the rows differ in what they say, but not in what it means.

Against a release that counts values and does not know that gastritis and a gastric ulcer are both diseases of
the stomach, or that 20k and 40k are both little: what leaks is the group or the range, which is often all that
the adversary wanted. Li, Li, Venkatasubramanian, *t-closeness* (2007), section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from sfumato.arrays import Flags, Floats
from sfumato.attack.anonymity.links import Links
from sfumato.attack.attack import Attack, Outcome, count_strangers
from sfumato.attack.candidates import (
    CandidateSets,
    ValueTally,
    choose_candidates,
    choose_sensitive_columns,
    draw_tried_people,
    look_up_candidates,
)
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError, count_noun
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

Conclusion = str | tuple[float, float] | None
"""What is learned about a person: a group, a range, or nothing."""
_DIGITS = 12
_GROUP = "\0"  # so that a group is not taken for a value of the same name


class Similarity(Attack):
    """A neighbour looks Bob up, finds three diseases, and sees that all three are diseases of the stomach.

    The adversary links as usual, and knows which values mean about the same: groups of words, or for numbers a range
    that is narrow compared with the whole column. It learns the group when every row found lies in it, and is right
    when the person's own value does. A value in no group is a group of its own. The baseline guesses the most common
    group, or the range that holds most, for those about whom something is learned. l-diversity does not help;
    t-closeness is the answer that the paper gives. Li, Li, Venkatasubramanian 2007.
    """

    story: ClassVar[str] = (
        "A neighbour looks a person up by {known}, finds several values of {target}, and "
        "checks whether all are of one group or close together."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column", "width")
    speaks_of_some: ClassVar[bool] = True
    private_fields: ClassVar[tuple[str, ...]] = ("groups",)
    report_labels: ClassVar[Mapping[str, str]] = {"width": "Ranges at most this share of the published range"}
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    attack: Literal["similarity"] = "similarity"
    column: str
    """The sensitive column to learn about."""
    groups: Mapping[str, tuple[str, ...]] | None = None
    """The name of a meaning → the values that have it; each value once. Give this or `width`."""
    width: float | None = Field(default=None, ge=0.0, lt=1.0)
    """For numbers: how wide a range may be to say something, as a share of the release's whole range."""

    @field_validator("groups")
    @classmethod
    def _check_values_once(cls, groups: Mapping[str, tuple[str, ...]] | None) -> Mapping[str, tuple[str, ...]] | None:
        values = [value for members in (groups or {}).values() for value in members]
        if groups is not None and (not values or len(set(values)) < len(values)):
            raise ValueError("name at least one value, and each in one group")
        return groups

    @model_validator(mode="after")
    def _check_one_meaning(self) -> Similarity:
        if (self.groups is None) == (self.width is None):
            raise ValueError("give groups of values, or for numbers a width; one of the two")
        return self

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Look up every person; count about whom the rows found say one thing, and it is true."""
        published_table: Table = release.data
        report_progress("similarity")
        people, control = draw_tried_people(release, truth, control)
        links, look_up = choose_candidates(
            release, people, count=lambda links: self._count_disclosed_meanings(links, published_table, people)
        )
        view = self._make_view(links, published_table, people)
        alike = view.sets.spread_to_people(view.alike)
        return Outcome(
            attempts=len(people),
            successes=int((alike & view.right).sum()),
            baseline=int((alike & view.blind).sum()),
            control=None
            if control is None
            else self._count_disclosed_meanings(look_up(control), published_table, control),
            targets=(self.column,),
            known_columns=(published_table.quasi_identifying,),
            facts={
                **count_strangers(control),
                "similar_classes": int(view.alike.sum()),
                "classes": len(view.alike),
                "people_in_them": int(alike.sum()),
            },
        )

    def draw_conclusions(self, published_table: Table, people: Table) -> list[Conclusion]:
        """What the adversary concludes about each person, right or wrong; people need not have the column."""
        if self.column not in people.frame.columns:
            people = people.replace_frame(people.frame.with_columns(pl.lit(None, dtype=pl.String).alias(self.column)))
        view = self._make_view(look_up_candidates(published_table, people), published_table, people)
        conclusions = [view.conclude(number) if alike else None for number, alike in enumerate(view.alike.tolist())]
        return [conclusions[number] if number >= 0 else None for number in view.sets.of_person.tolist()]

    def _count_disclosed_meanings(self, links: Links, published_table: Table, people: Table) -> int:
        view = self._make_view(links, published_table, people)
        return int((view.sets.spread_to_people(view.alike) & view.right).sum())

    def _make_view(self, links: Links, published_table: Table, people: Table) -> _SimilarityView:
        choose_sensitive_columns(published_table, self.column)
        sets = CandidateSets.of(links)
        if self.groups is not None:
            return _group_by_meaning(sets, published_table, people, self.column, self.groups)
        assert self.width is not None
        return _span_numbers(
            sets.tally(published_table, people, self.column), published_table, people, self.column, self.width
        )


@dataclass(frozen=True)
class _SimilarityView:
    """What the adversary sees in each set of rows, and of whom it is true."""

    sets: CandidateSets
    alike: Flags
    """Which sets say one thing."""
    right: Flags
    """For which people the meaning of their set, if it has a single one, is true."""
    blind: Flags
    """For whom the best guess without looking is true."""
    conclude: Callable[[int], Conclusion]


def _group_by_meaning(
    sets: CandidateSets, published_table: Table, people: Table, column: str, groups: Mapping[str, tuple[str, ...]]
) -> _SimilarityView:
    """Count with the name of the group in the place of each value."""
    group_of = {value: _GROUP + name for name, members in groups.items() for value in members}
    cells = spell_cells(published_table.frame[column])
    if not cells.is_in(list(group_of)).any():
        raise DataError(
            f'{published_table.source}: no value of a group occurs in "{column}"; spell them as in the data'
        )

    def name_groups(table: Table) -> Table:
        names = spell_cells(table.frame[column]).replace(list(group_of), list(group_of.values()))
        return table.replace_frame(table.frame.with_columns(names.alias(column)))

    tally = sets.tally(name_groups(published_table), name_groups(people), column)
    group = tally.commonest
    return _SimilarityView(
        sets,
        np.asarray((tally.distinct == 1) & tally.values.is_not_null().to_numpy()[group]),
        np.asarray(sets.spread_to_people(group, -2) == tally.truth),
        np.asarray(tally.truth == 0),
        lambda number: str(tally.values[int(group[number])]).removeprefix(_GROUP),
    )


def _span_numbers(
    tally: ValueTally, published_table: Table, people: Table, column: str, width: float
) -> _SimilarityView:
    """From the lowest to the highest number of each set."""
    cells, own_numbers = _read_column_numbers(published_table, column), _read_column_numbers(people, column)
    numbers = (
        spell_cells(tally.values).cast(pl.Float64).to_numpy()[tally.codes]
    )  # a missing value is NaN and widens all
    low, high = np.minimum.reduceat(numbers, tally.first[:-1]), np.maximum.reduceat(numbers, tally.first[:-1])
    sorted_numbers = np.sort(cells[~np.isnan(cells)])
    whole = float(sorted_numbers[-1] - sorted_numbers[0]) if len(sorted_numbers) else 0.0
    narrow = np.round((high - low) / (whole or 1.0) - width, _DIGITS) <= 0
    # Without looking: the range of that width that holds the most of the release.
    reach = np.searchsorted(sorted_numbers, sorted_numbers + width * whole, side="right") - np.arange(
        len(sorted_numbers)
    )
    begin = float(sorted_numbers[int(reach.argmax())]) if len(sorted_numbers) else np.nan
    person = tally.sets.spread_to_people
    return _SimilarityView(
        tally.sets,
        np.asarray(narrow),
        np.asarray((own_numbers >= person(low)) & (own_numbers <= person(high)) & (tally.sets.of_person >= 0)),
        np.asarray((own_numbers >= begin) & (own_numbers <= begin + width * whole)),
        lambda number: (float(low[number]), float(high[number])),
    )


def _read_column_numbers(table: Table, column: str) -> Floats:
    """The column as numbers, missing ones NaN."""
    cells = table.frame[column]
    numbers = cells.cast(pl.Float64, strict=False)
    strange = numbers.null_count() - cells.null_count()
    if strange:
        raise DataError(
            f'{table.source}: {count_noun(strange, "cell")} of "{column}" {"is" if strange == 1 else "are"} neither '
            "numbers nor ranges; give groups instead"
        )
    return numbers.to_numpy().astype(np.float64)
