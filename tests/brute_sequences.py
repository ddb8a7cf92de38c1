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
        later = iter(row)
        return all(any(set(wanted) <= set(element) for element in later) for wanted in pattern)
    if not pattern:
        return True
    for places in combinations(range(len(row)), len(pattern)):
        if max_gap is not None and any(b - a - 1 > max_gap for a, b in pairwise(places)):
            continue
        if window is not None and places[-1] - places[0] + 1 > window:
            continue
        if all(set(wanted) <= set(row[place]) for wanted, place in zip(pattern, places, strict=True)):
            return True
    return False


def list_patterns_of(row: Row) -> Iterator[Pattern]:
    """Every pattern that a row contains, some of them repeatedly."""
    for length in range(1, len(row) + 1):
        for places in combinations(range(len(row)), length):
            subsets = [
                [subset for size in range(1, len(row[place]) + 1) for subset in combinations(sorted(row[place]), size)]
                for place in places
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

    kept = {pattern: count for pattern, count in frequent.items() if is_asked_for(pattern)}
    return {
        pattern: count for pattern, count in kept.items() if max_length is None or sum(map(len, pattern)) <= max_length
    }


def count_matching_plainly(
    rows: list[Row], pattern: Pattern, max_gap: int | None = None, window: int | None = None
) -> int:
    """How many rows contain a pattern, from the latest start of a match that ends at each position."""
    return sum(_is_match([{*map(str, element)} for element in row], pattern, max_gap, window) for row in rows)


def _is_match(row: list[set[str]], pattern: Pattern, max_gap: int | None, window: int | None) -> bool:
    wanted = [{*map(str, element)} for element in pattern]
    starts = [place if wanted[0] <= element else -1 for place, element in enumerate(row)]
    for items in wanted[1:]:
        reach = len(row) if max_gap is None else max_gap + 1
        starts = [
            max(starts[max(0, place - reach) : place], default=-1) if items <= element else -1
            for place, element in enumerate(row)
        ]
    longest = len(row) if window is None else window
    return any(start >= 0 and place - start < longest for place, start in enumerate(starts))


def count_common(first: Sequence[Any], second: Sequence[Any]) -> int:
    """The length of the longest common subsequence, by the table of all beginnings."""
    lengths = [0] * (len(second) + 1)
    for one in first:
        before = lengths.copy()
        for place, other in enumerate(second):
            lengths[place + 1] = before[place] + 1 if one == other else max(before[place + 1], lengths[place])
    return lengths[-1]
