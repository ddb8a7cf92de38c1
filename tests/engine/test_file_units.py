# SPDX-License-Identifier: MIT
"""Runs of rows are read alone as they are read with all others, in the same batches."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sfumato.engine import duckdb_rows, file_units
from sfumato.engine.duckdb_rows import DuckdbRows
from sfumato.engine.file_units import FileUnit, cut_units, read_unit
from sfumato.engine.parquet_writer import write_batches
from sfumato.engine.text_dictionaries import is_coded, spell_coded_columns
from sfumato.errors import DataError


@pytest.mark.parametrize("group", [3, 7, 40, 1000])
def test_runs_are_cut_into_the_batches_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int
) -> None:
    heights = [100, 0, 33, 40]
    paths = [tmp_path / f"{number}.parquet" for number in range(len(heights))]
    for path, height in zip(paths, heights, strict=True):
        cells = {"n": range(height), "s": [f"{path.stem}:{row}" for row in range(height)]}
        pl.DataFrame(cells, schema={"n": pl.Int64, "s": pl.String}).write_parquet(path, row_group_size=group)
    for module in (file_units, duckdb_rows):
        monkeypatch.setattr(module, "BATCH_ROWS", 10)
    monkeypatch.setattr(file_units, "UNIT_ROWS", 40)
    units = cut_units(paths, heights)
    assert [unit.offset for unit in units] == [0, 40, 80, 100, 133]
    ours = [batch for unit in units for batch in read_unit(unit, ["s"])]
    theirs = list(DuckdbRows(paths, tmp_path, "people").iterate_batches(["s"]))
    assert [batch["s"].to_list() for batch in ours] == [batch["s"].to_list() for batch in theirs]
    assert next(read_unit(units[1], ["s"]))["s"].to_list() == [f"0:{row}" for row in range(40, 50)]


@pytest.mark.parametrize("group", [3, 7, 1000])
def test_coded_columns_are_those_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int) -> None:
    """Though each group of rows has a dictionary of its own: what is written of them is the same to the byte."""
    path = tmp_path / "people.parquet"
    texts = [None if row % 7 == 0 else f"v{row % 5 + row // 40}" for row in range(100)]
    kinds = pl.Series([str(row % 3) for row in range(100)], dtype=pl.Categorical)
    pl.DataFrame({"n": range(100), "s": texts, "kind": kinds}).write_parquet(path, row_group_size=group)
    for module in (file_units, duckdb_rows):
        monkeypatch.setattr(module, "BATCH_ROWS", 10)
    monkeypatch.setattr(file_units, "UNIT_ROWS", 40)
    rows = DuckdbRows([path], tmp_path, "people")
    rows.__dict__["_repetitive"] = frozenset({"s"})
    ours = [batch for unit in cut_units([path], [100]) for batch in read_unit(unit, ["s", "kind", "n"], ["s"])]
    assert all(is_coded(batch["s"]) and is_coded(batch["kind"]) for batch in ours)
    assert pl.concat(map(spell_coded_columns, ours))["s"].to_list() == texts
    write_batches(ours, tmp_path / "ours.parquet")
    write_batches(rows.iterate_coded_batches(["s", "kind", "n"]), tmp_path / "theirs.parquet")
    assert (tmp_path / "ours.parquet").read_bytes() == (tmp_path / "theirs.parquet").read_bytes()


def test_a_file_that_went_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.parquet: the file does not exist"):
        list(read_unit(FileUnit(tmp_path / "gone.parquet", 0, 1, 0), ["a"]))
