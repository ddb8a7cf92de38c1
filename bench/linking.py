# SPDX-License-Identifier: MIT
"""How long attacks look people up in a partition of 63,441 rows, and how much memory they take."""

from __future__ import annotations

import resource

import numpy as np
import polars as pl

import sfumato as sf
from bench.timing import best_of, show

ROWS = 63_441


def main() -> None:
    chance = np.random.default_rng(1)
    quasi_columns = {
        "age": chance.integers(18, 90, ROWS),
        "wage": chance.integers(0, 20_000, ROWS),
        "zip": [f"z{code}" for code in chance.integers(0, 3_000, ROWS)],
        "children": chance.integers(0, 8, ROWS),
    }
    frame = pl.DataFrame(quasi_columns | {"disease": chance.choice(["flu", "cold", "gout"], ROWS)})
    table = sf.Table.of(frame, dict.fromkeys(quasi_columns, "quasi_identifying") | {"disease": "sensitive"})
    release = sf.Partition(models=(sf.KAnonymity(k=5),)).protect(table)
    attacks: dict[str, sf.attack.Attack] = {
        "linking, everybody": sf.attack.Linking(),
        "homogeneity, everybody": sf.attack.Homogeneity(),
        "linkability, 500 tries": sf.attack.Linkability(known=(("age", "wage"), ("zip", "children"))),
        "inference, 500 tries": sf.attack.Inference(column="disease"),
    }
    rows = []
    for name, attack in attacks.items():
        seconds = best_of(1, lambda attack=attack: attack.run(release, table))  # type: ignore[misc]
        rows.append((name, f"{seconds:.1f} s", f"{_peak():.0f} MB"))
    show(f"A partition of {ROWS:,} rows, k = 5", ("attack", "time", "peak memory of the process"), rows)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
