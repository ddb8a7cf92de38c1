# SPDX-License-Identifier: MIT
"""PrefixSpan of itemsets in plain Python, written like prefixspan (PyPI), which takes single items only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

Element = tuple[int, ...]
Pattern = tuple[Element, ...]
Ends = list[tuple[int, int]]
"""Rows, and where the leftmost match of a pattern ends in each."""


class PlainPrefixSpan:
    """Sequences of itemsets that can be mined; items of an element ascend."""

    def __init__(self, rows: Iterable[Iterable[Iterable[int]]]) -> None:
        """Keep each element as a tuple and as a set."""
        self._rows = [[tuple(element) for element in row] for row in rows]
        self._sets = [[frozenset(element) for element in row] for row in self._rows]

    def frequent(self, least: int) -> list[tuple[int, Pattern]]:
        """Every frequent pattern with its support."""
        return list(self._grow((), [(row, -1) for row in range(len(self._rows))], least))

    def _grow(self, prefix: Pattern, ends: Ends, least: int) -> Iterator[tuple[int, Pattern]]:
        next_ends, joint_ends = self._extend(prefix, ends)
        for item, positions in next_ends.items():
            if len(positions) >= least:
                yield len(positions), (*prefix, (item,))
                yield from self._grow((*prefix, (item,)), positions, least)
        for item, positions in joint_ends.items():
            if len(positions) >= least:
                longer_pattern = (*prefix[:-1], (*prefix[-1], item))
                yield len(positions), longer_pattern
                yield from self._grow(longer_pattern, positions, least)

    def _extend(self, prefix: Pattern, ends: Ends) -> tuple[dict[int, Ends], dict[int, Ends]]:
        next_ends: dict[int, Ends] = defaultdict(list)
        joint_ends: dict[int, Ends] = defaultdict(list)
        last = prefix[-1] if prefix else ()
        last_items = frozenset(last)
        for row, end in ends:
            elements, sets = self._rows[row], self._sets[row]
            followers: set[int] = set()
            joiners: set[int] = set()
            for position in range(max(end, 0), len(elements)):
                if position > end:
                    for item in elements[position]:
                        if item not in followers:
                            followers.add(item)
                            next_ends[item].append((row, position))
                if last and len(elements[position]) > len(last) and last_items <= sets[position]:
                    for item in elements[position]:
                        if item > last[-1] and item not in joiners:
                            joiners.add(item)
                            joint_ends[item].append((row, position))
        return next_ends, joint_ends
