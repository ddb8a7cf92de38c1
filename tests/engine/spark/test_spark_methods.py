# SPDX-License-Identifier: MIT
"""Every other method by Spark: the release of duckdb to the byte, whatever fails; no file has the secret."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.engine.duckdb_rows import DuckdbRows
from sfumato.engine.stored_table import StoredTable
from sfumato.engine.text_dictionaries import spell_coded_columns
from sfumato.protect.stored_method import plan_stored
from sfumato.protect.stored_plan import StoredPlan
from sfumato.workflow.folders.manifest import hash_file
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import verify
from tests.engine.spark.spark_fixtures import open_session
from tests.protect.test_stored_rowwise import METHODS, ROLES, make_people
from tests.workflow.stored.test_stored_entries_run import write_policy as write_entries
from tests.workflow.stored.test_stored_partition_run import K, L
from tests.workflow.stored.test_stored_partition_run import write_policy as write_parts
from tests.workflow.stored.test_stored_randomized_run import ANSWERS, NOISE
from tests.workflow.stored.test_stored_randomized_run import write_policy as write_randomized
from tests.workflow.stored.test_stored_top_code_run import write_policy as write_caps

MARK = "ZZMARKZZ"


@pytest.fixture(scope="module", autouse=True)
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where Spark writes: its own files and its event log. A task that fails is tried once more."""
    folder = tmp_path_factory.mktemp("spark")
    (folder / "log").mkdir()
    options = {
        "spark.local.dir": folder,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "log").as_uri(),
    }
    with open_session(" ".join(f"--conf {name}={value}" for name, value in options.items()), "local[1,2]"):
        yield folder


def write_policy(folder: Path, case: str) -> Policy:
    if case in ("k", "l"):
        return write_parts(folder, "parquet", "drop" if case == "l" else "own_value", {"k": K, "l": L}[case])
    if case in ("entries", "caps"):
        return {"entries": write_entries, "caps": write_caps}[case](folder)
    cuts = f"{NOISE}\nkind = 'discretize'\ndiscretize = {{ y = 4 }}"
    return write_randomized(folder, {"noise": NOISE, "cuts": cuts, "answers": ANSWERS}[case])


@pytest.mark.parametrize(
    "case",
    ["l", "noise", "answers", "entries", "caps", *(pytest.param(c, marks=pytest.mark.slow) for c in ("k", "cuts"))],
)
def test_the_release_is_that_of_duckdb(tmp_path: Path, case: str) -> None:
    policy = write_policy(tmp_path, case)
    ours, theirs = (
        run_policy(policy, tmp_path / engine, sf.Randomness.seeded(3), engine=engine) for engine in ("duckdb", "spark")
    )
    assert hash_file(ours.out / "release" / "data.parquet") == hash_file(theirs.out / "release" / "data.parquet")
    assert ours.findings == theirs.findings
    assert [outcome for _, outcome in ours.attacks] == [outcome for _, outcome in theirs.attacks]
    for part in ("changes", "losses", "suppression", "claims", "public", "gate", "utility", "data", "verdict"):
        assert ours.record[part] == theirs.record[part], part
    assert theirs.record["engine"]["name"] == "spark"
    checked, spark_check = (verify(theirs.out, engine=engine) for engine in ("duckdb", "spark"))
    assert spark_check.holds
    assert spark_check.as_json() == {**checked.as_json(), "engine": "spark"}


@dataclass(frozen=True)
class FailingOnce:
    """Publishes rows, and fails after it has drawn their noise for the first time."""

    plan: StoredPlan

    def __call__(self, rows: pl.DataFrame, first: int) -> pl.DataFrame:
        from pyspark import TaskContext

        published = self.plan.publish_coded(rows, first)
        context = TaskContext.get()
        assert context is not None
        if not context.attemptNumber():
            raise RuntimeError("the machine is lost")
        return published


@pytest.mark.parametrize("name", ["gaussian", "answers"])
def test_a_task_that_is_done_again_draws_the_same(tmp_path: Path, name: str) -> None:
    plan, local_rows = plan_on_spark(tmp_path, METHODS[name])
    task_rows = pl.concat(plan.table.rows.map_batches(FailingOnce(plan)))
    assert task_rows.equals(pl.concat(map(spell_coded_columns, local_rows.map_batches(plan.publish_coded))))


def test_no_file_of_spark_holds_the_secret(tmp_path: Path, files: Path) -> None:
    method = sf.RandomizeResponse(column="word", p=0.7, categories=("a", "b", "c", MARK))
    plan, _ = plan_on_spark(tmp_path, method)
    batches = plan.table.rows.map_batches(plan.publish_coded)
    next(batches)
    contents = [path.read_bytes() for path in files.rglob("*") if path.is_file()]
    assert any(MARK.encode() in content for content in contents), "what else is sent lies in a file"
    assert any(b"SparkListenerSQLExecutionEnd" in content for content in contents), "and jobs are logged"
    secret: bytes = bytes(plan.draws.secret)  # type: ignore[attr-defined]
    for spelling in (secret, secret.hex().encode(), base64.b64encode(secret), repr(secret).encode()[2:-1]):
        assert not any(spelling in content for content in contents)
    assert sum(part.height for part in batches) > 0


def plan_on_spark(folder: Path, method: Any) -> tuple[StoredPlan, DuckdbRows]:
    from sfumato.engine.spark.spark_rows import SparkRows

    paths = [folder / f"{number}.parquet" for number in range(2)]
    for path, part in zip(paths, make_people(60, 2, pl.Int64()).iter_slices(40), strict=True):
        part.write_parquet(path)
    table = StoredTable.of(SparkRows(paths, "people"), ROLES)
    return plan_stored(method, table, sf.Randomness.secure()), DuckdbRows(paths, folder, "people")
