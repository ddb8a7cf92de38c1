# SPDX-License-Identifier: MIT
"""Spark counts and releases what duckdb does, to the byte; one session for all tests, as its start takes longest."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato.engine.duckdb_rows import DuckdbRows
from sfumato.engine.stored_rows import CodeMap, StoredRows, TooManyRows
from sfumato.engine.text_dictionaries import spell_coded_columns
from sfumato.errors import DataError
from sfumato.workflow.audit import audit
from sfumato.workflow.folders.manifest import hash_file
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import verify
from tests.engine.spark.spark_fixtures import open_session
from tests.workflow.stored.test_stored_run import BLANK, DROP, K, T, write_policy

FRAME = pl.DataFrame(
    {
        "a.b": pl.Series([1, 2, 2, None, 7], dtype=pl.Int16),
        "A": ["x", "y", "y", None, "it's"],
        "a": [0.0, -0.0, float("nan"), 1e300, None],
        "day": [dt.date(1, 1, 1), dt.date(9999, 12, 31), None, dt.date(1970, 1, 1), dt.date(1970, 1, 1)],
        "large": pl.Series([2**64 - 1, 1, 1, 0, None], dtype=pl.UInt64),
        "truth": [True, False, None, True, True],
        "kind": pl.Series(["q", "r", "q", "r", None], dtype=pl.Categorical),
    }
)


@pytest.fixture(scope="module", autouse=True)
def session() -> Iterator[Any]:
    with open_session() as spark_session:
        yield spark_session


def open_both(folder: Path, *parts: pl.DataFrame) -> tuple[DuckdbRows, StoredRows]:
    from sfumato.engine.spark.spark_rows import SparkRows

    paths = [folder / f"it's {number}.parquet" for number in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        part.write_parquet(path)
    return DuckdbRows(paths, folder, "people"), SparkRows(paths, "people")


def test_spark_counts_what_duckdb_counts(tmp_path: Path) -> None:
    """With an empty file in the middle, and names that Spark would take for one, or for signs."""
    ours, theirs = open_both(tmp_path, FRAME, FRAME.clear(), FRAME.reverse())
    assert (ours.schema, ours.height) == (theirs.schema, theirs.height)
    for names in (list(FRAME.columns), ["a", "A"], ["large"]):
        our_counts, their_counts = ours.count_rows(names), theirs.count_rows(names)
        assert our_counts.frame.equals(their_counts.frame)
        assert our_counts.frame.schema == their_counts.frame.schema
        assert our_counts.counts.tolist() == their_counts.counts.tolist()
        sizes, same = ours.count_sizes(names), theirs.count_sizes(names)
        assert [part.tolist() for part in sizes] == [part.tolist() for part in same]
    several = [["A", "kind"], ["day", "large", "truth"], ["a", "truth"], ["A"]]  # of fractions, by a job of their own
    for sizes, same in zip(ours.count_many_sizes(several), theirs.count_many_sizes(several), strict=True):
        assert [part.tolist() for part in sizes] == [part.tolist() for part in same]
    assert theirs.estimate_tuples(["a", "A"]) == 5
    assert ours.count_missing() == theirs.count_missing()
    assert [ours.count_values(name) for name in ("a", "kind")] == [theirs.count_values(name) for name in ("a", "kind")]
    for most in (2, 3, 100):
        cells, same_cells = ours.sample_values(["A", "kind"], most), theirs.sample_values(["A", "kind"], most)
        assert all(cells[name].equals(same_cells[name]) and len(cells[name]) for name in cells)
    assert pl.concat(ours.iterate_batches()).equals(pl.concat(theirs.iterate_batches()))
    coded = [pl.concat(map(spell_coded_columns, rows.iterate_coded_batches(["kind", "A"]))) for rows in (ours, theirs)]
    assert coded[0].equals(coded[1])
    numbered = [pl.concat(map(spell_coded_columns, rows.map_batches(_number_rows))) for rows in (ours, theirs)]
    assert numbered[0].equals(numbered[1])
    maps = {"A": CodeMap(pl.Series(["x"]), np.array([5], dtype=np.int32), 9)}
    assert ours.count_coded_rows(maps).frame.equals(theirs.count_coded_rows(maps, 2).frame)
    with pytest.raises(TooManyRows):
        theirs.count_coded_rows(maps, 1)


def test_rows_keep_their_order_and_errors_their_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many runs, several lots; and a file that is damaged after it was opened is named, no cell is."""
    monkeypatch.setattr("sfumato.engine.file_units.UNIT_ROWS", 3)
    _, theirs = open_both(tmp_path, *(pl.DataFrame({"n": range(k, k + 7), "s": ["x"] * 7}) for k in range(0, 21, 7)))
    assert pl.concat(theirs.map_batches(lambda part, _: part))["n"].to_list() == list(range(21))
    (tmp_path / "it's 1.parquet").write_bytes(b"PAR1" + b"\0" * 100)
    with pytest.raises(DataError, match=r"it's 1\.parquet: .*damaged"):
        theirs.count_rows(["n"])
    whole = theirs.open_files([tmp_path / "it's 0.parquet"], tmp_path, "people")
    with pytest.raises(DataError, match=r"^a task failed with ValueError in test_spark_rows\.py, line \d+$") as error:
        list(whole.map_batches(_fail))
    assert "secret" not in str(error.value)


def _number_rows(rows: pl.DataFrame, first: int) -> pl.DataFrame:
    return rows.with_row_index("n", first)


def _fail(rows: pl.DataFrame, first: int) -> pl.DataFrame:
    raise ValueError("a secret cell")


CASES = {"t": ("parquet", "own_value", T), "drop": ("csv", "drop", DROP)}
SLOW = {"k": ("parquet", "own_value", K), "blank": ("parquet", "drop", BLANK)}


@pytest.mark.parametrize("case", [*CASES, *(pytest.param(case, marks=pytest.mark.slow) for case in SLOW)])
def test_the_release_is_that_of_duckdb(tmp_path: Path, case: str) -> None:
    policy = write_policy(tmp_path, *(CASES | SLOW)[case])
    ours, theirs = (run_policy(policy, tmp_path / engine, engine=engine) for engine in ("duckdb", "spark"))
    assert hash_file(ours.out / "release" / "data.parquet") == hash_file(theirs.out / "release" / "data.parquet")
    assert ours.findings == theirs.findings
    assert [outcome for _, outcome in ours.attacks] == [outcome for _, outcome in theirs.attacks]
    for part in ("changes", "levels", "losses", "suppression", "claims", "gate", "utility", "data", "verdict"):
        assert ours.record[part] == theirs.record[part], part
    assert theirs.record["engine"]["name"] == "spark"
    assert theirs.release.data.count_values("sex").rows == len(ours.release.data)
    checked, spark_check = (verify(theirs.out, engine=engine) for engine in ("duckdb", "spark"))
    assert spark_check.holds
    assert spark_check.as_json() == {**checked.as_json(), "engine": "spark"}


def test_an_audit_by_spark_finds_the_same(tmp_path: Path) -> None:
    """Times with a zone, decimals and categories are spelled as in memory."""
    frame = pl.DataFrame(
        {
            "seen": pl.Series([dt.datetime(2020, 1, day, 12) for day in (1, 2, 3)]).dt.replace_time_zone("Europe/Rome"),
            "paid": [Decimal("1.50"), Decimal("2.00"), None],
            "size": [1.0, 2.0, None],
            "name": ["Ada", "Ben", "Ada"],
        }
    )
    path = tmp_path / "people.parquet"
    frame.write_parquet(path)
    audits = [
        audit(path, ["seen", "paid", "name"], engine=engine).as_json() for engine in ("memory", "duckdb", "spark")
    ]
    assert audits[0] == audits[1] == audits[2]


KEPT = """
[data]
path = "people-*.parquet"

[roles]
quasi_identifying = ["age"]
insensitive = ["kind", "day", "paid", "seen", "small", "truth"]

[[protect]]
method = "top_code"
columns = ["age"]
k = 3

[output]
format = "parquet"
"""


def test_a_release_has_the_types_that_it_has_in_memory(tmp_path: Path) -> None:
    """Categories, dates, decimals, times with a zone, and narrow numbers; with a file that has no row."""
    rows = [row % 10 for row in range(120)]
    frame = pl.DataFrame(
        {
            "age": pl.Series(rows, dtype=pl.Int8),
            "kind": pl.Series([("q", "r", None)[row % 3] for row in rows], dtype=pl.Categorical),
            "day": [dt.date(1900, 1, 1) + dt.timedelta(days=1000 * row) for row in rows],
            "paid": pl.Series([Decimal(row) / 4 for row in rows], dtype=pl.Decimal(10, 2)),
            "seen": pl.Series([dt.datetime(2020, 1, 1, row) for row in rows]).dt.replace_time_zone("Europe/Rome"),
            "small": pl.Series([row / 8 for row in rows], dtype=pl.Float32),
            "truth": [row % 2 == 0 for row in rows],
        }
    )
    for number, part in enumerate((frame.head(65), frame.clear(), frame.slice(65))):
        part.write_parquet(tmp_path / f"people-{number}.parquet")
    policy = Policy.parse(KEPT, tmp_path / "policy.toml")
    results = [run_policy(policy, tmp_path / engine, engine=engine) for engine in ("memory", "duckdb", "spark")]
    ours, theirs, on_spark = (pl.read_parquet(result.out / "release" / "data.parquet") for result in results)
    assert on_spark.equals(ours) and on_spark.schema == ours.schema
    assert on_spark.schema["day"] == pl.Date and on_spark.schema["small"] == pl.Float32
    assert hash_file(results[1].out / "release" / "data.parquet") == hash_file(
        results[2].out / "release" / "data.parquet"
    )
    assert theirs.schema == ours.schema
