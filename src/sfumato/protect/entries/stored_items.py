# SPDX-License-Identifier: MIT
"""The entries of a table that stays where it is, as item numbers: what the search for rules holds of it.

A published cell is held as the number of its value and a byte for its state, whatever the value is in the file. The
private entries are found in these numbers; only columns that are not published are read for it. Numbers, draws and
errors are those of a table in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import polars as pl

from sfumato.arrays import Bytes, Codes, Flags, Ints
from sfumato.data.cells.private_entries import (
    PrivateEntries,
    refuse_no_entries,
    refuse_unfitting,
    refuse_unknown_entry_columns,
)
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.engine.stored_rows import CodeMap
from sfumato.engine.stored_table import StoredTable
from sfumato.engine.text_dictionaries import split_column
from sfumato.mine.entries.cells import MISSING_ITEM, PRIVATE, TableCells
from sfumato.runtime.progress import report_progress

_ROWS = 1 << 18
"""Rows that are looked at together when places are counted."""


def read_stored_cells(
    table: StoredTable, names: Sequence[str], entries: Sequence[PrivateEntries], chance: np.random.Generator
) -> TableCells:
    """Number the entries of the published columns, and mark the private ones."""
    refuse_no_entries(entries, table.source)
    values = tuple(table.list_values(name) for name in names)
    first = np.cumsum([0, *map(len, values)]).astype(np.int32)
    codes = np.full((len(table), len(names)), MISSING_ITEM, dtype=np.min_scalar_type(-1 - int(first[-1])))
    maps = [
        CodeMap(column_values, np.arange(low, low + len(column_values), dtype=np.int32), MISSING_ITEM)
        for column_values, low in zip(values, first[:-1].tolist(), strict=True)
    ]
    kind = codes.dtype

    def number_batch(batch: pl.DataFrame, _: int) -> pl.DataFrame:
        numbers = {}
        for mapping, name in zip(maps, names, strict=True):
            batch_values, places = split_column(batch[name])
            numbers[name] = mapping.map_cells(batch_values).to_numpy()[places].astype(kind)
        return pl.DataFrame(numbers)

    begin = 0
    for numbers in table.rows.map_batches(number_batch, names):
        report_progress("numbering entries", begin, len(table))
        for index, name in enumerate(names):
            codes[begin : begin + numbers.height, index] = numbers[name].to_numpy()
        begin += numbers.height
    cells = TableCells(tuple(names), values, first, codes, np.zeros(codes.shape, dtype=np.uint8))
    _EntryMarks(table, cells, chance).mark_all(entries)
    return cells


class _EntryMarks:
    """Marks private entries in the states of the cells, one specification after the other."""

    def __init__(self, table: StoredTable, cells: TableCells, chance: np.random.Generator) -> None:
        self.table, self.cells, self.chance = table, cells, chance
        self.columns = list(table.rows.schema)

    def mark_all(self, entries: Sequence[PrivateEntries]) -> None:
        """Mark what each specification names; each must name an entry that is published and has a value."""
        for number, entry in enumerate(entries, 1):
            report_progress("finding private entries", number - 1, len(entries))
            marked_count = self._mark_listed(entry) if entry.lists_entries else self._mark_chosen(entry)
            if not marked_count:
                refuse_unfitting(entries, number, self.table.source)

    def _mark_listed(self, entry: PrivateEntries) -> int:
        rows, columns = entry.list_entries(self.table.source).locate(len(self.table), self.columns)
        column_index = np.array([self._index(name) for name in self.columns], dtype=np.int64)[columns]
        published_mask = column_index >= 0
        return self._mark(rows[published_mask], column_index[published_mask])

    def _mark(self, rows: Ints, columns: Ints) -> int:
        """Mark entries that have a value; returns how many have one."""
        known_mask = self.cells.codes[rows, columns] != MISSING_ITEM
        self.cells.states[rows[known_mask], columns[known_mask]] = PRIVATE
        return int(known_mask.sum())

    def _mark_chosen(self, entry: PrivateEntries) -> int:
        """Mark what columns, a condition and a share choose."""
        chosen_columns = self.cells.names if entry.columns is None else entry.columns
        refuse_unknown_entry_columns([*chosen_columns, *(entry.where or ())], self.columns, self.table.source)
        names = [name for name in self.columns if name in chosen_columns]  # in the order of the table
        rows: Flags = np.ones(len(self.table), dtype=np.bool_)
        for name, texts in (entry.where or {}).items():
            rows &= self._flag_values(name, texts)
        if entry.share is not None:
            return self._mark_share(names, rows, entry.share)
        marked_count = 0
        for name in names:
            if (index := self._index(name)) >= 0:
                private = rows & (self.cells.codes[:, index] != MISSING_ITEM)
                self.cells.states[private, index] = PRIVATE
                marked_count += int(private.sum())
        return marked_count

    def _mark_share(self, names: Sequence[str], rows: Flags, share: float) -> int:
        """Draw a share of the chosen entries that have a value, row by row, as `PrivateEntries` does."""
        known_masks = [rows & self._flag_known(name) for name in names]
        total = int(sum(flags.sum() for flags in known_masks))
        many = round(share * total)
        draws = np.sort(self.chance.choice(total, many, replace=False)) if many else np.zeros(0, dtype=np.int64)
        places = np.array([self._index(name) for name in names], dtype=np.int64)
        marked_count = 0
        for begin, cells in _list_flagged_places(known_masks):
            block_draws = draws[np.searchsorted(draws, begin) : np.searchsorted(draws, begin + len(cells))]
            row, number = np.divmod(cells[block_draws - begin], len(names))
            published_mask = places[number] >= 0
            marked_count += self._mark(row[published_mask], places[number[published_mask]])
        return marked_count

    def _index(self, name: str) -> int:
        """The number of a published column; −1 if it is not published."""
        return self.cells.names.index(name) if name in self.cells.names else -1

    def _flag_values(self, name: str, texts: Sequence[str]) -> Flags:
        """The rows whose cell is spelled as one of some texts."""
        if (index := self._index(name)) < 0:
            return self._read_flags(name, lambda cells: spell_cells(cells).is_in(list(texts)).fill_null(False))
        fits = spell_cells(self.cells.values[index]).is_in(list(texts)).to_numpy()
        # The last place is for missing cells.
        return np.append(fits, False)[self._list_codes(index)]

    def _flag_known(self, name: str) -> Flags:
        """The rows whose cell is not missing."""
        if (index := self._index(name)) < 0:
            return self._read_flags(name, pl.Series.is_not_null)
        return np.asarray(self.cells.codes[:, index] != MISSING_ITEM)

    def _list_codes(self, index: int) -> Codes:
        low, width = int(self.cells.first[index]), len(self.cells.values[index])
        codes = self.cells.codes[:, index]
        return np.where(codes == MISSING_ITEM, width, codes - low).astype(np.int32)

    def _read_flags(self, name: str, flag: Callable[[pl.Series], pl.Series]) -> Flags:
        """Flags of a column that is not published, and not held."""

        def flag_batch(batch: pl.DataFrame, _: int) -> Flags:
            return flag(batch[name]).to_numpy()

        return np.concatenate([np.zeros(0, dtype=np.bool_), *self.table.rows.examine_batches(flag_batch, [name])])


def _list_flagged_places(known_masks: Sequence[Flags]) -> Iterator[tuple[int, Ints]]:
    """Row by row the places, row × columns + column, that are flagged; with how many there were before."""
    earlier_count = 0
    for begin in range(0, len(known_masks[0]) if known_masks else 0, _ROWS):
        block_mask = np.column_stack([flags[begin : begin + _ROWS] for flags in known_masks])
        places = np.flatnonzero(block_mask) + begin * len(known_masks)
        yield earlier_count, places
        earlier_count += len(places)


def pack_visible(states: Bytes) -> Bytes:
    """Which entries are shown, a bit each, every row in bytes of its own."""
    packed_bits = np.zeros((len(states), -(-states.shape[1] // 8)), dtype=np.uint8)
    for begin in range(0, len(states), _ROWS):
        packed_bits[begin : begin + _ROWS] = np.packbits(states[begin : begin + _ROWS] == 0, axis=1)
    return packed_bits
