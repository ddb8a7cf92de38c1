# SPDX-License-Identifier: MIT
"""Parquet files cut into runs of rows that any process can read by itself, in the batches that every engine reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.reading.plain_frames import simplify_frame
from sfumato.engine.duckdb_rows import explain_damaged
from sfumato.engine.stored_rows import BATCH_ROWS
from sfumato.engine.text_dictionaries import read_coded_columns

UNIT_ROWS = 2 * BATCH_ROWS
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


def read_unit(
    unit: FileUnit, columns: Sequence[str], coded_columns: Sequence[str] | None = None
) -> Iterator[pl.DataFrame]:
    """The rows of a run, some at a time; with `coded_columns`, texts of those and of categories are numbers.

    The ends of batches do not depend on how a file is cut: they are those that Arrow makes of the whole file, which
    also ends a batch where another dictionary of texts begins.
    """
    try:
        with pq.ParquetFile(unit.file, pre_buffer=False, read_dictionary=list(coded_columns or ())) as parquet_file:
            kinds = [parquet_file.schema_arrow.field(name).type for name in columns]
            has_codes = coded_columns is not None and any(map(pa.types.is_dictionary, kinds))
            groups, begins = _find_row_groups(parquet_file.metadata, unit)
            ends = {*range(unit.begin + BATCH_ROWS, unit.end, BATCH_ROWS), unit.end, *(begins[1:] if has_codes else ())}
            batch_parts: list[pa.RecordBatch] = []
            row, skip, remaining_ends = unit.begin, unit.begin - begins[0], sorted(ends)
            for read in parquet_file.iter_batches(BATCH_ROWS, row_groups=groups, columns=list(columns)):
                rest = read.slice(skip)
                skip = max(0, skip - read.num_rows)
                while rest.num_rows and remaining_ends:
                    part = rest.slice(0, remaining_ends[0] - row)
                    batch_parts.append(part)
                    row, rest = row + part.num_rows, rest.slice(part.num_rows)
                    if row == remaining_ends[0]:
                        yield _join_batches(batch_parts, columns, has_codes, unit.file)
                        batch_parts = []
                        remaining_ends.pop(0)
    except (pa.ArrowException, OSError):
        raise explain_damaged(unit.file) from None


def _find_row_groups(metadata: pq.FileMetaData, unit: FileUnit) -> tuple[list[int], list[int]]:
    """The row groups that a run touches, and the row with which each begins."""
    groups, begins, begin = [], [], 0
    for number in range(metadata.num_row_groups):
        end = begin + metadata.row_group(number).num_rows
        if begin < unit.end and end > unit.begin:
            groups.append(number)
            begins.append(begin)
        begin = end
    return groups, begins


def _join_batches(parts: list[pa.RecordBatch], columns: Sequence[str], has_codes: bool, file: Path) -> pl.DataFrame:
    table = pa.Table.from_batches(parts).unify_dictionaries().combine_chunks()
    coded_frame = read_coded_columns(table.to_batches()[0]) if has_codes else pl.DataFrame()
    frame = pl.from_arrow(table.select([name for name in columns if name not in coded_frame.columns]))
    assert isinstance(frame, pl.DataFrame), "a table has columns"
    plain = simplify_frame(frame, str(file))
    return pl.DataFrame([coded_frame[name] if name in coded_frame.columns else plain[name] for name in columns])
