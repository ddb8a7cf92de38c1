# SPDX-License-Identifier: MIT
"""One job at growing sizes, up to a hundred million rows: 10-anonymous, 2-diverse, attacked, certified, verified.

`python -m bench.hundred_million [ROWS …] [--folder FOLDER]`, by default one, ten and a hundred million. A folder keeps
the drawn people for the next time: a hundred million take 0.9 GB, and minutes to draw.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench.scale import BARE, COLUMNS, ROWS_A_FILE, measure
from bench.timing import show
from sfumato.data.generators.population import generate_population

BY_NAME_ONLY = "a hundred million rows take minutes and a few gigabytes of disk"
SIZES = (1_000_000, 10_000_000, 100_000_000)
MEMORY = "1600MB"
POLICY = """
[data]
path = "parts/*.parquet"

[roles]
identifying = ["name"]
quasi_identifying = ["age", "sex", "zip", "education", "occupation", "marital_status"]
sensitive = ["salary_level", "disease"]

[hierarchies]
age = { kind = "intervals", widths = [5, 10, 20] }
zip = { kind = "prefix", keep = [4, 3] }

[[protect]]
method = "generalize"
models = [{ model = "k_anonymity", k = 10 }, { model = "l_diversity", l = 2, column = "disease" }]
suppression_limit = 0.05

[[attack]]
attack = "linking"

[[attack]]
attack = "homogeneity"
column = "disease"
"""


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("rows", type=int, nargs="*", default=SIZES)
    options.add_argument("--folder", type=Path)
    arguments = options.parse_args()
    rows = []
    for size in arguments.rows:
        with tempfile.TemporaryDirectory() as name:
            folder = (arguments.folder or Path(name)) / str(size)
            _write_people(folder, size)
            rows.append((f"{size:,}", *_measure_job(folder)))
    show(
        f"10-anonymous and 2-diverse, by duckdb with SFUMATO_MEMORY={MEMORY}",
        ("people", "a bare group-by", "audit", "run", "verify", "run / bare, CPU"),
        rows,
    )


def _write_people(folder: Path, size: int) -> None:
    """The population in files of one row group each, unless an earlier run kept them."""
    (folder / "parts").mkdir(parents=True, exist_ok=True)
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    for begin in range(0, size, ROWS_A_FILE):
        path = folder / "parts" / f"{begin:012d}.parquet"
        if not path.exists():
            part = generate_population(min(ROWS_A_FILE, size - begin), seed=begin)
            part.write_parquet(path.with_suffix(".part"), row_group_size=ROWS_A_FILE)
            path.with_suffix(".part").rename(path)


def _measure_job(folder: Path) -> tuple[str, ...]:
    data, out = f"{folder}/parts/*.parquet", f"{folder}/out"
    program = BARE.replace("COLUMNS", COLUMNS).replace("512MB", MEMORY)  # too little for so many combinations
    bare = measure(folder, sys.executable, "-c", program, data, str(folder))
    command, by_duckdb = (sys.executable, "-m", "sfumato"), ("--engine", "duckdb")
    audit = measure(folder, *command, "audit", data, "--quasi", COLUMNS.replace(" ", ""), *by_duckdb, memory=MEMORY)
    run = measure(folder, *command, "run", f"{folder}/policy.toml", "--out", out, *by_duckdb, memory=MEMORY)
    verify = measure(folder, *command, "verify", out, *by_duckdb, memory=MEMORY)
    return str(bare), str(audit), str(run), str(verify), f"{run.busy / bare.busy:.1f}"


if __name__ == "__main__":
    main()
