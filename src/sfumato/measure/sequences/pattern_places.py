# SPDX-License-Identifier: MIT
"""How many sequences contain a pattern, counted by code that shares nothing with the methods.

The places of each element of the pattern are followed one element after another, and for each place the latest start of
a match that ends there is remembered: if that one is too long for the window, so is every other. A later place never
has an earlier start. So the latest place before, if it is near enough, gives the latest start, and no other is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.baskets import Item
from sfumato.sequences import Sequences

PatternElements = Sequence[Sequence[Item]]


class ItemPlaces:
    """Where the items of some sequences are; each item that patterns ask for is looked up once."""

    def __init__(self, sequences: Sequences) -> None:
        """Items are compared as text."""
        self._sequences = sequences
        self._code_of = {str(item): code for code, item in enumerate(sequences.items)}
        self._is_flat = len(sequences.codes) == len(sequences.element_offsets) - 1
        self._elements_by_item: dict[str, Ints] = {}

    def count_matching(self, pattern: PatternElements, max_gap: int | None = None, window: int | None = None) -> int:
        """How many sequences contain a pattern of itemsets."""
        if not pattern:
            return len(self._sequences)
        places = self._list_elements(pattern[0])
        starts = places
        for element in pattern[1:]:
            next_places = self._list_elements(element)
            previous_index = np.searchsorted(places, next_places) - 1
            is_next = self._flag_next(next_places, places, previous_index, max_gap)
            places, starts = next_places[is_next], starts[previous_index[is_next]]
        if window is not None:
            places = places[places - starts < window]
        return len(np.unique(self._find_rows(places)))

    def _flag_next(self, next_places: Ints, places: Ints, previous_index: Ints, max_gap: int | None) -> Flags:
        """Which elements go on with the match before them: it is in the same sequence, and near enough."""
        if not len(places):
            return np.zeros(len(next_places), dtype=np.bool_)
        ends = np.where(previous_index < 0, -1, places[previous_index])
        is_next: Flags = ends >= self._sequences.offsets[self._find_rows(next_places)]
        if max_gap is not None:
            is_next &= next_places - ends - 1 <= max_gap
        return is_next

    def _find_rows(self, elements: Ints) -> Ints:
        """The sequences that some elements are in."""
        return np.asarray(np.searchsorted(self._sequences.offsets, elements, side="right") - 1)

    def _list_elements(self, items: Iterable[Item]) -> Ints:
        """The elements that hold all of some items, in order."""
        several = [self._list_elements_with(name) for name in sorted(set(map(str, items)))]
        elements = several[0]
        for other in several[1:]:
            elements = np.intersect1d(elements, other, assume_unique=True)
        return elements

    def _list_elements_with(self, name: str) -> Ints:
        if name not in self._elements_by_item:
            code = self._code_of.get(name, -1)
            places = np.flatnonzero(self._sequences.codes == code)
            bounds = self._sequences.element_offsets
            self._elements_by_item[name] = (
                places if self._is_flat else np.searchsorted(bounds, places, side="right") - 1
            )
        return self._elements_by_item[name]
