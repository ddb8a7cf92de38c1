# SPDX-License-Identifier: MIT
"""A driver of its own, for `test_spark_cluster`: run on a cluster, and kill an executor while rows are written.

`python spark_cluster_job.py POLICY OUT FOLDER SALES` prints as JSON what it found: a run of the policy, counts of the
files in the folder, and baskets, during which another executor is killed.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from pathlib import Path

import polars as pl

from sfumato.engine.basket_staging import BasketSource, open_stored_baskets
from sfumato.engine.engine_names import ChosenEngine
from sfumato.engine.scratch import open_scratch_folder
from sfumato.engine.spark.spark_rows import SparkRows
from sfumato.runtime.progress import listen_to_progress
from sfumato.workflow.folders.manifest import hash_file
from sfumato.workflow.pipeline import run_policy
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
    ancestors: set[int] = set()
    while number in parents:
        number = parents[number]
        ancestors.add(number)
    return ancestors


class Killer:
    """Kills one executor as soon as so many rows of a step are done."""

    def __init__(self, step: str, least: int) -> None:
        self.step, self.least = step, least
        self.killed: list[int] = []

    def __call__(self, step: str, done_count: int, total: int | None) -> None:
        if step == self.step and done_count >= self.least and not self.killed:
            self.killed = list_executors()[:1]
            for number in self.killed:
                os.kill(number, signal.SIGKILL)


def number_rows(rows: pl.DataFrame, first: int) -> pl.DataFrame:
    """Rows with their numbers."""
    return rows.with_row_index("place", first)


def hash_baskets(path: Path, engine: ChosenEngine) -> list[str]:
    """The checksums of coded baskets."""
    with open_scratch_folder() as scratch:
        stored = open_stored_baskets(BasketSource(path), scratch, engine=engine)
        return [hash_file(file) for file in stored.files]


def main() -> None:
    policy, out, folder, sales = map(Path, sys.argv[1:])
    killer, other = Killer("writing", 1), Killer("grouping baskets", 0)
    with listen_to_progress(killer):
        result = run_policy(Policy.read(policy), out, engine="spark")
    with listen_to_progress(other):
        baskets = hash_baskets(sales, "spark")
    files = sorted(folder.glob("*.parquet"))
    rows = SparkRows(files, "many files")
    placed = pl.concat(rows.map_batches(number_rows))
    key_counts = rows.count_rows(["key"])
    report = {
        "killed": len(killer.killed) + len(other.killed),
        "baskets": baskets,
        "executors": len(list_executors()),
        "holds": verify(out, engine="spark").holds,
        "published": result.published,
        "in_order": bool((placed["place"] == placed["number"]).all()) and placed.height == rows.height,
        "counts": dict(zip(key_counts.frame["key"].to_list(), key_counts.counts.tolist(), strict=True)),
        "sizes": [part.tolist() for part in rows.count_sizes(["key"])],
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main()
