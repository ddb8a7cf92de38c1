# SPDX-License-Identifier: MIT
"""Small sequences, and brute force on them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import numpy as np

Elements = list[list[str]]


def list_subsequences(sequence: list[str]) -> set[tuple[str, ...]]:
    """Every subsequence of a sequence of single items."""
    sizes = range(1, len(sequence) + 1)
    return {part for size in sizes for part in combinations(sequence, size)}


def count_subsequences(sequences: list[list[str]]) -> Counter[tuple[str, ...]]:
    """The support of everything that occurs."""
    return Counter(part for sequence in sequences for part in list_subsequences(sequence))


def count_matches(sequence: Elements, pattern: Elements, max_gap: int | None, window: int | None) -> int:
    """How many matches a pattern has, by listing all choices of positions."""
    match_count = 0
    for places in combinations(range(len(sequence)), len(pattern)):
        if max_gap is not None and any(b - a - 1 > max_gap for a, b in pairwise(places)):
            continue
        if window is not None and places[-1] - places[0] >= window:
            continue
        match_count += all(
            set(element) <= set(sequence[position]) for element, position in zip(pattern, places, strict=True)
        )
    return match_count


def draw_elements(chance: np.random.Generator, most: int, *, sets: bool) -> Elements:
    """Up to so many elements of items a to d, one each or up to two."""
    sizes = [int(chance.integers(1, 3)) if sets else 1 for _ in range(int(chance.integers(0, most + 1)))]
    return [sorted({str(item) for item in chance.choice(list("abcd"), size)}) for size in sizes]


def as_elements(lists: list[list[Any]]) -> list[Elements]:
    """Sequences of single items as sequences of itemsets."""
    return [[[element] if isinstance(element, str) else element for element in sequence] for sequence in lists]
