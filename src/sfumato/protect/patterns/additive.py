# SPDX-License-Identifier: MIT
"""Additive repair: supports are raised as if some baskets had been there k times more.

A pattern of fewer than k people is hidden among k made-up ones: k baskets that hold what it says is there and nothing
of what it says is not. Counts only grow, so no pattern that was safe becomes small, and one such basket serves every
pattern that it fits. All published supports are then those of one database, and cannot contradict one another.
After Atzori, Bonchi, Giannotti, Pedreschi, *Blocking anonymity threats raised by frequent itemset mining* (2005).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.baskets import Baskets
from sfumato.mine.baskets.itemsets import Itemsets, find_itemsets
from sfumato.mine.patterns.derivability import EXACT_ITEMS, Reasoning, exactly_forced, reasoned
from sfumato.mine.patterns.worlds import world_of
from sfumato.patterns import Patterns
from sfumato.progress import tell

Side = tuple[int, ...]


@dataclass(frozen=True)
class Raised:
    """Patterns that are safe, and what was added to make them so."""

    patterns: Patterns
    added: tuple[tuple[Side, int], ...]
    """Made-up baskets, as places in the vocabulary of the data, and how many of each."""
    rounds: int


@dataclass(frozen=True)
class Target:
    """A pattern that must find k more baskets, as bits of the items in it."""

    present: int
    absent: int


def raised(data: Baskets, least: int, k: int) -> Raised:
    """Add baskets until no published support gives away a pattern of fewer than k."""
    added: list[tuple[Side, int]] = []
    rounds = 0
    while True:
        tell("raising supports", rounds)
        more = with_added(data, added)
        found = find_itemsets(more, least)
        patterns = Patterns(found.items, found.offsets, found.codes, found.supports, found.rows, least)
        targets = targets_of(more, patterns, k)
        if not targets:
            return Raised(patterns, tuple(added), rounds)
        # The vocabulary of the data stays the same: what is added holds items that are there.
        added += [(basket, k) for basket in covering(targets, _frequent(found))]
        rounds += 1


def with_added(data: Baskets, added: Sequence[tuple[Side, int]]) -> Baskets:
    """The baskets and some more."""
    lengths = [len(basket) for basket, copies in added for _ in range(copies)]
    codes = [code for basket, copies in added for _ in range(copies) for code in basket]
    offsets = np.concatenate((data.offsets, data.offsets[-1] + np.cumsum(lengths, dtype=np.int64)))
    return Baskets(data.items, offsets, np.concatenate((data.codes, np.array(codes, dtype=np.int32))))


def targets_of(data: Baskets, patterns: Patterns, k: int) -> list[Target]:
    """The patterns that need more baskets: all that are forced, one unknown at a time, and if none, all together."""
    place = {item: code for code, item in enumerate(data.items)}
    codes = [place[item] for item in patterns.items]
    reasoning = reasoned(patterns, k)
    found = list(dict.fromkeys(_targets(data, reasoning, codes)))
    if found or not 0 < len(patterns.items) <= EXACT_ITEMS:
        return found
    exact = [one.either[0] for one in exactly_forced(patterns, k, world_of(data, patterns.items))]
    return [Target(_bits([place[i] for i in held]), _bits([place[i] for i in lacking])) for held, lacking in exact]


def _targets(data: Baskets, reasoning: Reasoning, codes: Sequence[int]) -> Iterator[Target]:
    from sfumato.kernels.patterns.small_patterns import DERIVED, EITHER, EXACT, ITEM, KIND, MASK, NODE, OTHER

    maximal = reasoning.known.maximal()
    for kind, node, item, mask, other in reasoning.records[:, [KIND, NODE, ITEM, MASK, OTHER]].tolist():
        # What fits the longest pattern fits all that are part of it.
        if kind == DERIVED or (kind == EXACT and not maximal[node]):
            continue
        members = [codes[code] for code in (*reasoning.known.members(node), *(() if item < 0 else (item,)))]
        one = _target(members, mask)
        # Of two patterns known together, the one that somebody has grows.
        yield _target(members, other) if kind == EITHER and not _count(data, one) else one


def _target(members: Sequence[int], mask: int) -> Target:
    held = [code for at, code in enumerate(members) if mask >> at & 1]
    return Target(_bits(held), _bits(members) & ~_bits(held))


def _count(data: Baskets, target: Target) -> int:
    """How many baskets fit a pattern."""
    there, lacking = _codes(target.present), _codes(target.absent)
    worth = np.zeros(len(data.items), dtype=np.int64)
    worth[list(there)] = 1
    worth[list(lacking)] = -len(data.items) - 1
    rows = np.repeat(np.arange(len(data)), np.diff(data.offsets))
    sums = np.bincount(rows, weights=worth[data.codes], minlength=len(data))
    return int((sums == len(there)).sum())


def covering(targets: Sequence[Target], frequent: frozenset[int]) -> list[Side]:
    """Baskets that between them fit every target: as few, and of as few items, as a greedy choice finds.

    Targets join one basket where no item is asked to be both there and not there. Together they are a frequent set, so
    that no support outside the published ones grows.
    """
    waiting = sorted(targets, key=lambda one: (-one.present.bit_count(), one.present, one.absent))
    chosen = []
    while waiting:
        tell("choosing baskets to add", len(targets) - len(waiting), len(targets))
        present, absent, left = waiting[0].present, waiting[0].absent, []
        for one in waiting[1:]:
            both = present | one.present
            fits = not both & (absent | one.absent) and (both == present or both in frequent)
            if fits:
                present, absent = both, absent | one.absent
            else:
                left.append(one)
        chosen.append(_codes(present))
        waiting = left
    return chosen


def _frequent(found: Itemsets) -> frozenset[int]:
    codes, offsets = found.codes.tolist(), found.offsets.tolist()
    return frozenset(_bits(codes[start:stop]) for start, stop in pairwise(offsets))


def _bits(codes: Sequence[int]) -> int:
    return sum(1 << code for code in codes)


def _codes(bits: int) -> Side:
    return tuple(code for code in range(bits.bit_length()) if bits >> code & 1)
