# SPDX-License-Identifier: MIT
"""Read a table from whatever a data path names: text, binary files of many kinds, globs of them, and databases.

The first bytes tell the kind of a file, see `file_kinds`; `text_table` reads text, `json_table` JSON, `binary` all
other files in a process of their own, and `database` tables of a server.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import polars as pl

from sfumato.data.reading.arrow_frame import build_frame
from sfumato.data.reading.binary import BinaryPart, read_binary
from sfumato.data.reading.column_labels import LabelledFrame, apply_labels
from sfumato.data.reading.column_names import choose_column_names, refuse_repeated
from sfumato.data.reading.file_kinds import ARROW_KINDS, HEAD, detect_file_kind, name_kind, name_promised_kind
from sfumato.data.reading.foreign_cells import mark_missing, simplify_stored_cells
from sfumato.data.reading.foreign_worker import LABELS, STATISTICS
from sfumato.data.reading.json_table import read_json_table
from sfumato.data.reading.near_files import ask_for_file
from sfumato.data.reading.source import Source, parse_source
from sfumato.data.reading.text_table import (
    MISSING_MARKS,
    TextFormat,
    TextOptions,
    read_first_bytes,
    read_text_table,
)
from sfumato.errors import DataError, hide_password, quote_names

__all__ = [
    "MISSING_MARKS",
    "TextFormat",
    "TextOptions",
    "find_source_kind",
    "has_stored_text",
    "has_stored_types",
    "list_input_files",
    "read_frame",
    "read_labelled",
]


def read_frame(path: str | Path, text: TextFormat | None = None) -> pl.DataFrame:
    """Read a file of any kind, compressed or not, or a database table; a glob concatenates its files."""
    return read_labelled(path, text).frame


def read_labelled(path: str | Path, text: TextFormat | None = None) -> LabelledFrame:
    """Read a frame with the labels that its file gives to columns and codes."""
    text = text or TextFormat()
    source = parse_source(path)
    if source.kind == "spark":
        raise DataError(f"{path}: tables of Spark are read by audit and run, with --engine spark")
    if source.kind == "postgresql":
        from sfumato.data.reading.database import read_server_table

        frame = read_server_table(source)
        return LabelledFrame(mark_missing(_rename(frame, text, hide_password(str(path))), text.missing_marks))
    paths = list_input_files(path)
    parts = [_read_file(file_path, text, source) for file_path in paths]
    first = parts[0].frame
    for file_path, part in zip(paths[1:], parts[1:], strict=True):
        if part.frame.columns != first.columns:
            raise DataError(f"{file_path}: its columns differ from those of {paths[0]}; files of one glob must agree")
    if len(parts) == 1:
        return parts[0]
    if has_stored_types(path):
        _refuse_changed_types(paths, [part.frame for part in parts])
    return replace(parts[0], frame=pl.concat(_unify_schemas([part.frame for part in parts]), how="vertical"))


def list_input_files(path: str | Path) -> list[Path]:
    """The files that a path or a glob names, in reading order."""
    source = parse_source(path)
    if source.kind in ("postgresql", "spark"):
        return []
    plain = Path(source.location)
    try:
        if plain.exists() or source.kind != "file" or not glob.has_magic(source.location):
            return [plain]
    except (OSError, ValueError):
        raise DataError("the data file's name is too long or not a valid file name") from None
    paths = sorted(Path(name) for name in glob.glob(source.location))  # noqa: PTH207  (patterns may be absolute)
    if not paths:
        raise DataError(f"{path}: no file matches this pattern{ask_for_file(Path(source.location))}")
    return paths


def find_source_kind(path: str | Path) -> str | None:
    """The kind of a file or database; None for a table of text cells."""
    source = parse_source(path)
    return source.kind if source.kind != "file" else detect_file_kind(read_first_bytes(list_input_files(path)[0], HEAD))


def has_stored_types(path: str | Path) -> bool:
    """Whether columns have a declared type. Text does not, and neither do formats that type each cell by itself."""
    return find_source_kind(path) in ("postgresql", "duckdb", "spark", *ARROW_KINDS)


def has_stored_text(path: str | Path) -> bool:
    """Whether a file declares which columns are text, as SPSS, Stata and SAS do: a column of digits stays text."""
    return find_source_kind(path) in STATISTICS


def explain_changed_type(file: Path, columns: Sequence[str], first: Path) -> DataError:
    """The file in which some columns are of another type than in the first one."""
    return DataError(
        f"{file}: {quote_names(columns)} has another type than in {first}; write the file again with one type for "
        "each column"
    )


def _refuse_changed_types(paths: Sequence[Path], frames: Sequence[pl.DataFrame]) -> None:
    """Stop at the first file that holds texts where others hold numbers, dates where others hold texts, and so on."""
    first = frames[0]
    for path, frame in zip(paths, frames, strict=True):
        if changed_names := [name for name in first.columns if not _can_be_one_column(frame[name], first[name])]:
            raise explain_changed_type(path, changed_names, paths[0])


def _can_be_one_column(first: pl.Series, second: pl.Series) -> bool:
    """Whether two columns can be one: a column without any cell fits all, and numbers can be widened."""
    texts = (pl.String, pl.Categorical, pl.Enum)
    if any(column.null_count() == len(column) for column in (first, second)):
        return True
    if isinstance(first.dtype, pl.Datetime) and isinstance(second.dtype, pl.Datetime):
        return first.dtype.time_zone == second.dtype.time_zone
    numbers = first.dtype.is_numeric() and second.dtype.is_numeric()
    return first.dtype == second.dtype or numbers or (first.dtype in texts and second.dtype in texts)


def _unify_schemas(frames: list[pl.DataFrame]) -> list[pl.DataFrame]:
    """Files of one glob may hold numbers in one and text in another: text wins."""
    first = frames[0].schema
    mixed_names = [name for name in first if any(frame.schema[name] != first[name] for frame in frames)]
    numbers = [name for name in mixed_names if all(frame.schema[name].is_numeric() for frame in frames)]
    texts = [name for name in mixed_names if name not in numbers]
    return [frame.with_columns(pl.col(numbers).cast(pl.Float64), pl.col(texts).cast(pl.String)) for frame in frames]


def _read_file(path: Path, text: TextFormat, source: Source) -> LabelledFrame:
    kind = detect_file_kind(read_first_bytes(path, HEAD))
    if source.kind not in ("file", kind):
        raise DataError(f"{path}: this is not {name_kind(source.kind)}; check the address")
    if source.table is not None and kind not in ("excel", "sqlite", "duckdb"):
        raise DataError(f"{path}: only a workbook or a database has sheets or tables to name after the file")
    if kind is None:
        return LabelledFrame(_read_as_text(path, text))
    if kind == "json":
        return LabelledFrame(mark_missing(_rename(read_json_table(path), text, path), text.missing_marks))
    part = BinaryPart(source.table, text.header)

    def check_names(names: Sequence[str]) -> None:
        if kind != "excel":
            refuse_repeated(names, path)

    table = read_binary(path, kind, check_names, part)
    if kind == "excel":
        table = table.rename_columns(choose_column_names(table.column_names, text.columns, table.num_columns, path))
    frame = build_frame(table, path)
    if kind in ARROW_KINDS:
        return LabelledFrame(_rename(frame, text, path))
    frame = mark_missing(simplify_stored_cells(frame, kind), text.missing_marks)
    raw = [(field.metadata or {}).get(LABELS) if kind in STATISTICS else None for field in table.schema]
    return _label(_rename(frame, text, path) if kind != "excel" else frame, raw)


def _read_as_text(path: Path, text: TextFormat) -> pl.DataFrame:
    """Read a text file; one whose name promises another kind, and that holds no table of text, is called damaged."""
    promised_kind = name_promised_kind(path)
    try:
        frame = read_text_table(path, text)
        if promised_kind is not None and frame.is_empty():
            raise DataError(f"{path}: the file has a header and no rows")
    except DataError as error:
        if promised_kind is None:
            raise
        reason = str(error).removeprefix(f"{path}: ")
        raise DataError(f"{path}: this is not {promised_kind}, or it is damaged; read as text: {reason}") from None
    return frame


def _label(frame: pl.DataFrame, raw: Sequence[bytes | None]) -> LabelledFrame:
    labelled_columns = [
        apply_labels(column, raw_labels) for column, raw_labels in zip(frame.get_columns(), raw, strict=True)
    ]
    column_labels = {column.name: labels for column, labels in labelled_columns if labels is not None}
    return LabelledFrame(pl.DataFrame([column for column, _ in labelled_columns]), MappingProxyType(column_labels))


def _rename(frame: pl.DataFrame, text: TextFormat, path: Path | str) -> pl.DataFrame:
    """The columns under the names that are given for them, if any."""
    if text.columns is None:
        return frame
    names = choose_column_names(frame.columns, text.columns, frame.width, path)
    return pl.DataFrame([column.alias(name) for column, name in zip(frame.get_columns(), names, strict=True)])
