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
    itemset = frozenset(items)
    return sum(itemset <= frozenset(basket) for basket in baskets)


def itemsets(baskets: Sequence[Iterable[Hashable]], least: int, max_length: int | None = None) -> dict[Itemset, int]:
    """Every itemset, but for the empty one, that at least `least` baskets hold, with their number."""
    counts: Counter[Itemset] = Counter()
    for basket in baskets:
        distinct_items = sorted(set(basket), key=repr)
        longest = len(distinct_items) if max_length is None else min(max_length, len(distinct_items))
        for length in range(1, longest + 1):
            counts.update(map(frozenset, combinations(distinct_items, length)))
    return {items: count for items, count in counts.items() if count >= least}


def closed(supports: dict[Itemset, int]) -> dict[Itemset, int]:
    """Those that no larger one of the same support contains."""
    return {
        items: count
        for items, count in supports.items()
        if not any(items < other and count == many for other, many in supports.items())
    }


def maximal(supports: dict[Itemset, int]) -> dict[Itemset, int]:
    """Those that no larger one contains."""
    return {items: count for items, count in supports.items() if not any(items < other for other in supports)}


def rules(baskets: Sequence[Iterable[Hashable]], least: int, confidence: Fraction) -> dict[Rule, tuple[int, Fraction]]:
    """Every rule at or above both thresholds, both sides not empty, with its support and confidence."""
    frequent = itemsets(baskets, least)
    strong_rules: dict[Rule, tuple[int, Fraction]] = {}
    for items, count in frequent.items():
        for length in range(1, len(items)):
            for premise in map(frozenset, combinations(sorted(items, key=repr), length)):
                # A part of a frequent itemset is frequent, so it was counted.
                share = Fraction(count, frequent[premise])
                if share >= confidence:
                    strong_rules[premise, items - premise] = (count, share)
    return strong_rules
