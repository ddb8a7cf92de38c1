# SPDX-License-Identifier: MIT
"""The path of a prefix tree that has the longest subsequence in common with a sequence, for many sequences at a time.

A longest common subsequence is computed 64 positions at a time (Hyyrö 2004): the row of the dynamic program for a path
is a bit vector, and each node of the tree changes its parent's row by one addition. A row also shows what a path with
some more levels can have in common at best. The tree is walked once for all sequences: each node has the list of those
that may still find a better path below it, and makes a shorter one for its children. The children come from the highest
on, so that who needs more levels leaves the list for all that follow. Lists are shortened without a branch that a
processor would have to guess.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, Words
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached, part, record
from sfumato.kernels.sequences.path_trees import SearchTree  # noqa: F401  (a signature names it)

MOST_LEVELS = (1 << 17) - 1
"""The deepest tree whose depths fit a rating."""
MOST_SUPPORT = (1 << 30) - 1
_ALL_BITS = ~np.uint64(0)


@record
class CutSequences(NamedTuple):
    """Sequences that look for a path, one after another; none is empty."""

    labels: Codes
    offsets: Ints
    words: Ints
    """How many words have a bit for each position of the sequence."""
    starts: Ints
    """The last node of the longest path that each sequence starts with."""
    depths: Ints
    """And its depth."""
    supports: Ints
    """And its support."""


@record
class PathSearch(NamedTuple):
    """Scratch space: some sequences with their best paths, and the lists on the way from the root to a node."""

    masks: Words
    """For each label and sequence, the positions that hold it; the highest bit is the last position."""
    lengths: Words
    ratings: Words
    """For each sequence, the rating of its best path."""
    best: Ints
    """And the last node of that."""
    rows: Words
    """For each listed sequence, the row of the dynamic program; the lists of all depths follow each other."""
    listed_sequences: Codes
    """Which sequence that is."""
    firsts: Words
    """The positions that some levels leave over if they match the last ones."""
    begins: Ints
    """For each depth, where its list begins; the next one says where it ends."""
    stops: Ints
    """For each depth, where the nodes below the node there end."""
    heights: Ints
    """For each depth, the height of the child that was reached; who needs a higher one has left the list."""
    depths: Ints
    """For each depth, the least depth in the prefix tree of the nodes that are grouped there."""
    tops: Ints
    """For each depth, the most support of those."""


@part
def _rate_path(common, depth, support):
    """A number that is higher for what wins: longest in common, then shortest path, then most support."""
    shortness = np.uint64(MOST_LEVELS) - np.uint64(depth)
    return np.uint64(common) << np.uint64(47) | shortness << np.uint64(30) | np.uint64(support)


class _PathBound(NamedTuple):
    """What a row has in common, and at most with some more levels."""

    common: np.uint64
    most: np.uint64


@part
def _rate_hope(hope, depth, top):
    """The best rating that a path below a node can have: each level that matches makes it longer, and there is one."""
    return _rate_path(hope.most, np.uint64(depth) + max(hope.most - hope.common, np.uint64(1)), top)


@part
def _leave_firsts(search, levels, words):
    """Note the positions that `levels` levels leave over."""
    for word in range(words):
        taken_count = levels - 64 * (words - 1 - word)
        search.firsts[word] = (
            _ALL_BITS
            if taken_count <= 0
            else (_ALL_BITS >> np.uint64(taken_count) if taken_count < 64 else np.uint64(0))
        )


@part
def _move_row(search, entry, end, words, most):
    """Copy a row to the end of a list; `most` is what the levels below can match."""
    if words == 1:
        row = search.rows[entry]
        search.rows[end] = row
        return _PathBound(popcount(~row), most + popcount(~row & search.firsts[0]))
    common = np.uint64(0)
    for word in range(words):
        row = search.rows[entry * words + word]
        search.rows[end * words + word] = row
        common += popcount(~row)
        most += popcount(~row & search.firsts[word])
    return _PathBound(common, most)


@part
def _extend_row(search, entry, end, masks, words, most):
    """Compute the row of a node from its parent's, and put it at the end of a list."""
    if words == 1:
        row, mask = search.rows[entry], search.masks[masks]
        row = (row + (row & mask)) | (row & ~mask)
        search.rows[end] = row
        return _PathBound(popcount(~row), most + popcount(~row & search.firsts[0]))
    common, carry = np.uint64(0), np.uint64(0)
    for word in range(words):
        row, mask = search.rows[entry * words + word], search.masks[masks + word]
        total = row + (row & mask)
        carried_total = total + carry
        carry = np.uint64((total < row) | (carried_total < total))
        row = carried_total | (row & ~mask)
        search.rows[end * words + word] = row
        common += popcount(~row)
        most += popcount(~row & search.firsts[word])
    return _PathBound(common, most)


@part
def _narrow_list(search, depth, levels, words):
    """Keep in the list those for which a path with at most `levels` levels below the node can win; returns its end."""
    _leave_firsts(search, levels, words)
    end = search.begins[depth]
    for entry in range(search.begins[depth], search.begins[depth + 1]):
        sequence = search.listed_sequences[entry]
        hope = _move_row(search, entry, end, words, min(np.uint64(levels), search.lengths[sequence]))
        search.listed_sequences[end] = sequence
        end += np.int64(_rate_hope(hope, search.depths[depth], search.tops[depth]) >= search.ratings[sequence])
    search.begins[depth + 1] = end
    return end


@part
def _extend_list(tree, node, count, words, search):
    """Let the path to a node win where it does, and list who may find a better one below it; returns the list's end."""
    level, height = np.int64(tree.levels[node]), np.int64(tree.heights[node])
    depth, top, number = np.int64(tree.depths[node]), np.int64(tree.tops[node]), np.int64(tree.nodes[node])
    support, masks = np.int64(tree.supports[node]), np.int64(tree.labels[node]) * count
    _leave_firsts(search, height, words)
    end = search.begins[level]
    for entry in range(search.begins[level - 1], search.begins[level]):
        sequence = search.listed_sequences[entry]
        best, levels = search.ratings[sequence], min(np.uint64(height), search.lengths[sequence])
        hope = _extend_row(search, entry, end, (masks + sequence) * words, words, levels)
        path_rating = _rate_path(hope.common, depth, support)
        if path_rating >= best and (path_rating > best or number < search.best[sequence]):
            search.ratings[sequence], search.best[sequence] = path_rating, number
            best = path_rating
        search.listed_sequences[end] = sequence
        end += np.int64(_rate_hope(hope, depth, top) >= best)
    return end


@part
def _search_lists(tree, count, words, search):
    """Find the best path of each of `count` sequences."""
    search.stops[0] = tree.labels.shape[0]
    node = np.int64(1)
    while node < search.stops[0]:
        level, height = np.int64(tree.levels[node]), np.int64(tree.heights[node])
        parent_level = level - 1
        if height < search.heights[parent_level]:
            search.heights[parent_level] = height
            if _narrow_list(search, parent_level, height + 1, words) == search.begins[parent_level]:
                node = search.stops[parent_level]  # no sibling that is left is higher
                continue
        end = _extend_list(tree, node, count, words, search)
        if height == 0 or end == search.begins[level]:
            node = np.int64(tree.ends[node])
            continue
        search.begins[level + 1], search.stops[level], search.heights[level] = end, tree.ends[node], height - 1
        search.depths[level], search.tops[level] = tree.depths[node], tree.tops[node]
        node += 1


@part
def _fill_lists(cut, first, last, words, search):
    """Take some sequences; what each starts with is its best path so far."""
    count = last - first
    for number in range(first, last):
        sequence, begin = number - first, cut.offsets[number]
        length = cut.offsets[number + 1] - begin
        search.lengths[sequence], search.best[sequence] = length, cut.starts[number]
        search.ratings[sequence] = _rate_path(cut.depths[number], cut.depths[number], cut.supports[number])
        search.listed_sequences[sequence] = sequence
        for word in range(words):
            search.rows[sequence * words + word] = _ALL_BITS
        for position in range(length):
            bit = 64 * words - length + position
            masks = (cut.labels[begin + position] * count + sequence) * words
            search.masks[masks + bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
    search.begins[0], search.begins[1], search.heights[0] = 0, count, MOST_LEVELS + 1
    search.depths[0], search.tops[0] = 0, MOST_SUPPORT


@part
def _empty_lists(cut, first, last, words, search):
    """Forget the sequences."""
    for number in range(first, last):
        for position in range(cut.offsets[number], cut.offsets[number + 1]):
            masks = (cut.labels[position] * (last - first) + number - first) * words
            for word in range(words):
                search.masks[masks + word] = 0


@compile_cached("void(SearchTree, CutSequences, PathSearch, int64, int64, int64[::1])", allocates=False)
def find_closest_paths(tree, cut, search, first, last, closest):
    """The last node of the winning path of each sequence; the root if no path has anything in common with it.

    `tree` is the prefix tree, or one without labels that none of the sequences has. Of those that win, the first in
    order of the prefix tree does.
    """
    while first < last:
        words, end = cut.words[first], first + 1
        while end < min(first + search.best.shape[0], last) and cut.words[end] == words:
            end += 1
        _fill_lists(cut, first, end, words, search)
        _search_lists(tree, end - first, words, search)
        for number in range(first, end):
            closest[number] = search.best[number - first]
        _empty_lists(cut, first, end, words, search)
        first = end
