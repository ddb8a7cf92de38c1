# SPDX-License-Identifier: MIT
"""Noise in the columns of a table that stays where it is: facts first, then some rows at a time.

The scale follows from the range of a column, which one pass over its cells gives; a second pass draws the noise without
keeping it, since the loss is the share that it has of the published variance. A row's noise depends on its number
alone (`row_draws`), so the rows that are written get what the second pass saw, and what memory would draw for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.engine.stored_table import StoredTable
from sfumato.errors import DataError
from sfumato.protect.noise.add_noise import AddNoise
from sfumato.protect.noise.cut_columns import CountedNumbers, CutColumn, Cuts
from sfumato.protect.noise.disturbed_column import DisturbedColumn, ShownNumbers, publish_cells
from sfumato.protect.noise.noise_columns import NumberColumn, NumberFacts, fit_number_column
from sfumato.protect.noise.row_draws import RowDraws
from sfumato.protect.rowwise_plan import RowwisePlan
from sfumato.protect.stored_method import StoredTableMethod
from sfumato.public.noise_law import Noise
from sfumato.public.sealed_key import draw_bytes
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress

MOST_VALUES = 1 << 20
"""Cuts are made between this many different values at the most."""


class BatchFacts(NamedTuple):
    """Facts about the columns in some rows, and the number of the first row."""

    first: int
    facts: Mapping[str, NumberFacts]


class DrawnBatch(NamedTuple):
    """What noise makes of the columns in some rows, and the number of the first row."""

    first: int
    shown_numbers: Mapping[str, ShownNumbers]
    types: Mapping[str, pl.DataType]


@dataclass(frozen=True, eq=False)
class StoredColumn(NumberColumn):
    """A column of which no cells are held, but the facts about all of them."""

    table: StoredTable | None = None
    facts: NumberFacts | None = None

    def count_outside(self, least: float, most: float) -> int:
        """Count in the file, if the extremes lie outside."""
        assert self.table is not None and self.facts is not None
        if self.facts.low >= least and self.facts.high <= most:
            return 0
        column = NumberColumn(**{field.name: getattr(self, field.name) for field in fields(NumberColumn)})

        def count_batch(batch: pl.DataFrame, _: int) -> int:
            return column.take(batch[column.name]).count_outside(least, most)

        return sum(self.table.rows.examine_batches(count_batch, [self.name]))


@dataclass(frozen=True, eq=False, repr=False)
class NoisePlan(RowwisePlan):
    """The noise of each column, decided before any row is written."""

    laws: Mapping[str, tuple[NumberColumn, Noise]]
    cuts: Mapping[str, CutColumn]
    types: Mapping[str, pl.DataType]
    """The types of the noisy columns: a small one cannot hold numbers beyond its range."""
    draws: RowDraws

    def __getstate__(self) -> dict[str, Any]:
        """The cuts without the values that they lie between."""
        no_values = CountedNumbers(np.zeros(0), np.zeros(0, dtype=np.int64))
        cuts = {name: replace(cut, values=no_values) for name, cut in self.cuts.items()}
        return {**super().__getstate__(), "cuts": cuts}

    def publish(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """The rows with the noise of their numbers."""
        cells = [self.publish_column(name, rows[name], first).cast(kind) for name, kind in self.types.items()]
        return rows.drop(self.table.outline.identifying, strict=False).with_columns(cells)

    def publish_column(self, name: str, cells: pl.Series, first: int) -> pl.Series:
        """Some cells of one column."""
        if name in self.cuts:
            cut = self.cuts[name]
            return replace(cut, column=cut.column.take(cells)).published_cells
        column, noise = self.laws[name]
        return publish_cells(column.take(cells), noise, self.draws, first)


class StoredAddNoise(StoredTableMethod[AddNoise]):
    """The noise of a column depends on no other column."""

    runs = "add_noise in columns of their own"

    def explain_unstored(self, method: AddNoise) -> str | None:
        """What of the method does not run on stored rows; None if it runs."""
        return "add_noise with kind = correlated" if method.kind == "correlated" else None

    def plan(self, method: AddNoise, table: StoredTable, randomness: Randomness) -> NoisePlan:
        """Scale the noise of each column to its range, and say what is published, promised and lost."""
        outline = table.outline
        method.refuse_unfit_columns(outline)
        if not len(table):
            raise DataError(f"{table.source}: the table has no rows")
        names = [method.columns] if isinstance(method.columns, str) else list(method.columns)
        columns = _read_columns(method, table, names)
        cuts = {
            name: _cut_stored_column(columns[name], method.discretize[name], table)
            for name in names
            if name in method.discretize
        }
        laws = {name: (column, method.choose_law(column)) for name, column in columns.items() if name not in cuts}
        draws = RowDraws(draw_bytes(randomness))
        plan = NoisePlan(table, Release(outline, method, (), {}), laws, cuts, {}, draws)
        shown_numbers, types = _look_ahead(plan, names)
        plan = replace(plan, types=types)
        noisy = [
            DisturbedColumn(column, noise, pl.Series(name, [], dtype=types[name]), shown_numbers[name])
            for name, (column, noise) in laws.items()
        ]
        published_table = outline.replace_frame(plan.publish(outline.frame))
        return replace(plan, release=method.describe_release(outline, published_table, noisy, list(cuts.values())))


def _cut_stored_column(column: StoredColumn, cuts: Cuts, table: StoredTable) -> CutColumn:
    """Cut the range of a column, by its counted values."""
    count = table.rows.count_values(column.name)
    if count > MOST_VALUES:
        raise DataError(
            f'{table.source}: "{column.name}" has {count:,} different values, too many to cut between; round it, '
            "or take equal widths: leave it out of `discretize`"
        )
    value_counts = table.count_values(column.name)
    known_mask = value_counts.frame[column.name].is_not_null().to_numpy()
    numbers = column.take(value_counts.frame[column.name]).numbers
    order = np.argsort(numbers, kind="stable")
    return CutColumn.of(column, cuts, CountedNumbers(numbers[order], value_counts.counts[known_mask][order]))


def _read_columns(method: AddNoise, table: StoredTable, names: list[str]) -> dict[str, StoredColumn]:
    """Facts about each column, in one pass."""
    facts = dict.fromkeys(names, NumberFacts())
    ranges = {name: method.get_range(name) for name in names}

    def find_facts(batch: pl.DataFrame, first: int) -> BatchFacts:
        return BatchFacts(first, {name: NumberFacts.of(batch[name], ranges[name]) for name in names})

    for batch_facts in table.rows.examine_batches(find_facts, names):
        facts = {name: facts[name] + batch_facts.facts[name] for name in names}
        report_progress("looking at the columns", batch_facts.first, table.rows.height)
    columns = {}
    for name in names:
        empty = table.outline.frame[name]
        number_column = fit_number_column(
            empty, facts[name], table.source, method.get_range(name), exact=method.exact_range
        )
        columns[name] = StoredColumn(**vars(number_column), table=table, facts=facts[name])
    return columns


def _look_ahead(plan: NoisePlan, names: list[str]) -> tuple[dict[str, ShownNumbers], dict[str, pl.DataType]]:
    """What will be published of the noisy columns: moments, and a type that holds all of each."""
    shown_numbers = dict.fromkeys(names, ShownNumbers())
    outline = plan.table.outline.frame
    types = {name: plan.publish_column(name, outline[name], 0).dtype for name in names}

    def draw_batch(batch: pl.DataFrame, first: int) -> DrawnBatch:
        cells = {name: plan.publish_column(name, batch[name], first) for name in names}
        numbers = {name: ShownNumbers.of(column) for name, column in cells.items()}
        return DrawnBatch(first, numbers, {name: column.dtype for name, column in cells.items()})

    for draws in plan.table.rows.examine_batches(draw_batch, names):
        for name in names:
            shown_numbers[name] = shown_numbers[name].join(draws.shown_numbers[name])
            types[name] = draws.types[name] if draws.types[name] == pl.Int64 else types[name]
        report_progress("drawing noise", draws.first, plan.table.rows.height)
    return shown_numbers, types
