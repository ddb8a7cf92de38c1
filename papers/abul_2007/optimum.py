# SPDX-License-Identifier: MIT
"""Problem 1 solved over all choices of marks: the least sum of differences of supports, and what heuristics give.

Marks only take away, so the support of a sequence falls by one for each trajectory that no longer contains it, and the
sum over all sequences is, trajectory by trajectory, how many of its parts are lost. That makes the optimum exact:
for each trajectory and each set of patterns that it is to hide, the best marks are found among all that leave no match,
and an integer program then chooses which trajectory hides what.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from papers.abul_2007.distortion import STRATEGIES, choose_patterns, hide, list_seeds, list_thresholds
from papers.plots import Axis, Curve, draw_curves
from papers.study import Findings, Grid, Setting, Statement, frame_of
from papers.tracks import Walks
from sfumato.data.generators.movements import generate_trucks
from sfumato.public.marked_items import MARK
from sfumato.sequences import Sequences

Pattern = tuple[str, ...]
WAYS = (*STRATEGIES, "exact")


def optimum(setting: Setting) -> Findings:
    """The sum of differences of supports for each strategy, and the smallest possible."""
    walks = generate_trucks()
    data = Sequences.of(walks)
    patterns = [tuple(pattern) for pattern in choose_patterns(data)]
    costs = [list_costs(walk, patterns) for walk in walks]
    rows = []
    for threshold in list_thresholds("trucks", setting):
        row: dict[str, Any] = {"threshold": threshold}
        for way in WAYS:
            several = [hide(data, list(map(list, patterns)), threshold, way, seed) for seed in list_seeds(way, setting)]
            row[way] = sum(measure_damage(walks, sequences.to_lists(), patterns) for sequences in several) / len(
                several
            )
        rows.append(row | {"optimum": choose_least(costs, len(patterns), threshold)})
    frame = frame_of(rows)
    grid = Grid(
        "differences",
        "The sum of the differences of supports, over all sequences that are not sensitive",
        frame,
        '"exact" marks the fewest items, which is another aim.',
    )
    curves = [Curve(way, frame.select("threshold", way).rows()) for way in ("HH", "RR", "exact", "optimum")]
    plot = draw_curves("Differences of supports", Axis("threshold"), Axis("sum of differences"), curves)
    return Findings(_judge(frame), (grid,), (plot,))


def _judge(frame: pl.DataFrame) -> tuple[Statement, Statement]:
    least = min(row[way] - row["optimum"] for row in frame.to_dicts() for way in WAYS)
    return (
        Statement(
            "The heuristic aims at few marks; the problem asks for small differences of supports.",
            f"HH is {_compare_sums(frame, 'HH')} times the optimum, RR {_compare_sums(frame, 'RR')} times, and the "
            f"fewest marks {_compare_sums(frame, 'exact')} times.",
            None,
            "The paper gives no optimum.",
        ),
        Statement(
            "No strategy is better than the optimum.",
            f"The closest is above it by {least:g}.",
            least >= 0,
            source="independent count",
        ),
    )


def _compare_sums(frame: pl.DataFrame, way: str) -> str:
    ratios = [own_result / best for own_result, best in frame.select(way, "optimum").rows() if best]
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def measure_damage(before: Walks, after: Walks, patterns: Sequence[Pattern]) -> int:
    """The sum of the differences of supports over all sequences but the sensitive ones; Δ is no item."""
    loss = 0
    for old, new in zip(before, after, strict=True):
        cells = [cell for cell in new if cell != MARK]
        loss += count_parts(old) - count_parts(cells)
        loss -= sum(holds(old, pattern) - holds(cells, pattern) for pattern in patterns)
    return loss


def count_parts(walk: Sequence[str]) -> int:
    """How many different sequences a walk contains, the empty one included."""
    total, totals = 1, dict[str, int]()
    for cell in walk:
        total, totals[cell] = 2 * total - totals.get(cell, 0), total
    return total


def holds(walk: Sequence[str], pattern: Pattern) -> bool:
    """Whether a walk contains a pattern."""
    walk_cells = iter(walk)
    return all(cell in walk_cells for cell in pattern)


def list_costs(walk: Sequence[str], patterns: Sequence[Pattern]) -> dict[tuple[int, ...], int]:
    """For each set of patterns that a walk contains: the least damage of marks that hide at least these."""
    present = [number for number, pattern in enumerate(patterns) if holds(walk, pattern)]
    return {
        subset: find_least_damage(walk, [patterns[number] for number in subset], patterns)
        for size in range(len(present) + 1)
        for subset in combinations(present, size)
    }


def find_least_damage(walk: Sequence[str], targets: Collection[Pattern], patterns: Sequence[Pattern]) -> int:
    """Over all marks on the cells of the hidden patterns: others only cost more."""
    places = [position for position, cell in enumerate(walk) if any(cell in pattern for pattern in targets)]
    best: int | None = None
    for size in range(len(places) + 1):
        for marks in map(set, combinations(places, size)):
            cells = [cell for position, cell in enumerate(walk) if position not in marks]
            if not any(holds(cells, pattern) for pattern in targets):
                damage = measure_damage([list(walk)], [cells], patterns)
                best = damage if best is None else min(best, damage)
    return 0 if best is None else best


def choose_least(costs: Sequence[dict[tuple[int, ...], int]], patterns: int, threshold: int) -> int:
    """The least damage in all: each walk hides one of its sets, so that no pattern is left in too many."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    choices = [(row, subset, cost) for row, sets in enumerate(costs) for subset, cost in sets.items()]
    one_each = np.zeros((len(costs), len(choices)))
    remaining_counts = np.zeros((patterns, len(choices)))
    for column, (row, subset, _) in enumerate(choices):
        one_each[row, column] = 1
        present = {number for sets in costs[row] for number in sets}
        remaining_counts[sorted(present - set(subset)), column] = 1
    result = milp(
        [cost for _, _, cost in choices],
        integrality=np.ones(len(choices), dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(one_each, 1, 1), LinearConstraint(remaining_counts, ub=threshold)],
        options={"mip_rel_gap": 0.0},
    )
    if result.x is None:
        raise RuntimeError("every pattern can be hidden everywhere, so there is a choice")
    return sum(cost for (_, _, cost), weight in zip(choices, result.x, strict=True) if weight > 0.5)
