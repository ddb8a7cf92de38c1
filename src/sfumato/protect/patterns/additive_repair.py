# SPDX-License-Identifier: MIT
"""Additive repair: raise supports as if some baskets occurred k more times.

A pattern of fewer than k people is hidden among k invented baskets that hold the items it includes and none that it
excludes. Counts only grow, so no safe pattern becomes small, and one such basket serves every pattern that it fits. All
published supports are those of one database and cannot contradict one another. After Atzori, Bonchi, Giannotti,
Pedreschi, *Blocking anonymity threats raised by frequent itemset mining* (2005).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np

from sfumato.baskets import Baskets
from sfumato.mine.baskets.itemsets import Itemsets, find_itemsets
from sfumato.mine.patterns.derivability import Conjunction, SupportReasoning, reason_from_supports, reason_jointly
from sfumato.patterns import Patterns
from sfumato.runtime.progress import report_progress

ConjunctionCodes = tuple[int, ...]


@dataclass(frozen=True)
class RaisedPatterns:
    """Safe patterns, and what was added to make them safe."""

    patterns: Patterns
    added_baskets: tuple[tuple[ConjunctionCodes, int], ...]
    """Invented baskets, as indices into the vocabulary, and the count of each."""
    rounds: int
    complete: bool
    """Whether all databases that agree were considered."""


@dataclass(frozen=True)
class RepairTarget:
    """A pattern that needs k more baskets, as bits of its items."""

    present: int
    absent: int


def raise_supports(data: Baskets, least: int, k: int, deadline: float = inf) -> RaisedPatterns:
    """Add baskets until no published support discloses a pattern of fewer than k, as far as can be reasoned in time."""
    added_baskets: list[tuple[ConjunctionCodes, int]] = []
    rounds = 0
    while True:
        report_progress("raising supports", rounds)
        more = add_baskets(data, added_baskets)
        itemsets = find_itemsets(more, least)
        patterns = Patterns(itemsets.items, itemsets.offsets, itemsets.codes, itemsets.supports, itemsets.rows, least)
        targets = list_targets(more, patterns, k)
        if not targets:
            jointly = reason_jointly(patterns, k, more, deadline)
            targets = [_target_conjunction(more, forced_pattern.conjunctions[0]) for forced_pattern in jointly.patterns]
            if not targets:
                return RaisedPatterns(patterns, tuple(added_baskets), rounds, jointly.complete)
        # The vocabulary stays the same: added baskets hold existing items only.
        added_baskets += [(basket, k) for basket in choose_covering_baskets(targets, _collect_frequent_masks(itemsets))]
        rounds += 1


def add_baskets(data: Baskets, added_baskets: Sequence[tuple[ConjunctionCodes, int]]) -> Baskets:
    """The baskets and the added ones."""
    lengths = [len(basket) for basket, copies in added_baskets for _ in range(copies)]
    codes = [code for basket, copies in added_baskets for _ in range(copies) for code in basket]
    offsets = np.concatenate((data.offsets, data.offsets[-1] + np.cumsum(lengths, dtype=np.int64)))
    return Baskets(data.items, offsets, np.concatenate((data.codes, np.array(codes, dtype=np.int32))))


def list_targets(data: Baskets, patterns: Patterns, k: int) -> list[RepairTarget]:
    """The patterns that need more baskets: all that follow from one unknown at a time."""
    item_codes = {item: code for code, item in enumerate(data.items)}
    codes = [item_codes[item] for item in patterns.items]
    inferences = reason_from_supports(patterns, k)
    return list(dict.fromkeys(_list_reasoned_targets(data, inferences, codes)))


def _target_conjunction(data: Baskets, pattern: Conjunction) -> RepairTarget:
    item_codes = {item: code for code, item in enumerate(data.items)}
    return RepairTarget(*(_pack_mask([item_codes[item] for item in side]) for side in pattern))


def _list_reasoned_targets(data: Baskets, inferences: SupportReasoning, codes: Sequence[int]) -> Iterator[RepairTarget]:
    from sfumato.kernels.patterns.small_patterns import (
        DERIVED,
        EITHER_SET,
        EXACT,
        RECORD_ITEM,
        RECORD_KIND,
        RECORD_MASK,
        RECORD_NODE,
        RECORD_OTHER,
    )

    maximal = inferences.known_sets.flag_maximal()
    for kind, node, item, mask, other in inferences.records[
        :, [RECORD_KIND, RECORD_NODE, RECORD_ITEM, RECORD_MASK, RECORD_OTHER]
    ].tolist():
        # A basket that fits the longest pattern fits all its subpatterns.
        if kind == DERIVED or (kind == EXACT and not maximal[node]):
            continue
        members = [codes[code] for code in (*inferences.known_sets.list_members(node), *(() if item < 0 else (item,)))]
        target = _build_target(members, mask)
        # Of two patterns known together, raise the one that occurs.
        yield (
            _build_target(members, other) if kind == EITHER_SET and not _count_target_baskets(data, target) else target
        )


def _build_target(members: Sequence[int], mask: int) -> RepairTarget:
    present_codes = [code for index, code in enumerate(members) if mask >> index & 1]
    return RepairTarget(_pack_mask(present_codes), _pack_mask(members) & ~_pack_mask(present_codes))


def _count_target_baskets(data: Baskets, target: RepairTarget) -> int:
    """Count the baskets that fit a pattern."""
    present_codes, absent_codes = _unpack_mask(target.present), _unpack_mask(target.absent)
    worth = np.zeros(len(data.items), dtype=np.int64)
    worth[list(present_codes)] = 1
    worth[list(absent_codes)] = -len(data.items) - 1
    rows = np.repeat(np.arange(len(data)), np.diff(data.offsets))
    sums = np.bincount(rows, weights=worth[data.codes], minlength=len(data))
    return int((sums == len(present_codes)).sum())


def choose_covering_baskets(targets: Sequence[RepairTarget], frequent: frozenset[int]) -> list[ConjunctionCodes]:
    """Baskets that together fit every target: greedily, as few baskets with as few items as possible.

    Targets share a basket if no item must be both present and absent. Together they are a frequent set, so no
    unpublished support grows.
    """
    open_targets = sorted(targets, key=lambda target: (-target.present.bit_count(), target.present, target.absent))
    chosen_baskets = []
    while open_targets:
        report_progress("choosing baskets to add", len(targets) - len(open_targets), len(targets))
        present, absent, remaining_targets = open_targets[0].present, open_targets[0].absent, []
        for target in open_targets[1:]:
            joint_mask = present | target.present
            fits = not joint_mask & (absent | target.absent) and (joint_mask == present or joint_mask in frequent)
            if fits:
                present, absent = joint_mask, absent | target.absent
            else:
                remaining_targets.append(target)
        chosen_baskets.append(_unpack_mask(present))
        open_targets = remaining_targets
    return chosen_baskets


def _collect_frequent_masks(itemsets: Itemsets) -> frozenset[int]:
    codes, offsets = itemsets.codes.tolist(), itemsets.offsets.tolist()
    return frozenset(_pack_mask(codes[start:stop]) for start, stop in pairwise(offsets))


def _pack_mask(codes: Sequence[int]) -> int:
    return sum(1 << code for code in codes)


def _unpack_mask(bits: int) -> ConjunctionCodes:
    return tuple(code for code in range(bits.bit_length()) if bits >> code & 1)
