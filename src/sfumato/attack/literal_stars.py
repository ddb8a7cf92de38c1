# SPDX-License-Identifier: MIT
"""A `*` that stood in the originals: where no method makes stars, it is a value like any other.

Labels are read without asking where they come from, and a `*` covers everything. So before people are looked up, or a
secret is read, such stars are spelled as a value that nobody else has, in the release and in whatever is compared
with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from sfumato.data.hierarchies.hierarchy import STAR
from sfumato.release import Release
from sfumato.table import Table

_SPELLING = "\0star"


class LiteralStars(NamedTuple):
    """The columns in which a published `*` is a value of the originals."""

    columns: tuple[str, ...]

    @classmethod
    def find(cls, release: Release, names: Iterable[str]) -> LiteralStars:
        """Those of some columns that the release states no stars of, though they hold some."""
        published_table: Table = release.data
        return cls(
            tuple(
                name
                for name in dict.fromkeys(names)
                if name not in published_table.hierarchies
                and release.changes_of(name)
                and not any(change.makes_stars for change in release.changes_of(name))
                and _holds_star(published_table.frame[name])
            )
        )

    def spell_release(self, release: Release) -> Release:
        """The release in which such a star is no label; itself if there is none."""
        return replace(release, data=self.spell(release.data)) if self.columns else release

    def spell(self, table: Table) -> Table:
        """A table to be compared with that release; itself if there is no such column."""
        spelled_columns = [
            pl.col(name).replace(STAR, _SPELLING) for name in self.columns if _holds_star(table.frame[name])
        ]
        return table.with_frame(table.frame.with_columns(spelled_columns)) if spelled_columns else table


def _holds_star(column: pl.Series) -> bool:
    return column.dtype == pl.String and bool((column == STAR).any())
