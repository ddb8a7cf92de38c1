# SPDX-License-Identifier: MIT
"""Suppressed entries of a table that stays where it is: numbers of values are held, cells are not.

Rules look at every column, and which entry is blanked next depends on all rows. So the search is the one of memory, on
the same numbers, and blanks the same entries; what stays in the file are the cells themselves. A published row is an
original one without the entries that are not shown, of which a bit each is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from sfumato.arrays import Bytes
from sfumato.data.cells.cell_types import retype_columns
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.engine.memory_budget import find_memory_budget, format_size
from sfumato.engine.stored_table import StoredTable
from sfumato.engine.text_dictionaries import is_coded
from sfumato.errors import DataError
from sfumato.mine.entries.cells import PUBLIC, TableCells
from sfumato.protect.entries.stored_items import pack_visible, read_stored_cells
from sfumato.protect.entries.suppress_entries import SuppressEntries
from sfumato.protect.rowwise_plan import RowwisePlan
from sfumato.protect.stored_method import StoredTableMethod
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Missing

_BYTES_A_CELL, _BYTES_A_ROW = 12, 60
"""What mining holds of each published cell and each row at its peak; checking the release holds less."""
_BYTES_A_VALUE = 400
_SHARE = 0.75
"""The part of the memory that mining may use; the rest is for rules and the rows in which they appear."""


@dataclass(frozen=True, eq=False, repr=False)
class BlankingPlan(RowwisePlan):
    """Which entries are shown, decided before any row is written."""

    shown_bits: Bytes
    """A bit for each published entry, rows by bytes."""
    types: Mapping[str, pl.DataType]
    """The types of columns that change theirs: a type must not disclose a blanked cell."""

    def publish(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """The rows without the entries that are not shown."""
        kept_frame = rows.drop(self.table.outline.identifying, strict=False)
        shown_mask = np.unpackbits(self.shown_bits[first : first + rows.height], axis=1, count=kept_frame.width).astype(
            np.bool_
        )
        cells = [
            self._type_cells(column.zip_with(pl.Series(shown_mask[:, index]), _make_empty(column)))
            for index, column in enumerate(kept_frame.get_columns())
        ]
        return pl.DataFrame(cells)

    def publish_coded(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """The same: a text that is a number is blanked like any other cell."""
        return self.publish(rows, first)

    def _type_cells(self, column: pl.Series) -> pl.Series:
        if column.name not in self.types:
            return column
        texts = column.cast(pl.String) if is_coded(column) else spell_cells(column)
        return texts.cast(self.types[column.name])


def _make_empty(column: pl.Series) -> pl.Series:
    return pl.Series(column.name, [None], dtype=column.dtype).new_from_index(0, len(column))


class StoredSuppressEntries(StoredTableMethod[SuppressEntries]):
    """Entries blanked against rules, by the search of memory."""

    runs = "suppress_entries against rules"

    def explain_unstored(self, method: SuppressEntries) -> str | None:
        """What of the method does not run on stored rows; None if it runs."""
        if method.search == "exact":
            return "suppress_entries with search = exact"
        if method.learner_risk is not None:
            return "suppress_entries with learner_risk"
        if method.discretize:
            return "suppress_entries with discretize"
        if any(entry.mask is not None for entry in method.private):
            return "suppress_entries with a mask"
        return None

    def plan(self, method: SuppressEntries, table: StoredTable, randomness: Randomness) -> BlankingPlan:
        """Find the entries to be blanked, and say what is published, promised and lost."""
        if not len(table):
            raise DataError(f"{table.source}: the table has no rows")
        outline = table.outline
        names = [name for name in table.rows.schema if name not in outline.identifying]
        room = find_memory_budget() - _estimate_mining(table, names)
        cells = read_stored_cells(table, names, method.private, randomness.generator())
        outcome = method.find_entries(cells, room)
        visible = _list_visible_values(cells, outcome.derived.states)
        blank_columns = [name for name, values in visible.items() if values.missing]
        types = _decide_types(visible)
        shown_bits = pack_visible(outcome.derived.states)
        plan = BlankingPlan(table, Release(outline, method, (), {}), shown_bits, types)
        published_table = replace(outline.replace_frame(plan.publish(outline.frame)), missing=Missing.MATCHES_ANY)
        return replace(plan, release=method.describe_release(outline, published_table, outcome, blank_columns))


@dataclass(frozen=True)
class _VisibleValues:
    """The values of a column that are still shown, and how many of its cells are empty."""

    values: pl.Series
    missing: int


def _list_visible_values(cells: TableCells, states: Bytes) -> dict[str, _VisibleValues]:
    visible_values = {}
    for index, (name, values) in enumerate(zip(cells.names, cells.values, strict=True)):
        codes = cells.codes[:, index]
        shown_codes = codes[(states[:, index] == PUBLIC) & (codes >= 0)] - cells.first[index]
        counts = np.bincount(shown_codes, minlength=len(values))
        visible_values[name] = _VisibleValues(
            values.filter(pl.Series(counts > 0)).alias(name), len(codes) - len(shown_codes)
        )
    return visible_values


def _decide_types(visible: Mapping[str, _VisibleValues]) -> dict[str, pl.DataType]:
    """The types by content of the columns with empty cells, where they are not what they were."""
    column_types: dict[str, pl.DataType] = {}
    for name, column in visible.items():
        if column.missing:
            kind = retype_columns(column.values.to_frame(), [name]).schema[name]
            column_types |= {name: kind} if kind != column.values.dtype else {}
    return column_types


def _estimate_mining(table: StoredTable, names: Sequence[str]) -> int:
    """The memory that mining needs, in bytes; stops before anything is read if that is more than there is."""
    values = sum(table.rows.count_values(name) for name in names)
    needed_bytes = len(table) * (_BYTES_A_CELL * len(names) + _BYTES_A_ROW) + _BYTES_A_VALUE * values
    budget = find_memory_budget()
    if needed_bytes > _SHARE * budget:
        raise DataError(
            f"{table.source}: to search {len(table):,} rows of {len(names)} columns with {values:,} values for rules, "
            f"{format_size(needed_bytes / _SHARE)} of memory are needed, and {format_size(budget)} are available; set "
            "SFUMATO_MEMORY higher, call columns that nobody needs identifying, or round columns with very many values"
        )
    return needed_bytes
