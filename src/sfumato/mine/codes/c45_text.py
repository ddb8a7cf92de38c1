# SPDX-License-Identifier: MIT
"""A C4.5 tree as text, in the manner of Quinlan's program."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.mine.codes.c45 import C45Tree

MISSING = "(missing)"


def write_rules(tree: C45Tree) -> str:
    """One line per branch; at leaves the class, the training rows, and how many of them have another class."""
    nodes, lines = tree.nodes, []
    if nodes.column[0] < 0:
        return _name_leaf(tree, 0)
    stack = [(child, 0, 0) for child in reversed(_list_children(tree, 0))]
    while stack:
        node, parent, depth = stack.pop()
        end = f": {_name_leaf(tree, node)}" if nodes.column[node] < 0 else ""
        lines.append(f"{'|   ' * depth}{_name_branch(tree, parent, node)}{end}")
        if nodes.column[node] >= 0:
            stack += [(child, node, depth + 1) for child in reversed(_list_children(tree, node))]
    return "\n".join(lines)


def _list_children(tree: C45Tree, node: int) -> list[int]:
    first = int(tree.nodes.first[node])
    return list(range(first, first + int(tree.nodes.children[node])))


def _name_branch(tree: C45Tree, parent: int, node: int) -> str:
    column = tree.columns[int(tree.nodes.column[parent])]
    if column.words is None:
        sign = "<=" if node == tree.nodes.first[parent] else ">"
        return f"{_join_lines(column.name)} {sign} {tree.nodes.threshold[parent]:.9g}"
    word = column.words[int(tree.nodes.word[node])]
    return f"{_join_lines(column.name)} = {MISSING if word is None else _join_lines(word)}"


def _name_leaf(tree: C45Tree, node: int) -> str:
    tally = tree.nodes.tally[node]
    wrong = int(tally.sum() - tally.max())
    return f"{_join_lines(str(tree.classes_[tally.argmax()]))} ({int(tally.sum())}{f'/{wrong}' if wrong else ''})"


def _join_lines(text: str) -> str:
    """A line break in a name or a word must not look like a branch."""
    return "\\n".join(text.splitlines()) if len(text.splitlines()) > 1 else text
