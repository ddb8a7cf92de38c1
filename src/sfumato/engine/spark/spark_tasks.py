# SPDX-License-Identifier: MIT
"""What Spark's executors do: read runs of rows, and count them or change them. Nothing here needs Spark.

A task gets the numbers of its runs. It does the same whenever and wherever it runs, so that a lost executor costs time
and nothing else. Cells cross Spark as 64-bit numbers, floats and texts (`KeyTypes`), or packed with their own types.
"""

from __future__ import annotations

import io
import pickle
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

import sfumato
from sfumato.engine.aligned_batches import ROW, AlignedBatch
from sfumato.engine.file_units import FileUnit, read_unit
from sfumato.engine.stored_rows import COUNT, CodeMap
from sfumato.errors import DataError, SfumatoError

FrameChange = Callable[[pl.DataFrame, int], pl.DataFrame]
"""What is made of some rows, given the number of the first one in the whole table."""
MOST_HELD = 1 << 20
"""Distinct rows that a task holds; when it has more, it hands them on to be counted together."""
_WHOLE = (pl.Boolean, pl.Date, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)
PACKED_COLUMNS = "unit long, part long, rows binary"
_PACKED_SCHEMA = pa.schema([("unit", pa.int64()), ("part", pa.int64()), ("rows", pa.binary())])


@dataclass(frozen=True)
class KeyTypes:
    """Columns to be grouped by, under names and in types that Spark keeps as they are."""

    schema: Mapping[str, pl.DataType]

    @property
    def names(self) -> list[str]:
        """The names in Spark, which takes `a` and `A` for one column, and dots and ticks for signs."""
        return [f"c{number}" for number in range(len(self.schema))]

    @property
    def declaration(self) -> str:
        """The columns and the count, as Spark declares them."""
        kinds = {pl.Int64: "long", pl.Float64: "double", pl.String: "string"}
        columns = (
            f"{name} {kinds[get_carrier(kind)]}" for name, kind in zip(self.names, self.schema.values(), strict=True)
        )
        return ", ".join([*columns, "n long"])

    def encode(self, counts: pl.DataFrame) -> pa.RecordBatch:
        """Distinct rows with their counts, for Spark."""
        cells = [
            (counts[name].to_physical() if kind == pl.Date else counts[name]).cast(get_carrier(kind)).alias(spark_name)
            for spark_name, (name, kind) in zip(self.names, self.schema.items(), strict=True)
        ]
        frame = pl.DataFrame([*cells, counts[COUNT].cast(pl.Int64).alias("n")])
        table = frame.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
        kinds = [pa.string() if pa.types.is_large_string(kind) else kind for kind in table.schema.types]
        whole = table.cast(pa.schema(zip(table.column_names, kinds, strict=True))).combine_chunks()
        return whole.to_batches()[0]

    def decode(self, grouped_table: pa.Table) -> pl.DataFrame:
        """The same from Spark, in their own types."""
        frame = pl.from_arrow(grouped_table)
        assert isinstance(frame, pl.DataFrame)
        columns = []
        for spark_name, (name, kind) in zip(self.names, self.schema.items(), strict=True):
            cells = frame[spark_name].cast(pl.Int32) if kind == pl.Date else frame[spark_name]
            columns.append(cells.cast(kind).alias(name))
        return pl.DataFrame([*columns, frame["n"].alias(COUNT)])


def get_carrier(kind: pl.DataType) -> type[pl.DataType]:
    """The type in which cells of some type cross Spark without loss."""
    if kind.is_float():
        return pl.Float64
    return pl.Int64 if kind in _WHOLE else pl.String


@dataclass(frozen=True)
class CountTask:
    """Count the distinct rows of some runs."""

    units: Sequence[FileUnit]
    columns: Sequence[str]
    keys: KeyTypes
    maps: Mapping[str, CodeMap] | None = None
    """Codes instead of cells."""

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Go through the runs that were given, and hand on what was counted."""
        row_counts = pl.DataFrame()
        with hide_cells():
            for unit in _list_units(numbers, self.units):
                for rows in read_unit(unit, self.columns):
                    row_counts = _add_counts(row_counts, self._prepare(rows))
                    if row_counts.height > MOST_HELD:
                        yield self.keys.encode(row_counts)
                        row_counts = pl.DataFrame()
            if row_counts.height:
                yield self.keys.encode(row_counts)

    def _prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        if self.maps is None:
            return rows
        return pl.DataFrame([codes.map_cells(rows[name]) for name, codes in self.maps.items()])


class ColumnCount(NamedTuple):
    """The values of a column with how often they occur, None if they are too many; and its missing cells."""

    values: pl.DataFrame | None
    missing: int


@dataclass(frozen=True)
class ColumnTask:
    """Count the values of each column of some runs, as long as they are few: all columns at once, and no shuffle."""

    units: Sequence[FileUnit]
    schema: Mapping[str, pl.DataType]
    most: int
    """A column with more values is given up."""

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What was counted in all runs that were given, packed."""
        counts = {name: ColumnCount(pl.DataFrame(), 0) for name in self.schema}
        with hide_cells():
            for unit in _list_units(numbers, self.units):
                for rows in read_unit(unit, list(self.schema)):
                    counts = {name: self._add(counts[name], rows[name]) for name in self.schema}
            packed_counts = pickle.dumps(counts)
        yield pa.RecordBatch.from_arrays([[0], [0], [packed_counts]], schema=_PACKED_SCHEMA)

    def _add(self, column_count: ColumnCount, cells: pl.Series) -> ColumnCount:
        missing = column_count.missing + cells.null_count()
        if column_count.values is None or cells.head(2 * self.most).n_unique() > self.most:
            return ColumnCount(None, missing)
        values = _add_counts(column_count.values, cells.to_frame())
        return ColumnCount(values if values.height <= self.most else None, missing)

    def merge(self, packed_counts: Iterable[bytes]) -> dict[str, ColumnCount]:
        """What all tasks counted together."""
        parts: list[dict[str, ColumnCount]] = [pickle.loads(counts) for counts in packed_counts]
        return {name: self._merge_column(name, [part[name] for part in parts]) for name in self.schema}

    def _merge_column(self, name: str, parts: Sequence[ColumnCount]) -> ColumnCount:
        missing = sum(part.missing for part in parts)
        known_values = [part.values for part in parts if part.values is not None]
        if len(known_values) < len(parts):
            return ColumnCount(None, missing)
        empty = pl.DataFrame(schema={name: self.schema[name], COUNT: pl.Int64})
        counts = pl.concat([empty, *(part for part in known_values if part.height)])
        values = counts.group_by(name).agg(pl.col(COUNT).sum())
        return ColumnCount(values if values.height <= self.most else None, missing)


def pack_frame(frame: pl.DataFrame) -> bytes:
    """A frame as bytes, with its types."""
    buffer = io.BytesIO()
    frame.write_ipc_stream(buffer, compression="lz4")
    return buffer.getvalue()


@dataclass(frozen=True)
class ChangeTask:
    """Change the rows of some runs, and pack what comes out with its types."""

    units: Sequence[FileUnit]
    columns: Sequence[str]
    change: Callable[[pl.DataFrame, int], Any]
    """What is made of some rows, given the number of the first one in the whole table."""
    coded_columns: Sequence[str] | None = None
    """The columns that are read as numbers for their texts; with None, all texts are spelled out."""
    pack: Callable[[Any], bytes] = pack_frame
    """How it is packed."""

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What was made of each batch of rows, packed, with its place in the order."""
        with hide_cells():
            for number in list_numbers(numbers):
                offset = self.units[number].offset
                for part, rows in enumerate(read_unit(self.units[number], self.columns, self.coded_columns)):
                    packed_rows = self.pack(self.change(rows, offset))
                    offset += rows.height
                    yield pa.RecordBatch.from_arrays([[number], [part], [packed_rows]], schema=_PACKED_SCHEMA)


@dataclass(frozen=True)
class SampleCells:
    """A change that keeps every n-th known cell of each column, as lists in one row."""

    steps: Mapping[str, int]
    known_counts: Mapping[int, Mapping[str, int]]
    """The number of a row that begins a batch → column → how many known cells lie before it."""

    def __call__(self, rows: pl.DataFrame, first: int) -> pl.DataFrame:
        """The cells of a batch."""
        columns = []
        for name, step in self.steps.items():
            cells = rows[name].drop_nulls()
            kept_cells = cells.gather(np.arange(-self.known_counts[first][name] % step, len(cells), step))
            columns.append(kept_cells.implode().alias(name))
        return pl.DataFrame(columns)


@dataclass(frozen=True)
class CompareTask:
    """Compare some runs with what was published of them, which lies in one file."""

    units: Sequence[FileUnit]
    columns: Sequence[str]
    published_file: Path
    taken_file: Path | None
    """The file with the numbers of the published originals, if some were left out."""
    places: Mapping[int, int]
    """With `taken_file`: the number of a row that begins or ends a batch → how many rows before it were published."""
    compare: Callable[[AlignedBatch], Any]

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One packed finding for each batch of rows, with its place in the order."""
        with hide_cells():
            for number in list_numbers(numbers):
                offset = self.units[number].offset
                for part, rows in enumerate(read_unit(self.units[number], self.columns)):
                    packed_finding = pickle.dumps(self.compare(self._align(rows, offset)))
                    offset += rows.height
                    yield pa.RecordBatch.from_arrays([[number], [part], [packed_finding]], schema=_PACKED_SCHEMA)

    def _align(self, rows: pl.DataFrame, offset: int) -> AlignedBatch:
        begin, end = (self.places.get(row, row) for row in (offset, offset + rows.height))
        if self.taken_file is not None:
            taken_numbers = _read_span(self.taken_file, begin, end, {ROW: pl.Int64()})[ROW]
            rows = rows[(taken_numbers - offset).to_numpy()]
        return AlignedBatch(rows, _read_span(self.published_file, begin, end, rows.schema))


@dataclass(frozen=True)
class ReachTask:
    """Find out whether executors see the files that the driver sees, and run the same program."""

    sizes: Sequence[tuple[Path, int]]
    version: str

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One problem at most, in words."""
        own_version = sfumato.__version__
        problem = "" if own_version == self.version else f"version {own_version}"
        for number in list_numbers(numbers):
            file, size = self.sizes[number]
            if not problem and not _can_read(file, size):
                problem = f"file {file}"
        yield pa.RecordBatch.from_arrays([pa.array([problem], pa.string())], ["problem"])


def _can_read(file: Path, size: int) -> bool:
    try:
        with file.open("rb"):
            return file.stat().st_size == size
    except OSError:
        return False


def unpack_frame(packed_frame: bytes) -> pl.DataFrame:
    """The frame in some bytes."""
    return pl.read_ipc_stream(packed_frame)


@contextmanager
def hide_cells() -> Iterator[None]:
    """Errors go to the logs of a cluster: one that is not ours may hold a cell, so that only its place is reported."""
    try:
        yield
    except SfumatoError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        location = traceback.extract_tb(error.__traceback__)[-1]
        raise DataError(
            f"a task failed with {type(error).__name__} in {Path(location.filename).name}, line {location.lineno}"
        ) from None


def list_numbers(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    """The numbers of runs that a task was given."""
    for batch in batches:
        yield from batch.column(0).to_pylist()


def _list_units(batches: Iterable[pa.RecordBatch], units: Sequence[FileUnit]) -> Iterator[FileUnit]:
    return (units[number] for number in list_numbers(batches))


def _read_span(file: Path, begin: int, end: int, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Some rows of a file; `schema` names the columns."""
    parts = list(read_unit(FileUnit(file, begin, end, begin), list(schema))) if end > begin else []
    return pl.concat(parts) if parts else pl.DataFrame(schema=dict(schema))


def _add_counts(row_counts: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    counts = rows.group_by(rows.columns).agg(pl.len().cast(pl.Int64).alias(COUNT))
    if not row_counts.height:
        return counts
    return pl.concat([row_counts, counts]).group_by(rows.columns).agg(pl.col(COUNT).sum())
