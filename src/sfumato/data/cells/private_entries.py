# SPDX-License-Identifier: MIT
"""Which entries of a table are private: given by a mask, cells, a file of cells, columns, a condition, or at random.

Aggarwal, Pei and Zhang (2006) define privacy at the level of the single entry: one person hides the salary, another the
education. This specification stays private: a certificate states its kind and no cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import BeforeValidator, ConfigDict, Field, field_validator, model_validator

from sfumato.arrays import Flags, Ints
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.reading.table_reader import TextFormat, read_frame
from sfumato.description import Description
from sfumato.errors import DataError, PolicyError, ask_meant, count_noun, quote_names, quote_some_names

ColumnReference = str | int


class PrivateEntries(Description):
    """Some entries of a table. One of `cells`, `file`, `mask`, or a choice by `columns`, `where` and `share`."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    file_fields: ClassVar[tuple[str, ...]] = ("file",)
    column_fields: ClassVar[tuple[str, ...]] = ("columns", "where", "mask_columns")

    columns: tuple[str, ...] | None = None
    """Whole columns; all that are published if only `where` or `share` is given."""
    where: Mapping[str, tuple[str, ...]] | None = None
    """Only rows in which each of these columns holds one of its values: people who asked for it, for instance."""
    share: float | None = Field(default=None, ge=0, le=1)
    """Only this share of the chosen entries, drawn at random."""
    cells: tuple[tuple[Annotated[int, Field(ge=0, strict=True)], ColumnReference], ...] | None = Field(
        default=None, repr=False
    )
    """Single entries: the row, counted from 0, and the column's name."""
    file: str | None = None
    """A CSV, TSV or Parquet file of entries with the columns `row` (counted from 0) and `column`."""
    mask: npt.NDArray[Any] | None = Field(default=None, exclude=True, repr=False)
    """A boolean for every entry, rows by columns, in the table's order (Python only)."""
    mask_columns: tuple[str, ...] | None = Field(default=None, exclude=True, repr=False)
    """The table's columns that the mask is about, in the mask's order; all of them by default."""

    @model_validator(mode="before")
    @classmethod
    def _wrap_in_lists(cls, raw_fields: Any) -> Any:
        """A single value is a list of one."""
        if isinstance(raw_fields, Mapping) and isinstance(raw_fields.get("where"), Mapping):
            conditions = {name: _make_texts(values) for name, values in raw_fields["where"].items()}
            return {**raw_fields, "where": conditions}
        return raw_fields

    @field_validator("mask")
    @classmethod
    def _copy_mask(cls, mask: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
        """Copy the array: later changes by the caller have no effect here."""
        if mask is None:
            return None
        own_mask = mask.copy()
        own_mask.setflags(write=False)
        return own_mask

    def __eq__(self, other: object) -> bool:
        """Equal if all fields are, a mask entry by entry."""
        if not isinstance(other, PrivateEntries):
            return NotImplemented
        if self.mask is None or other.mask is None:
            alike = self.mask is other.mask
        else:
            alike = np.array_equal(self.mask, other.mask)
        return alike and self.mask_columns == other.mask_columns and self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        """Hash everything but the mask."""
        return hash(self.model_dump_json())

    @model_validator(mode="after")
    def _check_one_way(self) -> PrivateEntries:
        choices = (self.columns, self.where, self.share)
        ways = [way is not None for way in (self.cells, self.file, self.mask)]
        ways.append(any(choice is not None for choice in choices))
        if sum(ways) != 1:
            raise ValueError("specify private entries in one way: cells, or a file, or a mask, or columns/where/share")
        return self

    def describe_way(self) -> str:
        """How the entries are specified, without any entry."""
        ways = ("columns", "where", "share", "cells", "file", "mask")
        return " and ".join(name for name in ways if getattr(self, name) is not None)

    def take_rows(self, rows: Ints) -> PrivateEntries:
        """A mask for some of its rows, in their order."""
        assert self.mask is not None
        return PrivateEntries(mask=self.mask[rows], mask_columns=self.mask_columns)

    @property
    def lists_entries(self) -> bool:
        """Whether the entries are given one by one, as cells or in a file."""
        return self.cells is not None or self.file is not None

    def list_entries(self, source: str) -> ListedEntries:
        """The entries that are given one by one."""
        if self.file is not None:
            return _read_entry_file(self.file, source)
        cells = self.cells or ()
        return ListedEntries([row for row, _ in cells], [column for _, column in cells], source)

    def mask_frame(
        self,
        frame: pl.DataFrame,
        chance: np.random.Generator,
        source: str = "table",
        published_columns: Sequence[str] | None = None,
    ) -> Flags:
        """A boolean for every entry of a frame; by default all its columns are published."""
        if self.mask is not None:
            return _place_mask(self.mask, frame, source, self.mask_columns)
        if self.lists_entries:
            return _mask_listed(self.list_entries(source), frame)
        return self._choose_entries(
            frame, chance, source, frame.columns if published_columns is None else published_columns
        )

    def _choose_entries(
        self, frame: pl.DataFrame, chance: np.random.Generator, source: str, published_columns: Sequence[str]
    ) -> Flags:
        names = published_columns if self.columns is None else self.columns
        refuse_unknown_entry_columns([*names, *(self.where or ())], frame.columns, source)
        rows = np.ones(frame.height, dtype=bool)
        for name, values in (self.where or {}).items():
            rows &= spell_cells(frame[name]).is_in(list(values)).fill_null(value=False).to_numpy()
        chosen_mask = rows[:, None] & np.isin(frame.columns, list(names))[None, :]
        if self.share is None:
            return np.ascontiguousarray(chosen_mask)
        places = np.flatnonzero(chosen_mask & ~_mask_empty_cells(frame))
        chosen_places = chance.choice(places, size=round(self.share * len(places)), replace=False)
        mask = np.zeros(chosen_mask.size, dtype=bool)
        mask[chosen_places] = True
        return mask.reshape(chosen_mask.shape)


def _make_texts(values: Any) -> tuple[str, ...]:
    many = values if isinstance(values, list | tuple | set | frozenset) else (values,)
    if any(value is None for value in many):
        raise ValueError("`where` needs values; a missing one cannot be matched")
    return tuple(str(spell_cells(pl.Series([value]))[0]) for value in many)


def parse_private_entries(raw_entries: Any) -> Any:
    """Parse what Python users write: a mask, (row, column) pairs, a path, column names, a share, or several of them."""
    if isinstance(raw_entries, PrivateEntries | Mapping):
        return (raw_entries,)
    # A boolean frame of any library: iterating over it would give the names of its columns.
    if isinstance(raw_entries, np.ndarray) or len(getattr(raw_entries, "shape", ())) == 2:
        return (PrivateEntries(mask=np.asarray(raw_entries), mask_columns=_name_mask_columns(raw_entries)),)
    if isinstance(raw_entries, str | Path):
        return (PrivateEntries(file=str(raw_entries)),)
    if isinstance(raw_entries, float):
        return (PrivateEntries(share=raw_entries),)
    if isinstance(raw_entries, Iterable):
        return _parse_several_entries(list(raw_entries))
    raise ValueError("private entries are a mask, (row, column) pairs, a file, column names, a share, or a condition")


def _name_mask_columns(mask: Any) -> tuple[str, ...] | None:
    """The column names of a frame; an array has none, and neither has a frame whose columns are only numbered."""
    names = getattr(mask, "column_names", getattr(mask, "columns", None))
    if names is None or not any(isinstance(name, str) for name in names):
        return None
    return tuple(str(name) for name in names)


def _parse_several_entries(many: list[Any]) -> tuple[Any, ...]:
    if all(isinstance(value, str) for value in many) and many:
        return (PrivateEntries(columns=tuple(many)),)
    if all(isinstance(value, PrivateEntries | Mapping) for value in many) and many:
        return tuple(many)
    if all(isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2 for value in many):
        return (PrivateEntries(cells=tuple((_convert_row(row), _convert_column(column)) for row, column in many)),)
    raise ValueError(
        "a list of private entries must hold only (row, column) pairs, only column names or only conditions"
    )


def _convert_row(row: Any) -> Any:
    return int(row) if isinstance(row, np.integer) else row


def _convert_column(column: Any) -> Any:
    return int(column) if isinstance(column, np.integer) else column


AnyEntries = Annotated[tuple[PrivateEntries, ...], BeforeValidator(parse_private_entries)]
"""A method's field: everything that `parse_private_entries` takes."""


def build_private_mask(
    entries: Sequence[PrivateEntries],
    frame: pl.DataFrame,
    chance: np.random.Generator,
    source: str = "table",
    published_columns: Sequence[str] | None = None,
) -> Flags:
    """All the private entries of a frame that hold a value: a missing cell has nothing to hide."""
    mask = np.zeros((frame.height, frame.width), dtype=bool)
    for entry in entries:
        mask |= entry.mask_frame(frame, chance, source, published_columns)
    return np.asarray(mask & ~_mask_empty_cells(frame), dtype=bool)


def require_private_mask(
    entries: Sequence[PrivateEntries],
    frame: pl.DataFrame,
    chance: np.random.Generator,
    source: str,
    published_columns: Sequence[str],
) -> Flags:
    """The same, but each specification must name an entry that would be published.

    Otherwise a slip, such as a misspelled value, would publish what was meant to be hidden.
    """
    refuse_no_entries(entries, source)
    mask = np.zeros((frame.height, frame.width), dtype=bool)
    published_mask = np.isin(frame.columns, list(published_columns))
    for number, entry in enumerate(entries, 1):
        entry_mask = build_private_mask([entry], frame, chance, source, published_columns)
        if not entry_mask[:, published_mask].any():
            refuse_unfitting(entries, number, source)
        mask |= entry_mask
    return mask


def settle_private_entries(
    entries: Sequence[PrivateEntries],
    frame: pl.DataFrame,
    chance: np.random.Generator,
    source: str,
    published_columns: Sequence[str],
) -> PrivateEntries:
    """The same entries as a mask of the published columns, which stays right when other cells change."""
    mask = require_private_mask(entries, frame, chance, source, published_columns)
    return PrivateEntries(
        mask=mask[:, np.isin(frame.columns, list(published_columns))], mask_columns=tuple(published_columns)
    )


def refuse_no_entries(entries: Sequence[PrivateEntries], source: str) -> None:
    """Stop if there is no specification."""
    if not entries:
        _refuse_nothing_private(source, "the list of private entries is empty")


def refuse_unfitting(entries: Sequence[PrivateEntries], number: int, source: str) -> NoReturn:
    """Stop because a specification, counted from 1, names nothing that would be published."""
    subject = f"specification {number} of {len(entries)}" if len(entries) > 1 else "the specification"
    entry = entries[number - 1]
    columns = f" of {quote_names(entry.columns)}" if entry.columns else ""
    _refuse_nothing_private(
        source, f"{subject} ({entry.describe_way()}) fits no published cell{columns} that has a value"
    )


def _refuse_nothing_private(source: str, reason: str) -> NoReturn:
    raise PolicyError(
        f"{source}: nothing would be private: {reason}; check the spelling of columns and values, and whether a share "
        "is large enough for one entry"
    )


def _mask_empty_cells(frame: pl.DataFrame) -> Flags:
    empty = np.zeros((frame.height, frame.width), dtype=bool)
    for index, column in enumerate(frame.get_columns()):
        if column.null_count():
            empty[:, index] = column.is_null().to_numpy()
    return empty


def _place_mask(
    mask: npt.NDArray[Any], frame: pl.DataFrame, source: str, columns: tuple[str, ...] | None = None
) -> Flags:
    """A mask in the order of the frame's columns; columns that it does not name hold nothing private."""
    width = frame.width if columns is None else len(columns)
    if mask.dtype != np.bool_ or mask.shape != (frame.height, width):
        raise DataError(
            f"{source}: the mask of private entries holds {mask.dtype} and has the shape {mask.shape}; it must hold "
            f"booleans and have {frame.height} rows and {width} columns"
        )
    if columns is None:
        return mask.astype(bool)
    refuse_unknown_entry_columns(columns, frame.columns, source)
    placed_mask = np.zeros((frame.height, frame.width), dtype=bool)
    placed_mask[:, [frame.columns.index(name) for name in columns]] = mask
    return placed_mask


class EntryIndices(NamedTuple):
    """The rows and the columns of entries, by number."""

    rows: Ints
    columns: Ints


@dataclass(frozen=True)
class ListedEntries:
    """Entries one by one: their rows, counted from 0, and their columns by name or number."""

    rows: Sequence[int]
    columns: Sequence[ColumnReference]
    source: str
    """Who lists them, for errors."""

    def locate(self, height: int, names: Sequence[str]) -> EntryIndices:
        """Their rows and the numbers of their columns in a table; an error if one is outside."""
        refuse_unknown_entry_columns([name for name in self.columns if isinstance(name, str)], names, self.source)
        column_index: dict[ColumnReference, int] = {name: index for index, name in enumerate(names)}
        column_index |= {index: index for index in range(len(names))}
        far = sum(row >= height for row in self.rows) + sum(column not in column_index for column in self.columns)
        if far:
            raise DataError(
                f"{self.source}: {count_noun(far, 'private entry is', 'private entries are')} outside the table, "
                f"which has {height} rows, counted from 0, "
                f"and {len(names)} columns"
            )
        columns = np.array([column_index[column] for column in self.columns], dtype=np.int64)
        return EntryIndices(np.asarray(self.rows, dtype=np.int64), columns)


def _mask_listed(listed_entries: ListedEntries, frame: pl.DataFrame) -> Flags:
    mask = np.zeros((frame.height, frame.width), dtype=bool)
    indices = listed_entries.locate(frame.height, frame.columns)
    mask[indices.rows, indices.columns] = True
    return mask


def _read_entry_file(file: str, source: str) -> ListedEntries:
    entry_frame = read_frame(file, TextFormat())
    if not {"row", "column"} <= set(entry_frame.columns):
        raise DataError(f'{file}: a file of private entries needs the columns "row" (counted from 0) and "column"')
    if entry_frame.is_empty():
        return ListedEntries([], [], source)
    rows, columns = entry_frame["row"], entry_frame["column"].cast(pl.String)
    unread = rows.null_count() + columns.null_count()
    if not rows.dtype.is_integer() or unread or bool((rows < 0).any()):
        raise DataError(f'{file}: the column "row" must hold integers from 0, and "column" a name in every line')
    return ListedEntries(rows.to_list(), columns.to_list(), f"{source}, {file}")


def refuse_unknown_entry_columns(names: Iterable[str], known_columns: Sequence[str], source: str) -> None:
    """Stop if private entries are in columns that a table does not have."""
    unknown = sorted({name for name in names if name not in known_columns})
    if unknown:
        raise PolicyError(
            f"{source}: private entries name {quote_some_names(unknown)}, which is not a column of the table"
            f"{ask_meant(unknown, known_columns)}"
        )
