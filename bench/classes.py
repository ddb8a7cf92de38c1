# SPDX-License-Identifier: MIT
"""The class-size check compared with a bare polars group-by of the same columns."""

from __future__ import annotations

import numpy as np
import polars as pl

from bench.timing import best_of, show
from sfumato.engine.classes import count_class_sizes

WIDTHS = (2, 73, 5, 7, 16, 41, 8, 14)


def frame(rows: int, kind: str) -> pl.DataFrame:
    """Eight columns with as many values as Adult's, skewed so that some combinations are common."""
    chance = np.random.default_rng(rows)
    columns = {f"c{i}": (width * chance.random(rows) ** 2).astype(np.uint8) for i, width in enumerate(WIDTHS)}
    table = pl.DataFrame(columns)
    return table if kind == "bytes" else table.select(pl.all().cast(pl.String) + "-value")


def main() -> None:
    rows = []
    for count in (1_000_000, 4_000_000, 10_000_000):
        for kind in ("bytes", "text"):
            data = frame(count, kind)
            own_time = best_of(3, lambda data=data: count_class_sizes(data, data.columns))  # type: ignore[misc]
            polars = best_of(3, lambda data=data: data.group_by(data.columns).len())  # type: ignore[misc]
            classes = len(count_class_sizes(data, data.columns))
            rows.append(
                (
                    f"{count:,}",
                    kind,
                    f"{classes:,}",
                    f"{own_time:.3f} s",
                    f"{polars:.3f} s",
                    f"{polars / own_time:.1f}×",
                )
            )
    show("Class sizes, 8 columns", ("rows", "cells", "classes", "ours", "polars group_by", "polars ÷ ours"), rows)


if __name__ == "__main__":
    main()
