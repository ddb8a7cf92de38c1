# SPDX-License-Identifier: MIT
"""Re-attachment, step 2 of BF-P2kA: each cut sequence takes the path that has most in common with it; and which paths
too few sequences contain."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.progress import report_progress
from sfumato.protect.sequences.prefix_tree import LabelLists, PrefixTree

if TYPE_CHECKING:
    from sfumato.kernels.sequences.closest_path import CutSequences, MergedTree, PathSearch, PathTree

_CHUNK = 512
"""How many sequences a thread takes at a time, so that progress is reported and an interrupt is seen."""


def find_closest(tree: PrefixTree, supports: Ints, cut: LabelLists, starts: Ints) -> Ints:
    """For each cut sequence, the last node of the path with the longest common subsequence; the root if there is none.

    Of several, the shortest path wins, then the one with the most support, then the first in order. `starts` are the
    last nodes of the paths that the sequences start with.
    """
    from sfumato.kernels.sequences.closest_path import find_closest_paths

    if not len(starts):
        return np.zeros(0, dtype=np.int64)
    paths, whole = _prepare_tree(tree, supports), _link_nodes(tree, supports)
    order, sequences = _order_by_labels(cut, starts)
    closest = np.zeros(len(starts), dtype=np.int64)

    def search_chunk(first: int) -> None:
        scratch, merged = _make_scratch(tree, cut), _make_merged_tree(len(tree))
        find_closest_paths(paths, whole, merged, sequences, scratch, first, min(first + _CHUNK, len(starts)), closest)

    chunks = range(0, len(starts), _CHUNK)
    with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        runs = [pool.submit(search_chunk, first) for first in chunks]
        try:
            for done, run in enumerate(as_completed(runs)):
                run.result()
                report_progress("looking for the closest paths", done, len(chunks))
        finally:
            pool.shutdown(cancel_futures=True)
    found = np.empty_like(closest)
    found[order] = closest
    return found


def flag_rare_paths(tree: PrefixTree, supports: Ints, k: int) -> Flags:
    """The nodes whose paths are contained in fewer than k of the sequences that end in the tree."""
    from sfumato.kernels.sequences.closest_path import CutSequences, count_containing_paths

    low = np.flatnonzero(supports < k)
    low = low[low > 0]
    paths = _prepare_tree(tree, supports)
    spelled = tree.spell_paths(low)
    sequences = CutSequences(spelled.labels, spelled.offsets, low, low)
    counts = np.zeros(len(low), dtype=np.int64)
    for first in range(0, len(low), _CHUNK):
        report_progress("counting what contains rare paths", first, len(low))
        count_containing_paths(paths, sequences, first, min(first + _CHUNK, len(low)), k, counts)
    rare = np.zeros(len(tree), dtype=np.bool_)
    rare[low[counts < k]] = True
    return rare


def _prepare_tree(tree: PrefixTree, supports: Ints) -> PathTree:
    from sfumato.kernels.sequences.closest_path import PathTree

    return PathTree(tree.labels, tree.parents, tree.depths, tree.ends, tree.heights(), supports)


def _link_nodes(tree: PrefixTree, supports: Ints) -> MergedTree:
    """The tree as a search wants it, each node a group of its own, children from the highest on."""
    from sfumato.kernels.sequences.closest_path import MergedTree

    heights, nodes = tree.heights(), np.arange(len(tree))
    children = nodes[1:][np.lexsort((nodes[1:], -heights[1:], tree.parents[1:]))]
    eldest, younger = np.zeros(len(tree), dtype=np.int64), np.zeros(len(tree), dtype=np.int64)
    is_first = np.diff(tree.parents[children], prepend=-1) != 0
    eldest[tree.parents[children[is_first]]] = children[is_first]
    younger[children[:-1]] = np.where(is_first[1:], 0, children[1:])
    return MergedTree(tree.labels, eldest, younger, tree.parents, heights, nodes, tree.depths, supports, tops=supports)


def _make_merged_tree(nodes: int) -> MergedTree:
    from sfumato.kernels.sequences.closest_path import MergedTree

    return MergedTree(np.empty(nodes, dtype=np.int32), *(np.empty(nodes, dtype=np.int64) for _ in range(8)))


def _order_by_labels(cut: LabelLists, starts: Ints) -> tuple[Ints, CutSequences]:
    """Sequences ordered such that those with the same labels are neighbours; a bit of a word stands for some labels."""
    from sfumato.kernels.sequences.closest_path import CutSequences

    marks = np.bitwise_or.reduceat(np.uint64(1) << (cut.labels % 64).astype(np.uint64), cut.offsets[:-1])
    order = np.argsort(marks, kind="stable")
    bounds = np.flatnonzero(np.diff(marks[order])) + 1
    sizes = np.diff(np.concatenate(([0], bounds, [len(order)])))
    runs = np.repeat(np.cumsum(sizes), sizes)
    ordered = cut.select(order)
    return order, CutSequences(ordered.labels, ordered.offsets, starts[order], runs)


def _make_scratch(tree: PrefixTree, cut: LabelLists) -> PathSearch:
    from sfumato.kernels.sequences.closest_path import PathSearch

    labels = int(max(tree.labels.max(), cut.labels.max(initial=0))) + 1
    words = max((int(np.diff(cut.offsets).max(initial=0)) + 63) // 64, 1)
    depth = int(tree.depths.max()) + 1
    return PathSearch(
        masks=np.zeros((labels, words), dtype=np.uint64),
        members=np.zeros(labels, dtype=np.bool_),
        groups=np.zeros(len(tree), dtype=np.int64),
        rows=np.zeros((depth, words), dtype=np.uint64),
        common=np.zeros(depth, dtype=np.int64),
        cursors=np.zeros(depth, dtype=np.int64),
    )
