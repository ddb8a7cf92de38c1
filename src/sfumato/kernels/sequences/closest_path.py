# SPDX-License-Identifier: MIT
"""The path of a prefix tree that has the longest subsequence in common with a sequence.

A longest common subsequence is computed 64 positions at a time (Hyyrö 2004): the row of the dynamic program for a path
is a bit vector, and each node of the tree changes its parent's row by one addition. A subtree is skipped as soon as its
height shows that nothing in it can win.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, WordGrid
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached, record


@record
class PathTree(NamedTuple):
    """A prefix tree in preorder, children by label; node 0 is the root."""

    labels: Codes
    depths: Ints
    ends: Ints
    """The node after the last one below each node."""
    heights: Ints
    """How many levels there are below each node."""
    supports: Ints
    """How many sequences pass each node."""


@record
class CutSequences(NamedTuple):
    """Sequences that look for a path, one after another."""

    labels: Codes
    offsets: Ints
    starts: Ints
    """The last node of the longest path that each sequence starts with."""


@record
class PathSearch(NamedTuple):
    """Scratch space: what is known on the way from the root to the current node."""

    masks: WordGrid
    """For each label, the positions of the sequence that hold it, and after these whether there are any."""
    rows: WordGrid
    """For each depth, the row of the dynamic program."""
    row_of: Ints
    """For each depth, the row that holds there: a label that the sequence lacks changes nothing."""
    common: Ints
    """For each depth, the length of the longest common subsequence."""


@compile_cached("int64(PathSearch, int64, int64, int64)")
def _extend_row(search, depth, label, words):  # type: ignore[no-untyped-def]
    """Compute the row at a depth from the one above; returns the length of the common subsequence."""
    above = search.row_of[depth - 1]
    carry = np.uint64(0)
    unmatched = np.uint64(0)
    for word in range(words):
        row = search.rows[above, word]
        mask = search.masks[label, word]
        hit = row & mask
        total = row + hit
        overflow = total < row
        again = total + carry
        carry = np.uint64(overflow or again < total)
        new = again | (row & ~mask)
        search.rows[depth, word] = new
        unmatched += popcount(~new)
    search.row_of[depth] = depth
    return np.int64(unmatched)


@compile_cached("int64(PathTree, PathSearch, int64, int64, int64)")
def _search_tree(tree, search, length, start, words):  # type: ignore[no-untyped-def]
    """The node whose path wins: longest in common, then shortest path, then most support, then first in order."""
    best, best_common, best_support = start, tree.depths[start], tree.supports[start]
    if start == 0:
        best_support = np.int64(-1)
    best_depth = tree.depths[best]
    node = 1
    while node < len(tree.labels):
        depth = tree.depths[node]
        label = tree.labels[node]
        common = search.common[depth - 1]
        search.row_of[depth] = search.row_of[depth - 1]
        if search.masks[label, words] and common < length:
            extended = _extend_row(search, depth, label, words)
            if extended > common:
                common = extended
                support = tree.supports[node]
                wins = common > best_common
                if common == best_common:
                    wins = depth < best_depth
                    if depth == best_depth:
                        wins = support > best_support or (support == best_support and node < best)
                if wins:
                    best, best_common, best_depth, best_support = node, common, depth, support
        search.common[depth] = common
        most = min(common + tree.heights[node], length)
        reach = depth + best_common - common  # how long a path below is at least, if it is to draw level
        lost = most < best_common
        if most == best_common:
            lost = common == best_common or reach > best_depth
            if reach == best_depth:
                lost |= tree.supports[node] < best_support or (tree.supports[node] == best_support and node > best)
        node = tree.ends[node] if lost else node + 1
    return best


@compile_cached("void(PathTree, CutSequences, PathSearch, int64, int64, int64[::1])")
def find_closest_paths(tree, cut, search, first, last, closest):  # type: ignore[no-untyped-def]
    """The last node of the winning path of each sequence; the root if no path has anything in common with it."""
    one = np.uint64(1)
    for number in range(first, last):
        begin, end = cut.offsets[number], cut.offsets[number + 1]
        words = (end - begin + 63) // 64
        for place in range(begin, end):
            mask = search.masks[cut.labels[place]]
            mask[(place - begin) // 64] |= one << np.uint64((place - begin) % 64)
            mask[words] = one
        for word in range(words):
            search.rows[0, word] = ~np.uint64(0)
        search.row_of[0] = 0
        search.common[0] = 0
        closest[number] = _search_tree(tree, search, end - begin, cut.starts[number], words)
        for place in range(begin, end):
            search.masks[cut.labels[place], : words + 1] = np.uint64(0)


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
