# SPDX-License-Identifier: MIT
"""Read a written release back, and refuse it if it is not what was written.

Large tables are read and compared some rows at a time: a second table as large as the first never lies in memory.
Where that finds any difference, the whole file is read, and the comparison says which column it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from sfumato.data.cells.cell_types import state_types
from sfumato.data.reading.text_table import PART, iterate_text_cells
from sfumato.data.writing.table_writer import SEPARATOR_OF
from sfumato.errors import DataError
from sfumato.runtime.progress import report_progress
from sfumato.table import Table
from sfumato.workflow.shapes.file_shapes import FileShape, cast_whole_columns, describe_text_format

_LARGE = 100_000
"""Rows of a table that is compared in parts."""


def read_back(shape: FileShape, data: Any, path: Path, body: Mapping[str, Any]) -> Any:
    """The data of a file that has just been written; `ClaimBroken` if it differs from what was written."""
    if isinstance(data, Table) and len(data) >= _LARGE and reads_back_exactly(data.frame, path, body["data"]):
        return data
    read = shape.read(path, body)
    shape.refuse_changed(data, read)
    if not isinstance(read, Table):
        return read
    if read.frame.equals(data.frame):  # the same cells and types: a large table is held once
        return data
    return data.replace_frame(read.frame).to_release()


def reads_back_exactly(frame: pl.DataFrame, path: Path, description: Mapping[str, Any]) -> bool:
    """Whether a text file holds exactly the cells of a frame, of the same types; False for other formats."""
    if description["format"] not in SEPARATOR_OF or description.get("escaped_formulas"):
        return False
    numbers, integers = description["numbers"], description["integers"]
    text = describe_text_format(description["format"], description["missing_mark"], numbers, integers)
    rows = 0
    try:
        for cells in iterate_text_cells(path, text, PART):
            report_progress("reading back", rows, frame.height)
            typed_cells = cells.select(state_types(cells, cells.columns, numbers, integers))
            typed_cells = cast_whole_columns(typed_cells, integers)
            if typed_cells.schema != frame.schema or not typed_cells.equals(frame.slice(rows, typed_cells.height)):
                return False
            rows += typed_cells.height
    except DataError:  # reading the whole file copes with more, and says what is wrong
        return False
    finally:
        pa.default_memory_pool().release_unused()
    return rows == frame.height
