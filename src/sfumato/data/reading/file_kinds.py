# SPDX-License-Identifier: MIT
"""Which kind of file it is, by its first bytes; a name that ends in something else does not matter."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

from sfumato.errors import DataError, spell_install

HEAD = 512
"""How many first bytes tell every kind."""
ARROW_KINDS = ("parquet", "arrow", "feather")
"""Kinds whose columns have one declared type each."""
_SAS = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
_OLD_STATA = (105, 108, 110, 111, 112, 113, 114, 115)
_MAGIC: dict[bytes, str] = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"FEA1": "feather",
    b"PK\x03\x04": "excel",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "excel",
    b"$FL2": "spss",
    b"$FL3": "spss",
    b"<stata_dta>": "stata",
    _SAS: "sas",
    b"HEADER RECORD*******LIB": "sas_transport",
    b"SQLite format 3\0": "sqlite",
}
_DOCUMENTS: dict[bytes, str] = {
    b"%PDF": "a PDF document",
    b"{\\rtf": "a text document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"7z\xbc\xaf": "an archive",
    b"Rar!": "an archive",
    b"RDX": "an R data file",
    b"RDA": "an R data file",
    **{b"\x80" + bytes([version]): "a Python pickle, which is never opened" for version in range(2, 6)},
}
_MARKUP: dict[bytes, str] = {b"<!doctype html": "a web page", b"<html": "a web page", b"<?xml": "an XML file"}
_SUFFIXES = {
    ".parquet": "parquet",
    **dict.fromkeys((".arrow", ".ipc"), "arrow"),
    ".feather": "feather",
    **dict.fromkeys((".xlsx", ".xlsb", ".xls", ".ods"), "excel"),
    **dict.fromkeys((".sav", ".zsav"), "spss"),
    ".por": "spss_portable",
    ".dta": "stata",
    ".sas7bdat": "sas",
    ".xpt": "sas_transport",
    ".sqlite": "sqlite",
    ".duckdb": "duckdb",
}
"""Ends of names that files of a kind usually have."""
_NEEDS = {
    "excel": ("an Excel file", "fastexcel", "excel"),
    "spss": ("an SPSS file", "pyreadstat", "statistics"),
    "spss_portable": ("an SPSS portable file", "pyreadstat", "statistics"),
    "stata": ("a Stata file", "pyreadstat", "statistics"),
    "sas": ("a SAS file", "pyreadstat", "statistics"),
    "sas_transport": ("a SAS transport file", "pyreadstat", "statistics"),
    "duckdb": ("a DuckDB database", "duckdb", "databases"),
    "postgresql": ("a PostgreSQL table", "adbc_driver_postgresql", "databases"),
}
"""Kind → its name in a message, the library that reads it, and the extra that installs the library."""


def detect_file_kind(head: bytes) -> str | None:
    """The kind of a binary or JSON file, by its first bytes; None for a table of text cells."""
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    if kind is not None:
        return kind
    if len(head) > 2 and head[0] in _OLD_STATA and head[1] in (1, 2) and head[2] == 1:
        return "stata"
    if head[8:12] == b"DUCK":
        return "duckdb"
    if b"SPSS PORT FILE" in head[:240]:
        return "spss_portable"
    return "json" if is_json(head) else None


def is_json(head: bytes) -> bool:
    """Whether a text begins with a JSON object, or with a list of them."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"["):
        text = text[1:].lstrip()
        return text.startswith((b"{", b"]"))
    if not text.startswith(b"{"):
        return False
    body = text[1:].lstrip()
    return body.startswith((b'"', b"}")) or _is_object(text.split(b"\n", 1)[0])


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def refuse_document(path: Path, head: bytes) -> None:
    """Stop if a file that should be text is a document, a picture or an archive, and say which."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    kind = next((words for magic, words in _DOCUMENTS.items() if head.startswith(magic)), None)
    kind = kind or next((words for begin, words in _MARKUP.items() if text.startswith(begin)), None)
    if kind is not None:
        raise DataError(f"{path}: this is {kind}, not a table; export the table as CSV, Excel or Parquet")


def name_promised_kind(path: Path) -> str | None:
    """What a file that is read as text should be by the end of its name; None if that is text."""
    kind = _SUFFIXES.get(path.suffix.lower())
    return None if kind is None else name_kind(kind)


def require_library(kind: str, path: Path | str, purpose: str = "reading") -> None:
    """Stop if the library that reads or writes a kind of file is not installed, with the line that installs it."""
    words, library, extra = _NEEDS.get(kind, ("", "", ""))
    if library and importlib.util.find_spec(library) is None:
        raise DataError(f"{path}: {purpose} {words} needs a library that is not installed; run: {spell_install(extra)}")


def name_kind(kind: str) -> str:
    """What a kind is called in a message."""
    return _NAMES.get(kind) or _NEEDS.get(kind, (f"a {kind} file",))[0]


_NAMES = {
    "sqlite": "an SQLite database",
    "json": "a JSON file",
    "parquet": "a Parquet file",
    "arrow": "an Arrow file",
    "feather": "a Feather file",
}
