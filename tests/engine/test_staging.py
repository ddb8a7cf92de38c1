# SPDX-License-Identifier: MIT
"""Whatever a data path names is read for duckdb as it is read in memory: the same cells, types and order."""

from __future__ import annotations

import datetime as dt
import sqlite3
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.cells.cell_types import TypesOfCells, type_cells
from sfumato.data.reading.text_table import TextFormat
from sfumato.engine.duckdb_rows import DuckdbRows
from sfumato.engine.parquet_writer import write_batches
from sfumato.engine.staging import open_stored_rows
from sfumato.errors import DataError
from sfumato.table import Table

CELLS = st.none() | st.sampled_from(["", "1", "007", "-3", "2.50", "1e5", "x", "123456789012345678", "9" * 30, "0.1"])


def assert_same(path: str | Path, scratch: Path) -> None:
    rows = open_stored_rows(path, TextFormat(), scratch)
    assert isinstance(rows, DuckdbRows)
    ours = Table.read(path).frame
    theirs = pl.concat(rows.iterate_batches())
    assert theirs.schema == ours.schema == rows.schema
    assert theirs.equals(ours)
    rows.close()


@settings(max_examples=60)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12), st.integers(1, 4))
def test_types_learnt_by_parts_are_those_of_the_whole(rows: list[tuple[str | None, str | None]], step: int) -> None:
    cells = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String}, orient="row")
    types = TypesOfCells()
    for part in cells.iter_slices(step):
        types.observe(part)
    assert types.decide() == dict(type_cells(cells).schema)


def test_text_files(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.csv").write_text('zip,age,pay\n02135, 39 ,1.50\n02136,?,2\n"0,1",41,\n', encoding="utf-8")
    assert_same(folder / "a.csv", tmp_path)
    (folder / "b.csv").write_text("zip,age,pay\n1,old,7\n2,3,8\n", encoding="utf-8")
    assert_same(f"{folder}/*.csv", tmp_path)


def test_ragged_and_foreign_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("zip,age\n1,2\n3\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"a\.csv: 1 row has another number of cells"):
        open_stored_rows(tmp_path / "a.csv", TextFormat(), tmp_path)
    (tmp_path / "a.csv").write_bytes("n\nä\n".encode("latin-1"))
    with pytest.raises(DataError, match="--engine memory"):
        open_stored_rows(tmp_path / "a.csv", TextFormat(encoding="latin-1"), tmp_path)


def test_parquet_stays_where_it_is_unless_types_are_spelled(tmp_path: Path) -> None:
    plain = pl.DataFrame({"a": [1.0, None], "b": ["x", "y"], "c": [True, None], "d": [dt.date(2020, 1, 2), None]})
    path = tmp_path / "people.parquet"
    plain.with_columns(pl.col("b").cast(pl.Categorical)).write_parquet(path)
    rows = open_stored_rows(path, TextFormat(), tmp_path)
    assert isinstance(rows, DuckdbRows)
    assert rows.files == (path,)
    assert_same(path, tmp_path)
    moments = plain.with_columns(pl.Series("t", [dt.datetime(2020, 1, 2, 3, 4), None]), pl.Series("n", [None, None]))
    moments.write_parquet(path)
    assert_same(path, tmp_path)


def test_databases(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as database:
        database.execute("CREATE TABLE people (name VARCHAR, pay DECIMAL(9, 2), day DATE, moment TIMESTAMP)")
        database.executemany(
            "INSERT INTO people VALUES (?, ?, ?, ?)",
            [("a", Decimal("1.50"), dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3)), ("?", None, None, None)],
        )
    assert_same(f"duckdb:///{tmp_path}/a.duckdb?table=people", tmp_path)
    with sqlite3.connect(tmp_path / "a.db") as other:
        other.execute("CREATE TABLE people (name, age, pay, mixed)")
        rows = [("a", 1, 1.5, "x"), ("?", 2, 2, 3), (None, None, None, None), ("b", 4.0, 1e300, 2.5)]
        other.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    other.close()
    assert_same(f"sqlite:///{tmp_path}/a.db?table=people", tmp_path)
    with pytest.raises(DataError, match=r'it has "people"'):
        open_stored_rows(f"sqlite:///{tmp_path}/a.db?table=persons", TextFormat(), tmp_path)


def test_other_kinds_are_refused_by_name(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_ipc(tmp_path / "a.arrow")
    with pytest.raises(DataError, match=r"a\.arrow: the engine duckdb reads Parquet .*--engine memory"):
        open_stored_rows(tmp_path / "a.arrow", TextFormat(), tmp_path)


def test_rows_are_written_in_batches(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": range(25), "b": [None, "x", "y", "z", ""] * 5})
    batches = list(frame.iter_slices(7))
    assert write_batches(iter(batches), tmp_path / "whole.parquet") == 25
    assert pl.read_parquet(tmp_path / "whole.parquet").equals(frame)
