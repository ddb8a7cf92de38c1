# SPDX-License-Identifier: MIT
"""A table of a PostgreSQL server, copied once to the scratch folder, some rows at a time.

The server sends rows while they are written, so that neither side holds the table. What is counted, protected and
committed to is the copy: the table may change in the meantime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.cells.cell_types import TypesOfCells
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.reading.arrow_frame import build_frame
from sfumato.data.reading.database import open_server_table
from sfumato.data.reading.foreign_cells import mark_missing
from sfumato.data.reading.plain_frames import simplify_frame
from sfumato.data.reading.source import Source
from sfumato.engine.duckdb_rows import quote_sql_text, require_duckdb
from sfumato.engine.memory_budget import find_memory_budget
from sfumato.engine.parquet_writer import write_batches
from sfumato.errors import DataError, hide_password
from sfumato.runtime.progress import report_progress

_ROWS = 1 << 16
COPIES = "copied-*.parquet"
"""The files of a table as memory would read it, before any mark makes a cell missing."""


def stage_server_table(source: Source, marks: Sequence[str], scratch: Path) -> Path:
    """Copy a table; decimals become numbers if no digit is lost, as in a text file."""
    source_name = hide_password(source.location)
    raw, types = scratch / "sent.parquet", TypesOfCells()
    with open_server_table(source) as table, pq.ParquetWriter(raw, table.batches.schema) as writer:
        row_count = 0
        for batch in table.batches:
            types.observe(build_frame(pa.Table.from_batches([batch]).select(table.decimals), source_name))
            writer.write_batch(batch)
            row_count += batch.num_rows
            report_progress("reading", row_count)
    column_types = types.decide() | ({} if row_count else dict.fromkeys(table.decimals, pl.String()))
    copy, typed_file = scratch / COPIES.replace("*", "0"), scratch / "typed.parquet"
    write_batches(_read(raw, source_name, lambda rows: rows.cast(column_types)), copy)  # type: ignore[arg-type]  # polars takes a mapping of types
    raw.unlink()
    write_batches(
        _read(copy, source_name, lambda rows: simplify_frame(mark_missing(rows, marks), source_name)), typed_file
    )
    return typed_file


def _read(file: Path, source_name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Iterator[pl.DataFrame]:
    with pq.ParquetFile(file, pre_buffer=False) as parquet_file:
        yield change(build_frame(parquet_file.schema_arrow.empty_table(), source_name))
        for batch in parquet_file.iter_batches(_ROWS):
            yield change(build_frame(pa.Table.from_batches([batch]), source_name))


class SortedTexts:
    """The cells of a copied table as text, in sorted rows: the same however the server orders them."""

    def __init__(self, scratch: Path) -> None:
        """Spell and sort the copy, within the limit of memory."""
        texts, self._file = scratch / "spelled.parquet", scratch / "sorted.parquet"
        files = sorted(scratch.glob(COPIES))
        self.columns: list[str] = pq.read_schema(files[0]).names
        self.height = sum(int(pq.read_metadata(file).num_rows) for file in files)
        spelled_batches = chain.from_iterable(_read(file, file.name, _spell_copied_rows) for file in files)
        write_batches(spelled_batches, texts, self.height, "committing to the input")
        _sort_file(texts, self._file, scratch)
        texts.unlink()

    def iterate(self, column: int) -> Iterator[pl.Series]:
        """The cells of the column at some place, in order."""
        with pq.ParquetFile(self._file, pre_buffer=False) as parquet_file:
            for batch in parquet_file.iter_batches(_ROWS, columns=[f"c{column}"]):
                yield build_frame(pa.Table.from_batches([batch]), self._file.name).to_series()

    def close(self) -> None:
        """Remove the sorted file."""
        self._file.unlink()


def _spell_copied_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Cells as text, columns named by their place: to duckdb `a` and `A` are one name."""
    return pl.DataFrame([spell_cells(cells).alias(f"c{position}") for position, cells in enumerate(rows.get_columns())])


def _sort_file(file: Path, target: Path, scratch: Path) -> None:
    duckdb = require_duckdb()
    settings = {"memory_limit": f"{find_memory_budget() // 2 >> 20}MiB", "temp_directory": str(scratch)}
    query = f"SELECT * FROM read_parquet({quote_sql_text(str(file))}) ORDER BY ALL NULLS FIRST"
    try:
        with duckdb.connect(config=settings) as database:
            database.execute(f"COPY ({query}) TO {quote_sql_text(str(target))} (FORMAT parquet)")
    except duckdb.Error as error:
        raise DataError(
            f"the copy of the table cannot be sorted ({type(error).__name__}); set SFUMATO_MEMORY higher, or "
            "SFUMATO_SCRATCH to a folder with more room"
        ) from None
