# SPDX-License-Identifier: MIT
"""How often each sensitive value occurs in each class: the input of l-diversity, t-closeness and related models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Codes, Flags, Floats, Ints, Places
from sfumato.data.hierarchies.hierarchy import Hierarchy, spell_cells
from sfumato.errors import DataError, ask_meant
from sfumato.table import Table

_DENSE = 1 << 22
_SPARSE, _SPARSE_BLOCK = 3, 16
"""This many places for each pair may be empty before pairs are sorted instead: at once, and in blocks."""
_BLOCK = 1 << 18
"""Places of a block, if classes can be split so finely."""


@dataclass(frozen=True)
class ClassValues:
    """The values that occur in each class, with their counts, ordered by class."""

    values: Codes
    counts: Ints
    starts: Ints
    """The offset of each class; every class has at least one value."""

    @cached_property
    def classes(self) -> Codes:
        """The class of each pair."""
        return np.repeat(np.arange(len(self.starts), dtype=np.int32), self.distinct)

    @property
    def distinct(self) -> Ints:
        """How many values each class has."""
        return np.diff(self.starts, append=len(self.values))


@dataclass(frozen=True)
class SensitiveColumn:
    """A sensitive column, ready to be counted by class. Its values are in order, missing last."""

    name: str
    values: tuple[str | None, ...]
    rows: Codes
    """Per pair, the number of the (distinct) row, ascending."""
    codes: Codes
    """Per pair, the number of the value."""
    counts: Ints
    """Per pair, how many people."""
    hierarchy: Hierarchy | None
    value_distances: dict[str, Floats] = field(default_factory=dict, repr=False, compare=False)
    """The distance of each single value from the whole table, by each requested distance."""

    @classmethod
    def of(cls, table: Table, name: str, distinct_of_row: Codes | None = None) -> SensitiveColumn:
        """Count a column by distinct rows; without `distinct_of_row`, each row is distinct."""
        if name not in table.frame.columns:
            raise DataError(
                f'{table.source}: a model uses the column "{name}", which the table does not have'
                f"{ask_meant([name], table.frame.columns)}"
            )
        hierarchy = table.hierarchies.get(name)
        values, codes = number_ordered_values(table.frame[name], hierarchy)
        if distinct_of_row is None:
            rows = np.arange(len(codes), dtype=np.int32)
            return cls(name, values, rows, codes, np.ones(len(codes), dtype=np.int64), hierarchy)
        key, counts = _count_keys(distinct_of_row.astype(np.int64) * len(values) + codes)
        return cls(name, values, *_split_keys(key, len(values)), counts, hierarchy)

    @property
    def known_values(self) -> tuple[str, ...]:
        """The values that are not missing, in order."""
        return tuple(value for value in self.values if value is not None)

    @property
    def branches(self) -> tuple[str, ...]:
        """Each value with its labels, level by level, as one text: the part of the hierarchy that a verifier needs."""
        if self.hierarchy is None:
            return ()
        row_of_leaf = {row[0]: row for row in self.hierarchy.rows}
        return tuple("\x1f".join(row_of_leaf[value]) for value in self.known_values if value in row_of_leaf)

    @cached_property
    def totals(self) -> Ints:
        """How often each value occurs in the whole table."""
        return np.bincount(self.codes, weights=self.counts, minlength=len(self.values)).astype(np.int64)

    @cached_property
    def shares(self) -> Floats:
        """The share of each value in the whole table."""
        shares: Floats = self.totals / self.totals.sum()
        return shares

    def take_rows(self, row_mask: Flags) -> SensitiveColumn:
        """Only some rows, renumbered; the shares stay those of the whole table."""
        pair_mask = row_mask[self.rows]
        rows = (np.cumsum(row_mask, dtype=np.int32) - 1)[self.rows[pair_mask]]
        part = replace(self, rows=rows, codes=self.codes[pair_mask], counts=self.counts[pair_mask])
        part.__dict__["totals"] = self.totals
        return part

    def merge(self, pairs: ClassValues) -> SensitiveColumn:
        """The classes of rows as rows."""
        part = replace(self, rows=pairs.classes, codes=pairs.values, counts=pairs.counts)
        part.__dict__["totals"] = self.totals
        return part

    def count_by_class(self, of_row: Codes, classes: int) -> ClassValues:
        """The values that occur in each class."""
        width = len(self.values)
        if classes == len(of_row) and len(self.rows) and bool((of_row == np.arange(classes)).all()):  # each row is one
            return build_class_values(self.rows, self.codes, self.counts)
        blocks = _split_classes(of_row, self.rows, classes, width)
        places = int(np.diff(blocks[1]).max(initial=0)) * width
        spacious = places > _DENSE and classes * width > _SPARSE * len(self.rows)
        if spacious or classes * width > max(_DENSE, _SPARSE_BLOCK * len(self.rows)):
            keys, key_index = np.unique(of_row[self.rows].astype(np.int64) * width + self.codes, return_inverse=True)
            counts = np.bincount(key_index, weights=self.counts).astype(np.int64)
            return build_class_values(*_split_keys(keys, width), counts)
        return self._count_blocks(of_row, classes, blocks, places)

    def _count_blocks(self, of_row: Codes, classes: int, blocks: Ints, places: int) -> ClassValues:
        from sfumato.kernels.anonymity.lattice_choice import choose_lattice_loops

        most, width = max(min(len(self.rows), classes * len(self.values)), classes), len(self.values)
        # Memory that is not written to is not taken: there are often far fewer pairs.
        class_values = ClassValues(
            np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int64), np.empty(classes, dtype=np.int64)
        )
        rows, codes = np.ascontiguousarray(self.rows, dtype=np.int32), np.ascontiguousarray(self.codes, dtype=np.int32)
        pairs = choose_lattice_loops(len(rows)).count_class_values(
            np.ascontiguousarray(of_row, dtype=np.int32),
            rows,
            codes,
            self.counts,
            width,
            blocks,
            np.zeros(places, dtype=np.int64),
            class_values.values,
            class_values.counts,
            class_values.starts,
        )
        return ClassValues(class_values.values[:pairs], class_values.counts[:pairs], class_values.starts)


def _split_classes(of_row: Codes, rows: Codes, classes: int, width: int) -> Ints:
    """Where pairs and classes begin that have no row in common with others, and where they end: one block if few."""
    whole = np.array([[0, len(rows)], [0, classes]], dtype=np.int64)
    if classes * width <= _BLOCK:
        return whole
    highest = np.maximum.accumulate(of_row)
    lowest = np.minimum.accumulate(of_row[::-1])[::-1]
    cuts = np.flatnonzero(lowest[1:] > highest[:-1])
    if not len(cuts):
        return whole
    step = max(1, _BLOCK // width)
    firsts = highest[cuts] + 1
    cut_indices = np.unique(np.searchsorted(firsts, np.arange(step, classes, step, dtype=np.int32), side="right") - 1)
    cut_indices = cut_indices[cut_indices >= 0]
    inner = np.array(
        [np.searchsorted(rows, (cuts[cut_indices] + 1).astype(rows.dtype)), firsts[cut_indices]], dtype=np.int64
    )
    return np.ascontiguousarray(np.concatenate([whole[:, :1], inner, whole[:, 1:]], axis=1))


def _count_keys(keys: Ints) -> tuple[Ints, Ints]:
    """The keys that occur, in order, and how often."""
    if keys.max(initial=0) > _DENSE:
        distinct_keys, counts = np.unique(keys, return_counts=True)
        return distinct_keys, counts.astype(np.int64)
    dense = np.bincount(keys)
    distinct_keys = np.flatnonzero(dense)
    return distinct_keys, dense[distinct_keys].astype(np.int64)


def _split_keys(keys: Ints, width: int) -> tuple[Codes, Codes]:
    """The row or class, and the value, of keys that hold both."""
    return (keys // width).astype(np.int32), (keys % width).astype(np.int32)


def build_class_values(of_class: Places, values: Places, counts: Ints) -> ClassValues:
    """Pairs that are already ordered by class, in which every class occurs."""
    begins = np.ones(len(of_class), dtype=np.bool_)
    np.not_equal(of_class[1:], of_class[:-1], out=begins[1:])
    pairs = ClassValues(values.astype(np.int32, copy=False), counts, np.flatnonzero(begins))
    pairs.__dict__["classes"] = of_class.astype(np.int32, copy=False)
    return pairs


class OrderedValues(NamedTuple):
    """The values of a column in order, and the number of each cell."""

    values: tuple[str | None, ...]
    codes: Codes


def number_ordered_values(column: pl.Series, hierarchy: Hierarchy | None) -> OrderedValues:
    """The values of a column in order (numbers, the hierarchy's leaves, or text), and the number of each cell."""
    texts = spell_cells(column)
    known_values = (
        column.drop_nulls().unique().sort() if column.dtype.is_numeric() else texts.drop_nulls().unique().sort()
    )
    names = spell_cells(known_values).to_list()
    if hierarchy is not None and not column.dtype.is_numeric():
        leaf_index = {leaf: number for number, leaf in enumerate(hierarchy.leaves)}
        names = sorted(names, key=lambda name: leaf_index.get(name, len(leaf_index)))
    values: tuple[str | None, ...] = (*names, None) if texts.null_count() else tuple(names)
    codes = texts.cast(pl.Enum(names)).to_physical().cast(pl.Int32).fill_null(len(names)).to_numpy(writable=True)
    return OrderedValues(values, codes)


class CountBlock(NamedTuple):
    """The counts of some classes as a full matrix."""

    classes: slice
    counts: Ints
    """Classes × values."""


def iterate_count_blocks(pairs: ClassValues, classes: int, width: int) -> Iterator[CountBlock]:
    """The counts as a full matrix, some classes at a time."""
    step = max(1, _DENSE // max(width, 1))
    for begin in range(0, classes, step):
        end = min(begin + step, classes)
        low = int(pairs.starts[begin])
        high = int(pairs.starts[end]) if end < classes else len(pairs.classes)
        dense = np.zeros((end - begin, width), dtype=np.int64)
        dense[pairs.classes[low:high] - begin, pairs.values[low:high]] = pairs.counts[low:high]
        yield CountBlock(slice(begin, end), dense)


def measure_equal_distance(pairs: ClassValues, sizes: Ints, shares: Floats) -> Floats:
    """The earth mover's distance of each class to the whole table, all values equally far apart."""
    excess = np.maximum(pairs.counts / sizes[pairs.classes] - shares[pairs.values], 0.0)
    return np.add.reduceat(excess, pairs.starts)


def measure_ordered_distance(pairs: ClassValues, sizes: Ints, shares: Floats) -> Floats:
    """The same for values in a row: Σ |running difference| / (values − 1) (Li, Li, Venkatasubramanian 2007)."""
    distances = np.zeros(len(sizes))
    if len(shares) < 2:
        return distances
    for part, dense in iterate_count_blocks(pairs, len(sizes), len(shares)):
        gap = dense / sizes[part, None] - shares
        distances[part] = np.abs(np.cumsum(gap, axis=1)).sum(axis=1) / (len(shares) - 1)
    return distances


def measure_hierarchical_distance(pairs: ClassValues, sizes: Ints, sensitive: SensitiveColumn) -> Floats:
    """The same for values as far apart as the level at which their branches meet (Li, Li, Venkatasubramanian 2007)."""
    hierarchy = sensitive.hierarchy
    if hierarchy is None:
        raise DataError(f'hierarchical t-closeness needs a hierarchy for "{sensitive.name}"; give one, or use equal')
    codes = hierarchy.code_leaves(pl.Series(sensitive.name, sensitive.values, dtype=pl.String))
    distances = np.zeros(len(sizes))
    # A hierarchy without a single top label gets one: all branches must be able to meet.
    tops = [] if len(hierarchy.levels[-1].labels) == 1 and hierarchy.height else [np.zeros(len(codes), dtype=np.int64)]
    steps = [
        hierarchy.group_leaves(level).group_of_leaf[codes].astype(np.int64) for level in range(1, hierarchy.height + 1)
    ] + tops
    for part, dense in iterate_count_blocks(pairs, len(sizes), len(codes)):
        gap = dense / sizes[part, None] - sensitive.shares
        finer_groups = np.arange(len(codes), dtype=np.int64)
        for level, groups in enumerate(steps, 1):
            gains, losses = _sum_branch_gaps(gap, finer_groups, groups)
            distances[part] += level / len(steps) * np.minimum(gains, losses).sum(axis=1)
            finer_groups = groups
    return distances


def _sum_branch_gaps(gap: Floats, finer_groups: Ints, groups: Ints) -> tuple[Floats, Floats]:
    """The surplus and deficit of the branches that meet in each group."""
    parent = np.zeros(int(finer_groups.max()) + 1, dtype=np.int64)
    parent[finer_groups] = groups
    branches = _sum_by_group(gap, finer_groups, len(parent))
    width = int(groups.max()) + 1
    return _sum_by_group(np.maximum(branches, 0), parent, width), _sum_by_group(np.maximum(-branches, 0), parent, width)


def _sum_by_group(amounts: Floats, groups: Ints, width: int) -> Floats:
    member = np.zeros((len(groups), width))
    member[np.arange(len(groups)), groups] = 1.0
    return amounts @ member
