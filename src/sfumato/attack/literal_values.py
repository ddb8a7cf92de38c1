# SPDX-License-Identifier: MIT
"""Texts of the originals that look like labels: where no method makes labels, they are values like any other.

Labels are read without asking where they come from: a `*` covers everything, `[0, 5]` the numbers between, `{a, b}`
both values, and a word that names a group of the hierarchy all values of the group. So before people are looked up, or
a secret is read, the columns that hold such texts as values get a hierarchy in which each text stands for itself. A `*`
is spelled as a value that nobody else has, in the release and in whatever is compared with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, spell_cells
from sfumato.data.hierarchies.label_ranges import is_range
from sfumato.data.hierarchies.published_labels import parse_set
from sfumato.release import Release
from sfumato.table import Table

_SPELLING = "\0star"


class LiteralValues(NamedTuple):
    """The columns in which published texts that look like labels are values of the originals."""

    columns: tuple[str, ...]
    star_columns: tuple[str, ...]
    """Those of them in which a `*` is a value, too."""

    @classmethod
    def find(cls, release: Release, names: Iterable[str]) -> LiteralValues:
        """Those of some columns that the release states no labels of, though they hold texts that look like some."""
        columns, star_columns = [], []
        for name in dict.fromkeys(names):
            changes = release.list_column_changes(name)
            if not changes or any(change.kind.makes_labels for change in changes):
                continue
            has_stars = any(change.makes_stars for change in changes)
            texts = _list_misread_texts(release.data, name)
            if not texts <= ({STAR} if has_stars else set()):
                columns.append(name)
            if STAR in texts and not has_stars:
                star_columns.append(name)
        return cls(tuple(columns), tuple(star_columns))

    @classmethod
    def list_readings(
        cls, release: Release, truth: Table, names: Iterable[str], *, reads_stars: bool = True
    ) -> tuple[LiteralValues, ...]:
        """What is stated; and if nothing is stated of columns whose originals hold such texts, also these as values.

        Without `reads_stars`, nothing but a statement makes a `*` a value.
        """
        names = tuple(dict.fromkeys(names))
        stated_values = cls.find(release, names)
        columns, star_columns = list(stated_values.columns), list(stated_values.star_columns)
        for name in names:
            if release.list_column_changes(name):
                continue
            texts = _list_misread_texts(release.data, name) - (set() if reads_stars else {STAR})
            own_texts = texts.intersection(spell_cells(truth.frame[name].unique()).to_list()) if texts else texts
            columns += [name] if own_texts else []
            star_columns += [name] if STAR in own_texts else []
        supposed_values = cls(tuple(columns), tuple(star_columns))
        return (stated_values,) if supposed_values == stated_values else (stated_values, supposed_values)

    def spell_release(self, release: Release) -> Release:
        """The release in which such a text is no label; itself if there is none."""
        if not self.columns:
            return release
        published_table = self.spell(release.data)
        leaves = {name: _list_leaves(published_table, name) for name in self.columns}
        hierarchies = MappingProxyType({**published_table.hierarchies, **leaves})
        return replace(release, data=replace(published_table, hierarchies=hierarchies))

    def spell(self, table: Table) -> Table:
        """A table to be compared with that release; itself if there is no such star."""
        spelled_columns = [
            pl.col(name).replace(STAR, _SPELLING) for name in self.star_columns if _holds_star(table.frame[name])
        ]
        return table.replace_frame(table.frame.with_columns(spelled_columns)) if spelled_columns else table


def _list_misread_texts(published_table: Table, name: str) -> set[str]:
    """The texts of a column that would be read as labels of several values."""
    cells, hierarchy = published_table.frame[name], published_table.hierarchies.get(name)
    misread_texts = set[str]()
    if cells.dtype == pl.String:
        may_be_label = (cells == STAR) | cells.str.starts_with("[") | cells.str.starts_with("{")
        texts = cells.filter(may_be_label).unique().to_list()
        misread_texts = {text for text in texts if text == STAR or is_range(text) or parse_set(text) is not None}
    if hierarchy is not None:
        groups = {label for label, count in hierarchy.leaves_under.items() if count > 1}
        misread_texts |= groups.intersection(spell_cells(cells.unique()).drop_nulls().to_list())
    return misread_texts


def _list_leaves(published_table: Table, name: str) -> Hierarchy:
    """A hierarchy without groups: the values of a column, and those of its hierarchy, each for itself."""
    hierarchy = published_table.hierarchies.get(name)
    texts = spell_cells(published_table.frame[name].drop_nulls().unique(maintain_order=True)).to_list()
    leaves = dict.fromkeys((*(hierarchy.leaves if hierarchy else ()), *texts))
    return Hierarchy(tuple((leaf,) for leaf in leaves if leaf != STAR), name=f'values of "{name}"')


def _holds_star(column: pl.Series) -> bool:
    return column.dtype == pl.String and bool((column == STAR).any())
