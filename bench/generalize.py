# SPDX-License-Identifier: MIT
"""Optimal full-domain generalization on ARX's Adult: time at each limit, growth, and the naive way beside it."""

from __future__ import annotations

import resource
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import sfumato as sf
from bench.timing import best_of, shared_data, show
from sfumato.protect.grouping import Grouping
from sfumato.protect.judge import ModelJudge
from sfumato.protect.metrics import metric_named

EIGHT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
NINE = (*EIGHT, "salary-class")
ARX = {0.0: 0.034, 0.05: 0.478, 1.0: 1.421}  # ARX 3.9.2, warm, 8 columns, k = 5 (measured on a like machine)


def adult(folder: Path, columns: tuple[str, ...]) -> sf.Table:
    roles = dict.fromkeys(NINE, "insensitive") | dict.fromkeys(columns, "quasi_identifying")
    hierarchies = {name: folder / f"arx-adult/adult_hierarchy_{name}.csv" for name in columns}
    return sf.Table.read(folder / "arx-adult/adult.csv", roles, hierarchies, separator=";")


def grown(table: sf.Table, times: int) -> sf.Table:
    """A bootstrap of the table with 15 % of the cells drawn anew, so that it does not grow by copies alone."""
    chance = np.random.default_rng(times)
    count = len(table) * times
    rows = chance.integers(0, len(table), count)
    columns = []
    for name in table.frame.columns:
        other = chance.integers(0, len(table), count)
        taken = np.where(chance.random(count) < 0.15, other, rows)
        columns.append(table.frame[name].gather(taken).alias(name))
    return table.with_frame(pl.DataFrame(columns))


def exhaustive(table: sf.Table, metric: str, most: int) -> object:
    """The naive way: every node of the lattice, judged one by one with the same kernel."""
    grouping = Grouping.of(table)
    judge = ModelJudge((sf.KAnonymity(k=5),))
    costs = metric_named(metric, grouping)  # type: ignore[arg-type]
    verdicts = (grouping.verdict(levels, judge) for levels in product(*map(range, grouping.shape)))
    return min((v for v in verdicts if v.suppressed <= most), key=costs.value)


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("generalize: no real data (set SFUMATO_DATA), skipped")
        return
    _limits(folder)
    _growth(folder)


def _limits(folder: Path) -> None:
    rows = []
    for columns in (EIGHT, NINE):
        table = adult(folder, columns)
        for metric in ("loss", "loss_geometric", "discernibility", "height"):
            for limit in (0.0, 0.05, 1.0):
                method = sf.Generalize(models=(sf.KAnonymity(k=5),), suppression_limit=limit, metric=metric)
                seconds = best_of(5, lambda method=method, table=table: method.protect(table))  # type: ignore[misc]
                release = method.protect(table)
                arx = ARX[limit] if metric == "loss_geometric" and columns == EIGHT else None
                rows.append(
                    (
                        len(columns), metric, f"{limit:.0%}", f"{seconds * 1000:.0f} ms",
                        f"{release.losses[metric]:.6g}", release.losses["suppressed_rows"],
                        f"{release.details['checked']} of {release.details['nodes']}",
                        f"{arx / seconds:.1f}×" if arx else "",
                    )
                )  # fmt: skip
    head = ("columns", "metric", "limit", "protect()", "value", "suppressed", "nodes checked", "ARX's time ÷ ours")
    show("Generalize, ARX's Adult (30,162 rows), k = 5, warm, whole protect()", head, rows)
    table = adult(folder, EIGHT)
    naive = best_of(1, lambda: exhaustive(table, "loss", 1508))
    ours = best_of(3, lambda: sf.Generalize(models=(sf.KAnonymity(k=5),), suppression_limit=0.05).protect(table))
    show(
        "Against exhaustive search with the same kernel (8 columns, 5 %)",
        ("exhaustive", "ours", "ratio"),
        [(f"{naive:.2f} s", f"{ours:.3f} s", f"{naive / ours:.0f}×")],
    )


def _growth(folder: Path) -> None:
    base = adult(folder, EIGHT)
    rows: list[tuple[object, ...]] = []
    for times in (1, 4, 16):
        table = base if times == 1 else grown(base, times)
        method = sf.Generalize(models=(sf.KAnonymity(k=5),), suppression_limit=0.05)
        seconds = best_of(2, lambda method=method, table=table: method.protect(table))  # type: ignore[misc]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append((f"{len(table):,}", f"{times}×", f"{seconds:.3f} s", f"{peak:.0f} MB"))
    show("Growth, 8 columns, k = 5, limit 5 %", ("rows", "size", "protect()", "peak memory of the process"), rows)


if __name__ == "__main__":
    main()
