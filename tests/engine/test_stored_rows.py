# SPDX-License-Identifier: MIT
"""Both engines give the same, to the byte; files that do not fit together are named."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.engine import duckdb_rows
from sfumato.engine.duckdb_rows import DuckdbRows
from sfumato.engine.memory_budget import LEAST, find_memory_budget, parse_size
from sfumato.engine.parquet_writer import write_batches
from sfumato.engine.scratch import PREFIX, open_scratch_folder
from sfumato.engine.stored_rows import CodeMap, MemoryRows, TooManyRows
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import DataError, PolicyError
from sfumato.table import Table

CELLS: dict[str, tuple[st.SearchStrategy[Any], pl.DataType]] = {
    "text": (st.text(max_size=2), pl.String()),
    "whole": (st.integers(-(2**62), 2**62), pl.Int64()),
    "small": (st.integers(0, 255), pl.UInt8()),
    "float": (st.floats() | st.sampled_from([0.0, -0.0]), pl.Float64()),
    "truth": (st.booleans(), pl.Boolean()),
    "date": (st.dates(), pl.Date()),
    "kind": (st.sampled_from(["a", "b", "c"]), pl.Categorical()),
}


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    rows = draw(st.integers(1, 30))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    columns = {}
    for number, kind in enumerate(kinds):
        cells, dtype = CELLS[kind]
        few = draw(st.lists(st.none() | cells, min_size=1, max_size=4))
        values = draw(st.lists(st.sampled_from(few), min_size=rows, max_size=rows))
        columns[f'c"{number}'] = pl.Series(values, dtype=dtype)
    return pl.DataFrame(columns)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def store(frame: pl.DataFrame, folder: Path, files: int = 2) -> DuckdbRows:
    """The rows in some files, whose names need quoting."""
    paths = []
    for number, part in enumerate(np.array_split(np.arange(frame.height), files)):
        paths.append(folder / f"it's part {number}.parquet")
        frame[part].write_parquet(paths[-1])
    return DuckdbRows(paths, folder, "people")


@pytest.fixture(params=[1, 1 << 18], ids=["counted here", "counted by duckdb"])
def many(request: pytest.FixtureRequest) -> Iterator[None]:
    """From how many rows on we count ourselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb_rows, "_MANY_ROWS", request.param)
        yield


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frames(), st.data())
def test_both_engines_count_the_same(folder: Path, many: None, frame: pl.DataFrame, data: st.DataObject) -> None:
    memory, stored = MemoryRows(Table.of(frame).frame), store(frame, folder)
    names = data.draw(st.lists(st.sampled_from(frame.columns), min_size=1, unique=True))
    ours, theirs = memory.count_rows(names), stored.count_rows(names)
    assert ours.frame.equals(theirs.frame)
    assert ours.frame.schema == theirs.frame.schema
    assert (ours.counts == theirs.counts).all()
    assert ours.rows == frame.height
    our_sizes, their_sizes = memory.count_sizes(names), stored.count_sizes(names)
    assert [our_sizes.sizes.tolist(), our_sizes.classes.tolist()] == [part.tolist() for part in their_sizes]
    assert our_sizes.unique == int((ours.counts == 1).sum())
    assert our_sizes.smallest == int(ours.counts.min())
    assert memory.count_missing() == stored.count_missing()
    assert stored.estimate_tuples(names) == pytest.approx(memory.estimate_tuples(names), rel=0.3, abs=2)
    assert [memory.count_values(name) for name in names] == [stored.count_values(name) for name in names]
    samples = memory.sample_values(names, 5), stored.sample_values(names, 5)
    assert all(samples[0][name].equals(samples[1][name]) for name in names)
    assert pl.concat(memory.iterate_batches(names)).equals(pl.concat(stored.iterate_batches(names)))
    stored.close()


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frames(), st.data())
def test_both_engines_join_codes_back(folder: Path, many: None, frame: pl.DataFrame, data: st.DataObject) -> None:
    plain = Table.of(frame).frame
    memory, stored = MemoryRows(plain), store(frame, folder)
    maps = {}
    for name in plain.columns:
        values = plain[name].drop_nulls().unique().sort()
        known_values = values.head(data.draw(st.integers(0, len(values))))
        maps[name] = CodeMap(known_values, np.arange(len(known_values), dtype=np.int32), len(known_values) + 3)
    ours, theirs = memory.count_coded_rows(maps), stored.count_coded_rows(maps)
    assert ours.frame.equals(theirs.frame)
    assert (ours.counts == theirs.counts).all()
    for rows in (memory, stored):
        rows.count_coded_rows(maps, len(ours.counts))
        with pytest.raises(TooManyRows):
            rows.count_coded_rows(maps, len(ours.counts) - 1)
    stored.close()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": range(1000)})
    good, bad = tmp_path / "good.parquet", tmp_path / "bad.parquet"
    frame.write_parquet(good)
    bad.write_bytes(b"PAR1" + b"\0" * 100)
    with pytest.raises(DataError, match=r"bad\.parquet: .*damaged"):
        DuckdbRows([good, bad], tmp_path, "people")


def test_damage_that_only_reading_finds_is_named_too(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": range(100_000)})
    good, bad = tmp_path / "good.parquet", tmp_path / "bad.parquet"
    frame.write_parquet(good)
    content = bytearray(good.read_bytes())
    content[100 : len(content) // 2] = bytes(len(content) // 2 - 100)
    bad.write_bytes(content)
    rows = DuckdbRows([good, bad], tmp_path, "people")
    with pytest.raises(DataError, match=r"bad\.parquet: .*damaged"):
        rows.count_rows(["age"])
    with pytest.raises(DataError, match=r"bad\.parquet: .*damaged"):
        list(rows.iterate_batches())


def test_a_column_that_changes_its_type_is_named(tmp_path: Path) -> None:
    pl.DataFrame({"age": [1], "sex": ["f"]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"age": ["1"], "sex": ["f"]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r'b\.parquet: "age" has another type than in .*a\.parquet'):
        DuckdbRows([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path, "people")
    with pytest.raises(DataError, match=r'b\.parquet: "age" has another type than in .*a\.parquet'):
        Table.read(tmp_path / "*.parquet")
    pl.DataFrame({"years": [1], "sex": ["f"]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet: its columns differ"):
        DuckdbRows([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path, "people")


def test_counting_beyond_memory_goes_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_MEMORY", "256MB")
    frame = pl.DataFrame({"code": np.arange(1_500_000), "other": np.arange(1_500_000) % 7})
    rows = store(frame, tmp_path)
    assert rows.count_sizes(["code", "other"]).unique == frame.height
    rows.close()


def test_files_are_read_by_their_names_alone(tmp_path: Path) -> None:
    """A bracket is no pattern that other files match, and the name of a folder is no column."""
    folder = tmp_path / "year=2020"
    folder.mkdir()
    for name, year in (("a[1].parquet", 1), ("a1.parquet", 2), ("b*.parquet", 3), ("bc.parquet", 4)):
        pl.DataFrame({"year": [year]}).write_parquet(folder / name)
    rows = DuckdbRows([folder / "a[1].parquet", folder / "b*.parquet"], tmp_path, "people")
    assert rows.count_rows(["year"]).frame["year"].to_list() == [1, 3]
    assert pl.concat(rows.iterate_batches())["year"].to_list() == [1, 3]
    rows.close()


def test_names_that_differ_in_case_are_two_columns(tmp_path: Path) -> None:
    rows = store(pl.DataFrame({"A": ["x", "y"], "a": [1.5, 2.5]}), tmp_path)
    assert rows.count_rows(["a"]).frame["a"].to_list() == [1.5, 2.5]
    assert rows.count_rows(["A", "a"]).frame["A"].to_list() == ["x", "y"]
    assert rows.count_values("a") == 2
    assert rows.count_sizes(["a"]).unique == 2
    maps = {"a": CodeMap(pl.Series([1.5]), np.array([7], dtype=np.int32), 9)}
    assert rows.count_coded_rows(maps).frame["a"].to_list() == [7, 9]
    rows.close()


def test_a_column_of_very_many_values_is_refused_as_quasi_identifying(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = MemoryRows(pl.DataFrame({"code": range(50)}))
    monkeypatch.setattr("sfumato.engine.stored_table.FEWEST_LEAVES", 40)
    monkeypatch.setattr("sfumato.engine.stored_table.BYTES_A_LEAF", 1 << 60)
    with pytest.raises(DataError, match=r'"code" has 50 values, .* SFUMATO_MEMORY'):
        StoredTable.of(rows, {"code": "quasi_identifying"}).get_hierarchy("code")
    with pytest.raises(DataError, match='"code" has 50 values'):
        StoredTable.of(rows, {"code": "quasi_identifying"}, {"code": {"kind": "intervals", "widths": [10]}})


def test_a_killed_process_leaves_nothing_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_SCRATCH", str(tmp_path))
    code = (
        "import sys; from sfumato.engine.scratch import open_scratch_folder\n"
        "with open_scratch_folder() as folder:\n"
        "    (folder / 'secret').write_text('x'); print(folder, flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    scratch_folder = Path(child.stdout.readline().strip())
    assert scratch_folder.name.startswith(PREFIX)
    assert scratch_folder.stat().st_mode & 0o777 == 0o700
    with open_scratch_folder() as ours:
        assert scratch_folder.exists(), "a folder in use stays"
    assert not ours.exists()
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    assert (scratch_folder / "secret").exists()
    with open_scratch_folder():
        assert not scratch_folder.exists()


def test_a_folder_swept_before_it_is_locked_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_SCRATCH", str(tmp_path))
    lock = fcntl.flock
    swept: list[Path] = []

    def sweep_first(file: Any, operation: int) -> None:
        if not swept:  # another process sees the lock before it is taken
            swept.extend(tmp_path.iterdir())
            shutil.rmtree(swept[0])
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", sweep_first)
    with open_scratch_folder() as folder:
        assert folder.is_dir() and folder != swept[0]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "error",
    [
        duckdb.IOException('Could not write file "x": No space left on device'),
        duckdb.OutOfMemoryException("failed to offload data block; this limit was set by max_temp_directory_size"),
    ],
)
def test_a_full_disk_for_temporary_files_is_said(tmp_path: Path, error: Exception) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "a.parquet")
    rows = DuckdbRows([tmp_path / "a.parquet"], tmp_path / f"{PREFIX}x", "a")

    class Full:
        def sql(self, query: str) -> None:
            raise error

    rows._connection = Full()  # type: ignore[assignment]
    with pytest.raises(DataError, match=r"no room left for temporary files.*SFUMATO_SCRATCH") as refusal:
        rows.count_rows(["a"])
    assert str(tmp_path) in str(refusal.value)
    (tmp_path / f"{PREFIX}x").mkdir()
    with pytest.raises(DataError, match=r"no room left for temporary files.*SFUMATO_SCRATCH"):
        write_batches(_fail_to_write(), tmp_path / f"{PREFIX}x" / "typed-0.parquet")


def _fail_to_write() -> Iterator[pl.DataFrame]:
    raise OSError(28, "No space left on device")
    yield


def test_memory_is_given_as_people_write_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_size("2GB") == parse_size("2 GiB") == parse_size("2048m") == 2 << 30
    monkeypatch.setenv("SFUMATO_MEMORY", "1")
    assert find_memory_budget() == LEAST
    monkeypatch.setenv("SFUMATO_MEMORY", "much")
    with pytest.raises(PolicyError, match="SFUMATO_MEMORY"):
        find_memory_budget()
