# SPDX-License-Identifier: MIT
"""The rows of a table that a method may publish; refuses what no method can process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Ints
from sfumato.data.hierarchies.hierarchy import STAR
from sfumato.errors import DataError, ImpossibleRelease, PolicyError, count_noun
from sfumato.table import Missing, Table


class Participants(NamedTuple):
    """The rows that take part."""

    table: Table
    rows: Ints
    """Their numbers in the whole table."""


def select_participants(table: Table, columns: Sequence[str] | None = None, can_overlap: bool = False) -> Participants:
    """The rows that take part, and their row numbers; without those with a missing cell if missing means "drop".

    `columns` are used instead of the quasi-identifying ones; `can_overlap` means that the method can count missing
    cells that match anything or nothing.
    """
    names = list(table.quasi_identifying if columns is None else columns)
    if not len(table):
        raise DataError(f"{table.source}: the table has no rows")
    if not table.quasi_identifying:
        raise PolicyError(f"{table.source}: no column is quasi_identifying, so there are no people to hide")
    for name in names:
        _refuse_stars(table, name)
    rows = np.arange(len(table), dtype=np.int64)
    if not any(table.frame[name].null_count() for name in names):
        return Participants(table, rows)
    missing_mask = table.frame.select(pl.any_horizontal(pl.col(names).is_null())).to_series().to_numpy()
    if table.missing is Missing.OWN_VALUE or (can_overlap and table.missing is not Missing.DROP):
        return Participants(table, rows)
    if table.missing is not Missing.DROP:
        raise PolicyError(
            f"{table.source}: {count_noun(int(missing_mask.sum()), 'row has', 'rows have')} a missing cell, and this "
            f"method does not support missing = {table.missing.value}; use own_value or drop"
        )
    if missing_mask.all():
        raise DataError(f"{table.source}: every row has a missing cell, and missing = drop")
    return Participants(table.replace_frame(table.frame.filter(pl.Series(~missing_mask))), rows[~missing_mask])


def keep_participants_leaves(table: Table) -> Table:
    """The participants, with hierarchies that rules built over the values of participants only.

    A rule makes a leaf of every value that occurs. If people are left out, their values must not count as leaves: the
    loss divides by the number of leaves, so a cell that nobody sees would decide what is published of the others.
    """
    if table.missing is not Missing.DROP:
        return table
    hierarchies = {
        name: hierarchy.keep_leaves(table.frame[name])
        if hierarchy.is_built and name in table.frame.columns
        else hierarchy
        for name, hierarchy in table.hierarchies.items()
    }
    return replace(table, hierarchies=MappingProxyType(hierarchies))


def _refuse_stars(table: Table, name: str) -> None:
    if table.frame[name].dtype != pl.String:
        return  # no number, date or boolean is spelled so
    star_count = int((table.frame[name] == STAR).sum())
    if star_count:
        raise DataError(
            f'{table.source}: the column "{name}" holds "*" in {count_noun(star_count, "row")}, the mark of a '
            'suppressed cell; add "*" to missing_marks, or change its spelling'
        )


def refuse_too_few(table: Table, k: int) -> None:
    """Stop if all rows together are fewer than k."""
    count = len(table)
    if count < 2 <= k:
        raise ImpossibleRelease(f"{table.source}: a single row hides nobody (k = {k}); add the rows of other people")
    if count < k:
        raise ImpossibleRelease(
            f"{table.source}: {count_noun(count, 'row')} cannot be hidden among {k}; choose k = {count} or less"
        )
