# SPDX-License-Identifier: MIT
"""The long form: a table in any format with one row for each (id, item) or (id, item, time).

Baskets are in the order of the first appearance of their ids. An id whose only row lacks an item has an empty basket;
any other missing cell is an error.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from sfumato.arrays import Codes, Ints
from sfumato.data.items.basket_files import (
    BasketArrays,
    Values,
    check_utf8,
    compute_offsets,
    encode_distinct,
    is_table_file,
    parse_item_types,
    read_bytes,
    refuse_nothing,
    write_bytes,
)
from sfumato.data.reading.source import is_database
from sfumato.data.reading.table_reader import read_frame
from sfumato.data.writing.rebuild import rebuild_frame
from sfumato.errors import DataError, PolicyError, hide_password, quote_names

DataPath = str | os.PathLike[str]
_SEPARATORS = (",", "\t", ";", "|")
_POINT_NAMES = {"x", "y"}
"""A header with these is mostly one of points."""


class NamedColumns(NamedTuple):
    """Columns as read, and whether the file gives them types; those of a text file are text."""

    frame: pl.DataFrame
    is_typed: bool


class LongForm(NamedTuple):
    """The columns of a long-form file, with no missing cell."""

    ids: Values
    id_codes: Codes
    items: Values
    item_codes: Codes
    times: pl.Series | None


def read_long_baskets(
    path: DataPath, *, id_column: str, item_column: str, separator: str | None = None
) -> BasketArrays:
    """Group the rows of each id into a basket; an id with a single row and no item has an empty basket."""
    rows = read_long_form(path, (id_column, item_column), separator, may_be_empty=True)
    order = np.argsort(rows.id_codes, kind="stable")
    offsets = compute_offsets(rows.id_codes, len(rows.ids))
    return BasketArrays(rows.items, offsets, rows.item_codes[order], rows.ids)


def write_long_baskets(
    path: Path, baskets: BasketArrays, *, id_column: str, item_column: str, separator: str | None = None
) -> None:
    """Write one row for each (id, item), and one without item for an empty basket; missing ids are numbered."""
    refuse_nothing(path, baskets.offsets)
    lengths = np.diff(baskets.offsets)
    items = pl.Series(baskets.items, dtype=pl.String if not baskets.items else None)
    empty = np.flatnonzero(lengths == 0)
    item_indices = np.insert(np.arange(len(baskets.codes)), baskets.offsets[empty], -1)
    codes = pl.Series(baskets.codes[item_indices] if len(baskets.codes) else item_indices).set(
        pl.Series(item_indices < 0), None
    )
    columns = (repeat_ids(baskets.ids, np.maximum(lengths, 1)), items.gather(codes))
    write_table(path, (id_column, item_column), columns, separator)


def read_named_columns(data_path: DataPath, columns: tuple[str, ...], separator: str | None) -> NamedColumns:
    """Some columns of a table in any format, with at least one row."""
    check_dialect(columns, separator)
    path, has_types = Path(data_path), is_database(os.fspath(data_path)) or is_table_file(Path(data_path))
    try:
        frame = _read_typed_table(data_path, columns) if has_types else _read_long_csv(path, columns, separator)
    except pl.exceptions.PolarsError:
        # The cause quotes cells of the file, so it is suppressed.
        raise DataError(
            f"{path}: the file cannot be read as a table; check its quotes and the fields of each row"
        ) from None
    if not frame.height:
        raise DataError(f"{path}: the file has no rows below its header")
    return NamedColumns(frame, has_types)


def read_long_form(
    data_path: DataPath, columns: tuple[str, ...], separator: str | None, *, may_be_empty: bool = False
) -> LongForm:
    """The named columns (id, item and optionally time) of a table in any format."""
    path, (frame, is_typed) = Path(data_path), read_named_columns(data_path, columns, separator)
    for name in columns if not may_be_empty else (columns[0], *columns[2:]):
        _refuse_missing(path, frame[name], flag_missing_cells(frame[name]))
    ids, id_codes = _encode_values(path, frame[columns[0]], is_text_only=not is_typed)
    if may_be_empty:
        missing_mask = flag_missing_cells(frame[columns[1]])
        lone = pl.Series(np.bincount(id_codes)[id_codes] == 1) & missing_mask
        _refuse_missing(path, frame[columns[1]], missing_mask & ~lone)
        frame, id_codes = frame.filter(~lone), id_codes[~lone.to_numpy()]
    items, item_codes = _encode_values(path, frame[columns[1]], is_text_only=not is_typed)
    return LongForm(ids, id_codes, items, item_codes, frame[columns[2]] if len(columns) > 2 else None)


def write_table(path: Path, names: Sequence[str], columns: Sequence[pl.Series], separator: str | None) -> None:
    """Write columns as Parquet, TSV or CSV, depending on the file name."""
    check_dialect(names, separator)
    frame = rebuild_frame(pl.DataFrame(dict(zip(names, columns, strict=True))))
    buffer = io.BytesIO()
    if path.name.lower().endswith(".parquet"):
        frame.write_parquet(buffer)
    else:
        usual = "\t" if path.name.lower().endswith((".tsv", ".tsv.gz")) else ","
        frame.write_csv(buffer, separator=separator or usual, quote_style="non_numeric")
    write_bytes(path, buffer.getvalue())


def repeat_ids(ids: Sequence[int | str] | None, lengths: Ints) -> pl.Series:
    """The id column: each id, or its number, once for every row."""
    rows = np.repeat(np.arange(lengths.size), lengths)
    return pl.Series(rows) if ids is None else pl.Series(ids).gather(rows)


def _read_long_csv(path: Path, columns: tuple[str, ...], separator: str | None) -> pl.DataFrame:
    # Polars turns an empty last line into a row of nulls.
    text = check_utf8(path, read_bytes(path)).rstrip(b"\r\n")
    mark = choose_long_separator(path, text.split(b"\n", 1)[0].decode(), columns, separator)
    return pl.read_csv(io.BytesIO(text), separator=mark, infer_schema=False, columns=list(columns))


def choose_long_separator(path: Path, header: str, columns: tuple[str, ...], separator: str | None) -> str:
    """The separator with which the first line names the columns."""
    missing_names, are_points = [], False
    for mark in (separator,) if separator else _SEPARATORS:
        names = next(csv.reader([header.rstrip("\r")], delimiter=mark), [])
        if set(columns) <= set(names):
            _refuse_repeated(path, columns, names)
            return mark
        missing_names.append(tuple(name for name in columns if name not in names))
        are_points |= {name.strip().lower() for name in names} >= _POINT_NAMES
    raise explain_missing_column(path, columns, min(missing_names, key=len), are_points=are_points)


def _refuse_repeated(path: Path, columns: tuple[str, ...], names: list[str]) -> None:
    """Stop if the header names one of the columns twice: nobody knows which one is meant."""
    repeated_names = [name for name in columns if names.count(name) > 1]
    if repeated_names:
        raise DataError(f"{path}: the header names {quote_names(repeated_names)} more than once; rename all but one")


def _read_typed_table(path: DataPath, columns: tuple[str, ...]) -> pl.DataFrame:
    frame = read_frame(os.fspath(path))
    if missing_names := tuple(name for name in columns if name not in frame.columns):
        raise explain_missing_column(hide_password(os.fspath(path)), columns, missing_names)
    return frame.select(columns)


def explain_missing_column(
    path: Path | str, columns: tuple[str, ...], missing_names: tuple[str, ...] = (), *, are_points: bool = False
) -> DataError:
    """The header does not name the columns, or lacks those that are known to be missing."""
    # The columns found are not listed: without a header they would be a row of data.
    line = ', or, if each line is a basket, the format "comma"' if len(columns) == 2 else ""
    line += "; for points with x and y, add [data.points] to the policy" if are_points else ""
    names = (
        quote_names(missing_names)
        if missing_names and len(missing_names) < len(columns)
        else f"some of {quote_names(columns)}"
    )
    return DataError(
        f"{path}: the header lacks {names}; give other names, as options or under [data], or the right separator{line}"
    )


def check_dialect(columns: Sequence[str], separator: str | None) -> None:
    """Stop if two columns are one, or if the separator cannot be one."""
    if len(set(columns)) < len(columns):
        raise PolicyError("the id, item and time of a long-form file must be different columns")
    if separator is not None and (len(separator.encode()) != 1 or separator in '"\r\n'):
        raise PolicyError("a separator must be one ASCII character, and neither a quote nor a line end")


def flag_missing_cells(column: pl.Series) -> pl.Series:
    """Which cells have no value: empty ones, too."""
    missing = column.is_null()
    if column.dtype == pl.String:
        missing |= (column == "").fill_null(True)
    elif column.dtype.is_float():
        missing |= column.is_nan().fill_null(True)
    return missing


def _refuse_missing(path: Path, column: pl.Series, missing: pl.Series) -> None:
    if missing.any():
        raise DataError(
            f'{path}: "{column.name}" is missing in {missing.sum()} of {column.len()} rows, first in row '
            f"{missing.arg_max()} (from 0); fill those cells or drop the rows"
        )


def _encode_values(path: Path, column: pl.Series, *, is_text_only: bool) -> tuple[Values, Codes]:
    """Distinct values by first appearance; integers are only detected in a file without types."""
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype == pl.String:
        words, codes = encode_distinct(column.to_arrow().cast(pa.large_string()))
        return parse_item_types(words) if is_text_only else words, codes
    if not column.dtype.is_integer():
        raise DataError(f'{path}: column "{column.name}" is {column.dtype}; cast it to text or integers')
    return encode_distinct(column.to_arrow())
