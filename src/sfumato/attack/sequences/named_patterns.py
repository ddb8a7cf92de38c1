# SPDX-License-Identifier: MIT
"""How many hidden patterns an adversary names: on average where it cannot distinguish some, and by blind guessing.

An adversary who knows the threshold and the length of each hidden pattern names as many of each kind. One who guesses
blindly knows the items of the release and how long the hidden patterns are, and mines nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import groupby
from math import comb
from typing import Any, NamedTuple

import numpy as np

from sfumato.sequences import Sequences

NamedPattern = tuple[tuple[str, ...], ...]


class TiedPatterns(NamedTuple):
    """Patterns that the adversary cannot distinguish, of which it draws some."""

    patterns: list[NamedPattern]
    draws: int


Ranking = list[TiedPatterns]
"""The most suspect patterns first."""


def measure_length(pattern: NamedPattern) -> int:
    """How many items a pattern has."""
    return sum(map(len, pattern))


def rank_by(patterns: Iterable[NamedPattern], key: Callable[[NamedPattern], Any]) -> Ranking:
    """Patterns in the order of a key; equal ones are tied."""
    ordered_patterns = sorted(patterns, key=lambda pattern: (key(pattern), pattern))
    return [
        TiedPatterns(tied_patterns, len(tied_patterns))
        for _, group in groupby(ordered_patterns, key)
        for tied_patterns in [list(group)]
    ]


def pick_names(ranking: Ranking, many: int) -> list[NamedPattern]:
    """The first patterns; of tied ones, the first by name."""
    names: dict[NamedPattern, None] = {}
    for tied in ranking:
        unnamed_patterns = [pattern for pattern in tied.patterns if pattern not in names]
        names |= dict.fromkeys(unnamed_patterns[: min(tied.draws, many - len(names))])
        if len(names) == many:
            break
    return list(names)


def count_named(
    ranking: Ranking,
    hidden_patterns: set[NamedPattern],
    places: Mapping[Any, int],
    classify: Callable[[NamedPattern], Hashable],
) -> Fraction:
    """How many hidden patterns are among the first of each class, as many as there are places, on average."""
    places_left, named_count = Counter[Hashable](places), Fraction(0)
    for tied in ranking:
        classes: dict[Hashable, list[NamedPattern]] = {}
        for pattern in tied.patterns:
            classes.setdefault(classify(pattern), []).append(pattern)
        for kind, patterns in classes.items():
            draws = min(places_left[kind], tied.draws, len(patterns))
            named_count += Fraction(draws * len(hidden_patterns.intersection(patterns)), len(patterns))
            places_left[kind] -= draws
        if not places_left.total():
            break
    return named_count


def count_blind_hits(published_sequences: Sequences, hidden_patterns: Iterable[NamedPattern], mark: str) -> Fraction:
    """How many hidden patterns are named if, of each length, as many are drawn from all patterns of the items."""
    is_published = np.bincount(published_sequences.codes, minlength=len(published_sequences.items)) > 0
    items = {str(item) for item, is_there in zip(published_sequences.items, is_published, strict=True) if is_there}
    items -= {mark} if mark else set()
    by_length: dict[int, list[NamedPattern]] = {}
    for pattern in hidden_patterns:
        by_length.setdefault(measure_length(pattern), []).append(pattern)
    hits = Fraction(0)
    for length, patterns in by_length.items():
        possible_count = _count_possible_patterns(len(items), length, flat=published_sequences.flat)
        known_count = sum(items.issuperset(name for element in pattern for name in element) for pattern in patterns)
        if possible_count:
            hits += Fraction(min(len(patterns), possible_count) * known_count, possible_count)
    return hits


def _count_possible_patterns(items: int, length: int, *, flat: bool) -> int:
    """How many patterns of some length there are: of single items one after another, or also of several at once."""
    if flat:
        return int(items**length)
    counts = [1]
    for total in range(1, length + 1):
        counts.append(sum(comb(items, size) * counts[total - size] for size in range(1, total + 1)))
    return counts[length]
