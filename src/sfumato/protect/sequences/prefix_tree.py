# SPDX-License-Identifier: MIT
"""The prefix tree of sequences, as far as its nodes are frequent; step 1 of BF-P2kA and the pruning of step 2.

A node is a prefix, and its support is the number of sequences that start with it. The tree is grown level by level and
never below a node that too few sequences pass, so what would be pruned is not built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Flags, Ints
from sfumato.runtime.progress import report_progress


@dataclass(frozen=True, eq=False)
class PrefixTree:
    """A tree in preorder, children by label; node 0 is the root, which stands for the empty sequence."""

    parents: Ints
    """The parent of each node; -1 for the root."""
    labels: Codes
    depths: Ints
    ends: Ints
    """The node after the last one below each node."""

    def __len__(self) -> int:
        """The number of nodes, with the root."""
        return len(self.labels)

    def measure_heights(self) -> Ints:
        """How many levels there are below each node."""
        heights = np.zeros(len(self), dtype=np.int64)
        for level in self.list_levels()[:0:-1]:
            np.maximum.at(heights, self.parents[level], heights[level] + 1)
        return heights

    def list_levels(self) -> list[Ints]:
        """The nodes of each depth."""
        order = np.argsort(self.depths, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.depths[order])) + 1)

    def count_supports(self, end_nodes: Ints) -> Ints:
        """How many sequences pass each node, if `end_nodes` of them end in each."""
        cumulative_counts = np.concatenate(([0], np.cumsum(end_nodes)))
        return np.asarray(cumulative_counts[self.ends] - cumulative_counts[:-1])

    def restrict(self, kept_mask: Flags) -> PrefixTree:
        """The tree without the other nodes; a kept node has a kept parent."""
        number = np.cumsum(kept_mask) - 1
        parents = np.where(self.parents >= 0, number[self.parents], -1)[kept_mask]
        # The nodes below a node are numbered on from it, so their number says where they end.
        cumulative_counts = np.concatenate(([0], np.cumsum(kept_mask)))
        return PrefixTree(
            parents, self.labels[kept_mask], self.depths[kept_mask], cumulative_counts[self.ends][kept_mask]
        )

    def spell_paths(self, nodes: Ints) -> LabelLists:
        """The labels from the root to each of some nodes."""
        from sfumato.kernels.sequences.label_rows import spell_rows

        offsets = np.concatenate(([0], np.cumsum(self.depths[nodes])))
        labels = np.empty(int(offsets[-1]), dtype=np.int32)
        spell_rows(self.labels, self.parents, nodes, offsets, labels)
        return LabelLists(labels, offsets)


class LabelLists(NamedTuple):
    """Sequences of labels, one after another."""

    labels: Codes
    offsets: Ints

    def select(self, rows: Ints) -> LabelLists:
        """Some of the sequences."""
        from sfumato.kernels.sequences.label_rows import select_rows

        return LabelLists(*select_rows(self.labels, self.offsets, rows))


class GrownTree(NamedTuple):
    """The frequent part of a prefix tree, and where each sequence leaves it."""

    tree: PrefixTree
    nodes: Ints
    """For each sequence, the last node that it passes."""


def grow_prefix_tree(sequences: LabelLists, k: int) -> GrownTree:
    """The nodes that at least k sequences pass."""
    lengths = np.diff(sequences.offsets)
    width = int(sequences.labels.max(initial=0)) + 1
    last = np.zeros(len(lengths), dtype=np.int64)
    parents, labels, depths = [np.array([-1])], [np.zeros(1, dtype=np.int64)], [np.zeros(1, dtype=np.int64)]
    rows, depth, count = np.flatnonzero(lengths > 0), 0, 1
    while len(rows):
        report_progress("growing the prefix tree", depth)
        keys = last[rows] * width + sequences.labels[sequences.offsets[rows] + depth]
        distinct, index, supports = np.unique(keys, return_inverse=True, return_counts=True)
        frequent = supports >= k
        number = np.where(frequent, count + np.cumsum(frequent) - 1, -1)
        stays = number[index] >= 0
        last[rows[stays]] = number[index[stays]]
        parents.append(distinct[frequent] // width)
        labels.append(distinct[frequent] % width)
        depth += 1
        depths.append(np.full(int(frequent.sum()), depth))
        count += int(frequent.sum())
        rows = rows[stays]
        rows = rows[lengths[rows] > depth]
    return _number_in_preorder([np.concatenate(parts) for parts in (parents, labels, depths)], last)


def _number_in_preorder(levels: list[Ints], last: Ints) -> GrownTree:
    """The tree with its nodes, which are in the order of their depth, in preorder."""
    parents, labels, depths = levels
    sizes = np.ones(len(parents), dtype=np.int64)
    bounds = np.flatnonzero(np.diff(depths, append=depths[-1] + 1)) + 1
    starts = np.concatenate(([0], bounds[:-1]))
    for start, stop in zip(starts[:0:-1], bounds[:0:-1], strict=True):
        np.add.at(sizes, parents[start:stop], sizes[start:stop])
    preorder = np.zeros(len(parents), dtype=np.int64)
    for start, stop in zip(starts[1:], bounds[1:], strict=True):
        level_parents = parents[start:stop]
        preceding_sizes = np.cumsum(sizes[start:stop]) - sizes[start:stop]  # siblings are neighbours, by label
        first = np.concatenate(([True], level_parents[1:] != level_parents[:-1]))
        eldest = np.maximum.accumulate(np.where(first, np.arange(stop - start), 0))
        preorder[start:stop] = preorder[level_parents] + 1 + preceding_sizes - preceding_sizes[eldest]
    order = np.argsort(preorder)
    new_parents = np.where(parents >= 0, preorder[parents], -1)[order]
    tree = PrefixTree(new_parents, labels[order].astype(np.int32), depths[order], np.arange(len(order)) + sizes[order])
    return GrownTree(tree, preorder[last])
