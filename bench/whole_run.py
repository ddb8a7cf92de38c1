# SPDX-License-Identifier: MIT
"""The whole command `sfumato run`, from a CSV file to report and certificate, beside the method alone.

The built-in population, and 5 million people with a tenth column; modules are compiled, as an installation has them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl

import sfumato as sf
from bench.timing import best_of, show
from sfumato.data.generators.population import generate_population
from sfumato.workflow.policy import Policy

SIZES = (20_000, 200_000, 2_000_000, 5_000_000)
_WIDER = 5_000_000
"""From this many people on, a column `visits` is added."""


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in SIZES:
            policy = _write_policy(folder, size)
            seconds, busy, memory = _run_command(policy, folder)
            policy_model = Policy.read(policy)
            table, method = policy_model.read_original_table(), policy_model.methods[0]
            protect_seconds = best_of(1, lambda table=table, method=method: method.protect(table))  # type: ignore[misc]
            rows.append(
                (
                    f"{size:,}",
                    f"{seconds:.1f} s",
                    f"{busy:.1f} s",
                    f"{memory / 1024:.0f} MB",
                    f"{protect_seconds:.2f} s",
                )
            )
    show(
        "The built-in population, 5-anonymous, from file to report",
        ("people", "sfumato run", "CPU time", "peak memory", "generalize alone"),
        rows,
    )


def _write_policy(folder: Path, size: int) -> Path:
    people = generate_population(size)
    text = files(sf).joinpath("demo.toml").read_text(encoding="utf-8")
    if size >= _WIDER:
        people = people.with_columns(pl.Series("visits", np.random.default_rng(0).poisson(3, size)))
        text = text.replace("\n[roles]\n", '\n[roles]\ninsensitive = ["visits"]\n')
    people.write_csv(folder / f"{size}.csv")
    policy = folder / f"{size}.toml"
    policy.write_text(text.replace('path = "demo"', f'path = "{size}.csv"'), encoding="utf-8")
    return policy


def _run_command(policy: Path, folder: Path) -> tuple[float, float, int]:
    """Seconds of the second run, when kernels are compiled, its CPU seconds, and its peak memory in KiB."""
    command = [sys.executable, "-m", "sfumato", "run", str(policy), "--out", str(folder / policy.stem)]
    surroundings = {**os.environ, "SFUMATO_HOME": str(folder / "home"), "PYTHONPYCACHEPREFIX": str(folder / "modules")}
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)  # else every start compiles all modules anew
    for _ in range(2):
        begin = time.perf_counter()
        process = subprocess.Popen(command, env=surroundings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        if status:
            raise SystemExit(f"{policy.name}: the run failed")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


if __name__ == "__main__":
    main()
