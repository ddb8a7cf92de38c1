# SPDX-License-Identifier: MIT
"""The cells of columns before and after, as plain values: no arrays, no code of the package."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

import polars as pl

from tests.contract.releases import Made


class Pair(NamedTuple):
    """The cells of a column before and after."""

    before: Sequence[Any]
    after: Sequence[Any]
    tree: tuple[tuple[str, ...], ...] = ()
    """The rows of its hierarchy, if it has one."""


def covers(label: str, value: str | None, rows: tuple[tuple[str, ...], ...]) -> bool:
    """Whether a label stands for a value: by the hierarchy, as a range or as a set; read without the product's code."""
    if label in ("*", value):
        return True
    if value is None:
        return False
    if any(row[0] == value and label in row for row in rows):
        return True
    if match := re.fullmatch(r"\[(-?[\d.]+)[,–-] ?(-?[\d.]+)\]", label):
        return float(match[1]) <= float(value) <= float(match[2])
    return label.startswith("{") and value in re.split(r", ?", label[1:-1])


class NumberPair(NamedTuple):
    """The numbers of a column before and after, of the rows that have both."""

    before: list[float]
    after: list[float]

    def list_distances(self) -> list[float]:
        """How far each number moved."""
        return [new_number - was for was, new_number in zip(self.before, self.after, strict=True)]


def read_numbers(pair: Pair) -> NumberPair:
    """The numbers of cells that are known before and after; days for dates and times."""
    known_pairs = [
        (was, new_cell) for was, new_cell in zip(pair.before, pair.after, strict=True) if None not in (was, new_cell)
    ]
    days = [[_read_number(cell) for cell in cells] for cells in known_pairs]
    return NumberPair([was for was, _ in days], [new_number for _, new_number in days])


def _read_number(cell: Any) -> float:
    if isinstance(cell, datetime):
        return (cell.replace(tzinfo=None) - datetime.min).total_seconds() / 86_400
    return cell.toordinal() if isinstance(cell, date) else float(cell)


def list_texts(column: pl.Series) -> list[str | None]:
    """Cells as text; 62.0 is the number 62."""
    whole = [int(value) if isinstance(value, float) and value.is_integer() else value for value in column.to_list()]
    return [None if value is None else str(value) for value in whole]


def pair_column(result: Made, name: str) -> Pair:
    """A column of an example, row by row; numbers that were published as text are compared as text."""
    assert name in result.originals.columns, (
        f'{type(result.example.subject).__name__} publishes a column "{name}" that the originals do not have: add none'
    )
    before, after = result.originals[name], result.release.data.frame[name]
    hierarchy = result.data.hierarchies.get(name)
    tree = () if hierarchy is None else hierarchy.rows
    if before.dtype.is_numeric() == after.dtype.is_numeric():
        return Pair(before.to_list(), after.to_list(), tree)
    return Pair(list_texts(before), list_texts(after), tree)
