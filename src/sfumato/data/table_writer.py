# SPDX-License-Identifier: MIT
"""Write a table to a file so that it reads back as the same table."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import polars as pl

from sfumato.data.formulas import escape_frame
from sfumato.data.hierarchy import spell_cells
from sfumato.data.rebuild import rebuild_frame
from sfumato.errors import DataError

Format = Literal["csv", "tsv", "parquet", "arrow"]
SEPARATOR_OF: dict[str, str] = {"csv": ",", "tsv": "\t"}
MARKS = ("", "?", "NA", "<missing>")
"""How a missing cell may be spelt in a text file that we write."""


def choose_missing_mark(frame: pl.DataFrame) -> str:
    """How a missing cell is spelt in text: the first mark that is no value of the table."""
    texts = frame.select(pl.col(pl.String))
    used = {mark for mark in MARKS if texts.select(pl.any_horizontal((pl.all() == mark).any())).to_series().any()}
    free = [mark for mark in MARKS if mark not in used]
    if not free and any(frame.null_count().row(0)):
        raise DataError(f"every mark for a missing cell ({', '.join(MARKS)}) is a value of the table; write Parquet")
    return free[0] if free else MARKS[0]


def write_frame(frame: pl.DataFrame, path: Path, kind: Format = "csv", mark: str = "", *, escape: bool = False) -> None:
    """Write a frame; the caller sees to it that a half-written file is never taken for a whole one.

    What is written is built anew from the cells, so that no format finds anything else in the frame's memory.
    `escape` puts an apostrophe before what a spreadsheet would take for a formula, in text.
    """
    frame = rebuild_frame(frame)
    try:
        if kind in SEPARATOR_OF:
            shown = escape_frame(frame) if escape else frame
            texts = pl.DataFrame([spell_cells(column) for column in shown.get_columns()])
            texts.write_csv(path, separator=SEPARATOR_OF[kind], null_value=mark)
        elif kind == "parquet":
            frame.write_parquet(path)
        else:
            frame.write_ipc(path)
    except (OSError, pl.exceptions.PolarsError):  # polars says a full disk in several ways, without a number
        raise DataError(
            f"{path.name}: the data file could not be written; is there room on the disk? Nothing was published"
        ) from None
