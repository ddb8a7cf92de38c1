# SPDX-License-Identifier: MIT
"""What Spark does not do is said before it starts, and before a row is read; no Spark is needed for it."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.engine.spark.spark_session import explain_failure, list_local_options, require_spark
from sfumato.errors import DataError, PolicyError
from sfumato.workflow.audit import audit
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from tests.protect.anonymity.test_stored_generalize import people
from tests.workflow.stored.test_stored_run import K, write_policy

NOISE = {"method": "add_noise", "kind": "correlated", "columns": ["visits"], "ranges": {"visits": [0, 9]}}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"protect": [{"method": "generalize", "models": [{"model": "k_anonymity", "k": 2}], "recoding": "local"}]},
         "generalize with local recoding"),
        ({"protect": [NOISE]}, "add_noise with kind = correlated"),
        ({"output": {"format": "csv"}}, "format = csv"),
    ],
)  # fmt: skip
def test_a_policy_that_spark_cannot_run_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    policy = write_policy(tmp_path, "parquet", "own_value", K)
    for path in (tmp_path / "parts").iterdir():
        path.unlink()
    changed_policy = Policy.model_validate({**{name: getattr(policy, name) for name in Policy.model_fields}, **changes})
    with pytest.raises(
        PolicyError, match=rf"the engine spark does not run .*{words}.*; it runs generalize with global"
    ):
        run_policy(changed_policy, tmp_path / "out", engine="spark")
    assert not (tmp_path / "out").exists()


def test_data_in_memory_is_not_for_spark(tmp_path: Path) -> None:
    policy = write_policy(tmp_path, "parquet", "own_value", K)
    spark_policy = policy.model_copy(update={"data": policy.data.model_copy(update={"engine": "spark"})})
    with pytest.raises(PolicyError, match="the engine spark reads files"):
        sf.run(people(20), spark_policy)
    with pytest.raises(PolicyError, match="the engine spark reads files"):
        audit(people(20), engine="spark")
    with pytest.raises(PolicyError, match="a run by spark keeps nothing in memory"):
        sf.run(policy.data.path, spark_policy)


def test_the_error_says_how_to_install_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people(20).write_parquet(tmp_path / "people.parquet")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DataError, match=r'pip install "\.\[spark\]"'):
        audit(tmp_path / "people.parquet", engine="spark")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(DataError, match="needs Java 17"):
        require_spark()


def test_jvms_are_ours_only_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert list_local_options("yarn") == list_local_options("spark://local:7077") == {}
    assert "spark.executor.extraJavaOptions" in list_local_options("local-cluster[2,1,1024]")
    monkeypatch.setenv("SPARK_CONF_DIR", "/etc/spark")
    assert list_local_options("local[4]") == {"spark.ui.enabled": "false"}


def test_errors_of_spark_tell_no_cell() -> None:
    ours = explain_failure(RuntimeError("Traceback …\nsfumato.errors.DataError: a.parquet: damaged\n at org"), "people")
    assert str(ours) == "a.parquet: damaged"
    other = explain_failure(RuntimeError("cannot parse 'secret cell'"), "people")
    assert str(other) == "people: Spark could not finish (RuntimeError); its logs say why"
    assert "raise it" in str(explain_failure(RuntimeError("… spark.driver.maxResultSize (1024.0 MiB)"), "people"))


def test_a_table_of_spark_is_read_by_spark_alone(tmp_path: Path) -> None:
    for engine in ("memory", "duckdb"):
        with pytest.raises(DataError, match=r"spark:clinic\.people: tables of Spark are read .*with --engine spark"):
            audit("spark:clinic.people", engine=engine)
    with pytest.raises(DataError, match="--engine spark"):
        sf.Table.read("spark:clinic.people")
    policy = write_policy(tmp_path, "parquet", "own_value", K)
    data = policy.data.model_copy(update={"path": "spark:clinic.people"})
    with pytest.raises(PolicyError, match="the engine spark does not run format = csv"):
        output = policy.output.model_copy(update={"format": "csv"})
        run_policy(policy.model_copy(update={"data": data, "output": output}), tmp_path / "out")
    (tmp_path / "spark:x").write_text("a\n1\n")
    assert sf.Table.read(tmp_path / "spark:x").frame.columns == ["a"], "the path of a file"
