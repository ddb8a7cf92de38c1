# SPDX-License-Identifier: MIT
"""The names of the columns of a file: each has one, and no two the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sfumato.errors import DataError, count_noun


def choose_column_names(read: list[str], given_names: Sequence[str] | None, width: int, path: Path | str) -> list[str]:
    """The names that are given, or those of the file, with a name for each column that has none."""
    if given_names is not None:
        if len(given_names) != width:
            raise DataError(
                f"{path}: {count_noun(len(given_names), 'column name is', 'column names are')} given, but the file has "
                f"{count_noun(width, 'column')}"
            )
        names = list(given_names)
    else:
        names = read or [""] * width
    refuse_repeated([name or f"(unnamed {position})" for position, name in enumerate(names)], path)
    for position, name in enumerate(names):
        if not name:
            fresh = f"column_{position}"
            names[position] = fresh if fresh not in names else f"{fresh}_unnamed"
    return names


def refuse_repeated(names: Sequence[str], path: Path | str) -> None:
    """Report the positions, not the name: without a header it is the first person's cell."""
    positions: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if name in positions:
            raise DataError(
                f"{path}: columns {positions[name]} and {position} have the same name; rename one of them (or, if the "
                "file has no header, set header = false)"
            )
        positions[name] = position
