# SPDX-License-Identifier: MIT
"""The classes of a stored release with blanks that some people fit: a blank may be anything.

A row whose entries are all visible is a class of its own, so that classes can be as many as people. Those that fit
nobody who is looked up are not needed; rows are processed in batches and compared by their visible cells.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from sfumato.engine.stored_rows import COUNT, RowCounts, StoredRows, sort_counts
from sfumato.runtime.progress import report_progress


def count_fitting_classes(rows: StoredRows, people: pl.DataFrame) -> RowCounts:
    """The distinct rows, by the columns of the people, that some of the people may be behind, and how many each."""
    names = people.columns
    parts: list[pl.DataFrame] = []
    known_people = people.unique()

    def select_batch(batch: pl.DataFrame, first: int) -> tuple[int, list[pl.DataFrame]]:
        return first, list(_select_fitting(batch.group_by(names).len(COUNT), known_people))

    for batch_start, frames in rows.examine_batches(select_batch, names):
        report_progress("looking people up", batch_start, rows.height)
        parts += frames
    empty = pl.DataFrame(schema={**{name: rows.schema[name] for name in names}, COUNT: pl.UInt32})
    return sort_counts(pl.concat([empty, *parts]).group_by(names).agg(pl.col(COUNT).sum()))


def _select_fitting(row_counts: pl.DataFrame, people: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The counted rows that agree with someone in all that they show; by kinds of rows, which show the same columns.

    A person of whom a column is not known fits whatever is shown in it.
    """
    names = people.columns
    for shown_columns, rows in _split_by_known(row_counts, names):
        parts = [rows.clear()]
        for known_columns, people_part in _split_by_known(people, names):
            common_columns = [name for name in shown_columns if name in known_columns]
            parts.append(
                rows.join(people_part.select(common_columns).unique(), on=common_columns, how="semi")
                if common_columns
                else rows
            )
        yield pl.concat(parts).unique(names)


def _split_by_known(frame: pl.DataFrame, names: list[str]) -> Iterator[tuple[list[str], pl.DataFrame]]:
    """The rows of a frame by the columns that they have a value in."""
    flags = frame.with_columns(pl.struct(pl.col(name).is_not_null() for name in names).alias("\0shown"))
    for part in flags.partition_by("\0shown", maintain_order=True):
        shown_flags = part["\0shown"][0]
        yield [name for name in names if shown_flags[name]], part.drop("\0shown")
