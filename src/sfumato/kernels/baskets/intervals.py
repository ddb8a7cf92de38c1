# SPDX-License-Identifier: MIT
"""Which intervals of itemsets lie inside no other: [I, J] lies in [H, L] when H ⊆ I and J ⊆ L."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compiled import compiled

KEPT, ENTRIES = 0, 1
"""Places in `state`: how many intervals are kept so far, and how many entries their lists have."""


@compiled(
    "void(uint64[:,::1], uint64[:,::1], int64[::1], int32[::1], int64, int64, "
    "uint8[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)
def keep_widest(inner, outer, offsets, codes, begin, end, kept, head, count, owner, following, state):  # type: ignore[no-untyped-def]
    """Mark in `kept` which intervals from `begin` up to `end` lie inside none; wider ones come before narrower ones.

    Interval i is the bits `inner[i]` and `outer[i]`, and its outer set once more in `codes`. For each item `head` and
    `following` list the kept intervals whose outer set holds it, `owner` says which each entry is, `count` how many.
    """
    words = inner.shape[1]
    for at in range(begin, end):
        rarest = codes[offsets[at]]
        for place in range(offsets[at], offsets[at + 1]):
            if count[codes[place]] < count[rarest]:
                rarest = codes[place]
        entry = head[rarest]
        inside = False
        while entry >= 0 and not inside:
            other = owner[entry]
            inside = True
            for word in range(words):
                beyond = (outer[at, word] & ~outer[other, word]) | (inner[other, word] & ~inner[at, word])
                if beyond != np.uint64(0):
                    inside = False
                    break
            entry = following[entry]
        if inside:
            continue
        kept[at] = 1
        state[0] += 1
        for place in range(offsets[at], offsets[at + 1]):
            item = codes[place]
            entry = state[1]
            owner[entry], following[entry] = at, head[item]
            head[item] = entry
            count[item] += 1
            state[1] += 1
