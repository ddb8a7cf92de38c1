# SPDX-License-Identifier: MIT
"""Which intervals of itemsets lie inside no other: [I, J] lies in [H, L] when H ⊆ I and J ⊆ L."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, WordGrid
from sfumato.kernels.compilation import compile_cached, record

INTERVAL_COUNT, ENTRIES = 0, 1
"""Places in `state`: how many intervals are kept so far, and how many entries their lists have."""


@record
class ItemIntervals(NamedTuple):
    """Interval i is the bits `inner[i]` and `outer[i]`, and its outer set once more in `codes`."""

    inner: WordGrid
    outer: WordGrid
    offsets: Ints
    codes: Codes


@record
class KeptIntervals(NamedTuple):
    """For each item the list of kept intervals whose outer set holds it: `head`, then `next_entry`."""

    head: Ints
    counts: Ints
    """How many entries each item has."""
    owner: Ints
    """Which interval each entry is."""
    next_entry: Ints
    state: Ints


@compile_cached("void(ItemIntervals, KeptIntervals, int64, int64, uint8[::1])")
def keep_widest(intervals, lists, begin, end, kept_mask):
    """Mark in `kept_mask` which intervals from `begin` up to `end` lie inside none; wider ones come first."""
    inner, outer, offsets, codes = intervals.inner, intervals.outer, intervals.offsets, intervals.codes
    head, count, owner, next_entry, state = lists.head, lists.counts, lists.owner, lists.next_entry, lists.state
    words = inner.shape[1]
    for index in range(begin, end):
        rarest = codes[offsets[index]]
        for position in range(offsets[index], offsets[index + 1]):
            if count[codes[position]] < count[rarest]:
                rarest = codes[position]
        entry = head[rarest]
        is_inside = False
        while entry >= 0 and not is_inside:
            other = owner[entry]
            is_inside = True
            for word in range(words):
                excess_bits = (outer[index, word] & ~outer[other, word]) | (inner[other, word] & ~inner[index, word])
                if excess_bits != np.uint64(0):
                    is_inside = False
                    break
            entry = next_entry[entry]
        if is_inside:
            continue
        kept_mask[index] = 1
        state[INTERVAL_COUNT] += 1
        for position in range(offsets[index], offsets[index + 1]):
            item = codes[position]
            entry = state[ENTRIES]
            owner[entry], next_entry[entry] = index, head[item]
            head[item] = entry
            count[item] += 1
            state[ENTRIES] += 1
