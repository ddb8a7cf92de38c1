# SPDX-License-Identifier: MIT
"""Itemsets and rules by the book: plain Python over every subset of every basket, sharing nothing with the product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Itemset = frozenset[Any]
Rule = tuple[Itemset, Itemset]


def support(baskets: Sequence[Iterable[Hashable]], items: Iterable[Hashable]) -> int:
    """How many baskets hold all of the items."""
    wanted = frozenset(items)
    return sum(wanted <= frozenset(basket) for basket in baskets)


def itemsets(baskets: Sequence[Iterable[Hashable]], least: int, max_length: int | None = None) -> dict[Itemset, int]:
    """Every itemset, but for the empty one, that at least `least` baskets hold, with their number."""
    counts: Counter[Itemset] = Counter()
    for basket in baskets:
        held = sorted(set(basket), key=repr)
        longest = len(held) if max_length is None else min(max_length, len(held))
        for length in range(1, longest + 1):
            counts.update(map(frozenset, combinations(held, length)))
    return {items: count for items, count in counts.items() if count >= least}


def closed(found: dict[Itemset, int]) -> dict[Itemset, int]:
    """Those that no larger one of the same support contains."""
    return {
        items: count
        for items, count in found.items()
        if not any(items < other and count == many for other, many in found.items())
    }


def maximal(found: dict[Itemset, int]) -> dict[Itemset, int]:
    """Those that no larger one contains."""
    return {items: count for items, count in found.items() if not any(items < other for other in found)}


def rules(baskets: Sequence[Iterable[Hashable]], least: int, confidence: Fraction) -> dict[Rule, tuple[int, Fraction]]:
    """Every rule at or above both thresholds, both sides not empty, with its support and confidence."""
    frequent = itemsets(baskets, least)
    found: dict[Rule, tuple[int, Fraction]] = {}
    for items, count in frequent.items():
        for length in range(1, len(items)):
            for left in map(frozenset, combinations(sorted(items, key=repr), length)):
                # A part of a frequent itemset is frequent, so it was counted.
                share = Fraction(count, frequent[left])
                if share >= confidence:
                    found[left, items - left] = (count, share)
    return found
