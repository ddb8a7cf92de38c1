# SPDX-License-Identifier: MIT
"""What happens at a node: the classes of rows, who judges them, and the cost of the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple, Protocol

import numpy as np

from sfumato.arrays import Codes, Flags, Floats, Ints
from sfumato.protect.anonymity.models.sensitive_values import ClassValues, SensitiveColumn

Levels = tuple[int, ...]


class WeightedRows(NamedTuple):
    """The distinct rows of a table, and how often each occurs."""

    codes: Codes
    """Columns × rows."""
    weights: Ints


@dataclass(frozen=True)
class NodeClasses:
    """The classes at one node: the number of rows in each, and the number of rows each is hidden among."""

    of_row: Codes
    sizes: Ints
    crowds: Ints
    """Equal to the sizes, unless missing cells match anything or nothing."""
    sensitive: Mapping[str, SensitiveColumn] = field(default_factory=dict)
    """The sensitive columns that models use."""
    match_values: Callable[[SensitiveColumn], ClassValues] | None = None
    """How to count values if classes overlap, because missing cells match anything."""
    population: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """How many people of the population fit each class."""
    absent_from_release: bool = False
    """Whether some people of the population fit no class."""
    fitting_classes: NodeClasses | None = None
    """All rows of the whole table that each class could be about, as classes, if classes overlap."""
    lone_mask: Flags | None = None
    """Classes whose rows match nobody, because a missing cell matches nothing."""
    first: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """One row of each class, if a node was grouped."""
    _values_by_column: dict[str, ClassValues] = field(default_factory=dict, repr=False)
    _measures: dict[str, Floats] = field(default_factory=dict, repr=False)

    def count_values(self, column: str) -> ClassValues:
        """The values of a sensitive column among the rows that each class is hidden among."""
        if column not in self._values_by_column:
            sensitive = self.sensitive[column]
            count_pairs = self.match_values or (lambda column: column.count_by_class(self.of_row, len(self.sizes)))
            self._values_by_column[column] = count_pairs(sensitive)
        return self._values_by_column[column]

    def measure_once(self, measure_name: str, measure: Callable[[], Floats]) -> Floats:
        """One number per class, cached: a model needs it to refuse, and again for what stays refused."""
        if measure_name not in self._measures:
            self._measures[measure_name] = measure()
        return self._measures[measure_name]


class ClassJudge(Protocol):
    """Decides which classes may be published."""

    @property
    def steady(self) -> bool:
        """Whether an accepted class stays accepted whatever is merged into it."""

    @property
    def by_size(self) -> ClassJudge | None:
        """The same without the models that need more than the size of a class; None if that is all or nothing."""

    def refuses(self, classes: NodeClasses) -> Flags:
        """Which classes may not be published."""

    def stays_refused(self, classes: NodeClasses, refused_mask: Flags) -> Floats:
        """A lower bound on the share of each class that is also refused at every finer node."""

    def forbids(self, classes: NodeClasses) -> bool:
        """Whether nothing may be published at this node."""


@dataclass(frozen=True)
class JudgedNode:
    """The classes at one node and which of them are refused; valid until the next node is grouped."""

    levels: Levels
    classes: NodeClasses
    refused_mask: Flags
    suppressed_count: int
    """Rows in refused classes."""
    lasting_shares: Floats
    """A lower bound on the share of each class that is also refused at every finer node."""
    lasting_rows: int
    """A lower bound on the rows that are refused at every finer node."""
    forbidden: bool


def judge_classes(levels: Levels, classes: NodeClasses, refused_mask: Flags, judge: ClassJudge) -> JudgedNode:
    """What it means for a node that some of its classes are refused."""
    suppressed_count = int((classes.sizes * refused_mask).sum())
    lasting_shares = judge.stays_refused(classes, refused_mask)
    rows = suppressed_count if judge.steady else ceil(float(lasting_shares @ classes.sizes.astype(np.float64)) - 1e-6)
    return JudgedNode(levels, classes, refused_mask, suppressed_count, lasting_shares, rows, judge.forbids(classes))


@dataclass(frozen=True)
class NodeVerdict:
    """The result of publishing at one node: which classes are refused, and the cost, in whole numbers."""

    levels: Levels
    suppressed_count: int
    """Rows in refused classes."""
    lasting_rows: int
    """A lower bound on the rows that are refused at every finer node."""
    costs: tuple[int, ...]
    """Per column, the leaves lost over all rows: those under the published value minus one, or all if suppressed."""
    lasting_costs: tuple[float, ...]
    """Per column, a lower bound on what suppression adds to the cost at every finer node."""
    squares: int
    """Σ (rows in a class × rows it is hidden among) over published classes."""
    crowd: int
    """The same over all classes, including refused ones; 0 if that bounds nothing."""
    classes: int
    """The number of published classes."""
