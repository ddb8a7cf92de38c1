# SPDX-License-Identifier: MIT
"""Send every row down a decision tree, and keep what was seen at each node: rows, classes, the values on both sides.

A node's parts lie side by side, and only what cannot be added up from the leaves is counted on the way: trees of many
nodes do not fit a processor's cache.
"""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

from sfumato.arrays import Bytes, IntGrid, Ints, SingleGrid
from sfumato.kernels.compilation import compile_cached, record

LARGEST_BELOW, SMALLEST_ABOVE = range(2)
"""The values on both sides of a test."""
LEFT_NODE, RIGHT_NODE, FEATURE, MISSING_LEFT, IS_FALLING = range(5)
"""What the columns of `nodes` hold."""


@record
class NodeTally(NamedTuple):
    """What was seen at each node."""

    rows: Ints
    missing: Bytes
    """Whether cells were missing there."""
    tally: IntGrid
    """Weighted classes."""
    sides: SingleGrid
    """The greatest true value on the lower side and the least on the upper one."""


@compile_cached(
    "void(int64[::1], int64[::1], float32[:, ::1], float32[:, ::1], int64[::1], int32[:, ::1], float64[::1], NodeTally)"
)
def walk_tree(rows, weights, seen_codes, true, classes, nodes, threshold, node_tally):
    """Count rows and weighted classes at leaves, mark nodes where cells are missing, keep the values on both sides.

    The lower side is the left one, unless codes fall. Children come after their parents, so a walk ends.
    """
    count, missing, tally, sides = node_tally.rows, node_tally.missing, node_tally.tally, node_tally.sides
    for index in range(rows.size):
        row = rows[index]
        node = 0
        while nodes[node, LEFT_NODE] >= 0:
            code = seen_codes[row, nodes[node, FEATURE]]
            if isnan(code):
                missing[node] = 1
                node = nodes[node, LEFT_NODE] if nodes[node, MISSING_LEFT] else nodes[node, RIGHT_NODE]
                continue
            value = true[row, nodes[node, FEATURE]]
            go_left = code <= threshold[node]
            if go_left != (nodes[node, IS_FALLING] == 1):
                sides[node, LARGEST_BELOW] = max(sides[node, LARGEST_BELOW], value)
            elif value < sides[node, SMALLEST_ABOVE]:
                sides[node, SMALLEST_ABOVE] = value
            node = nodes[node, LEFT_NODE] if go_left else nodes[node, RIGHT_NODE]
        count[node] += 1
        tally[node, classes[row]] += weights[index]


@compile_cached("void(int32[:, ::1], int64[::1], int64[:, ::1])")
def sum_children(nodes, count, tally):
    """Give every inner node the sum of its children's rows and classes."""
    for node in range(count.size - 1, -1, -1):
        if nodes[node, LEFT_NODE] >= 0:
            count[node] += count[nodes[node, LEFT_NODE]] + count[nodes[node, RIGHT_NODE]]
            for label in range(tally.shape[1]):
                tally[node, label] += tally[nodes[node, LEFT_NODE], label] + tally[nodes[node, RIGHT_NODE], label]
