# SPDX-License-Identifier: MIT
"""Write a table to a file so that it reads back as the same table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import polars as pl

from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.reading.column_labels import ColumnLabels
from sfumato.data.writing.excel_writer import write_excel
from sfumato.data.writing.format_limits import refuse_unwritable
from sfumato.data.writing.formulas import escape_frame
from sfumato.data.writing.rebuild import rebuild_frame
from sfumato.data.writing.statistics_writer import StatisticsFormat, write_statistics
from sfumato.errors import DataError

Format = Literal["csv", "tsv", "parquet", "arrow", "excel", "stata", "spss"]
SEPARATOR_OF: dict[str, str] = {"csv": ",", "tsv": "\t"}
MARKS = ("", "?", "NA", "<missing>")
"""Spellings of a missing cell in the text files that we write."""


def choose_missing_mark(frame: pl.DataFrame) -> str:
    """The spelling of a missing cell in text: the first mark that is not a value of the table."""
    texts = frame.select(pl.col(pl.String))
    used_marks = {mark for mark in MARKS if texts.select(pl.any_horizontal((pl.all() == mark).any())).to_series().any()}
    free = [mark for mark in MARKS if mark not in used_marks]
    if not free and any(frame.null_count().row(0)):
        raise DataError(f"every mark for a missing cell ({', '.join(MARKS)}) is a value of the table; write Parquet")
    return free[0] if free else MARKS[0]


def write_frame(
    frame: pl.DataFrame,
    path: Path,
    kind: Format = "csv",
    mark: str = "",
    *,
    escape: bool = False,
    labels: Mapping[str, ColumnLabels] | None = None,
) -> None:
    """Write a frame; the caller ensures that a partial file is never taken for a complete one.

    The frame is rebuilt from its cells, so that no format writes anything else from its memory. `escape` puts an
    apostrophe before text that a spreadsheet would treat as a formula. Stata and SPSS files get those `labels` that
    published cells have.
    """
    frame = rebuild_frame(frame)
    refuse_unwritable(frame, kind)
    try:
        if kind in SEPARATOR_OF:
            written_frame = escape_frame(frame) if escape else frame
            texts = pl.DataFrame([spell_cells(column) for column in written_frame.get_columns()])
            texts.write_csv(path, separator=SEPARATOR_OF[kind], null_value=mark)
        elif kind == "parquet":
            frame.write_parquet(path)
        elif kind == "excel":
            write_excel(frame, path)
        elif kind in ("stata", "spss"):
            _write_statistics(frame, path, kind, labels or {})
        else:
            frame.write_ipc(path)
    except (OSError, pl.exceptions.PolarsError):  # polars reports a full disk in several ways, without an error number
        raise DataError(
            f"{path.name}: the data file could not be written; is the disk full? Nothing was published"
        ) from None


def _write_statistics(
    frame: pl.DataFrame, path: Path, form: StatisticsFormat, labels: Mapping[str, ColumnLabels]
) -> None:
    import pyreadstat

    try:
        write_statistics(frame, path, form, labels)
    except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError):
        raise OSError from None  # its text may quote a cell
