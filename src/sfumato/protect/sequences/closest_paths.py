# SPDX-License-Identifier: MIT
"""Re-attachment, step 2 of BF-P2kA: each cut sequence takes the path that has most in common with it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sfumato.arrays import Flags, Ints, Words
from sfumato.errors import DataError
from sfumato.protect.sequences.prefix_tree import LabelLists, PrefixTree
from sfumato.runtime.progress import report_progress

if TYPE_CHECKING:
    from sfumato.kernels.sequences.closest_path import CutSequences, PathSearch
    from sfumato.kernels.sequences.path_trees import NodeGroups, SearchTree

CHUNK = 4096
"""How many sequences a thread takes at a time, so that progress is reported and an interrupt is seen."""
BATCH_SIZE = 512
"""How many of them are searched for at once."""
ROOM = 1 << 20
"""How many numbers the lists of a search may take."""
WORTHWHILE = 150
"""The tree is made smaller where the number of sequences, times the share of nodes that go, is more than this."""


def find_closest(tree: PrefixTree, supports: Ints, cut: LabelLists, starts: Ints) -> Ints:
    """For each cut sequence, the last node of the path with the longest common subsequence; the root if there is none.

    Of several, the shortest path wins, then the one with the most support, then the first in order. `starts` are the
    last nodes of the paths that the sequences start with.
    """
    from sfumato.kernels.sequences.closest_path import MOST_LEVELS

    if not len(starts):
        return np.zeros(0, dtype=np.int64)
    if tree.depths.max() > MOST_LEVELS:
        raise DataError(
            f"sequences begin with the same {tree.depths.max():,} elements, and at most {MOST_LEVELS:,} can be "
            "compared; split them, for example by day"
        )
    queries = _order_by_labels(tree, supports, cut, starts)
    whole = _order_by_height(tree, supports)
    closest = np.zeros(len(starts), dtype=np.int64)
    chunks = range(0, len(starts), CHUNK)
    with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        runs = [pool.submit(_search_chunk, whole, queries, first, closest) for first in chunks]
        try:
            for done_count, run in enumerate(as_completed(runs)):
                run.result()
                report_progress("looking for the closest paths", done_count, len(chunks))
        finally:
            pool.shutdown(cancel_futures=True)
    nodes = np.empty_like(closest)
    nodes[queries.order] = closest
    return nodes


class _AskedSequences(NamedTuple):
    """Cut sequences, ordered by their number of words, then such that those with the same labels are neighbours."""

    order: Ints
    """Which of the given sequences each is."""
    sequences: CutSequences
    bits: Words
    """The bit that stands for each label: higher for labels of more nodes; the rarest share one."""
    marks: Words
    """The bits of the labels of each sequence."""


def _order_by_labels(tree: PrefixTree, supports: Ints, cut: LabelLists, starts: Ints) -> _AskedSequences:
    from sfumato.kernels.sequences.closest_path import CutSequences
    from sfumato.kernels.sequences.label_rows import mark_rows

    labels = int(max(tree.labels.max(), cut.labels.max())) + 1
    ranks = np.empty(labels, dtype=np.int64)
    ranks[np.argsort(-np.bincount(tree.labels, minlength=labels), kind="stable")] = np.arange(labels)
    bits = np.uint64(1) << np.maximum(63 - ranks, 0).astype(np.uint64)
    marks = mark_rows(cut.labels, cut.offsets, bits)
    words = (np.diff(cut.offsets) + 63) // 64
    order = np.lexsort((marks, words))
    sorted_lists, nodes = cut.select(order), starts[order]
    node_supports = np.where(nodes > 0, supports[nodes], 0)
    sequences = CutSequences(
        sorted_lists.labels, sorted_lists.offsets, words[order], nodes, tree.depths[nodes], node_supports
    )
    return _AskedSequences(order, sequences, bits, marks[order])


def _order_by_height(tree: PrefixTree, supports: Ints) -> SearchTree:
    """The tree as a search wants it, each node a group of its own, children from the highest on."""
    from sfumato.kernels.sequences.path_trees import SearchTree

    heights, sizes = tree.measure_heights(), tree.ends - np.arange(len(tree))
    places = np.zeros(len(tree), dtype=np.int64)
    for level in tree.list_levels()[1:]:
        children = level[np.lexsort((-heights[level], tree.parents[level]))]
        parents = tree.parents[children]
        preceding_sizes = np.cumsum(sizes[children]) - sizes[children]
        is_eldest = np.diff(parents, prepend=-1) != 0
        places[children] = places[parents] + 1 + preceding_sizes - preceding_sizes[is_eldest][np.cumsum(is_eldest) - 1]
    nodes = np.argsort(places)
    ends = np.arange(len(tree)) + sizes[nodes]
    depths, node_supports = (several[nodes].astype(np.int32) for several in (tree.depths, supports))
    return SearchTree(
        labels=tree.labels[nodes],
        levels=depths,
        ends=ends.astype(np.int32),
        heights=heights[nodes].astype(np.int32),
        nodes=nodes.astype(np.int32),
        depths=depths,
        supports=node_supports,
        tops=node_supports,
    )


def _search_chunk(whole: SearchTree, queries: _AskedSequences, first: int, closest: Ints) -> None:
    """Find the paths of some sequences, in trees without labels that none of their neighbours has."""
    from sfumato.kernels.sequences.closest_path import find_closest_paths

    last = min(first + CHUNK, len(closest))
    scratch = _make_scratch(whole, queries, first, last)
    counts = np.bincount(whole.labels[1:], minlength=len(queries.bits))
    longer = first + 1 + np.flatnonzero(np.diff(queries.sequences.words[first:last]))
    for begin, end in itertools.pairwise([first, *longer.tolist(), last]):
        for search in _join_searches(_plan_searches(_TreeSearch(whole, counts, begin, end), queries)):
            find_closest_paths(search.tree, queries.sequences, scratch, search.first, search.last, closest)


class _TreeSearch(NamedTuple):
    """A tree, and the sequences to be searched for in it."""

    tree: SearchTree
    counts: Ints
    """How many nodes of the tree have each label."""
    first: int
    last: int


def _plan_searches(search: _TreeSearch, queries: _AskedSequences) -> Iterator[_TreeSearch]:
    """Leave out what no sequence has if that is worthwhile; then do so for either half, by the next label."""
    first, last = search.first, search.last
    marks, count = queries.marks[first:last], last - first
    members = (queries.bits & np.bitwise_or.reduce(marks)) != 0
    if count * int(search.counts[~members].sum()) > WORTHWHILE * len(search.tree.labels):
        search = _merge_tree(search, members)
    if count <= WORTHWHILE or marks[0] == marks[-1]:  # whatever else went, it would not be worthwhile
        yield search
        return
    unlike = int(marks[0] ^ marks[-1]).bit_length() - 1  # the highest bit that only some have
    middle = first + int(np.searchsorted(marks, marks[-1] >> np.uint64(unlike) << np.uint64(unlike)))
    yield from _plan_searches(search._replace(last=middle), queries)
    yield from _plan_searches(search._replace(first=middle), queries)


def _join_searches(searches: Iterator[_TreeSearch]) -> Iterator[_TreeSearch]:
    """Neighbours in the same tree are searched for together."""
    pending_search = next(searches)
    for search in searches:
        if search.tree is pending_search.tree:
            pending_search = pending_search._replace(last=search.last)
        else:
            yield pending_search
            pending_search = search
    yield pending_search


def _merge_tree(search: _TreeSearch, members: Flags) -> _TreeSearch:
    """The search in a tree without the other labels."""
    from sfumato.kernels.sequences.path_trees import NodeGroups, SearchTree, merge_tree

    most = int(search.counts[members].sum()) + 1
    merged_tree = SearchTree(*(np.zeros(most, dtype=np.int32) for _ in SearchTree._fields))
    groups: NodeGroups = NodeGroups(*(np.empty(len(search.tree.labels), dtype=np.int32) for _ in NodeGroups._fields))
    count = merge_tree(search.tree, members, groups, merged_tree)
    tree = SearchTree(*(several[:count] for several in merged_tree))
    return search._replace(tree=tree, counts=np.bincount(tree.labels[1:], minlength=len(members)))


def _make_scratch(tree: SearchTree, queries: _AskedSequences, first: int, last: int) -> PathSearch:
    from sfumato.kernels.sequences.closest_path import PathSearch

    labels, depth = len(queries.bits), int(tree.levels.max()) + 2
    words = int(queries.sequences.words[first:last].max())
    batch_size = min(BATCH_SIZE, max(ROOM // (max(labels, depth) * words), 1))
    return PathSearch(
        masks=np.zeros(labels * batch_size * words, dtype=np.uint64),
        lengths=np.zeros(batch_size, dtype=np.uint64),
        ratings=np.zeros(batch_size, dtype=np.uint64),
        best=np.zeros(batch_size, dtype=np.int64),
        rows=np.empty(depth * batch_size * words, dtype=np.uint64),
        listed_sequences=np.empty(depth * batch_size, dtype=np.int32),
        firsts=np.zeros(words, dtype=np.uint64),
        begins=np.zeros(depth, dtype=np.int64),
        stops=np.zeros(depth, dtype=np.int64),
        heights=np.zeros(depth, dtype=np.int64),
        depths=np.zeros(depth, dtype=np.int64),
        tops=np.zeros(depth, dtype=np.int64),
    )
