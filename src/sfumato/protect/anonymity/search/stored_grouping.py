# SPDX-License-Identifier: MIT
"""Group rows that stay where they are: the search works on distinct combinations of values and their counts.

Cells are counted as leaf numbers. A column with very many values is coarsened before anything is counted, to the lowest
level that the models could accept: where a single column already leaves too many people in groups that are too small,
every node at that level or below is refused, whatever the other columns do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np
import polars as pl

from sfumato.arrays import Codes, Flags, Ints
from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.data.reading.arrow_memory import release_arrow_memory
from sfumato.engine.memory_budget import find_memory_budget
from sfumato.engine.stored_rows import CodeMap, RowCounts, TooManyRows
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import DataError
from sfumato.protect.anonymity.models.class_models import AlphaKAnonymity, KAnonymity, LDiversity
from sfumato.protect.anonymity.models.model_judge import ModelJudge
from sfumato.protect.anonymity.models.sensitive_values import SensitiveColumn, number_ordered_values
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.node_classes import Levels
from sfumato.protect.anonymity.search.population_codes import code_population
from sfumato.runtime.progress import report_progress
from sfumato.table import Missing

_FEWEST = 1 << 16
_BYTES_A_TUPLE, _BYTES_A_PAIR = 200, 80
"""What counting and searching hold for each combination of six columns, and for each with a sensitive value."""


@dataclass(frozen=True)
class StoredGrouping:
    """The distinct combinations of a stored table, ready to be grouped, and the levels below which none can win."""

    grouping: Grouping
    floor: Levels
    rows: int
    """The rows that take part."""


def group_stored_rows(
    table: StoredTable, judge: ModelJudge, suppression_limit: float, *, coarsen: bool
) -> StoredGrouping:
    """Count the combinations of quasi-identifying values, and the sensitive values of each."""
    names = table.quasi_identifying
    hierarchies = tuple(table.get_hierarchy(name) for name in names)
    population = judge.choose_population(table.outline)
    floor = tuple(0 for _ in names)
    if coarsen and population is None and table.missing is Missing.OWN_VALUE:
        most = int(suppression_limit * len(table)) + 1
        least = find_least_class(judge)
        floor = tuple(_find_floor(table, name, h, least, most) for name, h in zip(names, hierarchies, strict=True))
    maps = {
        name: _map_leaves(table, name, hierarchy, level)
        for name, hierarchy, level in zip(names, hierarchies, floor, strict=True)
    }
    tuples = _count_tuples(table, maps, judge.list_columns())
    release_arrow_memory()  # the search needs room where the counts were
    population_codes = None if population is None else code_population(population, names, hierarchies)
    grouping = Grouping(hierarchies, tuples.codes, table.missing, population_codes, tuples.weights, distinct=True)
    grouping.names = names
    grouping.sensitive = dict(tuples.sensitive)
    return StoredGrouping(grouping, floor, grouping.rows)


def find_least_class(judge: ModelJudge) -> int:
    """The number of rows below which some model refuses every class."""
    least = 1
    for model in judge.models:
        if isinstance(model, KAnonymity | AlphaKAnonymity):
            least = max(least, model.k)
        elif isinstance(model, LDiversity):
            least = max(least, ceil(model.l - 1e-12))
    return least


def _find_floor(table: StoredTable, name: str, hierarchy: Hierarchy, least: int, most: int) -> int:
    """The lowest level at which this column alone leaves at most this many people in groups that are too small."""
    value_counts = table.count_values(name)
    codes, counts = hierarchy.code_leaves(value_counts.frame[name]), value_counts.counts
    if table.missing is Missing.DROP:
        known_mask = codes < len(hierarchy.rows)
        codes, counts = codes[known_mask], counts[known_mask]
    for level in range(hierarchy.height):
        of_leaf, groups = hierarchy.group_leaves(level)
        sizes = np.bincount(of_leaf[codes], weights=counts, minlength=groups)
        if sizes[sizes < least].sum() <= most:
            return level
    return hierarchy.height


def _map_leaves(table: StoredTable, name: str, hierarchy: Hierarchy, level: int) -> CodeMap:
    """The leaf number of each value; above the lowest level, the first leaf of its group stands for all of them."""
    values = table.list_values(name)
    codes = hierarchy.code_leaves(values)
    if level:
        of_leaf = hierarchy.levels[level].group_of_leaf
        first = np.zeros(int(of_leaf.max()) + 1, dtype=np.int32)
        first[of_leaf[::-1]] = np.arange(len(of_leaf) - 1, -1, -1)
        codes = first[of_leaf[codes]]
    return CodeMap(values, codes.astype(np.int32), len(hierarchy.rows))


@dataclass(frozen=True)
class _CountedTuples:
    codes: Codes
    """One row per column."""
    weights: Ints
    sensitive: Mapping[str, SensitiveColumn]


def _count_tuples(table: StoredTable, maps: Mapping[str, CodeMap], columns: tuple[str, ...]) -> _CountedTuples:
    """The combinations, sorted, and for each sensitive column the pairs of a combination and a value."""
    names = list(maps)
    tuples: RowCounts | None = None
    sensitive = {}
    for name in columns:
        report_progress("counting classes")
        values = table.count_values(name).frame[name]
        hierarchy = table.hierarchies.get(name)
        ordered_values, codes = number_ordered_values(values, hierarchy)
        known_mask = values.is_not_null().to_numpy()
        codes_of_value = CodeMap(values.drop_nulls(), codes[known_mask].astype(np.int32), len(ordered_values) - 1)
        pairs = _select_participants(_count_coded(table, {**maps, name: codes_of_value}, _BYTES_A_PAIR), table, maps)
        begins = _flag_beginnings(pairs.frame, names)
        starts = np.flatnonzero(begins)
        tuples = RowCounts(pairs.frame[starts].select(names), np.add.reduceat(pairs.counts, starts))
        cells = pairs.frame[name].to_numpy(writable=True)
        rows = np.cumsum(begins, dtype=np.int32) - np.int32(1)
        sensitive[name] = SensitiveColumn(name, ordered_values, rows, cells, pairs.counts, hierarchy)
        del pairs  # the next column needs the room
    if tuples is None:
        report_progress("counting classes")
        tuples = _select_participants(_count_coded(table, maps, _BYTES_A_TUPLE), table, maps)
    leaves: Codes = np.array([tuples.frame[name].to_numpy() for name in names], dtype=np.int32)
    return _CountedTuples(leaves, tuples.counts, sensitive)


def _flag_beginnings(frame: pl.DataFrame, names: list[str]) -> Flags:
    """Where a row differs in some columns from the one before it."""
    begins = np.zeros(frame.height, dtype=np.bool_)
    begins[:1] = True
    for name in names:
        cells = frame[name].to_numpy()
        begins[1:] |= cells[1:] != cells[:-1]
    return begins


def _count_coded(table: StoredTable, maps: Mapping[str, CodeMap], size: int) -> RowCounts:
    most = max(find_memory_budget() // size, _FEWEST)
    try:
        return table.rows.count_coded_rows(maps, most)
    except TooManyRows:
        raise DataError(
            f"{table.source}: there are more than {most:,} combinations of quasi-identifying and sensitive values, the "
            "most that memory holds; set SFUMATO_MEMORY higher, begin the hierarchies of columns with very many values "
            "at a coarser level, or give such columns another role"
        ) from None


def _select_participants(row_counts: RowCounts, table: StoredTable, maps: Mapping[str, CodeMap]) -> RowCounts:
    """Without combinations that miss a cell, if such people are left out."""
    if table.missing is not Missing.DROP:
        return row_counts
    whole = row_counts.frame.select(
        pl.all_horizontal(pl.col(n) != codes.missing for n, codes in maps.items())
    ).to_series()
    if not whole.any():
        raise DataError(f"{table.source}: every row has a missing cell, and missing = drop")
    return RowCounts(row_counts.frame.filter(whole), row_counts.counts[whole.to_numpy()])
