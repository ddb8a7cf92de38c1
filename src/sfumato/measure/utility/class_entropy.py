# SPDX-License-Identifier: MIT
"""How the entropy of a class changes: what columns still tell about a target after protection.

A classifier splits rows by a column so that the class is less uncertain in the parts. H(class | column), in bits, is
what is left to guess; generalizing or perturbing a column leaves more. It is measured for each column, and for all of
them together, on originals and release (Giannotti, Pedreschi, Turini 2009: "the change of entropy during
classification"; Quinlan 1993). Unlike an accuracy it depends on no learner. All columns together often identify single
rows, and then tell the class of the originals completely. Needs the originals, so it stays with the custodian.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.data.hierarchies.discretization import cut_equal_frequency
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError, PolicyError
from sfumato.measure.given_tables import require_tables
from sfumato.measure.utility.distances import choose_compared_columns, select_counted_rows
from sfumato.table import Table


@dataclass(frozen=True)
class EntropyChange:
    """What is uncertain about the class, in bits, before and after."""

    original: float
    release: float

    @property
    def change(self) -> float:
        """How many bits more are uncertain."""
        return round(self.release - self.original, 12) + 0.0


@dataclass(frozen=True)
class ClassEntropy:
    """The entropy of a class on its own, given each column, and given all of them."""

    target: EntropyChange
    """H(class): nothing else is known."""
    columns: Mapping[str, EntropyChange]
    """H(class | column), by column."""
    joint: EntropyChange
    """H(class | all columns)."""

    @property
    def mean_change(self) -> float:
        """The mean over columns of what H(class | column) rose by."""
        return round(sum(entropy.change for entropy in self.columns.values()) / len(self.columns), 12) + 0.0


def class_entropy(
    original: Table, published_table: Table, target: str, columns: Sequence[str] | None = None, bins: int = 10
) -> ClassEntropy:
    """The entropy of a target column given others, on originals and release; by default all published ones.

    A published label is a value like any other, and so is a missing cell. A column that holds numbers before and after
    is cut into `bins` parts of about equally many originals, or else every number would stand for its row.
    """
    require_tables(original, published_table, columns)
    if not isinstance(bins, int) or bins < 1:
        raise PolicyError(f"bins = {bins}: cut numbers into at least one part, a whole number of them")
    names = [name for name in choose_compared_columns(original, published_table, columns) if name != target]
    choose_compared_columns(original, published_table, [target])
    truth = select_counted_rows(original, published_table).frame
    if not names:
        raise DataError(f'{original.source}: there is no column to learn "{target}" from')
    if not len(published_table):
        raise DataError(f"{published_table.source}: the release has no rows, so nothing can be learned from it")
    cells = [_read_value_pairs(truth[name], published_table.frame[name], bins) for name in (target, *names)]
    original_cells, published_cells = (pl.DataFrame([pair[side] for pair in cells]) for side in (0, 1))

    def compare(condition_names: Sequence[str]) -> EntropyChange:
        return EntropyChange(
            _measure_entropy(original_cells, target, condition_names),
            _measure_entropy(published_cells, target, condition_names),
        )

    return ClassEntropy(compare([]), {name: compare([name]) for name in names}, compare(names))


def _read_value_pairs(original: pl.Series, published_cells: pl.Series, bins: int) -> tuple[pl.Series, pl.Series]:
    """The values of a column in both tables, as texts or as the numbers of bins."""
    if not (original.dtype.is_numeric() and published_cells.dtype.is_numeric() and original.n_unique() > bins):
        return spell_cells(original).alias(original.name), spell_cells(published_cells).alias(original.name)
    cuts = np.asarray(cut_equal_frequency(original, bins).edges[1:-1])
    original_bins, published_bins = (
        pl.Series(original.name, np.searchsorted(cuts, column.cast(pl.Float64).fill_null(0.0).to_numpy(), side="right"))
        .cast(pl.Int64)
        .set(column.is_null(), None)
        for column in (original, published_cells)
    )
    return original_bins, published_bins


def _measure_entropy(frame: pl.DataFrame, target: str, condition_names: Sequence[str]) -> float:
    """H(target | given) in bits: the mean over rows of −log₂ of their class's share among rows like them."""
    counts = frame.group_by([target, *condition_names]).agg(pl.len().alias("rows of class"))
    alike = pl.col("rows of class").sum().over(condition_names) if condition_names else pl.col("rows of class").sum()
    rows, alike_rows = counts.select(pl.col("rows of class"), alike.alias("rows alike")).to_numpy().T.astype(np.float64)
    return round(float(rows @ np.log2(alike_rows / rows)) / frame.height, 12) + 0.0
