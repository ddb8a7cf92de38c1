# SPDX-License-Identifier: MIT
"""The texts of a column as numbers, which a run finds once and not in every measure, attack and picture.

All of these begin with the distinct texts of a column, and to find them takes longer than what is then done with them.
Inside `remember_texts` the numbers are kept for the columns of the frames that are noted, as long as the block lasts. A
column is recognized by where its cells lie in memory, which nothing else can take while the block holds the frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import polars as pl

_FEWEST_ROWS = 10_000
"""Shorter columns are numbered again each time: that is as quick as recognizing them."""
_Location = tuple[int, int, int, int]


class TextCodes(NamedTuple):
    """A column of texts as its distinct values, and for each cell the place of its value."""

    values: pl.Series
    """In ascending order, without a missing one."""
    codes: pl.Series
    """Whole numbers; null for a missing cell."""


class _Memory:
    """What is kept of the frames of a block."""

    def __init__(self) -> None:
        self.frames: list[pl.DataFrame] = []
        """They are held, so that nothing else can lie where their columns do."""
        self.codes: dict[_Location, TextCodes | None] = {}


_memory: ContextVar[_Memory | None] = ContextVar("memory", default=None)


@contextmanager
def remember_texts() -> Iterator[None]:
    """Number the text columns of noted frames at most once inside the block."""
    token = _memory.set(_Memory())
    try:
        yield
    finally:
        _memory.reset(token)


def note_texts(frame: pl.DataFrame) -> None:
    """Remember the columns of a frame as long as the block around lasts; outside of one, nothing."""
    memory = _memory.get()
    if memory is not None:
        memory.frames.append(frame)
        locations = (_locate(column) for column in frame.get_columns())
        memory.codes |= {
            location: None for location in locations if location is not None and location not in memory.codes
        }


def number_texts(column: pl.Series) -> TextCodes:
    """The distinct texts of a column, and the place of each cell among them."""
    memory = _memory.get()
    location = None if memory is None else _locate(column)
    if memory is None or location is None or location not in memory.codes:
        return _number_texts(column)
    codes = memory.codes[location] = memory.codes[location] or _number_texts(column)
    return codes


def place_texts(column: pl.Series, texts: Sequence[str] | pl.Series) -> pl.Series:
    """The place of each cell in a list of distinct texts; null for a missing cell, and for one that is not listed."""
    if is_remembered(column):
        values, codes = number_texts(column)
        return values.cast(pl.Enum(texts), strict=False).to_physical().cast(pl.Int64).gather(codes)
    return column.cast(pl.Enum(texts), strict=False).to_physical().cast(pl.Int64)


def is_remembered(column: pl.Series) -> bool:
    """Whether the column is one of those that are numbered at most once."""
    memory = _memory.get()
    return memory is not None and _locate(column) in memory.codes


def _number_texts(column: pl.Series) -> TextCodes:
    values = column.drop_nulls().unique().sort()
    return TextCodes(values, column.cast(pl.Enum(values)).to_physical())


def _locate(column: pl.Series) -> _Location | None:
    """Where the cells of a long column of texts lie in memory, and how many there are."""
    if column.dtype != pl.String or len(column) < _FEWEST_ROWS or column.n_chunks() > 1:
        return None
    cells = column.to_arrow(compat_level=pl.CompatLevel.newest())  # shares the memory
    present, views, *_ = cells.buffers()
    return views.address, cells.offset, len(cells), 0 if present is None else present.address
