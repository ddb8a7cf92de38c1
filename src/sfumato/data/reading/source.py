# SPDX-License-Identifier: MIT
"""What a data path names: a file, a pattern, a sheet of a workbook, or a table of a database.

- ``people.csv``, ``parts/*.parquet``: files;
- ``people.xlsx?sheet=Patients``: one sheet of a workbook;
- ``sqlite:///people.db?table=patients``, ``duckdb:///people.duckdb?table=patients``: a table of a database file,
  relative with three slashes, absolute with four;
- ``postgresql://user@host/database?table=schema.patients``: a table of a server;
- ``spark:database.patients``: a table that Spark knows.

A password belongs in the environment (`PGPASSWORD`) or in `~/.pgpass`. One in an address is used and never shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from sfumato.errors import DataError, hide_password

_DATABASE = re.compile(r"(?i:(sqlite|duckdb|postgres|postgresql)):(/{1,2})(.*)", re.DOTALL)  # a `Path` keeps one slash
_SPARK = re.compile(r"spark:(?!/)(.+)", re.DOTALL)
_FOREIGN = re.compile(r"([A-Za-z][\w+.-]+(?::[A-Za-z][\w+.-]+)*):/{1,2}[^/]")
"""The address of something that is not read; the letter of a Windows drive is no scheme."""
_PART = re.compile(r"(.+)\?(?:sheet|table)=(.+)", re.DOTALL)


@dataclass(frozen=True)
class Source:
    """A data path, taken apart."""

    kind: str
    """`file`, `sqlite`, `duckdb`, `postgresql` or `spark`."""
    location: str
    """The path or pattern of a file, or the address of a server without its table; empty for Spark."""
    table: str | None = None
    """The table of a database or the sheet of a workbook, if named."""

    def __repr__(self) -> str:
        """The source without a password."""
        return f"Source({self.kind}: {hide_password(self.location)})"


def parse_source(path: str | Path) -> Source:
    """Take a data path apart."""
    if not isinstance(path, str | PathLike):
        raise DataError(
            f"a path is expected here, not {type(path).__name__}; sf.Table.of(df) makes a table of a frame, and "
            "sf.run(df, method, roles={...}) takes one as it is"
        )
    text = str(path)
    if (address := _DATABASE.fullmatch(text)) is not None:
        return _parse_address(address[1].lower(), address[2], address[3])
    if (table := _SPARK.fullmatch(text)) is not None and not _exists(text):
        return Source("spark", "", table[1])
    _refuse_foreign(text)
    part = _PART.fullmatch(text)
    if part is None or _exists(text):
        return Source("file", text)
    return Source("file", part[1], part[2])


def _refuse_foreign(text: str) -> None:
    """Stop at an address of another kind, which would be looked for among the files."""
    foreign = _FOREIGN.match(text)
    if foreign is not None and not _exists(text) and not _exists(foreign[1] + ":"):
        raise DataError(
            f"{foreign[1]}: such addresses are not read; download it and give the file, or a database's address as in "
            "postgresql://user@host/database?table=patients, sqlite:///people.db or duckdb:///people.duckdb"
        )


def is_database(path: str | Path) -> bool:
    """Whether a data path is the address of a database."""
    return parse_source(path).kind != "file"


def is_server(path: str | Path) -> bool:
    """Whether a data path names a table on a server, which has no file."""
    return parse_source(path).kind in ("postgresql", "spark")


def is_spark_table(path: str | Path) -> bool:
    """Whether a data path names a table of Spark."""
    return parse_source(path).kind == "spark"


def locate_source(path: str, locate: Callable[[str], str]) -> str:
    """The same data path with its file located by a function, as paths of a policy are relative to it."""
    source = parse_source(path)
    if source.kind in ("postgresql", "spark"):
        return path
    if source.kind == "file":
        return locate(path) if source.table is None else f"{locate(source.location)}?sheet={source.table}"
    query = "" if source.table is None else "?" + urlencode({"table": source.table})
    return f"{source.kind}:///{locate(source.location)}{query}"


def drop_password(address: str) -> str:
    """The address of a server without its password, to be kept in a file."""
    bare = re.sub(r"(?<=:/)(/?[^:/@\s]*):.*@", r"\1@", address, flags=re.DOTALL)
    return re.sub(r"(?i)(?<=[?&])(?:ssl)?password=[^&]*(?:&|$)", "", bare).rstrip("?&")


def _parse_address(scheme: str, slashes: str, rest: str) -> Source:
    base, _, query = rest.partition("?")
    options = parse_qsl(query, keep_blank_values=True)
    tables = [value for name, value in options if name == "table"]
    if len(tables) > 1 or "" in tables:
        raise DataError(f"{scheme}: name one table at the end of the address, such as ?table=patients")
    table = tables[0] if tables else None
    other_options = [(name, value) for name, value in options if name != "table"]
    if scheme in ("sqlite", "duckdb"):
        if other_options:
            raise DataError(f"{scheme}: the address of a database file has one option, ?table=…")
        return Source(scheme, _find_database_file(scheme, slashes, base), table)
    address = f"postgresql://{base}" + (f"?{urlencode(other_options)}" if other_options else "")
    return Source("postgresql", address, table)


def _find_database_file(scheme: str, slashes: str, base: str) -> str:
    """Three slashes begin a relative path and four an absolute one; people write three for both."""
    name = base.removeprefix("/") if slashes == "//" else base
    if not name:
        raise DataError(f"{scheme}: the address names no file; write {scheme}:///people.db?table=patients")
    return f"/{name}" if not name.startswith("/") and not _exists(name) and _exists(f"/{name}") else name


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False
