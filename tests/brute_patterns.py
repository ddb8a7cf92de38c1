# SPDX-License-Identifier: MIT
"""Patterns by the book: every database of so many baskets that agrees with some supports, one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

Itemset = frozenset[Any]
Conjunction = tuple[Itemset, Itemset]
World = Mapping[Itemset, int]


def spell_items(sets: Mapping[str, int]) -> dict[tuple[str, ...], int]:
    """Itemsets of one-letter items, written as words."""
    return {tuple(word): support for word, support in sets.items()}


def subsets(items: Iterable[Any]) -> list[Itemset]:
    """All of them, the empty one first."""
    ordered = sorted(items)
    return [frozenset(choice) for size in range(len(ordered) + 1) for choice in combinations(ordered, size)]


def conjunctions(items: Sequence[Any]) -> list[Conjunction]:
    """Every choice of items that are there and items that are not, but for the empty one."""
    pairs = []
    for marks in product("+- ", repeat=len(items)):
        present = frozenset(item for item, mark in zip(items, marks, strict=True) if mark == "+")
        absent = frozenset(item for item, mark in zip(items, marks, strict=True) if mark == "-")
        if present or absent:
            pairs.append((present, absent))
    return pairs


def count(world: World, pattern: Conjunction) -> int:
    """How many baskets hold all of the one and none of the other."""
    present, absent = pattern
    return sum(many for items, many in world.items() if present <= items and not absent & items)


def world(baskets: Iterable[Iterable[Any]]) -> World:
    """Baskets as how many there are of each kind."""
    counts: dict[Itemset, int] = {}
    for basket in baskets:
        counts[frozenset(basket)] = counts.get(frozenset(basket), 0) + 1
    return counts


def worlds(supports: Mapping[Itemset, int], total: int, ceiling: int | None = None) -> Iterator[World]:
    """Every database of `total` baskets with these supports; what is not among them has at most `ceiling`."""
    items = sorted(frozenset().union(*supports)) if supports else []
    kinds = subsets(items)
    for amounts in _shared_out(total, len(kinds)):
        candidate_world = dict(zip(kinds, amounts, strict=True))
        counts = {itemset: count(candidate_world, (itemset, frozenset())) for itemset in kinds if itemset}
        if all(counts[itemset] == support for itemset, support in supports.items()) and (
            ceiling is None or all(many <= ceiling for itemset, many in counts.items() if itemset not in supports)
        ):
            yield candidate_world


def _shared_out(total: int, places: int) -> Iterator[tuple[int, ...]]:
    if places == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _shared_out(total - first, places - 1):
            yield (first, *rest)


def forced(
    supports: Mapping[Itemset, int], total: int, k: int, ceiling: int | None = None
) -> dict[Conjunction, tuple[int, int]]:
    """The conjunctions that have between 1 and k − 1 baskets in every database, and their least and most."""
    items = sorted(frozenset().union(*supports)) if supports else []
    every = list(worlds(supports, total, ceiling))
    assert every
    bounds = {}
    for pattern in conjunctions(items):
        counts = [count(candidate, pattern) for candidate in every]
        if min(counts) > 0 and max(counts) < k:
            bounds[pattern] = (min(counts), max(counts))
    return bounds


def channels(baskets: Sequence[Iterable[Any]], least: int, k: int) -> dict[tuple[Itemset, Itemset], int]:
    """Pairs I ⊆ J of frequent sets (I may be empty) with 0 < number of baskets with I and nothing else of J < k."""
    basket_counts = world(baskets)
    items = sorted(frozenset().union(*map(frozenset, baskets))) if baskets else []
    frequent = [
        itemset for itemset in subsets(items) if itemset and count(basket_counts, (itemset, frozenset())) >= least
    ]
    channel_counts = {}
    for outer in frequent:
        for inner in subsets(outer):
            many = count(basket_counts, (inner, outer - inner))
            if 0 < many < k:
                channel_counts[inner, outer] = many
    return channel_counts
