# SPDX-License-Identifier: MIT
"""A C4.5 tree as JSON, and back; a file is checked before it is used, so that a tree is a tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Flags
from sfumato.errors import DataError
from sfumato.mine.codes.c45 import BranchColumn, C45Tree
from sfumato.mine.codes.c45_nodes import NO_NODE, C45Nodes

FORM = 1
"""The version of the JSON form."""
LEARNER = "C45Tree"


def describe_c45(tree: C45Tree) -> dict[str, Any]:
    """The content of a file."""
    nodes = tree.nodes
    return {
        "sfumato_tree": FORM,
        "learner": LEARNER,
        "target": tree.target,
        "settings": {"min_rows": tree.min_rows, "confidence": tree.confidence},
        "features": [column.name for column in tree.columns],
        "words": [None if column.words is None else list(column.words) for column in tree.columns],
        "classes": [str(name) for name in tree.classes_],
        "column": nodes.column.tolist(),
        "threshold": [None if np.isnan(threshold) else threshold for threshold in nodes.threshold.tolist()],
        "missing": nodes.missing.tolist(),
        "children": nodes.children.tolist(),
        "word": nodes.word.tolist(),
        "tally": nodes.tally.tolist(),
    }


def build_c45(content: dict[str, Any], source: str) -> C45Tree:
    """The tree of a file's content."""
    column, missing, children, word = (
        np.array(content[part], dtype=np.int64) for part in ("column", "missing", "children", "word")
    )
    threshold = np.array([np.nan if number is None else float(number) for number in content["threshold"]])
    tally = np.array(content["tally"], dtype=np.int64)
    words = content["words"]
    columns = tuple(
        BranchColumn(
            str(name),
            None if column_words is None else tuple(None if text is None else str(text) for text in column_words),
        )
        for name, column_words in zip(content["features"], words, strict=True)
    )
    classes = np.array([str(name) for name in content["classes"]])
    first = np.where(children > 0, 1 + np.cumsum(children) - children, NO_NODE)
    nodes = C45Nodes(column, threshold, missing, first, children, word, tally)
    if not _make_a_tree(nodes, columns, len(classes)) or len(set(content["classes"])) != len(classes):
        raise DataError(f"{source}: the nodes do not make a C4.5 tree")
    settings = content["settings"]
    confidence = settings["confidence"]
    return C45Tree(
        str(content["target"]), classes, columns, nodes, int(settings["min_rows"]),
        None if confidence is None else float(confidence),
    )  # fmt: skip


def _make_a_tree(nodes: C45Nodes, columns: tuple[BranchColumn, ...], classes: int) -> bool:
    """Whether levels follow each other, tests fit their columns, and rows of children add up to their parents'."""
    many, inner = len(nodes), nodes.column >= 0
    parts = (nodes.threshold, nodes.missing, nodes.children, nodes.word)
    if not many or any(len(part) != many for part in parts) or nodes.tally.shape != (many, classes):
        return False
    numeric = np.array([*(column.words is None for column in columns), False])
    if int(nodes.column.max()) >= len(columns) or int(nodes.column.min()) < NO_NODE:
        return False
    number = numeric[nodes.column] & inner
    has_shape = (
        int(nodes.children.min()) >= 0
        and int(nodes.children.sum()) == many - 1
        and np.array_equal(nodes.children > 0, inner)
        and bool((nodes.first[inner] > np.flatnonzero(inner)).all())
        and bool((nodes.children[number] == 2).all() and np.isfinite(nodes.threshold[number]).all())
        and bool(np.isin(nodes.missing[number], (0, 1)).all() and (nodes.missing[~number] == NO_NODE).all())
    )
    return has_shape and _fit_words(nodes, columns, number) and _add_up(nodes)


def _fit_words(nodes: C45Nodes, columns: tuple[BranchColumn, ...], number: Flags) -> bool:
    """Whether every child of a test of words has a word of its own, and no other node has one."""
    if any(column.words is not None and len(set(column.words)) < len(column.words) for column in columns):
        return False
    widths = np.array([0 if column.words is None else len(column.words) for column in columns] + [0])
    parent = np.repeat(np.arange(len(nodes)), nodes.children)
    word, of_words = nodes.word[1:], ~number[parent]
    fit = np.where(of_words, (word >= 0) & (word < widths[nodes.column[parent]]), word == NO_NODE)
    pairs = np.column_stack((parent, word))[of_words]
    return int(nodes.word[0]) == NO_NODE and bool(fit.all()) and len(np.unique(pairs, axis=0)) == len(pairs)


def _add_up(nodes: C45Nodes) -> bool:
    if int(nodes.tally.min()) < 0 or int(nodes.tally.sum(axis=1).min()) < 1:
        return False
    inner = np.flatnonzero(nodes.column >= 0)
    if not len(inner):
        return True
    return np.array_equal(np.add.reduceat(nodes.tally, nodes.first[inner], axis=0), nodes.tally[inner])
