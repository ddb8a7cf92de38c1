# SPDX-License-Identifier: MIT
"""Partition on ARX's Adult: time and loss of each way, other models, and growth to a million rows."""

from __future__ import annotations

import resource
from typing import Any

import sfumato as sf
from bench.generalize import EIGHT, adult, grow_table
from bench.timing import best_of, shared_data, show
from sfumato.protect.anonymity.models.class_models import KAnonymity, LDiversity, TCloseness
from sfumato.protect.anonymity.partition import Partition

FIVE = KAnonymity(k=5)
PEERS = (  # measured on a like machine: shared/PEERS_SPEED.md
    ("anonypy 0.2.1 (Mondrian), ranges and sets", "5", "31.7 s", "3.13e+05", ".0320", ""),
    ("anonypy 0.2.1 (Mondrian), ranges and sets", "10", "16.9 s", "", "", ""),
    ("ARX 3.9.2, local recoding, hierarchy values", "5", "1.69 s", "2.531e+05", ".0613", "6.88"),
)


def measure_method(table: sf.Table, times: int = 5, **fields: Any) -> tuple[str, str, str, str]:
    """Seconds of a whole protect(), discernibility on published tuples, loss, and rows a class."""
    method = Partition(**{"models": (FIVE,)} | fields)
    losses = method.protect(table).losses
    seconds = best_of(times, lambda: method.protect(table))
    return (
        f"{seconds:.3f} s", f"{losses['discernibility']:.4g}", f"{losses['loss']:.4f}",
        f"{losses['average_class_size']:.2f}",
    )  # fmt: skip


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("partition: no real data (set SFUMATO_DATA), skipped")
        return
    table = adult(folder, EIGHT)
    _ways(table)
    _models(table)
    _growth(table)


def _ways(table: sf.Table) -> None:
    ways: list[tuple[str, dict[str, Any]]] = [
        ("strict, refined: ranges and sets (default)", {}),
        ("strict", {"refine": False}),
        ("relaxed, refined", {"relaxed": True}),
        ("relaxed", {"relaxed": True, "refine": False}),
        ("strict, refined: hierarchy values", {"publish": "hierarchy"}),
        ("strict: hierarchy values", {"publish": "hierarchy", "refine": False}),
    ]
    rows: list[tuple[str, ...]] = [(name, "5", *measure_method(table, **fields)) for name, fields in ways]
    rows += [(ways[0][0], str(k), *measure_method(table, models=(KAnonymity(k=k),))) for k in (10, 50)]
    head = ("way", "k", "protect()", "discernibility", "loss", "mean class")
    show("Partition, ARX's Adult (30,162 rows, 8 columns), warm, whole protect()", head, [*rows, *PEERS])


def _models(table: sf.Table) -> None:
    column = "salary-class"
    kinds = [
        ("k = 5, distinct l = 2", (FIVE, LDiversity(l=2, column=column))),
        ("k = 5, t = 0.2", (FIVE, TCloseness(t=0.2, column=column))),
    ]
    rows = [
        (name, "yes" if refine else "no", *measure_method(table, 3, models=models, refine=refine))
        for name, models in kinds
        for refine in (True, False)
    ]
    show("Other models", ("models", "refined", "protect()", "discernibility", "loss", "mean class"), rows)


def _growth(base: sf.Table) -> None:
    rows: list[tuple[object, ...]] = []
    close = (FIVE, TCloseness(t=0.2, column="salary-class"))
    for times in (1, 4, 16, 34):
        table = base if times == 1 else grow_table(base, times)
        for name, models in (("k = 5", (FIVE,)), ("k = 5, t = 0.2", close)):
            measures = measure_method(table, 2, models=models)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            rows.append((f"{len(table):,}", name, *measures, f"{peak:.0f} MB"))
    head = ("rows", "models", "protect()", "discernibility", "loss", "mean class", "peak memory of the process")
    show("Growth, 8 columns, refined", head, rows)


if __name__ == "__main__":
    main()
