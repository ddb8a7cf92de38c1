# SPDX-License-Identifier: MIT
"""A table of Spark's catalogue: its cells as those of Parquet files, its rows in an order that tells nothing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfumato.data.reading.text_table import TextFormat
from sfumato.engine.staging import open_stored_rows
from sfumato.errors import DataError
from sfumato.workflow.audit import audit
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import show_input, verify
from tests.engine.spark.spark_fixtures import open_session
from tests.protect.anonymity.test_stored_generalize import people
from tests.workflow.stored.test_stored_run import POLICY, K

FRAME = pl.DataFrame(
    {
        "number": pl.Series(range(500), dtype=pl.Int32),
        "paid": pl.Series([Decimal("1.50")] * 500, dtype=pl.Decimal(10, 2)),
        "seen": pl.Series([None, *(dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC) for _ in range(499))]),
        "day": [dt.date(1950, 1, 1) + dt.timedelta(days=n) for n in range(500)],
        "some.text": ["it's", None] * 250,
    }
)


@pytest.fixture(scope="module", autouse=True)
def session() -> Iterator[Any]:
    with open_session("--conf spark.sql.session.timeZone=UTC", "local[1,2]") as spark_session:
        yield spark_session


def test_cells_are_those_of_a_parquet_file(tmp_path: Path, session: Any) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    session.read.parquet(str(tmp_path / "a.parquet")).createOrReplaceTempView("people")
    (tmp_path / "scratch").mkdir()
    file_rows = pl.concat(open_stored_rows(tmp_path / "a.parquet", TextFormat(), tmp_path).iterate_batches())
    rows = open_stored_rows("spark:people", TextFormat(), tmp_path / "scratch", "spark")
    spark_rows = pl.concat(rows.iterate_batches())
    assert spark_rows.sort("number").equals(file_rows)
    assert spark_rows.schema == file_rows.schema
    assert spark_rows["number"].to_list() != file_rows["number"].to_list(), "neither as stored nor sorted"
    file_names = [path.name for path in (tmp_path / "scratch").iterdir()]
    assert all(name.startswith("copied-") for name in file_names)
    audits = [
        audit(path, ["day", "paid"], engine="auto").as_json() for path in (tmp_path / "a.parquet", "spark:people")
    ]
    assert {**audits[0], "source": "spark:people"} == audits[1]


def test_the_release_has_the_rows_of_duckdb(tmp_path: Path, session: Any) -> None:
    people(400, 0.01).write_parquet(tmp_path / "people.parquet")
    session.read.parquet(str(tmp_path / "people.parquet")).createOrReplaceTempView("persons")
    results = []
    for path in ("people.parquet", "spark:persons"):
        text = POLICY.replace("PATH", path).replace("MISSING", "own_value").replace("OPTIONS", K)
        policy = Policy.parse(text, tmp_path / "policy.toml")
        assert policy.data.path.endswith(path)
        results.append(run_policy(policy, tmp_path / path[:3], engine="duckdb" if path.startswith("people") else None))
    ours, theirs = (pl.read_parquet(result.out / "release" / "data.parquet") for result in results)
    assert theirs.sort(theirs.columns).equals(ours.sort(ours.columns))
    assert results[1].record["engine"]["reason"] == "which reads its own tables"
    assert verify(results[1].out, engine="spark").holds
    opening = results[1].out / "private" / "input_opening.json"
    assert show_input(results[1].out, "spark:persons", opening).input_shown
    session.table("persons").limit(399).createOrReplaceTempView("fewer")
    assert show_input(results[1].out, "spark:fewer", opening).input_shown is False


def test_what_cannot_be_read_is_said(tmp_path: Path, session: Any) -> None:
    session.range(3).selectExpr("id", "array(id) AS many").createOrReplaceTempView("nested")
    session.range(0).createOrReplaceTempView("nobody")
    for path, words in (
        ("spark:nowhere.people", r"Spark does not find this table \(AnalysisException\)"),
        ("spark:a b", "Spark does not find this table"),
        ("spark:nested", '"many" has a nested type'),
        ("spark:nobody", "no rows"),
    ):
        with pytest.raises(DataError, match=words):
            open_stored_rows(path, TextFormat(), tmp_path, "spark")
