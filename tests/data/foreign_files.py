# SPDX-License-Identifier: MIT
"""Small files of other programs, for tests of reading them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pyreadstat

PEOPLE = pl.DataFrame(
    {
        "zip": ["02139", "10001", None],
        "age": [31, 42, None],
        "height": [1.5, 1.25, 2.0],
        "since": [dt.date(1950, 1, 31), dt.date(2020, 2, 29), None],
        "alive": [True, False, None],
    }
)
"""One column of each type that a table has."""


def write_workbook(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    """A workbook as openpyxl writes it."""
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def write_survey(path: Path) -> Path:
    """An SPSS or Stata file with labels, missing codes and a column that only some labels fit."""
    frame = pl.DataFrame(
        {
            "sex": [1, 2, 2, 9],
            "score": [1.0, 7.0, 3.0, 5.0],
            "income": [100.0, -9.0, 300.0, -8.0],
            "code": ["a", "", "b", "a"],
        }
    )
    labels: dict[str, Any] = {
        "column_labels": {"sex": "Sex of the person", "income": "Income in a month"},
        "variable_value_labels": {
            "sex": {1: "male", 2: "female", 3: "never chosen", 9: "refused"},
            "score": {1: "worst"},
        },
    }
    if path.suffix == ".sav":
        pyreadstat.write_sav(frame, str(path), missing_ranges={"income": [-9, {"lo": -8, "hi": -8}]}, **labels)
    else:
        pyreadstat.write_dta(frame, str(path), **labels)
    return path
