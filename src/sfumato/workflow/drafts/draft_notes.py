# SPDX-License-Identifier: MIT
"""Where a drafted policy would not do what its custodian expects: several rows of a person, columns without names or
values, points of trips, and sequences of which anonymizing leaves little. Notes are sentences without values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import polars as pl

from sfumato.data.roles.role import Role
from sfumato.data.roles.role_proposals import FEWEST_VALUES, RoleProposal
from sfumato.errors import quote_names
from sfumato.report.words.wording import spell_percent
from sfumato.sequences import Sequences

_PLACES = ({"x", "y"}, {"lat", "lon"}, {"lat", "lng"}, {"latitude", "longitude"})
_TIMES = {"t", "time", "timestamp", "datetime", "date"}
_LEAST_DISTINCT = 0.8
"""Fewer different values than this, per row: a person seems to have several rows."""
_MANY = 20
_LONG, _DIFFERENT = 10, 0.9


def note_several_rows(proposals: Iterable[RoleProposal]) -> Iterator[str]:
    """Models count rows: a person of several rows is hidden among their own."""
    names = list_repeated_owners(proposals)
    if names:
        yield (
            f"Values of {quote_names(names)} repeat. If a person has several rows, k counts rows and not people: make "
            "one row of each person's first."
        )


def list_repeated_owners(proposals: Iterable[RoleProposal]) -> list[str]:
    """The columns that name people and whose values come again in other rows."""
    return [
        proposal.column
        for proposal in proposals
        if proposal.role is Role.IDENTIFYING
        and not proposal.by_counts
        and proposal.distinct >= FEWEST_VALUES
        and proposal.distinct_share < _LEAST_DISTINCT
    ]


def note_many_columns(proposals: Iterable[RoleProposal]) -> Iterator[str]:
    """Each further column that others know costs detail in all of them."""
    count = sum(proposal.role is Role.QUASI_IDENTIFYING for proposal in proposals)
    if count > _MANY:
        yield (
            f"{count} columns are taken as known to others, since little shows what they are, and each costs detail in "
            "all. Make those that nobody outside can know sensitive or insensitive."
        )


def note_unnamed_columns(frame: pl.DataFrame) -> Iterator[str]:
    """A title above the names leaves most columns without one."""
    unnamed_columns = list_unnamed(frame)
    if 2 * len(unnamed_columns) > frame.width:
        yield f"{len(unnamed_columns)} of {frame.width} columns have no name. If a title is above the names, remove it."


def list_unnamed(frame: pl.DataFrame) -> list[str]:
    """The columns that were numbered because they have no name."""
    return [name for name in frame.columns if re.fullmatch(r"column_\d+", name)]


def note_empty_columns(frame: pl.DataFrame) -> Iterator[str]:
    """Formulas have no value before a spreadsheet has calculated them."""
    empty = [column.name for column in frame if not column.count()]
    if empty:
        yield (
            f"{quote_names(empty)} {'has' if len(empty) == 1 else 'have'} no value in any row. If formulas stand "
            "there, open the workbook in a spreadsheet and save it: only then they have values."
        )


def note_points(columns: Iterable[str]) -> Iterator[str]:
    """Points of trips look like a table, in which every point is a person of its own."""
    plain = {name.strip().casefold(): name for name in columns}
    places = next((names for names in _PLACES if names <= plain.keys()), None)
    times = _TIMES & plain.keys()
    if places and times:
        name_list = quote_names(plain[name] for name in (*sorted(places), *sorted(times)))
        yield (
            f"The rows look like points of trips ({name_list}), and here each point counts as a person. To hide whole "
            "trips, draft again with --shape points, and name the column of those who moved with --id."
        )


def note_different_sequences(sequences: Sequences) -> Iterator[str]:
    """Long sequences that all differ have nothing in common that could be published of k people."""
    lists = sequences.to_lists()
    steps = sum(map(len, lists)) / max(len(lists), 1)
    different = len({repr(steps_of_one) for steps_of_one in lists}) / max(len(lists), 1)
    if steps >= _LONG and different >= _DIFFERENT:
        yield (
            f"{spell_percent(different)} of the sequences differ from all others, and they have {steps:.0f} steps on "
            "average: anonymizing may leave little of them. Shorter sequences, or fewer different items, keep more."
        )
