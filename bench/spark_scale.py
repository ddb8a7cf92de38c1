# SPDX-License-Identifier: MIT
"""What Spark costs beside duckdb: audit, run and verify of one table, with the memory of the driver and the executors.

`python -m bench.spark_scale [ROWS …]`, by default one million; `SFUMATO_SPARK_MASTER` names the master, by default
`local-cluster[2,1,1024]`: two executors of one core each, in processes of their own. Seconds by the clock, CPU seconds
of all processes, and the largest memory of the driver's Python, the driver's JVM, and all executors together.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench.scale import COLUMNS, MEMORY, write_data
from bench.timing import show

MASTER = "local-cluster[2,1,1024]"
_TICK, _PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
_STEP = 0.25


class Process(NamedTuple):
    parent: int
    busy: float
    megabytes: float
    command: bytes


class Cost(NamedTuple):
    seconds: float
    busy: float
    driver: float
    jvm: float
    executors: float

    def __str__(self) -> str:
        sizes = f"driver {self.driver:.0f} MB"
        if self.jvm:
            sizes += f" and {self.jvm:.0f} MB (JVM), executors {self.executors:.0f} MB"
        return f"{self.seconds:.0f} s, {self.busy:.0f} s CPU, {sizes}"


def main() -> None:
    rows = []
    for size in [int(given) for given in sys.argv[1:]] or [1_000_000]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            policy = write_data(folder, size)
            data = f"{folder}/parts/*.parquet"
            for engine in ("duckdb", "spark"):
                out = f"{folder}/{engine}"
                audit = measure(folder, "audit", data, "--quasi", COLUMNS.replace(" ", ""), "--engine", engine)
                run = measure(folder, "run", str(policy), "--out", out, "--engine", engine)
                verify = measure(folder, "verify", out, "--engine", engine)
                rows.append((f"{size:,}", engine, audit, run, verify))
    show(
        f"The built-in population, 5-anonymous, SFUMATO_MEMORY={MEMORY}, Spark on {_get_master()}",
        ("people", "engine", "audit", "run", "verify"),
        rows,
    )


def measure(folder: Path, *arguments: str) -> Cost:
    """Run a command, and look at all its processes until it ends."""
    surroundings = {
        **os.environ,
        "SFUMATO_HOME": str(folder / "home"),
        "SFUMATO_MEMORY": MEMORY,
        "SFUMATO_SPARK_MASTER": _get_master(),
    }
    command = (sys.executable, "-m", "sfumato", *arguments)
    busy: dict[int, float] = {}
    driver = jvm = executors = 0.0
    begin = time.perf_counter()
    with subprocess.Popen(command, env=surroundings, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            tree = list_tree(process.pid)
            busy |= {number: one.busy for number, one in tree.items()}
            java = {number for number, one in tree.items() if b"SparkSubmit" in one.command}
            others = [one.megabytes for number, one in tree.items() if number != process.pid and number not in java]
            driver = max(driver, tree[process.pid].megabytes if process.pid in tree else 0)
            jvm = max(jvm, sum(tree[number].megabytes for number in java))
            executors = max(executors, sum(others)) if java else executors  # the driver ends after its JVM
            time.sleep(_STEP)
    if process.returncode:
        raise SystemExit(f"{arguments[0]} failed")
    return Cost(time.perf_counter() - begin, sum(busy.values()), driver, jvm, executors)


def list_tree(root: int) -> dict[int, Process]:
    """A process and all that descend from it."""
    every: dict[int, Process] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = folder.joinpath("stat").read_text().rpartition(")")[2].split()
            command = folder.joinpath("cmdline").read_bytes()
        except OSError:
            continue
        busy = (int(fields[11]) + int(fields[12])) / _TICK
        every[int(folder.name)] = Process(int(fields[1]), busy, int(fields[21]) * _PAGE / 2**20, command)
    return {number: one for number, one in every.items() if _descends(number, root, every)}


def _descends(number: int, root: int, every: dict[int, Process]) -> bool:
    while number in every and number != root:
        number = every[number].parent
    return number == root


def _get_master() -> str:
    return os.environ.get("SFUMATO_SPARK_MASTER", MASTER)


if __name__ == "__main__":
    main()
