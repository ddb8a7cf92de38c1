# SPDX-License-Identifier: MIT
"""Cells get the same number exactly where they are equal, whichever way they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from sfumato.data.generators.population import generate_population
from sfumato.engine import duckdb_rows
from sfumato.engine.duckdb_rows import DuckdbRows, add_stated_nulls
from sfumato.engine.stored_rows import CodeMap, MemoryRows, StoredRows
from sfumato.engine.value_numbers import ValueNumbers


def list_numbers(rows: StoredRows, columns: list[str]) -> list[list[int]]:
    batches = list(rows.iterate_numbered(columns))
    return [np.concatenate([lines[index] for lines in batches]).tolist() for index in range(len(columns))]


def test_equal_cells_have_equal_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb_rows, "BATCH_ROWS", 70)
    frame = generate_population(900).drop("name")
    frame = frame.with_columns(
        pl.when(pl.col("age") > 40).then(pl.col("zip")).alias("zip"),
        pl.when(pl.col("age") > 30).then(pl.col("age")).alias("known_age"),
        (pl.col("age") / 7).alias("share"),
        (pl.col("age") > 50).alias("old"),
    )
    files = [tmp_path / f"{number}.parquet" for number in range(3)]
    for number, file in enumerate(files):
        frame.slice(300 * number, 300).write_parquet(file, row_group_size=110)
    stored = DuckdbRows(files, tmp_path, "people")
    assert stored._repetitive  # else dictionaries are not tried
    for rows in (stored, MemoryRows(frame)):
        for numbers, name in zip(list_numbers(rows, frame.columns), frame.columns, strict=True):
            cells = frame[name].to_list()
            assert len(set(zip(numbers, cells, strict=True))) == len(set(numbers)) == len(set(cells))
    assert stored.count_missing() == MemoryRows(frame).count_missing()
    assert set(add_stated_nulls(files, stored.schema)) == set(frame.columns) - {"share"}


def test_texts_that_do_not_occur_get_no_number() -> None:
    numbers, line = ValueNumbers(), np.zeros(3, dtype=np.uint16)
    cells = pa.DictionaryArray.from_arrays(pa.array([2, 2, None], pa.int32()), pa.array(["unused", "too", "seen"]))
    assert numbers.number_array(cells, line)
    assert line.tolist() == [0, 0, 1]
    assert numbers.number_array(pa.array(["seen"]).dictionary_encode(), line[:1])
    assert line.tolist() == [0, 0, 1]


@pytest.mark.parametrize("kind", [pl.Int8, pl.Int16, pl.UInt8, pl.UInt64])
@pytest.mark.parametrize("has_map", [False, True])
def test_short_numbers_are_as_far_apart_as_they_are(kind: Any, has_map: bool) -> None:
    """127 is 130 more than −3, which is more than 8 bits hold."""
    least, most = {pl.Int8: (-128, 127), pl.Int16: (-32768, 32767), pl.UInt8: (0, 255)}.get(
        kind, (2**64 - 9, 2**64 - 1)
    )
    cells = pl.Series([least, most, least + 3, most, least], dtype=kind)
    code_map = CodeMap(pl.Series([least, most], dtype=kind), np.array([4, 7], dtype=np.int32), 9)
    line = np.zeros(5, dtype=np.uint16)
    assert ValueNumbers(code_map if has_map else None).number_array(cells.to_arrow(), line)
    assert line.tolist() == ([4, 7, 9, 7, 4] if has_map else [0, 2, 1, 2, 0])
