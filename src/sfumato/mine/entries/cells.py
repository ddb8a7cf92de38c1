# SPDX-License-Identifier: MIT
"""A table as the miner of adversarial rules sees it: every entry is an item number, visible or hidden.

An item is a value of a column; the items of all columns are numbered consecutively, column by column, values in their
order. A missing entry has no item: it is neither visible nor hidden.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.arrays import Bytes, Codes, Flags, Ints
from sfumato.data.roles.role import Role
from sfumato.errors import DataError
from sfumato.table import Table

MISSING_ITEM = -1
"""The code of a missing entry."""
PUBLIC, PRIVATE, BLANK = 0, 1, 2
"""Whether an adversary sees an entry; a blanked one was hidden to protect the private ones."""


@dataclass(frozen=True)
class TableCells:
    """Item codes and states, rows by columns. Identifying columns are not published, and not here."""

    names: tuple[str, ...]
    values: tuple[pl.Series, ...]
    """The distinct values of each column, in order."""
    first: Codes
    """The items of column j are `first[j]` up to `first[j + 1]`."""
    codes: Codes
    """The item of each entry; `MISSING_ITEM` where it has none. Of a large table they may be narrower than 32 bits."""
    states: Bytes
    """`PUBLIC`, `PRIVATE` or `BLANK`; missing entries are public, and hold nothing."""

    @classmethod
    def of(cls, table: Table, private: Flags) -> TableCells:
        """Number the entries of the published columns; `private` covers all columns of the table."""
        frame = table.frame
        column_indices = [
            index for index, name in enumerate(frame.columns) if table.roles.get(name) is not Role.IDENTIFYING
        ]
        coded_columns = [_encode_cells(frame.to_series(index)) for index in column_indices]
        values = tuple(values_of_column for _, values_of_column in coded_columns)
        first = np.cumsum([0, *map(len, values)])
        if first[-1] >= np.iinfo(np.int32).max:
            raise DataError(
                f"{table.source}: {first[-1]} distinct values are too many to be numbered; discretize columns"
            )
        codes = np.full((frame.height, len(column_indices)), MISSING_ITEM, dtype=np.int32)
        for index, (numbers, _) in enumerate(coded_columns):
            codes[:, index] = np.where(numbers < 0, MISSING_ITEM, numbers + first[index])
        states = np.where(private[:, column_indices] & (codes != MISSING_ITEM), PRIVATE, PUBLIC).astype(np.uint8)
        names = tuple(frame.columns[index] for index in column_indices)
        return cls(names, values, first.astype(np.int32), codes, np.ascontiguousarray(states))


def _encode_cells(column: pl.Series) -> tuple[Ints, pl.Series]:
    """The index of each cell's value among the sorted distinct ones, −1 where it is missing; and these values."""
    values = column.drop_nulls().unique().sort()
    ranks = column.rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
    return ranks - 1, values
