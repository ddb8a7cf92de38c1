# SPDX-License-Identifier: MIT
"""The words for what happens at a node: classes of rows, who judges them, what the verdict costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sfumato.arrays import Codes, Flags, Floats, Ints
from sfumato.protect.anonymity.sensitive_values import ClassValues, SensitiveColumn

Levels = tuple[int, ...]


@dataclass(frozen=True)
class NodeClasses:
    """The classes at one node: how many rows are in each, and among how many rows each of them is hidden."""

    of_row: Codes
    sizes: Ints
    crowds: Ints
    """Equal to the sizes, except where missing cells match anything or nothing."""
    sensitive: Mapping[str, SensitiveColumn] = field(default_factory=dict)
    """The sensitive columns that models look at."""
    overlapping: Callable[[SensitiveColumn], ClassValues] | None = None
    """How to count values where classes overlap, because missing cells match anything."""
    population: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """How many people of the population fit each class."""
    absent_from_release: bool = False
    """Whether some people of the population fit no class."""
    alone: Flags | None = None
    """Classes whose rows match nobody, because a missing cell matches nothing."""
    first: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """A row of each class, where a node was grouped."""
    _counted: dict[str, ClassValues] = field(default_factory=dict, repr=False)
    _measured: dict[str, Floats] = field(default_factory=dict, repr=False)

    def pairs(self, column: str) -> ClassValues:
        """The values of a sensitive column that occur in the crowd of each class."""
        if column not in self._counted:
            sensitive = self.sensitive[column]
            count_pairs = self.overlapping or (lambda column: column.pairs(self.of_row, len(self.sizes)))
            self._counted[column] = count_pairs(sensitive)
        return self._counted[column]

    def measured(self, what: str, measure: Callable[[], Floats]) -> Floats:
        """One number a class, measured once: a model asks for it to refuse, and again to say what stays refused."""
        if what not in self._measured:
            self._measured[what] = measure()
        return self._measured[what]


class ClassJudge(Protocol):
    """Whoever says which classes may be published."""

    @property
    def steady(self) -> bool:
        """Whether an accepted class stays accepted whatever joins it."""

    def refuses(self, classes: NodeClasses) -> Flags:
        """Which classes may not be published."""

    def stays_refused(self, classes: NodeClasses, refused: Flags) -> Floats:
        """The share of each class that is refused at every finer node too, at least."""

    def forbids(self, classes: NodeClasses) -> bool:
        """Whether nothing may be published at this node."""


@dataclass(frozen=True)
class JudgedNode:
    """The classes at one node and which of them are refused; good until the next node is grouped."""

    levels: Levels
    classes: NodeClasses
    refused: Flags
    suppressed: int
    """Rows in refused classes."""
    lasting: Floats
    """The share of each class that is refused at every finer node too, at least."""
    lasting_rows: int
    """So many rows are refused at every finer node, at least."""
    forbidden: bool


@dataclass(frozen=True)
class NodeVerdict:
    """What publishing at one node means: which classes are refused, and what it costs, in whole numbers."""

    levels: Levels
    suppressed: int
    """Rows in refused classes."""
    lasting_rows: int
    """So many rows are refused at every finer node, at least."""
    costs: tuple[int, ...]
    """Per column, the leaves lost over all rows: those under the published value less one, or all if suppressed."""
    lasting: tuple[float, ...]
    """Per column, what suppression adds to the costs at every finer node, at least."""
    squares: int
    """Σ (rows in a class × rows it is hidden among) over published classes."""
    crowd: int
    """The same over all classes, refused ones too; 0 where that bounds nothing."""
    classes: int
    """How many classes are published."""
