# SPDX-License-Identifier: MIT
"""Whether two C4.5 trees are the same: tests, branches and rows of each class, node by node."""

from __future__ import annotations

import numpy as np

from sfumato.mine.codes.c45 import C45Tree


def same_c45_tree(tree: C45Tree, other: C45Tree) -> bool:
    """Whether two trees test the same columns in the same way and saw the same rows, whatever the order of words."""
    if list(map(str, tree.classes_)) != list(map(str, other.classes_)):
        return False
    waiting = [(0, 0)]
    while waiting:
        a, b = waiting.pop()
        if not np.array_equal(tree.nodes.tally[a], other.nodes.tally[b]) or _name_test(tree, a) != _name_test(other, b):
            return False
        first, second = _list_branches(tree, a), _list_branches(other, b)
        if set(first) != set(second):
            return False
        waiting += [(first[name], second[name]) for name in first]
    return True


def _name_test(tree: C45Tree, node: int) -> tuple[str, float, int] | None:
    column = int(tree.nodes.column[node])
    if column < 0:
        return None
    threshold = float(tree.nodes.threshold[node])
    return tree.columns[column].name, 0.0 if np.isnan(threshold) else threshold, int(tree.nodes.missing[node])


def _list_branches(tree: C45Tree, node: int) -> dict[str | int | None, int]:
    """The child of each word; of a number, the children by their sides."""
    nodes = tree.nodes
    children = range(int(nodes.first[node]), int(nodes.first[node] + nodes.children[node]))
    words = tree.columns[int(nodes.column[node])].words if nodes.column[node] >= 0 else None
    if words is None:
        return dict(enumerate(children))
    return {words[int(nodes.word[child])]: child for child in children}
