# SPDX-License-Identifier: MIT
"""The columns of a release: what was done to each, and by which of them a person could be looked up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sfumato.change import ChangeKind
from sfumato.engine.stored_table import StoredTable
from sfumato.table import Table

AnyTable = Table | StoredTable


class ColumnSplit(NamedTuple):
    """The published columns by which a person could be looked up, and the others."""

    counted_columns: tuple[str, ...]
    not_counted: tuple[str, ...]


def split_columns(changes: Iterable[Mapping[str, Any]], published_table: AnyTable) -> ColumnSplit:
    """The published columns by which a person could be looked up, and the others."""
    kinds, columns = gather_kinds(changes), get_outline(published_table).frame.columns
    other_columns = tuple(name for name in columns if any(kind.meaning.known_to_nobody for kind in kinds.get(name, ())))
    return ColumnSplit(tuple(name for name in columns if name not in other_columns), other_columns)


def get_outline(table: AnyTable) -> Table:
    """A table whose columns and roles can be looked at."""
    return table if isinstance(table, Table) else table.outline


def gather_kinds(changes: Iterable[Mapping[str, Any]]) -> dict[str, frozenset[ChangeKind]]:
    """The ways in which each column was changed."""
    kinds: dict[str, frozenset[ChangeKind]] = {}
    for change in changes:
        kinds[change["column"]] = kinds.get(change["column"], frozenset()) | {ChangeKind(change["kind"])}
    return kinds
