# SPDX-License-Identifier: MIT
"""How many of the sequences that end in a prefix tree contain each of some others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, Words
from sfumato.kernels.compilation import compile_cached, record


@record
class PathTree(NamedTuple):
    """A prefix tree in preorder; node 0 is the root."""

    labels: Codes
    depths: Ints
    ends: Ints
    """The node after the last one below each node."""
    heights: Ints
    """How many levels there are below each node."""
    supports: Ints
    """How many sequences pass each node."""
    label_bits: Words
    """A bit for each label at or below each node; labels share bits where there are more than 64."""


@compile_cached("void(PathTree, int32[::1], int64[::1], int64, int64, int64, int64[::1])")
def count_containing_paths(tree, labels, offsets, first, last, limit, counts):
    """How many sequences that end in the tree contain each of some others; counting stops at `limit`."""
    deepest = tree.depths.max()
    matched_counts = np.zeros(deepest + 1, dtype=np.int64)
    missing = np.zeros(deepest + 1, dtype=np.uint64)
    for number in range(first, last):
        begin, length = offsets[number], offsets[number + 1] - offsets[number]
        missing[length] = 0
        for position in range(length - 1, -1, -1):
            missing[position] = missing[position + 1] | np.uint64(1) << np.uint64(labels[begin + position] % 64)
        total, node = 0, 1
        while node < len(tree.labels) and total < limit:
            depth = tree.depths[node]
            position = matched_counts[depth - 1]
            if missing[position] & ~tree.label_bits[node]:
                node = tree.ends[node]
                continue
            position += tree.labels[node] == labels[begin + position]
            matched_counts[depth] = position
            if position == length:
                total += tree.supports[node]  # so does everything below
            skips = position + tree.heights[node] < length or position == length
            node = tree.ends[node] if skips else node + 1
        counts[number] = total
