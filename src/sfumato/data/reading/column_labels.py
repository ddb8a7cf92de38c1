# SPDX-License-Identifier: MIT
"""The labels of SPSS, Stata and SAS: a title for a column, and words for its codes.

On reading, a column becomes the words if every cell has one and no two codes share a word: people are then published
as "female", not as 2. Otherwise the codes stay. The labels are kept next to the table, so that a release can be written
with them; only those of published cells ever are, see `choose_written_labels`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl

from sfumato.data.hierarchies.hierarchy import spell_cells

Code = int | float
TRUTH: Mapping[Code, str] = MappingProxyType({0: "false", 1: "true"})
"""How truth values are spelled in formats that have none."""


@dataclass(frozen=True)
class ColumnLabels:
    """What a file says about one column."""

    title: str | None = None
    """What the column is, in words."""
    values: Mapping[Code, str] = field(default_factory=lambda: MappingProxyType({}))
    """What its codes mean."""


@dataclass(frozen=True)
class LabelledFrame:
    """A frame, and the labels of its columns."""

    frame: pl.DataFrame
    labels: Mapping[str, ColumnLabels] = field(default_factory=lambda: MappingProxyType({}))


class LabelledColumn(NamedTuple):
    """A column of a file, in words where its labels allow it, and its labels."""

    column: pl.Series
    labels: ColumnLabels | None


def apply_labels(column: pl.Series, raw: bytes | None) -> LabelledColumn:
    """A column in words where its labels allow it, and its labels; `raw` is what `foreign_worker` says of it."""
    labels: dict[str, Any] = json.loads(raw) if raw else {}
    pairs = [(code, str(label).strip()) for code, label in labels.get("values", ()) if str(label).strip()]
    numeric = {_simplify_code(code): label for code, label in pairs if isinstance(code, (int, float))}
    title = str(labels["title"]).strip() if labels.get("title") else None
    column_labels = ColumnLabels(title, MappingProxyType(numeric)) if title or numeric else None
    words = {_spell_code(code): label for code, label in pairs}
    if not _fits(column, words):
        return LabelledColumn(column, column_labels)
    if all(TRUTH.get(code) == label for code, label in numeric.items()) and numeric:
        return LabelledColumn(column.cast(pl.Boolean), ColumnLabels(title) if title else None)
    return LabelledColumn(
        spell_cells(column).replace_strict(words, return_dtype=pl.String).alias(column.name), column_labels
    )


def _fits(column: pl.Series, words: Mapping[str, str]) -> bool:
    """Whether every cell has a word, and every code of a cell a word of its own."""
    if not words or not (column.dtype.is_numeric() or column.dtype == pl.String):
        return False
    texts = spell_cells(column.drop_nulls().unique()).to_list()
    chosen_words = [words.get(code) for code in texts]
    return bool(texts) and None not in chosen_words and len(set(words.values())) == len(words)


def _simplify_code(code: Code) -> Code:
    return int(code) if float(code).is_integer() and abs(code) < 2**53 else code


def _spell_code(code: Any) -> str:
    return str(_simplify_code(code)) if isinstance(code, (int, float)) else str(code)


@dataclass(frozen=True)
class WrittenColumn:
    """A column as a statistics file holds it: cells, and the words of those cells that are codes."""

    cells: pl.Series
    values: Mapping[Code, str]
    title: str | None


def choose_written_labels(column: pl.Series, labels: ColumnLabels | None) -> WrittenColumn:
    """The cells and labels to write: no label of a value that the column does not hold.

    Words become codes again if every published word has one. A column that is still codes keeps the labels of those
    that are published, unless a reader would take all of it for words.
    """
    labels = labels or ColumnLabels()
    if column.dtype == pl.Boolean:
        present = set(column.drop_nulls().cast(pl.Int8).unique().to_list())
        values = {code: word for code, word in TRUTH.items() if code in present}
        return WrittenColumn(column.cast(pl.Int8), values, labels.title)
    texts = column.drop_nulls().unique()
    if column.dtype == pl.String:
        return _write_words(column, texts.to_list(), labels)
    published_codes = {_simplify_code(code) for code in texts.to_list()} if column.dtype.is_numeric() else set()
    values = {code: word for code, word in sorted(labels.values.items()) if code in published_codes}
    partly = values if len(values) < len(published_codes) else {}
    return WrittenColumn(column, partly, labels.title)


def _write_words(column: pl.Series, texts: Sequence[str], labels: ColumnLabels) -> WrittenColumn:
    codes = {word: code for code, word in labels.values.items()}
    if not texts or len(codes) < len(labels.values) or not all(word in codes for word in texts):
        return WrittenColumn(column, {}, labels.title)
    values = dict(sorted((codes[word], word) for word in texts))
    whole = all(isinstance(code, int) for code in values)
    cells = column.replace_strict(codes, return_dtype=pl.Int64 if whole else pl.Float64)
    return WrittenColumn(cells, values, labels.title)
