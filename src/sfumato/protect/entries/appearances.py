# SPDX-License-Identifier: MIT
"""In which rows the antecedents of rules publicly appear, listed some rows of the table at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Bytes, Codes, Ints
from sfumato.errors import ImpossibleRelease
from sfumato.mine.entries.cells import MISSING_ITEM, PRIVATE, PUBLIC, TableCells
from sfumato.mine.entries.rule_arrays import RuleArrays
from sfumato.runtime.progress import report_progress

_PART = 1 << 20
"""Rows of the table that are looked at together."""
_CHUNK = 4096
"""Antecedents listed between two progress reports."""
_ROOM = 1 << 20
"""Approximate rows of antecedents listed between them."""


class Appearances(NamedTuple):
    """The rows of each antecedent, those that hide something first."""

    counts: Ints
    """For each antecedent how many rows there are, and how many of them hide something."""
    rows: Codes
    """All of them, antecedent by antecedent."""

    @property
    def start(self) -> Ints:
        """Where the rows of each antecedent begin, and last where they end."""
        return np.concatenate([[0], np.cumsum(self.counts[:, 0])]).astype(np.int64)


def list_antecedent_rows(
    cells: TableCells, states: Bytes, rule_arrays: RuleArrays, most: int | None = None
) -> Appearances:
    """List the rows in which each antecedent is visible in these states; an error if there are more than `most`."""
    parts: list[Appearances] = []
    many, size = len(cells.codes), 0
    for begin in range(0, max(many, 1), _PART):
        report_progress("listing the rows of rules", begin, many)
        parts.append(_list_part(cells, states, rule_arrays, slice(begin, begin + _PART)))
        size += len(parts[-1].rows)
        if most is not None and size > most:
            raise ImpossibleRelease(
                f"{len(rule_arrays):,} rules were found, and more than {most:,} rows in which they appear, the most "
                "that memory holds; raise min_support or confidence, set max_length, or set SFUMATO_MEMORY higher"
            )
    return parts[0] if len(parts) == 1 else _join_parts(parts)


def _list_part(cells: TableCells, states: Bytes, rule_arrays: RuleArrays, part: slice) -> Appearances:
    """The same for some rows of the table."""
    from sfumato.kernels.entries.grades import list_appearances

    hides = (cells.states[part] == PRIVATE).any(axis=1)
    order = np.concatenate([np.flatnonzero(hides), np.flatnonzero(~hides)]).astype(np.int32)
    visible_codes = np.ascontiguousarray(np.where(states[part] == PUBLIC, cells.codes[part], np.int32(MISSING_ITEM)).T)
    columns = np.repeat(np.arange(len(cells.names)), np.diff(cells.first)).astype(np.int32)
    many, longest = len(rule_arrays.start) - 1, int(np.diff(rule_arrays.start).max(initial=0))
    stack, sizes = np.zeros((longest + 1, len(order)), np.int32), np.zeros((longest + 1, 2), np.int64)
    stack[0], sizes[0] = order, (len(order), int(hides.sum()))
    counts, rows, begin = np.zeros((many, 2), dtype=np.int64), [np.zeros(0, dtype=np.int32)], 0
    room = np.zeros(max(_ROOM, len(order)), dtype=np.int32)
    while begin < many:
        end = min(begin + _CHUNK, many)
        begin, row_count = list_appearances(
            visible_codes, columns, rule_arrays.start, rule_arrays.items, stack, sizes, begin, end, counts, room
        )
        rows.append(room[:row_count] + np.int32(part.start))
    return Appearances(counts, np.concatenate(rows))


def _join_parts(parts: Sequence[Appearances]) -> Appearances:
    """For each antecedent the rows of all parts: those that hide something, then the others."""
    counts = np.sum([part.counts for part in parts], axis=0)
    rows = np.zeros(int(counts[:, 0].sum()), dtype=np.int32)
    hiding_starts = np.cumsum(counts[:, 0]) - counts[:, 0]
    other_starts = hiding_starts + counts[:, 1]
    for part in parts:
        many, hiding_counts = part.counts.T
        _copy_runs(part.rows, part.start[:-1], rows, hiding_starts, hiding_counts)
        _copy_runs(part.rows, part.start[:-1] + hiding_counts, rows, other_starts, many - hiding_counts)
        hiding_starts, other_starts = hiding_starts + hiding_counts, other_starts + many - hiding_counts
    return Appearances(counts, rows)


def _copy_runs(source: Codes, begins: Ints, target: Codes, places: Ints, lengths: Ints) -> None:
    """Copy runs of one array to places of another."""
    offsets: npt.NDArray[np.int64] = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    target[np.repeat(places, lengths) + offsets] = source[np.repeat(begins, lengths) + offsets]
