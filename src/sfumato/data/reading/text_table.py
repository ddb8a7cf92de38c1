# SPDX-License-Identifier: MIT
"""Read a table from a text file, strictly.

pyarrow parses, because it refuses a ragged row where others silently fill it up. Every cell is read as text first; a
column becomes a number only if no digit is lost, so that "02135" stays a ZIP code. Messages name the file, the line and
the count, never a cell.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import polars as pl
import pyarrow as pa
import pyarrow.csv

from sfumato.data.cells.cell_types import state_types, type_cells
from sfumato.data.reading.arrow_frame import build_frame
from sfumato.data.reading.column_names import choose_column_names
from sfumato.data.reading.compression import PACKING_FAULTS, detect_packing
from sfumato.data.reading.file_kinds import HEAD, refuse_document
from sfumato.data.reading.file_limits import (
    MOST_COLUMNS,
    BoundedStream,
    explain_damaged_packing,
    read_whole,
    refuse_bomb,
    refuse_cells,
    refuse_columns,
    refuse_special,
)
from sfumato.data.reading.near_files import ask_for_file
from sfumato.data.reading.text_dialect import SEPARATORS, count_record_cells, guess_separator, strip_comment_lines
from sfumato.errors import DataError, count_noun

MISSING_MARKS = ("", "?")
_BLOCK = 16 << 20
PART = 4 << 20
"""Bytes of a part of a large file: with smaller ones less lies in memory, and closer to the processor."""
_LARGEST_BLOCK = (1 << 31) - 1
_AS_UTF8 = ("utf-8", "utf-8-sig", "ascii")
_AT_ONCE = 4
"""How many columns are typed together: polars works on them in parallel."""


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How a text file spells a table."""

    separator: str | None = None
    """The character between cells; by default detected among , ; tab and |."""
    missing_marks: tuple[str, ...] = MISSING_MARKS
    """Cells that mean a missing value."""
    header: bool = True
    """Whether the first line names the columns."""
    columns: tuple[str, ...] | None = None
    """Names to use if the file has none, or instead of its own."""
    encoding: str = "utf-8"
    """The encoding; a UTF-8 or UTF-16 byte order mark in the file takes precedence."""
    quote: str | None = '"'
    """Encloses a cell that holds the separator or a line end; None if the file has no quoting."""
    comment: str | None = None
    """Lines that start with it are skipped."""
    trim: bool = True
    """Whether blanks around a cell are removed."""
    numbers: tuple[str, ...] | None = None
    """The columns that hold numbers, all others text; detected if omitted."""
    integers: tuple[str, ...] = ()
    """Those of them that hold whole numbers."""
    decimal: str = "."
    """The sign before the decimals of a number: a point or a comma."""


class TextOptions(TypedDict, total=False):
    """The less common options, as keywords."""

    header: bool
    encoding: str
    quote: str | None
    comment: str | None
    trim: bool
    decimal: str


def read_first_bytes(path: Path, count: int) -> bytes:
    """The first bytes of a file, unpacked."""
    try:
        refuse_special(path)
        with BoundedStream(path) as file:
            head = file.read(count)
    except FileNotFoundError:
        raise DataError(f"{path}: the file does not exist{ask_for_file(path)}") from None
    except IsADirectoryError:
        raise DataError(f"{path}: this is a folder; name a file in it, or a pattern such as {path}/*.csv") from None
    except PACKING_FAULTS:
        raise explain_damaged_packing(path) from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'bad name'})") from None
    if not head:
        raise DataError(f"{path}: the file is empty")
    return head


class TextDialect(NamedTuple):
    """How one text file is spelled."""

    encoding: str
    separator: str
    width: int


def read_text_table(path: Path, text: TextFormat) -> pl.DataFrame:
    """Read a text file of cells."""
    refuse_document(path, read_first_bytes(path, HEAD))
    try:
        lines = refuse_bomb(path)  # before more of the file is unpacked
    except PACKING_FAULTS:
        raise explain_damaged_packing(path) from None
    encoding, separator, width = detect_dialect(path, text)
    refuse_cells(path, lines * width)
    if not lines and not text.comment and encoding in _AS_UTF8 and path.stat().st_size > _BLOCK:
        try:
            return _read_in_parts(path, text)
        except DataError:
            pass  # longer cells fit at once, and what else is wrong is explained there
    return _build_typed_frame(_read_text_cells(path, separator, width, encoding, text), text, width, path)


def _read_in_parts(path: Path, text: TextFormat) -> pl.DataFrame:
    """Read a large file without having all of it in memory as arrow's texts, which are twice as large."""
    cells = pl.concat(list(iterate_text_cells(path, text, PART)))
    pa.default_memory_pool().release_unused()
    columns: list[pl.Series] = []
    while cells.width:
        cell_part = cells.select(cells.columns[:_AT_ONCE])
        cells = cells.drop(cell_part.columns)
        columns += _type_columns(cell_part, cell_part.columns, text)
    return pl.DataFrame(columns)


def detect_dialect(path: Path, text: TextFormat) -> TextDialect:
    """The encoding, the separator and the number of columns, from the beginning of a file."""
    head = read_first_bytes(path, HEAD)
    refuse_document(path, head)
    encoding = _detect_encoding(head, text.encoding, path)
    opening = _read_opening(path, encoding, text)
    separator = text.separator or guess_separator(opening, text.quote)
    _refuse_signs(separator, text.quote, path)
    if text.decimal not in (".", ","):
        raise DataError(f'{path}: decimal must be "." (1.5) or "," (1,5)')
    width = next(count_record_cells(opening, separator, text.quote), 0)
    if not width:
        raise DataError(f"{path}: the file holds no rows")
    refuse_columns(path, width)
    if text.header and "\n" not in opening and "\r" not in opening:  # a header without a line end
        raise DataError(f"{path}: the file has a header and no rows")
    return TextDialect(encoding, separator, width)


def iterate_text_cells(path: Path, text: TextFormat, part: int = _BLOCK) -> Iterator[pl.DataFrame]:
    """The cells of a text file as text, some rows at a time (none longer than a part), under their columns' names."""
    encoding, separator, width = detect_dialect(path, text)
    if text.comment or encoding not in _AS_UTF8:
        raise DataError(f"{path}: a file with comments, or not in UTF-8, can only be read with --engine memory")
    options = _describe_csv(separator, width, text)
    read = pyarrow.csv.ReadOptions(autogenerate_column_names=True, block_size=part, use_threads=False)
    names: list[str] | None = None
    try:
        with _open_as_utf8(path, None, encoding) as stream, pyarrow.csv.open_csv(stream, read, *options) as reader:
            for batch in _read_ahead(reader):
                cells = build_frame(pa.Table.from_batches([batch]), path)
                if names is None:
                    first = [str(cell or "").strip() for cell in cells.row(0)] if text.header else []
                    names = choose_column_names(first, text.columns, width, path)
                    cells = cells.slice(1 if text.header else 0)
                yield _clean_cells(cells.rename(dict(zip(cells.columns, names, strict=True))), text)
    except _FAULTS as error:
        raise _explain_unreadable_text(path, separator, width, encoding, text, error) from None


def _read_ahead(reader: pyarrow.csv.CSVStreamingReader) -> Iterator[pa.RecordBatch]:
    """The parts of a file; the next is parsed by another thread while someone works on this one."""
    with ThreadPoolExecutor(1) as thread:
        next_part = thread.submit(next, reader, None)
        while (part := next_part.result()) is not None:
            next_part = thread.submit(next, reader, None)
            yield part


def _build_typed_frame(table: pa.Table, text: TextFormat, width: int, path: Path) -> pl.DataFrame:
    """Name, clean and type the columns, a few at a time: what was read of them is let go."""
    first = [table.column(i)[0].as_py() for i in range(width)] if text.header and table.num_rows else []
    names = choose_column_names([str(name or "").strip() for name in first], text.columns, width, path)
    columns: list[pl.Series] = []
    while table.num_columns:
        table_part, table = (
            table.select(range(_AT_ONCE)[: table.num_columns]),
            table.select(range(_AT_ONCE, table.num_columns)),
        )
        cells = _clean_cells(build_frame(table_part, path).slice(1 if text.header else 0), text)
        columns += _type_columns(cells, names[len(columns) :][: cells.width], text)
        del table_part
    pa.default_memory_pool().release_unused()
    return pl.DataFrame(columns)


def _type_columns(cells: pl.DataFrame, names: list[str], text: TextFormat) -> list[pl.Series]:
    typed_cells = (
        type_cells(cells, text.decimal)
        if text.numbers is None
        else cells.select(state_types(cells, names, text.numbers, text.integers))
    )
    # In one piece: the parts that the file was read in make every later step slower.
    return [column.alias(name).rechunk() for column, name in zip(typed_cells.get_columns(), names, strict=True)]


def _detect_encoding(head: bytes, encoding: str, path: Path) -> str:
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        name = codecs.lookup(encoding).name
        usable = "a,b".encode(name).decode(name, errors="replace") == "a,b"
    except (LookupError, ValueError, TypeError, AttributeError):
        usable = False
    if not usable:
        raise DataError(f"{path}: this is not a text encoding; try utf-8, latin-1 or cp1252")
    if name == "utf-8" and 4 * head.count(0) > len(head):  # plain letters in two bytes, one of them 0
        side = "le" if head[1::2].count(0) >= head[::2].count(0) else "be"
        raise DataError(f"{path}: this is UTF-16 without a mark that says so; name the encoding: utf-16-{side}")
    return name


def _refuse_signs(separator: str, quote: str | None, path: Path) -> None:
    for noun, sign in (("separator", separator), ("quote", quote)):
        if sign is not None and (len(sign) != 1 or not (sign == "\t" or " " <= sign <= "~")):
            raise DataError(
                f'{path}: the {noun} must be one plain character (for ", " give ",": blanks around cells are trimmed; '
                r'for a tab give "\t")'
            )
    if separator == quote:
        raise DataError(f"{path}: the separator and the quote are the same character")


def _read_opening(path: Path, encoding: str, text: TextFormat) -> str:
    """The beginning of a file, long enough to hold some whole records under any separator."""
    size = 1 << 16
    while True:
        head = read_first_bytes(path, size)
        opening = strip_comment_lines(head.decode(encoding, errors="replace"), text.comment).lstrip("\r\n")
        first = opening.partition("\n")[0]
        if '"' not in first and (most := max(first.count(mark) for mark in SEPARATORS)) > MOST_COLUMNS:
            refuse_columns(path, most + 1)  # before millions of cells are split to be counted
        if len(head) < size or size > 1 << 28:
            return opening
        if min(len(list(count_record_cells(opening, mark, text.quote, 3))) for mark in SEPARATORS) == 3:
            return opening
        size *= 16


def _read_text_cells(path: Path, separator: str, width: int, encoding: str, text: TextFormat) -> pa.Table:
    """Every cell as text, including the header; a row of another width is an error."""
    try:
        table = _parse_csv(path, separator, width, encoding, text, None)
    except _FAULTS as error:
        raise _explain_unreadable_text(path, separator, width, encoding, text, error) from None
    if table.num_columns != width:
        raise DataError(
            f"{path}: the first row has {count_noun(width, 'cell')}, others {table.num_columns}; correct the file"
        )
    return table


_FAULTS = (pa.ArrowException, OSError, ValueError, AssertionError, *PACKING_FAULTS)


def _parse_csv(
    path: Path, separator: str, width: int, encoding: str, text: TextFormat, note: Callable[[Any], str] | None
) -> pa.Table:
    parse, convert = _describe_csv(separator, width, text, note)
    block = _BLOCK
    while True:
        # One block needs no threads; threads of a failed read can outlive the interpreter and abort it.
        threads = note is None and path.stat().st_size > _BLOCK
        read = pyarrow.csv.ReadOptions(autogenerate_column_names=True, block_size=block, use_threads=threads)
        try:
            with _open_as_utf8(path, text.comment, encoding) as stream:
                return pyarrow.csv.read_csv(stream, read_options=read, parse_options=parse, convert_options=convert)
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error) or block >= _LARGEST_BLOCK:
                raise
            block = min(block * 16, _LARGEST_BLOCK)  # one cell is longer than a block


def _describe_csv(
    separator: str, width: int, text: TextFormat, note: Callable[[Any], str] | None = None
) -> tuple[pyarrow.csv.ParseOptions, pyarrow.csv.ConvertOptions]:
    """How pyarrow parses a file in which every cell is a text."""
    parse = pyarrow.csv.ParseOptions(
        delimiter=separator,
        quote_char=text.quote or False,
        double_quote=bool(text.quote),
        newlines_in_values=bool(text.quote),
        ignore_empty_lines=width > 1,
        invalid_row_handler=note,
    )
    kinds = {f"f{i}": pa.large_string() for i in range(width)}
    return parse, pyarrow.csv.ConvertOptions(column_types=kinds, null_values=[], strings_can_be_null=False)


def _open_as_utf8(path: Path, comment: str | None, encoding: str) -> Any:
    """The file as UTF-8 bytes; streamed if it is UTF-8 already, otherwise converted in memory."""
    if not comment and encoding in _AS_UTF8:
        is_packed = detect_packing(path) is not None
        return pa.PythonFile(BoundedStream(path) if is_packed else path.open("rb"))  # Python copes with any file name
    return io.BytesIO(strip_comment_lines(read_whole(path).decode(encoding), comment).encode())


def _explain_unreadable_text(
    path: Path, separator: str, width: int, encoding: str, text: TextFormat, error: Exception
) -> DataError:
    """Describe in words and counts why a file could not be parsed."""
    if not _can_decode(path, encoding):
        return DataError(
            f"{path}: the bytes are not {encoding}; name the file's encoding (latin-1, cp1252, utf-16, …) with "
            "--encoding, or as `encoding` under [data]"
        )
    if not isinstance(error, pa.ArrowInvalid):
        return DataError(f"{path}: the file is damaged or truncated; download it again")
    widths: list[int] = []
    numbers: list[int] = []

    def note(row: Any) -> str:
        widths.append(row.actual_columns)
        numbers.append(row.number)
        return "skip"

    try:
        _parse_csv(path, separator, width, encoding, text, note)
    except _FAULTS:
        widths.clear()
    if widths and (usual := max(set(widths), key=widths.count)) > width and widths.count(usual) > 9:
        cure = "remove the separator at the end of these lines, or " if usual == width + 1 else ""
        return DataError(
            f"{path}: the first line has {count_noun(width, 'cell')}, and {widths.count(usual)} lines have {usual}; "
            f"{cure}remove what is above the names of the columns, such as a title or comments, or set the right "
            "separator"
        )
    if widths:
        return DataError(
            f"{path}: {count_noun(len(widths), 'row has', 'rows have')} another number of cells than the "
            f"{count_noun(width, 'column')}, first row {numbers[0]:,} of the file (blank lines not counted); "
            "correct it, or set the right separator (read with "
            f'"{"tab" if separator == chr(9) else separator}")'
        )
    return DataError(f"{path}: this is not a table of text cells; check the separator, the quotes and the encoding")


def _can_decode(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with BoundedStream(path) as file:
            while block := file.read(_BLOCK):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    except (OSError, *PACKING_FAULTS):
        return True  # damaged, but not by its encoding
    return True


def _clean_cells(cells: pl.DataFrame, text: TextFormat) -> pl.DataFrame:
    """Cells without blanks around them, and null for missing marks."""
    if text.trim:
        cells = cells.select(pl.all().str.strip_chars(" \t"))
    if text.missing_marks:
        marks = list(text.missing_marks)
        cells = cells.select(
            pl.when(pl.col(name).is_in(marks)).then(None).otherwise(pl.col(name)).alias(name) for name in cells.columns
        )
    return cells
