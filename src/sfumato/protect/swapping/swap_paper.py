# SPDX-License-Identifier: MIT
"""Phase II of swapping as published: swap pairs of records while that lowers Σ d.

Li and Sarkar (2004), Table 2 and Appendix A. A round takes the swaps in the order of their costs and passes over those
one of whose records was swapped in the round already; rounds follow until no admissible swap has a negative cost.
Whether two records may swap depends only on their sets and their true and current categories, and the cost is a part of
each: so records are sorted by class, and the cheapest pairs are found without looking at all pairs. It ends in a local
optimum that depends on the start. With three categories rule 4 forbids every swap across categories.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.progress import tell
from sfumato.protect.swapping.posteriors import UNIT
from sfumato.protect.swapping.swap_marginal import phase_one
from sfumato.protect.swapping.swap_records import Answer, Records


class Swap(NamedTuple):
    """Two copies of records that exchange their categories, and by how much Σ d changes."""

    one: int
    other: int
    cost: int


@dataclass(frozen=True, eq=False)
class Swapped:
    """What phase II did."""

    answer: Answer
    swaps: tuple[Swap, ...]
    rounds: int


class _Class(NamedTuple):
    """Records that may do the same: in U or not, their true and their current category."""

    free: bool
    true: int
    current: int

    @property
    def perturbed(self) -> bool:
        return self.true != self.current


def phase_one_answer(records: Records, chance: np.random.Generator) -> Answer:
    """An initial perturbed set: problem (1) for U and for V apart, the records drawn by lot.

    The paper takes any solution of (1). Phase II can hardly leave it, so of all solutions ours is one that is cheap
    for the mean record.
    """
    copies = np.repeat(np.arange(len(records.own)), records.weight)
    category = records.own[copies].copy()
    for free, changes, available in (
        (True, records.changes, records.available),
        (False, int(records.forced.sum()), records.forced),
    ):
        here = records.free[copies] == free
        moves = phase_one(available, changes, _mean_costs(records, copies[here])).moves
        for own in range(records.categories):
            alike = np.flatnonzero(here & (records.own[copies] == own))
            drawn = chance.permutation(alike)[: int(moves[own].sum())]
            category[drawn] = np.repeat(np.arange(records.categories), moves[own])
    return Answer(copies.astype(np.int64), category.astype(np.int64))


def _mean_costs(records: Records, copies: Ints) -> Floats:
    """d(k, h) of the mean record of every category k."""
    chances, own = records.chances[copies] / UNIT, records.own[copies]
    held = np.zeros((records.categories, records.categories))
    np.add.at(held, own, chances)
    means = held / np.maximum(np.bincount(own, minlength=records.categories), 1)[:, None]
    return np.asarray(means.diagonal()[:, None] - means)


def phase_two(records: Records, start: Answer) -> Swapped:
    """Swap as Table 2 says, from a start that has an entry for every record."""
    current, rounds = start.category.copy(), 0
    swaps: list[Swap] = []
    while True:
        tell("swapping as published", len(swaps))
        done = _round(records, start.record, current)
        if not done:
            return Swapped(Answer(start.record, current), tuple(swaps), rounds)
        swaps += done
        rounds += 1


def admissible(one: _Class, other: _Class) -> bool:
    """Appendix A: whether the shares perturbed in U and V stay as they are when two records swap."""
    if one.current == other.current:
        return False  # no swap at all, by Definition 3
    if not one.perturbed and not other.perturbed:
        return False  # rule 1
    if not (one.perturbed and other.perturbed) and not (one.free and other.free):
        return False  # rule 2
    if one.true == other.true:
        return True
    # Rules 3 and 4: across categories, all four must differ, which an unperturbed record's do not.
    return len({one.true, one.current, other.true, other.current}) == 4


def _round(records: Records, record: Ints, current: Ints) -> list[Swap]:
    """Step 3 of Table 2; changes `current`."""
    chances, own, free = records.chances[record], records.own[record], records.free[record]
    classes = _classes(own, current, free, records.categories)
    queues: dict[tuple[_Class, int], tuple[list[int], list[int]]] = {}

    def queue(of: _Class, to: int) -> tuple[list[int], list[int]]:
        """The members of a class in the order of what it costs them to take a category, and these costs."""
        if (of, to) not in queues:
            members = classes[of]
            costs = chances[members, of.current] - chances[members, to]
            order = np.argsort(costs, kind="stable")
            queues[of, to] = members[order].tolist(), costs[order].tolist()
        return queues[of, to]

    names = sorted(classes)
    pairs = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :] if admissible(a, b)]
    lines = [(*queue(a, b.current), *queue(b, a.current)) for a, b in pairs]
    heap = [(line[1][0] + line[3][0], number, 0, 0) for number, line in enumerate(lines)]
    heapify(heap)
    return _cheapest_first(heap, lines, current)


Line = tuple[list[int], list[int], list[int], list[int]]


def _cheapest_first(heap: list[tuple[int, int, int, int]], lines: list[Line], current: Ints) -> list[Swap]:
    """Swap the cheapest pair of records that are both untouched, again and again while the cost is negative."""
    touched: set[int] = set()
    done: list[Swap] = []
    while heap and heap[0][0] < 0:
        cost, number, here, there = heap[0]
        ones, ones_costs, others, others_costs = lines[number]
        while here < len(ones) and ones[here] in touched:
            here += 1
        while there < len(others) and others[there] in touched:
            there += 1
        if here == len(ones) or there == len(others):
            heappop(heap)
            continue
        now = ones_costs[here] + others_costs[there]
        if now == cost:
            one, other = ones[here], others[there]
            current[one], current[other] = current[other], current[one]
            touched |= {one, other}
            done.append(Swap(one, other, cost))
        heapreplace(heap, (now, number, here, there))
    return done


def _classes(own: Ints, current: Ints, free: Flags, categories: int) -> dict[_Class, Ints]:
    key = (free * categories + own) * categories + current
    order = np.argsort(key, kind="stable")
    found, begins = np.unique(key[order], return_index=True)
    parts = np.split(order, begins[1:])
    return {
        _Class(bool(one // categories // categories), int(one // categories % categories), int(one % categories)): part
        for one, part in zip(found.tolist(), parts, strict=True)
    }
