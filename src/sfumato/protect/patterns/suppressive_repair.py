# SPDX-License-Identifier: MIT
"""Suppressive repair: withhold itemsets until the rest discloses no small pattern; every support stays true.

An itemset is withheld together with all its supersets. That is no more than necessary: the largest set of an inference
channel must always go, whichever set is withheld. But the remaining sets often bound a withheld one, so its bounds are
computed as an adversary would, and more is withheld if they are too tight.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf

import numpy as np

from sfumato.arrays import Flags, Ints, Words
from sfumato.baskets import Baskets
from sfumato.mine.patterns.derivability import (
    ForcedPattern,
    SupportReasoning,
    reason_from_supports,
    reason_jointly,
)
from sfumato.mine.patterns.known_sets import KnownSets
from sfumato.patterns import Patterns
from sfumato.runtime.progress import report_progress


@dataclass(frozen=True)
class WithheldPatterns:
    """Safe patterns, and how often sets were withheld to make them safe."""

    patterns: Patterns
    rounds: int
    complete: bool
    """Whether all databases that agree were considered."""


def withhold_itemsets(patterns: Patterns, k: int, data: Baskets, deadline: float = inf) -> WithheldPatterns:
    """Withhold itemsets until no pattern of fewer than k follows, as far as can be reasoned until a time."""
    kept_patterns = patterns.take(np.arange(len(patterns)))
    rounds = 0
    while len(kept_patterns):
        report_progress("withholding itemsets", len(patterns) - len(kept_patterns), len(patterns))
        withheld_rows = _choose_rows_to_withhold(kept_patterns, k)
        if not len(withheld_rows):
            jointly = reason_jointly(kept_patterns, k, data, deadline)
            if not jointly.patterns:
                return WithheldPatterns(kept_patterns, rounds, jointly.complete)
            withheld_rows = _choose_overlapping_set(kept_patterns, jointly.patterns[0])
        kept_patterns = _drop_supersets(kept_patterns, withheld_rows)
        rounds += 1
    return WithheldPatterns(kept_patterns, rounds, complete=True)


def _drop_supersets(patterns: Patterns, withheld_rows: Ints) -> Patterns:
    """The patterns without some sets and all their supersets."""
    kept_patterns = patterns.take(np.delete(np.arange(len(patterns)), withheld_rows))
    known_sets = KnownSets.of(kept_patterns.offsets, kept_patterns.codes, kept_patterns.supports, kept_patterns.baskets)
    return kept_patterns.take(known_sets.rows[1:])


def _choose_rows_to_withhold(patterns: Patterns, k: int) -> Ints:
    """Sets to withhold because of what follows from one unknown at a time."""
    from sfumato.kernels.patterns.small_patterns import DERIVED, EXACT, RECORD_KIND, RECORD_NODE

    inferences = reason_from_supports(patterns, k, until_found=True)
    records = inferences.records
    channels = inferences.known_sets.rows[np.unique(records[records[:, RECORD_KIND] == EXACT, RECORD_NODE])]
    published_rows: Ints = channels[channels < inferences.published_count]
    if len(published_rows):
        return published_rows
    bounded_records = records[records[:, RECORD_KIND] != DERIVED]
    if len(bounded_records):
        return _choose_cheapest_subsets(patterns, inferences, bounded_records)
    return np.zeros(0, dtype=np.int64)


def _choose_cheapest_subsets(patterns: Patterns, inferences: SupportReasoning, records: Ints) -> Ints:
    """For every set that is bounded too tightly, withhold a published subset, greedily by benefit per cost."""
    from sfumato.kernels.patterns.small_patterns import RECORD_ITEM, RECORD_NODE

    bits = _pack_pattern_bits(patterns)
    open_choices = [
        _list_largest_inside(bits, {*inferences.known_sets.list_members(node), *(() if item < 0 else (item,))})
        for node, item in np.unique(records[:, [RECORD_NODE, RECORD_ITEM]], axis=0).tolist()
    ]
    cost = {row: int(_flag_containing(bits, bits[row]).sum()) for row in {row for rows in open_choices for row in rows}}
    chosen_rows = []
    while open_choices:
        row_counts = Counter(row for rows in open_choices for row in rows)
        best = max(row_counts, key=lambda row: (row_counts[row] / cost[row], -int(patterns.supports[row]), -row))
        chosen_rows.append(best)
        open_choices = [rows for rows in open_choices if best not in rows]
    return np.array(chosen_rows, dtype=np.int64)


def _list_largest_inside(bits: Words, members: set[int]) -> frozenset[int]:
    """The maximal published subsets of some items."""
    whole = _pack_members(members, bits.shape[1])
    subset_rows = np.flatnonzero(((bits & ~whole) == 0).all(axis=1))
    rows = bits[subset_rows]
    largest = [index for index in range(len(subset_rows)) if _flag_containing(rows, rows[index]).sum() == 1]
    return frozenset(subset_rows[largest].tolist())


def _choose_overlapping_set(patterns: Patterns, forced_pattern: ForcedPattern) -> Ints:
    """Of the maximal published sets, the one that overlaps a pattern most."""
    bits = _pack_pattern_bits(patterns)
    item_codes = {item: code for code, item in enumerate(patterns.items)}
    pattern_bits = _pack_members(
        {
            item_codes[item]
            for item in (*forced_pattern.conjunctions[0].present, *forced_pattern.conjunctions[0].absent)
        },
        bits.shape[1],
    )
    shared_counts = np.bitwise_count(bits & pattern_bits).sum(axis=1).astype(np.int64)
    largest = [row for row in range(len(patterns)) if _flag_containing(bits, bits[row]).sum() == 1]
    best = max(largest, key=lambda row: (int(shared_counts[row]), -int(patterns.supports[row]), -row))
    return np.array([best], dtype=np.int64)


def _pack_pattern_bits(patterns: Patterns) -> Words:
    rows = np.repeat(np.arange(len(patterns)), np.diff(patterns.offsets))
    bits = np.zeros((len(patterns), (len(patterns.items) + 63) // 64), dtype=np.uint64)
    code_bits = np.uint64(1) << (patterns.codes % 64).astype(np.uint64)
    np.bitwise_or.at(bits, (rows, patterns.codes // 64), code_bits)
    return bits


def _pack_members(members: set[int], words: int) -> Words:
    row = np.zeros(words, dtype=np.uint64)
    for code in members:
        row[code // 64] |= np.uint64(1 << code % 64)
    return row


def _flag_containing(bits: Words, members: Words) -> Flags:
    return np.asarray(((bits & members) == members).all(axis=1))
