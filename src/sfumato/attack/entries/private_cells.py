# SPDX-License-Identifier: MIT
"""The private entries an adversary looks for when single entries are hidden, and their true values.

The adversary sees which entries are blank, not which of them are private; the custodian, who runs the attack, counts
the private ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.arrays import Ints
from sfumato.attack.row_distance import require_attacked_columns
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError, count_noun
from sfumato.release import Release
from sfumato.table import Table

_ENTRY_SCHEMA = {"row": pl.Int64, "column": pl.String, "value": pl.String}


@dataclass(frozen=True, eq=False, repr=False)
class PrivateCells:
    """The private entries of one column."""

    column: str
    rows: Ints
    """Published rows, ascending."""
    truth: pl.Series
    """The true value of each, as text."""
    published_cells: pl.Series
    """The published value of each, as text; null where it is hidden."""


def list_private_cells(release: Release, truth: Table, columns: Sequence[str] | None) -> tuple[PrivateCells, ...]:
    """The private entries, column by column, in the release's order.

    They are those that the release lists as hidden (`details["hidden"]`), or else all that are blank in the release and
    not in the originals. With `columns`, all entries of these columns instead, blank or not.
    """
    published_table: Table = release.data
    require_attacked_columns(columns or (), published_table, truth, None)
    originals = truth.frame[_trace_row_origins(release, truth)]
    hidden_entries = _read_hidden_entries(release)
    private_cells = []
    for name in published_table.frame.columns if columns is None else columns:
        texts = spell_cells(published_table.frame[name])
        listed_entries = None if hidden_entries is None else hidden_entries.get(name)
        true = _read_true_values(name, texts, originals, listed_entries)
        if columns is not None:
            wanted_mask = true.is_not_null()
        elif hidden_entries is not None:
            wanted_mask = pl.Series(np.isin(np.arange(len(texts)), [] if listed_entries is None else listed_entries[0]))
        else:
            wanted_mask = texts.is_null()
        rows = np.flatnonzero((wanted_mask & true.is_not_null()).to_numpy()).astype(np.int64)
        if len(rows):
            private_cells.append(PrivateCells(name, rows, true.gather(rows), texts.gather(rows)))
    return tuple(private_cells)


def draw_strangers(control: Table, count: int, chance: np.random.Generator) -> pl.DataFrame:
    """As many strangers as there are entries to guess, some of them repeated if there are fewer."""
    if not len(control):
        raise DataError(f"{control.source}: the control has no rows; give people who are not in the data")
    return control.frame[np.sort(chance.choice(len(control), count, replace=count > len(control)))]


def _read_true_values(
    name: str, texts: pl.Series, originals: pl.DataFrame, hidden_entries: tuple[Ints, pl.Series] | None
) -> pl.Series:
    """The true values of a column. The release's list of hidden entries takes precedence: a value may be a midpoint."""
    if name in originals.columns:
        true = spell_cells(originals[name])
    else:
        true = pl.Series(name, [None] * len(texts), dtype=pl.String)
    return true if hidden_entries is None else true.scatter(hidden_entries[0], hidden_entries[1])


def _read_hidden_entries(release: Release) -> Mapping[str, tuple[Ints, pl.Series]] | None:
    """The hidden entries that the release lists, by column: rows and values; None without a list."""
    hidden_entries = release.details.get("hidden")
    if hidden_entries is None:
        return None
    entry_frame = (
        hidden_entries
        if isinstance(hidden_entries, pl.DataFrame)
        else pl.DataFrame(hidden_entries, schema=_ENTRY_SCHEMA, orient="row")
    )
    if not {"row", "column", "value"} <= set(entry_frame.columns):
        raise DataError("the release lists its hidden entries without row, column and value")
    strange = set(entry_frame["column"].to_list()) - set(release.data.frame.columns)
    far = entry_frame.filter(~pl.col("row").is_between(0, len(release.data) - 1)).height
    if strange or far:
        raise DataError(
            f"{release.data.source}: the release lists hidden entries in {count_noun(len(strange), 'column')} and "
            f"{count_noun(far, 'row')} that it does not have"
        )
    parts = entry_frame.partition_by("column", maintain_order=True)
    return {
        str(part["column"][0]): (part["row"].to_numpy().astype(np.int64), spell_cells(part["value"])) for part in parts
    }


def _trace_row_origins(release: Release, truth: Table) -> Ints:
    """The original row of each published row."""
    rows = release.details.trace_rows(len(release.data))
    if len(rows) != len(release.data) or (len(rows) and (rows.min() < 0 or rows.max() >= len(truth))):
        raise DataError(
            f"{truth.source}: {len(release.data)} rows are published and {len(truth)} rows are given as the originals; "
            "give the table that the release was made from"
        )
    return rows
