# SPDX-License-Identifier: MIT
"""How an adversary may read the missing cells of a release.

What a missing cell means (`Missing`) is chosen for counting classes. It does not bind readers of the file: they
see an empty cell, which looks like another empty one. So attacks try the meaning that was chosen, and what is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.release import Release
from sfumato.table import Missing, Table


def list_readings(release: Release, people: Table, names: Sequence[str]) -> tuple[Release, ...]:
    """The release as it is; if known or published cells are missing, also with missing as a value of its own."""
    _, *other_tables = list_table_readings(release.data, people, names)
    return (release, *(replace(release, data=table) for table in other_tables))


def list_table_readings(published_table: Table, people: Table, names: Sequence[str]) -> tuple[Table, ...]:
    """The table as it is; if known or published cells are missing, also with missing as a value of its own."""
    is_as_seen = published_table.missing is Missing.OWN_VALUE
    if is_as_seen or not any(_has_missing(table, names) for table in (published_table, people)):
        return (published_table,)
    return published_table, replace(published_table, missing=Missing.OWN_VALUE)


def _has_missing(table: Table, names: Sequence[str]) -> bool:
    return any(table.frame[name].null_count() for name in names)
