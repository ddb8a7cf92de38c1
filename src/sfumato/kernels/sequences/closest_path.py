# SPDX-License-Identifier: MIT
"""The path of a prefix tree that has the longest subsequence in common with a sequence.

A longest common subsequence is computed 64 positions at a time (Hyyrö 2004): the row of the dynamic program for a path
is a bit vector, and each node of the tree changes its parent's row by one addition. A row also shows how many levels a
path must still have to win, and children are visited from the highest on, so that all that are too low are skipped at
once. Short sequences are searched for several at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Flags, Ints, WordGrid
from sfumato.kernels.baskets.itemsets_bits import compile_kernel, part
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached, record
from sfumato.kernels.sequences.closest_batch import (
    LANES,
    MOST_POSITIONS,
    BatchSearch,
    empty_batch,
    fill_batch,
    search_batch,
)
from sfumato.kernels.sequences.path_trees import NodeGroups, SearchTree, merge_tree

SHARE_OF_STEP = 2
"""A step of a search takes as long as merging so many nodes."""


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
    rows: WordGrid
    """For each depth, the row of the dynamic program."""
    common: Ints
    """For each depth, the length of the longest common subsequence."""
    stops: Ints
    """For each depth, where the nodes below the node there end."""
    lowest: Ints
    """For each depth, the least height with which a child of the node there can win."""


@record
class SearchScratch(NamedTuple):
    """Scratch space for both searches, and for a smaller tree."""

    single: PathSearch
    batch: BatchSearch
    members: Flags
    """The labels that the smaller tree holds."""
    place_of: Ints
    groups: NodeGroups
    merged: SearchTree


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
def _count_levels(search, depth, length, height, wanted):  # type: ignore[no-untyped-def]
    """The least number of levels below a node with which a path can have so much in common; more than it has if none.

    A level more adds at most one and leaves at most one position less to what is matched so far, so that more levels
    are never worse.
    """
    levels = max(wanted - search.common[depth], np.int64(1))
    while levels <= height and _bound_common(search, depth, length, levels) < wanted:
        levels += 1
    return levels


@part
def _search_tree(tree, count, search, length, words, best):  # type: ignore[no-untyped-def]
    """The node whose path wins, and how many steps it took to find it."""
    search.common[0], search.stops[0], search.lowest[0] = 0, count, 0
    node, steps = np.int64(1), np.int64(0)
    while node < count:
        steps += 1
        depth, height = np.int64(tree.levels[node]), np.int64(tree.heights[node])
        common = search.common[depth - 1]
        if height < search.lowest[depth - 1] or common + 1 + height < best.common:
            node = search.stops[depth - 1]  # no sibling that is left is higher
            continue
        extended = _extend_row(search, depth, tree.labels[node], words)
        if extended > common:
            common = extended
            if _beats(best, tree, node, common):
                best = _ClosestPath(
                    np.int64(tree.nodes[node]), common, np.int64(tree.depths[node]), np.int64(tree.supports[node])
                )
        end = np.int64(tree.ends[node])
        if common + height >= best.common:
            search.common[depth] = common
            wanted = best.common + (0 if _draws_level(best, tree, node, common) else 1)
            levels = _count_levels(search, depth, length, height, wanted)
            if levels <= height:
                search.stops[depth], search.lowest[depth] = end, levels - 1
                end = node + 1
        node = end
    return best.node, steps


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
def _find_closest_path(tree, searched, count, cut, number, search):  # type: ignore[no-untyped-def]
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
    found = _search_tree(searched, count, search, length, words, best)
    for place in range(length):
        for word in range(words):
            search.masks[cut.labels[begin + place], word] = 0
    return found


@part
def _end_batch(cut, first, last):  # type: ignore[no-untyped-def]
    """The sequence after those that are searched for together with the first one: several short ones, or a long one."""
    number = first
    while number < min(first + LANES, last) and cut.offsets[number + 1] - cut.offsets[number] <= MOST_POSITIONS:
        number += 1
    return max(number, first + 1)


@part
def _find_paths(tree, searched, count, cut, first, last, scratch, closest):  # type: ignore[no-untyped-def]
    """Search for the paths of a batch; returns how many steps it took."""
    if cut.offsets[first + 1] - cut.offsets[first] > MOST_POSITIONS:
        closest[first], steps = _find_closest_path(tree, searched, count, cut, first, scratch.single)
        return steps
    fill_batch(tree, cut, first, last, scratch.batch)
    steps = search_batch(searched, count, scratch.batch)
    for number in range(first, last):
        closest[number] = scratch.batch.best_node[number - first]
    empty_batch(cut, first, last, scratch.batch)
    return steps


@compile_kernel("void(PathTree, SearchTree, CutSequences, SearchScratch, int64, int64, int64[::1])")
def find_closest_paths(tree, whole, cut, scratch, first, last, closest):  # type: ignore[no-untyped-def]
    """The last node of the winning path of each sequence; the root if no path has anything in common with it.

    `whole` is the prefix tree. A smaller one is made for sequences of the same labels as soon as a search in the whole
    one was long enough for it to pay off in the rest of their run.
    """
    nodes, count = tree.labels.shape[0], np.int64(0)
    members, member, number = scratch.members, np.int64(-1), np.int64(first)
    while number < last:
        is_merged = member >= 0 and cut.runs[member] == cut.runs[number]
        begin, number = number, _end_batch(cut, number, min(cut.runs[number], last) if is_merged else last)
        for other in range(begin, number):
            is_merged = is_merged and _has_members_only(cut, other, members)
        if is_merged:
            _find_paths(tree, scratch.merged, count, cut, begin, number, scratch, closest)
            continue
        steps = _find_paths(tree, whole, nodes, cut, begin, number, scratch, closest)
        if number < last and SHARE_OF_STEP * steps * (min(cut.runs[number], last) - number) > LANES * nodes:
            if member >= 0:
                _set_members(cut, member, members, False)
            member = number
            _set_members(cut, member, members, True)
            count = merge_tree(tree, members, scratch.place_of, scratch.single.stops, scratch.groups, scratch.merged)
    if member >= 0:
        _set_members(cut, member, members, False)


@compile_cached("void(PathTree, CutSequences, int64, int64, int64, int64[::1])")
def count_containing_paths(tree, cut, first, last, enough, counts):  # type: ignore[no-untyped-def]
    """How many sequences that end in the tree contain each of some others; counting stops at `enough`."""
    deepest = tree.depths.max()
    matched = np.zeros(deepest + 1, dtype=np.int64)
    missing = np.zeros(deepest + 1, dtype=np.uint64)
    for number in range(first, last):
        begin, length = cut.offsets[number], cut.offsets[number + 1] - cut.offsets[number]
        missing[length] = 0
        for place in range(length - 1, -1, -1):
            missing[place] = missing[place + 1] | np.uint64(1) << np.uint64(cut.labels[begin + place] % 64)
        total, node = 0, 1
        while node < len(tree.labels) and total < enough:
            depth = tree.depths[node]
            place = matched[depth - 1]
            if missing[place] & ~tree.below[node]:
                node = tree.ends[node]
                continue
            place += tree.labels[node] == cut.labels[begin + place]
            matched[depth] = place
            if place == length:
                total += tree.supports[node]  # so does everything below
            skips = place + tree.heights[node] < length or place == length
            node = tree.ends[node] if skips else node + 1
        counts[number] = total
