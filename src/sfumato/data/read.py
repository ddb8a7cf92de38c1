# SPDX-License-Identifier: MIT
"""Read a table from a file, strictly.

pyarrow parses, because it refuses a ragged row where others fill it up silently. Every cell is read as
text first; a column becomes a number only if no digit is lost by it, so that «02135» stays a ZIP code.
Messages name the file, the line and the count, never a cell.
"""

from __future__ import annotations

import codecs
import csv
import glob
import gzip
import io
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from sfumato.errors import DataError

SEPARATORS = (",", ";", "\t", "|")
MISSING_MARKS = ("", "?")
_BLOCK = 16 << 20
_LARGEST_BLOCK = (1 << 31) - 1
_WHOLE = r"^(?:0|-?[1-9][0-9]{0,17})$"
_DECIMAL = r"^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,17})?(?:[eE][+-]?[0-9]{1,2})?$"


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How a text file spells a table."""

    separator: str | None = None
    """One character between cells; None looks at the file and chooses among , ; tab and |."""
    missing_marks: tuple[str, ...] = MISSING_MARKS
    """Cells that mean «not known»."""
    header: bool = True
    """Whether the first line names the columns."""
    columns: tuple[str, ...] | None = None
    """Names to use when the file has none, or instead of its own."""
    encoding: str = "utf-8"
    """A UTF-8 or UTF-16 byte order mark in the file overrules it."""
    quote: str | None = '"'
    """Encloses a cell that holds the separator or a line end; None when the file has no quoting."""
    comment: str | None = None
    """Lines that start with it are skipped."""
    trim: bool = True
    """Whether blanks around a cell are left out."""


def read_frame(path: str | Path, text: TextFormat | None = None) -> pl.DataFrame:
    """Read CSV, TSV, Parquet or Arrow/Feather, gzipped or not; a glob gives its files one after another."""
    paths = _matching(path)
    frames = [_read_one(one, text or TextFormat()) for one in paths]
    first = frames[0]
    for one, frame in zip(paths[1:], frames[1:], strict=True):
        if frame.columns != first.columns:
            raise DataError(f"{one}: its columns differ from those of {paths[0]}; files of one glob must agree")
    if len(frames) == 1:
        return first
    return pl.concat(_one_schema(frames), how="vertical")


def _matching(path: str | Path) -> list[Path]:
    plain = Path(path)
    if plain.exists() or not glob.has_magic(str(path)):
        return [plain]
    found = sorted(Path(name) for name in glob.glob(str(path)))  # noqa: PTH207  (patterns may be absolute)
    if not found:
        raise DataError(f"{path}: no file matches this pattern")
    return found


def _one_schema(frames: list[pl.DataFrame]) -> list[pl.DataFrame]:
    """Files of one glob may hold numbers in one and text in another: text wins."""
    first = frames[0].schema
    mixed = [name for name in first if any(frame.schema[name] != first[name] for frame in frames)]
    return [frame.with_columns(pl.col(mixed).cast(pl.String)) for frame in frames]


def _read_one(path: Path, text: TextFormat) -> pl.DataFrame:
    head = _first_bytes(path)
    if head[:4] == b"PAR1":
        return _frame_of(_binary(path, pyarrow.parquet.read_table), path)
    if head[:6] == b"ARROW1" or head[:4] == b"FEA1":
        return _frame_of(_binary(path, pyarrow.feather.read_table), path)
    return _read_text(path, text, head)


def _first_bytes(path: Path, count: int = 1 << 16) -> bytes:
    try:
        with path.open("rb") as file:
            head = file.read(count)
        if head[:2] == b"\x1f\x8b":
            with gzip.open(path) as packed:
                head = packed.read(count)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: this is a folder; name a file in it, or a pattern such as {path}/*.csv") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(f"{path}: the gzip file is damaged or cut off; fetch it again") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    if not head:
        raise DataError(f"{path}: the file is empty")
    return head


def _binary(path: Path, reader: Any) -> pa.Table:
    try:
        return reader(str(path))
    except (pa.ArrowException, OSError):
        raise DataError(f"{path}: the file is damaged or cut off; write it again") from None


def _frame_of(table: pa.Table, path: Path) -> pl.DataFrame:
    _refuse_repeated(table.column_names, path)
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _read_text(path: Path, text: TextFormat, head: bytes) -> pl.DataFrame:
    encoding = _encoding(head, text.encoding, path)
    opening = head.decode(encoding, errors="replace")
    separator = text.separator or _likely_separator(opening, text)
    if len(separator) != 1 or ord(separator) > 127:
        raise DataError(
            f"{path}: the separator must be one plain character (for «, » give «,»: blanks around cells are trimmed)"
        )
    width = _width(opening, separator, text, path)
    cells = _cells(path, separator, width, encoding, text)
    names = [str(name or "").strip() for name in cells.row(0)] if text.header and len(cells) else []
    names = _names(names, text, width, path)
    cells = cells.slice(1 if text.header else 0)
    cells.columns = [f"\0{position}" for position in range(width)]
    return pl.DataFrame([_typed(_cleaned(cells.to_series(i), text)).alias(name) for i, name in enumerate(names)])


def _encoding(head: bytes, given: str, path: Path) -> str:
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        return codecs.lookup(given).name
    except LookupError:
        raise DataError(f"{path}: «{given}» is not an encoding; try utf-8, latin-1 or cp1252") from None


def _records(opening: str, separator: str, text: TextFormat, most: int) -> list[list[str]]:
    """The first records of a file, as far as its opening holds them whole."""
    lines = opening.splitlines(keepends=True)
    if text.comment:
        lines = [line for line in lines if not line.startswith(text.comment)]
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if text.quote else csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=separator, quotechar=text.quote or '"', quoting=quoting)
    found: list[list[str]] = []
    try:
        for record in reader:
            if record:
                found.append(record)
            if len(found) == most:
                return found
    except csv.Error:
        return found
    # The last record may be cut off where the opening ends; alone, it is all there is.
    return found[:-1] if len(found) > 1 and len(opening) >= 1 << 15 else found


def _likely_separator(opening: str, text: TextFormat) -> str:
    """The separator under which the first records agree on the largest number of cells."""

    def agreement(separator: str) -> tuple[float, int]:
        widths = [len(record) for record in _records(opening, separator, text, 50)]
        if not widths or widths[0] < 2:
            return (0.0, 0)
        return (sum(width == widths[0] for width in widths) / len(widths), widths[0])

    best = max(SEPARATORS, key=agreement)
    return best if agreement(best)[1] >= 2 else ","


def _width(opening: str, separator: str, text: TextFormat, path: Path) -> int:
    records = _records(opening, separator, text, 1)
    if not records:
        if len(opening) >= 1 << 15:  # one record longer than the opening: count what is seen of it
            return opening.split("\n", 1)[0].count(separator) + 1
        raise DataError(f"{path}: the file holds no rows")
    return len(records[0])


def _cells(path: Path, separator: str, width: int, encoding: str, text: TextFormat) -> pl.DataFrame:
    """Every cell as text, the header among them; a row of another width is an error."""
    ragged: list[int] = []

    def note(row: Any) -> str:
        ragged.append(row.actual_columns)
        return "skip"

    parse = pyarrow.csv.ParseOptions(
        delimiter=separator,
        quote_char=text.quote or False,
        double_quote=bool(text.quote),
        newlines_in_values=bool(text.quote),
        ignore_empty_lines=width > 1,
        invalid_row_handler=note,
    )
    convert = pyarrow.csv.ConvertOptions(
        column_types={f"f{i}": pa.large_string() for i in range(width)}, null_values=[], strings_can_be_null=False
    )
    block = _BLOCK
    while True:
        ragged.clear()
        read = pyarrow.csv.ReadOptions(
            autogenerate_column_names=True, block_size=block, encoding="utf-8" if "utf-8" in encoding else encoding
        )
        try:
            with _opened(path, text.comment, encoding) as stream:
                table = pyarrow.csv.read_csv(stream, read_options=read, parse_options=parse, convert_options=convert)
            break
        except (pa.ArrowException, OSError, EOFError, UnicodeError, zlib.error, AssertionError) as error:
            if "straddling" in str(error) and block < _LARGEST_BLOCK:
                block = min(block * 16, _LARGEST_BLOCK)
                continue
            raise _unreadable(path, encoding, error) from None
    if ragged or table.num_columns != width:
        raise DataError(
            f"{path}: {len(ragged)} row{'s have' if len(ragged) != 1 else ' has'} another number of cells than the "
            f"{width} columns; mend the file, or name the right separator (read with «{_visible(separator)}»)"
        )
    return _frame_of(table, path)


def _visible(separator: str) -> str:
    return {"\t": "tab"}.get(separator, separator)


def _opened(path: Path, comment: str | None, encoding: str) -> Any:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if comment is None:
        return pa.CompressedInputStream(pa.OSFile(str(path)), "gzip") if packed else pa.OSFile(str(path))
    content = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
    mark = comment.encode(encoding)
    kept = [line for line in content.splitlines(keepends=True) if not line.startswith(mark)]
    return io.BytesIO(b"".join(kept))


def _unreadable(path: Path, encoding: str, error: Exception) -> DataError:
    said = str(error)
    if "UTF8" in said or "UTF-8" in said or isinstance(error, UnicodeError) or "codec" in said:
        return DataError(f"{path}: the bytes are not {encoding}; name the file's encoding (latin-1, cp1252, utf-16, …)")
    if isinstance(error, (OSError, EOFError, zlib.error)) and not isinstance(error, pa.ArrowException):
        return DataError(f"{path}: the file is damaged or cut off; fetch it again")
    return DataError(f"{path}: this is not a table of text cells; check the separator, the quotes and the encoding")


def _names(read: list[str], text: TextFormat, width: int, path: Path) -> list[str]:
    if text.columns is not None:
        if len(text.columns) != width:
            raise DataError(f"{path}: {len(text.columns)} column names are given, the file has {width} columns")
        names = list(text.columns)
    else:
        names = read or [""] * width
    names = [name or f"column_{position}" for position, name in enumerate(names)]
    _refuse_repeated(names, path)
    return names


def _refuse_repeated(names: Sequence[str], path: Path) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        listed = ", ".join(f"«{name}»" for name in repeated[:12])
        raise DataError(f"{path}: the column {listed} stands in the header more than once; rename one of them")


def _cleaned(column: pl.Series, text: TextFormat) -> pl.Series:
    if text.trim:
        column = column.str.strip_chars(" \t")
    if not text.missing_marks:
        return column
    marked = column.is_in(list(text.missing_marks))
    return column.set(marked, None) if marked.any() else column


def _typed(column: pl.Series) -> pl.Series:
    """A number where every cell is one and nothing is lost by it, else text."""
    known = column.drop_nulls()
    if known.is_empty():
        return column
    for pattern, kind in ((_WHOLE, pl.Int64), (_DECIMAL, pl.Float64)):
        if known.head(64).str.contains(pattern).all() and known.str.contains(pattern).all():
            return column.cast(kind)
    return column
