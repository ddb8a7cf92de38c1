# SPDX-License-Identifier: MIT
"""Sequences while items are marked in them, and the matches that are left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Codes, Flags, Floats, Ints
from sfumato.baskets import Item
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences

NO_LIMIT = 1 << 40
_ROWS_AT_ONCE = 1000
ItemPattern = tuple[tuple[Item, ...], ...]


class CodedPattern(NamedTuple):
    """A pattern in codes of the data; None if one of its items does not occur there."""

    offsets: Ints
    codes: Codes

    @classmethod
    def of(cls, pattern: ItemPattern, data: Sequences) -> CodedPattern | None:
        """Look the items up by their text."""
        number = {str(item): code for code, item in enumerate(data.items)}
        if not all(str(item) in number for element in pattern for item in element):
            return None
        elements = [sorted({number[str(item)] for item in element}) for element in pattern]
        offsets = np.cumsum([0, *map(len, elements)]).astype(np.int64)
        return cls(offsets, np.array([code for element in elements for code in element], dtype=np.int32))


class MarkedItem(NamedTuple):
    """An item that a mark replaces."""

    row: int
    """Its sequence."""
    position: int
    """The position of its element."""
    item: Item


class SequenceDraft:
    """Which items are still there, and in which sequences each pattern matches."""

    def __init__(
        self,
        data: Sequences,
        patterns: Sequence[ItemPattern],
        max_gap: int | None = None,
        window: int | None = None,
        *,
        in_place: bool = False,
    ) -> None:
        """Find every match. `in_place`: an element that loses its items keeps its position."""
        from sfumato.kernels.sequences.matching import HiddenPattern, MarkedElements

        self.data = data
        self.alive: Flags = np.ones(len(data.codes), dtype=np.bool_)
        # Compiled code takes no read-only arrays.
        self._offsets = data.offsets.copy()
        self.elements = MarkedElements(data.element_offsets.copy(), data.codes.copy(), self.alive, in_place)
        gap, span = (NO_LIMIT if limit is None else limit for limit in (max_gap, window))
        self.is_limited = max_gap is not None or window is not None
        self.may_create = not in_place and self.is_limited
        """Whether deleting an item can create matches, because what was too far apart moves together."""
        self.owners = np.repeat(np.arange(len(data)), np.diff(data.element_offsets[data.offsets]))
        coded_patterns = [CodedPattern.of(pattern, data) for pattern in patterns]
        self.patterns: list[Any] = [
            None if c is None else HiddenPattern(c.offsets, c.codes, gap, span) for c in coded_patterns
        ]
        is_list = not self.is_limited and len(data.codes) == len(data.element_offsets) - 1
        self._is_plain = [is_list and c is not None and len(c.codes) == len(c.offsets) - 1 for c in coded_patterns]
        """Whether each pattern and the sequences are single items without limits."""
        self.totals = np.zeros((len(patterns), len(data)))
        """How many matches each pattern (rows) has in each sequence (columns)."""
        for index, pattern in enumerate(self.patterns):
            if pattern is not None:
                rows = self._list_candidates(pattern)
                self.totals[index, rows] = self.count(index, rows)
        self.original_mask = self.totals > 0
        self.supports: Ints = self.original_mask.sum(axis=1)
        """How many sequences contain each pattern now."""

    def _list_candidates(self, pattern: Any) -> Ints:
        """The sequences that hold every item of a pattern."""
        rows = np.arange(len(self.data))
        for code in np.unique(pattern.codes):
            rows = np.intersect1d(rows, self.owners[self.data.codes == code])
        return rows

    def count(self, index: int, rows: Ints) -> Floats:
        """How many matches a pattern has now in some sequences."""
        from sfumato.kernels.sequences.matching import count_matches

        totals = np.zeros(len(rows))
        # In parts, since compiled code cannot be interrupted.
        parts = range(0, len(rows) if self.patterns[index] is not None else 0, _ROWS_AT_ONCE)
        for first in parts:
            if first:
                report_progress("counting matches", first, len(rows))
            part = slice(first, first + _ROWS_AT_ONCE)
            part_rows = rows[part].astype(np.int64)
            count_matches(self.elements, self._offsets, self.patterns[index], part_rows, totals[part])
        return totals

    def list_forbidden(self, row: int, targets: Sequence[int]) -> list[int]:
        """Patterns that must not match in a sequence: the targets, and those that deleting might create."""
        creatable_indices = np.flatnonzero(~self.original_mask[:, row]).tolist() if self.may_create else []
        return [index for index in (*targets, *creatable_indices) if self.patterns[index] is not None]

    def weigh(self, row: int, indices: Sequence[int]) -> Floats:
        """For each item of a sequence, how many matches of some patterns need it."""
        first, last = (int(bound) for bound in self.data.offsets[row : row + 2])
        weights = np.zeros(int(self.data.element_offsets[last] - self.data.element_offsets[first]))
        for index in indices:
            self.totals[index, row] = self._add_weights(index, first, last, weights)
        return weights

    def weigh_elements(self, indices: Sequence[int], first: int, last: int) -> Floats:
        """The same for some elements of a sequence, of matches within them."""
        weights = np.zeros(int(self.data.element_offsets[last] - self.data.element_offsets[first]))
        for index in indices:
            self._add_weights(index, first, last, weights)
        return weights

    def _add_weights(self, index: int, first: int, last: int, weights: Floats) -> float:
        """Add how many matches of a pattern need each item of some elements; returns how many there are."""
        from sfumato.kernels.sequences.matching import weigh_items, weigh_single_items

        weigh = weigh_single_items if self._is_plain[index] else weigh_items
        return float(weigh(self.elements, first, last, self.patterns[index], weights))

    def find_match(self, row: int, index: int) -> Ints | None:
        """The items of one match of a pattern in a sequence, as indices into the codes; None if there is none."""
        from sfumato.kernels.sequences.matching import find_match

        pattern = self.patterns[index]
        match = np.zeros(len(pattern.offsets) - 1, dtype=np.int64)
        first, last = (int(bound) for bound in self.data.offsets[row : row + 2])
        if not find_match(self.elements, first, last, pattern, match):
            return None
        places: list[int] = []
        for number, element in enumerate(match.tolist()):
            pattern_codes = pattern.codes[pattern.offsets[number] : pattern.offsets[number + 1]]
            element_places = np.arange(self.data.element_offsets[element], self.data.element_offsets[element + 1])
            places += element_places[np.isin(self.data.codes[element_places], pattern_codes)].tolist()
        return np.array(sorted(set(places)), dtype=np.int64)

    def list_absent(self, row: int) -> list[int]:
        """The patterns that do not match in a sequence now."""
        return [i for i, pattern in enumerate(self.patterns) if pattern is not None and not self.totals[i, row]]

    def find_element(self, position: int) -> slice:
        """The items of the element that holds an item."""
        element = int(np.searchsorted(self.data.element_offsets, position, side="right")) - 1
        return slice(*self.data.element_offsets[element : element + 2].tolist())

    def begin_of(self, row: int) -> int:
        """The index of the first item of a sequence among the codes."""
        return int(self.data.element_offsets[self.data.offsets[row]])

    def list_published(self) -> Ints:
        """The items that are left, in the order in which their sequences are published: each element by code."""
        places = np.flatnonzero(self.alive)
        elements = np.searchsorted(self.data.element_offsets, places, side="right")
        return places[np.lexsort((self.elements.codes[places], elements))]

    def list_marks(self, marked_mask: Flags) -> list[MarkedItem]:
        """Every marked item: its sequence, the position of its element, and the item."""
        places = np.flatnonzero(marked_mask)
        elements = np.searchsorted(self.data.element_offsets, places, side="right") - 1
        rows = self.owners[places]
        positions = elements - self.data.offsets[rows]
        items = [self.data.items[code] for code in self.data.codes[places].tolist()]
        return [MarkedItem(*mark) for mark in zip(rows.tolist(), positions.tolist(), items, strict=True)]
