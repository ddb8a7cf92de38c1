# SPDX-License-Identifier: MIT
"""Read a workbook, a statistics file or a database file as Arrow batches, inside the process of `arrow_worker`.

The libraries that parse these formats are C, C++ and Rust code that a hostile file may crash; here that does no harm.
This file is loaded by its path, imports nothing of sfumato, and tells what went wrong by an exit code.

Numbers, text, truth values and dates go through as the file types them. Value labels, variable labels and what else
only the other process can judge go along as metadata of the fields (`LABELS`).
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

LABELS = b"labels"
"""The key under which a field tells its labels, as JSON: `{"title": …, "values": [[code, label], …]}`."""
SEVERAL, NOT_THERE, LOCKED_FILE, NO_WORKBOOK = 15, 16, 17, 18
"""Exit codes: which table is not clear, there is no such table (both list the names), a password is needed, and a zip
archive or an old Office file that is no workbook."""
STATISTICS = {
    "spss": "read_sav",
    "stata": "read_dta",
    "sas": "read_sas7bdat",
    "sas_transport": "read_xport",
    "spss_portable": "read_por",
}
_ROWS = 1 << 16


class RefusedFile(Exception):
    """The file cannot be read, for a reason with an exit code; `names` are the tables that there are."""

    def __init__(self, code: int, names: list[str] | None = None) -> None:
        """Keep the code and the names."""
        super().__init__(code)
        self.code, self.names = code, names or []


class Request(NamedTuple):
    """What to read."""

    kind: str
    path: str
    """Where the file is, for databases, which cannot be read from a stream."""
    table: str | None
    header: bool
    limit: int


class Batches(NamedTuple):
    """A schema, its batches, and the number of cells that the file declares."""

    schema: Any
    batches: Iterator[Any]
    cells: int


def import_library(kind: str) -> None:
    """Import what reads a kind of file."""
    import importlib

    names = ("fastexcel",) if kind == "excel" else ("polars", "pyreadstat") if kind in STATISTICS else (kind,)
    for name in ("pyarrow", *("sqlite3" if name == "sqlite" else name for name in names)):
        importlib.import_module(name)


def open_foreign(source: Any, request: Request) -> Batches:
    """Read the whole table; its batches are handed over one by one."""
    if request.kind == "excel":
        table = read_workbook(source.read(), request)
    elif request.kind in STATISTICS:
        table = read_statistics(source, request.kind)
    elif request.kind == "sqlite":
        table = read_sqlite(request)
    else:
        table = read_duckdb(request)
    return Batches(table.schema, iter(table.to_batches(_ROWS)), table.num_rows * table.num_columns)


def read_workbook(content: bytes, request: Request) -> Any:
    """One sheet, typed by all of its cells; a column of several types is text, an error such as #N/A is missing."""
    import logging

    import fastexcel
    import pyarrow as pa

    logging.disable(logging.CRITICAL)
    _refuse_archive(content, request.limit)
    try:
        book = fastexcel.read_excel(content)
    except fastexcel.FastExcelError as error:
        raise RefusedFile(LOCKED_FILE if "assword" in str(error) else NO_WORKBOOK) from None
    sheet = choose_name(book.sheet_names, request.table, [name for name in book.sheet_names if _has_cells(book, name)])
    names, first = _read_header(book, sheet, request)
    if not names:
        return pa.table({})
    positions = [f"f{number}" for number in range(len(names))]
    columns = _load_columns(book, sheet, first, positions)
    return pa.table([columns[name] for name in positions], schema=_describe_columns(columns, positions, names))


def _refuse_archive(content: bytes, limit: int) -> None:
    """Stop at an archive that is no workbook, or that declares more than may be unpacked."""
    import io

    if not content.startswith(b"PK"):
        return
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
    names = {part.filename for part in parts}
    if not any(name.lower().startswith("xl/workbook.") for name in names) and "content.xml" not in names:
        raise RefusedFile(NO_WORKBOOK)
    if sum(part.file_size for part in parts) > 2 * limit:  # XML takes more than the cells that it spells
        raise MemoryError


def _has_cells(book: Any, name: str) -> bool:
    sheet = book.load_sheet(name, header_row=None, n_rows=1, dtypes="string")
    return bool(sheet.width)


def _read_header(book: Any, sheet: str, request: Request) -> tuple[list[str], int]:
    """The names of the columns, empty where there is none, and the first row of cells."""
    top = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_arrow()
    if not request.header:
        return [""] * top.num_columns, 0
    names = [column[0].as_py() if len(column) else None for column in top.columns]
    return ["" if name is None else str(name).strip() for name in names], 1


def _load_columns(book: Any, sheet: str, first: int, names: list[str]) -> dict[str, Any]:
    """The columns; cells whose types do not mix are text, so that truth values among numbers do not become 1 and 0."""
    import fastexcel

    def load(positions: list[int], **kinds: Any) -> Any:
        return book.load_sheet(
            sheet,
            header_row=None,
            skip_rows=first,
            column_names=[names[position] for position in positions],
            use_columns=positions,
            schema_sample_rows=None,
            skip_whitespace_tail_rows=True,
            **kinds,
        ).to_arrow()

    positions = list(range(len(names)))
    try:
        table = load(positions, dtype_coercion="strict")
        return {name: table.column(name) for name in names}
    except fastexcel.UnsupportedColumnTypeCombinationError:
        texts = load(positions, dtypes="string")
    try:
        table = load(positions)
        columns = {name: table.column(name) for name in names}
    except fastexcel.UnsupportedColumnTypeCombinationError:
        columns = {}
        for position, name in enumerate(names):
            try:
                columns[name] = load([position]).column(name)
            except fastexcel.UnsupportedColumnTypeCombinationError:
                columns[name] = texts.column(name)
    return {
        name: texts.column(name) if _has_truth(column, texts.column(name)) else column
        for name, column in columns.items()
    }


def _has_truth(column: Any, texts: Any) -> bool:
    """Whether truth values became numbers."""
    return str(column.type) in ("double", "int64") and bool({"true", "false"} & set(texts.unique().to_pylist()))


def _describe_columns(columns: Mapping[str, Any], positions: list[str], names: list[str]) -> Any:
    import pyarrow as pa

    return pa.schema([pa.field(name, columns[position].type) for position, name in zip(positions, names, strict=True)])


def read_statistics(source: Any, kind: str) -> Any:
    """A file of SPSS, Stata or SAS; cells that it declares as missing are missing."""
    import polars as pl
    import pyarrow as pa
    import pyreadstat

    try:
        frame, metadata = getattr(pyreadstat, STATISTICS[kind])(source, output_format="polars")
    except UnicodeDecodeError:
        source.seek(0)
        frame, metadata = getattr(pyreadstat, STATISTICS[kind])(source, output_format="polars", encoding="latin1")
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    fields = [
        field.with_metadata({LABELS: json.dumps(labels)}) if (labels := _gather_labels(field.name, metadata)) else field
        for field in table.schema
    ]
    return pa.table(table.columns, schema=pa.schema(fields))


def _gather_labels(name: str, metadata: Any) -> dict[str, Any]:
    title = metadata.column_names_to_labels.get(name)
    values = [[code, label] for code, label in metadata.variable_value_labels.get(name, {}).items()]
    labels = {"title": title, "values": values}
    return {key: value for key, value in labels.items() if value}


def choose_name(names: list[str], wanted_name: str | None, filled_names: list[str] | None = None) -> str:
    """The named sheet or table, or the only one; an empty sheet next to it does not count."""
    if wanted_name is not None:
        if wanted_name not in names:
            raise RefusedFile(NOT_THERE, names)
        return wanted_name
    candidates = names if filled_names is None or not filled_names else filled_names
    if len(candidates) != 1:
        raise RefusedFile(SEVERAL, names)
    return candidates[0]


def read_sqlite(request: Request) -> Any:
    """A table or view of an SQLite file. A column of several types is text: SQLite types cells, not columns."""
    import sqlite3
    from contextlib import closing
    from pathlib import Path

    import pyarrow as pa

    with closing(sqlite3.connect(f"{Path(request.path).absolute().as_uri()}?mode=ro", uri=True)) as database:
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA query_only = ON")
        query = (
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
        names = [str(name) for (name,) in database.execute(query)]
        table = choose_name(sorted(names), request.table)
        cursor = database.execute(f"SELECT * FROM {quote_name(table)}")
        heads = [column[0] for column in cursor.description]
        columns: list[list[Any]] = [[] for _ in heads]
        while rows := cursor.fetchmany(_ROWS):
            if (len(columns[0]) + len(rows)) * len(columns) > request.limit:  # a view can have rows without end
                raise MemoryError
            for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
                column.extend(cells)
    arrays = [_build_array(column) for column in columns]
    return pa.table(arrays, schema=pa.schema([pa.field(n, a.type) for n, a in zip(heads, arrays, strict=True)]))


def _build_array(cells: list[Any]) -> Any:
    """Whole numbers, numbers, text or bytes; what mixes numbers and text is text."""
    import pyarrow as pa

    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds <= {int} and kinds:
        return pa.array(cells, pa.int64())
    if kinds <= {int, float} and kinds:
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    if bytes in kinds:
        return pa.array([c.encode() if isinstance(c, str) else c if isinstance(c, bytes) else None for c in cells])
    return pa.array([None if cell is None else str(cell) for cell in cells], pa.large_string())


def quote_name(name: str) -> str:
    """A name as SQL spells it."""
    return '"' + name.replace('"', '""') + '"'


def read_duckdb(request: Request) -> Any:
    """A table or view of a DuckDB file, with no access to anything else."""
    import duckdb

    settings: dict[str, Any] = {"threads": 1, "enable_external_access": False, "lock_configuration": True}
    with duckdb.connect(request.path, read_only=True, config=settings) as database:
        query = (
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_catalog = current_catalog() ORDER BY 1, 2"
        )
        rows = database.execute(query).fetchall()
        tables = {(name if schema == "main" else f"{schema}.{name}"): (schema, name) for schema, name in rows}
        schema, name = tables[choose_name(list(tables), request.table)]
        result = database.execute(f"SELECT * FROM {quote_name(schema)}.{quote_name(name)}")
        return result.to_arrow_table()
