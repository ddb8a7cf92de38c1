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
    from sfumato.kernels.sequences.closest_path import CutSequences, SearchScratch
    from sfumato.kernels.sequences.path_trees import PathTree, SearchTree

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
    paths, whole = _prepare_tree(tree, supports), _order_by_height(tree, supports)
    order, sequences = _order_by_labels(cut, starts)
    closest = np.zeros(len(starts), dtype=np.int64)

    def search_chunk(first: int) -> None:
        scratch, last = _make_scratch(tree, cut), min(first + _CHUNK, len(starts))
        find_closest_paths(paths, whole, sequences, scratch, first, last, closest)

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
    from sfumato.kernels.sequences.path_trees import PathTree

    below = np.uint64(1) << (tree.labels % 64).astype(np.uint64)
    for level in tree.list_levels()[:1:-1]:
        np.bitwise_or.at(below, tree.parents[level], below[level])
    return PathTree(tree.labels, tree.parents, tree.depths, tree.ends, tree.measure_heights(), supports, below)


def _order_by_height(tree: PrefixTree, supports: Ints) -> SearchTree:
    """The tree as a search wants it, each node a group of its own, children from the highest on."""
    from sfumato.kernels.sequences.path_trees import SearchTree

    heights, sizes = tree.measure_heights(), tree.ends - np.arange(len(tree))
    places = np.zeros(len(tree), dtype=np.int64)
    for level in tree.list_levels()[1:]:
        children = level[np.lexsort((-heights[level], tree.parents[level]))]
        parents = tree.parents[children]
        before = np.cumsum(sizes[children]) - sizes[children]
        is_eldest = np.diff(parents, prepend=-1) != 0
        places[children] = places[parents] + 1 + before - before[is_eldest][np.cumsum(is_eldest) - 1]
    nodes = np.argsort(places)
    ends = np.arange(len(tree)) + sizes[nodes]
    depths, passing = (several[nodes].astype(np.int32) for several in (tree.depths, supports))
    return SearchTree(
        labels=tree.labels[nodes],
        levels=depths,
        ends=ends.astype(np.int32),
        heights=heights[nodes].astype(np.int32),
        nodes=nodes.astype(np.int32),
        depths=depths,
        supports=passing,
        tops=passing,
    )


def _order_by_labels(cut: LabelLists, starts: Ints) -> tuple[Ints, CutSequences]:
    """Sequences ordered such that those with the same labels are neighbours; a bit of a word stands for some labels."""
    from sfumato.kernels.sequences.closest_path import CutSequences

    marks = np.bitwise_or.reduceat(np.uint64(1) << (cut.labels % 64).astype(np.uint64), cut.offsets[:-1])
    order = np.lexsort((np.diff(cut.offsets), marks))
    bounds = np.flatnonzero(np.diff(marks[order])) + 1
    sizes = np.diff(np.concatenate(([0], bounds, [len(order)])))
    runs = np.repeat(np.cumsum(sizes), sizes)
    ordered = cut.select(order)
    return order, CutSequences(ordered.labels, ordered.offsets, starts[order], runs)


def _make_scratch(tree: PrefixTree, cut: LabelLists) -> SearchScratch:
    from sfumato.kernels.sequences.closest_batch import LANES, BatchSearch
    from sfumato.kernels.sequences.closest_path import PathSearch, SearchScratch
    from sfumato.kernels.sequences.path_trees import NodeGroups, SearchTree

    labels = int(max(tree.labels.max(), cut.labels.max(initial=0))) + 1
    words = max((int(np.diff(cut.offsets).max(initial=0)) + 63) // 64, 1)
    depth = int(tree.depths.max()) + 1
    single = PathSearch(
        masks=np.zeros((labels, words), dtype=np.uint64),
        rows=np.zeros((depth, words), dtype=np.uint64),
        common=np.zeros(depth, dtype=np.int64),
        stops=np.zeros(depth, dtype=np.int64),
        lowest=np.zeros(depth, dtype=np.int64),
    )
    batch = BatchSearch(
        masks=np.zeros(labels * LANES, dtype=np.uint64),
        positions=np.zeros(LANES, dtype=np.uint64),
        lengths=np.zeros(LANES, dtype=np.int64),
        best_common=np.zeros(LANES, dtype=np.int64),
        best_depth=np.zeros(LANES, dtype=np.int64),
        best_support=np.zeros(LANES, dtype=np.int64),
        best_node=np.zeros(LANES, dtype=np.int64),
        rows=np.zeros(depth * LANES, dtype=np.uint64),
        common=np.zeros(depth * LANES, dtype=np.int64),
        stops=np.zeros(depth, dtype=np.int64),
    )
    return SearchScratch(
        single,
        batch,
        members=np.zeros(labels, dtype=np.bool_),
        place_of=np.empty(len(tree), dtype=np.int64),
        groups=NodeGroups(*(np.empty(len(tree), dtype=np.int32) for _ in NodeGroups._fields)),
        merged=SearchTree(*(np.empty(len(tree), dtype=np.int32) for _ in SearchTree._fields)),
    )
