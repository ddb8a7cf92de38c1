# SPDX-License-Identifier: MIT
"""Optimal search over the lattice of generalization levels.

Three facts rule nodes out without looking at them. A node that needs too much suppression condemns every
finer one. A node that needs none makes every coarser one needless. And each checked node raises the lower
bound of others (`metrics.py`). The next node to check is the one that rules out most, whichever way it
ends; a hundred or two checks replace thousands.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from sfumato.errors import PolicyError
from sfumato.progress import tell
from sfumato.protect.classes import Grouping, Judge, Verdict
from sfumato.protect.metrics import MetricName, coarser, finer, loss, metric_named

LARGEST_LATTICE = 20_000_000
_SLACK = 1e-12  # bounds are floats: rule a node out only if it is worse by more than rounding


@dataclass(frozen=True)
class Found:
    """The best node, and how much of the lattice had to be looked at to know."""

    best: Verdict | None
    checked: int
    nodes: int


def optimal_node(grouping: Grouping, judge: Judge, metric: MetricName, most_suppressed: int) -> Found:
    """The cheapest node that suppresses at most so many rows.

    Among nodes of equal cost: the least loss, then fewest suppressed rows, fewest steps, and the levels that
    come first when read column by column.
    """
    from sfumato.kernels.lattice import most_telling

    nodes = prod(grouping.shape)
    _refuse_too_large(nodes)
    costs = metric_named(metric, grouping)
    live = np.ones(grouping.shape, dtype=np.bool_)
    shape = np.array(grouping.shape, dtype=np.int64)
    below, histogram = np.zeros(nodes, dtype=np.int32), np.zeros(4096, dtype=np.int64)
    best: tuple[tuple[Fraction, Fraction, int, int, tuple[int, ...]], Verdict] | None = None
    checked = 0
    # The ends first: the finest node may do, and if the coarsest does not, nothing does.
    ends = [0, nodes - 1] if nodes > 1 else [0]

    def next_node() -> int:
        while ends:
            if live.flat[end := ends.pop(0)]:
                return end
        return int(most_telling(live.ravel(), costs.bound.ravel(), shape, below, histogram))

    while (node := next_node()) >= 0:
        levels = tuple(int(level) for level in np.unravel_index(node, grouping.shape))
        judged = grouping.judged(levels, judge)
        checked += 1
        live[levels] = False
        # With no suppression allowed every model is steady: a coarser class is a merger of accepted ones.
        if judged.surely_suppressed > most_suppressed or (most_suppressed == 0 and judged.suppressed):
            live[finer(levels)] = False
        elif judged.suppressed > most_suppressed or judged.forbidden:
            costs.learn(grouping.cost(judged))
        else:
            verdict = grouping.cost(judged)
            costs.learn(verdict)
            rank = (
                costs.value(verdict), loss(grouping, verdict), verdict.suppressed, sum(levels), levels,
            )  # fmt: skip
            best = min(best, (rank, verdict), key=lambda pair: pair[0]) if best else (rank, verdict)
            if verdict.suppressed == 0:
                live[coarser(levels)] = False
        if best:
            least = float(best[0][0])
            live &= costs.bound <= least + abs(least) * _SLACK
        if checked % 16 == 0:
            tell("searching the lattice", nodes - int(np.count_nonzero(live)), nodes)
    return Found(best[1] if best else None, checked, nodes)


def _large(number: int) -> str:
    return f"{number:,}" if number < 10**12 else f"10^{len(str(number)) - 1}"


def _refuse_too_large(nodes: int) -> None:
    if nodes > LARGEST_LATTICE:
        raise PolicyError(
            f"the hierarchies span {_large(nodes)} combinations of levels, more than the {LARGEST_LATTICE:,} that an "
            "optimal search can hold; give fewer levels to some hierarchies, or fewer quasi-identifying columns"
        )
