# SPDX-License-Identifier: MIT
"""Write rows to Parquet some at a time, to one file or to parts of bounded length."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.writing.rebuild import rebuild_frame
from sfumato.engine.coded_columns import is_coded, write_coded_column
from sfumato.engine.scratch import PREFIX, explain_full_scratch
from sfumato.errors import DataError
from sfumato.progress import report_progress

_GROUP_ROWS = 1 << 20


def write_batches(batches: Iterable[pl.DataFrame], path: Path, total: int | None = None, step: str = "writing") -> int:
    """Write one file; returns its number of rows. Frames are rebuilt, so that nothing below a null is written."""
    return sum(_write_parts(batches, lambda _: path, None, total, step))


def write_partitioned(
    batches: Iterable[pl.DataFrame], folder: Path, rows_a_file: int, total: int | None = None
) -> list[Path]:
    """Write `part-00000.parquet` and so on, each of at most so many rows."""
    folder.mkdir(parents=True, exist_ok=True)

    def name_part(number: int) -> Path:
        return folder / f"part-{number:05d}.parquet"

    counts = _write_parts(batches, name_part, rows_a_file, total, "writing")
    return [name_part(number) for number in range(len(counts))]


def _write_parts(
    batches: Iterable[pl.DataFrame],
    name_part: Callable[[int], Path],
    rows_a_file: int | None,
    total: int | None,
    step: str,
) -> list[int]:
    """The number of rows of each file that was written."""
    counts: list[int] = []
    writer: pq.ParquetWriter | None = None
    outline: pl.DataFrame | None = None
    try:
        for batch in batches:
            rest = outline = batch
            while rest.height:
                room = rest.height if rows_a_file is None or not counts else rows_a_file - counts[-1]
                if writer is None or not room:
                    if writer is not None:
                        writer.close()
                    writer = _open_writer(name_part(len(counts)), rest)
                    counts.append(0)
                    room = rest.height if rows_a_file is None else rows_a_file
                writer.write_table(_to_arrow(rest.head(room), writer.schema), row_group_size=_GROUP_ROWS)
                counts[-1] += min(room, rest.height)
                rest = rest.slice(room)
            report_progress(step, sum(counts), total)
        if writer is None and outline is not None:
            writer = _open_writer(name_part(0), outline)
            counts.append(0)
    except OSError:
        if name_part(0).parent.name.startswith(PREFIX):
            raise explain_full_scratch(name_part(0).parent) from None
        raise DataError(
            f"{name_part(0).name}: the data file could not be written; is the disk full? Nothing was published"
        ) from None
    finally:
        if writer is not None:
            writer.close()
    return counts


def _open_writer(path: Path, rows: pl.DataFrame) -> pq.ParquetWriter:
    """A file for rows of such types; a column of numbers for texts is one of texts to every reader."""
    schema = _to_arrow(rows.clear(), None).schema
    has_codes = any(pa.types.is_dictionary(kind) for kind in schema.types)
    return pq.ParquetWriter(path, schema, compression="zstd", store_schema=not has_codes)


def _to_arrow(frame: pl.DataFrame, schema: pa.Schema | None) -> pa.Table:
    """The cells and nothing else of their memory, in types that every reader knows, and those of the file."""
    coded_names = [column.name for column in frame.get_columns() if is_coded(column)]
    plain = rebuild_frame(frame.drop(coded_names)).to_arrow(compat_level=pl.CompatLevel.oldest())
    if not coded_names and (schema is None or plain.schema.equals(schema)):
        return plain
    columns = [write_coded_column(frame[n]) if n in coded_names else plain.column(n) for n in frame.columns]
    if schema is not None:
        columns = [_fit_type(cells, kind) for cells, kind in zip(columns, schema.types, strict=True)]
    return pa.Table.from_arrays(columns, names=frame.columns)


def _fit_type(cells: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """Texts as the file holds them: some batches have them as numbers, and others do not."""
    if pa.types.is_dictionary(cells.type) == pa.types.is_dictionary(kind):
        return cells
    return cells.dictionary_encode() if pa.types.is_dictionary(kind) else cells.cast(kind)
