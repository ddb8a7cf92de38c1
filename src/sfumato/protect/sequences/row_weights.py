# SPDX-License-Identifier: MIT
"""How many matches need each item of one sequence, kept up to date while items of it are marked.

With limits on gaps, a match spans a few elements. Marking an item then changes weights only near by, and only those are
counted again, so that a mark costs what a match spans and not what the sequence spans. Counts that floats hold exactly
are the same either way; where they may be larger, the whole sequence is counted each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.protect.sequences.edited_sequences import NO_LIMIT, SequenceDraft

_EXACT = 2**53
"""Floats hold all whole numbers up to this one."""


class RowWeights:
    """The weights of the items of one sequence."""

    def __init__(self, draft: SequenceDraft, row: int, patterns: Sequence[int]) -> None:
        """Count the matches of some patterns."""
        self._draft, self._row, self._patterns = draft, row, patterns
        self._first, self._last = (int(bound) for bound in draft.data.offsets[row : row + 2])
        self._begin = draft.begin_of(row)
        reach = measure_reach(draft, patterns)
        self._reach = None if reach is None or 4 * reach >= self._last - self._first else reach
        self.values = draft.weigh(row, patterns)
        """For each item of the sequence, how many matches need it."""

    def mark(self, item: int) -> None:
        """Mark an item of the sequence, and count again what may have changed."""
        self._draft.alive[self._begin + item] = False
        if self._reach is None:
            self.values = self._draft.weigh(self._row, self._patterns)
            return
        offsets = self._draft.data.element_offsets
        element = int(np.searchsorted(offsets, self._begin + item, side="right")) - 1
        positions = self._list_positions()
        first, last = _cut_span(positions, element, self._reach)
        begin, end = int(offsets[first]), int(offsets[last])
        # A match through one of these elements may reach as far again.
        first, last = _cut_span(positions, element, 2 * self._reach)
        weights = self._draft.weigh_elements(self._patterns, first, last)
        start = int(offsets[first])
        self.values[begin - self._begin : end - self._begin] = weights[begin - start : end - start]

    def _list_positions(self) -> Ints:
        """The elements of the sequence that have a position: without items they have none, unless they keep it."""
        elements = np.arange(self._first, self._last)
        if self._draft.elements.in_place:
            return elements
        offsets = self._draft.data.element_offsets[self._first : self._last + 1]
        alive = self._draft.alive[self._begin : int(offsets[-1])]
        return elements[np.logical_or.reduceat(alive, offsets[:-1] - self._begin)]


def weigh_near(draft: SequenceDraft, position: int, patterns: Sequence[int]) -> Floats:
    """Weights of the items that can be in one match with an item, where elements keep their positions."""
    first, last = (int(bound) for bound in draft.data.offsets[draft.owners[position] :][:2])
    reach = measure_reach(draft, patterns)
    if reach is not None:
        element = int(np.searchsorted(draft.data.element_offsets, position, side="right")) - 1
        first, last = max(first, element + 1 - reach), min(last, element + reach)
    return draft.weigh_elements(patterns, first, last)


def measure_reach(draft: SequenceDraft, patterns: Sequence[int]) -> int | None:
    """How many elements a match of any of these patterns spans; None if there is no limit, or counts may be inexact."""
    reach, most = 1, 0
    for index in patterns:
        pattern = draft.patterns[index]
        steps = len(pattern.offsets) - 2
        if not steps:
            most += 1
            continue
        span = min(pattern.window, steps * (pattern.max_gap + 1) + 1)
        if span >= NO_LIMIT:
            return None
        ways = [(pattern.max_gap + 1) ** steps, comb(pattern.window - 1, steps) if span >= pattern.window else _EXACT]
        reach, most = max(reach, span), most + (steps + 1) * min(ways)
    return reach if most < _EXACT else None


def _cut_span(positions: Ints, element: int, reach: int) -> tuple[int, int]:
    """The elements from this many positions before an element up to this many after it, the end excluded."""
    position_index = int(np.searchsorted(positions, element))
    near_positions = positions[max(0, position_index - reach) : position_index + reach + 1]
    return min([element, *near_positions[:1].tolist()]), 1 + max([element, *near_positions[-1:].tolist()])
