# SPDX-License-Identifier: MIT
"""Optimal full-domain generalization on ARX's Adult: time at each limit, growth, and compared with the naive way.

anjana runs beside it in a process of its own, so that it may be installed apart: ANJANA_PYTHON names the interpreter
that has it, else the current one is tried. ARX is Java; its times are those that were measured on a like machine.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import sfumato as sf
from bench.timing import best_of, shared_data, show
from sfumato.protect.anonymity.models.model_judge import ModelJudge
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.metrics import MetricName, make_metric

EIGHT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
NINE = (*EIGHT, "salary-class")
SENSITIVE = "salary-class"
LIMITS = (0.0, 0.05, 1.0)
DIVERSE, CLOSE = "distinct l = 2", "t = 0.2"
ARX = {  # ARX 3.9.2, warm, anonymize() alone, 8 columns, ms at each of the limits
    (5, ""): (34, 478, 1421), (10, ""): (30, 446, 1677), (5, DIVERSE): (34, 433, 2747), (5, CLOSE): (27, 1055, 3160),
}  # fmt: skip
_ANJANA = """
import json, sys, time
import pandas as pd
from anjana.anonymity import k_anonymity
path, limit, out, *names = sys.argv[1:]
frame = pd.read_csv(path, sep=";", dtype=str)
levels = {}
for name in names:
    rows = pd.read_csv(path.replace("adult.csv", f"adult_hierarchy_{name}.csv"), sep=";", dtype=str, header=None)
    levels[name] = {level: rows[level].values for level in rows.columns}
begin = time.perf_counter()
made = k_anonymity(frame, [], names, 5, float(limit) * 100, levels)
print(json.dumps(time.perf_counter() - begin))
made.to_csv(out, sep=";", index=False)
"""


def adult(folder: Path, columns: tuple[str, ...]) -> sf.Table:
    roles = dict.fromkeys(NINE, "insensitive") | {SENSITIVE: "sensitive"} | dict.fromkeys(columns, "quasi_identifying")
    hierarchies = {name: folder / f"arx-adult/adult_hierarchy_{name}.csv" for name in columns}
    return sf.Table.read(folder / "arx-adult/adult.csv", roles, hierarchies, separator=";")


def grow_table(table: sf.Table, times: int) -> sf.Table:
    """A bootstrap of the table with 15 % of the cells drawn anew, so that it does not grow by copies alone."""
    chance = np.random.default_rng(times)
    count = len(table) * times
    rows = chance.integers(0, len(table), count)
    columns = []
    for name in table.frame.columns:
        other = chance.integers(0, len(table), count)
        row_indices = np.where(chance.random(count) < 0.15, other, rows)
        columns.append(table.frame[name].gather(row_indices).alias(name))
    return table.replace_frame(pl.DataFrame(columns))


def exhaustive(table: sf.Table, metric: str, most: int) -> object:
    """The naive way: every node of the lattice, judged one by one with the same kernel."""
    grouping = Grouping.of(table)
    judge = ModelJudge((sf.KAnonymity(k=5),))
    costs = make_metric(metric, grouping)  # type: ignore[arg-type]
    verdicts = (grouping.decide(levels, judge) for levels in product(*map(range, grouping.shape)))
    return min((v for v in verdicts if v.suppressed_count <= most), key=costs.compute_exactly)


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("generalize: no real data (set SFUMATO_DATA), skipped")
        return
    _beside_arx(folder)
    _beside_anjana(folder)
    _metrics(folder)
    _incognito(folder)
    _growth(folder)


def _models(k: int, other: str) -> tuple[sf.protect.PrivacyModel, ...]:
    more = {DIVERSE: sf.LDiversity(l=2, column=SENSITIVE), CLOSE: sf.TCloseness(t=0.2, column=SENSITIVE)}
    return (sf.KAnonymity(k=k), *([more[other]] if other else []))


def _beside_arx(folder: Path) -> None:
    """The same optimum under ARX's own loss: levels and suppressed rows as in `tests/golden/test_arx_adult.py`."""
    table = adult(folder, EIGHT)
    rows: list[tuple[object, ...]] = []
    for k, other in product((5, 10), ("", DIVERSE, CLOSE)):
        for number, limit in enumerate(LIMITS):
            method = sf.Generalize(models=_models(k, other), suppression_limit=limit, metric="loss_geometric")
            release = method.protect(table)
            seconds = best_of(9, lambda method=method: method.protect(table))  # type: ignore[misc]
            arx = ARX[k, other][number] if (k, other) in ARX else None
            rows.append(
                (
                    k, other, f"{limit:.0%}", f"{seconds * 1000:.0f} ms", f"{arx} ms" if arx else "",
                    f"{arx / seconds / 1000:.1f}×" if arx else "", f"{release.losses['loss_geometric']:.5f}",
                    release.losses["suppressed_rows"], " ".join(map(str, release.details["levels"].values())),
                    release.details["checked_nodes"],
                )
            )  # fmt: skip
    head = ("k", "and", "limit", "protect()", "ARX", "ARX ÷ ours", "its loss", "suppressed", "levels", "checked")
    show("Beside ARX: its Adult (30,162 rows, 8 columns), its geometric loss, warm, whole protect()", head, rows)


def _incognito(folder: Path) -> None:
    """Nodes that the published pass over subsets checks, beside those of our search for minimal nodes."""
    table = adult(folder, EIGHT)
    rows: list[tuple[object, ...]] = []
    for limit in (0.0, 0.05):
        fields = {"models": (sf.KAnonymity(k=5),), "suppression_limit": limit}
        counts = sf.Generalize(**fields, search="incognito").protect(table).details["node_counts"]
        for search in ("incognito", "minimal"):
            method = sf.Generalize(**fields, search=search)
            seconds = best_of(1, lambda method=method: method.protect(table))  # type: ignore[misc]
            check_counts = counts.filter(pl.col("search") == search)["checked"]
            rows.append((f"{limit:.0%}", search, check_counts.sum(), check_counts[-1], f"{seconds:.2f} s"))
    head = ("limit", "search", "checked", "of all columns", "protect()")
    show("Incognito as printed: Adult, 8 columns, 6,480 nodes, k = 5", head, rows)


def anjana(path: Path, limit: float) -> tuple[float, pl.DataFrame] | None:
    """anjana's seconds and what it publishes; None where it is not installed."""
    python = os.environ.get("ANJANA_PYTHON", sys.executable)
    with tempfile.NamedTemporaryFile(suffix=".csv") as out:
        words = [python, "-W", "ignore", "-c", _ANJANA, str(path), str(limit), out.name, *EIGHT]
        process = subprocess.run(words, capture_output=True, text=True, check=False)
        if process.returncode:
            return None
        return json.loads(process.stdout.splitlines()[-1]), pl.read_csv(out.name, separator=";", infer_schema=False)


def _loss_of(release_frame: pl.DataFrame, table: sf.Table) -> float:
    """Our `loss` of anybody's release: labels by the leaves they cover, a row that is gone loses all."""
    loss = 0.0
    for name in EIGHT:
        hierarchy = table.get_hierarchy(name)
        share = {label: (n - 1) / (len(hierarchy.rows) - 1) for label, n in hierarchy.leaves_under.items()}
        loss += sum(share[label] for label in release_frame[name]) + len(table) - release_frame.height
    return loss / (len(table) * len(EIGHT))


def _beside_anjana(folder: Path) -> None:
    table = adult(folder, EIGHT)
    rows: list[tuple[object, ...]] = []
    # At 100 % anjana generalizes nothing and deletes every row in a small class: that is what `height` asks for.
    ways: tuple[tuple[float, MetricName], ...] = ((0.0, "loss"), (0.05, "loss"), (1.0, "loss"), (1.0, "height"))
    for limit, metric in ways:
        peer = anjana(folder / "arx-adult/adult.csv", limit)
        if peer is None:
            print("generalize: anjana is not installed (set ANJANA_PYTHON to an interpreter that has it); skipped")
            return
        method = sf.Generalize(models=(sf.KAnonymity(k=5),), suppression_limit=limit, metric=metric)
        losses = method.protect(table).losses
        seconds = best_of(9, lambda method=method: method.protect(table))  # type: ignore[misc]
        rows.append(
            (
                f"{limit:.0%}", metric, f"{seconds * 1000:.0f} ms", f"{peer[0]:.2f} s", f"{peer[0] / seconds:.0f}×",
                f"{losses['loss']:.4f}", f"{_loss_of(peer[1], table):.4f}", losses["suppressed_rows"],
                len(table) - peer[1].height,
            )
        )  # fmt: skip
    head = ("limit", "metric", "ours", "anjana", "anjana ÷ ours", "loss", "anjana's", "suppressed", "anjana's")
    show("Beside anjana, in one run: ARX's Adult, 8 columns, k = 5", head, rows)


def _metrics(folder: Path) -> None:
    rows = []
    for columns in (EIGHT, NINE):
        table = adult(folder, columns)
        for metric in ("loss", "loss_geometric", "discernibility", "height"):
            for limit in LIMITS:
                method = sf.Generalize(models=(sf.KAnonymity(k=5),), suppression_limit=limit, metric=metric)
                seconds = best_of(5, lambda method=method, table=table: method.protect(table))  # type: ignore[misc]
                release = method.protect(table)
                rows.append(
                    (
                        len(columns), metric, f"{limit:.0%}", f"{seconds * 1000:.0f} ms",
                        f"{release.losses[metric]:.6g}", release.losses["suppressed_rows"],
                        f"{release.details['checked_nodes']} of {release.details['nodes']}",
                    )
                )  # fmt: skip
    head = ("columns", "metric", "limit", "protect()", "value", "suppressed", "nodes checked")
    show("Generalize, ARX's Adult (30,162 rows), k = 5, warm, whole protect()", head, rows)
    table = adult(folder, EIGHT)
    naive = best_of(1, lambda: exhaustive(table, "loss", 1508))
    own_time = best_of(3, lambda: sf.Generalize(models=(sf.KAnonymity(k=5),), suppression_limit=0.05).protect(table))
    show(
        "Against exhaustive search with the same kernel (8 columns, 5 %)",
        ("exhaustive", "ours", "ratio"),
        [(f"{naive:.2f} s", f"{own_time:.3f} s", f"{naive / own_time:.0f}×")],
    )


def _growth(folder: Path) -> None:
    base = adult(folder, EIGHT)
    rows: list[tuple[object, ...]] = []
    for times in (1, 4, 16, 332):
        table = base if times == 1 else grow_table(base, times)
        start_memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        method = sf.Generalize(models=(sf.KAnonymity(k=5),), suppression_limit=0.05)
        seconds = best_of(1 if times > 16 else 5, lambda method=method, table=table: method.protect(table))  # type: ignore[misc]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append((f"{len(table):,}", f"{times}×", f"{seconds:.3f} s", f"{start_memory:.0f} MB", f"{peak:.0f} MB"))
    head = ("rows", "size", "protect()", "peak memory once the table is there", "and after protect()")
    show("Growth, 8 columns, k = 5, limit 5 %", head, rows)


if __name__ == "__main__":
    main()
