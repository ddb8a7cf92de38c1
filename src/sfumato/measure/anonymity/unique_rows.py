# SPDX-License-Identifier: MIT
"""How many rows are unique by very few columns, whatever the columns' roles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import polars as pl

from sfumato.engine.classes import count_class_sizes
from sfumato.progress import report_progress

MOST_COLUMNS = 3
"""The largest number of columns that are combined."""
MOST_CELLS = 20_000_000
"""Up to so many rows times combinations, every combination is tried; beyond, the most telling ones are extended."""
EXTENDED = 5
"""How many of the most telling combinations are extended by every other column."""


@dataclass(frozen=True)
class UniqueRows:
    """Columns, and the share of rows that no other row equals in them."""

    columns: tuple[str, ...]
    share: float


def find_unique_rows(
    frame: pl.DataFrame, columns: Sequence[str] | None = None, most: int = MOST_COLUMNS
) -> tuple[UniqueRows, ...]:
    """For one, two, … up to `most` columns, the combination in which the most rows are unique.

    A missing cell is a value like any other. With many rows and columns not every combination is tried, so that a
    share is then a lower bound.
    """
    names = list(frame.columns if columns is None else columns)
    coded = _encode_columns(frame.select(names))
    best: list[UniqueRows] = []
    ranked: list[UniqueRows] = []
    for size in range(1, min(most, len(names)) + 1):
        report_progress("looking for unique rows", size, most)
        exhaustive = comb(len(names), size) * max(1, frame.height) <= MOST_CELLS or size == 1
        tried = combinations(names, size) if exhaustive else _extend(ranked[:EXTENDED], names)
        ranked = sorted(
            (UniqueRows(chosen, _measure_unique_share(coded, chosen)) for chosen in tried),
            key=lambda rows: (-rows.share, rows.columns),
        )
        best.append(ranked[0])
    return tuple(best)


def _extend(ranked: Iterable[UniqueRows], names: Sequence[str]) -> list[tuple[str, ...]]:
    """The combinations with one column more, each once, in the order of the columns."""
    wider = {frozenset((*rows.columns, name)) for rows in ranked for name in names if name not in rows.columns}
    return [tuple(sorted(chosen, key=names.index)) for chosen in wider]


def _encode_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """Each cell as the rank of its value, so that texts are compared only once."""
    return frame.select(pl.all().rank("dense").fill_null(0).cast(pl.Int64)) if frame.width else frame


def _measure_unique_share(coded: pl.DataFrame, columns: Sequence[str]) -> float:
    if not coded.height:
        return 0.0
    return float((count_class_sizes(coded, columns) == 1).sum()) / coded.height
