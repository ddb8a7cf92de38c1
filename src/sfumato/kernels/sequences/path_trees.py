# SPDX-License-Identifier: MIT
"""Prefix trees to be searched for the path that has the longest subsequence in common with a sequence.

For sequences of the same labels the tree is first made smaller: other labels change nothing, so they are left out, and
paths that are then the same are searched once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, Words
from sfumato.kernels.baskets.itemsets_bits import part
from sfumato.kernels.compilation import record


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
    below: Words
    """A bit for each label at or below each node; labels share bits where there are more than 64."""


@record
class SearchTree(NamedTuple):
    """The nodes of a prefix tree, or groups of them, in preorder, the highest children first; node 0 is the root.

    Small numbers, in the order in which a search reads them.
    """

    labels: Codes
    levels: Codes
    ends: Codes
    """The node after the last one below each node."""
    heights: Codes
    nodes: Codes
    """The node of the prefix tree that wins in its group: the shortest path, the most support, the first in order."""
    depths: Codes
    """And its depth."""
    supports: Codes
    """And its support."""
    tops: Codes
    """The most support of any node in the group."""


@record
class NodeGroups(NamedTuple):
    """Groups of the nodes of a prefix tree, from which a tree to search is made; the fields are as there."""

    labels: Codes
    eldest: Codes
    """The first child of each group, or 0."""
    younger: Codes
    """The next child of its parent, or 0."""
    parents: Codes
    heights: Codes
    nodes: Codes
    depths: Codes
    supports: Codes
    tops: Codes


@part
def _find_group(groups, parent, label):  # type: ignore[no-untyped-def]
    """The child with a label, or 0."""
    child = groups.eldest[parent]
    while child and groups.labels[child] != label:
        child = groups.younger[child]
    return child


@part
def merge_tree(tree, members, place_of, heads, groups, merged):  # type: ignore[no-untyped-def]
    """Leave out the labels that are no members, and make one group of the nodes whose paths are then the same.

    Returns the number of groups. `place_of` has room for a number for each node, `heads` for each height.
    """
    groups.eldest[0], groups.younger[0], groups.heights[0], place_of[0] = 0, 0, 0, 0
    count = np.int64(1)
    for node in range(1, tree.labels.shape[0]):
        parent = place_of[tree.parents[node]]
        label, depth, support = tree.labels[node], tree.depths[node], tree.supports[node]
        if not members[label]:
            place_of[node] = parent
            continue
        group = np.int64(_find_group(groups, parent, label))
        is_new = group == 0
        if is_new:
            group, count = count, count + 1
            groups.labels[group], groups.parents[group] = label, parent
            groups.younger[group], groups.eldest[parent] = groups.eldest[parent], group
            groups.eldest[group], groups.heights[group], groups.tops[group] = 0, 0, support
        place_of[node] = group
        groups.tops[group] = max(groups.tops[group], support)
        best_depth = groups.depths[group]
        if is_new or depth < best_depth or (depth == best_depth and support > groups.supports[group]):
            groups.nodes[group], groups.depths[group], groups.supports[group] = node, depth, support
    _order_children(groups, place_of, heads, count)
    _lay_out_groups(groups, place_of, merged)
    return count


@part
def _order_children(groups, place_of, heads, count):  # type: ignore[no-untyped-def]
    """Fill in heights, and put the highest children first: groups are linked again, from the lowest on."""
    heads[:] = 0
    for group in range(count - 1, 0, -1):
        parent, height = groups.parents[group], groups.heights[group]
        groups.heights[parent] = max(groups.heights[parent], height + 1)
        groups.eldest[group] = 0
        place_of[group], heads[height] = heads[height], group
    groups.eldest[0] = 0
    for height in range(groups.heights[0]):
        group = heads[height]
        while group:
            parent = groups.parents[group]
            groups.younger[group], groups.eldest[parent] = groups.eldest[parent], group
            group = place_of[group]


@part
def _lay_out_groups(groups, place_of, merged):  # type: ignore[no-untyped-def]
    """Put the groups in preorder."""
    place, level, group = np.int64(1), np.int64(1), np.int64(groups.eldest[0])
    while group:
        place_of[group] = place
        merged.labels[place], merged.levels[place] = groups.labels[group], level
        merged.heights[place], merged.nodes[place] = groups.heights[group], groups.nodes[group]
        merged.depths[place], merged.supports[place] = groups.depths[group], groups.supports[group]
        merged.tops[place] = groups.tops[group]
        place += 1
        if groups.eldest[group]:
            group = np.int64(groups.eldest[group])
            level += 1
            continue
        while group and groups.younger[group] == 0:
            merged.ends[place_of[group]] = place
            group = np.int64(groups.parents[group])
            level -= 1
        if group:
            merged.ends[place_of[group]] = place
            group = np.int64(groups.younger[group])
