# SPDX-License-Identifier: MIT
"""Rebuilding a release from its visible cells: seconds beside the method that made it, up to a million rows."""

from __future__ import annotations

import sfumato as sf
from bench.timing import best_of, show
from sfumato.data.generators.population import build_population_hierarchies, generate_population, list_population_roles
from sfumato.data.writing.rebuild import rebuild_frame


def measure(size: int) -> tuple[str, str, str, str]:
    """Rows, columns, and the seconds of a method and of a rebuild."""
    frame = generate_population(size, 7)
    frame = frame.with_columns(frame["zip"].alias("visit"))
    table = sf.Table.of(frame, {**list_population_roles(), "visit": "insensitive"}, build_population_hierarchies())
    method = sf.Generalize(models=(sf.KAnonymity(k=5),), suppression_limit=0.05)
    protect_time = best_of(2, lambda: method.protect(table))
    rebuild_time = best_of(5, lambda: rebuild_frame(table.frame))
    return f"{size:,}", str(frame.width), f"{protect_time:.3f} s", f"{rebuild_time:.4f} s"


def main() -> None:
    rows = [measure(size) for size in (10_000, 100_000, 1_000_000)]
    show("Rebuild, built-in population", ("rows", "columns", "generalize protect()", "rebuild all columns"), rows)


if __name__ == "__main__":
    main()
