# SPDX-License-Identifier: MIT
"""Tables larger than memory: audit, run and verify by duckdb at growing sizes, beside a bare group-by.

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

import sfumato as sf
from bench.timing import show
from sfumato.data.population import generate_population

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
    rows = []
    for size in [int(given) for given in sys.argv[1:]] or SIZES:
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
