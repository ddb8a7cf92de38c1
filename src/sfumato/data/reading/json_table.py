# SPDX-License-Identifier: MIT
"""Read a table from JSON: one object on each line (JSON lines), or one list of objects.

A key is a column, in the order of first appearance; a key that an object lacks, or null, is a missing cell. JSON says
what is text, a number or a truth value, so "02139" in quotes stays text. Numbers keep their digits: a column of them
is numeric only if no digit is lost, as in a text file. A column of several types is text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.cells.cell_types import type_cells
from sfumato.data.reading.compression import PACKING_FAULTS
from sfumato.data.reading.file_limits import explain_damaged_packing, read_whole, refuse_cells, refuse_columns
from sfumato.errors import DataError

_REPORT_INTERVAL = 256


class _Digits(str):
    """A number as it is spelled."""

    __slots__ = ()


def read_json_table(path: Path) -> pl.DataFrame:
    """Read the objects of a file as rows."""
    columns: dict[str, list[Any]] = {}
    count = 0
    for count, record in enumerate(_list_records(path), 1):
        for name, cell in record.items():
            if name not in columns:
                refuse_columns(path, len(columns) + 1)
                columns[name] = [None] * (count - 1)
            columns[name].append(cell)
        if not count % _REPORT_INTERVAL:
            refuse_cells(path, count * len(columns))  # two characters can be a row of thousands of missing cells
        for cells in columns.values():
            if len(cells) < count:
                cells.append(None)
    if not columns:
        raise DataError(f"{path}: the JSON file holds no rows, or objects without keys")
    return pl.DataFrame([_build_column(name, cells, path) for name, cells in columns.items()])


def _list_records(path: Path) -> Iterator[dict[str, Any]]:
    try:
        content = read_whole(path)
    except PACKING_FAULTS:
        raise explain_damaged_packing(path) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path}: the JSON file is not UTF-8; save it as UTF-8") from None
    if text.lstrip().startswith("["):
        yield from _list_whole(path, text)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _check_record(_parse_json(path, line, f"line {number}"), path, f"line {number}")


def _list_whole(path: Path, text: str) -> Iterator[dict[str, Any]]:
    for number, record in enumerate(_parse_json(path, text, "the file"), 1):
        yield _check_record(record, path, f"entry {number}")


def _parse_json(path: Path, text: str, source_name: str) -> Any:
    try:
        return json.loads(
            text, parse_int=_Digits, parse_float=_Digits, parse_constant=_drop_constant, object_pairs_hook=_refuse_twice
        )
    except _RepeatedKey:
        raise DataError(f"{path}: {source_name} names a key twice in one object; keep one of them") from None
    except (ValueError, RecursionError):
        raise DataError(
            f"{path}: {source_name} is not valid JSON; write one object on each line, or one list of objects"
        ) from None


class _RepeatedKey(Exception):
    pass


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise _RepeatedKey
    return record


def _drop_constant(_: str) -> None:
    """NaN and infinities, which some writers spell, are no numbers: missing."""


def _check_record(record: Any, path: Path, record_name: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise DataError(f"{path}: {record_name} is not a JSON object; a table has one object for each row")
    if any(isinstance(cell, (dict, list)) for cell in record.values()):
        raise DataError(f"{path}: {record_name} holds lists or objects inside of a row; a table has plain cells")
    return record


def _build_column(name: str, cells: list[Any], path: Path) -> pl.Series:
    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds == {bool}:
        return pl.Series(name, cells, dtype=pl.Boolean)
    texts = [None if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell) for cell in cells]
    try:
        column = pl.Series(name, texts, dtype=pl.String)
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can spell
        raise DataError(f'{path}: the column "{name}" holds text that is not valid Unicode; correct it') from None
    return type_cells(column.to_frame()).to_series() if kinds == {_Digits} else column
