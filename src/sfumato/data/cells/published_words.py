# SPDX-License-Identifier: MIT
"""The arguments of a claim that may be published: lists of values hold published ones only.

A claim about an ordered column lists its values in order, those of suppressed people among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from sfumato.data.hierarchies.hierarchy import spell_cells

LEVEL_MARK = "\x1f"
"""What separates a value from its labels, level by level, in the argument `parents`."""
_LISTS = ("order", "parents")


def keep_published_words(arguments: Mapping[str, Any], published_frame: pl.DataFrame | None) -> dict[str, Any]:
    """The arguments, with only those of the listed values that the column still holds."""
    column = arguments.get("column")
    published_words: set[str] = set()
    if published_frame is not None and isinstance(column, str) and column in published_frame.columns:
        published_words = set(spell_cells(published_frame[column]).drop_nulls().unique())
    return {
        name: tuple(row for row in argument if row.split(LEVEL_MARK)[0] in published_words)
        if name in _LISTS
        else argument
        for name, argument in arguments.items()
    }
