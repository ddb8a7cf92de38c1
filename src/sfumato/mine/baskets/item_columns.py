# SPDX-License-Identifier: MIT
"""Which baskets hold an item, as one large integer with a bit for each basket: sets of items are joined by «and»."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from sfumato.baskets import Baskets, Item
from sfumato.progress import tell

Column = int
"""Bit i is set if basket i holds the item."""


def columns_of(baskets: Baskets, wanted: Iterable[Item] | None = None) -> dict[Item, Column]:
    """The columns of some items (all, if none are named); of an item that no basket holds, 0."""
    names = baskets.items if wanted is None else tuple(wanted)
    place = {item: at for at, item in enumerate(baskets.items)}
    rows = np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets))
    by_code = rows[np.argsort(baskets.codes, kind="stable")]
    ends = np.cumsum(np.bincount(baskets.codes, minlength=len(baskets.items)))
    columns: dict[Item, Column] = {}
    for done, item in enumerate(names):
        if done % 256 == 0:
            tell("setting up columns", done, len(names))
        at = place.get(item)
        held = by_code[:0] if at is None else by_code[ends[at - 1] if at else 0 : ends[at]]
        columns[item] = column_of(held, len(baskets))
    return columns


def column_of(rows: Any, count: int) -> Column:
    """The column with these rows of so many."""
    marks = np.zeros(count, dtype=np.uint8)
    marks[rows] = 1
    return int.from_bytes(np.packbits(marks, bitorder="little").tobytes(), "little")


def together(columns: Mapping[Any, Column], items: Iterable[Any], everywhere: Column) -> Column:
    """The baskets that hold all of the items; all baskets (`everywhere`) for no items."""
    return reduce(and_, (columns[item] for item in items), everywhere)


def everywhere(count: int) -> Column:
    """The column of an item that each of so many baskets holds."""
    return (1 << count) - 1
