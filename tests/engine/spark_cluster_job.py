# SPDX-License-Identifier: MIT
"""A driver of its own, for `test_spark_cluster`: run a policy on a cluster and kill an executor while rows are written.

`python spark_cluster_job.py POLICY OUT FOLDER` prints as JSON what it found.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from pathlib import Path

import polars as pl

from sfumato.engine.spark_rows import SparkRows
from sfumato.progress import listen_to_progress
from sfumato.workflow.pipeline import run
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import verify

BACKEND = b"CoarseGrainedExecutorBackend"


def list_executors() -> list[int]:
    """The processes of the executors that descend from this one."""
    parents, backends = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            number = int(folder.name)
            parents[number] = int(folder.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            if BACKEND in folder.joinpath("cmdline").read_bytes():
                backends.append(number)
        except OSError:
            continue
    return [number for number in backends if os.getpid() in _list_ancestors(number, parents)]


def _list_ancestors(number: int, parents: dict[int, int]) -> set[int]:
    found: set[int] = set()
    while number in parents:
        number = parents[number]
        found.add(number)
    return found


class Killer:
    """Kills one executor as soon as the first rows are written."""

    def __init__(self) -> None:
        self.killed: list[int] = []

    def __call__(self, step: str, done: int, total: int | None) -> None:
        if step == "writing" and done and not self.killed:
            self.killed = list_executors()[:1]
            for number in self.killed:
                os.kill(number, signal.SIGKILL)


def number_rows(rows: pl.DataFrame, first: int) -> pl.DataFrame:
    """Rows with their numbers."""
    return rows.with_row_index("place", first)


def main() -> None:
    policy, out, folder = map(Path, sys.argv[1:])
    killer = Killer()
    with listen_to_progress(killer):
        done = run(Policy.read(policy), out, engine="spark")
    files = sorted(folder.glob("*.parquet"))
    rows = SparkRows(files, "many files")
    placed = pl.concat(rows.map_batches(number_rows))
    counted = rows.count_rows(["key"])
    found = {
        "killed": len(killer.killed),
        "executors": len(list_executors()),
        "holds": verify(out, engine="spark").holds,
        "published": done.published,
        "in_order": bool((placed["place"] == placed["number"]).all()) and placed.height == rows.height,
        "counts": dict(zip(counted.frame["key"].to_list(), counted.counts.tolist(), strict=True)),
        "sizes": [part.tolist() for part in rows.count_sizes(["key"])],
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
