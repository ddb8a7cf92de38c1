# SPDX-License-Identifier: MIT
"""The classes that the rows of a table fall into once their values are generalized to some levels.

Rows are compressed to distinct ones with weights; each column's hierarchy becomes lookup tables; a node of
the lattice is then grouped in one pass (`kernels/lattice.py`). Missing cells count by their declared meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.data.hierarchy import SUPPRESSED, Hierarchy
from sfumato.table import Missing, Table

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Levels = tuple[int, ...]

_DIRECT = 1 << 16
_BUNDLE = 1 << 12
_LARGEST_KEY = 1 << 62


@dataclass(frozen=True)
class Classes:
    """The classes at one node: how many rows are in each, and among how many rows each of them is hidden."""

    of_row: Codes
    sizes: Ints
    crowds: Ints
    """Equal to the sizes, except where missing cells match anything or nothing."""


@dataclass(frozen=True)
class Judged:
    """The classes at one node and which of them are refused; good until the next node is grouped."""

    levels: Levels
    classes: Classes
    refused: Flags
    suppressed: int
    """Rows in refused classes."""


@dataclass(frozen=True)
class Verdict:
    """What publishing at one node means: which classes are refused, and what it costs, in whole numbers."""

    levels: Levels
    suppressed: int
    """Rows in refused classes."""
    costs: tuple[int, ...]
    """Per column, the leaves lost over all rows: those under the published value less one, or all if suppressed."""
    excess: tuple[int, ...]
    """The part of the costs that comes from suppression alone."""
    squares: int
    """Σ (rows in a class × rows it is hidden among) over published classes."""
    crowd: int
    """The same over all classes, refused ones too; 0 where that bounds nothing."""
    classes: int
    """How many classes are published."""


class Grouping:
    """The rows of a table, ready to be grouped at any node of the lattice of its hierarchies."""

    def __init__(self, hierarchies: tuple[Hierarchy, ...], codes: Codes, missing: Missing) -> None:
        """Compress the rows (one row of `codes` a column) to distinct ones."""
        self.codes = codes
        self.hierarchies = hierarchies
        self.missing = missing
        self.rows: int = codes.shape[1]
        self.shape: Levels = tuple(hierarchy.height + 1 for hierarchy in hierarchies)
        self._widths = [len(hierarchy.rows) + 1 for hierarchy in hierarchies]
        self._starts = np.concatenate([[0], np.cumsum(self._widths)[:-1]]).astype(np.int64)
        self._tables = [[hierarchy.groups(level) for level in range(hierarchy.height + 1)] for hierarchy in hierarchies]
        self._bundles = _bundles(self._widths)
        self._prepare(np.ascontiguousarray(codes), np.ones(self.rows, dtype=np.int64))
        first, of_row = self._distinct()
        weights = np.bincount(of_row, minlength=len(first)).astype(np.int64)
        self.distinct_of_row = of_row
        self._prepare(np.ascontiguousarray(codes[:, first]), weights)

    @classmethod
    def of(cls, table: Table) -> Grouping:
        """The quasi-identifying columns of a table."""
        names = table.quasi_identifying
        hierarchies = tuple(table.hierarchy(name) for name in names)
        codes = [h.codes(table.frame[name]) for name, h in zip(names, hierarchies, strict=True)]
        return cls(hierarchies, np.array(codes, dtype=np.int32), table.missing)

    def _prepare(self, codes: Codes, weights: Ints) -> None:
        self._codes, self._weights = codes, weights
        count = codes.shape[1]
        self._bundled = [_bundle(codes, self._widths, columns) for columns in self._bundles]
        self._keys = np.zeros(count, dtype=np.int64)
        slots = 1 << max(int(2 * count).bit_length(), 4)
        self._slot_class = np.full(max(slots, _DIRECT), -1, dtype=np.int32)
        self._slot_key = np.zeros(len(self._slot_class), dtype=np.int64)
        self._of_row = np.zeros(count, dtype=np.int32)
        self._sizes = np.zeros(2 * count, dtype=np.int64)
        self._absent = np.array([codes[i] == len(h.rows) for i, h in enumerate(self.hierarchies)])

    def _distinct(self) -> tuple[Ints, Codes]:
        of_row, sizes = self._group(tuple(0 for _ in self.shape))
        first = np.zeros(len(sizes), dtype=np.int64)
        first[of_row[::-1]] = np.arange(self.rows - 1, -1, -1)
        return first, of_row.copy()

    def _group(self, levels: Levels) -> tuple[Codes, Ints]:
        """Class number of each distinct row, and class sizes; in several passes where a 62-bit key is too short."""
        from sfumato.kernels.lattice import add_to_keys

        most = _LARGEST_KEY // max(len(self._weights), 1)
        self._keys[:] = 0
        radix, count = 1, 1
        for columns, codes in zip(self._bundles, self._bundled, strict=True):
            groups = prod(self._tables[column][levels[column]][1] for column in columns)
            if groups == 1:
                continue
            if radix * groups > most:  # the classes so far become the first digit of a new key
                count = self._number(radix)
                self._keys[:] = self._of_row
                radix = count
            add_to_keys(self._keys, codes, self._lookup(columns, levels, radix))
            radix *= groups
        count = self._number(radix)
        return self._of_row, self._sizes[:count]

    def _number(self, radix: int) -> int:
        from sfumato.kernels.lattice import group_keys

        return int(
            group_keys(self._keys, self._weights, radix, self._slot_key, self._slot_class, self._of_row, self._sizes)
        )

    def _lookup(self, columns: tuple[int, ...], levels: Levels, radix: int) -> Ints:
        """What the leaves of some columns, taken together, add to the key at a node."""
        lookup = np.zeros(1, dtype=np.int64)
        for column in columns:
            table, groups = self._tables[column][levels[column]]
            lookup = np.add.outer(lookup, table.astype(np.int64) * radix).ravel()
            radix *= groups
        return lookup

    def classes(self, levels: Levels) -> Classes:
        """The classes at a node."""
        of_row, sizes = self._group(levels)
        if self.missing in (Missing.OWN_VALUE, Missing.DROP) or not self._absent.any():
            return Classes(of_row, sizes, sizes)
        return Classes(of_row, sizes, self._crowds(levels, of_row, sizes, np.ones(len(sizes), dtype=np.bool_)))

    def _crowds(self, levels: Levels, of_row: Codes, sizes: Ints, kept: Flags) -> Ints:
        """Among how many kept rows a row of each class is hidden, when missing cells match anything or nothing."""
        first = np.zeros(len(sizes), dtype=np.int64)
        first[of_row] = np.arange(len(of_row))
        open_levels = [not h.swallows_missing(level) for h, level in zip(self.hierarchies, levels, strict=True)]
        unknown = (self._absent & np.array(open_levels)[:, None])[:, first]
        if self.missing is Missing.NEVER_MATCHES:
            return np.where(unknown.any(axis=0), 1, sizes)
        groups = np.array(
            [self._tables[i][level][0][self._codes[i, first]] for i, level in enumerate(levels)], dtype=np.int64
        )
        return _matching_any(groups, unknown, np.where(kept, sizes, 0))

    def refused(self, levels: Levels, classes: Classes, refuses: Callable[[Classes], Flags]) -> tuple[Classes, Flags]:
        """The classes that may not be published; suppressing rows may thin out the crowd of others, so again."""
        refused = refuses(classes)
        if self.missing is not Missing.MATCHES_ANY or classes.crowds is classes.sizes:
            return classes, refused
        while True:
            crowds = self._crowds(levels, classes.of_row, classes.sizes, ~refused)
            classes = Classes(classes.of_row, classes.sizes, crowds)
            again = refused | refuses(classes)
            if (again == refused).all():
                return classes, refused
            refused = again

    def judged(self, levels: Levels, refuses: Callable[[Classes], Flags]) -> Judged:
        """Group the rows at a node and judge the classes."""
        classes, refused = self.refused(levels, self.classes(levels), refuses)
        return Judged(levels, classes, refused, int(classes.sizes[refused].sum()))

    def verdict(self, levels: Levels, refuses: Callable[[Classes], Flags]) -> Verdict:
        """Group, judge and count the cost at a node."""
        return self.cost(self.judged(levels, refuses))

    def cost(self, judged: Judged) -> Verdict:
        """Count the cost of a node that was just judged."""
        from sfumato.kernels.lattice import refused_rows

        levels, classes, refused = judged.levels, judged.classes, judged.refused
        excess = np.zeros(len(levels), dtype=np.int64)
        if judged.suppressed:
            spared = np.concatenate([self.spared[i][level] for i, level in enumerate(levels)])
            refused_rows(self._codes, self._starts, spared, self._weights, classes.of_row, refused, excess)
        hidden_among = classes.sizes * classes.crowds
        # Where missing cells match anything, crowds shrink with suppression and bound nothing.
        crowd = 0 if self.missing is Missing.MATCHES_ANY else int(hidden_among.sum())
        return Verdict(
            levels=levels,
            suppressed=judged.suppressed,
            costs=tuple(int(self.marginals[i][level] + excess[i]) for i, level in enumerate(levels)),
            excess=tuple(excess.tolist()),
            squares=int(hidden_among[~refused].sum()),
            crowd=crowd,
            classes=int(len(refused) - np.count_nonzero(refused)),
        )

    def suppressed_rows(self, levels: Levels, refuses: Callable[[Classes], Flags]) -> Flags:
        """Which rows of the table are suppressed at a node."""
        classes, refused = self.refused(levels, self.classes(levels), refuses)
        flags: Flags = refused[classes.of_row][self.distinct_of_row]
        return flags

    @cached_property
    def scales(self) -> tuple[int, ...]:
        """Per column, what a suppressed cell costs: all leaves but one (1 for a hierarchy of a single leaf)."""
        return tuple(max(len(hierarchy.rows) - 1, 1) for hierarchy in self.hierarchies)

    @cached_property
    def lost(self) -> list[list[Ints]]:
        """Per column and level, the leaves that a cell loses, by leaf; the last entry is a missing cell."""
        return [
            [_lost(hierarchy, level, scale) for level in range(hierarchy.height + 1)]
            for hierarchy, scale in zip(self.hierarchies, self.scales, strict=True)
        ]

    @cached_property
    def spared(self) -> list[list[Ints]]:
        """Per column and level, how many leaves more a suppressed cell loses than a published one."""
        return [[scale - lost for lost in levels] for levels, scale in zip(self.lost, self.scales, strict=True)]

    @cached_property
    def marginals(self) -> list[Ints]:
        """Per column, the cost at each level when nothing is suppressed."""
        totals = []
        for column, levels in enumerate(self.lost):
            counts = np.zeros(len(levels[0]), dtype=np.int64)
            np.add.at(counts, self._codes[column], self._weights)
            totals.append(np.array([int(counts @ lost) for lost in levels], dtype=np.int64))
        return totals


def _lost(hierarchy: Hierarchy, level: int, scale: int) -> Ints:
    """The leaves that a cell loses at a level, by leaf and last for a missing cell; a `*` for everything loses all."""
    here = hierarchy.levels[level]
    everything = (np.array(here.labels) == SUPPRESSED) & (here.leaves_under == len(hierarchy.rows))
    of_group = np.where(everything, scale, here.leaves_under - 1)
    missing = of_group[0] if hierarchy.swallows_missing(level) else 0
    return np.append(of_group[here.group_of_leaf], missing).astype(np.int64)


def _bundles(widths: list[int]) -> list[tuple[int, ...]]:
    """Neighbouring columns whose leaves have few combinations are looked up together: fewer lookups a row."""
    bundles: list[tuple[int, ...]] = []
    size = 0
    for column, width in enumerate(widths):
        if bundles and size * width <= _BUNDLE:
            bundles[-1] = (*bundles[-1], column)
            size *= width
        else:
            bundles.append((column,))
            size = width
    return bundles


def _bundle(codes: Codes, widths: list[int], columns: tuple[int, ...]) -> Codes:
    together = codes[columns[0]]
    for column in columns[1:]:
        together = together * np.int32(widths[column]) + codes[column]
    return np.ascontiguousarray(together)


def _matching_any(groups: Ints, unknown: Flags, sizes: Ints) -> Ints:
    """Rows that agree with a class wherever both are known, for every class; one grouping a pair of patterns."""
    crowds: Ints = np.zeros(len(sizes), dtype=np.int64)
    patterns, pattern_of = np.unique(unknown, axis=1, return_inverse=True)
    members = [np.flatnonzero(pattern_of.ravel() == number) for number in range(patterns.shape[1])]
    for one, ours in enumerate(members):
        for other, theirs in enumerate(members):
            common = ~patterns[:, one] & ~patterns[:, other]
            if not common.any():
                crowds[ours] += sizes[theirs].sum()
                continue
            both = np.concatenate([groups[common][:, ours], groups[common][:, theirs]], axis=1)
            _, key = np.unique(both, axis=1, return_inverse=True)
            keys: Any = key.ravel()
            totals = np.zeros(int(keys.max()) + 1, dtype=np.int64)
            np.add.at(totals, keys[len(ours) :], sizes[theirs])
            crowds[ours] += totals[keys[: len(ours)]]
    return crowds
