# SPDX-License-Identifier: MIT
"""The rows of a table, ready to be grouped at any node of the lattice of its hierarchies.

Rows are compressed to distinct ones with weights; each column's hierarchy becomes lookup tables; a node is then grouped
in one pass (`kernels/anonymity/lattice.py`). Missing cells count by their declared meaning.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

import numpy as np
import polars as pl

from sfumato.arrays import Codes, Flags, Floats, Ints
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy
from sfumato.engine.value_codes import index_cells
from sfumato.protect.anonymity.models.sensitive_values import SensitiveColumn
from sfumato.protect.anonymity.participants import keep_participants_leaves
from sfumato.protect.anonymity.search.class_numbers import ClassNumbers, ColumnLookup
from sfumato.protect.anonymity.search.column_bundles import bundle_codes, choose_bundles
from sfumato.protect.anonymity.search.node_classes import (
    ClassJudge,
    JudgedNode,
    Levels,
    NodeClasses,
    NodeVerdict,
    WeightedRows,
    judge_classes,
)
from sfumato.protect.anonymity.search.overlapping_classes import overlap_classes
from sfumato.protect.anonymity.search.population_codes import code_population
from sfumato.protect.anonymity.search.row_blocks import find_sorted_column, split_into_blocks
from sfumato.table import Missing, Table


class Grouping:
    """The rows of a table, ready to be grouped at any node of the lattice of its hierarchies."""

    def __init__(
        self,
        hierarchies: tuple[Hierarchy, ...],
        codes: Codes,
        missing: Missing,
        population: Codes | None = None,
        weights: Ints | None = None,
        *,
        distinct: bool = False,
    ) -> None:
        """Compress the rows (one row of `codes` per column) to distinct ones; the population comes after them.

        With `weights`, each of the rows stands for this many people; they may be `distinct` already.
        """
        self.codes = codes
        self.hierarchies = hierarchies
        self.missing = missing
        row_count: int = codes.shape[1]
        self.rows: int = row_count if weights is None else int(weights.sum())
        self.shape: Levels = tuple(hierarchy.height + 1 for hierarchy in hierarchies)
        self.names: tuple[str, ...] = tuple(f"column {number}" for number in range(len(hierarchies)))
        self.sensitive: dict[str, SensitiveColumn] = {}
        self._widths = [len(hierarchy.rows) + 1 for hierarchy in hierarchies]
        self._tables = [
            [hierarchy.group_leaves(level) for level in range(hierarchy.height + 1)] for hierarchy in hierarchies
        ]
        self._bundles = choose_bundles(self._widths)
        self._lookups: dict[tuple[tuple[int, ...], Levels], tuple[Ints, int]] = {}
        self._row_levels: Levels | None = None  # the node at which every row is a class of its own
        all_codes = codes if population is None else np.concatenate([codes, population], axis=1)
        first, of_row = self._find_distinct(np.ascontiguousarray(all_codes), distinct=distinct and population is None)
        self.distinct_of_row = of_row[:row_count]
        count = int(of_row.max(initial=-1)) + 1
        weights = np.bincount(self.distinct_of_row, weights=weights, minlength=count).astype(np.int64)
        self._population = None
        if population is not None:
            self._population = np.bincount(of_row[row_count:], minlength=count).astype(np.int64)
        # Distinct rows are numbered in order of appearance, so those of the table come before the population's.
        self._own_count = int(self.distinct_of_row.max(initial=-1)) + 1
        self._prepare_columns(np.ascontiguousarray(all_codes[:, first]), weights)
        self._row_levels = tuple(0 for _ in hierarchies)
        self.origin: Ints = np.arange(self._own_count, dtype=np.int64)
        """For each distinct row, its row in the grouping that this one was coarsened from."""

    @classmethod
    def of(cls, table: Table, columns: Sequence[str] = (), population: Table | None = None) -> Grouping:
        """The quasi-identifying columns of a table, and the sensitive columns that models use."""
        names = table.quasi_identifying
        counted_table = keep_participants_leaves(table) if population is None else table
        hierarchies = tuple(counted_table.get_hierarchy(name) for name in names)
        codes = np.array(
            [number_leaves(h, table.frame[n]) for n, h in zip(names, hierarchies, strict=True)], dtype=np.int32
        )
        population_codes = None if population is None else code_population(population, names, hierarchies)
        grouping = cls(hierarchies, codes, table.missing, population_codes)
        grouping.names = names
        grouping.sensitive = {
            name: SensitiveColumn.of(table, name, grouping.distinct_of_row) for name in dict.fromkeys(columns)
        }
        return grouping

    def _prepare_columns(self, codes: Codes, weights: Ints) -> None:
        self._hold(codes, weights)
        self._numbers = ClassNumbers(codes.shape[1])

    def _hold(self, codes: Codes, weights: Ints) -> None:
        self._codes, self._weights, self._sorted_column = codes, weights, find_sorted_column(codes)
        self._bundled_codes = [bundle_codes(codes, self._widths, columns) for columns in self._bundles]
        self._absent = np.array([codes[i] == len(h.rows) for i, h in enumerate(self.hierarchies)])

    def list_distinct(self) -> WeightedRows:
        """The distinct rows of the table (one row of codes per column), and how often each occurs."""
        return WeightedRows(self._codes[:, : self._own_count], self._weights[: self._own_count])

    @property
    def distinct_rows(self) -> int:
        """The number of distinct rows in the table."""
        return self._own_count

    def narrow(self, row_mask: Flags) -> Grouping:
        """Only some of the distinct rows, grouped among themselves; shares stay those of the whole table."""
        part = copy.copy(self)
        part._own_count = int(row_mask.sum())
        part._population = None
        part.__dict__.pop("leaf_counts", None)
        part.sensitive = {name: column.take_rows(row_mask) for name, column in self.sensitive.items()}
        part._prepare_columns(
            np.ascontiguousarray(self._codes[:, : self._own_count][:, row_mask]),
            self._weights[: self._own_count][row_mask],
        )
        return part

    def coarsen(self, levels: Levels) -> Grouping:
        """One row for each class of a node: every coarser node has the same classes, from fewer rows.

        Not possible if classes overlap or a population is compared with. Work arrays are shared, so a judgement is
        valid until either grouping is used again.
        """
        return self.merge(levels, self.find_classes(levels))

    def merge(self, levels: Levels, classes: NodeClasses) -> Grouping:
        """The same from the classes that were just counted."""
        assert self.plain
        part = copy.copy(self)
        part.__dict__ |= {
            "lost_leaves": self.lost_leaves,
            "_spared_leaves": self._spared_leaves,
            "marginals": self.marginals,
        }
        part.__dict__["leaf_counts"] = self.leaf_counts
        count = part._own_count = len(classes.sizes)
        part._row_levels, part.origin = levels, self.origin[classes.first]
        part.sensitive = {name: column.merge(classes.count_values(name)) for name, column in self.sensitive.items()}
        part._numbers = self._numbers.shorten(count)
        # Indexed by brackets, the rows would come in another order of memory, and be copied once more.
        part._hold(np.take(self._codes, classes.first, axis=1), classes.sizes.copy())
        return part

    @property
    def plain(self) -> bool:
        """Whether classes are disjoint: no cell matches several values, and there is no population."""
        equal = self.missing in (Missing.OWN_VALUE, Missing.DROP) or not self._absent.any()
        return equal and self._population is None

    def find_meeting_nodes(self, row: int) -> Ints:
        """For each distinct row, the number of the finest node at which it shares a class with a given one.

        Rows that never do get the number of nodes.
        """
        from sfumato.kernels.anonymity.lattice_choice import choose_lattice_loops

        kernels, nodes = choose_lattice_loops(len(self._weights)), prod(self.shape)
        stride = nodes
        self._numbers.keys[:] = 0
        for columns, codes in zip(self._bundles, self._bundled_codes, strict=True):
            lookup = np.zeros(1, dtype=np.int64)
            for column in columns:
                size = self.shape[column]
                stride //= size
                tables = self._stacked_tables[column]
                steps = (tables != tables[:, self._codes[column, row], None]).sum(axis=0)
                lookup = np.add.outer(lookup, np.where(steps < size, steps * stride, nodes)).ravel()
            kernels.add_to_keys(self._numbers.keys, codes, lookup)
        return np.minimum(self._numbers.keys, nodes)

    @cached_property
    def _stacked_tables(self) -> list[Codes]:
        return [np.array([table for table, _ in tables]) for tables in self._tables]

    def _find_distinct(self, codes: Codes, *, distinct: bool) -> tuple[Ints | slice, Codes]:
        """The first of the rows that are equal, and for each row which of them it is equal to."""
        if distinct:
            return slice(None), np.arange(codes.shape[1], dtype=np.int32)
        self._prepare_columns(codes, np.ones(codes.shape[1], dtype=np.int64))
        of_row, sizes = self._group(tuple(0 for _ in self.shape))
        first = np.zeros(len(sizes), dtype=np.int64)
        first[of_row[::-1]] = np.arange(len(of_row) - 1, -1, -1)
        return first, of_row.copy()

    def _group(self, levels: Levels) -> tuple[Codes, Ints]:
        """Class number of each distinct row, in order of appearance, and class sizes."""
        from sfumato.kernels.anonymity.lattice_choice import choose_lattice_loops

        numbers = self._numbers
        if levels == self._row_levels:
            return numbers.of_row, numbers.sizes[: numbers.number_rows(self._weights)]
        kernels = choose_lattice_loops(len(self._weights))
        columns = [
            ColumnLookup(codes, *self._build_lookup(columns, tuple(levels[column] for column in columns)))
            for columns, codes in zip(self._bundles, self._bundled_codes, strict=True)
        ]
        bounds = [0, len(self._weights)]
        if self._sorted_column is not None:
            bounds = split_into_blocks(
                self._codes[self._sorted_column], self._tables[self._sorted_column][levels[self._sorted_column]][0]
            )
        count = numbers.number_classes(kernels, columns, self._weights, bounds)
        return numbers.of_row, numbers.sizes[:count]

    def estimate_classes(self, levels: Levels, sample: Ints) -> float:
        """About how many classes a node has, from some of the rows (Chao 1984): for a choice, never for a result."""
        key = np.zeros(len(sample), dtype=np.int64)
        for tables, codes, level in zip(self._tables, self._codes, levels, strict=True):
            key = key * tables[level][1] + tables[level][0][codes[sample]]
        counts = np.unique_counts(key).counts
        singleton_count, doubleton_count = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
        return float(len(counts) + singleton_count * (singleton_count - 1) / (2 * (doubleton_count + 1)))

    def _build_lookup(self, columns: tuple[int, ...], levels: Levels) -> tuple[Ints, int]:
        """The group of the leaves of some columns, taken together, at some levels; and the number of groups."""
        if (columns, levels) not in self._lookups:
            lookup, radix = np.zeros(1, dtype=np.int64), 1
            for column, level in zip(columns, levels, strict=True):
                table, groups = self._tables[column][level]
                lookup = np.add.outer(lookup, table.astype(np.int64) * radix).ravel()
                radix *= groups
            self._lookups[columns, levels] = lookup, radix
        return self._lookups[columns, levels]

    def find_classes(self, levels: Levels, kept_mask: Flags | None = None) -> NodeClasses:
        """The classes at a node; if missing cells match anything, only kept rows count as matches."""
        of_row, sizes = self._group(levels)
        population, absent = np.zeros(0, dtype=np.int64), False
        if self._population is not None:
            fitting_counts = np.bincount(of_row, weights=self._population, minlength=len(sizes)).astype(np.int64)
            count = int(of_row[: self._own_count].max(initial=-1)) + 1
            absent = bool((fitting_counts[count:] > 0).any())
            of_row, sizes, population = of_row[: self._own_count], sizes[:count], fitting_counts[:count]
        first = self._numbers.first[: len(sizes)]
        plain = NodeClasses(of_row, sizes, sizes, self.sensitive, None, population, absent, first=first)
        if self.missing in (Missing.OWN_VALUE, Missing.DROP) or not self._absent.any():
            return plain
        return self._add_unknown_crowds(plain, levels, kept_mask)

    def _add_unknown_crowds(self, plain: NodeClasses, levels: Levels, kept_mask: Flags | None) -> NodeClasses:
        """The same classes, with the sizes that result if missing cells match anything or nothing."""
        first, pairs = plain.first, zip(self.hierarchies, levels, strict=True)
        open_levels = [not hierarchy.swallows_missing(level) for hierarchy, level in pairs]
        unknown = (self._absent & np.array(open_levels)[:, None])[:, first]
        if self.missing is Missing.NEVER_MATCHES:
            lone_mask = unknown.any(axis=0)
            return replace(plain, crowds=np.where(lone_mask, 1, plain.sizes), lone_mask=lone_mask, _measures={})
        leaves = [self._tables[i][level][0][self._codes[i, first]] for i, level in enumerate(levels)]
        groups = np.array(leaves, dtype=np.int64)
        counted_mask = np.ones(len(plain.sizes), dtype=np.bool_) if kept_mask is None else kept_mask
        return overlap_classes(plain, groups, unknown, counted_mask)

    def _find_refused(self, levels: Levels, refuses: Callable[[NodeClasses], Flags]) -> tuple[NodeClasses, Flags]:
        """The classes that may not be published; repeated, because suppressing rows may shrink other classes."""
        classes = self.find_classes(levels)
        refused_mask = refuses(classes)
        while classes.match_values is not None:
            classes = self.find_classes(levels, ~refused_mask)
            wider_mask = refused_mask | refuses(classes)
            if (wider_mask == refused_mask).all():
                break
            refused_mask = wider_mask
        return classes, refused_mask

    def judge(self, levels: Levels, judge: ClassJudge) -> JudgedNode:
        """Group the rows at a node and judge the classes."""
        return judge_classes(levels, *self._find_refused(levels, judge.refuses), judge)

    def decide(self, levels: Levels, judge: ClassJudge) -> NodeVerdict:
        """Group, judge and count the cost at a node."""
        return self.count_cost(self.judge(levels, judge))

    def count_cost(self, judged_node: JudgedNode) -> NodeVerdict:
        """Count the cost of a node that was just judged."""
        levels, classes, refused_mask = judged_node.levels, judged_node.classes, judged_node.refused_mask
        excess, lasting_costs = self._add_up_suppression(judged_node)
        hidden_among = classes.sizes * classes.crowds
        column_terms = zip(self.marginals, levels, excess.tolist(), strict=True)
        return NodeVerdict(
            levels=levels,
            suppressed_count=judged_node.suppressed_count,
            lasting_rows=judged_node.lasting_rows,
            costs=tuple(int(marginal[level]) + more for marginal, level, more in column_terms),
            lasting_costs=tuple(lasting_costs.tolist()),
            squares=int((hidden_among * ~refused_mask).sum()),
            # If missing cells match anything, classes shrink with suppression and bound nothing.
            crowd=0 if classes.match_values is not None else int(hidden_among.sum()),
            classes=int(len(refused_mask) - np.count_nonzero(refused_mask)),
        )

    def _add_up_suppression(self, judged_node: JudgedNode) -> tuple[Ints, Floats]:
        """Per column, what suppression adds here, and at least at every finer node: rows of a class lose the same."""
        from sfumato.kernels.anonymity.lattice_choice import choose_lattice_loops

        excess, lasting_costs = np.zeros(len(judged_node.levels), dtype=np.int64), np.zeros(len(judged_node.levels))
        if judged_node.suppressed_count or judged_node.lasting_rows:
            spared_leaves, starts = self._spared_leaves
            classes = judged_node.classes
            choose_lattice_loops(len(classes.first)).add_suppression_costs(
                self._codes,
                starts[np.arange(len(judged_node.levels)), judged_node.levels],
                spared_leaves,
                classes.first,
                np.where(judged_node.refused_mask, classes.sizes, 0),
                judged_node.lasting_shares * classes.sizes,
                excess,
                lasting_costs,
            )
        return excess, lasting_costs

    def flag_suppressed_rows(self, levels: Levels, judge: ClassJudge) -> Flags:
        """Which rows of the table are suppressed at a node."""
        judged_node = self.judge(levels, judge)
        flags: Flags = judged_node.refused_mask[judged_node.classes.of_row][self.distinct_of_row]
        return flags

    @cached_property
    def scales(self) -> tuple[int, ...]:
        """Per column, the cost of a suppressed cell: all leaves but one (1 for a hierarchy of a single leaf)."""
        return tuple(max(len(hierarchy.rows) - 1, 1) for hierarchy in self.hierarchies)

    @cached_property
    def lost_leaves(self) -> list[list[Ints]]:
        """Per column and level, the leaves that a cell loses, by leaf; the last entry is a missing cell."""
        return [
            [_count_lost_leaves(hierarchy, level, scale) for level in range(hierarchy.height + 1)]
            for hierarchy, scale in zip(self.hierarchies, self.scales, strict=True)
        ]

    @cached_property
    def _spared_leaves(self) -> tuple[Ints, Ints]:
        """How many more leaves a suppressed cell loses than a published one, by column, level and leaf, in one row.

        Also the offset of each column and level in it.
        """
        starts = np.zeros((len(self.shape), max(self.shape)), dtype=np.int64)
        parts, offset = [], 0
        for column, (levels, scale) in enumerate(zip(self.lost_leaves, self.scales, strict=True)):
            for level, lost_leaves in enumerate(levels):
                starts[column, level] = offset
                parts.append(scale - lost_leaves)
                offset += len(lost_leaves)
        return np.concatenate(parts), starts

    @cached_property
    def marginals(self) -> list[Ints]:
        """Per column, the cost at each level without suppression."""
        return [
            np.array([int(counts @ lost_leaves) for lost_leaves in levels], dtype=np.int64)
            for counts, levels in zip(self.leaf_counts, self.lost_leaves, strict=True)
        ]

    @cached_property
    def leaf_counts(self) -> list[Ints]:
        """Per column, how many rows of the table have each leaf; the last entry counts missing cells."""
        weights = self._weights.astype(np.float64)  # once, not for each column; the population has weight 0
        return [
            np.bincount(codes, weights=weights, minlength=width).astype(np.int64)
            for codes, width in zip(self._codes, self._widths, strict=True)
        ]


def number_leaves(hierarchy: Hierarchy, column: pl.Series) -> Codes:
    """The leaf number of every cell; the hierarchy normalizes the spelling and reports missing leaves."""
    quick = index_cells(column, hierarchy.leaves)
    return hierarchy.code_leaves(column) if quick is None else quick


def _count_lost_leaves(hierarchy: Hierarchy, level: int, scale: int) -> Ints:
    """The leaves that a cell loses at a level, by leaf and last for a missing cell; a `*` for everything loses all."""
    level_groups = hierarchy.levels[level]
    star_mask = (np.array(level_groups.labels) == STAR) & (level_groups.leaves_under == len(hierarchy.rows))
    of_group = np.where(star_mask, scale, level_groups.leaves_under - 1)
    missing = of_group[0] if hierarchy.swallows_missing(level) else 0
    return np.append(of_group[level_groups.group_of_leaf], missing).astype(np.int64)
