# SPDX-License-Identifier: MIT
"""The loss of synthesis: how far the joint distributions of pairs of columns moved. `measure` counts it
independently."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Ints

GROUPS = 10
"""The number of groups into which numbers are cut, with as many people in each."""
# Joint tables of at most this many cells are counted densely; larger ones are sorted first.
_MOST_CELLS = 1_000_000


def measure_pair_loss(original: pl.DataFrame, published_frame: pl.DataFrame) -> float:
    """The total variation between joint distributions, averaged over all pairs of columns (one column: its own).

    Numbers that are kept as text must be read before.
    """
    cut = [_group_cells_before_and_after(original[name], published_frame[name]) for name in original.columns]
    pairs = list(combinations(cut, 2)) or [(cut[0], cut[0])]
    return sum(_measure_pair_distance(first, other) for first, other in pairs) / len(pairs)


class _GroupedCells(NamedTuple):
    """The group of every cell of a column, before and after."""

    before: Ints
    after: Ints
    group_count: int


def _group_cells_before_and_after(original: pl.Series, published_cells: pl.Series) -> _GroupedCells:
    """The group of every cell before and after, and how many there are; missing is one."""
    all_cells = pl.concat([original, published_cells])
    if original.dtype.is_numeric() or original.dtype == pl.Date:
        numbers = all_cells.to_physical().cast(pl.Float64)
        known_numbers = numbers[: len(original)].drop_nulls().to_numpy()
        edges = (
            np.unique(np.quantile(known_numbers, np.arange(1, GROUPS) / GROUPS)) if len(known_numbers) else np.zeros(0)
        )
        groups = np.searchsorted(edges, numbers.fill_null(0.0).to_numpy(), side="left") + 1
        groups[all_cells.is_null().to_numpy()] = 0
    else:
        groups = all_cells.rank("dense").fill_null(0).to_numpy()
    groups = groups.astype(np.int64)
    return _GroupedCells(groups[: len(original)], groups[len(original) :], int(groups.max(initial=0)) + 1)


def _measure_pair_distance(first_groups: _GroupedCells, other: _GroupedCells) -> float:
    width = other.group_count
    first, second = first_groups.before * width + other.before, first_groups.after * width + other.after
    count = first_groups.group_count * width
    if count > _MOST_CELLS:
        dense = np.unique(np.concatenate([first, second]), return_inverse=True)[1].reshape(-1)
        first, second, count = dense[: len(first)], dense[len(first) :], int(dense.max(initial=0)) + 1
    shares = np.bincount(first, minlength=count) / len(first) - np.bincount(second, minlength=count) / len(second)
    return float(np.abs(shares).sum()) / 2
