# SPDX-License-Identifier: MIT
"""Phase II of swapping as published: swap pairs of records while that lowers Σ d.

Li and Sarkar (2004), Table 2 and Appendix A. A round takes the swaps in the order of their costs and skips those with a
record that was already swapped in the round; rounds continue until no admissible swap has a negative cost. Whether two
records may swap depends only on their sets and their true and current categories, and the cost is additive: so records
are sorted by class, and the cheapest pairs are found without enumerating all pairs. It ends in a local optimum that
depends on the start. With three categories rule 4 forbids every swap across categories.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from math import inf
from time import monotonic
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.protect.swapping.posteriors import UNIT
from sfumato.protect.swapping.swap_marginal import solve_phase_one
from sfumato.protect.swapping.swap_records import SwapAnswer, SwapRecords
from sfumato.runtime.progress import report_progress


class RecordSwap(NamedTuple):
    """Two copies of records that exchange their categories, and the change in Σ d."""

    first: int
    other: int
    cost: int


@dataclass(frozen=True, eq=False)
class SwapOutcome:
    """The result of phase II."""

    answer: SwapAnswer
    swaps: tuple[RecordSwap, ...]
    rounds: int


class _SwapClass(NamedTuple):
    """Records with the same options: in U or not, their true and their current category."""

    free: bool
    true: int
    current: int

    @property
    def is_perturbed(self) -> bool:
        return self.true != self.current


class _Queue(NamedTuple):
    """Records that may take a category, the cheapest first."""

    records: list[int]
    costs: list[int]


class _QueuePair(NamedTuple):
    """Two queues whose records may swap with each other."""

    first: _Queue
    other: _Queue


class _NextSwap(NamedTuple):
    """The cheapest swap of two queues that was not looked at yet."""

    cost: int
    pair_index: int
    first_index: int
    other_index: int


def draw_phase_one_answer(records: SwapRecords, chance: np.random.Generator) -> SwapAnswer:
    """An initial perturbed set: problem (1) for U and for V separately, the records drawn at random.

    The paper takes any solution of (1). Phase II can hardly leave it, so ours is one that is cheap for the mean record.
    """
    copies = np.repeat(np.arange(len(records.own_categories)), records.weight)
    category = records.own_categories[copies].copy()
    for free, changes, available in (
        (True, records.changes, records.available),
        (False, int(records.forced_counts.sum()), records.forced_counts),
    ):
        copy_mask = records.free[copies] == free
        moves = solve_phase_one(available, changes, _average_costs(records, copies[copy_mask])).moves
        for own_category in range(records.categories):
            alike = np.flatnonzero(copy_mask & (records.own_categories[copies] == own_category))
            moved_copies = chance.permutation(alike)[: int(moves[own_category].sum())]
            category[moved_copies] = np.repeat(np.arange(records.categories), moves[own_category])
    return SwapAnswer(copies.astype(np.int64), category.astype(np.int64))


def _average_costs(records: SwapRecords, copies: Ints) -> Floats:
    """d(k, h) of the mean record of every category k."""
    chances, own_categories = records.chances[copies] / UNIT, records.own_categories[copies]
    chance_sums = np.zeros((records.categories, records.categories))
    np.add.at(chance_sums, own_categories, chances)
    means = chance_sums / np.maximum(np.bincount(own_categories, minlength=records.categories), 1)[:, None]
    return np.asarray(means.diagonal()[:, None] - means)


def run_phase_two(records: SwapRecords, start: SwapAnswer, deadline: float = inf) -> SwapOutcome:
    """Swap as in Table 2, from a start that has an entry for every record, until a time of the clock at the latest."""
    current, rounds = start.category.copy(), 0
    swaps: list[RecordSwap] = []
    while monotonic() < deadline:
        report_progress("swapping as published", len(swaps))
        round_swaps = _run_round(records, start.record, current, deadline)
        if not round_swaps:
            break
        swaps += round_swaps
        rounds += 1
    return SwapOutcome(SwapAnswer(start.record, current), tuple(swaps), rounds)


def is_admissible(first: _SwapClass, other: _SwapClass) -> bool:
    """Appendix A: whether the shares perturbed in U and V stay the same when two records swap."""
    if first.current == other.current:
        return False  # not a swap, by Definition 3
    if not first.is_perturbed and not other.is_perturbed:
        return False  # rule 1
    if not (first.is_perturbed and other.is_perturbed) and not (first.free and other.free):
        return False  # rule 2
    if first.true == other.true:
        return True
    # Rules 3 and 4: across categories, all four must differ, which an unperturbed record's do not.
    return len({first.true, first.current, other.true, other.current}) == 4


def _run_round(records: SwapRecords, record: Ints, current: Ints, deadline: float) -> list[RecordSwap]:
    """Step 3 of Table 2; changes `current`."""
    chances, own_categories, free = records.chances[record], records.own_categories[record], records.free[record]
    classes = _group_by_swap_class(own_categories, current, free, records.categories)
    queues: dict[tuple[_SwapClass, int], _Queue] = {}

    def queue(swap_class: _SwapClass, target_category: int) -> _Queue:
        """The members of a class that may take a category."""
        if (swap_class, target_category) not in queues:
            members = classes[swap_class]
            costs = chances[members, swap_class.current] - chances[members, target_category]
            order = np.argsort(costs, kind="stable")
            queues[swap_class, target_category] = _Queue(members[order].tolist(), costs[order].tolist())
        return queues[swap_class, target_category]

    names = sorted(classes)
    queue_pairs: list[_QueuePair] = []
    for index, first in enumerate(names):
        if monotonic() > deadline:
            break
        partners = [other for other in names[index + 1 :] if is_admissible(first, other)]
        queue_pairs += [_QueuePair(queue(first, other.current), queue(other, first.current)) for other in partners]
    heap = [
        _NextSwap(pair.first.costs[0] + pair.other.costs[0], number, 0, 0) for number, pair in enumerate(queue_pairs)
    ]
    heapify(heap)
    return _swap_cheapest_first(heap, queue_pairs, current)


def _swap_cheapest_first(heap: list[_NextSwap], queue_pairs: list[_QueuePair], current: Ints) -> list[RecordSwap]:
    """Repeatedly swap the cheapest pair of records that are both untouched while the cost is negative."""
    touched_records: set[int] = set()
    round_swaps: list[RecordSwap] = []
    while heap and heap[0].cost < 0:
        cost, number, first_index, other_index = heap[0]
        (first_records, first_costs), (other_records, other_costs) = queue_pairs[number]
        while first_index < len(first_records) and first_records[first_index] in touched_records:
            first_index += 1
        while other_index < len(other_records) and other_records[other_index] in touched_records:
            other_index += 1
        if first_index == len(first_records) or other_index == len(other_records):
            heappop(heap)
            continue
        current_cost = first_costs[first_index] + other_costs[other_index]
        if current_cost == cost:
            first, other = first_records[first_index], other_records[other_index]
            current[first], current[other] = current[other], current[first]
            touched_records |= {first, other}
            round_swaps.append(RecordSwap(first, other, cost))
        heapreplace(heap, _NextSwap(current_cost, number, first_index, other_index))
    return round_swaps


def _group_by_swap_class(own_categories: Ints, current: Ints, free: Flags, categories: int) -> dict[_SwapClass, Ints]:
    key = (free * categories + own_categories) * categories + current
    order = np.argsort(key, kind="stable")
    distinct_keys, begins = np.unique(key[order], return_index=True)
    parts = np.split(order, begins[1:])
    return {
        _SwapClass(
            bool(class_key // categories // categories),
            int(class_key // categories % categories),
            int(class_key % categories),
        ): part
        for class_key, part in zip(distinct_keys.tolist(), parts, strict=True)
    }
