# SPDX-License-Identifier: MIT
"""Partition of a table that stays where it is: cut on counts of equal people, recoded some rows at a time.

`Partition` cuts lines, which stand for people with equal values, in memory, too: so cuts, clusters and labels are the
same to the byte. One pass counts the people, a second one finds the rows of those who may be set apart from their
equals, and every batch is recoded by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Codes, Ints
from sfumato.change import Change, state_changes
from sfumato.details import AnonymityDetails
from sfumato.engine.memory_budget import find_memory_budget
from sfumato.engine.stored_rows import CodeMap, TooManyRows
from sfumato.engine.stored_table import StoredTable
from sfumato.engine.text_dictionaries import spell_coded_columns
from sfumato.errors import DataError, PolicyError, ask_meant
from sfumato.protect.anonymity.models.model_columns import refuse_unfit_models
from sfumato.protect.anonymity.models.sensitive_values import number_ordered_values
from sfumato.protect.anonymity.partition import Partition, PublishedParts
from sfumato.protect.anonymity.parts.best_cuts import refuse_populations
from sfumato.protect.anonymity.parts.partition_columns import PartitionColumns
from sfumato.protect.anonymity.parts.partition_lines import (
    DistinctCells,
    JudgedValues,
    LonePeople,
    PartitionLines,
    PeopleCounts,
    count_lone_people,
    find_first_rows,
    index_distinct_rows,
)
from sfumato.protect.stored_method import StoredTableMethod
from sfumato.protect.stored_plan import NumberedRows
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number
from sfumato.runtime.progress import report_progress
from sfumato.suppression import Suppression
from sfumato.table import Missing, Table

_FEWEST = 1 << 16
_BYTES_A_LINE = 500
"""What cutting and clustering hold for each line, with six columns."""


@dataclass(frozen=True)
class CountedPeople:
    """The people of a stored table by their places and judged values, and how the rows of a batch are found there."""

    table: StoredTable
    columns: PartitionColumns
    maps: Mapping[str, CodeMap]
    """The codes of quasi-identifying cells, which are their places, and then of judged ones."""
    index: DistinctCells
    people: PeopleCounts
    judged_values: tuple[JudgedValues, ...]

    def select_rows(self, rows: pl.DataFrame) -> Ints:
        """Which rows take part."""
        if self.table.missing is not Missing.DROP:
            return np.arange(rows.height)
        names = list(self.table.quasi_identifying)
        whole = rows.select(pl.all_horizontal(pl.col(names).is_not_null())).to_series().to_numpy()
        return np.flatnonzero(whole)

    def find_people(self, rows: pl.DataFrame) -> Codes:
        """Which of the counted combinations each row has."""
        codes = [codes.map_cells(rows[name]).to_numpy() for name, codes in self.maps.items()]
        return self.index.find_rows(np.column_stack(codes), self.table.source)


class FirstRows(NamedTuple):
    """The first rows of every combination in a batch, and the number of the batch's first row."""

    first: int
    pairs: Codes
    rows: Ints


@dataclass(frozen=True)
class PartitionPlan:
    """What is published of each row, decided before any row is written."""

    census: CountedPeople
    parts: PublishedParts
    shared_lines: Codes
    """For each counted combination, the line of its people."""
    lone_rows: Ints
    """The rows of people who are a line each, ascending."""
    lone_lines: Codes
    """Their lines."""
    claims: tuple[Claim, ...]
    losses: Mapping[str, Number]
    details: AnonymityDetails
    changes: tuple[Change, ...]
    suppression: Suppression

    def __getstate__(self) -> dict[str, Any]:
        """Pickle only what a worker needs to publish rows."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**fields, "details": AnonymityDetails(), "claims": (), "changes": ()}

    @property
    def table(self) -> StoredTable:
        """The originals."""
        return self.census.table

    @property
    def leaves_rows_out(self) -> bool:
        """Whether some rows are not published."""
        return bool(self.losses["dropped_rows"])

    @cached_property
    def outline(self) -> Table:
        """The published table without its rows."""
        return _outline_parts(self.table, self.parts)

    def publish(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """What is published of some rows, in their order; `first` is the number of the first of them in the table."""
        return self.publish_numbered(rows, first).frame

    def publish_coded(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """The same of rows in which repeated texts may be numbers."""
        return self.publish(rows, first)

    def publish_numbered(self, rows: pl.DataFrame, first: int = 0) -> NumberedRows:
        """The published rows, and which of the given ones they are; repeated texts may be numbers."""
        rows = spell_coded_columns(rows)
        row_indices = self.census.select_rows(rows)
        if len(row_indices) < rows.height:
            rows = rows[row_indices]
        lines = self.shared_lines[self.census.find_people(rows)]
        if len(self.lone_rows):
            positions = np.minimum(np.searchsorted(self.lone_rows, row_indices + first), len(self.lone_rows) - 1)
            lines = np.where(self.lone_rows[positions] == row_indices + first, self.lone_lines[positions], lines)
        frame = rows.drop(self.table.outline.identifying, strict=False)
        return NumberedRows(
            self.parts.recode(frame, self.table.quasi_identifying, lines), pl.Series("row", row_indices)
        )


class StoredPartition(StoredTableMethod[Partition]):
    """All of partitioning."""

    runs = "partition"

    def plan(self, method: Partition, table: StoredTable, randomness: Randomness) -> PartitionPlan:
        """Cut the counted people into parts; nothing is drawn."""
        return plan_partition(method, table)


def plan_partition(method: Partition, table: StoredTable) -> PartitionPlan:
    """Count people with equal values, cut them into parts, and say what is published, promised and lost."""
    outline = table.outline
    refuse_populations(method.models)
    _refuse_many_values(table, (*table.quasi_identifying, *method.list_judged()))
    refuse_unfit_models(method.models, outline, lambda name: len(table.count_values(name).counts))
    _refuse_empty(table)
    table.refuse_stars()
    report_progress("encoding the table")
    participants = table.select_participants((*table.quasi_identifying, *method.list_judged()))
    columns = method.describe_columns(participants.outline, participants.count_values)
    census = replace(count_people_by_values(participants, columns, method.list_judged()), table=table)
    _refuse_many_lines(census, method.unit)
    lines = PartitionLines.of(census.people, census.judged_values, method.unit)
    parts = method.cut_lines(lines, columns)
    lone = _find_lone_rows(census, lines)
    order = np.argsort(lone)
    kinds = parts.list_kinds(table.quasi_identifying)
    return PartitionPlan(
        census=census,
        parts=parts,
        shared_lines=lines.shared_lines,
        lone_rows=lone[order],
        lone_lines=lines.lines_alone[order],
        claims=method.list_claims(outline, lines.sensitive),
        losses={**parts.losses, "dropped_rows": len(table) - int(lines.weights.sum())},
        details=parts.collect_details(outline, None),
        changes=state_changes(method, outline, _outline_parts(table, parts), kinds),
        suppression=Suppression(drops_missing=outline.missing is Missing.DROP),
    )


def count_people_by_values(table: StoredTable, columns: PartitionColumns, names: tuple[str, ...]) -> CountedPeople:
    """Count the combinations of places and judged values, in one pass where the rows are."""
    maps: dict[str, CodeMap] = {}
    for name, column in zip(table.quasi_identifying, columns.columns, strict=True):
        values = table.list_values(name)
        maps[name] = CodeMap(values, column.locate_cells(values), column.leaves)
    ordered_columns = {name: _number_judged(table, name) for name in names}
    maps |= {name: codes for name, (_, codes) in ordered_columns.items()}
    report_progress("counting people with equal values")
    most = _find_most_lines()
    try:
        row_counts = table.rows.count_coded_rows(maps, most)
    except TooManyRows:
        raise _explain_many(table, most) from None
    cells = np.column_stack([row_counts.frame[name].to_numpy() for name in maps]).astype(np.int32)
    counts, width = row_counts.counts, len(columns.columns)
    if table.missing is Missing.DROP:
        whole = (cells[:, :width] < np.array(columns.widths) - 1).all(axis=1)
        if not whole.any():
            raise DataError(f"{table.source}: every row has a missing cell, and missing = drop")
        cells, counts = cells[whole], counts[whole]
    index, _ = index_distinct_rows(cells, [*columns.widths, *(len(values) for values, _ in ordered_columns.values())])
    people, judged_values = [cells[:, :width]], []
    for number, name in enumerate(names, width):
        present, codes = np.unique(cells[:, number], return_inverse=True)  # others are those of rows that are left out
        people.append(codes.reshape(-1, 1).astype(np.int32))
        present_values = tuple(ordered_columns[name][0][code] for code in present)
        judged_values.append(JudgedValues(name, present_values, table.hierarchies.get(name)))
    codes_of_values = np.hstack([np.zeros((len(cells), 0), dtype=np.int32), *people[1:]])
    counted_people = PeopleCounts(np.ascontiguousarray(people[0]), codes_of_values, counts)
    return CountedPeople(table, columns, maps, index, counted_people, tuple(judged_values))


def _number_judged(table: StoredTable, name: str) -> tuple[tuple[str | None, ...], CodeMap]:
    """The values of a judged column in order, and the code of each cell."""
    if name not in table.rows.schema:
        raise DataError(
            f'{table.source}: a model uses the column "{name}", which the table does not have'
            f"{ask_meant([name], list(table.rows.schema))}"
        )
    cells = table.count_values(name).frame[name]
    values, codes = number_ordered_values(cells, table.hierarchies.get(name))
    known_mask = cells.is_not_null().to_numpy()
    return values, CodeMap(cells.drop_nulls(), codes[known_mask].astype(np.int32), len(values) - 1)


def _outline_parts(table: StoredTable, parts: PublishedParts) -> Table:
    empty = table.outline.frame.drop(table.outline.identifying)
    empty_lines = np.zeros(0, dtype=np.int32)
    return table.outline.replace_frame(parts.recode(empty, table.quasi_identifying, empty_lines))


def _find_lone_rows(census: CountedPeople, lines: PartitionLines) -> Ints:
    """The rows of the people who are a line each."""
    lone, lone_counts = LonePeople(lines), lines.lone_counts

    def find_rows(batch: pl.DataFrame, first: int) -> FirstRows:
        row_indices = census.select_rows(batch)
        pairs = census.find_people(batch[row_indices])
        first_indices = find_first_rows(pairs, lone_counts)
        return FirstRows(first, pairs[first_indices], row_indices[first_indices] + first)

    for first_rows in census.table.rows.examine_batches(find_rows, list(census.maps)) if lines.count_alone() else ():
        report_progress("finding the rows of each part", first_rows.first, len(census.table))
        lone.add_rows(first_rows.pairs, first_rows.rows)
    return lone.rows


def _refuse_empty(table: StoredTable) -> None:
    if not len(table):
        raise DataError(f"{table.source}: the table has no rows")
    if not table.quasi_identifying:
        raise PolicyError(f"{table.source}: no column is quasi_identifying, so there are no people to hide")


def _find_most_lines() -> int:
    return max(find_memory_budget() // 2 // _BYTES_A_LINE, _FEWEST)


def _refuse_many_values(table: StoredTable, names: tuple[str, ...]) -> None:
    """Stop before values are listed that are too many to be counted together."""
    most = _find_most_lines()
    for name in names:
        if name in table.rows.schema and (count := table.rows.count_values(name)) > most:
            raise DataError(
                f'{table.source}: the column "{name}" has {count:,} values, and memory holds partitions of {most:,}; '
                "call it identifying if it numbers people, round it before, or set SFUMATO_MEMORY higher"
            )


def _refuse_many_lines(census: CountedPeople, unit: int | None) -> None:
    """Stop before anything is cut if people who may be set apart are more than memory holds."""
    most, counts = _find_most_lines(), census.people.counts
    if len(counts) + int(count_lone_people(counts, unit, has_judged_values=bool(census.judged_values)).sum()) > most:
        raise _explain_many(census.table, most)


def _explain_many(table: StoredTable, most: int) -> DataError:
    return DataError(
        f"{table.source}: more than {most:,} people differ in quasi-identifying or judged values, the most that memory "
        "holds; set SFUMATO_MEMORY higher, round columns with very many values before, or use generalize"
    )
