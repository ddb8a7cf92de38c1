# SPDX-License-Identifier: MIT
"""What of a table a method touches, known before it runs: this decides which methods can be listed in one policy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sfumato.table import Missing, Table


class StarSettings(NamedTuple):
    """Settings under which a method that stars rows stars none, in words for errors."""

    keep_rows: str
    """It publishes all rows, none of them with stars."""
    drop_rows: str = ""
    """It leaves these rows out; empty if it cannot."""


@dataclass(frozen=True)
class Footprint:
    """Columns by what a method does with them, from its parameters and the roles alone."""

    changes: frozenset[str]
    """Columns that it changes, and whose published cells its claims describe."""
    needs: frozenset[str]
    """Columns that must be as in the originals: it works on them, or its claims compare with them."""
    reads: frozenset[str]
    """Columns whose values decide what is published, in whatever column."""
    promises: frozenset[str] = frozenset()
    """Further columns whose published cells its claims describe."""
    hides: frozenset[str] = frozenset()
    """Columns whose true cells it promises to hide whatever else is known."""
    drops_rows: bool = False
    """Whether it may leave rows out."""
    blanks: bool = False
    """Whether it only blanks cells."""
    survives_blanks: bool = False
    """Whether its claims still hold if cells are blanked later, unless it stars rows."""
    stars: StarSettings | None = None
    """If it may publish rows with `*` in every quasi-identifying column, of which it states how many there are and that
    they look alike: the settings under which it stars no row."""
    empties: frozenset[str] = frozenset()
    """Of the columns that it changes, those that it only empties, in the rows that it stars."""


def trace_columns(columns: Iterable[str], needs: Iterable[str] = ()) -> Footprint:
    """The footprint of a method that treats some columns; `needs` are further ones that decide what is published."""
    own_columns = frozenset(columns)
    used_columns = own_columns | frozenset(needs)
    return Footprint(changes=own_columns, needs=used_columns, reads=used_columns)


def trace_all_columns(table: Table, *, blanks: bool = False) -> Footprint:
    """The footprint of a method that may look at every cell that is published, and change it."""
    every = frozenset(table.frame.columns) - (frozenset(table.identifying) if table.roles else frozenset())
    return Footprint(changes=every, needs=every, reads=every, blanks=blanks)


def trace_classes(
    table: Table,
    judged_columns: Iterable[str] = (),
    further: Iterable[str] = (),
    *,
    emptied_columns: Iterable[str] = (),
    drops_rows: bool = False,
    survives_blanks: bool = False,
    stars: StarSettings | None = None,
) -> Footprint:
    """The footprint of a method that puts people into classes; `judged_columns` are those that models look at.

    `further` columns are changed as well as the quasi-identifying ones; `emptied_columns` only in starred rows.
    """
    empties, looked_at = frozenset(emptied_columns), frozenset(judged_columns)
    recoded_columns = frozenset((*table.quasi_identifying, *further))
    return Footprint(
        changes=recoded_columns | empties,
        needs=recoded_columns | empties | looked_at,
        reads=recoded_columns | empties | looked_at,
        promises=looked_at,
        drops_rows=drops_rows or may_drop_rows(table),
        survives_blanks=survives_blanks,
        stars=stars,
        empties=empties,
    )


def may_drop_rows(table: Table) -> bool:
    """Whether rows with missing cells are left out."""
    return table.missing is Missing.DROP
