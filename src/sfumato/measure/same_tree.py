# SPDX-License-Identifier: MIT
"""Whether two decision trees are the same, and whether codes and originals give the same tree.

The second needs no key: at every node the rows that go one way under the codes must be those that go one way under
the originals. It grows trees with scikit-learn on both, and shares nothing with the encoding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.table import Table

Ints = npt.NDArray[np.int64]
_LEAF = -1
SETTINGS: tuple[dict[str, Any], ...] = (
    {"criterion": "gini"},
    {"criterion": "entropy"},
    {"criterion": "gini", "max_depth": 6, "ccp_alpha": 0.001},
)
"""How trees are grown to compare codes with originals."""


def same_tree(one: Any, other: Any) -> bool:
    """Whether two fitted trees test the same columns at the same thresholds and tell the same classes, node by node."""
    if list(map(str, one.classes_)) != list(map(str, other.classes_)):
        return False
    first, second = one.tree_, other.tree_
    waiting = [(0, 0)]
    while waiting:
        a, b = waiting.pop()
        if not _same_node(first, second, a, b):
            return False
        if first.children_left[a] != _LEAF:
            waiting.append((int(first.children_left[a]), int(second.children_left[b])))
            waiting.append((int(first.children_right[a]), int(second.children_right[b])))
    return True


def _same_node(first: Any, second: Any, a: int, b: int) -> bool:
    leaf = first.children_left[a] == _LEAF
    if leaf != (second.children_left[b] == _LEAF) or first.n_node_samples[a] != second.n_node_samples[b]:
        return False
    if not np.allclose(first.value[a], second.value[b], rtol=1e-12, atol=0):
        return False
    return bool(
        leaf
        or (
            first.feature[a] == second.feature[b]
            and first.threshold[a] == second.threshold[b]
            and first.missing_go_to_left[a] == second.missing_go_to_left[b]
        )
    )


def trees_that_differ(published: Table, original: Table, target: str, columns: tuple[str, ...]) -> int:
    """Of some trees grown on both tables, how many do not split the rows alike at every node."""
    from sklearn.tree import DecisionTreeClassifier

    differ = 0
    for setting in SETTINGS:
        grown = []
        for table in (published, original):
            cells = table.frame.select(columns).to_numpy().astype(np.float32)
            classes = table.frame[target].rank("dense").to_numpy()
            grown.append((DecisionTreeClassifier(random_state=0, **setting).fit(cells, classes).tree_, cells))
        differ += not _same_splits(grown[0], grown[1])
    return differ


def _same_splits(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Whether both trees part the rows alike, left and right perhaps exchanged."""
    (first, codes), (second, values) = one, other
    waiting = [(0, 0, np.arange(len(codes)))]
    while waiting:
        a, b, rows = waiting.pop()
        leaf = first.children_left[a] == _LEAF
        if leaf != (second.children_left[b] == _LEAF) or (not leaf and first.feature[a] != second.feature[b]):
            return False
        if leaf:
            continue
        left, right = _goes_left(first, a, codes[rows]), _goes_left(second, b, values[rows])
        kids = (int(second.children_left[b]), int(second.children_right[b]))
        if np.array_equal(left, ~right):
            kids = (kids[1], kids[0])
        elif not np.array_equal(left, right):
            return False
        waiting.append((int(first.children_left[a]), kids[0], rows[left]))
        waiting.append((int(first.children_right[a]), kids[1], rows[~left]))
    return True


def _goes_left(tree: Any, node: int, cells: Any) -> npt.NDArray[np.bool_]:
    column = cells[:, tree.feature[node]]
    return np.asarray(np.where(np.isnan(column), tree.missing_go_to_left[node], column <= tree.threshold[node]), bool)
