# SPDX-License-Identifier: MIT
"""Sequences by brute force: every pattern that occurs, and its matches one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product
from typing import Any

Pattern = tuple[tuple[Any, ...], ...]
Row = list[list[Any]]


def has_match(row: Row, pattern: Pattern, max_gap: int | None = None, window: int | None = None) -> bool:
    """Whether some choice of elements, one for each of the pattern's, keeps the limits."""
    if max_gap is None and window is None:  # the leftmost match decides
        rest = iter(row)
        return all(any(set(items) <= set(element) for element in rest) for items in pattern)
    if not pattern:
        return True
    for places in combinations(range(len(row)), len(pattern)):
        if max_gap is not None and any(b - a - 1 > max_gap for a, b in pairwise(places)):
            continue
        if window is not None and places[-1] - places[0] + 1 > window:
            continue
        if all(set(items) <= set(row[position]) for items, position in zip(pattern, places, strict=True)):
            return True
    return False


def list_patterns_of(row: Row) -> Iterator[Pattern]:
    """Every pattern that a row contains, some of them repeatedly."""
    for length in range(1, len(row) + 1):
        for places in combinations(range(len(row)), length):
            subsets = [
                [
                    subset
                    for size in range(1, len(row[position]) + 1)
                    for subset in combinations(sorted(row[position]), size)
                ]
                for position in places
            ]
            yield from product(*subsets)


def count_patterns(rows: list[Row], max_gap: int | None = None, window: int | None = None) -> dict[Pattern, int]:
    """The support of every pattern with one."""
    candidates = {pattern for row in rows for pattern in list_patterns_of(row)}
    counts = {pattern: sum(has_match(row, pattern, max_gap, window) for row in rows) for pattern in candidates}
    return {pattern: count for pattern, count in counts.items() if count}


def mine(
    rows: list[Row],
    least: int,
    kind: str = "all",
    max_length: int | None = None,
    max_gap: int | None = None,
    window: int | None = None,
) -> dict[Pattern, int]:
    """The patterns asked for, by comparing every one with every other."""
    frequent = {pattern: count for pattern, count in count_patterns(rows, max_gap, window).items() if count >= least}

    def is_asked_for(pattern: Pattern) -> bool:
        size = sum(map(len, pattern))
        larger = [
            other
            for other in frequent
            if sum(map(len, other)) > size and has_match([list(element) for element in other], pattern)
        ]
        if kind == "closed":
            return all(frequent[other] < frequent[pattern] for other in larger)
        return kind == "all" or not larger

    asked_patterns = {pattern: count for pattern, count in frequent.items() if is_asked_for(pattern)}
    return {
        pattern: count
        for pattern, count in asked_patterns.items()
        if max_length is None or sum(map(len, pattern)) <= max_length
    }


def count_matching_plainly(
    rows: list[Row], pattern: Pattern, max_gap: int | None = None, window: int | None = None
) -> int:
    """How many rows contain a pattern, from the latest start of a match that ends at each position."""
    return sum(_is_match([{*map(str, element)} for element in row], pattern, max_gap, window) for row in rows)


def _is_match(row: list[set[str]], pattern: Pattern, max_gap: int | None, window: int | None) -> bool:
    element_sets = [{*map(str, element)} for element in pattern]
    starts = [position if element_sets[0] <= element else -1 for position, element in enumerate(row)]
    for items in element_sets[1:]:
        reach = len(row) if max_gap is None else max_gap + 1
        starts = [
            max(starts[max(0, position - reach) : position], default=-1) if items <= element else -1
            for position, element in enumerate(row)
        ]
    longest = len(row) if window is None else window
    return any(start >= 0 and position - start < longest for position, start in enumerate(starts))


def count_common(first: Sequence[Any], second: Sequence[Any]) -> int:
    """The length of the longest common subsequence, by the table of all beginnings."""
    lengths = [0] * (len(second) + 1)
    for item in first:
        previous_lengths = lengths.copy()
        for index, other in enumerate(second):
            lengths[index + 1] = (
                previous_lengths[index] + 1 if item == other else max(previous_lengths[index + 1], lengths[index])
            )
    return lengths[-1]
