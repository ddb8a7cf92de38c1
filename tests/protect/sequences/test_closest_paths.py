# SPDX-License-Identifier: MIT
"""The closest path of a prefix tree against a comparison with every path."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.protect.sequences import closest_paths
from sfumato.protect.sequences.closest_paths import find_closest
from sfumato.protect.sequences.prefix_tree import LabelLists, PrefixTree, grow_prefix_tree
from tests.brute_sequences import count_common


def list_labels(rows: list[list[int]]) -> LabelLists:
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    return LabelLists(np.concatenate([np.array(row, dtype=np.int32) for row in rows]), offsets)


def compare_all_paths(tree: PrefixTree, supports: list[int], row: list[int]) -> int:
    spelled = tree.spell_paths(np.arange(len(tree)))
    paths = [spelled.labels[a:b].tolist() for a, b in zip(spelled.offsets[:-1], spelled.offsets[1:], strict=True)]
    keys = [(-count_common(path, row), len(path), -supports[node], node) for node, path in enumerate(paths)]
    return min(keys)[-1]


def find_by_comparison(labels: int, length: int, rows: int) -> list[int]:
    """The closest path of every fifth sequence, by comparing all."""
    sequences = draw_sequences(labels, length, rows)
    tree, starts = grow_prefix_tree(list_labels(sequences), 2)
    supports = tree.count_supports(np.bincount(starts, minlength=len(tree)))
    return [compare_all_paths(tree, supports.tolist(), row) for row in sequences[::5]]


def draw_sequences(labels: int, length: int, rows: int) -> list[list[int]]:
    chance = np.random.default_rng(labels)
    label_draws = chance.integers(0, labels, (rows, length))
    label_draws[:, : length // 2] = np.sort(label_draws[:, : length // 2], axis=1)
    sequences = [row[: chance.integers(1, length + 1)].tolist() for row in label_draws]
    if labels > 64:  # labels that share a bit with those of other sequences
        sequences += [[label % 64, *row[1:]] for label, row in zip(label_draws[:, 0].tolist(), sequences, strict=True)]
    return sequences


@pytest.mark.parametrize(
    ("labels", "length", "rows"),
    [(3, 7, 400), (5, 8, 300), (150, 6, 200), (4, 90, 60), (3, 200, 60)],  # one, two and four words
)
def test_no_path_is_closer(labels: int, length: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = list_labels(draw_sequences(labels, length, rows))
    tree, starts = grow_prefix_tree(listed, 2)
    supports = tree.count_supports(np.bincount(starts, minlength=len(tree)))
    expected = find_by_comparison(labels, length, rows)
    for worthwhile in (0, 20, 10**9):  # always a smaller tree, sometimes, never
        monkeypatch.setattr(closest_paths, "WORTHWHILE", worthwhile)
        nearest_paths = find_closest(tree, supports, listed, starts)
        assert nearest_paths[::5].tolist() == expected, f"WORTHWHILE = {worthwhile}"


@pytest.mark.parametrize(("name", "value"), [("CHUNK", 7), ("BATCH_SIZE", 3), ("ROOM", 1)])
def test_how_many_are_searched_for_together_changes_nothing(
    name: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = list_labels([*draw_sequences(5, 8, 60), *draw_sequences(4, 150, 20)])
    tree, starts = grow_prefix_tree(listed, 2)
    supports = tree.count_supports(np.bincount(starts, minlength=len(tree)))
    expected = find_closest(tree, supports, listed, starts)
    monkeypatch.setattr(closest_paths, "WORTHWHILE", 5)
    monkeypatch.setattr(closest_paths, name, value)
    assert find_closest(tree, supports, listed, starts).tolist() == expected.tolist()


def test_paths_too_deep_to_be_rated_are_refused() -> None:
    depth = (1 << 17) + 1
    listed = list_labels([[0] * depth, [0] * depth, [*([0] * depth), 1]])
    # As `grow_prefix_tree` makes it, which takes long: one node a level.
    labels, ends = np.zeros(depth + 1, dtype=np.int32), np.full(depth + 1, depth + 1)
    tree = PrefixTree(np.arange(-1, depth), labels, np.arange(depth + 1), ends)
    starts = np.full(3, depth)
    supports = tree.count_supports(np.bincount(starts, minlength=len(tree)))
    with pytest.raises(DataError, match="131,073 elements, and at most 131,071 can be compared"):
        find_closest(tree, supports, listed, starts)
