# SPDX-License-Identifier: MIT
"""What executors do, done here: no Spark is needed for it."""

from __future__ import annotations

import datetime as dt
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from sfumato import __version__
from sfumato.engine import file_units
from sfumato.engine.aligned_batches import ROW, AlignedBatch
from sfumato.engine.file_units import cut_units
from sfumato.engine.spark import spark_places, spark_rows, spark_tasks
from sfumato.engine.spark.spark_baskets import GroupTask, write_groups
from sfumato.engine.spark.spark_places import CountPlacesTask, fits_number, rank_values
from sfumato.engine.spark.spark_rows import SparkRows
from sfumato.engine.spark.spark_tasks import (
    ChangeTask,
    ColumnCount,
    ColumnTask,
    CompareTask,
    CountTask,
    KeyTypes,
    ReachTask,
    pack_frame,
    unpack_frame,
)
from sfumato.engine.stored_baskets import NO_ITEM
from sfumato.engine.stored_rows import COUNT, CodeMap, MemoryRows, sort_counts
from sfumato.errors import DataError
from sfumato.table import Table

FRAME = pl.DataFrame(
    {
        "a.b": pl.Series([1, 2, 2, None], dtype=pl.Int16),
        "A": ["x", "y", "y\0", None],
        "a": [0.0, -0.0, float("nan"), 1e300],
        "day": [dt.date(1, 1, 1), dt.date(9999, 12, 31), None, dt.date(1970, 1, 1)],
        "large": pl.Series([2**64 - 1, 1, 1, 0], dtype=pl.UInt64),
        "truth": [True, False, None, True],
        "small": pl.Series([0.1, 0.1, None, 2.5], dtype=pl.Float32),
        "kind": pl.Series(["q", "r", "q", "r"], dtype=pl.Categorical),
    }
)


def write(folder: Path) -> list[Path]:
    paths = [folder / f"{number}.parquet" for number in range(3)]
    for path, part in zip(paths, (FRAME, FRAME.clear(), FRAME.reverse()), strict=True):
        part.write_parquet(path)
    return paths


def give(*numbers: int) -> Iterator[pa.RecordBatch]:
    yield pa.RecordBatch.from_pydict({"id": list(numbers)})


@pytest.mark.parametrize("most", [1, 1 << 20])
def test_counts_come_back_in_their_own_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(spark_tasks, "MOST_HELD", most)
    plain = Table.of(pl.concat([FRAME, FRAME.reverse()])).frame
    keys = KeyTypes(dict(plain.schema))
    task = pickle.loads(pickle.dumps(CountTask(cut_units(write(tmp_path), [4, 0, 4]), plain.columns, keys)))
    parts = list(task(give(0, 1)))
    assert len(parts) == (2 if most == 1 else 1)
    totals = keys.decode(pa.Table.from_batches(parts)).group_by(plain.columns).agg(pl.col(COUNT).sum())
    ours, theirs = sort_counts(totals), MemoryRows(plain).count_rows(plain.columns)
    assert ours.frame.equals(theirs.frame)
    assert ours.frame.schema == theirs.frame.schema
    assert ours.counts.tolist() == theirs.counts.tolist() == [2, 2, 2, 2]


def test_codes_are_joined_where_rows_are(tmp_path: Path) -> None:
    maps = {"A": CodeMap(pl.Series(["x"]), np.array([5], dtype=np.int32), 9)}
    keys = KeyTypes({"A": pl.Int32()})
    task = CountTask(cut_units(write(tmp_path), [4, 0, 4]), ["A"], keys, maps)
    key_counts = sort_counts(keys.decode(pa.Table.from_batches(task(give(0)))))
    assert (key_counts.frame["A"].to_list(), key_counts.counts.tolist()) == ([5, 9], [1, 3])


def unpack_columns(task: ColumnTask, *runs: tuple[int, ...]) -> dict[str, ColumnCount]:
    task_copy = pickle.loads(pickle.dumps(task))
    return task.merge(batch.column("rows")[0].as_py() for run in runs for batch in task_copy(give(*run)))


def test_the_values_of_all_columns_are_counted_at_once(tmp_path: Path) -> None:
    """In two tasks, one of which has no row; beside the counts of memory."""
    plain = Table.of(pl.concat([FRAME, FRAME.reverse()])).frame
    units = cut_units(write(tmp_path), [4, 0, 4])
    columns = unpack_columns(ColumnTask(units, dict(plain.schema), 4), (0, 1), ())
    for name, column_counts in columns.items():
        ours = MemoryRows(plain).count_rows([name])
        assert column_counts.values is not None
        theirs = sort_counts(column_counts.values)
        assert theirs.frame.equals(ours.frame) and theirs.frame.schema == ours.frame.schema, name
        assert theirs.counts.tolist() == ours.counts.tolist()
        assert column_counts.missing == plain[name].null_count()
    few = unpack_columns(ColumnTask(units, dict(plain.schema), 3), (0,), (1,))
    given_up = {name for name, column_counts in few.items() if column_counts.values is None}
    assert given_up == {name for name in plain.columns if plain[name].n_unique() > 3}
    assert {name: column_counts.missing for name, column_counts in few.items()} == plain.null_count().row(0, named=True)
    no_columns = unpack_columns(ColumnTask((), dict(plain.schema), 3), ())
    assert all(
        column_counts.values is not None and not column_counts.values.height for column_counts in no_columns.values()
    )


def test_a_column_is_given_up_if_tasks_have_too_many_values_together(tmp_path: Path) -> None:
    for number, values in enumerate((["a", "b"], ["b", "c"])):
        pl.DataFrame({"s": values}).write_parquet(tmp_path / f"{number}.parquet")
    units = cut_units([tmp_path / "0.parquet", tmp_path / "1.parquet"], [2, 2])
    counts = {most: unpack_columns(ColumnTask(units, {"s": pl.String()}, most), (0,), (1,))["s"] for most in (2, 3)}
    assert counts[2].values is None
    assert counts[3].values is not None and counts[3].values.height == 3


def test_rows_of_an_id_are_put_together_and_written_in_order(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    frame = pl.DataFrame({"id": ["b", "a", "b", None, "c", ""], "item": ["y", "x", None, "x", None, "y"]})
    frame.write_parquet(tmp_path / "sales.parquet")
    codes = CodeMap(pl.Series(["x", "y"]), np.arange(2, dtype=np.int32), NO_ITEM)
    task = GroupTask(cut_units([tmp_path / "sales.parquet"], [6]), ("id", "item"), codes, pl.String())
    (batch,) = pickle.loads(pickle.dumps(task))(give(0))
    assert task.declaration == "id string, first long, many long, gaps long, gap long, codes array<int>"
    table = pa.Table.from_batches([batch])
    missing_ids = pa.array([row_id is None for row_id in table.column("id").to_pylist()])
    part = pa.array([0] * len(missing_ids), pa.int64())
    summary = write_groups(
        table.drop_columns("id").append_column("lost", missing_ids).append_column("part", part), tmp_path, "n"
    )
    assert summary.to_pylist() == [{"part": 0, "ids": 2, "first_id": 3, "items": 1, "first_item": 2}]
    (path,) = tmp_path.glob("n-grouped-*.parquet")
    stored_rows = pl.read_parquet(path)
    assert stored_rows.rows() == [(0, NO_ITEM), (0, 1), (1, 0), (3, 0), (3, 1), (4, NO_ITEM)]
    assert stored_rows.dtypes == [pl.Int64, pl.Int32]


def test_changed_rows_know_their_number(tmp_path: Path) -> None:
    task = ChangeTask(cut_units(write(tmp_path), [4, 0, 4]), ["A"], number_rows)
    batches = list(task(give(1)))
    assert [batch.column("unit").to_pylist() for batch in batches] == [[1]]
    assert unpack_frame(batches[0].column("rows")[0].as_py())["row"].to_list() == [4, 5, 6, 7]


def number_rows(rows: pl.DataFrame, first: int) -> pl.DataFrame:
    return rows.with_row_index("row", first)


def list_numbers(batch: AlignedBatch) -> list[tuple[int, int]]:
    return list(zip(batch.original["n"].to_list(), batch.published_frame["n"].to_list(), strict=True))


@pytest.mark.parametrize("left_out", [False, True])
def test_published_rows_are_found_beside_their_originals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_out: bool
) -> None:
    for module in (file_units, spark_rows):
        monkeypatch.setattr(module, "BATCH_ROWS", 10)
    monkeypatch.setattr(file_units, "UNIT_ROWS", 20)
    heights = [45, 0, 12]
    paths = [tmp_path / f"{number}.parquet" for number in range(3)]
    whole = pl.DataFrame({"n": pl.Series(range(57))})
    for path, begin, height in zip(paths, (0, 45, 45), heights, strict=True):
        whole.slice(begin, height).write_parquet(path)
    published_rows = whole.filter((pl.col("n") % 3 == 0) & ~pl.col("n").is_between(10, 21)) if left_out else whole
    published_rows.write_parquet(tmp_path / "published.parquet", row_group_size=7)
    published_rows.rename({"n": ROW}).write_parquet(tmp_path / "taken.parquet", row_group_size=5)
    units = cut_units(paths, heights)
    places = {}
    if left_out:
        rows = InProcessRows(paths, whole, heights)
        places = rows._count_published(MemoryRows(published_rows.rename({"n": ROW})))
    taken_path = tmp_path / "taken.parquet" if left_out else None
    task = CompareTask(units, ["n"], tmp_path / "published.parquet", taken_path, places, list_numbers)
    packets = [batch.column("rows")[0].as_py() for batch in task(give(*range(len(units))))]
    pairs = [pair for packed in packets for pair in pickle.loads(packed)]
    assert pairs == [(number, number) for number in published_rows["n"].to_list()]


class InProcessRows(SparkRows):
    """Rows whose tasks run here, without a session."""

    def __init__(self, paths: list[Path], frame: pl.DataFrame, heights: list[int]) -> None:
        self.units, self.files = cut_units(paths, heights), tuple(paths)
        self.schema, self.height, self.source = dict(frame.schema), frame.height, "people"

    def _run_lots(self, task: ChangeTask | CompareTask) -> Iterator[bytes]:
        for batch in task(give(*range(len(self.units)))):
            yield batch.column("rows")[0].as_py()


@pytest.mark.parametrize("most", [1, 5, 7, 50, 100])
def test_samples_are_those_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    for module in (file_units, spark_rows):
        monkeypatch.setattr(module, "BATCH_ROWS", 10)
    monkeypatch.setattr(file_units, "UNIT_ROWS", 20)
    heights, paths = [45, 0, 12], [tmp_path / f"{number}.parquet" for number in range(3)]
    frame = pl.DataFrame({"s": [None if row * 7 % 10 < 3 else f"{row}" for row in range(57)]}).with_columns(
        t=pl.int_range(57).cast(pl.String), empty=pl.lit(None, dtype=pl.String)
    )
    for path, begin, height in zip(paths, (0, 45, 45), heights, strict=True):
        frame.slice(begin, height).write_parquet(path)
    ours = MemoryRows(frame).sample_values(frame.columns, most)
    theirs = InProcessRows(paths, frame, heights).sample_values(frame.columns, most)
    assert all(ours[name].equals(theirs[name]) for name in frame.columns)


def test_small_files_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand files of ten rows are one lot; long files are cut so that a lot keeps the cores busy and no more."""
    monkeypatch.setenv("SFUMATO_MEMORY", "64GB")
    monkeypatch.setattr(spark_rows, "count_cores", lambda session: 2)
    empty, length = pl.DataFrame(), file_units.UNIT_ROWS
    for heights, expected in (
        ([10] * 1000, [(0, 1000)]),
        ([6 * length], [(0, 4), (4, 6)]),
        ([10, 5 * length], [(0, 4), (4, 6)]),
    ):
        rows = InProcessRows([Path(str(number)) for number in range(len(heights))], empty, heights)
        rows.session = None
        assert list(rows._cut_lots(9)) == expected


def test_texts_stay_numbers_on_their_way() -> None:
    frame = pl.DataFrame({"s": pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "a", "unused"])), "n": [1, 2, 3]})
    frame_copy = unpack_frame(pack_frame(frame))
    assert frame_copy.equals(frame)
    assert frame_copy.schema == frame.schema


def fail(rows: pl.DataFrame, first: int) -> pl.DataFrame:
    raise ValueError("a secret cell")


def test_an_error_in_a_task_tells_no_cell(tmp_path: Path) -> None:
    task = ChangeTask(cut_units(write(tmp_path), [4, 0, 4]), ["A"], fail)
    with pytest.raises(DataError, match=r"a task failed with ValueError in test_spark_tasks\.py, line \d+$") as error:
        list(task(give(0)))
    assert error.value.__suppress_context__


def test_other_files_and_programs_are_noticed(tmp_path: Path) -> None:
    path = write(tmp_path)[0]
    size = path.stat().st_size
    problems = [
        next(ReachTask([(file, length)], version)(give(0))).column(0).to_pylist()
        for file, length, version in (
            (path, size, __version__),
            (path, size + 1, __version__),
            (tmp_path / "gone", 1, __version__),
            (path, size, "0"),
        )
    ]
    assert problems == [[""], [f"file {path}"], [f"file {tmp_path / 'gone'}"], [f"version {__version__}"]]


@pytest.mark.parametrize("most", [1, 1 << 20])
def test_a_row_is_one_number_in_each_combination(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(spark_places, "MOST_HELD", most)
    plain = Table.of(pl.concat([FRAME, FRAME.reverse(), FRAME])).frame
    names = ["a.b", "A", "day", "large", "truth", "kind"]
    maps = {name: rank_values(plain[name].unique()) for name in names}
    column_lists = [["A", "day"], ["a.b"], ["truth", "kind"], names]
    assert all(fits_number(columns, maps) for columns in column_lists)
    paths = [*write(tmp_path), tmp_path / "0.parquet"]
    task = pickle.loads(pickle.dumps(CountPlacesTask(cut_units(paths, [4, 0, 4, 4]), column_lists, maps, ["A"])))
    parts = list(task(give(0, 1, 2)))
    assert len(parts) == (3 if most == 1 else 1)
    totals = pl.DataFrame(pl.from_arrow(pa.Table.from_batches(parts))).group_by("combination", "place").sum()
    for number, columns in enumerate(column_lists):
        sizes = totals.filter(pl.col("combination") == number)["n"]
        assert sorted(sizes) == sorted(MemoryRows(plain).count_rows(columns).counts)


def test_only_known_values_that_fit_are_numbers() -> None:
    wide = CodeMap(pl.Series(["x"]), np.zeros(1, dtype=np.int32), 1 << 16)
    maps = dict.fromkeys("abcd", wide)
    assert fits_number("abc", maps)
    assert not fits_number("abcd", maps)
    assert not fits_number("ae", maps)
