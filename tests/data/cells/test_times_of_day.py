# SPDX-License-Identifier: MIT
"""Times of day are spelled with their fractions of a second: without them, different times were published as one."""

from __future__ import annotations

from datetime import time
from pathlib import Path

import polars as pl

import sfumato as sf
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy

TIMES = [time(10), time(10, 0, 0, 500_000), time(10, 0, 0, 1), None]
TEXTS = ["10:00:00", "10:00:00.500", "10:00:00.000001", None]


def test_times_that_differ_stay_different() -> None:
    assert sf.Table.of({"at": TIMES}).frame["at"].to_list() == TEXTS
    nanoseconds = pl.Series([0, 7]).cast(pl.Time)
    assert sf.Table.of({"at": nanoseconds}).frame["at"].to_list() == ["00:00:00", "00:00:00.000000007"]


def test_both_engines_publish_them(tmp_path: Path) -> None:
    pl.DataFrame({"age": [1, 2] * 4, "at": TIMES * 2}).write_parquet(tmp_path / "people.parquet")
    policy = {
        "data": {"path": str(tmp_path / "people.parquet")},
        "roles": {"quasi_identifying": ["age"], "sensitive": ["at"]},
        "protect": [{"method": "generalize", "models": [{"model": "k_anonymity", "k": 2}]}],
        "measure": {"queries": 0},
        "output": {"format": "parquet"},
    }
    for engine in ("memory", "duckdb"):
        out = run_policy(Policy.model_validate(policy), tmp_path / engine, engine=engine).out
        assert pl.read_parquet(out / "release" / "data.parquet")["at"].to_list() == TEXTS * 2
