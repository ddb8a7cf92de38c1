# SPDX-License-Identifier: MIT
"""Write rows to Parquet in batches."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.writing.rebuild import rebuild_frame
from sfumato.engine.scratch import PREFIX, explain_full_scratch
from sfumato.engine.text_dictionaries import is_coded, write_coded_column
from sfumato.errors import DataError
from sfumato.runtime.progress import report_progress

_GROUP_ROWS = 1 << 20


def write_batches(batches: Iterable[pl.DataFrame], path: Path, total: int | None = None, step: str = "writing") -> int:
    """Write one file; returns its number of rows. Frames are rebuilt, so that nothing below a null is written."""
    count = 0
    writer: pq.ParquetWriter | None = None
    outline: pl.DataFrame | None = None
    try:
        for batch in batches:
            outline = batch
            if batch.height:
                writer = writer or _open_writer(path, batch)
                writer.write_table(_to_arrow(batch, writer.schema), row_group_size=_GROUP_ROWS)
                count += batch.height
            report_progress(step, count, total)
        if writer is None and outline is not None:
            writer = _open_writer(path, outline)
    except OSError:
        if path.parent.name.startswith(PREFIX):
            raise explain_full_scratch(path.parent) from None
        raise DataError(
            f"{path.name}: the data file could not be written; is the disk full? Nothing was published"
        ) from None
    finally:
        if writer is not None:
            writer.close()
    return count


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
