# SPDX-License-Identifier: MIT
"""Re-attachment, step 2 of BF-P2kA: each cut sequence takes the path that has most in common with it; and which paths
too few sequences contain."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.progress import report_progress
from sfumato.protect.sequences.prefix_tree import LabelLists, PrefixTree

_CHUNK = 256
"""How many sequences a thread takes at a time, so that progress is reported and an interrupt is seen."""
_LEVELS = 64
"""For how many levels below a node the most support is known: a path of 10,000 nodes must not need their square."""


def find_closest(tree: PrefixTree, supports: Ints, cut: LabelLists, starts: Ints) -> Ints:
    """For each cut sequence, the last node of the path with the longest common subsequence; the root if there is none.

    Of several, the shortest path wins, then the one with the most support, then the first in order. `starts` are the
    last nodes of the paths that the sequences start with.
    """
    from sfumato.kernels.sequences.closest_path import CutSequences, find_closest_paths

    if not len(starts):
        return np.zeros(0, dtype=np.int64)
    paths = _prepare_tree(tree, supports)
    sequences = CutSequences(cut.labels, cut.offsets, starts)
    closest = np.zeros(len(starts), dtype=np.int64)

    def search_chunk(first: int) -> None:
        scratch = _make_scratch(tree, cut)
        find_closest_paths(paths, sequences, scratch, first, min(first + _CHUNK, len(starts)), closest)

    chunks = range(0, len(starts), _CHUNK)
    with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        runs = [pool.submit(search_chunk, first) for first in chunks]
        try:
            for done, run in enumerate(as_completed(runs)):
                run.result()
                report_progress("looking for the closest paths", done, len(chunks))
        finally:
            pool.shutdown(cancel_futures=True)
    return closest


def flag_rare_paths(tree: PrefixTree, supports: Ints, k: int) -> Flags:
    """The nodes whose paths are contained in fewer than k of the sequences that end in the tree."""
    from sfumato.kernels.sequences.closest_path import CutSequences, count_containing_paths

    low = np.flatnonzero(supports < k)
    low = low[low > 0]
    paths = _prepare_tree(tree, supports)
    spelled = tree.spell_paths(low)
    sequences = CutSequences(spelled.labels, spelled.offsets, low)
    counts = np.zeros(len(low), dtype=np.int64)
    for first in range(0, len(low), _CHUNK):
        report_progress("counting what contains rare paths", first, len(low))
        count_containing_paths(paths, sequences, first, min(first + _CHUNK, len(low)), k, counts)
    rare = np.zeros(len(tree), dtype=np.bool_)
    rare[low[counts < k]] = True
    return rare


def _prepare_tree(tree: PrefixTree, supports: Ints) -> object:
    """The tree with what a search must know: children by height, and the most support below each node."""
    from sfumato.kernels.sequences.closest_path import PathTree, collect_tops

    heights = tree.heights()
    nodes = np.arange(1, len(tree))
    children = nodes[np.lexsort((nodes, -heights[1:], tree.parents[1:]))]
    child_offsets = np.concatenate(([0], np.cumsum(np.bincount(tree.parents[1:], minlength=len(tree)))))
    top_offsets = np.concatenate(([0], np.cumsum(np.minimum(heights + 1, _LEVELS))))
    tops = np.zeros(int(top_offsets[-1]), dtype=np.int64)
    collect_tops(tree.parents, supports, top_offsets, tops)
    searched = (child_offsets, children, top_offsets, tops)
    return PathTree(tree.labels, tree.depths, tree.ends, heights, supports, *searched)


def _make_scratch(tree: PrefixTree, cut: LabelLists) -> object:
    from sfumato.kernels.sequences.closest_path import PathSearch

    labels = int(max(tree.labels.max(), cut.labels.max(initial=0))) + 1
    words = (int(np.diff(cut.offsets).max(initial=0)) + 63) // 64
    depth = int(tree.depths.max()) + 1
    return PathSearch(
        np.zeros((labels, words + 1), dtype=np.uint64),
        np.zeros((depth, max(words, 1)), dtype=np.uint64),
        *(np.zeros(depth, dtype=np.int64) for _ in range(4)),
    )
