# SPDX-License-Identifier: MIT
"""Optimal cuts on ARX's Adult: what is proven within seconds, what is not, and full-domain optima beside it."""

from __future__ import annotations

from pathlib import Path

import sfumato as sf
from bench.generalize import adult
from bench.timing import shared_data, show
from sfumato.protect.anonymity.k_optimize import KOptimize

SECONDS = 10.0
COLUMNS = (
    ("sex", "race", "marital-status"),
    ("age", "sex", "race"),
    ("age", "sex", "education"),
    ("sex", "race", "marital-status", "education"),
    ("sex", "race", "marital-status", "education", "workclass", "occupation"),
    ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"),
)


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("k_optimize: no real data (set SFUMATO_DATA), skipped")
        return
    KOptimize(k=2).protect(sf.Table.of({"q": [1, 1, 2, 2]}, {"q": "quasi_identifying"}))  # loads the kernels
    for metric in ("discernibility", "classification"):
        rows = [_measure_setting(folder, columns, metric, k) for columns in COLUMNS for k in (5, 50, 500)]
        head = ("columns", "k", "cuts", "time", "objective", "bound", "proven", "suppressed", "full-domain optimum")
        show(f"KOptimize, ARX's Adult (30,162 rows), {metric}, at most {SECONDS:g} s", head, rows)


def _measure_setting(folder: Path, columns: tuple[str, ...], metric: str, k: int) -> tuple[object, ...]:
    table = adult(folder, columns)
    target = "salary-class"
    method = KOptimize(k=k, metric=metric, target=target, seconds=SECONDS)
    release = method.protect(table)
    details = release.details
    full = ""
    if metric == "discernibility":
        models = (sf.KAnonymity(k=k),)
        other = sf.Generalize(models=models, suppression_limit=1.0, metric="discernibility").protect(table)
        full = f"{other.losses['discernibility'] / details['objective']:.2f}×"
    return (
        len(columns), k, sum(table.frame[name].n_unique() - 1 for name in columns), f"{details['seconds']:.2f} s",
        f"{details['objective']:,}", f"{details['bound']:,}", "yes" if details["proven"] else "no",
        release.losses["suppressed_rows"], full,
    )  # fmt: skip


if __name__ == "__main__":
    main()
