# SPDX-License-Identifier: MIT
"""The closest path of a prefix tree against a comparison with every path."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.protect.sequences.closest_paths import find_closest
from sfumato.protect.sequences.prefix_tree import LabelLists, PrefixTree, grow_prefix_tree


def list_labels(rows: list[list[int]]) -> LabelLists:
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    return LabelLists(np.concatenate([np.array(row, dtype=np.int32) for row in rows]), offsets)


def measure_common(first: list[int], second: list[int]) -> int:
    lengths = [0] * (len(second) + 1)
    for one in first:
        before = lengths.copy()
        for place, other in enumerate(second):
            lengths[place + 1] = before[place] + 1 if one == other else max(before[place + 1], lengths[place])
    return lengths[-1]


def compare_all_paths(tree: PrefixTree, supports: list[int], row: list[int]) -> int:
    spelled = tree.spell_paths(np.arange(len(tree)))
    paths = [spelled.labels[a:b].tolist() for a, b in zip(spelled.offsets[:-1], spelled.offsets[1:], strict=True)]
    keys = [(-measure_common(path, row), len(path), -supports[node], node) for node, path in enumerate(paths)]
    return min(keys)[-1]


@pytest.mark.parametrize(
    ("labels", "length", "rows"),
    [(3, 7, 400), (5, 8, 300), (150, 6, 200), (4, 90, 60)],  # few labels: trees are merged; long: several words
)
def test_no_path_is_closer(labels: int, length: int, rows: int) -> None:
    chance = np.random.default_rng(labels)
    drawn = chance.integers(0, labels, (rows, length))
    drawn[:, : length // 2] = np.sort(drawn[:, : length // 2], axis=1)
    sequences = [row[: chance.integers(1, length + 1)].tolist() for row in drawn]
    if labels > 64:  # labels that share a bit with those of other sequences
        sequences += [[label % 64, *row[1:]] for label, row in zip(drawn[:, 0].tolist(), sequences, strict=True)]
    listed = list_labels(sequences)
    tree, starts = grow_prefix_tree(listed, 2)
    supports = tree.count_supports(np.bincount(starts, minlength=len(tree)))
    found = find_closest(tree, supports, listed, starts)
    for row, node in list(zip(sequences, found.tolist(), strict=True))[::5]:
        assert node == compare_all_paths(tree, supports.tolist(), row)
