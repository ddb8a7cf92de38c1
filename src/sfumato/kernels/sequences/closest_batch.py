# SPDX-License-Identifier: MIT
"""The path of a prefix tree that has the longest subsequence in common with a sequence, for eight sequences at a time.

Sequences of at most 64 positions, whose rows of the dynamic program are one word each: a node is read once for all, and
compiled to instructions on several words. A subtree is searched as long as one of the sequences may find its path
there. What wins is the same as for each sequence alone (`closest_path`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Ints, Words
from sfumato.kernels.baskets.itemsets_bits import part
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import record

LANES = 8
_LANES = np.uint64(LANES)
"""Without a sign: else each index is first checked for being negative, and loops are not vectorised."""
MOST_POSITIONS = 64
NOTHING_WINS = 1 << 40
"""A lane without a sequence has that much in common with its best path."""


@record
class BatchSearch(NamedTuple):
    """Scratch space, a place for each lane: sequences, their best paths, and the way from the root to a node."""

    masks: Words
    """For each label and lane, the positions of the sequence that hold it."""
    positions: Words
    """For each lane, all positions."""
    lengths: Ints
    best_common: Ints
    best_depth: Ints
    best_support: Ints
    best_node: Ints
    rows: Words
    """For each depth and lane, the row of the dynamic program."""
    common: Ints
    """For each depth and lane, the length of the longest common subsequence."""
    stops: Ints
    """For each depth, where the nodes below the node there end."""


@part
def fill_batch(tree, cut, first, last, batch):  # type: ignore[no-untyped-def]
    """Give each sequence a lane; what it starts with is its best path so far."""
    for lane in range(LANES):
        batch.rows[lane], batch.common[lane] = ~np.uint64(0), 0
        batch.positions[lane], batch.lengths[lane], batch.best_common[lane] = 0, 0, NOTHING_WINS
    for number in range(first, last):
        lane, begin = number - first, cut.offsets[number]
        length = cut.offsets[number + 1] - begin
        batch.lengths[lane] = length
        batch.positions[lane] = ~np.uint64(0) >> np.uint64(64 - length)
        for place in range(length):
            batch.masks[cut.labels[begin + place] * LANES + lane] |= np.uint64(1) << np.uint64(place)
        start = cut.starts[number]
        batch.best_node[lane], batch.best_common[lane] = start, tree.depths[start]
        batch.best_depth[lane], batch.best_support[lane] = tree.depths[start], tree.supports[start] if start else -1


@part
def empty_batch(cut, first, last, batch):  # type: ignore[no-untyped-def]
    """Forget the sequences."""
    for number in range(first, last):
        for place in range(cut.offsets[number], cut.offsets[number + 1]):
            batch.masks[cut.labels[place] * LANES + number - first] = 0


class _Hope(NamedTuple):
    """Whether a path of so many levels more can have as much in common as the best, and whether one can win here."""

    reaches: np.int64
    wins: np.int64


@part
def _look_ahead(tree, batch, node, depth, levels):  # type: ignore[no-untyped-def]
    """What a node can lead to, by the rows of its parent: the levels left match at best the last positions.

    A path that has no more in common than the best must match at each level, and be as short or have more support.
    """
    above = np.uint64(depth - 1) * _LANES
    shift = np.uint64(min(levels, np.int64(63)))
    node_depth, top = np.int64(tree.depths[node]) - 1, np.int64(tree.tops[node])
    reaches, wins = np.int64(0), np.int64(0)
    for lane in range(_LANES):
        matched = popcount(~batch.rows[above + lane] & (batch.positions[lane] >> shift))
        most = np.int64(matched) + min(levels, batch.lengths[lane])
        best = batch.best_common[lane]
        missing = best - batch.common[above + lane]
        later = node_depth + missing - batch.best_depth[lane]
        draws = (most == best) & (missing > 0) & ((later < 0) | ((later == 0) & (top >= batch.best_support[lane])))
        reaches |= np.int64(most >= best)
        wins |= np.int64((most > best) | draws)
    return _Hope(reaches, wins)


@part
def _extend_rows(tree, batch, node, depth):  # type: ignore[no-untyped-def]
    """Compute the rows at a node from those of its parent; returns whether some path may win that ends here."""
    above, here = np.uint64(depth - 1) * _LANES, np.uint64(depth) * _LANES
    label = np.uint64(tree.labels[node]) * _LANES
    wins = np.int64(0)
    for lane in range(_LANES):
        row, mask = batch.rows[above + lane], batch.masks[label + lane]
        new = (row + (row & mask)) | (row & ~mask)
        common = np.int64(popcount(~new))
        batch.rows[here + lane], batch.common[here + lane] = new, common
        wins |= np.int64((common > batch.common[above + lane]) & (common >= batch.best_common[lane]))
    return wins


@part
def _take_paths(tree, batch, node, depth):  # type: ignore[no-untyped-def]
    """Let the path to a node win where it does: longest in common, shortest path, most support, first in order."""
    number, length = np.int64(tree.nodes[node]), np.int64(tree.depths[node])
    support = np.int64(tree.supports[node])
    for lane in range(LANES):
        common = batch.common[depth * LANES + lane]
        more = common - batch.best_common[lane]
        shorter = batch.best_depth[lane] - length
        stronger = support - batch.best_support[lane]
        draws = stronger > 0 or (stronger == 0 and number < batch.best_node[lane])
        if more > 0 or (more == 0 and (shorter > 0 or (shorter == 0 and draws))):
            batch.best_common[lane], batch.best_depth[lane] = common, length
            batch.best_support[lane], batch.best_node[lane] = support, number


@part
def search_batch(tree, count, batch):  # type: ignore[no-untyped-def]
    """Find the best path of each lane; returns how many steps it took."""
    batch.stops[0] = count
    node, steps = np.int64(1), np.int64(0)
    while node < count:
        steps += 1
        depth = np.int64(tree.levels[node])
        hope = _look_ahead(tree, batch, node, depth, np.int64(tree.heights[node]) + 1)
        if not hope.reaches:
            node = batch.stops[depth - 1]  # no sibling that is left is higher
            continue
        if not hope.wins:
            node = np.int64(tree.ends[node])
            continue
        if _extend_rows(tree, batch, node, depth):
            _take_paths(tree, batch, node, depth)
        batch.stops[depth] = tree.ends[node]
        node += 1
    return steps
