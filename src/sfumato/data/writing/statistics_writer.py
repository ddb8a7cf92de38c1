# SPDX-License-Identifier: MIT
"""Write a frame as a Stata or SPSS file, with the labels of published cells and of nothing else.

Both formats store when they were written, in the custodian's local time: that is overwritten with a constant, so that
two equal tables give equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import polars as pl

from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.reading.column_labels import ColumnLabels, WrittenColumn, choose_written_labels

StatisticsFormat = Literal["stata", "spss"]
_LONGEST_TITLE = {"stata": 80, "spss": 255}
_LONGEST_LABEL = {"stata": 32_000, "spss": 120}
_SMALLEST, _LARGEST = -(2**31) + 1, 2_147_483_620  # the whole numbers of Stata; higher codes mean "missing"
_STATA_TIME = b"<timestamp>\x11"


def write_statistics(
    frame: pl.DataFrame, path: Path, form: StatisticsFormat, labels: Mapping[str, ColumnLabels]
) -> None:
    """Write a frame whose cells the format can hold, see `format_limits`."""
    import pyreadstat

    columns = {c.name: _choose_column(c, labels.get(c.name), form) for c in frame.get_columns()}
    cells = pl.DataFrame([_narrow(column.cells).alias(name) for name, column in columns.items()])
    write = pyreadstat.write_dta if form == "stata" else pyreadstat.write_sav
    options: dict[str, Any] = {
        "column_labels": {name: _shorten_title(column.title, form) for name, column in columns.items() if column.title},
        "variable_value_labels": {name: dict(column.values) for name, column in columns.items() if column.values},
    }
    if form == "spss":
        options["variable_format"] = {
            name: "F8.0" for name, column in columns.items() if column.cells.dtype.is_integer() and column.values
        }
    write(cells, str(path), **{name: option for name, option in options.items() if option})
    _forget_time(path, form)


def _choose_column(column: pl.Series, labels: ColumnLabels | None, form: StatisticsFormat) -> WrittenColumn:
    written_column = choose_written_labels(column, labels)
    too_long = any(len(label.encode()) > _LONGEST_LABEL[form] for label in written_column.values.values())
    whole = all(isinstance(code, int) and _SMALLEST <= code <= _LARGEST for code in written_column.values)
    if too_long or (form == "stata" and not whole):  # Stata has no words for other numbers
        return WrittenColumn(column, {}, written_column.title)
    return written_column


def _narrow(column: pl.Series) -> pl.Series:
    """Whole numbers of 32 bits, or else floats: neither format has larger integers."""
    if column.dtype.is_integer():
        least, most = column.min(), column.max()
        small = isinstance(least, int) and isinstance(most, int) and least >= _SMALLEST and most <= _LARGEST
        return column.cast(pl.Int32 if small else pl.Float64)
    if column.dtype == pl.Float32:
        return spell_cells(column).cast(pl.Float64)  # 0.1 as it is published, not 0.10000000149
    return column


def _shorten_title(title: str | None, form: StatisticsFormat) -> str:
    """A title no longer than the format allows, in whole letters."""
    return (title or "").encode()[: _LONGEST_TITLE[form]].decode(errors="ignore")


def _forget_time(path: Path, form: StatisticsFormat) -> None:
    with path.open("r+b") as file:
        if form == "spss":
            file.seek(92)
            file.write(b"01 Jan 7000:00:00")
            return
        offset = file.read(512).find(_STATA_TIME)
        if offset < 0:
            raise OSError  # the header was not written
        file.seek(offset + len(_STATA_TIME))
        file.write(b"01 Jan 1970 00:00")
