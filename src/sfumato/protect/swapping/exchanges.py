# SPDX-License-Identifier: MIT
"""A changed column as a list of exchanges: pairs of rows that swap their values in sequence, from old to new.

Every change goes from one category to another, so changes are the edges of a graph of categories, and if counts stay,
they form cycles. A cycle of L changes is L − 1 exchanges.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.arrays import Ints


@dataclass(frozen=True, eq=False)
class ColumnExchanges:
    """How to derive the new column."""

    swaps: Ints
    """Pairs of rows that exchange their values, in this order."""
    replaced_rows: Ints
    """Rows whose value was replaced by one that nobody gave away: only if counts could not stay."""


def list_exchanges(old: Ints, new: Ints, categories: int) -> ColumnExchanges:
    """Exchanges that lead from one column to another."""
    rows = np.flatnonzero(old != new)
    edge = old[rows] * categories + new[rows]
    rows = rows[np.argsort(edge, kind="stable")]
    remaining_counts = np.bincount(edge, minlength=categories * categories).reshape(categories, categories)
    begin = (np.cumsum(remaining_counts) - remaining_counts.ravel()).reshape(categories, categories)
    pairs: list[Ints] = []
    while circle := _find_circle(remaining_counts):
        steps = list(zip(circle, circle[1:] + circle[:1], strict=True))
        many = min(int(remaining_counts[step]) for step in steps)
        parts = []
        for step in steps:
            parts.append(rows[begin[step] : begin[step] + many])
            begin[step] += many
            remaining_counts[step] -= many
        pairs += [np.column_stack(two) for two in pairwise(parts)]
    rest = [
        rows[begin[step] : begin[step] + remaining_counts[step]]
        for step in zip(*np.nonzero(remaining_counts), strict=True)
    ]
    no_rows = np.zeros(0, dtype=np.int64)
    return ColumnExchanges(
        np.concatenate([no_rows.reshape(0, 2), *pairs]).astype(np.int64),
        np.sort(np.concatenate([no_rows, *rest])).astype(np.int64),
    )


def _find_circle(remaining_counts: Ints) -> list[int]:
    """Categories that form a cycle, of length two if possible; empty if there is none."""
    mutual_pairs = np.argwhere(np.minimum(remaining_counts, remaining_counts.T) > 0)
    if len(mutual_pairs):
        return [int(category) for category in mutual_pairs[0]]
    alive = np.ones(len(remaining_counts), dtype=np.bool_)
    while True:  # a category without outgoing edges is in no cycle
        ends = alive & ~(remaining_counts[:, alive] > 0).any(axis=1)
        if not ends.any():
            break
        alive &= ~ends
    if not alive.any():
        return []
    path: list[int] = [int(np.flatnonzero(alive)[0])]
    while path[-1] not in path[:-1]:
        path.append(int(np.flatnonzero((remaining_counts[path[-1]] > 0) & alive)[0]))
    return path[path.index(path[-1]) : -1]
