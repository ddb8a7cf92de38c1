# SPDX-License-Identifier: MIT
"""Timing, and tables of results."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid


def best_of(times: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest of several runs, after a warm-up."""
    work()
    durations = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        durations.append(time.perf_counter() - begin)
    return min(durations)


def shared_data() -> Path | None:
    """The folder of real data, where there is one."""
    folder_name = os.environ.get("SFUMATO_DATA")
    folder = Path(folder_name) if folder_name else Path(__file__).parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None


def show(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print one table."""
    grid = Grid(*head, title=title, title_justify="left")
    for row in rows:
        grid.add_row(*(str(cell) for cell in row))
    Console(width=140).print(grid)


__all__ = ["best_of", "shared_data", "show"]
