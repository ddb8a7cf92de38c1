# SPDX-License-Identifier: MIT
"""Many rows in blocks that share no class: where rows are sorted by a column, its groups lie one after another.

A table of slots for the classes of one block stays in the cache, where one for all classes does not.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Codes

MANY_ROWS = 1 << 18
"""Fewer rows are grouped at once."""
_LEAST = 1 << 16
"""A block has at least this many rows, but for the last one."""


def find_sorted_column(codes: Codes) -> int | None:
    """A column by which many rows are sorted, if there is one: that of most leaves."""
    if codes.shape[1] < MANY_ROWS:
        return None
    sorted_columns = [c for c, column in enumerate(codes) if bool((column[1:] >= column[:-1]).all())]
    return max(sorted_columns, key=lambda column: int(codes[column, -1]), default=None)


def split_into_blocks(codes: Codes, group_of_leaf: Codes) -> list[int]:
    """Where blocks begin and end, so that no group of this sorted column is in two of them; the whole if it must be."""
    changes = np.flatnonzero(group_of_leaf[1:] != group_of_leaf[:-1]) + 1
    if len(changes) + 1 > len(np.unique(group_of_leaf)):  # the leaves of some group do not lie together
        return [0, len(codes)]
    bounds = [0]
    # Of another type, all codes would be converted first.
    for begin in np.searchsorted(codes, changes.astype(codes.dtype)).tolist():
        if bounds[-1] + _LEAST <= begin < len(codes):
            bounds.append(begin)
    return [*bounds, len(codes)]
