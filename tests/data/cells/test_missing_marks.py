# SPDX-License-Identifier: MIT
"""Cells that may mean "missing" are noticed, with every column that holds them."""

from __future__ import annotations

import polars as pl
import pytest

from sfumato.data.cells.cell_types import type_cells
from sfumato.data.cells.missing_marks import find_missing_marks


def find(**columns: list[str]) -> dict[str, dict[str, int]]:
    cells = pl.DataFrame(columns)
    return {mark.mark: dict(mark.rows) for mark in find_missing_marks(cells, type_cells(cells))}


@pytest.mark.parametrize(
    "word", ["unknown", "Unknown", "N/A", "#N/A", "null", "-", "keine Angabe", "don't know", "9999-12-31"]
)
def test_words(word: str) -> None:
    assert find(job=["cook", word, "nurse", word]) == {word: {"job": 2}}


@pytest.mark.parametrize(
    ("numbers", "marks"),
    [
        (["3", "-1", "7", "-1"], {"-1"}),
        (["-9", "-8", "20", "30"], {"-9", "-8"}),
        (["20", "31", "999", "45"], {"999"}),
        (["20", "31", "998", "999"], {"998", "999"}),
        (["1", "2", "4", "9"], {"9"}),
        (["-1", "-5", "3", "4"], set()),
        (["85", "90", "99", "97"], set()),
        (["-1.5", "-1", "3", "4"], set()),
        (["-1", "-1"], set()),
        (["1.5", "-1.0", "2.5"], {"-1.0"}),
    ],
)
def test_numbers(numbers: list[str], marks: set[str]) -> None:
    assert set(find(x=numbers)) == marks


def test_every_column_that_holds_a_mark_is_counted() -> None:
    marks = find(days=["-1", "-1", "5"], balance=["-1", "-200", "30"], note=["x", "none", "none"])
    assert marks == {"-1": {"days": 2, "balance": 1}, "none": {"note": 2}}
    assert list(marks) == ["-1", "none"]


def test_nothing_in_ordinary_columns() -> None:
    assert find(age=["20", "30"], name=["Ann", "Bob"], empty=[None, None]) == {}  # type: ignore[list-item]
