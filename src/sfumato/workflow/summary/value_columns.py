# SPDX-License-Identifier: MIT
"""The columns whose published cells are values and no labels, whatever they look like.

A hierarchy may use a value's own text for a group: "Berlin" for Berlin and its suburbs. Where no method made labels, a
published "Berlin" is nevertheless the town alone, and nothing of it is lost.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from sfumato.data.cells.coded_cells import list_values
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.release import Release
from sfumato.table import Table


def list_value_columns(release: Release, published_table: Table, original: Table) -> frozenset[str]:
    """The columns with a hierarchy that hold values of the originals only, and no labels, as their methods state."""
    return frozenset(
        name
        for name in original.hierarchies
        if name in published_table.frame.columns
        and states_values_only(release, name)
        and spell_cells(list_values(published_table.frame[name]))
        .is_in(spell_cells(list_values(original.frame[name])).implode())
        .all()
    )


def forget_unused_labels(original: Table, value_columns: frozenset[str]) -> Table:
    """The originals without the hierarchies of columns that hold values only, so that none is read as a label."""
    hierarchies = {name: tree for name, tree in original.hierarchies.items() if name not in value_columns}
    return replace(original, hierarchies=MappingProxyType(hierarchies)) if value_columns else original


def states_values_only(release: Release, name: str) -> bool:
    """Whether no method states that it made labels or stars of a column."""
    changes = release.list_column_changes(name)
    return bool(changes) and not any(change.makes_stars or change.kind.makes_labels for change in changes)
