# SPDX-License-Identifier: MIT
"""Read a table or view of a PostgreSQL server through ADBC, in one read-only transaction.

No message holds what the server or the driver said: it may name a user, a host or a value. The password of an address
is used for the connection and shown nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa

from sfumato.data.cells.cell_types import type_cells
from sfumato.data.reading.arrow_frame import build_frame
from sfumato.data.reading.file_kinds import require_library
from sfumato.data.reading.foreign_worker import quote_name
from sfumato.data.reading.source import Source
from sfumato.errors import DataError, hide_password, quote_names

_PLAIN = frozenset({"bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "date", "timestamp"}) | {
    "timestamptz"
}
"""Types that go through as they are; all others are read as text."""
_SECONDS = 15
_MOST_NAMES = 12
_COLUMNS = """\
SELECT a.attname, t.typname FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = to_regclass({}) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""
_TABLES = """\
SELECT CASE WHEN n.nspname = ANY (current_schemas(false)) THEN c.relname ELSE n.nspname || '.' || c.relname END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1"""


_ONE_ORDER = ("synchronize_seqscans = off", "max_parallel_workers_per_gather = 0")
"""Settings under which a server reads a table from its beginning to its end, each time."""


class ServerTable(NamedTuple):
    """A table of a server, while it is read."""

    decimals: list[str]
    """The columns of decimals, which are handed over as text."""
    batches: pa.RecordBatchReader
    """Its rows, some at a time, as the server sends them."""


def read_server_table(source: Source) -> pl.DataFrame:
    """Read all rows of a table; decimals become numbers if no digit is lost, as in a text file."""
    with open_server_table(source) as table:
        frame = build_frame(table.batches.read_all(), hide_password(source.location))
    return frame.with_columns(type_cells(frame.select(table.decimals)).get_columns())


@contextmanager
def open_server_table(source: Source) -> Iterator[ServerTable]:
    """Begin to read a table, in the order in which the server stores it."""
    shown_address = hide_password(source.location)
    require_library("postgresql", shown_address)
    import adbc_driver_manager
    import adbc_driver_postgresql.dbapi as driver

    try:
        connection = driver.connect(_limit_waiting(source.location))
    except adbc_driver_manager.Error as error:
        raise DataError(f"{shown_address}: {_explain_connection(str(error))}") from None
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            for setting in _ONE_ORDER:
                cursor.execute(f"SET LOCAL {setting}")
            yield _open_table(cursor, source, shown_address)
    except adbc_driver_manager.Error as error:
        is_denied = getattr(error, "sqlstate", None) == "42501"
        reason = (
            "this user may not read the table; ask for the right to SELECT" if is_denied else "the table cannot be read"
        )
        raise DataError(f"{shown_address}: {reason}") from None


def _open_table(cursor: Any, source: Source, shown_address: str) -> ServerTable:
    name = source.table or _find_only_table(cursor, shown_address)
    quoted_name = ".".join(map(quote_name, name.split(".", 1)))
    literal = "'" + quoted_name.replace("'", "''") + "'"
    cursor.execute(_COLUMNS.format(literal))
    columns = [(str(column), str(kind)) for column, kind in cursor.fetchall()]
    if not columns:
        raise DataError(
            f"{shown_address}: there is no such table, or it has no columns; there are {_list_tables(cursor)}"
        )
    selection = ", ".join(quote_name(n) if kind in _PLAIN else f"{quote_name(n)}::text" for n, kind in columns)
    cursor.execute(f"SELECT {selection} FROM {quoted_name}")
    sent_batches = cursor.fetch_record_batch()
    schema = pa.schema([field.with_name(name) for field, (name, _) in zip(sent_batches.schema, columns, strict=True)])
    batches = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in sent_batches)
    reader = pa.RecordBatchReader.from_batches(schema, batches)
    return ServerTable([column for column, kind in columns if kind == "numeric"], reader)


def _find_only_table(cursor: Any, shown_address: str) -> str:
    cursor.execute(_TABLES)
    names = [str(name) for (name,) in cursor.fetchall()]
    if len(names) != 1:
        raise DataError(
            f"{shown_address}: name a table at the end, such as ?table=patients; there are {_format_names(names)}"
        )
    return names[0]


def _list_tables(cursor: Any) -> str:
    cursor.execute(_TABLES)
    return _format_names([str(name) for (name,) in cursor.fetchall()])


def _format_names(names: list[str]) -> str:
    return (quote_names(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")) or "none that you may read"


def _limit_waiting(address: str) -> str:
    """The address with a limit on how long connecting may take."""
    if "connect_timeout=" in address:
        return address
    return f"{address}{'&' if '?' in address else '?'}connect_timeout={_SECONDS}"


def _explain_connection(message: str) -> str:
    """Why there is no connection: the driver gives a text only, which is not passed on."""
    if re.search(r"no password supplied", message):
        return "the server asks for a password; set PGPASSWORD, or write it into ~/.pgpass"
    if re.search(r"authentication failed|role .* does not exist|no pg_hba.conf", message):
        return "the server refuses this user or password; check the user, PGPASSWORD or ~/.pgpass"
    if re.search(r"database .* does not exist", message):
        return "the server has no such database; check the end of the address"
    if re.search(r"invalid|could not parse|missing", message):
        return "this is not an address; write postgresql://user@host:5432/database?table=patients"
    return "the server cannot be reached; check host and port, and that it runs"
