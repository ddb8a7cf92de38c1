# SPDX-License-Identifier: MIT
"""Phase I of swapping: how many records move between which categories, so that the counts stay.

Problem 1 of Li and Sarkar (2004), in integers: the paper's linear program can end in halves, which are not records. If
the counts cannot stay, because one category must give away more than half of all changes or the only way back has odd
length, the smallest total shift is found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class CategoryFlows:
    """A solution of problem (1)."""

    moves: Ints
    """How many records move from category k (row) to category h (column)."""
    shift: int
    """Σ (s⁻ + s⁺): the total change in the counts of the categories."""


def solve_phase_one(available: Ints, changes: int, costs: Floats | None = None) -> CategoryFlows:
    """Problem (1) in integers: `changes` records of those available in each category, with the smallest shift.

    Of all solutions, one of minimum cost, if the costs of moves from k to h are given.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    categories = len(available)
    sources, targets = np.nonzero(~np.eye(categories, dtype=np.bool_))
    width = len(sources)
    # Columns: n_kh, then s⁻ and s⁺ of every category.
    out, inflow = np.zeros((categories, width)), np.zeros((categories, width))
    out[sources, np.arange(width)] = 1
    inflow[targets, np.arange(width)] = 1
    slack, zero_block = np.eye(categories), np.zeros((categories, categories))
    every = np.concatenate([np.ones(width), np.zeros(2 * categories)])
    rows = np.vstack(
        [every, np.hstack([out - inflow, slack, -slack]), np.hstack([out, zero_block, zero_block]), 1 - every]
    )
    shift = find_least_shift(available, changes, np.zeros(categories, dtype=np.int64))
    low = np.concatenate([[changes], np.zeros(2 * categories), [0]])
    high = np.concatenate([[changes], np.zeros(categories), available, [shift]])
    solution = milp(
        1 - every if costs is None else np.concatenate([costs[sources, targets], np.zeros(2 * categories)]),
        integrality=np.ones(len(every), dtype=np.int64),
        bounds=Bounds(0, np.inf),
        constraints=[LinearConstraint(rows, low, high)],
        options={"mip_rel_gap": 0.0},
    )
    assert solution.x is not None, "problem (1) always has a solution"
    whole = np.rint(solution.x).astype(np.int64)
    moves = np.zeros((categories, categories), dtype=np.int64)
    moves[sources, targets] = whole[:width]
    return CategoryFlows(moves, int(np.abs(moves.sum(axis=0) - moves.sum(axis=1)).sum()))


def find_least_shift(available: Ints, changes: int, forced_counts: Ints) -> int:
    """The smallest shift of U and V together: `changes` of the available records, and all of the forced ones.

    A category can give away at most half of all changes if it must get back as many. With e more than that, counts
    shift by e there and by e elsewhere: the smallest e that allows all changes.
    """
    total = changes + int(forced_counts.sum())

    def fits(excess: int) -> bool:
        room = (total + excess) // 2 - forced_counts
        return bool((room >= 0).all()) and int(np.minimum(available, room).sum()) >= changes

    low, high = 0, total
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle + 1, high)
    return 2 * low
