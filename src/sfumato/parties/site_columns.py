# SPDX-License-Identifier: MIT
"""One site's columns of vertically split data: items, the aligned rows with them, and keys. Nothing here is sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.baskets import Baskets, Item
from sfumato.errors import DataError, count_noun
from sfumato.parties.result import Itemset

if TYPE_CHECKING:
    from sfumato.table import Table


class SiteColumns:
    """For each item of a site, which of the aligned rows hold it."""

    def __init__(self, baskets: Baskets, order: Ints) -> None:
        """Keep these rows of the baskets, in this order."""
        self.rows = order.size
        self._codes = {item: code for code, item in enumerate(baskets.items)}
        new_rows = np.full(len(baskets), -1, dtype=np.int64)
        new_rows[order] = np.arange(order.size)
        members = np.repeat(new_rows, np.diff(baskets.offsets))
        is_kept = members >= 0
        codes, members = baskets.codes[is_kept], members[is_kept]
        by_code = np.argsort(codes, kind="stable")
        self._members = members[by_code]
        self._counts = np.bincount(codes, minlength=len(baskets.items))
        self._ends = np.cumsum(self._counts)

    def list_items(self, least: int) -> list[Item]:
        """Items that at least this many rows hold."""
        return [item for item, code in self._codes.items() if self._counts[code] >= least]

    def get_vector(self, itemset: Itemset) -> Flags:
        """Which rows hold all of these items."""
        flags = np.ones(self.rows, dtype=np.bool_)
        for item in itemset:
            code = self._codes[item]
            item_mask = np.zeros(self.rows, dtype=np.bool_)
            item_mask[self._members[self._ends[code] - self._counts[code] : self._ends[code]]] = True
            flags &= item_mask
        return flags

    def count(self, itemset: Itemset) -> int:
        """How many rows hold all of these items."""
        return int(self.get_vector(itemset).sum())


def list_cells(data: Baskets | Table, key: str | None) -> Baskets:
    """Baskets as they are, and a table as baskets of "column=value" with its key as id.

    Identifying columns of a table are left out, missing cells too.
    """
    if isinstance(data, Baskets):
        return data
    if key is not None and key not in data.frame.columns:
        raise DataError(f'{data.source}: there is no column "{key}" to align rows by')
    columns = [name for name in data.frame.columns if name != key and data.roles.get(name) != "identifying"]
    cells = [
        [f"{name}={value}" for name, value in zip(columns, row, strict=True) if value is not None]
        for row in data.frame.select(columns).rows()
    ]
    return Baskets.of(cells or [[]] * len(data), None if key is None else _list_ids(data, key))


def list_keys(baskets: Baskets) -> list[bytes]:
    """The owners of the baskets, as bytes; numbers and their digits are the same key."""
    if baskets.ids is None:
        raise DataError("these baskets have no ids to align by; read them in long form, or align them by row number")
    return [str(owner).encode("utf-8") for owner in baskets.ids]


def _list_ids(data: Table, key: str) -> Sequence[Item]:
    import polars as pl

    column = data.frame[key]
    missing = column.null_count()
    if missing:
        raise DataError(
            f'{data.source}: {count_noun(missing, "row has", "rows have")} no "{key}"; a key must be in every row'
        )
    repeat_count = len(column) - column.n_unique()
    if repeat_count:
        raise DataError(
            f'{data.source}: {count_noun(repeat_count, "row repeats", "rows repeat")} a "{key}" of another row; give '
            "each person one row"
        )
    return column.cast(pl.String).to_list()
