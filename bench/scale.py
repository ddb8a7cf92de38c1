# SPDX-License-Identifier: MIT
"""Tables and baskets larger than memory: audit, run, verify and mine by duckdb, at growing sizes.

`python -m bench.scale [ROWS …]`, by default one and ten million. Each command is a process of its own: seconds by the
clock, CPU seconds of both cores, and the peak of its memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from bench.timing import show
from sfumato.data.generators.population import generate_population

SIZES = (1_000_000, 10_000_000)
MEMORY = "1GB"
ROWS_A_FILE = 500_000
COLUMNS = "age, sex, zip, education, occupation, marital_status"
NOISE = """
[data]
path = "parts/*.parquet"

[roles]
identifying = ["name"]
quasi_identifying = ["sex", "zip"]
sensitive = ["age", "education", "occupation", "marital_status", "salary_level", "disease"]

[[protect]]
method = "add_noise"
columns = ["age"]
ranges = { age = [0, 120] }
"""
PARTITION = """
[data]
path = "parts/*.parquet"

[roles]
identifying = ["name"]
quasi_identifying = ["age", "sex", "education", "occupation", "marital_status"]
sensitive = ["disease"]
insensitive = ["zip", "salary_level"]

[[protect]]
method = "partition"
models = [{ model = "k_anonymity", k = 5 }]
"""
HIDING_POLICY = """
[data]
path = "sales.parquet"

[[protect]]
method = "hide_rules"
rules = ["1 ==> 2", "2, 3 ==> 1"]
min_support = 0.001
min_confidence = 0.05
"""
BARE = """
import duckdb, sys
con = duckdb.connect(config={"memory_limit": "512MB", "temp_directory": sys.argv[2]})
con.sql(f"SELECT count(*) FROM (SELECT COLUMNS, count(*) FROM '{sys.argv[1]}' GROUP BY ALL)").fetchall()
"""


class Cost(NamedTuple):
    seconds: float
    busy: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s, {self.busy:.1f} s CPU, {self.megabytes:.0f} MB"


def main() -> None:
    rows, baskets = [], []
    for size in [int(argument) for argument in sys.argv[1:]] or SIZES:
        baskets.append(_measure_baskets(size))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            policy = write_data(folder, size)
            data = f"{folder}/parts/*.parquet"
            program = BARE.replace("COLUMNS", COLUMNS)
            bare = measure(folder, sys.executable, "-c", program, data, str(folder))
            command = (sys.executable, "-m", "sfumato")
            audit = measure(folder, *command, "audit", data, "--engine", "duckdb", "--quasi", COLUMNS.replace(" ", ""))
            run = measure(folder, *command, "run", str(policy), "--out", f"{folder}/out", "--engine", "duckdb")
            verify = measure(folder, *command, "verify", f"{folder}/out", "--engine", "duckdb")
            noise = measure(
                folder, *command, "run", f"{folder}/noise.toml", "--out", f"{folder}/noisy", "--engine", "duckdb"
            )
            cut = measure(
                folder, *command, "run", f"{folder}/parts.toml", "--out", f"{folder}/cut", "--engine", "duckdb"
            )
            rows.append((f"{size:,}", bare, audit, run, verify, noise, cut))
    show(
        f"The built-in population, 5-anonymous, by duckdb with SFUMATO_MEMORY={MEMORY}",
        ("people", "a bare group-by", "audit", "run", "verify", "run with noise", "partition of five columns"),
        rows,
    )
    show(
        f"Baskets in long form, ten rows each, by duckdb with SFUMATO_MEMORY={MEMORY}",
        ("rows", "itemsets in a thousandth of the baskets", "two rules hidden", "verify"),
        baskets,
    )


def _measure_baskets(size: int) -> tuple[str, Cost, Cost, Cost]:
    """Itemsets, hiding and verifying of this many rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_sales(folder / "sales.parquet", size)
        (folder / "hiding.toml").write_text(HIDING_POLICY, encoding="utf-8")
        command, by_duckdb = (sys.executable, "-m", "sfumato"), ("--engine", "duckdb")
        itemsets_path = f"{folder}/found.txt"
        mining = measure(
            folder,
            *command,
            "mine",
            f"{folder}/sales.parquet",
            "--min-support",
            "0.001",
            "--out",
            itemsets_path,
            *by_duckdb,
        )
        hide = measure(folder, *command, "run", f"{folder}/hiding.toml", "--out", f"{folder}/out", *by_duckdb)
        verify = measure(folder, *command, "verify", f"{folder}/out", *by_duckdb)
        return f"{size:,}", mining, hide, verify


def write_sales(path: Path, size: int) -> None:
    """Ten rows a basket, in no order: a fifth are of a hundred common items, the rest of fifty thousand rare ones."""
    chance = np.random.default_rng(1)
    with pq.ParquetWriter(path, pa.schema({"id": pa.int64(), "item": pa.int64()})) as writer:
        for begin in range(0, size, ROWS_A_FILE):
            count = min(ROWS_A_FILE, size - begin)
            ids = begin // 10 + chance.permutation(count) // 10
            common = chance.zipf(1.5, count) % 100
            items = np.where(chance.random(count) < 0.2, common, chance.integers(100, 50_000, count))
            writer.write_table(pa.table({"id": ids, "item": items}))


def write_data(folder: Path, size: int) -> Path:
    """The population in Parquet files, and a policy for it."""
    (folder / "parts").mkdir()
    for begin in range(0, size, ROWS_A_FILE):
        part = generate_population(min(ROWS_A_FILE, size - begin), seed=begin)
        part.write_parquet(folder / "parts" / f"{begin:012d}.parquet")
    text = files(sf).joinpath("demo.toml").read_text(encoding="utf-8")
    policy = folder / "policy.toml"
    policy.write_text(text.replace('path = "demo"', 'path = "parts/*.parquet"'), encoding="utf-8")
    (folder / "noise.toml").write_text(NOISE, encoding="utf-8")
    (folder / "parts.toml").write_text(PARTITION, encoding="utf-8")
    return policy


def measure(folder: Path, *command: str, memory: str = MEMORY) -> Cost:
    """Run a command in a process of its own."""
    surroundings = {**os.environ, "SFUMATO_HOME": str(folder / "home"), "SFUMATO_MEMORY": memory}
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=surroundings, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    if status:
        raise SystemExit(f"{' '.join(command[2:4])} failed")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
