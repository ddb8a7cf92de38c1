# SPDX-License-Identifier: MIT
"""Look at a file before there is a policy: is it a table, baskets, sequences or points, and how is it to be read?

Nothing is decided silently: what was detected stands in the drafted policy, with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl

from sfumato.baskets import Baskets
from sfumato.data.cells.misread_columns import find_decimal_commas
from sfumato.data.cells.missing_marks import MissingMark, find_missing_marks
from sfumato.data.cells.moments_in_text import are_moments
from sfumato.data.cells.spelled_dates import find_date_forms, read_dates
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.reading.file_kinds import HEAD, detect_file_kind
from sfumato.data.reading.plain_frames import simplify_frame
from sfumato.data.reading.source import is_database, parse_source
from sfumato.data.reading.table_reader import MISSING_MARKS, TextFormat, list_input_files, read_frame
from sfumato.data.reading.text_dialect import SEPARATORS, count_record_cells
from sfumato.data.reading.text_table import read_first_bytes
from sfumato.data.roles.role import name_separator
from sfumato.errors import DataError
from sfumato.sequences import Sequences
from sfumato.workflow.drafts.draft_notes import list_unnamed
from sfumato.workflow.drafts.point_draft import PointFile, find_point_columns
from sfumato.workflow.policy import DEMO

DataShape = Literal["table", "baskets", "sequences", "points"]
"""Points (id, time, x, y) become sequences of regions."""
_OPENING = 1 << 16
_LINES = 200
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")


class LongColumns(NamedTuple):
    """The columns of a file with one row for each (id, item) or (id, item, time); None for those of the usual names."""

    id: str | None = None
    item: str | None = None
    time: str | None = None

    @property
    def owner(self) -> str:
        """Whose basket or sequence a row belongs to."""
        return self.id or "id"

    @property
    def item_column(self) -> str:
        """The item."""
        return self.item or "item"

    @property
    def time_column(self) -> str:
        """What orders the items of a sequence."""
        return self.time or "time"


_USUAL = LongColumns()


@dataclass(frozen=True)
class DraftSource:
    """A data file, and how it is read."""

    path: str
    """A file, a pattern, an address, or `demo`."""
    shape: DataShape = "table"
    separator: str | None = None
    header: bool | None = None
    """Whether the first line names the columns; detected if not given."""
    encoding: str = "utf-8"
    missing_marks: tuple[str, ...] = MISSING_MARKS
    decimal: str = "."
    """The sign before decimals; a comma is noticed."""
    columns: LongColumns = _USUAL
    """Of a file with one item or one point in each row."""

    @classmethod
    def of(
        cls,
        path: str | Path,
        shape: DataShape | None = None,
        separator: str | None = None,
        header: bool | None = None,
        encoding: str = "utf-8",
        decimal: str | None = None,
        columns: LongColumns = _USUAL,
    ) -> DraftSource:
        """Look at the beginning of a file."""
        _refuse_policy(path)
        data_shape = shape or (
            detect_long_form(str(path), separator, columns) if any(columns) else detect_shape(str(path))
        )
        source = cls(str(path), data_shape, separator, header, encoding, decimal=decimal or ".", columns=columns)
        if data_shape != "table" or source.path == DEMO:
            return source
        if header is None and source.is_text:
            source = replace(source, header=not source._starts_with_data())
        if source.header is not False:
            _refuse_names_below(source)
        if separator is None and source.is_text:
            _refuse_single_column(source)
        if decimal is None and source.is_text and find_decimal_commas(source._raw_frame):
            return replace(source, decimal=",")
        return source

    @cached_property
    def is_text(self) -> bool:
        """Whether it is a text file, whose cells have no types of their own."""
        return (
            self.path != DEMO and not is_database(self.path) and _find_file_kind(list_input_files(self.path)[0]) is None
        )

    @cached_property
    def takes_marks(self) -> bool:
        """Whether cells can be marked as missing by a policy."""
        if self.shape != "table" or self.path == DEMO:
            return False
        return is_database(self.path) or _find_file_kind(list_input_files(self.path)[0]) not in ("parquet", "arrow")

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The table, typed as a run will see it."""
        if self.path == DEMO:
            from sfumato.data.generators.population import generate_population

            return generate_population()
        return read_dates(self._raw_frame, self.dates, self.path)

    @cached_property
    def dates(self) -> dict[str, str]:
        """The columns of dates that need a form, and the only form that fits all of their cells."""
        if self.shape != "table" or self.path == DEMO:
            return {}
        return find_date_forms(self._raw_frame)

    @cached_property
    def _raw_frame(self) -> pl.DataFrame:
        header, marks = self.header is not False, self.missing_marks
        read = read_frame(
            self.path, TextFormat(self.separator, marks, header, encoding=self.encoding, decimal=self.decimal)
        )
        if read.is_empty():
            raise DataError(f"{self.path}: the file has a header and no rows")
        return simplify_frame(read, self.path)

    @cached_property
    def baskets(self) -> Baskets:
        """The baskets."""
        return Baskets.read(self.path, separator=self.separator, id=self.columns.owner, item=self.columns.item_column)

    @cached_property
    def sequences(self) -> Sequences:
        """The sequences; those of regions, if the file holds points."""
        if self.shape == "points":
            return self.points.read()
        owner, item, time = self.columns.owner, self.columns.item_column, self.columns.time_column
        return Sequences.read(self.path, separator=self.separator, id=owner, item=item, time=time)

    @cached_property
    def points(self) -> PointFile:
        """The file as one of points."""
        header = read_header(self.path, self.separator)
        return PointFile.of(self.path, self.separator, header, self.columns.id, self.columns.time)

    @cached_property
    def noticed_marks(self) -> tuple[MissingMark, ...]:
        """Cells that may mean "missing" and are not among the marks; Parquet and Arrow files say it themselves."""
        if not self.takes_marks:
            return ()
        if not self.is_text:
            return find_missing_marks(self._raw_frame.select(map(spell_cells, self._raw_frame)), self._raw_frame)
        text = TextFormat(
            self.separator, self.missing_marks, self.header is not False, encoding=self.encoding, numbers=()
        )
        return find_missing_marks(read_frame(self.path, text), self.frame)

    def mark_missing(self, marks: tuple[str, ...]) -> DraftSource:
        """The same file with further cells that mean "missing"."""
        return replace(self, missing_marks=(*self.missing_marks, *marks)) if marks else self

    def _starts_with_data(self) -> bool:
        """Whether the first line looks like a row: numbers over numbers, or words that the column holds again."""
        plain = replace(self, header=False)
        first, rest = plain._raw_frame.head(1), plain._raw_frame.slice(1)
        if rest.is_empty() or not rest.width:
            return False
        alike = [_fits_column(first[name][0], rest[name]) for name in rest.columns]
        return any(fits is True for fits in alike) and all(fits is not False for fits in alike)


def _refuse_names_below(source: DraftSource) -> None:
    """Refuse a table whose names stand below its first line, as under a title or a merged cell of a workbook."""
    frame = source._raw_frame
    if not list_unnamed(frame) or frame.height < 3:
        return
    first = [cell for cell in frame.row(0) if cell is not None]
    are_words = all(isinstance(cell, str) and not _NUMBER.fullmatch(cell) for cell in first)
    if are_words and len(set(first)) == len(first) > 1 and any(_is_name_above(column) for column in frame):
        raise DataError(
            f"{source.path}: {len(list_unnamed(frame))} of {frame.width} columns have no name, and the row below seems "
            "to name them; remove what is above it, such as a title or merged cells"
        )


def _is_name_above(column: pl.Series) -> bool:
    """Whether a word stands over numbers or dates."""
    if column.dtype != pl.String or column[0] is None or not column.slice(1).count():
        return False
    cells_below = column.slice(1).drop_nulls()
    numbers = cells_below.str.contains(f"^(?:{_NUMBER.pattern})$").all()
    return bool(numbers or are_moments(cells_below)) and not (are_moments(column.head(1)))


def refuse_missing_input(path: str) -> None:
    """Stop if there is no such file, before anything else is said about what would be written."""
    _refuse_policy(path)
    if path != DEMO and not is_database(path):
        read_first_bytes(list_input_files(path)[0], 1)


def _refuse_policy(path: str | Path) -> None:
    """Say so if the file is a policy already, or no path at all."""
    if parse_source(path).location.lower().endswith(".toml"):
        raise DataError(f"{path}: this is a policy, not data; to run it: sfumato run {path}")


def _fits_column(cell: object, column: pl.Series) -> bool | None:
    """Whether a first cell is a value of its column; False if it cannot be, None if nothing shows it."""
    if cell is None or not column.count():
        return None
    known_cells = column.drop_nulls()
    if column.dtype.is_numeric():  # a number among smaller and larger ones; 2019 over prices is a name
        return True if bool((known_cells <= cell).any() and (known_cells >= cell).any()) else None
    if known_cells.cast(pl.String).str.contains(f"^(?:{_NUMBER.pattern})$").all():
        return False  # a name over numbers
    if bool((known_cells == cell).any()):
        return True
    return False if 2 * known_cells.n_unique() < len(known_cells) else None


def _refuse_single_column(source: DraftSource) -> None:
    """Refuse one column whose cells hold a sign as often as its first line does: several columns read as one."""
    if source.frame.width != 1:
        return
    cells = source.frame.to_series().cast(pl.String).drop_nulls()
    heading = source.frame.columns[0] if source.header or not len(cells) else str(cells[0])
    for sign in {letter for letter in heading if not letter.isalnum() and letter not in "_-.\"'"}:
        times = heading.count(sign)
        if len(cells) and int((cells.str.count_matches(sign, literal=True) >= times).sum()) >= 0.9 * len(cells):
            cure = "save it as CSV" if sign == " " else f"give its separator: --separator {name_separator(heading)}"
            raise DataError(
                f"{source.path}: the file was read as a single column, but seems to hold several; {cure}. If it "
                'is one column, say so: --separator ","'
            )


def detect_shape(path: str) -> DataShape:
    """Whether a file holds a table, baskets, sequences or points."""
    if path == DEMO or is_database(path):
        return "table"
    file = list_input_files(path)[0]
    if _find_file_kind(file) is not None:
        return _name_long_form(_list_columns(path, file))
    lines = [line for line in _read_opening(file).splitlines() if line.strip()][:_LINES]
    if any(re.search(r"(?:^|\s)-1(?:\s|$)", line) and re.search(r"\s-2\s*$", line) for line in lines):
        return "sequences"
    if _agree_on_columns(lines):
        return _name_long_form(re.split(r"[,;\t|]", lines[0].replace('"', "")))
    return "baskets" if _look_like_baskets(lines, file.name.lower()) or _have_commas(lines) else "table"


def detect_long_form(path: str, separator: str | None, columns: LongColumns) -> DataShape:
    """What a file holds whose columns were named: points, sequences if there is a time, or else baskets."""
    header = read_header(path, separator)
    if columns.item is None and find_point_columns(header, columns.id, columns.time) is not None:
        return "points"
    return "sequences" if columns.time is not None or columns.time_column in header else "baskets"


def _name_long_form(header: list[str]) -> DataShape:
    """Whether columns are those of points, or of baskets or sequences with one item in each row."""
    names = {name.strip() for name in header}
    if find_point_columns(names) is not None:
        return "points"
    if sum(re.fullmatch(r"(?i)items?[ _-]?\d+", name) is not None for name in names) >= max(2, len(names) - 1):
        return "baskets"  # comma lines with a header that numbers its columns, after an id or a count
    return "baskets" if names == {"id", "item"} else "sequences" if names == {"id", "item", "time"} else "table"


def read_header(path: str, separator: str | None = None) -> list[str]:
    """The names of a table's columns."""
    file = list_input_files(path)[0]
    if _find_file_kind(file) is not None:
        return _list_columns(path, file)
    first = next((line for line in _read_opening(file).splitlines() if line.strip()), "")
    return [name.strip() for name in re.split(rf"[{re.escape(separator or ',;|')}\t]", first.replace('"', ""))]


def _list_columns(path: str, file: Path) -> list[str]:
    """The columns of a file that is no text; of Parquet without its rows, which may be larger than memory."""
    if detect_file_kind(read_first_bytes(file, HEAD)) == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        with suppress(pa.ArrowException, OSError):  # a damaged file is named by its reader
            return list(pq.read_schema(file).names)
    return read_frame(path).columns


def _have_commas(lines: list[str]) -> bool:
    """Whether lines of different lengths list words that come again: items of baskets by name."""
    for separator in SEPARATORS:
        words = [word.strip() for line in lines for word in line.split(separator) if word.strip()]
        if len(words) > len(lines) and 2 * len(set(words)) < len(words):
            return True
    return False


def _find_file_kind(file: Path) -> str | None:
    return detect_file_kind(read_first_bytes(file, HEAD))


def _read_opening(file: Path) -> str:
    head = read_first_bytes(file, _OPENING)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head[: len(head) // 2 * 2].decode("utf-16", errors="replace")
    return head.decode("utf-8-sig", errors="replace").rpartition("\n")[0] or head.decode("utf-8-sig", errors="replace")


def _agree_on_columns(lines: list[str]) -> bool:
    """Whether nine of ten lines have as many cells as the first, more than one, under some separator."""
    text = "\n".join(lines)
    for separator in SEPARATORS:
        widths = list(count_record_cells(text, separator, '"', _LINES))
        if widths and widths[0] > 1 and Counter(widths)[widths[0]] >= 0.9 * len(widths):
            return True
    return False


def _look_like_baskets(lines: list[str], name: str) -> bool:
    """Lines of whole numbers between blanks, an SPMF header, or a name that says so."""
    if name.endswith((".dat", ".dat.gz")) or any(line.startswith(("@CONVERTED", "@ITEM=")) for line in lines[:2]):
        return True
    several = any(len(line.split()) > 1 for line in lines)
    return several and all(re.fullmatch(r"\s*\d+(\s+\d+)*\s*", line) for line in lines)
