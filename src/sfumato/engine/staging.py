# SPDX-License-Identifier: MIT
"""Bring what a data path names into Parquet files with the types that it would have in memory.

Parquet files stay where they are, unless a column has a type that a table spells as text (times, decimals). Text files
and tables of DuckDB and SQLite files are copied to the scratch folder, some rows at a time: cells first as text, then
as the types that all of them together have, as if the file had been read at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.cells.cell_types import TypesOfCells, spell_points
from sfumato.data.cells.spelled_dates import find_stored_forms, may_need_form, read_dates
from sfumato.data.reading.arrow_frame import build_frame
from sfumato.data.reading.file_kinds import HEAD, detect_file_kind, name_kind
from sfumato.data.reading.foreign_cells import mark_missing
from sfumato.data.reading.foreign_worker import RefusedFile, choose_name, quote_name
from sfumato.data.reading.plain_frames import simplify_frame
from sfumato.data.reading.source import parse_source
from sfumato.data.reading.table_reader import list_input_files
from sfumato.data.reading.text_table import TextFormat, iterate_text_cells, read_first_bytes
from sfumato.engine.duckdb_rows import DuckdbRows, check_schemas, explain_damaged, quote_sql_text, require_duckdb
from sfumato.engine.engine_names import ChosenEngine
from sfumato.engine.parquet_writer import write_batches
from sfumato.engine.server_copy import stage_server_table
from sfumato.engine.spark.spark_session import require_spark
from sfumato.engine.stored_rows import StoredRows
from sfumato.errors import DataError, hide_password, quote_some_names

_ROWS = 1 << 16
_PLAIN = (pl.Boolean, pl.Date, pl.String, pl.Categorical, pl.Enum)


class StagedText(NamedTuple):
    """Cells as text in a Parquet file, and the types that they have together."""

    path: Path
    types: dict[str, pl.DataType]


class DateReading(NamedTuple):
    """How columns of dates are read: by these forms, and by the only one that fits unless the text is kept."""

    forms: Mapping[str, str]
    keep: Collection[str] = ()


_NO_FORMATS = DateReading({})


def open_stored_rows(
    path: str | Path,
    text: TextFormat,
    scratch: Path,
    engine: ChosenEngine = "duckdb",
    dates: DateReading = _NO_FORMATS,
) -> StoredRows:
    """The rows that a data path names, for an engine to count; an error if it cannot reach them."""
    if engine == "spark":
        require_spark()
    source, source_name = parse_source(path), hide_password(str(path))
    files = list_input_files(path)
    kinds = {source.kind if source.kind != "file" else detect_file_kind(read_first_bytes(file, HEAD)) for file in files}
    if kinds == {None}:
        staged_files = _stage_text_files(files, text, scratch)
    elif text.columns is not None:
        raise DataError(f"{source_name}: the engine {engine} names the columns of text files only; use --engine memory")
    elif source.kind == "spark" and engine == "spark":
        from sfumato.engine.spark.spark_table import stage_spark_table

        staged_files = stage_spark_table(str(source.table), scratch)
    elif source.kind == "spark":
        raise DataError(f"{source_name}: tables of Spark are read with --engine spark")
    elif source.kind == "postgresql":
        staged_files = [stage_server_table(source, text.missing_marks, scratch)]
    elif kinds == {"parquet"}:
        staged_files = _stage_parquet(files, scratch)
    elif kinds == {"duckdb"}:
        staged_files = _stage_duckdb(files[0], source.table, text, scratch)
    elif kinds == {"sqlite"}:
        staged_files = _stage_sqlite(files[0], source.table, text, scratch)
    else:
        names = " and ".join(sorted("text" if kind is None else name_kind(kind) for kind in kinds))
        raise DataError(
            f"{source_name}: the engine {engine} reads Parquet and text files, all of one kind, and tables of DuckDB, "
            f"SQLite and PostgreSQL; this is {names}. Use --engine memory, or convert it"
        )
    forms = _find_forms(staged_files, dates)
    staged_files = _stage_dates(staged_files, {**forms, **dates.forms}, scratch, source_name)
    rows = open_parquet(staged_files, scratch, source_name, engine) if staged_files else None
    if rows is None or not rows.height:
        raise DataError(f"{source_name}: the file has a header and no rows")
    rows.date_forms = forms
    return rows


def open_parquet(files: Sequence[Path], scratch: Path, source: str, engine: ChosenEngine) -> StoredRows:
    """Parquet files of plain types, for an engine to count."""
    if engine == "spark":
        from sfumato.engine.spark.spark_rows import SparkRows

        return SparkRows(files, source)
    return DuckdbRows(files, scratch, source)


def _stage_parquet(files: Sequence[Path], scratch: Path) -> list[Path]:
    """The files themselves, or copies in which times and decimals are spelled as text."""
    frame = build_frame(check_schemas(files).empty_table(), files[0])
    if all(kind.is_integer() or kind.is_float() or kind in _PLAIN for kind in frame.schema.values()):
        simplify_frame(frame, str(files[0]))  # refuses names that polars reads as patterns
        return list(files)
    return [
        _rewrite(file, scratch / f"plain-{number}.parquet", lambda batch: batch) for number, file in enumerate(files)
    ]


def _find_forms(files: Sequence[Path], dates: DateReading) -> dict[str, str]:
    """The columns of text that only one form reads as dates, as if the table had been read at once."""
    if not files:
        return {}
    schema = build_frame(check_schemas(files).empty_table(), files[0]).schema
    texts = [name for name, kind in schema.items() if kind == pl.String and name not in (*dates.keep, *dates.forms)]
    head = next(_iterate_columns(files, texts), pl.DataFrame())
    date_columns = [name for name in head.columns if may_need_form(head[name])]
    return find_stored_forms(_iterate_columns(files, date_columns))


def _stage_dates(files: Sequence[Path], forms: Mapping[str, str], scratch: Path, source_name: str) -> list[Path]:
    """The same files, or copies in which text has become dates."""
    if not forms:
        return list(files)
    return [
        _rewrite(file, scratch / f"dated-{number}.parquet", lambda batch: read_dates(batch, forms, source_name))
        for number, file in enumerate(files)
    ]


def _iterate_columns(files: Sequence[Path], names: list[str]) -> Iterator[pl.DataFrame]:
    for file in files if names else ():
        try:
            with pq.ParquetFile(file, pre_buffer=False) as parquet_file:
                for batch in parquet_file.iter_batches(_ROWS, columns=names):
                    yield build_frame(pa.Table.from_batches([batch]), file)
        except (pa.ArrowException, OSError):
            raise explain_damaged(file) from None


def _stage_text_files(files: Sequence[Path], text: TextFormat, scratch: Path) -> list[Path]:
    """Each file by its own types; where they differ between files, numbers become decimals, and all else text."""
    parts: list[StagedText] = []
    for number, file in enumerate(files):
        part = _write_texts(iterate_text_cells(file, text), scratch / f"text-{number}.parquet", text.decimal)
        if parts and list(part.types) != list(parts[0].types):
            raise DataError(f"{file}: its columns differ from those of {files[0]}; files of one glob must agree")
        parts.append(part)
    common_types = {name: _unify_types([part.types[name] for part in parts]) for name in parts[0].types}

    def cast_to(types: dict[str, pl.DataType]) -> Callable[[pl.DataFrame], pl.DataFrame]:
        numbers = [name for name, kind in types.items() if kind.is_numeric()]
        return lambda batch: (
            batch.with_columns(spell_points(batch.select(numbers), text.decimal)).cast(types).cast(common_types)  # type: ignore[arg-type]  # polars takes a mapping of types
        )

    staged_files = []
    for number, part in enumerate(parts):
        staged_files.append(_rewrite(part.path, scratch / f"typed-{number}.parquet", cast_to(part.types)))
        part.path.unlink()
    return staged_files


def _unify_types(types: Sequence[pl.DataType]) -> pl.DataType:
    if len(set(types)) == 1:
        return types[0]
    return pl.Float64() if all(kind.is_numeric() for kind in types) else pl.String()


def _write_texts(batches: Iterator[pl.DataFrame], path: Path, decimal: str = ".") -> StagedText:
    types = TypesOfCells(decimal)

    def observe() -> Iterator[pl.DataFrame]:
        for batch in batches:
            types.observe(batch)
            yield batch

    write_batches(observe(), path, step="reading")
    return StagedText(path, types.decide())


def _rewrite(file: Path, target: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Path:
    """A copy of a Parquet file with other types."""

    def iterate_changed_batches() -> Iterator[pl.DataFrame]:
        try:
            with pq.ParquetFile(file, pre_buffer=False) as parquet_file:
                yield simplify_frame(change(build_frame(parquet_file.schema_arrow.empty_table(), file)), str(file))
                for batch in parquet_file.iter_batches(_ROWS):
                    yield simplify_frame(change(build_frame(pa.Table.from_batches([batch]), file)), str(file))
        except (pa.ArrowException, OSError):
            raise explain_damaged(file) from None

    write_batches(iterate_changed_batches(), target, step="reading")
    return target


def _stage_duckdb(file: Path, table: str | None, text: TextFormat, scratch: Path) -> list[Path]:
    """A table of a DuckDB file; decimals become numbers if no digit is lost, as in a text file."""
    duckdb, raw = require_duckdb(), scratch / "table.parquet"
    try:
        with duckdb.connect(str(file), read_only=True, config={"temp_directory": str(scratch)}) as database:
            listing_query = (
                "SELECT table_schema, table_name FROM information_schema.tables "
                "WHERE table_catalog = current_catalog() ORDER BY 1, 2"
            )
            rows = database.execute(listing_query).fetchall()
            tables = {(name if schema == "main" else f"{schema}.{name}"): (schema, name) for schema, name in rows}
            schema, name = tables[_choose_table(list(tables), table, file, "duckdb")]
            chosen_table = f"{quote_name(schema)}.{quote_name(name)}"
            database.execute(f"COPY (SELECT * FROM {chosen_table}) TO {quote_sql_text(str(raw))} (FORMAT parquet)")
    except duckdb.Error:
        raise DataError(f"{file}: the table cannot be read; is the database damaged, or open elsewhere?") from None
    decimals = _observe_decimals(raw)

    def type_decimals(batch: pl.DataFrame) -> pl.DataFrame:
        spelled_batch = batch.with_columns(pl.col(list(decimals)).cast(pl.String)).cast(decimals)  # type: ignore[arg-type]  # polars takes a mapping of types
        return mark_missing(spelled_batch, text.missing_marks)

    return [_rewrite(raw, scratch / "typed.parquet", type_decimals)]


def _observe_decimals(raw: Path) -> dict[str, pl.DataType]:
    """The types of the columns of decimals, by their digits."""
    types = TypesOfCells()
    with pq.ParquetFile(raw) as parquet_file:
        names = [field.name for field in parquet_file.schema_arrow if pa.types.is_decimal(field.type)]
        for batch in parquet_file.iter_batches(_ROWS, columns=names) if names else ():
            types.observe(build_frame(pa.Table.from_batches([batch]), raw).cast(pl.String))
    return types.decide()


def _stage_sqlite(file: Path, table: str | None, text: TextFormat, scratch: Path) -> list[Path]:
    """A table of an SQLite file, read twice: SQLite types cells, so the type of a column is known at its end."""
    import sqlite3
    from contextlib import closing

    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA query_only = ON")
            listed_tables = database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            names = sorted(str(name) for (name,) in listed_tables if not str(name).startswith("sqlite_"))
            query = f"SELECT * FROM {quote_name(_choose_table(names, table, file, 'sqlite'))}"
            kinds = _SqliteKinds()
            for rows in _fetch_rows(database.execute(query)):
                kinds.observe(rows)
            cursor = database.execute(query)
            heads = [column[0] for column in cursor.description]
            batches = (mark_missing(kinds.build(heads, rows), text.missing_marks) for rows in _fetch_rows(cursor))
            write_batches(batches, scratch / "typed.parquet", step="reading")
    except sqlite3.Error:
        raise DataError(f"{file}: the table cannot be read; is the database damaged?") from None
    return [scratch / "typed.parquet"]


def _fetch_rows(cursor: Any) -> Iterator[list[tuple[Any, ...]]]:
    while rows := cursor.fetchmany(_ROWS):
        yield rows


class _SqliteKinds:
    """The types of the cells of each column, as `read_sqlite` judges a whole column."""

    def __init__(self) -> None:
        self._kinds: list[set[type]] = []
        self._whole: list[bool] = []

    def observe(self, rows: list[tuple[Any, ...]]) -> None:
        for position, cells in enumerate(zip(*rows, strict=True)):
            if position == len(self._kinds):
                self._kinds.append(set())
                self._whole.append(True)
            self._kinds[position] |= {type(cell) for cell in cells} - {type(None)}
            self._whole[position] &= all(
                cell % 1 == 0 and abs(cell) < 2**53 for cell in cells if isinstance(cell, float | int)
            )

    def build(self, heads: Sequence[str], rows: list[tuple[Any, ...]]) -> pl.DataFrame:
        """A batch in the types of the whole columns."""
        columns = []
        for name, kinds, whole, cells in zip(heads, self._kinds, self._whole, zip(*rows, strict=True), strict=True):
            if bytes in kinds:
                raise DataError(f'the column "{name}" holds bytes, which are not supported')
            if kinds == {int} or (kinds and kinds <= {int, float} and whole):
                columns.append(pl.Series(name, [None if c is None else int(c) for c in cells], dtype=pl.Int64))
            elif kinds and kinds <= {int, float}:
                columns.append(pl.Series(name, [None if c is None else float(c) for c in cells], dtype=pl.Float64))
            else:
                columns.append(pl.Series(name, [None if c is None else str(c) for c in cells], dtype=pl.String))
        return pl.DataFrame(columns)


def _choose_table(names: list[str], wanted_name: str | None, file: Path, kind: str) -> str:
    try:
        return choose_name(names, wanted_name)
    except RefusedFile:
        table_list = quote_some_names(names) or "no table"
        raise DataError(
            f"{file}: name one of its tables, as in {kind}:///{file}?table=…; it has {table_list}"
        ) from None
