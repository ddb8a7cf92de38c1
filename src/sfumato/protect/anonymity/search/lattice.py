# SPDX-License-Identifier: MIT
"""Optimal search over the lattice of generalization levels.

Three facts rule out nodes without checking them. A node that needs too much suppression rules out every finer one. A
node that needs none makes every coarser one unnecessary. And each checked node raises the lower bound of others
(`metrics.py`). The next node to check is the one that rules out most, whatever the result; one or two hundred checks
replace thousands. If nothing may be suppressed, a single refused row is a witness against many more nodes
(`witness.py`), and about twenty checks suffice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf, prod
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, Floats
from sfumato.errors import PolicyError
from sfumato.kernels.anonymity.lattice_choice import choose_lattice_loops
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.live_rollup import choose_roll_up
from sfumato.protect.anonymity.search.metrics import (
    Metric,
    MetricName,
    Weights,
    compute_cost,
    compute_loss,
    make_metric,
    slice_coarser_nodes,
    slice_finer_nodes,
)
from sfumato.protect.anonymity.search.node_classes import ClassJudge, JudgedNode, Levels, NodeVerdict, judge_classes
from sfumato.protect.anonymity.search.witness import choose_witness, condemn_nodes
from sfumato.runtime.progress import report_progress

LARGEST_LATTICE = 20_000_000
_TOLERANCE = 1e-9  # compare costs exactly if floats are this close
_COUNT_AGAIN = 4  # a few checks change little in what the others would rule out
_SLACK = 1e-12  # bounds are floats: rule a node out only if it is worse by more than rounding


class NodeCount(NamedTuple):
    """How many nodes over subsets of a size a search looked at."""

    search: str
    columns: int
    """The size of the subsets of the quasi-identifying columns."""
    nodes: int
    """All nodes over such subsets."""
    candidates: int
    """Those that smaller subsets did not rule out."""
    checked: int
    """Those whose classes were counted."""
    accepted: int


@dataclass(frozen=True)
class BestNode:
    """The best node, and how much of the lattice was checked to prove it."""

    best: NodeVerdict | None
    checked_count: int
    nodes: int
    proven: bool = True
    minimal: tuple[Levels, ...] = ()
    """All minimal nodes, if requested."""
    accepted_nodes: tuple[Levels, ...] | None = None
    """All accepted nodes, if requested."""
    counts: tuple[NodeCount, ...] = ()
    """What this search and another one looked at, if they are compared."""


class _NodeRank(NamedTuple):
    """What nodes are compared by, the most important first."""

    cost: Fraction
    loss: Fraction
    suppressed_count: int
    height: int
    levels: Levels


class _RankedNode(NamedTuple):
    """A node that is accepted, with its rank."""

    rank: _NodeRank
    verdict: NodeVerdict


def _rank_node(value: Fraction, grouping: Grouping, verdict: NodeVerdict) -> _NodeRank:
    loss = compute_loss(grouping, verdict)
    return _NodeRank(value, loss, verdict.suppressed_count, sum(verdict.levels), verdict.levels)


def find_optimal_node(
    grouping: Grouping,
    judge: ClassJudge,
    metric: MetricName,
    most_suppressed: int,
    weights: Weights | None = None,
    ceiling: Levels | None = None,
    floor: Levels | None = None,
) -> BestNode:
    """The cheapest node that suppresses at most the given number of rows, between the floor and the ceiling, if any.

    Ties: the smallest loss, then the fewest suppressed rows, the fewest steps, and the lexicographically first levels.
    """
    nodes = prod(grouping.shape)
    _refuse_large_lattice(nodes)
    costs = make_metric(metric, grouping, weights)
    top = ceiling or tuple(size - 1 for size in grouping.shape)
    live = _mark_nodes_between(grouping.shape, floor, top)
    most_telling, roll_up = _NodeChooser(grouping.shape, bins=4096), choose_roll_up(grouping)
    best: _RankedNode | None = None
    checked_count = 0
    # The ends first: the finest node may be accepted, and if the coarsest is not, none is.
    ends = [0, int(np.ravel_multi_index(top, grouping.shape))]

    def next_node() -> int:
        while ends:
            if live.flat[end := ends.pop(0)]:
                return end
        return most_telling(live, costs.bound)

    while (node := next_node()) >= 0:
        levels = tuple(int(level) for level in np.unravel_index(node, grouping.shape))
        node_grouping = roll_up.group_below(levels, live)
        judged_node = _judge_node(node_grouping, levels, judge, most_suppressed)
        checked_count += 1
        live[levels] = False
        if _condemns_finer_nodes(judged_node, judge, most_suppressed):
            live[slice_finer_nodes(levels)] = False
            if most_suppressed == 0 and judged_node.suppressed_count:
                condemn_nodes(live, grouping, judge, choose_witness(node_grouping, judged_node))
        elif judged_node.suppressed_count > most_suppressed or judged_node.forbidden or judged_node.refused_mask.all():
            costs.learn(node_grouping.count_cost(judged_node))
        else:
            verdict = node_grouping.count_cost(judged_node)
            costs.learn(verdict)
            best = _choose_cheaper(best, verdict, costs, grouping)
            if verdict.suppressed_count == 0:
                live[slice_coarser_nodes(levels)] = False
        if best:
            live &= costs.bound <= float(best.rank.cost) * (1 + _SLACK)
        if checked_count % 16 == 0:
            report_progress("searching the lattice", nodes - int(np.count_nonzero(live)), nodes)
    return BestNode(best.verdict if best else None, checked_count, nodes)


def _condemns_finer_nodes(judged_node: JudgedNode, judge: ClassJudge, most_suppressed: int) -> bool:
    """Whether every finer node suppresses too many rows, too."""
    if judged_node.lasting_rows > most_suppressed:
        return True
    # Without suppression every model is steady if a coarser class is a union of finer ones.
    can_merge = judge.steady or judged_node.classes.match_values is None
    return most_suppressed == 0 and bool(judged_node.suppressed_count) and can_merge


def _choose_cheaper(
    best: _RankedNode | None, verdict: NodeVerdict, costs: Metric, grouping: Grouping
) -> _RankedNode | None:
    """The cheaper of the best node so far and another; costs are computed exactly only if they are close."""
    least = inf if best is None else float(best.rank.cost)
    if costs.approximate(verdict) > least * (1 + _TOLERANCE):
        return best
    ranked_node = _RankedNode(_rank_node(costs.compute_exactly(verdict), grouping, verdict), verdict)
    return ranked_node if best is None else min(best, ranked_node, key=lambda node: node.rank)


def _mark_nodes_between(shape: Levels, floor: Levels | None, top: Levels) -> Flags:
    """The nodes that a search may choose from."""
    live = np.zeros(shape, dtype=np.bool_)
    live[slice_finer_nodes(top)] = True
    if floor is not None:
        allowed_mask = np.zeros_like(live)
        allowed_mask[slice_coarser_nodes(floor)] = True
        live &= allowed_mask
    return live


def _judge_node(grouping: Grouping, levels: Levels, judge: ClassJudge, most_suppressed: int) -> JudgedNode:
    """Judge the classes at a node; if too many rows are in small classes, their values are not even counted."""
    by_size = judge.by_size if grouping.plain else None
    if by_size is None:
        return grouping.judge(levels, judge)
    judged_node = grouping.judge(levels, by_size)
    if judged_node.lasting_rows > most_suppressed:
        return judged_node
    return judge_classes(levels, judged_node.classes, judge.refuses(judged_node.classes), judge)


class _NodeChooser:
    """Chooses the live node whose check rules out most; keeps the work arrays."""

    def __init__(self, shape: Levels, bins: int) -> None:
        self._shape = np.array(shape, dtype=np.int64)
        self._gains, self._histogram = np.zeros(prod(shape), dtype=np.int32), np.zeros(bins, dtype=np.int64)
        self._calls = -1

    def __call__(self, live: Flags, bound: Floats) -> int:
        self._calls += 1
        if self._calls % _COUNT_AGAIN:
            node = int(np.argmax(np.where(live.ravel(), self._gains, 0)))
            return node if live.flat[node] else -1
        kernels = choose_lattice_loops(live.size)
        return int(
            kernels.choose_informative_node(live.ravel(), bound.ravel(), self._shape, self._gains, self._histogram)
        )


class MinimalNodes(NamedTuple):
    """The accepted nodes without an accepted finer one."""

    nodes: tuple[Levels, ...]
    checked_count: int


def find_minimal_nodes(grouping: Grouping, judge: ClassJudge, most_suppressed: int) -> MinimalNodes:
    """Every accepted node without an accepted finer one (LeFevre et al., Incognito, 2005), and how many were checked.

    An accepted node settles the coarser ones and a refused node settles the finer ones, if the models are steady or
    nothing may be suppressed; otherwise each node is checked.
    """
    nodes = prod(grouping.shape)
    _refuse_large_lattice(nodes)
    will_do = np.zeros(grouping.shape, dtype=np.bool_)
    open_ = np.ones(grouping.shape, dtype=np.bool_)
    height = np.add.reduce(np.indices(grouping.shape)).astype(np.float64)
    most_telling, roll_up = _NodeChooser(grouping.shape, bins=256), choose_roll_up(grouping)
    checked_count = 0
    while (node := most_telling(open_, height)) >= 0:
        levels = tuple(int(level) for level in np.unravel_index(node, grouping.shape))
        node_grouping = roll_up.group_below(levels, open_)
        judged_node = _judge_node(node_grouping, levels, judge, most_suppressed)
        checked_count += 1
        open_[levels] = False
        can_merge = judge.steady or judged_node.classes.match_values is None
        settles = judge.steady or (most_suppressed == 0 and can_merge)
        if (
            judged_node.suppressed_count <= most_suppressed
            and not judged_node.forbidden
            and not judged_node.refused_mask.all()
        ):
            will_do[levels] = True
            if settles or (judged_node.suppressed_count == 0 and can_merge):
                will_do[slice_coarser_nodes(levels)] = True
                open_[slice_coarser_nodes(levels)] = False
        elif judged_node.lasting_rows > most_suppressed or (settles and not judged_node.forbidden):
            open_[slice_finer_nodes(levels)] = False
            if most_suppressed == 0 and judged_node.suppressed_count:
                condemn_nodes(open_, grouping, judge, choose_witness(node_grouping, judged_node))
        if checked_count % 16 == 0:
            report_progress("searching the lattice", nodes - int(np.count_nonzero(open_)), nodes)
    return MinimalNodes(_select_minimal_nodes(will_do), checked_count)


def _select_minimal_nodes(will_do: Flags) -> tuple[Levels, ...]:
    """The accepted nodes without a strictly finer accepted one."""
    reached_mask = will_do.copy()  # whether the node or a finer one is accepted
    for axis in range(reached_mask.ndim):
        np.logical_or.accumulate(reached_mask, axis=axis, out=reached_mask)
    finer_does = np.zeros_like(will_do)
    for axis in range(reached_mask.ndim):
        upper_slices = tuple(slice(1, None) if i == axis else slice(None) for i in range(reached_mask.ndim))
        lower_slices = tuple(slice(None, -1) if i == axis else slice(None) for i in range(reached_mask.ndim))
        finer_does[upper_slices] |= reached_mask[lower_slices]
    minimal = np.argwhere(will_do & ~finer_does)
    return tuple(tuple(int(level) for level in node) for node in minimal)


def find_heuristic_node(
    grouping: Grouping,
    judge: ClassJudge,
    metric: MetricName,
    most_suppressed: int,
    seconds: float,
    weights: Weights | None = None,
) -> BestNode:
    """A good node within a time limit, for lattices too large to search: repeated greedy descent.

    From the top, lower the column whose step down is cheapest while the node is still accepted; then repeat from random
    nodes above the best one, until time runs out. Not proven optimal.
    """
    deadline = time.monotonic() + seconds
    # Only the search order, the same in each run: not the randomness of the release.
    chance = np.random.default_rng(0)
    top = tuple(size - 1 for size in grouping.shape)
    node_ranks: dict[Levels, _NodeRank | None] = {}
    accepted_verdicts: dict[_NodeRank, NodeVerdict] = {}

    def look(levels: Levels) -> _NodeRank | None:
        if levels not in node_ranks:
            judged_node = grouping.judge(levels, judge)
            node_ranks[levels] = None
            if (
                judged_node.suppressed_count <= most_suppressed
                and not judged_node.forbidden
                and not judged_node.refused_mask.all()
            ):
                verdict = grouping.count_cost(judged_node)
                rank = _rank_node(compute_cost(metric, grouping, verdict, weights), grouping, verdict)
                node_ranks[levels] = rank
                accepted_verdicts[rank] = verdict
        return node_ranks[levels]

    start = top
    while look(top) is not None:
        _descend_greedily(start, look, deadline)
        report_progress("walking the lattice", len(node_ranks))
        if time.monotonic() >= deadline or len(node_ranks) >= prod(grouping.shape):
            break
        best = min(accepted_verdicts).levels
        lift = chance.integers(0, np.array(grouping.shape) - np.array(best))
        start = tuple(int(level) for level in np.array(best) + lift * (chance.random(len(top)) < 0.5))
    best_node = accepted_verdicts[min(accepted_verdicts)] if accepted_verdicts else None
    return BestNode(best_node, len(node_ranks), prod(grouping.shape), proven=len(node_ranks) >= prod(grouping.shape))


def _descend_greedily(levels: Levels, look: Callable[[Levels], _NodeRank | None], deadline: float) -> None:
    """Lower one column after another, always the one that gives the cheapest node, until none gets cheaper."""
    current_rank = look(levels)
    while time.monotonic() < deadline:
        steps = [(*levels[:i], level - 1, *levels[i + 1 :]) for i, level in enumerate(levels) if level > 0]
        ranked_steps = [(rank, step) for step in steps if (rank := look(step)) is not None]
        if not ranked_steps or (current_rank is not None and min(ranked_steps)[0] >= current_rank):
            return
        current_rank, levels = min(ranked_steps)


def _format_large_number(number: int) -> str:
    return f"{number:,}" if number < 10**12 else f"10^{len(str(number)) - 1}"


def _refuse_large_lattice(nodes: int) -> None:
    if nodes > LARGEST_LATTICE:
        raise PolicyError(
            f"the hierarchies span {_format_large_number(nodes)} combinations of levels, more than the "
            f"{LARGEST_LATTICE:,} that an optimal search can hold; use fewer levels in some hierarchies, or fewer "
            "quasi-identifying columns"
        )
