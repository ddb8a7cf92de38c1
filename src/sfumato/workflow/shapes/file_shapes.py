# SPDX-License-Identifier: MIT
"""The shapes of data on disk: how a release of each is written, described in a certificate, and read back.

Once a release is written, only its file counts: what does not read back as it was written stops the release.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from sfumato.arrays import Codes
from sfumato.baskets import Baskets, Items
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.items.basket_files import parse_item_types
from sfumato.data.items.rule_set_files import is_rule_set_file
from sfumato.data.reading.table_reader import TextFormat, read_frame
from sfumato.data.writing.format_limits import LIMITS
from sfumato.data.writing.formulas import (
    count_formulas,
    escape_words,
    find_formulas,
    summarize_formulas,
    unescape_frame,
    unescape_words,
)
from sfumato.data.writing.table_writer import SEPARATOR_OF, choose_missing_mark, write_frame
from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import ClaimBroken, DataError, PolicyError, count_noun
from sfumato.patterns import Patterns
from sfumato.rules import Rules
from sfumato.sequences import Sequences
from sfumato.table import Table
from sfumato.workflow.shapes.large_sequences import read_sequences, write_sequences


class FileShape(ABC):
    """One shape of data: its kind in Python, its file formats, and the way to disk and back."""

    name: ClassVar[str]
    kind: ClassVar[type]
    formats: ClassVar[Mapping[str, str]]
    """Format → the ending of the file's name."""

    def name_file(self, form: str) -> str:
        """The name of the data file."""
        if form not in self.formats:
            raise PolicyError(
                f'this release ({self.name}) can be written as {", ".join(self.formats)}, not as "{form}"'
            )
        return f"data.{self.formats[form]}"

    @abstractmethod
    def choose_format(self, data: Any) -> str:
        """The format that holds this data, if a policy names none."""

    def read_input(self, data: Any) -> Any:
        """Read the data that the section `[data]` of a policy names; a table needs its roles as well."""
        raise PolicyError(f"a policy cannot start from {self.name}")

    @abstractmethod
    def write(self, data: Any, path: Path, form: str, *, escape: bool = False) -> None:
        """Write the data file; `escape` puts an apostrophe before formulas, in formats that spreadsheets open."""

    @abstractmethod
    def describe_file(self, data: Any, form: str, *, escape: bool = False) -> dict[str, Any]:
        """What a certificate must state about the file, besides name and checksum, to read it back exactly."""

    @abstractmethod
    def count_formulas(self, data: Any) -> dict[str, Any]:
        """How many cells a spreadsheet would evaluate, and in which columns."""

    @abstractmethod
    def read(self, path: Path, body: Mapping[str, Any]) -> Any:
        """The data of a release, read as its certificate describes it."""

    @abstractmethod
    def refuse_changed(self, written_data: Any, read: Any) -> None:
        """Stop a release that does not read back as it was written."""


class TableShape(FileShape):
    """A table: text, Parquet, Arrow, Excel, Stata or SPSS."""

    name = "table"
    kind = Table
    formats: ClassVar[Mapping[str, str]] = {
        "csv": "csv",
        "tsv": "tsv",
        "parquet": "parquet",
        "arrow": "arrow",
        "excel": "xlsx",
        "stata": "dta",
        "spss": "sav",
    }

    def choose_format(self, data: Table) -> str:
        """CSV, which every tool reads."""
        return "csv"

    def write(self, data: Table, path: Path, form: str, *, escape: bool = False) -> None:
        """Write the frame."""
        mark = choose_missing_mark(data.frame)
        write_frame(data.frame, path, form, mark, escape=escape, labels=data.labels)  # type: ignore[arg-type]  # a form in `formats`

    def describe_file(self, data: Table, form: str, *, escape: bool = False) -> dict[str, Any]:
        """Text alone does not show whether "1.50" is a number, nor how a missing value is written."""
        return {
            "data": {
                "missing_mark": choose_missing_mark(data.frame),
                "numbers": [name for name, kind in data.frame.schema.items() if kind.is_numeric()],
                "integers": [name for name, kind in data.frame.schema.items() if kind.is_integer()],
                "rows": len(data),
                "columns": data.frame.width,
                "escaped_formulas": escape and form in SEPARATOR_OF,
            },
            "roles": {name: role.value for name, role in data.roles.items()},
            "missing": data.missing.value,
        }

    def read(self, path: Path, body: Mapping[str, Any]) -> Table:
        """Read a table with the roles of its certificate."""
        data = body["data"]
        is_escaped = data.get("escaped_formulas", False)
        integers = tuple(data.get("integers", ()))
        stated_names = (escape_words(names) if is_escaped else names for names in (data["numbers"], integers))
        frame = read_frame(path, describe_text_format(data["format"], data["missing_mark"], *stated_names))
        frame = unescape_frame(frame) if is_escaped else frame
        if data["format"] in LIMITS:  # formats with one kind of number
            decimal = [name for name in data["numbers"] if name not in integers and frame[name].dtype.is_integer()]
            frame = frame.with_columns(frame[name].cast(pl.Float64) for name in decimal)
        frame = cast_whole_columns(frame, data.get("integers", ()))
        return Table.of_release(frame, body["roles"], body["missing"], path.name)

    def count_formulas(self, data: Table) -> dict[str, Any]:
        """Count text cells and the names of columns."""
        return count_formulas(data.frame)

    def refuse_changed(self, written_data: Table, read: Table) -> None:
        """Compare column by column, as text."""
        for name in written_data.frame.columns:
            cells, written_cells = spell_cells(read.frame[name]), spell_cells(written_data.frame[name])
            if not cells.equals(written_cells, null_equal=True):
                changed_count = (
                    int(cells.ne_missing(written_cells).sum()) if len(cells) == len(written_cells) else len(cells)
                )
                raise ClaimBroken(
                    f'the column "{name}" does not read back from the file as it was written, in {changed_count:,} of '
                    f'{len(written_cells):,} rows; choose format = "parquet" under [output]'
                )


def cast_whole_columns(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Columns that are stated to hold whole numbers, as such wherever that is exact."""
    whole = [name for name in names if frame[name].dtype.is_float() and _is_whole_column(frame[name])]
    return frame.with_columns(frame[name].cast(pl.Int64) for name in whole)


def _is_whole_column(column: pl.Series) -> bool:
    """Whether every number is whole and exact as a float."""
    return bool(((column % 1 == 0) & (column.abs() < 2**53)).all())


def describe_text_format(form: str, mark: str, numbers: Iterable[str], integers: Iterable[str]) -> TextFormat:
    """The text format of a release, to read it back exactly."""
    return TextFormat(
        separator=SEPARATOR_OF.get(form, ","),
        missing_marks=(mark,),
        trim=False,
        numbers=tuple(numbers),
        integers=tuple(integers),
    )


@contextmanager
def _name_field_of_format(path: Path) -> Iterator[None]:
    """What a format cannot hold, in words of a policy: the file itself will not exist."""
    try:
        yield
    except DataError as error:
        if "write the long form" not in str(error):
            raise
        reason = str(error).removeprefix(f"{path}: ").replace("write the long form", 'set format = "long" in [output]')
        raise PolicyError(reason) from None


class BasketsShape(FileShape):
    """Baskets: FIMI, SPMF or long form, without ids."""

    name = "baskets"
    kind: ClassVar[type] = Baskets
    formats: ClassVar[Mapping[str, str]] = {"fimi": "dat", "spmf": "txt", "long": "csv"}

    def choose_format(self, data: Baskets) -> str:
        """FIMI, unless an item's name contains a space or begins with a minus; then SPMF, unless a basket is empty, or
        an item's name has a line end or is a negative number.
        """
        sizes = data.offsets[1:] - data.offsets[:-1]
        return choose_basket_format(data.items, has_empty=bool(len(sizes)) and int(sizes.min()) == 0)

    def read_input(self, data: Any) -> Baskets:
        """Read the baskets of a policy."""
        return Baskets.read(data.path, data.format, id=data.id, item=data.item, separator=data.separator)

    def write(self, data: Baskets, path: Path, form: str, *, escape: bool = False) -> None:
        """Write the baskets, without ids."""
        empty = int((np.diff(data.offsets) == 0).sum())
        if empty and form == "spmf":
            verb = "is" if empty == 1 else "are"
            raise PolicyError(
                f"{empty} of {count_noun(len(data), 'published basket')} {verb} empty, and SPMF has no line for an "
                'empty basket; set format = "fimi" in [output], or "long"'
            )
        escapes_names = _has_names(data.items) and escape and form == "long"
        items = tuple(escape_words(data.items)) if escapes_names else data.items  # type: ignore[arg-type]  # names are texts
        with _name_field_of_format(path):
            Baskets(items, data.offsets, data.codes).write(path, form)  # type: ignore[arg-type]  # a form in `formats`

    def describe_file(self, data: Baskets, form: str, *, escape: bool = False) -> dict[str, Any]:
        """How many there are."""
        return {
            "data": {
                "rows": len(data),
                "items": len(data.items),
                "escaped_formulas": escape and form == "long",
            }
        }

    def count_formulas(self, data: Baskets) -> dict[str, Any]:
        """Count items, as often as baskets hold them."""
        return _count_in_items(data.items, data.codes)

    def read(self, path: Path, body: Mapping[str, Any]) -> Baskets:
        """Read baskets; the ids of the long form are only row numbers."""
        baskets = Baskets.read(path, body["data"]["format"])
        escapes_names = _has_names(baskets.items) and body["data"].get("escaped_formulas", False)
        items = tuple(unescape_words(baskets.items)) if escapes_names else baskets.items  # type: ignore[arg-type]  # names are texts
        return Baskets(items, baskets.offsets, baskets.codes)

    def refuse_changed(self, written_data: Baskets, read: Baskets) -> None:
        """Compare basket by basket; item names are compared as text, since "7" may have become a number."""
        number = {str(item): index for index, item in enumerate(written_data.items)}
        item_codes = np.array([number.get(str(item), -1) for item in read.items], dtype=np.int64)
        codes = item_codes[read.codes] if len(read.codes) else np.zeros(0, dtype=np.int64)
        is_same = np.array_equal(written_data.offsets, read.offsets)
        if is_same:
            basket = np.repeat(np.arange(len(read)), np.diff(read.offsets))
            is_same = np.array_equal(codes[np.lexsort((codes, basket))], written_data.codes)
        if not is_same:
            raise ClaimBroken("the baskets do not read back from the file as they were written; try another format")


def choose_basket_format(items: Items, *, has_empty: bool) -> str:
    """The first format that holds such items, if a policy names none."""
    words = [str(item) for item in items]
    if not any(any(letter.isspace() for letter in word) or word.startswith("-") for word in words):
        return "fimi"
    return "long" if has_empty or any(_is_unfit_for_spmf(item) for item in items) else "spmf"


def type_item_names(items: Items) -> Items:
    """Items that are all whole numbers as numbers: one hidden item with a name makes all of a file's items text."""
    if not all(isinstance(item, str) for item in items):
        return items
    typed_items = parse_item_types([str(item) for item in items])
    # Not every format can hold negative ones.
    return items if any(isinstance(item, int) and item < 0 for item in typed_items) else tuple(typed_items)


_TABLE_OPTIONS = ("missing_marks", "header", "columns", "dates", "decimal", "encoding", "comment", "trim")


def _refuse_table_options(data: Any) -> None:
    """Reject table options that sequences ignore: with missing_marks ignored, NA would be published as an item."""
    usual = type(data).model_fields
    ignored_options = [
        name for name in _TABLE_OPTIONS if getattr(data, name) != usual[name].get_default(call_default_factory=True)
    ]
    if ignored_options:
        options = " and ".join(f"`{name}`" for name in ignored_options)
        raise PolicyError(
            f"sequences and points are read without {options} of [data]: that is for tables; remove it, and change the "
            "file instead: UTF-8, a header, decimal points, dates as 2009-06-30"
        )


class SequencesShape(FileShape):
    """Sequences: SPMF or long form, without ids."""

    name = "sequences"
    kind = Sequences
    formats: ClassVar[Mapping[str, str]] = {"spmf": "txt", "long": "csv"}

    def choose_format(self, data: Sequences) -> str:
        """SPMF, which can hold empty sequences, unless an item's name has a line end or is a negative number."""
        return "long" if any(_is_unfit_for_spmf(item) for item in data.items) else "spmf"

    def read_input(self, data: Any) -> Sequences:
        """Read the sequences of a policy, or the points that become sequences."""
        _refuse_table_options(data)
        if data.points is not None:
            columns = {"id": data.id, "time": data.time, "separator": data.separator}
            return Sequences.from_points(data.path, **data.points.build_arguments(), **columns)
        columns = {"id": data.id, "item": data.item, "time": data.time}
        return read_sequences(data.path, data.format, **columns, separator=data.separator)

    def write(self, data: Sequences, path: Path, form: str, *, escape: bool = False) -> None:
        """Write the sequences, without ids."""
        empty = int((np.diff(data.offsets) == 0).sum())
        if empty and form == "long":
            raise PolicyError(
                f"{empty} of {count_noun(len(data), 'published sequence')} {'is' if empty == 1 else 'are'} empty, and "
                'the long form has no row for an empty sequence; set format = "spmf" in [output]'
            )
        escapes_names = _has_names(data.items) and escape and form == "long"
        items = tuple(escape_words(data.items)) if escapes_names else data.items  # type: ignore[arg-type]  # names are texts
        with _name_field_of_format(path):
            write_sequences(Sequences(items, data.offsets, data.element_offsets, data.codes), path, form)

    def describe_file(self, data: Sequences, form: str, *, escape: bool = False) -> dict[str, Any]:
        """How many there are."""
        return {
            "data": {"rows": len(data), "items": len(data.items), "escaped_formulas": escape and form == "long"},
        }

    def count_formulas(self, data: Sequences) -> dict[str, Any]:
        """Count items, as often as sequences hold them."""
        return _count_in_items(data.items, data.codes)

    def read(self, path: Path, body: Mapping[str, Any]) -> Sequences:
        """Read sequences; the ids of the long form are only row numbers."""
        data = read_sequences(path, body["data"]["format"])
        escapes_names = _has_names(data.items) and body["data"].get("escaped_formulas", False)
        items = tuple(unescape_words(data.items)) if escapes_names else data.items  # type: ignore[arg-type]  # names are texts
        return Sequences(items, data.offsets, data.element_offsets, data.codes)

    def refuse_changed(self, written_data: Sequences, read: Sequences) -> None:
        """Compare sequence by sequence; item names are compared as text, since "7" may have become a number."""
        number = {str(item): index for index, item in enumerate(written_data.items)}
        item_codes = np.array([number.get(str(item), -1) for item in read.items], dtype=np.int64)
        codes = item_codes[read.codes] if len(read.codes) else np.zeros(0, dtype=np.int64)
        if (np.diff(item_codes) <= 0).any():  # else they ascend within each element, as those that were read do
            element = np.repeat(np.arange(len(read.element_offsets) - 1), np.diff(read.element_offsets))
            codes = codes[np.lexsort((codes, element))]
        if not (
            np.array_equal(written_data.offsets, read.offsets)
            and np.array_equal(written_data.element_offsets, read.element_offsets)
            and np.array_equal(codes, written_data.codes)
        ):
            raise ClaimBroken("the sequences do not read back from the file as they were written; try another format")


class PatternsShape(FileShape):
    """Patterns or rules without their baskets, in SPMF's form."""

    name = "patterns"
    kind = Patterns
    formats: ClassVar[Mapping[str, str]] = {"spmf": "txt"}

    def choose_format(self, data: Patterns) -> str:
        """SPMF, the only format for patterns."""
        return "spmf"

    def write(self, data: Patterns, path: Path, form: str, *, escape: bool = False) -> None:
        """Write the patterns; no spreadsheet opens them."""
        data.write(path)

    def describe_file(self, data: Patterns, form: str, *, escape: bool = False) -> dict[str, Any]:
        """How many there are."""
        return {"data": {"rows": len(data), "items": len(data.items)}}

    def count_formulas(self, data: Patterns) -> dict[str, Any]:
        """Count items, as often as patterns hold them."""
        return _count_in_items(data.items, data.codes)

    def read(self, path: Path, body: Mapping[str, Any]) -> Patterns:
        """Read the patterns, or the rules."""
        return Rules.read(path) if is_rule_set_file(path) else Patterns.read(path)

    def refuse_changed(self, written_data: Patterns, read: Patterns) -> None:
        """Compare them whole, as text, since "7" may have become a number."""
        expected_patterns, actual = (
            {(frozenset(map(str, items)), count) for items, count in p.to_lists()} for p in (written_data, read)
        )
        if (
            expected_patterns != actual
            or written_data.baskets != read.baskets
            or _spell_rules(written_data) != _spell_rules(read)
        ):
            raise ClaimBroken("the patterns do not read back from the file as they were written")


def _spell_rules(data: Patterns) -> list[Any]:
    """The sides of rules as text; nothing for patterns."""
    rules = data.list_counts() if isinstance(data, Rules) else ()
    return [(frozenset(map(str, rule.left)), frozenset(map(str, rule.right))) for rule in rules]


def _is_unfit_for_spmf(item: int | str) -> bool:
    return item < 0 if isinstance(item, int) else "\n" in item or "\r" in item


def _has_names(items: Items) -> bool:
    return bool(items) and isinstance(items[0], str)


def _count_in_items(items: Items, codes: Codes) -> dict[str, Any]:
    if not _has_names(items):
        return summarize_formulas({})
    formulas = find_formulas(pl.Series(items, dtype=pl.String)).to_numpy()
    return summarize_formulas({"item": int(formulas[codes].sum())})


SHAPES: tuple[FileShape, ...] = (TableShape(), BasketsShape(), SequencesShape(), PatternsShape())


def find_shape(data: Any) -> FileShape:
    """The shape of a data object."""
    if isinstance(data, StoredTable):
        from sfumato.workflow.stored.stored_shape import StoredTableShape

        return StoredTableShape()
    if isinstance(data, StoredBaskets):
        from sfumato.workflow.stored.stored_basket_files import StoredBasketsShape

        return StoredBasketsShape()
    return next(shape for shape in SHAPES if isinstance(data, shape.kind))


def get_shape(name: str) -> FileShape:
    """A shape by its name in a certificate."""
    return next(shape for shape in SHAPES if shape.name == name)
