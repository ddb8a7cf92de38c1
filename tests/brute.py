# SPDX-License-Identifier: MIT
"""Anonymity by the book: plain Python over every node and every pair of rows, sharing nothing with the product."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

Cell = str | None
Row = tuple[Cell, ...]
Rows = list[Row]
HierarchyRows = list[list[str]]


def generalized(rows: Rows, hierarchies: Sequence[HierarchyRows], levels: Sequence[int]) -> Rows:
    """Each cell at its level; a missing cell stays missing unless the level has a single label."""
    published = []
    for row in rows:
        cells: list[Cell] = []
        for cell, hierarchy, level in zip(row, hierarchies, levels, strict=True):
            labels = {leaf[level] for leaf in hierarchy}
            if cell is None:
                cells.append(next(iter(labels)) if level > 0 and len(labels) == 1 else None)
            else:
                cells.append(next(leaf[level] for leaf in hierarchy if leaf[0] == cell))
        published.append(tuple(cells))
    return published


def matches(row: Row, other: Row, missing: str) -> bool:
    """Whether two different rows could be the same person, by the meaning of missing."""
    for a, b in zip(row, other, strict=True):
        if missing == "matches_any" and (a is None or b is None):
            continue
        if missing == "never_matches" and (a is None or b is None):
            return False
        if a != b:
            return False
    return True


def crowd_sizes(rows: Rows, missing: str) -> list[int]:
    """For each row, the rows it could be taken for, itself among them."""
    return [
        1 + sum(matches(row, other, missing) for j, other in enumerate(rows) if j != i) for i, row in enumerate(rows)
    ]


def fitting_sizes(published: Rows, people: Rows) -> list[int]:
    """For each published row, the people who have every cell that it shows; `people` are at the same levels."""
    return [
        sum(all(a is None or a == b for a, b in zip(row, person, strict=True)) for person in people)
        for row in published
    ]


def kept_rows(rows: Rows, k: int, missing: str) -> list[int]:
    """The largest set of rows in which each has a crowd of k; and fits k people, if missing cells match anything."""
    survivors = list(range(len(rows)))
    while True:
        sizes = crowd_sizes([rows[i] for i in survivors], missing)
        if missing == "matches_any":
            sizes = list(map(min, sizes, fitting_sizes([rows[i] for i in survivors], rows)))
        next_survivors = [i for i, size in zip(survivors, sizes, strict=True) if size >= k]
        if next_survivors == survivors:
            return survivors
        survivors = next_survivors


@dataclass(frozen=True)
class Node:
    """A node of the lattice, fully worked out."""

    levels: tuple[int, ...]
    suppressed: int
    loss: Fraction
    geometric: Fraction
    discernibility: int
    classes: int

    def cost(self, metric: str) -> Fraction:
        return {
            "loss": self.loss,
            "loss_geometric": self.geometric,
            "discernibility": Fraction(self.discernibility),
            "height": Fraction(sum(self.levels)),
        }[metric]

    def rank(self, metric: str) -> tuple[Fraction, Fraction, int, int, tuple[int, ...]]:
        return (self.cost(metric), self.loss, self.suppressed, sum(self.levels), self.levels)


def cell_loss(label: Cell, hierarchy: HierarchyRows, level: int) -> Fraction:
    scale = len(hierarchy) - 1
    if label is None:
        return Fraction(0)
    if label == "*":
        return Fraction(1)
    leaf_count = sum(leaf[level] == label for leaf in hierarchy)
    return Fraction(leaf_count - 1, scale) if scale else Fraction(0)


def work_out(rows: Rows, hierarchies: Sequence[HierarchyRows], levels: tuple[int, ...], k: int, missing: str) -> Node:
    published = generalized(rows, hierarchies, levels)
    survivors = set(kept_rows(published, k, missing))
    sizes = dict(zip(sorted(survivors), crowd_sizes([published[i] for i in sorted(survivors)], missing), strict=True))
    columns: list[Fraction] = []
    for j, (hierarchy, level) in enumerate(zip(hierarchies, levels, strict=True)):
        cell_losses = [
            cell_loss(published[i][j], hierarchy, level) if i in survivors else Fraction(1) for i in range(len(rows))
        ]
        columns.append(sum(cell_losses, Fraction()) / len(rows))
    return Node(
        levels=levels,
        suppressed=len(rows) - len(survivors),
        loss=sum(columns, Fraction()) / len(columns),
        geometric=prod((1 + column for column in columns), start=Fraction(1)),
        discernibility=sum(sizes.values()) + (len(rows) - len(survivors)) * len(rows),
        classes=len({published[i] for i in survivors}),
    )


def every_node(rows: Rows, hierarchies: Sequence[HierarchyRows], k: int, missing: str) -> Iterator[Node]:
    shape = [range(len(hierarchy[0])) for hierarchy in hierarchies]
    for levels in product(*shape):
        yield work_out(rows, hierarchies, levels, k, missing)


def best_node(nodes: Sequence[Node], metric: str, most_suppressed: int) -> Node | None:
    """The best node that publishes someone and suppresses no more than allowed."""
    allowed = [node for node in nodes if node.suppressed <= most_suppressed and node.classes]
    return min(allowed, key=lambda node: node.rank(metric), default=None)
