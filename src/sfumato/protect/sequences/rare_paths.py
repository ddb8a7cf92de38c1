# SPDX-License-Identifier: MIT
"""Which paths of a prefix tree too few of the sequences that end in it contain; what one pass of BF-P2kA overlooks."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.protect.sequences.prefix_tree import PrefixTree
from sfumato.runtime.progress import report_progress

_CHUNK = 512
"""How many paths are counted at a time, so that progress is reported and an interrupt is seen."""


def flag_rare_paths(tree: PrefixTree, supports: Ints, k: int) -> Flags:
    """The nodes whose paths are contained in fewer than k of the sequences that end in the tree."""
    from sfumato.kernels.sequences.containing_paths import PathTree, count_containing_paths

    low = np.flatnonzero(supports < k)
    low = low[low > 0]
    label_bits = np.uint64(1) << (tree.labels % 64).astype(np.uint64)
    for level in tree.list_levels()[:1:-1]:
        np.bitwise_or.at(label_bits, tree.parents[level], label_bits[level])
    paths = PathTree(tree.labels, tree.depths, tree.ends, tree.measure_heights(), supports, label_bits)
    path_lists = tree.spell_paths(low)
    counts = np.zeros(len(low), dtype=np.int64)
    for first in range(0, len(low), _CHUNK):
        report_progress("counting what contains rare paths", first, len(low))
        last = min(first + _CHUNK, len(low))
        count_containing_paths(paths, path_lists.labels, path_lists.offsets, first, last, k, counts)
    rare = np.zeros(len(tree), dtype=np.bool_)
    rare[low[counts < k]] = True
    return rare
