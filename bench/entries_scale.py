# SPDX-License-Identifier: MIT
"""Blanked entries of tables larger than memory: run and verify by duckdb at growing sizes.

`python -m bench.entries_scale [ROWS …]`, by default one and ten million of the built-in population, eight published
columns, of two of them 1 % private. Each command is a process of its own; one million are also run in memory.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from bench.scale import SIZES, measure, write_data
from bench.timing import show

MEMORY = "2GB"
IN_MEMORY = 1_000_000
"""Up to this many people, the run is also measured in memory."""
ENTRIES = """
[data]
path = "parts/*.parquet"

[roles]
identifying = ["name"]
quasi_identifying = ["age", "sex", "zip"]
sensitive = ["disease", "salary_level"]
insensitive = ["education", "occupation", "marital_status"]

[[protect]]
method = "suppress_entries"
private = [{ columns = ["disease", "salary_level"], share = 0.01 }]
confidence = 0.8
min_support = 0.001

[output]
format = "parquet"
"""


def main() -> None:
    rows = []
    for size in [int(argument) for argument in sys.argv[1:]] or SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            policy = write_data(folder, size).with_name("entries.toml")
            policy.write_text(ENTRIES, encoding="utf-8")
            run = _measure(folder, "run", str(policy), "--out", f"{folder}/out", "--engine", "duckdb")
            verify = _measure(folder, "verify", f"{folder}/out", "--engine", "duckdb")
            local_result: object = "not run"
            if size <= IN_MEMORY:
                local_result = _measure(folder, "run", str(policy), "--out", f"{folder}/here", "--engine", "memory")
            record = json.loads((folder / "out" / "private" / "record.json").read_text(encoding="utf-8"))
            blank_count = record["found"]["losses"]["derived_entries"]
            rows.append((f"{size:,}", f"{blank_count:,}", run, verify, local_result))
    show(
        f"The built-in population, 1 % of two columns private, by duckdb with SFUMATO_MEMORY={MEMORY}",
        ("people", "entries blanked besides", "run", "verify", "run in memory"),
        rows,
    )


def _measure(folder: Path, *arguments: str) -> object:
    return measure(folder, sys.executable, "-m", "sfumato", *arguments, memory=MEMORY)


if __name__ == "__main__":
    main()
