# SPDX-License-Identifier: MIT
"""Which engine takes a data path: memory, or duckdb if the table would not fit."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.reading.file_kinds import HEAD, detect_file_kind
from sfumato.data.reading.source import is_server, is_spark_table
from sfumato.data.reading.table_reader import list_input_files
from sfumato.data.reading.text_table import read_first_bytes
from sfumato.engine.basket_staging import BasketSource, can_stage
from sfumato.engine.engine_names import ChosenEngine, EngineName
from sfumato.engine.memory_budget import find_memory_budget, format_size
from sfumato.errors import spell_install

BYTES_A_CELL = 100
"""What a run in memory takes for each cell of the table, at its peak: measured on five million rows."""
_BYTES_A_LETTER = 12
"""What baskets take in memory for each byte of a text file, while they are read."""
_OPENING = 1 << 16
_STORED_KINDS = ("parquet", "duckdb", "sqlite", None)


class EngineChoice(NamedTuple):
    """An engine, and why."""

    name: ChosenEngine
    reason: str
    is_fallback: bool = False
    """Whether another engine would have been chosen if it could do the work."""

    def describe_choice(self) -> str:
        """The choice in words."""
        return f"Engine: {self.name}, {self.reason}."


def choose_engine(path: str | Path, wanted_engine: EngineName = "auto") -> EngineChoice:
    """The engine that was asked for, else memory for a table that fits, and duckdb for one that does not."""
    if wanted_engine != "auto":
        return EngineChoice(wanted_engine, "as asked")
    if is_spark_table(path):
        return EngineChoice("spark", "which reads its own tables")
    cells = estimate_cells(path)
    if cells is None:
        return EngineChoice("memory", "which reads this kind of data")
    return choose_by_cells(cells)


def choose_by_cells(cells: int, wanted_engine: EngineName = "auto") -> EngineChoice:
    """The same for a table of this many cells, which duckdb reads."""
    if wanted_engine != "auto":
        return EngineChoice(wanted_engine, "as asked")
    return _choose_by_bytes(cells * BYTES_A_CELL, "table")


def choose_basket_engine(source: BasketSource, wanted_engine: EngineName = "auto") -> EngineChoice:
    """The engine that was asked for, else memory for baskets that fit, and duckdb for other files that it reads."""
    if wanted_engine != "auto":
        return EngineChoice(wanted_engine, "as asked")
    path = Path(source.path)
    if not path.is_file() or not can_stage(source):
        return EngineChoice("memory", "which reads this kind of data")
    try:
        is_parquet = detect_file_kind(read_first_bytes(path, HEAD)) == "parquet"
        cells = _estimate_file(path, "parquet") if is_parquet else 0
    except (pa.ArrowException, OSError):
        return EngineChoice("memory", "which reads this kind of data")
    return _choose_by_bytes(cells * BYTES_A_CELL, "file") if is_parquet else choose_by_letters(path.stat().st_size)


def choose_by_letters(size: int, wanted_engine: EngineName = "auto") -> EngineChoice:
    """The same for baskets in a text file of this many bytes, which duckdb reads."""
    return (
        EngineChoice(wanted_engine, "as asked")
        if wanted_engine != "auto"
        else _choose_by_bytes(size * _BYTES_A_LETTER, "file")
    )


def _choose_by_bytes(needed_bytes: int, data_kind: str) -> EngineChoice:
    budget = find_memory_budget()
    sizes = (
        f"since the {data_kind} may take {format_size(needed_bytes)} of memory and {format_size(budget)} are available"
    )
    if needed_bytes <= budget:
        return EngineChoice("memory", f"since the {data_kind} fits in it")
    if importlib.util.find_spec("duckdb") is None:
        reason = f"{sizes}, but duckdb is not installed ({spell_install('duckdb')})"
        return EngineChoice("memory", reason, is_fallback=True)
    return EngineChoice("duckdb", sizes)


def estimate_cells(path: str | Path) -> int | None:
    """About how many cells a data path names; None if duckdb does not read it, or nothing can be read."""
    if is_server(path):
        return None
    total = 0
    for file in list_input_files(path):
        if not file.is_file() or not file.stat().st_size:
            return None
        kind = detect_file_kind(read_first_bytes(file, HEAD))
        if kind not in _STORED_KINDS:
            return None
        try:
            total += _estimate_file(file, kind)
        except (pa.ArrowException, OSError):
            return None  # the reader says why
    return total


def _estimate_file(file: Path, kind: str | None) -> int:
    size = file.stat().st_size
    if kind == "parquet":
        metadata = pq.read_metadata(file)
        return int(metadata.num_rows) * int(metadata.num_columns)
    if kind is not None:
        return size // 8
    opening = read_first_bytes(file, _OPENING)  # unpacked: a compressed file has more cells than that
    marks = max(opening.count(mark) for mark in (b",", b";", b"\t", b"|")) + opening.count(b"\n")
    return max(marks, 1) * size // max(min(len(opening), size), 1)
