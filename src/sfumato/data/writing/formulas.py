# SPDX-License-Identifier: MIT
"""Find and escape cells that a spreadsheet would treat as a formula when it opens a text file.

Excel, LibreOffice and Google Sheets evaluate a cell that begins with = + - or @, and quotes around a CSV field do not
stop them: a cell `=HYPERLINK(...)` that someone put into the data runs on the recipient's machine. Plain numbers such
as -5 or +3.2 are not formulas. Spreadsheets treat a cell with a leading apostrophe as text.

Escaping can be undone: a cell of any number of apostrophes before a formula gets one more, and reading removes one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from sfumato.data.cells.coded_cells import count_cells
from sfumato.errors import DataError, count_noun

# The full-width signs of East Asian keyboards count as well.
_START = r'^"?[=+\-@\t\r\n＝＋－＠]'
_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_APOSTROPHE = "'"


def find_formulas(texts: pl.Series) -> pl.Series:
    """Mark the cells that a spreadsheet would evaluate; a missing cell is not one."""
    return (texts.str.contains(_START) & ~texts.str.contains(_NUMBER)).fill_null(value=False)


def escape_formulas(texts: pl.Series) -> pl.Series:
    """Put an apostrophe before every formula, and before those that already have apostrophes."""
    return (_APOSTROPHE + texts).zip_with(_find_escapable(texts), texts).alias(texts.name)


def unescape_formulas(texts: pl.Series) -> pl.Series:
    """Undo `escape_formulas`; a formula without an apostrophe would be read like one with it, and is refused."""
    escapable_mask = _find_escapable(texts)
    if strange_count := int((escapable_mask & ~texts.str.starts_with(_APOSTROPHE)).sum()):
        raise DataError(
            f"{count_noun(strange_count, 'text looks', 'texts look')} like a formula in a file whose formulas are "
            "said to be escaped"
        )
    return texts.str.slice(1).zip_with(escapable_mask, texts).alias(texts.name)


def escape_words(words: Sequence[str]) -> list[str]:
    """Escape column or item names."""
    return escape_formulas(pl.Series(words, dtype=pl.String)).to_list()


def unescape_words(words: Sequence[str]) -> list[str]:
    """Undo `escape_words`."""
    return unescape_formulas(pl.Series(words, dtype=pl.String)).to_list()


def escape_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Escape all text cells and the names of the columns."""
    return _change_texts(frame, escape_formulas)


def unescape_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Undo `escape_frame`."""
    return _change_texts(frame, unescape_formulas)


def _change_texts(frame: pl.DataFrame, change: Callable[[pl.Series], pl.Series]) -> pl.DataFrame:
    columns = [change(column) if column.dtype == pl.String else column for column in frame.get_columns()]
    names = change(pl.Series(frame.columns, dtype=pl.String)).to_list()
    return pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])


def count_formulas(frame: pl.DataFrame) -> dict[str, Any]:
    """How many cells, including column names, look like formulas, and in which columns."""
    headers = find_formulas(pl.Series(frame.columns, dtype=pl.String)).cast(pl.Int64).to_list()
    counts = {
        column.name: header + (_count_formula_cells(column) if column.dtype == pl.String else 0)
        for column, header in zip(frame.get_columns(), headers, strict=True)
    }
    return summarize_formulas(counts)


def _count_formula_cells(texts: pl.Series) -> int:
    values, counts = count_cells(texts)
    return int(counts[find_formulas(values).to_numpy()].sum())


def summarize_formulas(counts: Mapping[str, int]) -> dict[str, Any]:
    """The counts as in a certificate."""
    return {"cells": sum(counts.values()), "columns": [name for name, count in counts.items() if count]}


def _find_escapable(texts: pl.Series) -> pl.Series:
    return find_formulas(texts.str.strip_chars_start(_APOSTROPHE))
