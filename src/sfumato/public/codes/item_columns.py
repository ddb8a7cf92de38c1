# SPDX-License-Identifier: MIT
"""The baskets that hold an item, as one large integer with a bit per basket: sets of items are combined by "and"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from sfumato.baskets import Baskets, Item
from sfumato.runtime.progress import report_progress

BasketBits = int
"""Bit i is set if basket i holds the item."""


def build_item_columns(baskets: Baskets, items: Iterable[Item] | None = None) -> dict[Item, BasketBits]:
    """The columns of some items (by default all); 0 for an item that no basket holds."""
    names = baskets.items if items is None else tuple(items)
    item_index = {item: index for index, item in enumerate(baskets.items)}
    rows = np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets))
    by_code = rows[np.argsort(baskets.codes, kind="stable")]
    ends = np.cumsum(np.bincount(baskets.codes, minlength=len(baskets.items)))
    columns: dict[Item, BasketBits] = {}
    for position, item in enumerate(names):
        if position % 256 == 0:
            report_progress("setting up columns", position, len(names))
        item_code = item_index.get(item)
        holder_rows = (
            by_code[:0] if item_code is None else by_code[ends[item_code - 1] if item_code else 0 : ends[item_code]]
        )
        columns[item] = build_column(holder_rows, len(baskets))
    return columns


def build_column(rows: Any, count: int) -> BasketBits:
    """The column with these rows, out of `count`."""
    marks = np.zeros(count, dtype=np.uint8)
    marks[rows] = 1
    return int.from_bytes(np.packbits(marks, bitorder="little").tobytes(), "little")


def intersect_items(columns: Mapping[Any, BasketBits], items: Iterable[Any], everywhere: BasketBits) -> BasketBits:
    """The baskets that hold all of the items; all baskets (`build_full_column`) for no items."""
    return reduce(and_, (columns[item] for item in items), everywhere)


def build_full_column(count: int) -> BasketBits:
    """The column of an item that all `count` baskets hold."""
    return (1 << count) - 1
