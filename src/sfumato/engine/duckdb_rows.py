# SPDX-License-Identifier: MIT
"""Rows in Parquet files, counted by duckdb within a limit of memory; what does not fit goes to a private folder.

Files are read in the order in which they are given. Batches are read by pyarrow, one file after the other, so that the
order of rows never depends on how many threads count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.arrays import ShortCodes
from sfumato.data.reading.arrow_memory import borrow_numbers
from sfumato.data.reading.near_files import ask_for_file
from sfumato.data.reading.plain_frames import simplify_frame
from sfumato.data.reading.table_reader import explain_changed_type
from sfumato.engine.dense_counts import count_rows_at_places, fits_places, split_places
from sfumato.engine.memory_budget import find_memory_budget, format_size
from sfumato.engine.read_ahead import read_ahead
from sfumato.engine.scratch import explain_full_scratch
from sfumato.engine.stored_rows import (
    BATCH_ROWS,
    COUNT,
    CodeMap,
    RowCounts,
    SizeCounts,
    StoredRows,
    TooManyRows,
    sort_counts,
)
from sfumato.engine.text_dictionaries import read_coded_columns
from sfumato.engine.value_numbers import ValueNumbers
from sfumato.errors import DataError, spell_install

if TYPE_CHECKING:
    import duckdb

_BYTES_A_CODE = 3
_MANY_ROWS = 1 << 18
"""Fewer rows are counted by duckdb: our own way takes a moment to begin."""
_FEW = 1 << 16
"""Of a column with at most this many values, all are kept."""
_SHARE = 0.5
"""The part of the memory that duckdb may use; the rest is for what it returns."""


class DuckdbRows(StoredRows):
    """The rows of some Parquet files of one schema."""

    def __init__(self, files: Sequence[Path], scratch: Path, source: str) -> None:
        """Check that all files can be opened and have the same columns; no row is read."""
        self.files, self.source = tuple(files), source
        self._scratch = scratch
        arrow = check_schemas(self.files)
        self.schema = dict(simplify_frame(_build_batch_frame(arrow.empty_table(), source), source).schema)
        self.height = sum(pq.read_metadata(file).num_rows for file in self.files)
        self._places = {name: position for position, name in enumerate(self.schema)}
        self._missing: dict[str, int] | None = None
        self._values: dict[str, int] = {}
        self._few: dict[str, RowCounts] = {}
        """The values of columns that have few."""
        self._sizes: dict[frozenset[str], SizeCounts] = {}
        """The sizes of classes that were counted before."""
        self._connection: duckdb.DuckDBPyConnection | None = None

    def count_rows(self, columns: Sequence[str]) -> RowCounts:
        """Group in duckdb; cells that differ only as floats (NaN, and the sign of zero) are merged here."""
        if (few := self._count_single(columns)) is not None:
            return few
        row_counts = self._count_at_places(columns) or self._count_distinct(columns)
        self._sizes[frozenset(columns)] = SizeCounts(*np.unique_counts(row_counts.counts))
        return row_counts

    def _count_single(self, columns: Sequence[str]) -> RowCounts | None:
        """The values of a column that has few, which are counted once; None for others, and for several columns."""
        if len(columns) > 1:
            return None
        self.count_values(columns[0])
        return self._few.get(columns[0])

    def _list_widths(self, columns: Sequence[str]) -> list[int] | None:
        """How many values each column has; None if few rows are to be counted, or too many that there could be."""
        if self.height < _MANY_ROWS or not all(_has_plain_values(self.schema[name]) for name in columns):
            return None
        widths = [self.count_values(name) + 1 for name in columns]
        return widths if fits_places(widths) else None

    def _count_at_places(self, columns: Sequence[str]) -> RowCounts | None:
        """Count here, in numbers; None if that is not better."""
        if (widths := self._list_widths(columns)) is None:
            return None
        numbers = [ValueNumbers() for _ in columns]
        place_counts = count_rows_at_places(read_ahead(self._number_files(list(columns), numbers)), widths)
        parts = zip(columns, numbers, split_places(place_counts.places, widths), strict=True)
        cells = [pl.Series(name, n.list_values(), dtype=self.schema[name]).gather(codes) for name, n, codes in parts]
        return sort_counts(pl.DataFrame([*cells, pl.Series(COUNT, place_counts.counts)]))

    def _count_distinct(self, columns: Sequence[str], limit: str = "") -> RowCounts:
        names = ", ".join(map(self._name, columns))
        query = f"SELECT {names}, count(*) FROM {self._relation} GROUP BY ALL{limit}"
        plain = simplify_frame(self._fetch(query, (*columns, COUNT)), self.source)
        if any(plain.schema[name].is_float() for name in columns):
            plain = plain.group_by(columns).agg(pl.col(COUNT).sum())
        return sort_counts(plain)

    def count_coded_rows(self, maps: Mapping[str, CodeMap], most: int | None = None) -> RowCounts:
        """Count here if there is room; else join every map in duckdb, where numbers are grouped faster than texts."""
        widths = [max(codes.missing, int(codes.codes.max(initial=0))) + 1 for codes in maps.values()]
        if self.height >= _MANY_ROWS and fits_places(widths):
            numbers = [ValueNumbers(codes) for codes in maps.values()]
            place_counts = count_rows_at_places(read_ahead(self._number_files(list(maps), numbers)), widths)
            if most is not None and len(place_counts.places) > most:
                raise TooManyRows
            lines = zip(maps, split_places(place_counts.places, widths), strict=True)
            return RowCounts(
                pl.DataFrame([pl.Series(name, borrow_numbers(line)) for name, line in lines]), place_counts.counts
            )
        return self._count_joined(maps, most)

    def _count_joined(self, maps: Mapping[str, CodeMap], most: int | None) -> RowCounts:
        joins, cells = [], []
        for number, (name, codes) in enumerate(maps.items()):
            table = f"map_{number}"
            mapping = pl.DataFrame({"value": codes.values, "code": codes.codes}, schema_overrides={"code": pl.Int32})
            self._connect().register(table, mapping.to_arrow(compat_level=pl.CompatLevel.oldest()))
            joins.append(f"LEFT JOIN {table} ON r.{self._name(name)} = {table}.value")
            cells.append(f"coalesce({table}.code, {codes.missing})::INTEGER")
        limit = "" if most is None else f" LIMIT {most + 1}"
        query = f"SELECT {', '.join(cells)}, count(*) FROM {self._relation} {' '.join(joins)} GROUP BY ALL{limit}"
        frame = self._fetch(query, (*maps, COUNT))
        if most is not None and frame.height > most:
            raise TooManyRows
        return sort_counts(frame)

    def count_sizes(self, columns: Sequence[str]) -> SizeCounts:
        """Group in duckdb, then group the sizes of the groups."""
        if frozenset(columns) not in self._sizes:
            self._sizes[frozenset(columns)] = self._group_sizes(columns)
        return self._sizes[frozenset(columns)]

    def _group_sizes(self, columns: Sequence[str]) -> SizeCounts:
        if (few := self._count_single(columns)) is not None:
            return SizeCounts(*np.unique_counts(few.counts))
        if (widths := self._list_widths(columns)) is not None:
            return SizeCounts(*np.unique_counts(count_rows_at_places(self.iterate_numbered(columns), widths).counts))
        names = ", ".join(self._name_plain(name) for name in columns)
        sizes = f"SELECT count(*) AS size FROM {self._relation} GROUP BY {names}"
        frame = self._fetch(f"SELECT size, count(*) FROM ({sizes}) GROUP BY 1 ORDER BY 1", ("size", "classes"))
        return SizeCounts(frame["size"].to_numpy(writable=True), frame["classes"].to_numpy(writable=True))

    def estimate_tuples(self, columns: Sequence[str]) -> int:
        """Estimate in one pass, from hashes."""
        names = ", ".join(self._name_plain(name) for name in columns)
        estimate = self._fetch(f"SELECT approx_count_distinct(hash({names})) FROM {self._relation}", ("n",))
        return int(estimate["n"][0])

    def count_values(self, column: str) -> int:
        """Group in duckdb: unlike a count of distinct values, grouping goes to disk."""
        if column not in self._values:
            row_counts = self._count_distinct([column], f" LIMIT {_FEW + 1}")
            if len(row_counts.counts) <= _FEW:
                self._few[column] = row_counts
                self._values[column] = len(row_counts.counts) - row_counts.frame[column].null_count()
            else:
                cell = self._name_plain(column)
                values = f"SELECT {cell} AS v FROM {self._relation} WHERE {cell} IS NOT NULL GROUP BY 1"
                self._values[column] = int(self._fetch(f"SELECT count(*) FROM ({values})", ("n",))["n"][0])
        return self._values[column]

    def count_missing(self) -> dict[str, int]:
        """Add up what the files say of themselves; count the other columns all at once."""
        if self._missing is None:
            stated_counts = add_stated_nulls(self.files, self.schema)
            rest = [name for name in self.schema if name not in stated_counts]
            cells = ", ".join(f"count({self._name_plain(name)})" for name in rest)
            known_counts = self._fetch(f"SELECT {cells} FROM {self._relation}", rest).row(0, named=True) if rest else {}
            missing = {name: self.height - int(count) for name, count in known_counts.items()}
            self._missing = {name: {**stated_counts, **missing}[name] for name in self.schema}
        return self._missing

    def iterate_batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """The rows of each file in turn."""
        chosen_columns = list(self.schema) if columns is None else list(columns)
        for file, batch in read_ahead(self._read_files(chosen_columns, ())):
            yield simplify_frame(
                _build_batch_frame(pa.Table.from_batches([batch]), str(file)).select(chosen_columns), str(file)
            )

    def iterate_coded_batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """The rows of each file in turn; texts that the files hold as dictionaries stay numbers."""
        return read_ahead(self._code_files(list(self.schema) if columns is None else list(columns)))

    def _code_files(self, chosen_columns: list[str]) -> Iterator[pl.DataFrame]:
        for file, batch in self._read_files(
            chosen_columns, [name for name in chosen_columns if name in self._repetitive]
        ):
            coded_frame = read_coded_columns(batch)
            rest = [name for name in batch.schema.names if name not in coded_frame.columns]
            plain = simplify_frame(
                _build_batch_frame(pa.Table.from_batches([batch.select(rest)]), str(file)), str(file)
            )
            yield pl.DataFrame(
                [coded_frame[name] if name in coded_frame.columns else plain[name] for name in chosen_columns]
            )

    def iterate_numbered(self, columns: Sequence[str]) -> Iterator[ShortCodes]:
        """From the numbers that the files hold, without a frame in between."""
        return read_ahead(self._number_files(list(columns), [ValueNumbers() for _ in columns]))

    def _number_files(self, chosen_columns: list[str], numbers: list[ValueNumbers]) -> Iterator[ShortCodes]:
        for file, batch in self._read_files(
            chosen_columns, [name for name in chosen_columns if name in self._repetitive]
        ):
            lines = np.empty((len(chosen_columns), batch.num_rows), dtype=np.uint16)
            for number, name, line in zip(numbers, chosen_columns, lines, strict=True):
                if not number.number_array(batch.column(name), line):
                    rows = pa.Table.from_batches([batch.select([name])])
                    number.number_cells(simplify_frame(_build_batch_frame(rows, str(file)), str(file))[name], line)
            yield lines

    def _read_files(self, columns: list[str], coded_columns: Sequence[str]) -> Iterator[tuple[Path, pa.RecordBatch]]:
        for file in self.files:
            try:
                with pq.ParquetFile(file, pre_buffer=False, read_dictionary=list(coded_columns)) as parquet_file:
                    for batch in parquet_file.iter_batches(BATCH_ROWS, columns=columns):
                        yield file, batch
            except (pa.ArrowException, OSError):
                raise explain_damaged(file) from None

    @cached_property
    def _repetitive(self) -> frozenset[str]:
        return find_repetitive_columns(self.files, self.schema)

    def close(self) -> None:
        """Close the connection, which frees its memory."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def _relation(self) -> str:
        """The files and nothing else: no name is a pattern, and no folder's name a column, as in `year=2020/`.

        Columns are named by their place: to duckdb `a` and `A` are one name.
        """
        names = ", ".join(quote_sql_text(re.sub(r"[\[*?]", r"[\g<0>]", str(file))) for file in self.files)
        places = ", ".join(map(self._name, self.schema))
        return f"read_parquet([{names}], hive_partitioning = false) AS r({places})"

    def _name(self, name: str) -> str:
        """A column in SQL."""
        return f"c{self._places[name]}"

    def _name_plain(self, name: str) -> str:
        """A column in SQL; NaN is missing, as everywhere, and there is one zero."""
        column = self._name(name)
        if not self.schema[name].is_float():
            return column
        return f"(CASE WHEN isnan({column}) THEN NULL ELSE {column} + 0.0 END)"

    def _connect(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            self._connection = open_connection(self._scratch)
        return self._connection

    def _fetch(self, query: str, names: Sequence[str]) -> pl.DataFrame:
        """The result of a query, under the given names: some of ours cannot be written in SQL."""
        duckdb = require_duckdb()
        try:
            result = self._connect().sql(query).to_arrow_table()
            return _build_batch_frame(result.rename_columns(list(names)), self.source)
        except duckdb.OutOfMemoryException as error:
            if "temp_directory" in str(error):  # there was memory, and no room for what does not fit in it
                raise explain_full_scratch(self._scratch) from None
            raise DataError(
                f"{self.source}: counting needs more than {format_size(find_memory_budget())} of memory; set "
                "SFUMATO_MEMORY higher, or give columns of very many values a coarser hierarchy or another role"
            ) from None
        except duckdb.Error as error:
            if "No space left" in str(error):
                raise explain_full_scratch(self._scratch) from None
            raise self._explain_failure(error) from None

    def _explain_failure(self, error: Exception) -> DataError:
        """Which file cannot be read: duckdb's own text may hold a cell."""
        for file in self.files:
            try:
                with pq.ParquetFile(file) as parquet_file:
                    for _ in parquet_file.iter_batches(BATCH_ROWS):
                        pass
            except (pa.ArrowException, OSError):
                return explain_damaged(file)
        return DataError(f"{self.source}: duckdb cannot count its rows ({type(error).__name__}); try --engine memory")


def open_connection(scratch: Path) -> duckdb.DuckDBPyConnection:
    """A connection within its share of memory, which puts on disk what does not fit."""
    connection: duckdb.DuckDBPyConnection = require_duckdb().connect(
        config={
            "memory_limit": f"{int(find_memory_budget() * _SHARE) >> 20}MiB",
            "temp_directory": str(scratch),
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
    )
    return connection


def _has_plain_values(kind: pl.DataType) -> bool:
    """Whether a column of such values can be made again from a list of them."""
    return kind in (pl.String, pl.Boolean, pl.Date) or kind.is_integer()


def require_duckdb() -> Any:
    """Import duckdb, which is optional."""
    try:
        import duckdb
    except ImportError:
        raise DataError(f"the engine duckdb is not installed; run: {spell_install('duckdb')}") from None
    return duckdb


def find_repetitive_columns(files: Sequence[Path], schema: Mapping[str, pl.DataType]) -> frozenset[str]:
    """The text columns that take so few bytes a cell that they must be dictionaries of few texts."""
    sizes, cells = dict.fromkeys(schema, 0), dict.fromkeys(schema, 0)
    for file in files:
        metadata = pq.read_metadata(file)
        for group in range(metadata.num_row_groups):
            for column in map(metadata.row_group(group).column, range(metadata.num_columns)):
                if column.path_in_schema in sizes:
                    sizes[column.path_in_schema] += column.total_uncompressed_size
                    cells[column.path_in_schema] += column.num_values
    texts = (name for name, kind in schema.items() if kind == pl.String)
    return frozenset(name for name in texts if cells[name] and sizes[name] <= _BYTES_A_CODE * cells[name])


def add_stated_nulls(files: Sequence[Path], schema: Mapping[str, pl.DataType]) -> dict[str, int]:
    """How many cells are missing in the columns of which all files say so; not of floats, where NaN is missing, too."""
    null_counts = {name: 0 for name, kind in schema.items() if not kind.is_float()}
    for file in files:
        metadata = pq.read_metadata(file)
        for group in range(metadata.num_row_groups):
            for column in map(metadata.row_group(group).column, range(metadata.num_columns)):
                statistics = column.statistics
                if statistics is None or not statistics.has_null_count:
                    null_counts.pop(column.path_in_schema, None)
                elif column.path_in_schema in null_counts:
                    null_counts[column.path_in_schema] += statistics.null_count
    return null_counts


def check_schemas(files: Sequence[Path]) -> pa.Schema:
    """The columns that all files have; an error names the first file and column that differ."""
    first: pa.Schema | None = None
    for file in files:
        try:
            schema = pq.read_schema(file)
        except (pa.ArrowException, OSError):
            raise explain_damaged(file) from None
        if first is None:
            first = schema
        elif schema.names != first.names:
            raise DataError(f"{file}: its columns differ from those of {files[0]}; files of one glob must agree")
        changed_columns = [
            field.name for field in schema if not _are_same_types(field.type, first.field(field.name).type)
        ]
        if changed_columns:
            raise explain_changed_type(file, changed_columns, files[0])
    assert first is not None, "no files"
    return first


def _are_same_types(first: pa.DataType, second: pa.DataType) -> bool:
    return bool(_get_plain_type(first) == _get_plain_type(second))


def _get_plain_type(kind: pa.DataType) -> pa.DataType:
    """The type without the ways of storing it: categories and large or viewed texts are texts."""
    if pa.types.is_dictionary(kind):
        return _get_plain_type(kind.value_type)
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return pa.large_string() if is_text else kind


def explain_damaged(file: Path) -> DataError:
    """The file that cannot be read."""
    if not file.exists():
        return DataError(f"{file}: the file does not exist{ask_for_file(file)}")
    return DataError(f"{file}: this is not a Parquet file, or it is damaged or truncated; write it again")


def quote_sql_text(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def _build_batch_frame(table: pa.Table, source: str) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame), source
    return frame
