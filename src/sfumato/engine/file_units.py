# SPDX-License-Identifier: MIT
"""Parquet files cut into runs of rows that any process can read by itself, in the batches that every engine reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.engine.duckdb_rows import explain_damaged
from sfumato.engine.stored_rows import BATCH_ROWS
from sfumato.table import simplify_frame

UNIT_ROWS = 4 * BATCH_ROWS
"""A run is at most so long: long enough to be worth a task, short enough to be sent at once."""


class FileUnit(NamedTuple):
    """Some successive rows of a file."""

    file: Path
    begin: int
    """The first row of the run in its file, a multiple of the length of a batch."""
    end: int
    offset: int
    """The number of the first row in the whole table."""


def cut_units(files: Sequence[Path], heights: Sequence[int]) -> tuple[FileUnit, ...]:
    """All rows of some files, in their order."""
    units: list[FileUnit] = []
    offset = 0
    for file, height in zip(files, heights, strict=True):
        begins = range(0, height, UNIT_ROWS)
        units += [FileUnit(file, begin, min(begin + UNIT_ROWS, height), offset + begin) for begin in begins]
        offset += height
    return tuple(units)


def read_unit(unit: FileUnit, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """The rows of a run, some at a time; the ends of batches do not depend on how a file is cut."""
    try:
        with pq.ParquetFile(unit.file, pre_buffer=False) as opened:
            groups, before = _find_row_groups(opened.metadata, unit)
            held: list[pa.RecordBatch] = []
            have, skip, left = 0, unit.begin - before, unit.end - unit.begin
            for read in opened.iter_batches(BATCH_ROWS, row_groups=groups, columns=list(columns)):
                rest = read.slice(skip)
                skip = max(0, skip - read.num_rows)
                while rest.num_rows and left:
                    part = rest.slice(0, min(BATCH_ROWS - have, left))
                    held.append(part)
                    have, left = have + part.num_rows, left - part.num_rows
                    rest = rest.slice(part.num_rows)
                    if have == BATCH_ROWS or not left:
                        yield _build_frame(held, columns, unit.file)
                        held, have = [], 0
    except (pa.ArrowException, OSError):
        raise explain_damaged(unit.file) from None


def _find_row_groups(about: pq.FileMetaData, unit: FileUnit) -> tuple[list[int], int]:
    """The row groups that a run touches, and how many rows lie before the first of them."""
    groups: list[int] = []
    begin = before = 0
    for number in range(about.num_row_groups):
        end = begin + about.row_group(number).num_rows
        if begin < unit.end and end > unit.begin:
            before = before if groups else begin
            groups.append(number)
        begin = end
    return groups, before


def _build_frame(parts: list[pa.RecordBatch], columns: Sequence[str], file: Path) -> pl.DataFrame:
    frame = pl.from_arrow(pa.Table.from_batches(parts))
    assert isinstance(frame, pl.DataFrame), "a table has columns"
    return simplify_frame(frame.select(columns), str(file))
