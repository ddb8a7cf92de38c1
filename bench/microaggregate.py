# SPDX-License-Identifier: MIT
"""Micro-aggregation: MDAV over the whole table, and in blocks of neighbours; time, growth, and what blocks lose."""

from __future__ import annotations

import resource

import numpy as np
import polars as pl

import sfumato as sf
from bench.timing import best_of, shared_data, show
from sfumato.protect.anonymity.microaggregate import Microaggregate


def draw_correlated(rows: int, columns: int = 4) -> sf.Table:
    """Numbers that hang together, as those of people do."""
    chance = np.random.default_rng(rows)
    points = chance.normal(size=(columns, columns)) @ chance.normal(size=(columns, rows))
    frame = {f"q{i}": column for i, column in enumerate(points)}
    return sf.Table.of(frame, dict.fromkeys(frame, "quasi_identifying"))


def forest(rows: int) -> sf.Table | None:
    """Four measured columns of covtype: elevation and three distances."""
    folder = shared_data()
    if folder is None:
        return None
    frame = pl.read_csv(folder / "covtype/covtype.csv.gz", has_header=False, infer_schema_length=0)
    numbers = frame[1:].select(pl.nth(0, 3, 5, 9).cast(pl.Float64, strict=False)).drop_nulls()
    row_indices = np.random.default_rng(0).permutation(numbers.height)[:rows]
    return sf.Table.of(numbers[row_indices], dict.fromkeys(numbers.columns, "quasi_identifying"))


def main() -> None:
    rows: list[tuple[object, ...]] = []
    for name, table in (
        ("correlated", draw_correlated(10_000)),
        ("correlated", draw_correlated(50_000)),
        ("covtype", forest(10_000)),
        ("covtype", forest(50_000)),
    ):
        if table is not None:
            rows += [_compare_methods(name, table, k) for k in (3, 5, 10)]
    head = ("data", "rows", "k", "mdav", "fast", "SSE/SST, mdav", "SSE/SST, fast", "SSE, fast ÷ mdav")
    show("Microaggregate, 4 columns, whole protect()", head, rows)
    _growth()


def _compare_methods(name: str, table: sf.Table, k: int) -> tuple[object, ...]:
    slow, fast = Microaggregate(k=k, search="mdav"), Microaggregate(k=k, search="fast")
    times = [best_of(2, lambda method=method: method.protect(table)) for method in (slow, fast)]  # type: ignore[misc]
    losses = [method.protect(table).losses["information_loss"] for method in (slow, fast)]
    return (
        name, f"{len(table):,}", k, f"{times[0]:.2f} s", f"{times[1]:.2f} s", f"{losses[0]:.5f}", f"{losses[1]:.5f}",
        f"{losses[1] / losses[0]:.3f}",
    )  # fmt: skip


def _growth() -> None:
    rows: list[tuple[object, ...]] = []
    for count in (100_000, 1_000_000):
        table = draw_correlated(count)
        for k in (5, 10):
            method = Microaggregate(k=k)
            seconds = best_of(1, lambda method=method, table=table: method.protect(table))  # type: ignore[misc]
            loss = method.protect(table).losses["information_loss"]
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            rows.append((f"{count:,}", k, f"{seconds:.2f} s", f"{loss:.6f}", f"{peak:.0f} MB"))
    show("Growth, 4 columns, auto", ("rows", "k", "protect()", "SSE/SST", "peak memory of the process"), rows)


if __name__ == "__main__":
    main()
