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
        following, joining = self._extend(prefix, ends)
        for item, found in following.items():
            if len(found) >= least:
                yield len(found), (*prefix, (item,))
                yield from self._grow((*prefix, (item,)), found, least)
        for item, found in joining.items():
            if len(found) >= least:
                joined = (*prefix[:-1], (*prefix[-1], item))
                yield len(found), joined
                yield from self._grow(joined, found, least)

    def _extend(self, prefix: Pattern, ends: Ends) -> tuple[dict[int, Ends], dict[int, Ends]]:
        following: dict[int, Ends] = defaultdict(list)
        joining: dict[int, Ends] = defaultdict(list)
        last = prefix[-1] if prefix else ()
        needed = frozenset(last)
        for row, end in ends:
            elements, sets = self._rows[row], self._sets[row]
            followed: set[int] = set()
            joined: set[int] = set()
            for place in range(max(end, 0), len(elements)):
                if place > end:
                    for item in elements[place]:
                        if item not in followed:
                            followed.add(item)
                            following[item].append((row, place))
                if last and len(elements[place]) > len(last) and needed <= sets[place]:
                    for item in elements[place]:
                        if item > last[-1] and item not in joined:
                            joined.add(item)
                            joining[item].append((row, place))
        return following, joining
