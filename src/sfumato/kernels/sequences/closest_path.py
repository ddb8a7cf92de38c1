# SPDX-License-Identifier: MIT
"""The path of a prefix tree that has the longest subsequence in common with a sequence.

A longest common subsequence is computed 64 positions at a time (Hyyrö 2004): the row of the dynamic program for a path
is a bit vector, and each node of the tree changes its parent's row by one addition. Children are visited from the
highest on: as soon as the height of one shows that nothing below it can win, its lower siblings are skipped as well. A
subtree that could only draw level is skipped unless a path of the right length in it has more support.
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
    child_offsets: Ints
    """The children of node i are ``children[child_offsets[i]:child_offsets[i + 1]]``, the highest first."""
    children: Ints
    top_offsets: Ints
    tops: Ints
    """The most support so many levels below node i: ``tops[top_offsets[i] + levels]``, not for all levels."""


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
    nodes: Ints
    """For each depth, the node on the way."""
    cursors: Ints
    """For each depth, the next child of that node."""


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


@compile_cached("void(int64[::1], int64[::1], int64[::1], int64[::1])")
def collect_tops(parents, supports, offsets, tops):  # type: ignore[no-untyped-def]
    """Fill in the most support some levels below each node, as far as the offsets leave room."""
    for node in range(len(parents) - 1, -1, -1):
        tops[offsets[node]] = supports[node]
        parent = parents[node]
        if parent < 0:
            continue
        room = offsets[parent + 1] - offsets[parent] - 1
        for level in range(min(offsets[node + 1] - offsets[node], room)):
            above = offsets[parent] + level + 1
            tops[above] = max(tops[above], tops[offsets[node] + level])


@record
class ClosestPath(NamedTuple):
    """The path that wins so far, by its last node."""

    node: int
    common: int
    depth: int
    support: int


@compile_cached("boolean(ClosestPath, int64, int64, int64, int64)")
def _beats(best, node, common, depth, support):  # type: ignore[no-untyped-def]
    """Whether a path wins: longest in common, then shortest path, then most support, then first in order."""
    if common != best.common:
        return common > best.common
    if depth != best.depth:
        return depth < best.depth
    return support > best.support or (support == best.support and node < best.node)


@compile_cached("boolean(ClosestPath, int64, int64, int64, int64)")
def _draws_level(best, node, common, depth, top):  # type: ignore[no-untyped-def]
    """Whether a path below a node can still win if it has no more in common than the best: each level must match."""
    levels = best.common - common
    if levels == 0 or depth + levels != best.depth:
        return levels > 0 and depth + levels < best.depth
    return top > best.support or (top == best.support and node < best.node)


@compile_cached("int64(PathTree, PathSearch, int64, int64, int64)")
def _search_tree(tree, search, length, start, words):  # type: ignore[no-untyped-def]
    """The node whose path wins."""
    begins = tree.depths[start]
    best = ClosestPath(start, begins, begins, int(tree.supports[start]) if start else -1)
    search.nodes[0], search.cursors[0] = 0, tree.child_offsets[0]
    depth = 1
    while depth > 0:
        cursor = search.cursors[depth - 1]
        common = search.common[depth - 1]
        if cursor == tree.child_offsets[search.nodes[depth - 1] + 1]:
            depth -= 1
            continue
        node = tree.children[cursor]
        search.cursors[depth - 1] = cursor + 1
        height = tree.heights[node]
        if common + 1 + height < best.common:  # and no sibling that is left is higher
            depth -= 1
            continue
        label = tree.labels[node]
        search.row_of[depth] = search.row_of[depth - 1]
        if search.masks[label, words] and common < length:
            extended = _extend_row(search, depth, label, words)
            if extended > common:
                common = extended
                if _beats(best, node, common, depth, tree.supports[node]):
                    best = ClosestPath(node, common, depth, tree.supports[node])
        most = min(common + height, length)
        if most == best.common:
            levels = min(best.common - common, tree.top_offsets[node + 1] - tree.top_offsets[node] - 1)
            top = tree.tops[tree.top_offsets[node] + levels]
            opens = _draws_level(best, node, common, depth, top)
        else:
            opens = most > best.common
        if height and opens:
            search.common[depth] = common
            search.nodes[depth], search.cursors[depth] = node, tree.child_offsets[node]
            depth += 1
    return best.node


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
