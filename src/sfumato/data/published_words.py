# SPDX-License-Identifier: MIT
"""The arguments of a claim that may leave: lists of values hold published ones only.

A claim about an ordered column lists its values in order, those of suppressed people among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from sfumato.data.hierarchy import spell_cells

LEVEL_MARK = "\x1f"
"""What separates a value from its labels, level by level, in the argument `parents`."""
_LISTS = ("order", "parents")


def keep_published_words(arguments: Mapping[str, Any], published: pl.DataFrame | None) -> dict[str, Any]:
    """The arguments, with only those of the listed values that the column still holds."""
    column = arguments.get("column")
    seen: set[str] = set()
    if published is not None and isinstance(column, str) and column in published.columns:
        seen = set(spell_cells(published[column]).drop_nulls().unique())
    return {
        name: tuple(row for row in given if row.split(LEVEL_MARK)[0] in seen) if name in _LISTS else given
        for name, given in arguments.items()
    }
