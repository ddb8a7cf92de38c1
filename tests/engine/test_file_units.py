# SPDX-License-Identifier: MIT
"""Runs of rows are read alone as they are read with all others, in the same batches."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sfumato.engine import duckdb_rows, file_units
from sfumato.engine.duckdb_rows import DuckdbRows
from sfumato.engine.file_units import FileUnit, cut_units, read_unit
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


def test_a_file_that_went_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.parquet: the file does not exist"):
        list(read_unit(FileUnit(tmp_path / "gone.parquet", 0, 1, 0), ["a"]))
