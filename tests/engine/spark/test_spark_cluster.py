# SPDX-License-Identifier: MIT
"""A cluster with executors in processes of their own, one of which is killed while rows are written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sfumato
from sfumato.workflow.folders.manifest import hash_file
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from tests.engine.spark.spark_cluster_job import hash_baskets
from tests.engine.spark.spark_fixtures import require_spark_or_skip
from tests.protect.anonymity.test_stored_generalize import people
from tests.workflow.stored.test_stored_run import BLANK, POLICY

FILES, ROWS = 2000, 25


@pytest.mark.slow
def test_a_killed_executor_changes_nothing(tmp_path: Path) -> None:
    """Forty files, so that rows are written in many lots; a basket that half of the rows belong to; then thousands of
    small or empty files with a skewed key.
    """
    require_spark_or_skip()
    policy = write_policy(tmp_path)
    write_many_files(tmp_path / "many")
    sales = write_sales(tmp_path)
    job = Path(__file__).with_name("spark_cluster_job.py")
    surroundings = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(sfumato.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]),
        "SFUMATO_SPARK_MASTER": "local-cluster[2,1,1024]",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [sys.executable, str(job), str(policy), str(tmp_path / "spark"), str(tmp_path / "many"), str(sales)]
    ran = subprocess.run(command, env=surroundings, stdout=subprocess.PIPE, text=True, check=True)
    report = json.loads(ran.stdout)
    assert report["killed"] == 2
    assert report["baskets"] == hash_baskets(sales, "duckdb")
    assert report["executors"] == 2, "the cluster starts another"
    assert report["holds"] and report["published"]
    ours = run_policy(Policy.read(policy), tmp_path / "duckdb", engine="duckdb")
    for name in ("release/data.parquet",):
        assert hash_file(ours.out / name) == hash_file(tmp_path / "spark" / name), name
    assert report["in_order"]
    assert sum(report["counts"].values()) == FILES * ROWS
    assert report["counts"]["common"] == FILES * ROWS - 1000
    assert report["sizes"] == [[1, FILES * ROWS - 1000], [1000, 1]]
    assert report["peak_megabytes"] < 1024


def write_policy(folder: Path) -> Path:
    (folder / "parts").mkdir()
    for number, part in enumerate(people(8000, 0.01).iter_slices(200)):
        part.write_parquet(folder / "parts" / f"{number:03d}.parquet")
    text = POLICY.replace("PATH", "parts/*.parquet").replace("MISSING", "drop").replace("OPTIONS", BLANK)
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def write_sales(folder: Path) -> Path:
    draws = np.random.default_rng(2)
    ids = np.where(draws.random(20_000) < 0.5, 7, draws.integers(0, 5000, 20_000))
    frame = pl.DataFrame({"id": ids, "item": draws.integers(0, 300, 20_000)})
    frame.write_parquet(folder / "sales.parquet")
    return folder / "sales.parquet"


def write_many_files(folder: Path) -> None:
    """One value in all rows but a thousand, each of which has its own; a file without rows after every fifth."""
    folder.mkdir()
    row_numbers = np.arange(FILES * ROWS)
    odd = row_numbers % (FILES * ROWS // 1000) == 0
    keys = pl.Series(np.where(odd, np.char.add("rare ", row_numbers.astype(str)), "common"))
    frame = pl.DataFrame({"number": pl.Series(row_numbers), "key": keys})
    for number, part in enumerate(frame.iter_slices(ROWS)):
        part.write_parquet(folder / f"{number:05d}.parquet")
        if number % 5 == 0:
            part.clear().write_parquet(folder / f"{number:05d}-empty.parquet")
