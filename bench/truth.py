# SPDX-License-Identifier: MIT
"""Whether a partition of 63,441 rows says only what is true, cell by cell and column by column: time and memory."""

from __future__ import annotations

import resource

import numpy as np
import polars as pl

import sfumato as sf
from bench.timing import best_of, show
from sfumato.measure.changes import measure_changes
from sfumato.measure.truth import untrue_cells

ROWS = 63_441


def main() -> None:
    chance = np.random.default_rng(1)
    columns = {"age": 90, "wage": 20_000, "zip": 3_000, "children": 8}
    frame = pl.DataFrame({name: chance.integers(0, many, ROWS) for name, many in columns.items()})
    table = sf.Table.of(frame, dict.fromkeys(columns, "quasi_identifying"))
    release = sf.Partition(models=(sf.KAnonymity(k=5),)).protect(table)
    start_memory = _peak()
    cells = best_of(1, lambda: untrue_cells(release.data, table, release.details["rows"]))
    changes = best_of(1, lambda: measure_changes(table, release.data, release.details["rows"]))
    rows = [
        ("untrue_cells", f"{cells:.2f} s"),
        ("measure_changes", f"{changes:.2f} s"),
        ("memory", f"{_peak() - start_memory:.0f} MB more"),
    ]
    show(f"A partition of {ROWS:,} rows, k = 5", ("measure", ""), rows)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
