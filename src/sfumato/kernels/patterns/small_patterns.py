# SPDX-License-Identifier: MIT
"""Patterns whose supports are known to lie between 1 and k − 1: a walk over the tree of known sets.

Nodes are ordered level by level, each level in the order of its items, so that the children of a node are a run and the
runs follow one another. Node 0 is the empty set. At a set C of d items the walk holds, for each of its 2^d subsets, the
node of that subset and how many baskets hold exactly it among the items of C (inclusion-exclusion, one item at a time).
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import compile_cached

EXACT, FORCED_SET, EITHER_SET, DERIVED, CONTRADICTION = range(5)
"""Kinds of records: a pattern of a known set; one of an unknown set; two of them together; its support; none fits."""
RECORD_KIND, RECORD_NODE, RECORD_ITEM, RECORD_MASK, RECORD_OTHER, RECORD_LEAST, RECORD_MOST = range(7)
"""The columns of a record. The set is the node's, and the item where that is not −1; bit i of a mask is its item i."""
RECORD_WIDTH = 7


@compile_cached("int64(int64[::1], int32[::1], int64, int32)")
def _find_child(first_child, items, node, item):
    low, high = first_child[node], first_child[node + 1]
    while low < high:
        middle = (low + high) >> 1
        if items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low if low < first_child[node + 1] and items[low] == item else np.int64(-1)


@compile_cached("int64[:,::1](int64[:,::1], int64, int64, int64, int64, int64, int64, int64, int64)")
def _record_pattern(out, count, kind, node, item, mask, other, least, most):
    if count == out.shape[0]:
        larger = np.empty((2 * count, out.shape[1]), dtype=np.int64)
        larger[:count] = out
        out = larger
    out[count, RECORD_KIND], out[count, RECORD_NODE], out[count, RECORD_ITEM], out[count, RECORD_MASK] = (
        kind,
        node,
        item,
        mask,
    )
    out[count, RECORD_OTHER], out[count, RECORD_LEAST], out[count, RECORD_MOST] = other, least, most
    return out


@compile_cached("int64(int64[::1], int32[::1], int64[::1], int64, int64, int64, int32)")
def _join_item(first_child, items, subsets, nodes, target, depth, item):
    """The node of every subset with the item added; 0 if all are known, 1 if all but the whole set, else 2."""
    size = np.int64(1) << depth
    for mask in range(size - 2, -1, -1):
        node = _find_child(first_child, items, subsets[nodes + mask], item)
        if node < 0:
            return np.int64(2)
        subsets[target + mask] = node
    subsets[target + size - 1] = _find_child(first_child, items, subsets[nodes + size - 1], item)
    return np.int64(0) if subsets[target + size - 1] >= 0 else np.int64(1)


@compile_cached("void(int64[::1], int64, int64)")
def _count_exactly(counts, nodes, depth):
    """From "at least these items" to "exactly these"."""
    size = np.int64(1) << depth
    step = np.int64(1)
    while step < size:
        for begin in range(0, size, 2 * step):
            for mask in range(begin, begin + step):
                counts[nodes + mask] -= counts[nodes + mask + step]
        step *= 2


@compile_cached("int64[:,::1](int64[:,::1], int64[::1], int64, int64, int32, int64[::1], int8[::1], int64, int64)")
def _bound_unknown_set(out, count, depth, node, item, exact, odd, k, ceiling):
    """What is forced at a set of unknown support s, given every pattern of it at s = 0."""
    size = np.int64(1) << (depth + 1)
    full = size - 1
    lowest, highest = np.int64(0), np.int64(1 << 62)
    even, uneven = full, np.int64(-1)
    for mask in range(size):
        if odd[full ^ mask]:
            if exact[mask] < highest:
                highest, uneven = exact[mask], np.int64(mask)
        elif -exact[mask] > lowest:
            lowest, even = -exact[mask], np.int64(mask)
    top = highest if ceiling < 0 else min(highest, ceiling)
    if lowest > top:
        out = _record_pattern(out, count[0], CONTRADICTION, node, item, 0, 0, lowest, top)
        count[0] += 1
        return out
    if lowest == top:
        out = _record_pattern(out, count[0], DERIVED, node, item, full, 0, lowest, lowest)
        count[0] += 1
    if 0 < highest - lowest < k:
        out = _record_pattern(out, count[0], EITHER_SET, node, item, even, uneven, highest - lowest, highest - lowest)
        count[0] += 1
    for mask in range(size):
        if odd[full ^ mask]:
            least, most = exact[mask] - top, exact[mask] - lowest
        else:
            least, most = exact[mask] + lowest, exact[mask] + top
        if least >= 1 and most < k:
            out = _record_pattern(out, count[0], FORCED_SET, node, item, mask, 0, least, most)
            count[0] += 1
    return out


@compile_cached("int64[:,::1](int64[:,::1], int64[::1], int64[::1], int64, int64, int64[::1], int64[::1], int64)")
def _fill_known_set(out, count, supports, nodes, depth, subsets, exact, k):
    """Fill in the next level's rooms for a set whose subsets are all known, and what is small of it."""
    size = np.int64(1) << depth
    target = 2 * size - 1
    for mask in range(size):
        exact[target + size + mask] = supports[subsets[target + size + mask]]
    _count_exactly(exact, target + size, depth)
    for mask in range(size):
        subsets[target + mask] = subsets[nodes + mask]
        exact[target + mask] = exact[nodes + mask] - exact[target + size + mask]
    node = subsets[target + 2 * size - 1]
    for mask in range(2 * size):
        if 0 < exact[target + mask] < k:
            out = _record_pattern(out, count[0], EXACT, node, -1, mask, 0, exact[target + mask], exact[target + mask])
            count[0] += 1
    return out


@compile_cached(
    "int64[:,::1](int64[::1], int32[::1], int64[::1], int64, int64, int64, int64, int64[::1], int64[::1], int8[::1])"
)
def find_small_patterns(first_child, items, supports, top, k, border, ceiling, subsets, exact, odd):
    """Records of every set whose first item is that of `top`, a child of node 0.

    `border` 0 looks at known sets alone, 1 also at unknown ones whose proper subsets are all known. `ceiling` is the
    largest support that an unknown set can have, −1 if nobody knows. `subsets` and `exact` are room for 2^(d + 2)
    numbers, d being the depth of the tree, and `odd` says of 2^(d + 1) masks whether they have an odd number of bits.
    """
    out = np.empty((64, RECORD_WIDTH), dtype=np.int64)
    count = np.zeros(1, dtype=np.int64)
    path = np.zeros(64, dtype=np.int64)
    sibling = np.zeros(64, dtype=np.int64)
    trial = np.empty(subsets.shape[0], dtype=np.int64)
    subsets[0], exact[0] = 0, supports[0]
    subsets[2] = top
    out = _fill_known_set(out, count, supports, 0, 0, subsets, exact, k)
    depth = np.int64(1)
    path[1], sibling[1] = top, top + 1
    while depth > 0:
        node, other = path[depth], sibling[depth]
        if other >= first_child[path[depth - 1] + 1]:
            depth -= 1
            continue
        sibling[depth] += 1
        item = items[other]
        size = np.int64(1) << depth
        # Of two items whose own patterns are safe nothing follows, unless one is everywhere or what is unknown is rare.
        support_sum = supports[node] + supports[other]
        safe = border == 0 or (
            max(supports[node], supports[other]) < supports[0]
            and (ceiling < 0 or (ceiling >= k and support_sum <= supports[0]))
        )
        if depth == 1 and safe and _find_child(first_child, items, node, item) < 0:
            continue
        missing = _join_item(first_child, items, subsets, size - 1, 3 * size - 1, depth, item)
        if missing == 0:
            out = _fill_known_set(out, count, supports, size - 1, depth, subsets, exact, k)
            depth += 1
            path[depth] = subsets[4 * size - 2]
            sibling[depth] = path[depth] + 1
        elif missing == 1 and border == 1:
            for mask in range(size - 1):
                trial[size + mask] = supports[subsets[3 * size - 1 + mask]]
            trial[2 * size - 1] = 0
            _count_exactly(trial, size, depth)
            for mask in range(size):
                trial[mask] = exact[size - 1 + mask] - trial[size + mask]
            out = _bound_unknown_set(out, count, depth, node, item, trial, odd, k, ceiling)
    return out[: count[0]].copy()
