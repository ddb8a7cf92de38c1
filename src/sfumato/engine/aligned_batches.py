# SPDX-License-Identifier: MIT
"""Two stored tables side by side: each published row next to the original row that it was made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.engine.stored_rows import StoredRows
from sfumato.errors import DataError
from sfumato.runtime.progress import report_progress

ROW = "original_row"
"""The column of row numbers, ascending, in the file that says which originals were published."""


class AlignedBatch(NamedTuple):
    """Some original rows and what was published of them."""

    original: pl.DataFrame
    published_frame: pl.DataFrame


def align_batches(
    original: StoredRows,
    published_store: StoredRows,
    taken_rows: StoredRows | None,
    step: str,
    chosen_columns: Sequence[str] | None = None,
) -> Iterator[AlignedBatch]:
    """Go through both tables in the order of their rows; `taken_rows` lists the published originals, else all.

    Only `chosen_columns` are read, by default all that both have.
    """
    columns = (
        [name for name in original.schema if name in published_store.schema]
        if chosen_columns is None
        else list(chosen_columns)
    )
    rest = _RowReader(published_store, None if chosen_columns is None else columns)
    for offset, original_rows in _iterate_taken(original.iterate_batches(columns), taken_rows):
        published_rows = rest.take(original_rows.height)
        if published_rows.height != original_rows.height:
            break
        report_progress(step, offset, original.height)
        yield AlignedBatch(original_rows, published_rows)
    else:
        if not rest.take(1).height:
            return
    raise explain_unaligned(published_store)


def align_coded_batches(
    original: StoredRows,
    published_store: StoredRows,
    taken_rows: StoredRows | None,
    step: str,
    chosen_columns: Sequence[str] | None = None,
) -> Iterator[AlignedBatch]:
    """The same in smaller batches, texts as numbers where both files hold them so."""
    columns = (
        [name for name in original.schema if name in published_store.schema]
        if chosen_columns is None
        else list(chosen_columns)
    )
    rest = _BatchSlicer(published_store.iterate_coded_batches(columns))
    for offset, kept_rows in _iterate_taken(original.iterate_coded_batches(columns), taken_rows):
        report_progress(step, offset, original.height)
        original_rows = kept_rows
        while original_rows.height:
            published_rows = rest.take_some(original_rows.height)
            if not published_rows.height:
                raise explain_unaligned(published_store)
            yield AlignedBatch(original_rows.head(published_rows.height), published_rows)
            original_rows = original_rows.slice(published_rows.height)
    if rest.take_some(1).height:
        raise explain_unaligned(published_store)


def _iterate_taken(
    batches: Iterator[pl.DataFrame], taken_rows: StoredRows | None
) -> Iterator[tuple[int, pl.DataFrame]]:
    """Of each batch, how many rows were read with it, and those of its rows that were published."""
    numbers = None if taken_rows is None else _RowReader(taken_rows)
    offset = 0
    for batch in batches:
        kept_rows = batch
        if numbers is not None:
            kept_rows = batch[(numbers.take_below(offset + batch.height) - offset).to_numpy()]
        offset += batch.height
        yield offset, kept_rows


def explain_unaligned(published_store: StoredRows) -> DataError:
    """Published rows that are too many or too few."""
    return DataError(
        f"{published_store.source}: {published_store.height} published rows cannot be compared with the originals; "
        "were the files changed in the meantime?"
    )


class _BatchSlicer:
    """Parts of batches: columns of numbers whose texts differ from batch to batch cannot be joined."""

    def __init__(self, batches: Iterator[pl.DataFrame]) -> None:
        self._batches = batches
        self._held_rows = pl.DataFrame()

    def take_some(self, most: int) -> pl.DataFrame:
        """The next rows, at least one and at most this many; none at the end."""
        while not self._held_rows.height and (batch := next(self._batches, None)) is not None:
            self._held_rows = batch
        part, self._held_rows = self._held_rows.head(most), self._held_rows.slice(most)
        return part


class _RowReader:
    """Batches of any size from batches of given sizes."""

    def __init__(self, rows: StoredRows, columns: Sequence[str] | None = None) -> None:
        names = list(rows.schema) if columns is None else columns
        self._batches = rows.iterate_batches(names)
        self._held_rows = pl.DataFrame(schema={name: rows.schema[name] for name in names})

    def take(self, count: int) -> pl.DataFrame:
        """The next rows, fewer at the end."""
        parts = [self._held_rows]
        have = self._held_rows.height
        while have < count and (batch := next(self._batches, None)) is not None:
            parts.append(batch)
            have += batch.height
        joined_rows = pl.concat(parts)
        self._held_rows = joined_rows.slice(count)
        return joined_rows.head(count)

    def take_below(self, bound: int) -> pl.Series:
        """The next row numbers that lie below a bound."""
        while not self._held_rows.height or int(self._held_rows[ROW][-1]) < bound:
            batch = next(self._batches, None)
            if batch is None:
                break
            self._held_rows = pl.concat([self._held_rows, batch])
        count = int(np.searchsorted(self._held_rows[ROW].to_numpy(), bound))
        return self.take(count)[ROW]
