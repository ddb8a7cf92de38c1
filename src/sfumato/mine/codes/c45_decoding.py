# SPDX-License-Identifier: MIT
"""Decode a C4.5 tree that a provider grew on codes to the originals' own values.

As for other trees, decoding is by location: the rows that go to each side are known, so the threshold is put between
their original numbers; words get their names back. Nothing about the settings must be refused: thresholds are at
boundary points only, where permuted values never are. A tree of another table or key is rejected: at every node the
rows of each class are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.errors import DataError, PolicyError, quote_some_names
from sfumato.key import Key
from sfumato.mine.codes.c45_nodes import C45Nodes, NodeCells, widen_sides
from sfumato.public.codes.learner_columns import convert_for_learners
from sfumato.public.codes.tree_key import TreeKey
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.mine.codes.c45 import BranchColumn, C45Tree

_WRONG_MODEL = "the tree was not trained on this table under this key"


def decode_c45(tree: C45Tree, key: Key, table: Table) -> C45Tree:
    """The tree that the originals would have given."""
    from sfumato.mine.codes.decoded_tree import index_classes, list_kept_classes

    tree_key = TreeKey.open(key, table)
    names = [str(name) for name in tree.classes_]
    order = index_classes(names, tree_key)
    codes = tree_key.labels.number_values(table.frame[tree_key.target], table.source)
    if int(codes.min(initial=0)) < 0 or int(order[codes].min(initial=0)) < 0:
        raise DataError(f"{_WRONG_MODEL}: some rows have a class that it does not predict")
    coded_cells, true = _read_both_forms(tree, tree_key, table)
    turned_mask = _flag_falling_tests(tree, tree_key)
    walk = _TreeDescent.of(tree.nodes, coded_cells, true, order[codes], turned_mask)
    if not np.array_equal(walk.tally, tree.nodes.tally):
        raise DataError(f"{_WRONG_MODEL}: other rows, or rows of other classes, reach its nodes")
    missing = walk.choose_missing_sides(tree.nodes, turned_mask)
    nodes = replace(tree.nodes, threshold=walk.locate_thresholds(tree.nodes), missing=missing)
    nodes = nodes.arrange(nodes.children, turned_mask)
    return replace(
        tree,
        target=tree_key.target,
        classes_=np.array(tree_key.labels.values)[list_kept_classes(names, tree_key)],
        columns=tuple(_restore_words(column, tree_key) for column in tree.columns),
        nodes=replace(nodes, tally=nodes.tally[:, order[order >= 0]]),
    )


def _read_both_forms(tree: C45Tree, key: TreeKey, table: Table) -> tuple[NodeCells, NodeCells]:
    """The columns as the provider's learner saw them, and as they are; words have the same indices in both."""
    encoded_frame = key.encode(table, key.locate_cells(table)).drop(table.identifying if table.roles else [])
    absent = [column.name for column in tree.columns if column.name not in encoded_frame.columns]
    if absent:
        raise PolicyError(f"{table.source}: {quote_some_names(absent)} is not a column of the release; the tree has it")
    coded_cells = tuple(column.read(encoded_frame, table.source) for column in tree.columns)
    true = tuple(
        convert_for_learners(table.frame[column.name], table.source) if column.words is None else cells
        for column, cells in zip(tree.columns, coded_cells, strict=True)
    )
    return NodeCells(coded_cells), NodeCells(true)


def _flag_falling_tests(tree: C45Tree, key: TreeKey) -> Flags:
    falls = [column.name in key.columns and not key.columns[column.name].rising for column in tree.columns]
    return np.array([*falls, False])[tree.nodes.column]


def _restore_words(column: BranchColumn, key: TreeKey) -> BranchColumn:
    if column.words is None or column.name not in key.categories:
        return column
    names = key.categories[column.name]
    code_values = dict(zip(names.codes, names.values, strict=True))
    if any(word is not None and word not in code_values for word in column.words):
        raise DataError(f'{_WRONG_MODEL}: words of "{column.name}" are not codes of the key')
    return replace(column, words=tuple(None if word is None else code_values[word] for word in column.words))


@dataclass(frozen=True, eq=False)
class _TreeDescent:
    """What was seen at each node when the rows went down by their codes; sides are those of the originals."""

    tally: Ints
    sides: Floats
    """The largest original number on the lower side, and the smallest on the upper one."""
    known_counts: Ints
    """Nodes × sides: rows whose number is known."""
    missing: Ints
    """Rows whose number is missing."""

    @classmethod
    def of(
        cls, nodes: C45Nodes, coded_cells: NodeCells, true: NodeCells, classes: Ints, turned_mask: Flags
    ) -> _TreeDescent:
        many = len(nodes)
        sides = np.tile([-np.inf, np.inf], (many, 1))
        tally, known_counts, missing = (
            np.zeros_like(nodes.tally),
            np.zeros((many, 2), np.int64),
            np.zeros(many, np.int64),
        )
        rows, node = np.arange(len(classes)), np.zeros(len(classes), dtype=np.int64)
        while len(rows):
            np.add.at(tally, (node, classes[rows]), 1)
            rows, node = rows[nodes.column[node] >= 0], node[nodes.column[node] >= 0]
            child = coded_cells.step(nodes, rows, node)
            for index in np.unique(nodes.column[node]):
                values = true.columns[index][rows]
                if values.dtype != np.float32:
                    continue
                row_mask = nodes.column[node] == index
                missing += np.bincount(node[row_mask & np.isnan(values)], minlength=many)
                row_mask &= ~np.isnan(values)
                row_nodes = node[row_mask]
                upper = (child[row_mask] > nodes.first[row_nodes]) ^ turned_mask[row_nodes]
                widen_sides(sides, row_nodes, values[row_mask].astype(np.float32), upper)
                np.add.at(known_counts, (row_nodes, upper.astype(np.int64)), 1)
            rows, node = rows[child != node], child[child != node]
        return cls(tally, sides, known_counts, missing)

    def locate_thresholds(self, nodes: C45Nodes) -> Floats:
        """Half-way between the originals' numbers; rejected where these do not separate."""
        tests = nodes.missing >= 0
        lower, upper = self.sides[tests, 0], self.sides[tests, 1]
        if not bool((np.isfinite(lower) & np.isfinite(upper) & (lower < upper)).all()):
            raise DataError(f"{_WRONG_MODEL}: a test separates codes, but not the originals")
        threshold = np.full(len(nodes), np.nan)
        threshold[tests] = (lower + upper) / 2
        return threshold

    def choose_missing_sides(self, nodes: C45Nodes, turned_mask: Flags) -> Ints:
        """As the tree has it; where nothing is missing, the larger side of the originals, the lower one if equal."""
        upper = (self.known_counts[:, 1] > self.known_counts[:, 0]) ^ turned_mask
        return np.where((nodes.missing < 0) | (self.missing > 0), nodes.missing, upper)
