# SPDX-License-Identifier: MIT
"""An audit by duckdb says what an audit in memory says."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.generators.population import generate_population
from sfumato.errors import DataError, PolicyError
from sfumato.workflow import audit
from tests.command_line import Invoke


@pytest.fixture
def population(tmp_path: Path) -> Path:
    frame = generate_population(3_000).with_columns(
        (pl.col("age") / 2).alias("half"), pl.when(pl.col("age") > 30).then(pl.col("sex")).alias("gappy")
    )
    (tmp_path / "parts").mkdir()
    for number, part in enumerate(frame.iter_slices(1_000)):
        part.write_parquet(tmp_path / "parts" / f"{number}.parquet")
    frame.write_csv(tmp_path / "people.csv")
    return tmp_path


@pytest.mark.parametrize("many", [1, 1 << 18])
@pytest.mark.parametrize("path", ["parts/*.parquet", "people.csv"])
def test_both_engines_find_the_same(population: Path, path: str, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "_MANY_ROWS", many)
    ours = sf.audit(population / path, engine="memory")
    theirs = sf.audit(population / path, engine="duckdb")
    assert ours.as_json() == theirs.as_json()
    assert ours.unique_share


def test_an_unknown_column_is_refused(population: Path) -> None:
    with pytest.raises(DataError, match="there is no column"):
        sf.audit(population / "people.csv", ["agee"], engine="duckdb")
    with pytest.raises(PolicyError, match="reads files"):
        sf.audit({"age": [1]}, engine="duckdb")


def test_the_command_says_which_engine_it_took(
    population: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    explicit_result = invoke("audit", population / "people.csv", "--engine", "duckdb", "--quasi", "age,sex")
    assert explicit_result.code == 0
    assert "Engine: duckdb, as asked." in explicit_result.out
    assert "Engine" not in invoke("audit", population / "people.csv", "--quasi", "age,sex").out
    monkeypatch.setattr("sfumato.engine.choice.BYTES_A_CELL", 1 << 40)
    automatic_result = invoke("audit", f"{population}/parts/*.parquet", "--quasi", "age,sex")
    assert "Engine: duckdb, since the table may take" in automatic_result.out
    assert automatic_result.code == 0
    assert (
        automatic_result.out.splitlines()[1:]
        == invoke("audit", f"{population}/parts/*.parquet", "--quasi", "age,sex", "--engine", "memory").out.splitlines()
    )


def test_no_step_of_an_audit_reads_the_whole_file(
    tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even to find out whether the file holds people or trips."""
    generate_population(300).write_parquet(tmp_path / "people.parquet")

    def read_all(*_: object, **__: object) -> None:
        raise AssertionError("the file was read into memory")

    monkeypatch.setattr("sfumato.workflow.drafts.draft_source.read_frame", read_all)
    result = invoke("audit", str(tmp_path / "people.parquet"), "--engine", "duckdb", "--quasi", "age,sex")
    assert result.code == 0, result.err
    assert "300 people" in result.out
