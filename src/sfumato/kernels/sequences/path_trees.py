# SPDX-License-Identifier: MIT
"""Prefix trees to be searched for the path that has the longest subsequence in common with a sequence.

For sequences that lack some labels the tree is first made smaller: those labels change nothing, so they are left out,
and paths that are then the same are searched once. What was made smaller can be made smaller again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes
from sfumato.kernels.compilation import compile_cached, part, record


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
    """How many levels there are below each node."""
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
    """Groups of nodes, from which a smaller tree is made; fields of the same names are as there."""

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
    places: Codes
    """The next group of the same height while children are ordered; then the place in the smaller tree."""
    level_groups: Codes
    """For each level of the tree, the group at or above the node there."""
    heads: Codes
    """For each height, the first group that has it."""


@part
def _find_group(groups, parent, label):
    """The child with a label, or 0."""
    child = groups.eldest[parent]
    while child and groups.labels[child] != label:
        child = groups.younger[child]
    return child


@part
def _beats_group(tree, node, groups, group):
    """Whether a node wins in its group."""
    if tree.depths[node] != groups.depths[group]:
        return tree.depths[node] < groups.depths[group]
    if tree.supports[node] != groups.supports[group]:
        return tree.supports[node] > groups.supports[group]
    return tree.nodes[node] < groups.nodes[group]


@part
def _order_children(groups, count):
    """Fill in heights, and put the highest children first: groups are linked again, from the lowest on."""
    groups.heads[:] = 0
    for group in range(count - 1, 0, -1):
        parent, height = groups.parents[group], groups.heights[group]
        groups.heights[parent] = max(groups.heights[parent], height + 1)
        groups.eldest[group] = 0
        groups.places[group], groups.heads[height] = groups.heads[height], group
    groups.eldest[0] = 0
    for height in range(groups.heights[0]):
        group = groups.heads[height]
        while group:
            parent = groups.parents[group]
            groups.younger[group], groups.eldest[parent] = groups.eldest[parent], group
            group = groups.places[group]


@part
def _lay_out_groups(groups, merged_tree):
    """Put the groups in preorder."""
    position, level, group = np.int64(1), np.int64(1), np.int64(groups.eldest[0])
    while group:
        groups.places[group] = position
        merged_tree.labels[position], merged_tree.levels[position] = groups.labels[group], level
        merged_tree.heights[position], merged_tree.nodes[position] = groups.heights[group], groups.nodes[group]
        merged_tree.depths[position], merged_tree.supports[position] = groups.depths[group], groups.supports[group]
        merged_tree.tops[position] = groups.tops[group]
        position += 1
        if groups.eldest[group]:
            group = np.int64(groups.eldest[group])
            level += 1
            continue
        while group and groups.younger[group] == 0:
            merged_tree.ends[groups.places[group]] = position
            group = np.int64(groups.parents[group])
            level -= 1
        if group:
            merged_tree.ends[groups.places[group]] = position
            group = np.int64(groups.younger[group])


@compile_cached("int64(SearchTree, boolean[::1], NodeGroups, SearchTree)", allocates=False)
def merge_tree(tree, members, groups, merged_tree):
    """Leave out the labels that are no members, and make one group of the nodes whose paths are then the same.

    Returns the number of groups.
    """
    groups.eldest[0], groups.younger[0], groups.heights[0], groups.level_groups[0] = 0, 0, 0, 0
    count = np.int64(1)
    for node in range(1, tree.labels.shape[0]):
        level, label = tree.levels[node], tree.labels[node]
        parent = groups.level_groups[level - 1]
        groups.level_groups[level] = parent
        if not members[label]:
            continue
        group = np.int64(_find_group(groups, parent, label))
        is_new = group == 0
        if is_new:
            group, count = count, count + 1
            groups.labels[group], groups.parents[group] = label, parent
            groups.younger[group], groups.eldest[parent] = groups.eldest[parent], group
            groups.eldest[group], groups.heights[group], groups.tops[group] = 0, 0, 0
        groups.level_groups[level] = group
        groups.tops[group] = max(groups.tops[group], tree.tops[node])
        if is_new or _beats_group(tree, node, groups, group):
            groups.nodes[group], groups.depths[group] = tree.nodes[node], tree.depths[node]
            groups.supports[group] = tree.supports[node]
    _order_children(groups, count)
    _lay_out_groups(groups, merged_tree)
    return count
