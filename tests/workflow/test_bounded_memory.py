# SPDX-License-Identifier: MIT
"""A table that does not fit is audited, released and verified under a limit that the system enforces."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.generators.population import generate_population

LIMIT = 3 << 30
"""Of the addresses that a process may write to: libraries, threads and allocators reserve 1.5 GB of them unused."""
PARTS, ROWS = 8, 500_000


def write_parts(folder: Path, parts: int, rows: int) -> Path:
    (folder / "parts").mkdir()
    for number in range(parts):
        generate_population(rows, seed=number).write_parquet(folder / "parts" / f"{number}.parquet")
    text = files(sf).joinpath("demo.toml").read_text(encoding="utf-8")
    (folder / "policy.toml").write_text(text.replace('path = "demo"', 'path = "parts/*.parquet"'), encoding="utf-8")
    return folder / "policy.toml"


def run_limited(folder: Path, *arguments: str | Path, memory: str = "512MB") -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, which fails if it asks for more memory."""
    surroundings = {
        **os.environ,
        "SFUMATO_MEMORY": memory,
        "SFUMATO_SCRATCH": str(folder),
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "MALLOC_ARENA_MAX": "2",
    }
    return subprocess.run(
        [sys.executable, "-m", "sfumato", *map(str, arguments), "--json"],
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT)),
    )


NOISE = """
[data]
path = "parts/*.parquet"

[roles]
identifying = ["name"]
quasi_identifying = ["sex", "zip"]
sensitive = ["age", "education", "occupation", "marital_status", "salary_level", "disease"]

[[protect]]
"""
RANDOMIZED = {
    "noise": 'method = "add_noise"\ncolumns = ["age"]\nranges = { age = [0, 120] }\n',
    "answers": 'method = "randomize_response"\ncolumn = ["disease"]\ncategories = "from_data"\np = 0.7\n',
}


@pytest.mark.slow
@pytest.mark.parametrize("method", RANDOMIZED)
def test_randomized_people_within_a_limit(tmp_path: Path, method: str) -> None:
    policy = write_parts(tmp_path, PARTS, ROWS)
    policy.write_text(NOISE + RANDOMIZED[method], encoding="utf-8")
    result = run_limited(tmp_path, "run", policy, "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["engine"] == "duckdb", "chosen by the size of the data"
    checked = run_limited(tmp_path, "verify", tmp_path / "out")
    assert checked.returncode == 0, checked.stderr
    assert not list(tmp_path.glob("sfumato-scratch-*"))


@pytest.mark.slow
def test_four_million_people_within_a_limit(tmp_path: Path) -> None:
    policy = write_parts(tmp_path, PARTS, ROWS)
    refused_result = run_limited(tmp_path, "run", policy, "--out", tmp_path / "no", "--engine", "memory")
    assert refused_result.returncode != 0, "in memory it would not fit"
    audited = run_limited(tmp_path, "audit", f"{tmp_path}/parts/*.parquet", "--quasi", "age,sex,zip")
    assert audited.returncode == 0, audited.stderr
    assert json.loads(audited.stdout)["rows"] == PARTS * ROWS
    result = run_limited(tmp_path, "run", policy, "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["engine"] == "duckdb", "chosen by the size of the data"
    checked = run_limited(tmp_path, "verify", tmp_path / "out")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["engine"] == "duckdb"
    release = pl.scan_parquet(tmp_path / "out" / "release" / "data.parquet")
    names = ["age", "sex", "zip", "education", "occupation", "marital_status"]
    sizes = release.group_by(names).len().collect(engine="streaming")["len"]
    assert sizes.sum() == PARTS * ROWS
    assert (sizes >= 5).all()
    assert not list(tmp_path.glob("sfumato-scratch-*"))
