# SPDX-License-Identifier: MIT
"""Texts as numbers, from file to file: the same cells, and nothing but the cells that are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engine import duckdb_rows
from sfumato.engine.duckdb_rows import DuckdbRows
from sfumato.engine.parquet_writer import write_batches
from sfumato.engine.text_dictionaries import build_coded_column, flag_text, read_coded_columns, split_column
from sfumato.engine.value_codes import index_cells

pytest.importorskip("duckdb")
CELLS = pl.DataFrame(
    {"word": ["flu", None, "cold", "flu"] * 50, "name": [f"p{n}" for n in range(200)], "age": [1, 2, None, 4] * 50}
)


def test_batches_in_numbers_hold_the_same_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb_rows, "BATCH_ROWS", 70)
    for number in range(2):
        CELLS.write_parquet(tmp_path / f"{number}.parquet", row_group_size=90)
    rows = DuckdbRows([tmp_path / "0.parquet", tmp_path / "1.parquet"], tmp_path, "cells")
    batches = list(rows.iterate_coded_batches())
    assert {batch["word"].dtype.base_type() for batch in batches} == {pl.Enum}
    assert {batch["name"].dtype for batch in batches} == {pl.String()}
    assert pl.concat([batch.cast({"word": pl.String}) for batch in batches]).equals(pl.concat([CELLS, CELLS]))
    assert [batch.columns for batch in rows.iterate_coded_batches(["age", "word"])] == [["age", "word"]] * len(batches)


def test_a_file_holds_the_texts_that_are_written_and_no_other(tmp_path: Path) -> None:
    column = build_coded_column(np.array([3, 1, 2, 3]), ["secret", "b", None, "a"]).alias("c")
    frame = pl.DataFrame([column, pl.Series("n", [1, 2, 3, 4])])
    path = tmp_path / "a.parquet"
    write_batches([frame.head(0).cast({"c": pl.String}), frame, frame.head(1).cast({"c": pl.String})], path)
    assert b"secret" not in path.read_bytes()
    assert pl.read_parquet(path)["c"].to_list() == ["a", "b", None, "a", "a"]
    assert pl.read_parquet(path).schema == {"c": pl.String, "n": pl.Int64}
    assert pq.read_schema(path).field("c").type == pa.string()
    write_batches([frame.cast({"c": pl.String}), frame], path)
    assert pl.read_parquet(path)["c"].to_list() == ["a", "b", None, "a"] * 2


def test_numbers_stand_for_their_texts() -> None:
    column = build_coded_column(np.array([0, 1, 2, 0]), ["b", None, "b"])
    assert column.to_list() == ["b", None, "b", "b"]
    values, codes = split_column(column)
    assert [values[int(code)] for code in codes] == column.to_list()
    assert flag_text(column, "b").tolist() == [True, False, True, True]
    assert not flag_text(column, "*").any()
    places = index_cells(column, ("a", "b"))
    assert places is not None and places.tolist() == [1, 2, 1, 1]
    assert index_cells(column, ("a",)) is None


@pytest.mark.parametrize("texts", [["a", "a"], ["a", None]])
def test_a_dictionary_that_repeats_itself_is_read_as_texts(texts: list[str | None]) -> None:
    cells = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(texts, pa.string()))
    batch = pa.record_batch([cells, pa.array(["a", "b"]).dictionary_encode()], names=["c", "d"])
    assert read_coded_columns(batch).to_dict(as_series=False) == {"d": ["a", "b"]}
