# SPDX-License-Identifier: MIT
"""Suppressive repair: itemsets are withheld until what is left gives no small pattern away; every support stays true.

An itemset is withheld with all that contain it. That is no more than what must go: of the sets of an inference channel
the largest always goes, whichever is withheld. But a set that is withheld can often be bounded by those that are left,
so its bounds are looked at as an adversary would, and more is withheld where they are too close.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Flags, Ints, Words
from sfumato.baskets import Baskets
from sfumato.mine.patterns.derivability import EXACT_ITEMS, Forced, Reasoning, exactly_forced, reasoned
from sfumato.mine.patterns.known_sets import KnownSets
from sfumato.mine.patterns.worlds import world_of
from sfumato.patterns import Patterns
from sfumato.progress import tell


@dataclass(frozen=True)
class Withheld:
    """Patterns that are safe, and how often sets were withheld to make them so."""

    patterns: Patterns
    rounds: int


def withheld(patterns: Patterns, k: int, data: Baskets) -> Withheld:
    """Withhold itemsets until no pattern of fewer than k follows."""
    kept = patterns.chosen(np.arange(len(patterns)))
    rounds = 0
    while len(kept):
        tell("withholding itemsets", len(patterns) - len(kept), len(patterns))
        gone = _rows_to_withhold(kept, k, data)
        if not len(gone):
            break
        kept = _without(kept, gone)
        rounds += 1
    return Withheld(kept, rounds)


def _without(patterns: Patterns, gone: Ints) -> Patterns:
    """The patterns but for some, and all that contain one of those."""
    left = patterns.chosen(np.delete(np.arange(len(patterns)), gone))
    known = KnownSets.of(left.offsets, left.codes, left.supports, left.baskets)
    return left.chosen(known.rows[1:])


def _rows_to_withhold(patterns: Patterns, k: int, data: Baskets) -> Ints:
    from sfumato.kernels.patterns.small_patterns import DERIVED, EXACT, KIND, NODE

    reasoning = reasoned(patterns, k, until_found=True)
    records = reasoning.records
    channels = reasoning.known.rows[np.unique(records[records[:, KIND] == EXACT, NODE])]
    published: Ints = channels[channels < reasoning.published]
    if len(published):
        return published
    bounded = records[records[:, KIND] != DERIVED]
    if len(bounded):
        return _cheapest(patterns, reasoning, bounded)
    if not 0 < len(patterns.items) <= EXACT_ITEMS:
        return np.zeros(0, dtype=np.int64)
    forced = exactly_forced(patterns, k, world_of(data, patterns.items))
    return _overlapping(patterns, forced[0]) if forced else np.zeros(0, dtype=np.int64)


def _cheapest(patterns: Patterns, reasoning: Reasoning, records: Ints) -> Ints:
    """Of every set that is bounded too closely, withhold some published subset: greedily what serves most for least."""
    from sfumato.kernels.patterns.small_patterns import ITEM, NODE

    bits = _bit_rows(patterns)
    waiting = [
        _largest_inside(bits, {*reasoning.known.members(node), *(() if item < 0 else (item,))})
        for node, item in np.unique(records[:, [NODE, ITEM]], axis=0).tolist()
    ]
    cost = {row: int(_containing(bits, bits[row]).sum()) for row in {row for rows in waiting for row in rows}}
    chosen = []
    while waiting:
        served = Counter(row for rows in waiting for row in rows)
        best = max(served, key=lambda row: (served[row] / cost[row], -int(patterns.supports[row]), -row))
        chosen.append(best)
        waiting = [rows for rows in waiting if best not in rows]
    return np.array(chosen, dtype=np.int64)


def _largest_inside(bits: Words, members: set[int]) -> frozenset[int]:
    """The published sets inside some items that no other such set contains."""
    whole = _row_of(members, bits.shape[1])
    inside = np.flatnonzero(((bits & ~whole) == 0).all(axis=1))
    rows = bits[inside]
    largest = [at for at in range(len(inside)) if _containing(rows, rows[at]).sum() == 1]
    return frozenset(inside[largest].tolist())


def _overlapping(patterns: Patterns, forced: Forced) -> Ints:
    """Of the sets that nothing published contains, the one that has most to do with a pattern."""
    bits = _bit_rows(patterns)
    place = {item: code for code, item in enumerate(patterns.items)}
    about = _row_of({place[item] for item in (*forced.either[0].present, *forced.either[0].absent)}, bits.shape[1])
    shared = np.bitwise_count(bits & about).sum(axis=1).astype(np.int64)
    largest = [row for row in range(len(patterns)) if _containing(bits, bits[row]).sum() == 1]
    best = max(largest, key=lambda row: (int(shared[row]), -int(patterns.supports[row]), -row))
    return np.array([best], dtype=np.int64)


def _bit_rows(patterns: Patterns) -> Words:
    rows = np.repeat(np.arange(len(patterns)), np.diff(patterns.offsets))
    bits = np.zeros((len(patterns), (len(patterns.items) + 63) // 64), dtype=np.uint64)
    ones = np.uint64(1) << (patterns.codes % 64).astype(np.uint64)
    np.bitwise_or.at(bits, (rows, patterns.codes // 64), ones)
    return bits


def _row_of(members: set[int], words: int) -> Words:
    row = np.zeros(words, dtype=np.uint64)
    for code in members:
        row[code // 64] |= np.uint64(1 << code % 64)
    return row


def _containing(bits: Words, one: Words) -> Flags:
    return np.asarray(((bits & one) == one).all(axis=1))
