# SPDX-License-Identifier: MIT
"""How each column of a stored release differs from the originals, compared row by row, some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.data.cells.coded_cells import count_code_pairs, count_value_pairs
from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.data.hierarchies.published_labels import Domain
from sfumato.engine.aligned_batches import AlignedBatch, align_batches
from sfumato.engine.parquet_writer import write_batches
from sfumato.engine.stored_rows import StoredRows
from sfumato.engine.stored_table import StoredTable
from sfumato.engine.text_dictionaries import flag_text, is_coded, spell_coded_columns, split_column
from sfumato.measure.anonymity.crowd_sizes import flag_starred_rows
from sfumato.measure.changes import ColumnDifference, count_filled, count_published_originals, count_suppressed
from sfumato.measure.truth import cover_cells, find_differing_cells
from sfumato.table import Table

_MANY_PAIRS = 1 << 16


@dataclass(frozen=True)
class StoredComparison:
    """A stored release next to its originals."""

    original: StoredTable
    published_table: StoredTable
    taken_rows: StoredRows | None
    """The numbers of the original rows that were published, if some were not."""
    differences: dict[str, ColumnDifference]
    untrue_cells: int
    """Published cells that are neither their original nor above it; see `measure.truth.untrue_cells`."""

    def restore(self, column: str, scratch: Path) -> StoredTable:
        """The published classes with a column as in the originals."""
        names = [*self.published_table.quasi_identifying, column]
        batches = (
            batch.published_frame.with_columns(batch.original[column]).select(names)
            for batch in align_batches(self.original.rows, self.published_table.rows, self.taken_rows, "comparing")
        )
        path = scratch / f"restored-{list(self.published_table.rows.schema).index(column)}.parquet"
        write_batches(batches, path, self.published_table.rows.height, "comparing")
        roles = {name: role for name, role in self.published_table.roles.items() if name in names}
        rows = self.published_table.rows.open_files([path], scratch, self.published_table.source)
        return StoredTable(rows, roles, self.published_table.hierarchies, self.published_table.missing)

    def count_aligned(self, count: Callable[[Table, Table], int], columns: Sequence[str] | None = None) -> int:
        """What is counted in published rows next to their originals, some rows at a time, in all columns or in some."""
        original, published_table = self.original.outline, self.published_table.outline

        def count_batch(batch: AlignedBatch) -> int:
            original_frame, published_frame = map(spell_coded_columns, batch)
            return count(original.replace_frame(original_frame), published_table.replace_frame(published_frame))

        step, published_rows = "comparing with the originals", self.published_table.rows
        return sum(self.original.rows.compare_batches(published_rows, self.taken_rows, count_batch, step, columns))

    def list_shown_values(self, columns: Sequence[str]) -> dict[str, pl.Series] | None:
        """The different known originals in rows that are published and not all stars; None if there is no such row."""
        original, published_table = self.original, self.published_table
        if self.taken_rows is None and not self._may_hold_starred_rows():
            return {name: original.list_values(name) for name in columns} if len(published_table) else None
        find, step = _ShownValues(tuple(columns), published_table.quasi_identifying), "listing what is shown"
        shown_values: dict[str, pl.Series] | None = None
        for part in original.rows.compare_batches(published_table.rows, self.taken_rows, find, step, columns):
            if part is not None and shown_values is not None:
                shown_values = {name: pl.concat([shown_values[name], part[name]]).unique() for name in columns}
            shown_values = shown_values or part
        return shown_values

    def _may_hold_starred_rows(self) -> bool:
        """Whether every quasi-identifying column has a star somewhere, so that a row may be nothing else."""
        table = self.published_table
        values = [table.list_values(name) for name in table.quasi_identifying]
        return all(column.dtype == pl.String and STAR in column for column in values)


@dataclass(frozen=True)
class _ShownValues:
    """Lists the originals of some rows; with all that it takes, as this may be done elsewhere."""

    columns: tuple[str, ...]
    quasi_identifying: tuple[str, ...]

    def __call__(self, batch: AlignedBatch) -> dict[str, pl.Series] | None:
        original_frame, published_frame = map(spell_coded_columns, batch)
        shown_frame = original_frame.filter(~flag_starred_rows(published_frame, self.quasi_identifying))
        if not shown_frame.height:
            return None
        return {name: shown_frame[name].drop_nulls().unique() for name in self.columns}


def compare_stored(
    original: StoredTable,
    published_table: StoredTable,
    taken_rows: StoredRows | None,
    drawn_columns: Collection[str] = (),
) -> StoredComparison:
    """Compare every published cell with its original.

    In `drawn_columns`, there may be as many different pairs of cells as rows: there, cells that differ are
    counted, and whether one covers its original is not asked.
    """
    names = list(published_table.rows.schema)
    drawn_differences = {
        name: ColumnDifference(name, published_table.rows.height, 0, 0, 0, None) for name in drawn_columns
    }
    generalized_names = set(original.quasi_identifying)
    counts = {name: _DifferingPairs() for name in names}
    wrong = 0
    compare = _BatchComparison(
        tuple(names), published_table.quasi_identifying, frozenset(generalized_names), frozenset(drawn_columns)
    )
    for finding in original.rows.compare_batches(
        published_table.rows, taken_rows, compare, "comparing with the originals"
    ):
        wrong += finding.wrong
        for name, pairs in finding.pairs.items():
            counts[name].add(pairs)
        for name, moved_cells in finding.moved_cells.items():
            drawn_differences[name] = _add_moved(drawn_differences[name], moved_cells)
    differences = {}
    for name in names:
        pairs = counts[name].merge()
        difference = drawn_differences.get(name) or _describe_difference(name, pairs, original, published_table)
        differences[name] = difference
        wrong += difference.other + difference.filled + difference.blanked if name in generalized_names else 0
    return StoredComparison(original, published_table, taken_rows, differences, wrong)


def _count_differing_pairs(original: pl.Series, published_cells: pl.Series) -> pl.DataFrame:
    """The pairs of cells that differ. Texts that lie as numbers are compared once for each pair, not in each row."""
    if not (is_coded(original) or is_coded(published_cells)):
        differs = find_differing_cells(original, published_cells)
        return count_value_pairs(original, published_cells, differs.to_numpy()) if differs.any() else pl.DataFrame()
    pairs = count_code_pairs(split_column(original), split_column(published_cells))
    return pairs.filter(find_differing_cells(pairs["first"], pairs["second"]))


def _count_hidden_cells(batch: AlignedBatch, name: str, quasi_identifying: Sequence[str]) -> int:
    """How many cells are newly empty in suppressed rows, where they may be."""
    empty = batch.published_frame[name].is_null() & batch.original[name].is_not_null()
    if not empty.any() or not quasi_identifying:
        return 0
    flags = empty.to_numpy()
    for column in quasi_identifying:
        flags = flags & flag_text(batch.published_frame[column], STAR)
    return int(np.count_nonzero(flags))


class _MovedCells(NamedTuple):
    """How many cells of a drawn column differ."""

    differing_count: int
    blanked_count: int
    filled_count: int
    suppressed_count: int


class _BatchFinding(NamedTuple):
    """What differs in some rows."""

    pairs: dict[str, pl.DataFrame]
    moved_cells: dict[str, _MovedCells]
    wrong: int


@dataclass(frozen=True)
class _BatchComparison:
    """Compares some rows; with all that it takes, as this may be done elsewhere."""

    names: tuple[str, ...]
    quasi_identifying: tuple[str, ...]
    generalized_names: frozenset[str]
    drawn_columns: frozenset[str]

    def __call__(self, batch: AlignedBatch) -> _BatchFinding:
        pairs_by_column: dict[str, pl.DataFrame] = {}
        moved_cells: dict[str, _MovedCells] = {}
        wrong = 0
        for name in self.names:
            pairs = _count_differing_pairs(batch.original[name], batch.published_frame[name])
            if not pairs.height:
                continue
            if name in self.drawn_columns:
                empty = pairs.filter(pl.col("second").is_null())
                moved_cells[name] = _MovedCells(
                    int(pairs["count"].sum()), int(empty["count"].sum()), count_filled(pairs), count_suppressed(pairs)
                )
                continue
            pairs_by_column[name] = pairs
            if name not in self.generalized_names:
                wrong += int(pairs["count"].sum()) - _count_hidden_cells(batch, name, self.quasi_identifying)
        return _BatchFinding(pairs_by_column, moved_cells, wrong)


def _add_moved(difference: ColumnDifference, moved_cells: _MovedCells) -> ColumnDifference:
    other = (
        moved_cells.differing_count
        - moved_cells.blanked_count
        - moved_cells.filled_count
        - moved_cells.suppressed_count
    )
    return replace(
        difference,
        blanked=difference.blanked + moved_cells.blanked_count,
        other=difference.other + other,
        filled=difference.filled + moved_cells.filled_count,
        suppressed=difference.suppressed + moved_cells.suppressed_count,
    )


class _DifferingPairs:
    """Pairs of differing cells, counted batch by batch."""

    def __init__(self) -> None:
        self._pair_frames: list[pl.DataFrame] = []

    def add(self, pairs: pl.DataFrame) -> None:
        self._pair_frames.append(pairs)
        if sum(part.height for part in self._pair_frames[1:]) > _MANY_PAIRS + self._pair_frames[0].height:
            self._pair_frames = [self.merge()]

    def merge(self) -> pl.DataFrame:
        if not self._pair_frames:
            return pl.DataFrame(schema={"first": pl.String, "second": pl.String, "count": pl.Int64})
        return pl.concat(self._pair_frames).group_by("first", "second").agg(pl.col("count").sum())


def _describe_difference(
    name: str, pairs: pl.DataFrame, original: StoredTable, published_table: StoredTable
) -> ColumnDifference:
    """The differing pairs of one column, judged by its hierarchy; a column that keeps its cells loses nothing."""
    blanked_count = int(pairs.filter(pl.col("second").is_null())["count"].sum())
    known_pairs = pairs.filter(pl.col("second").is_not_null())
    if not known_pairs.height:
        return ColumnDifference(name, published_table.rows.height, blanked_count, 0, 0, 0.0)
    domain = find_domain(original, name)
    covered_mask = cover_cells(spell_cells(known_pairs["first"]), spell_cells(known_pairs["second"]), domain)
    other_pairs = known_pairs.filter(~pl.Series(covered_mask, dtype=pl.Boolean))
    moved_count, filled_count, suppressed_count = (
        int(other_pairs["count"].sum()),
        count_filled(other_pairs),
        count_suppressed(known_pairs),
    )
    coarser = int(known_pairs["count"].sum()) - moved_count - suppressed_count
    size = published_table.rows.height
    loss = None if moved_count else measure_stored_loss(published_table, name, domain) + blanked_count / max(size, 1)
    published_count = 0
    if name in original.quasi_identifying:
        value_counts = published_table.count_values(name)
        published_count = count_published_originals(
            value_counts.frame[name], value_counts.counts, original.list_values(name)
        )
    return ColumnDifference(
        name,
        size,
        blanked_count,
        coarser,
        moved_count - filled_count,
        loss,
        filled=filled_count,
        suppressed=suppressed_count,
        published_originals=published_count,
    )


def find_domain(original: StoredTable, name: str) -> Domain:
    """The values that a published column may stand for."""
    return Domain.of(original.list_values(name), original.hierarchies.get(name))


def measure_stored_loss(published_table: StoredTable, name: str, domain: Domain) -> float:
    """The mean share of leaves that a published label leaves open; empty cells do not count."""
    value_counts = published_table.count_values(name)
    present = value_counts.frame[name].is_not_null()
    labels = spell_cells(value_counts.frame[name].filter(present)).to_list()
    total_loss = domain.measure_losses(labels) @ value_counts.counts[present.to_numpy()]
    return float(total_loss) / value_counts.rows if value_counts.rows else 0.0
