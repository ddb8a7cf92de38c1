# SPDX-License-Identifier: MIT
"""What Spark costs beside duckdb: audit, run and verify of one table, by kinds of processes.

`python -m bench.spark_scale [ROWS …]`, by default one million; `SFUMATO_SPARK_MASTER` names the master, by default
`local-cluster[2,1,1024]`: two executors of one core each, in processes of their own. Seconds by the clock; CPU seconds
and the largest memory of the driver's Python, the driver's JVM, and all executors together, JVMs and Python. The
releases of both engines are compared byte by byte.
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
from sfumato.workflow.folders.manifest import hash_file

BY_NAME_ONLY = "it needs Spark and Java"
MASTER = "local-cluster[2,1,1024]"
_TICK, _PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
_STEP = 0.25


class Process(NamedTuple):
    parent: int
    busy: float
    megabytes: float
    command: bytes


class Usage(NamedTuple):
    """CPU seconds of some processes, and the most memory that they had together."""

    busy: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.busy:.0f} s CPU and {self.megabytes:.0f} MB"


class Cost(NamedTuple):
    seconds: float
    parts: dict[str, Usage]
    """By the kind of processes."""

    def __str__(self) -> str:
        total = sum(part.busy for part in self.parts.values())
        parts_text = "; ".join(f"{kind} {part}" for kind, part in self.parts.items())
        return f"{self.seconds:.0f} s, {total:.0f} s CPU: {parts_text}"


def main() -> None:
    rows: list[tuple[object, ...]] = []
    for size in [int(argument) for argument in sys.argv[1:]] or [1_000_000]:
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
            is_same = (
                len({hash_file(folder / engine / "release" / "data.parquet") for engine in ("duckdb", "spark")}) == 1
            )
            rows.append((f"{size:,}", "the same bytes" if is_same else "DIFFERENT BYTES", "", "", ""))
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
    busy: dict[int, tuple[str, float]] = {}
    peaks: dict[str, float] = {}
    begin = time.perf_counter()
    with subprocess.Popen(command, env=surroundings, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            sizes: dict[str, float] = {}
            for number, member in list_tree(process.pid).items():
                if not member.command and number not in busy:
                    continue
                # One that ends has no command any more.
                kind = name_kind(number == process.pid, member.command) if member.command else busy[number][0]
                busy[number] = kind, member.busy
                sizes[kind] = sizes.get(kind, 0.0) + member.megabytes
            peaks |= {kind: max(peaks.get(kind, 0.0), size) for kind, size in sizes.items()}
            time.sleep(_STEP)
    if process.returncode:
        raise SystemExit(f"{arguments[0]} failed")
    parts = {kind: Usage(sum(b for k, b in busy.values() if k == kind), peak) for kind, peak in peaks.items()}
    return Cost(time.perf_counter() - begin, parts)


def name_kind(is_driver: bool, command: bytes) -> str:
    """What a process is; scripts that start others become one of these."""
    if is_driver:
        return "driver"
    if b"SparkSubmit" in command:
        return "driver JVM"
    return "executors' JVMs" if b"CoarseGrainedExecutorBackend" in command else "executors' Python"


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
    return {number: member for number, member in every.items() if _descends(number, root, every)}


def _descends(number: int, root: int, every: dict[int, Process]) -> bool:
    while number in every and number != root:
        number = every[number].parent
    return number == root


def _get_master() -> str:
    return os.environ.get("SFUMATO_SPARK_MASTER", MASTER)


if __name__ == "__main__":
    main()
