# SPDX-License-Identifier: MIT
"""The path of a prefix tree that has the longest subsequence in common with a sequence.

A longest common subsequence is computed 64 positions at a time (Hyyrö 2004): the row of the dynamic program for a path
is a bit vector, and each node of the tree changes its parent's row by one addition. A subtree is skipped if its height
shows that nothing below it can win. For sequences of the same labels the tree is first made smaller: other labels
change nothing, so they are left out, and paths that are then the same are searched once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Flags, Ints, WordGrid
from sfumato.kernels.baskets.itemsets_bits import compile_kernel, part
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached, record

SHARE_OF_STEP = 2
"""A step of a search takes as long as merging so many nodes."""


@record
class PathTree(NamedTuple):
    """A prefix tree in preorder; node 0 is the root."""

    labels: Codes
    parents: Ints
    depths: Ints
    ends: Ints
    """The node after the last one below each node."""
    heights: Ints
    """How many levels there are below each node."""
    supports: Ints
    """How many sequences pass each node."""


@record
class MergedTree(NamedTuple):
    """A tree to search, node 0 its root: the nodes of a prefix tree, or groups of them."""

    labels: Codes
    eldest: Ints
    """The first child of each node, or 0."""
    younger: Ints
    """The next child of its parent, or 0."""
    parents: Ints
    heights: Ints
    nodes: Ints
    """The node of the prefix tree that wins in its group: the shortest path, the most support, the first in order."""
    depths: Ints
    """And its depth."""
    supports: Ints
    """And its support."""
    tops: Ints
    """The most support of any node in the group."""


@record
class CutSequences(NamedTuple):
    """Sequences that look for a path, one after another; none is empty."""

    labels: Codes
    offsets: Ints
    starts: Ints
    """The last node of the longest path that each sequence starts with."""
    runs: Ints
    """For each sequence, the end of the run of those that have the same labels, or at least are likely to."""


@record
class PathSearch(NamedTuple):
    """Scratch space: a sequence, and what is known on the way from the root to the current node."""

    masks: WordGrid
    """For each label, the positions of the sequence that hold it."""
    members: Flags
    """The labels that the merged tree holds."""
    groups: Ints
    """For each node of the prefix tree, its group."""
    rows: WordGrid
    """For each depth, the row of the dynamic program."""
    common: Ints
    """For each depth, the length of the longest common subsequence."""
    cursors: Ints
    """For each depth, the next child of the node there."""


@part
def _extend_row(search, depth, label, words):  # type: ignore[no-untyped-def]
    """Compute the row at a depth from the one above; returns the length of the common subsequence."""
    carry = np.uint64(0)
    unmatched = np.uint64(0)
    for word in range(words):
        row = search.rows[depth - 1, word]
        mask = search.masks[label, word]
        total = row + (row & mask)
        overflow = total < row
        again = total + carry
        carry = np.uint64(overflow or again < total)
        new = again | (row & ~mask)
        search.rows[depth, word] = new
        unmatched += popcount(~new)
    return np.int64(unmatched)


@part
def _bound_common(search, depth, length, height):  # type: ignore[no-untyped-def]
    """The most that a path with so many more levels can have in common: they match at best the last positions."""
    left = length - height
    if left <= 0:
        return length
    matched, word = np.uint64(0), 0
    while left >= 64:
        matched += popcount(~search.rows[depth, word])
        left -= 64
        word += 1
    if left:
        matched += popcount(~search.rows[depth, word] & ((np.uint64(1) << np.uint64(left)) - np.uint64(1)))
    return np.int64(matched) + height


class _ClosestPath(NamedTuple):
    """The path that wins so far, by its last node."""

    node: np.int64
    common: np.int64
    depth: np.int64
    support: np.int64


@part
def _beats(best, tree, node, common):  # type: ignore[no-untyped-def]
    """Whether a path wins: longest in common, then shortest path, then most support, then first in order."""
    if common != best.common:
        return common > best.common
    if tree.depths[node] != best.depth:
        return tree.depths[node] < best.depth
    support = tree.supports[node]
    return support > best.support or (support == best.support and tree.nodes[node] < best.node)


@part
def _draws_level(best, tree, node, common):  # type: ignore[no-untyped-def]
    """Whether a path below a node can still win if it has no more in common than the best: each level must match."""
    levels = best.common - common
    depth = tree.depths[node] + levels
    return levels > 0 and (depth < best.depth or (depth == best.depth and tree.tops[node] >= best.support))


@part
def _search_tree(tree, search, length, words, best, is_by_height):  # type: ignore[no-untyped-def]
    """The node whose path wins, and how many steps it took to find it."""
    search.common[0], search.cursors[0] = 0, tree.eldest[0]
    depth, steps = 1, 0
    while depth > 0:
        node = search.cursors[depth - 1]
        if node == 0:
            depth -= 1
            continue
        steps += 1
        search.cursors[depth - 1] = tree.younger[node]
        common, height = search.common[depth - 1], tree.heights[node]
        if common + 1 + height < best.common:
            depth -= is_by_height  # then no sibling that is left is higher
            continue
        extended = _extend_row(search, depth, tree.labels[node], words)
        if extended > common:
            common = extended
            if _beats(best, tree, node, common):
                best = _ClosestPath(tree.nodes[node], common, tree.depths[node], tree.supports[node])
        if height == 0 or common + height < best.common:
            continue
        most = _bound_common(search, depth, length, height)
        if most > best.common or (most == best.common and _draws_level(best, tree, node, common)):
            search.common[depth], search.cursors[depth] = common, tree.eldest[node]
            depth += 1
    return best.node, steps


@part
def _find_group(merged, parent, label):  # type: ignore[no-untyped-def]
    """The child with a label, or 0."""
    child = merged.eldest[parent]
    while child and merged.labels[child] != label:
        child = merged.younger[child]
    return child


@part
def _merge_tree(tree, search, merged):  # type: ignore[no-untyped-def]
    """Leave out the labels that are no members, and make one group of the nodes whose paths are then the same."""
    merged.eldest[0], merged.heights[0], search.groups[0] = 0, 0, 0
    count = np.int64(1)
    for node in range(1, tree.labels.shape[0]):
        parent = search.groups[tree.parents[node]]
        label, depth, support = tree.labels[node], tree.depths[node], tree.supports[node]
        if not search.members[label]:
            search.groups[node] = parent
            continue
        group = _find_group(merged, parent, label)
        is_new = group == 0
        if is_new:
            group, count = count, count + 1
            merged.labels[group], merged.parents[group] = label, parent
            merged.younger[group], merged.eldest[parent] = merged.eldest[parent], group
            merged.eldest[group], merged.heights[group], merged.tops[group] = 0, 0, support
        search.groups[node] = group
        merged.tops[group] = max(merged.tops[group], support)
        best_depth = merged.depths[group]
        if is_new or depth < best_depth or (depth == best_depth and support > merged.supports[group]):
            merged.nodes[group], merged.depths[group], merged.supports[group] = node, depth, support
    for group in range(count - 1, 0, -1):
        parent = merged.parents[group]
        merged.heights[parent] = max(merged.heights[parent], merged.heights[group] + 1)


@part
def _set_members(cut, number, members, value):  # type: ignore[no-untyped-def]
    for place in range(cut.offsets[number], cut.offsets[number + 1]):
        members[cut.labels[place]] = value


@part
def _has_members_only(cut, number, members):  # type: ignore[no-untyped-def]
    for place in range(cut.offsets[number], cut.offsets[number + 1]):  # noqa: SIM110  (a generator does not compile)
        if not members[cut.labels[place]]:
            return False
    return True


@part
def _find_closest_path(tree, searched, cut, number, search, is_by_height):  # type: ignore[no-untyped-def]
    """The last node of the winning path of one sequence, and how many steps it took to find it."""
    begin, length = cut.offsets[number], cut.offsets[number + 1] - cut.offsets[number]
    words = (length + 63) // 64
    for place in range(length):
        search.masks[cut.labels[begin + place], place // 64] |= np.uint64(1) << np.uint64(place % 64)
    for word in range(words):
        search.rows[0, word] = ~np.uint64(0)
    start = cut.starts[number]
    begins = tree.depths[start]
    best = _ClosestPath(start, begins, begins, tree.supports[start] if start else np.int64(-1))
    found = _search_tree(searched, search, length, words, best, is_by_height)
    for place in range(length):
        for word in range(words):
            search.masks[cut.labels[begin + place], word] = 0
    return found


@compile_kernel("void(PathTree, MergedTree, MergedTree, CutSequences, PathSearch, int64, int64, int64[::1])")
def find_closest_paths(tree, whole, merged, cut, search, first, last, closest):  # type: ignore[no-untyped-def]
    """The last node of the winning path of each sequence; the root if no path has anything in common with it.

    `whole` is the prefix tree, children from the highest on; `merged` has room for a smaller one, which is made as soon
    as a search in the whole one was long enough for it to pay off in the rest of the run.
    """
    member = np.int64(-1)
    for number in range(first, last):
        run = cut.runs[number]
        if member >= 0 and cut.runs[member] == run and _has_members_only(cut, number, search.members):
            closest[number] = _find_closest_path(tree, merged, cut, number, search, 0)[0]
            continue
        closest[number], steps = _find_closest_path(tree, whole, cut, number, search, 1)
        if SHARE_OF_STEP * steps * (min(run, last) - number - 1) > tree.labels.shape[0]:
            if member >= 0:
                _set_members(cut, member, search.members, False)
            member = np.int64(number)
            _set_members(cut, member, search.members, True)
            _merge_tree(tree, search, merged)
    if member >= 0:
        _set_members(cut, member, search.members, False)


@compile_cached("void(PathTree, CutSequences, int64, int64, int64, int64[::1])")
def count_containing_paths(tree, cut, first, last, enough, counts):  # type: ignore[no-untyped-def]
    """How many sequences that end in the tree contain each of some others; counting stops at `enough`."""
    matched = np.zeros(tree.depths.max() + 1, dtype=np.int64)
    for number in range(first, last):
        begin, length = cut.offsets[number], cut.offsets[number + 1] - cut.offsets[number]
        total, node = 0, 1
        while node < len(tree.labels) and total < enough:
            depth = tree.depths[node]
            place = matched[depth - 1]
            place += tree.labels[node] == cut.labels[begin + place]
            matched[depth] = place
            if place == length:
                total += tree.supports[node]  # so does everything below
            skips = place + tree.heights[node] < length or place == length
            node = tree.ends[node] if skips else node + 1
        counts[number] = total
