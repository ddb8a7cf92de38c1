# SPDX-License-Identifier: MIT
"""Generalization hierarchies: one row per leaf, from the original value up, as in an ARX file.

Level 0 is the original. Two leaves with the same label at a level are one group there. A hierarchy is checked on
creation: each leaf has one row, and a group lies inside one group of the next level; otherwise "more general" would be
undefined and the search over levels would be wrong.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Codes, Flags, Ints
from sfumato.data.cells.coded_cells import list_values
from sfumato.data.reading.compression import PACKING_FAULTS
from sfumato.data.reading.file_kinds import HEAD, detect_file_kind, name_kind
from sfumato.data.reading.file_limits import explain_damaged_packing, read_whole, refuse_special
from sfumato.data.reading.near_files import explain_unreadable
from sfumato.errors import DataError, count_noun, quote_some_names
from sfumato.notebook import SENTENCE, render_card, render_grid

STAR = "*"
_BUILT_KINDS = ("intervals", "quantiles", "prefix", "date", "tree")
"""The published value of a suppressed cell."""


@dataclass(frozen=True)
class HierarchyLevel:
    """One level of a hierarchy: the group of each leaf, the labels of the groups, and their numbers of leaves."""

    group_of_leaf: Codes
    labels: tuple[str, ...]
    leaves_under: Ints


class LeafGroups(NamedTuple):
    """The groups of a level of a hierarchy."""

    group_of_leaf: Codes
    """The last is that of a missing cell."""
    group_count: int


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """The generalizations of a column's values, level by level."""

    rows: tuple[tuple[str, ...], ...]
    """One row for each leaf: its labels from the original value up."""
    name: str = field(default="hierarchy")
    """Its name in error messages."""
    is_written: bool = False
    """Whether a person wrote its labels, in a file or a policy; then messages may name them."""
    is_built: bool = False
    """Whether a rule built it over the values of a column, so that it has a leaf for each value that occurs."""

    @classmethod
    def of(cls, rows: Iterable[Sequence[Any]], name: str = "hierarchy") -> Hierarchy:
        """Make a hierarchy from rows, one per leaf, left to right from the original value."""
        texts = [tuple(str(label) for label in row) for row in rows]
        if not texts or not texts[0]:
            raise DataError(f"{name}: the hierarchy has no rows")
        width = len(texts[0])
        ragged_rows = [number for number, row in enumerate(texts, 1) if len(row) != width]
        if ragged_rows:
            raise DataError(
                f"{name}: {count_noun(len(ragged_rows), 'row has', 'rows have')} another number of levels than row 1, "
                f"which has {width} (the first is row {ragged_rows[0]}); give every leaf a label at every level"
            )
        distinct = tuple(dict.fromkeys(texts))
        _refuse_two_parents(distinct, texts, name)
        return cls(distinct, name)

    @classmethod
    def read(cls, path: str | Path, separator: str | None = None) -> Hierarchy:
        """Read a headerless file as ARX writes it, compressed or not: `1;0-4;0-9;0-19;*`."""
        try:
            refuse_special(Path(path))
            content = read_whole(Path(path))
            if (kind := detect_file_kind(content[:HEAD])) is not None:
                raise DataError(f"{path}: this is {name_kind(kind)}; a hierarchy is a text file, so save it as .csv")
            text = content.decode("utf-8-sig")
        except PACKING_FAULTS:
            raise explain_damaged_packing(Path(path)) from None
        except OSError as error:
            reason = explain_unreadable(error, Path(path))
            hint = f'; to build one, write {{ kind = "{path}", … }}' if str(path) in _BUILT_KINDS else ""
            raise DataError(f"{path}: the hierarchy cannot be read {reason}{hint}") from None
        except UnicodeDecodeError:
            raise DataError(f"{path}: the hierarchy is not UTF-8; save it as UTF-8") from None
        except ValueError:
            raise DataError("the path of a hierarchy is not a valid file name") from None
        csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # a label may be longer than the module's default
        mark = separator or (";" if ";" in text else "\t" if "\t" in text else ",")
        try:
            csv_rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
            rows = [[label.strip() for label in row] for row in csv_rows if row]
        except csv.Error:
            raise DataError(f'{path}: the hierarchy is not a text table separated by "{mark}"') from None
        return replace(cls.of(rows, name=str(path)), is_written=True)

    @property
    def height(self) -> int:
        """The number of the topmost level."""
        return len(self.rows[0]) - 1

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The original values."""
        return tuple(row[0] for row in self.rows)

    @cached_property
    def levels(self) -> tuple[HierarchyLevel, ...]:
        """Every level, the original first."""
        return tuple(_build_level([row[position] for row in self.rows]) for position in range(self.height + 1))

    @cached_property
    def leaves_under(self) -> dict[str, int]:
        """How many leaves a published label covers; a label used at several levels means its widest group."""
        leaf_counts: dict[str, int] = {}
        for level in self.levels:
            for label, count in zip(level.labels, level.leaves_under.tolist(), strict=True):
                leaf_counts[label] = max(leaf_counts.get(label, 0), count)
        leaf_counts.setdefault(STAR, len(self.rows))
        return leaf_counts

    def has_values(self, level: int) -> bool:
        """Whether some label of a level, other than `*`, is spelled like an original value."""
        return not {*self.levels[level].labels, STAR}.isdisjoint({*self.leaves} - {STAR})

    def code_leaves(self, column: pl.Series) -> Codes:
        """The leaf number of every cell; a missing cell gets the number after the last leaf."""
        texts = spell_cells(column)
        codes = texts.cast(pl.Enum(self.spell_leaves(column.dtype)), strict=False)
        strange = texts.filter(codes.is_null() & texts.is_not_null())
        if len(strange):
            raise DataError(
                f'column "{column.name}": {count_noun(strange.n_unique(), "value")}, in '
                f"{count_noun(len(strange), 'row')}, {'has' if strange.n_unique() == 1 else 'have'} no row in "
                f"{self.name}; add a row for each, or mark them as missing{self._name_unused(texts)}"
                f"{self._notice_header(column.name)}"
            )
        return codes.to_physical().cast(pl.Int32).fill_null(len(self.rows)).to_numpy()

    def keep_leaves(self, cells: pl.Series) -> Hierarchy:
        """The same labels for the values of these cells only; all of them if no cell is known."""
        occurring_values = set(spell_cells(cells.drop_nulls().unique()).to_list())
        spellings = self.spell_leaves(cells.dtype)
        rows = tuple(row for row, spelling in zip(self.rows, spellings, strict=True) if spelling in occurring_values)
        return replace(self, rows=rows) if rows else self

    def _name_unused(self, texts: pl.Series) -> str:
        """The leaves that no cell has, which may be misspelt; only if a person wrote them."""
        cells = set(texts.unique().to_list()) if self.is_written else set(self.leaves)
        unused_leaves = [leaf for leaf in self.leaves if leaf not in cells]
        leaf_list = quote_some_names(unused_leaves, most=5)
        return f" ({leaf_list} in the hierarchy: no row of the data has it)" if unused_leaves else ""

    def _notice_header(self, column: str) -> str:
        """A leaf that is the column's own name was meant as a heading, which these files do not have."""
        return "; its first row seems to name the levels: remove it" if self.leaves[0] == column else ""

    def spell_leaves(self, kind: pl.DataType) -> tuple[str, ...]:
        """The leaves as the cells of such a column are spelled: "1.50" is the number 1.5."""
        if not kind.is_float():
            return self.leaves
        numbers = pl.Series(self.leaves, dtype=pl.String).cast(pl.Float64, strict=False)
        spellings = tuple(n or leaf for n, leaf in zip(spell_cells(numbers).to_list(), self.leaves, strict=True))
        return spellings if len(set(spellings)) == len(spellings) else self.leaves

    def group_leaves(self, level: int) -> LeafGroups:
        """The group of each leaf, and last that of a missing cell, with the number of groups.

        A missing cell stays missing, a separate group, until a level has a single label: that label discloses nothing
        about anyone, so a missing cell may have it too.
        """
        hierarchy_level = self.levels[level]
        count = len(hierarchy_level.labels)
        missing = 0 if self.swallows_missing(level) else count
        return LeafGroups(np.append(hierarchy_level.group_of_leaf, np.int32(missing)), max(count, missing + 1))

    def swallows_missing(self, level: int) -> bool:
        """Whether a missing cell is published as the single label of this level."""
        return level > 0 and len(self.levels[level].labels) == 1

    def publish(
        self,
        codes: Codes,
        level: int | Codes,
        suppressed_mask: Flags | None = None,
    ) -> pl.Series:
        """The labels for leaf numbers at a level, or each at its own; a missing cell is null or the single label."""
        labels: list[str | None] = []
        places = np.zeros((self.height + 1, len(self.rows) + 1), dtype=np.int64)
        for number, hierarchy_level in enumerate(self.levels):
            places[number] = self.group_leaves(number).group_of_leaf.astype(np.int64) + len(labels)
            labels += [*hierarchy_level.labels, None]
        label_places = places[level, codes]
        if suppressed_mask is not None:
            label_places = np.where(suppressed_mask, len(labels), label_places)
        return pl.Series([*labels, STAR], dtype=pl.String).gather(label_places)

    def preview(self, most: int = 4) -> pl.DataFrame:
        """Each level with its number of groups and some labels, to preview what a level would publish."""
        return pl.DataFrame(
            {
                "level": range(self.height + 1),
                "groups": [len(level.labels) for level in self.levels],
                "largest_group": [int(level.leaves_under.max()) for level in self.levels],
                "labels": [
                    ", ".join(level.labels[:most]) + (", …" if len(level.labels) > most else "")
                    for level in self.levels
                ],
            }
        )

    def __eq__(self, other: object) -> bool:
        """Equal if every leaf is generalized in the same way."""
        return isinstance(other, Hierarchy) and set(self.rows) == set(other.rows)

    def __hash__(self) -> int:
        """Agrees with equality."""
        return hash(frozenset(self.rows))

    def __repr__(self) -> str:
        """Counts only: leaves may be values of the data."""
        return f"Hierarchy({self.name}: {len(self.rows)} leaves, {self.height + 1} levels)"

    def _repr_html_(self) -> str:
        """Each level with its groups; leaves, which may be values of the data, are not shown at any level."""
        leaves = frozenset(self.levels[0].labels)
        rows = [
            (level, groups, largest, _name_groups(self.levels[level].labels, leaves))
            for level, groups, largest, _ in self.preview().rows()
        ]
        return render_card(repr(self), render_grid(("level", "groups", "largest group", "labels"), rows, SENTENCE))


def _name_groups(labels: Sequence[str], leaves: frozenset[str], most: int = 4) -> str:
    """Some labels of a level, without those of groups that are still a single value."""
    groups = [label for label in labels if label not in leaves]
    if not groups:
        return "(the values)"
    return ", ".join(groups[:most]) + (", …" if len(groups) > most else "") + ", (values)" * (len(groups) < len(labels))


def spell_cells(column: pl.Series) -> pl.Series:
    """The cells as a hierarchy spells its leaves; a whole number has no decimal point."""
    if not column.dtype.is_float():
        return column.cast(pl.String)
    whole = column.cast(pl.Int64, strict=False)
    return whole.cast(pl.String).zip_with(whole.cast(pl.Float64).eq_missing(column), column.cast(pl.String))


def build_flat_hierarchy(values: pl.Series, name: str) -> Hierarchy:
    """The hierarchy of a column that has none: the value itself, or nothing."""
    known_texts = spell_cells(list_values(values)).to_list()
    flat_rows = [(value, STAR) for value in known_texts] or [("", STAR)]
    return replace(Hierarchy.of(flat_rows, name=name), is_built=True)


def _build_level(labels: list[str]) -> HierarchyLevel:
    number = {label: position for position, label in enumerate(dict.fromkeys(labels))}
    group = np.fromiter((number[label] for label in labels), dtype=np.int32, count=len(labels))
    return HierarchyLevel(group, tuple(number), np.bincount(group, minlength=len(number)).astype(np.int64))


def _refuse_two_parents(distinct: tuple[tuple[str, ...], ...], texts: list[tuple[str, ...]], name: str) -> None:
    for position in range(len(distinct[0])):
        parent: dict[str, str | tuple[str, ...]] = {}
        for row in distinct:
            upper_labels = row[1:] if position == 0 else row[position + 1] if position + 1 < len(row) else ""
            if parent.setdefault(row[position], upper_labels) != upper_labels:
                raise _explain_two_parents(position, texts.index(row) + 1, name)


def _explain_two_parents(position: int, number: int, name: str) -> DataError:
    if position == 0:
        return DataError(
            f"{name}: the leaf in row {number} already has a row, with other labels; keep one row for each leaf"
        )
    return DataError(
        f"{name}: levels {position} and {position + 1} do not nest: the level {position} label of row {number} "
        f"lies under two labels of level {position + 1}; give it one parent, or two names"
    )
