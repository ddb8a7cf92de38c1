# SPDX-License-Identifier: MIT
"""What a table achieves under every model, beside pycanon's k, l and t on the same table in the same run.

pycanon runs in a process of its own, so that it may be installed apart: PYCANON_PYTHON names the interpreter
that has it, else the current one is tried.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import sfumato as sf
from bench.generalize import EIGHT, grow_table
from bench.timing import best_of, shared_data, show
from sfumato.measure.anonymity.anonymity_table import anonymity
from sfumato.measure.anonymity.closeness import t_equal
from sfumato.measure.anonymity.diversity import distinct_l
from sfumato.measure.anonymity.k_anonymity import k_anonymity

SENSITIVE = "salary-class"
_PYCANON = """
import json, sys, time
import pandas as pd
from pycanon import anonymity
frame = pd.read_csv(sys.argv[1], sep=";")
known, hidden = sys.argv[3:], [sys.argv[2]]
asked = {
    "k": lambda: anonymity.k_anonymity(frame, known),
    "l": lambda: anonymity.l_diversity(frame, known, hidden),
    "t": lambda: anonymity.t_closeness(frame, known, hidden),
}
found = {}
for name, work in asked.items():
    begin = time.perf_counter()
    value = float(work())
    found[name] = (value, time.perf_counter() - begin)
print(json.dumps(found))
"""


def adult(folder: Path) -> sf.Table:
    roles = dict.fromkeys(EIGHT, "quasi_identifying") | {SENSITIVE: "sensitive"}
    hierarchies = {SENSITIVE: folder / f"arx-adult/adult_hierarchy_{SENSITIVE}.csv"}
    return sf.Table.read(folder / "arx-adult/adult.csv", roles, hierarchies, separator=";")


def pycanon(path: Path) -> dict[str, tuple[float, float]] | None:
    """pycanon's values and seconds; None where it is not installed."""
    python = os.environ.get("PYCANON_PYTHON", sys.executable)
    words = [python, "-W", "ignore", "-c", _PYCANON, str(path), SENSITIVE, *EIGHT]
    process = subprocess.run(words, capture_output=True, text=True, check=False)
    return json.loads(process.stdout) if process.returncode == 0 else None


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("anonymity: no real data (set SFUMATO_DATA), skipped")
        return
    table = adult(folder)
    _beside_pycanon(folder, table)
    _growth(table)


def _beside_pycanon(folder: Path, table: sf.Table) -> None:
    peer_results = pycanon(folder / "arx-adult/adult.csv")
    if peer_results is None:
        print("anonymity: pycanon is not installed (set PYCANON_PYTHON to an interpreter that has it); ours alone")
    own_measures: dict[str, Callable[[], float]] = {
        "k": (lambda: k_anonymity(table)),
        "l": (lambda: distinct_l(table, SENSITIVE)),
        "t": (lambda: t_equal(table, SENSITIVE)),
    }
    rows: list[tuple[object, ...]] = []
    for name, work in own_measures.items():
        rows.append(_row(name, float(work()), best_of(5, work), peer_results[name] if peer_results else None))
    calls_seconds = best_of(5, lambda: [work() for work in own_measures.values()])
    anonymity_seconds = best_of(5, lambda: anonymity(table))
    total = (0.0, sum(seconds for _, seconds in peer_results.values())) if peer_results else None
    rows.append(_row("k, l and t, one call each", None, calls_seconds, total))
    rows.append(_row("anonymity(): all 12 models in one call, beside their three", None, anonymity_seconds, total))
    head = ("what", "ours", "pycanon's", "time", "pycanon's time", "pycanon ÷ ours")
    show(f"Achieved values, ARX's Adult ({len(table):,} rows, 8 columns, {SENSITIVE} sensitive)", head, rows)


def _row(name: str, value: float | None, seconds: float, peer_result: tuple[float, float] | None) -> tuple[object, ...]:
    own_text = "" if value is None else f"{value:.9g}"
    if not peer_result:
        return name, own_text, "", f"{seconds * 1000:.1f} ms", "", ""
    peer = "" if value is None else f"{peer_result[0]:.9g}"
    return (
        name,
        own_text,
        peer,
        f"{seconds * 1000:.1f} ms",
        f"{peer_result[1]:.2f} s",
        f"{peer_result[1] / seconds:.0f}×",
    )


def _growth(base: sf.Table) -> None:
    rows: list[tuple[object, ...]] = []
    for times in (1, 4, 16):
        table = base if times == 1 else grow_table(base, times)
        seconds = best_of(3, lambda table=table: anonymity(table))  # type: ignore[misc]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append((f"{len(table):,}", f"{times}×", f"{seconds * 1000:.0f} ms", f"{peak:.0f} MB"))
    show("Growth of anonymity(), all models", ("rows", "size", "time", "peak memory of the process"), rows)


if __name__ == "__main__":
    main()
