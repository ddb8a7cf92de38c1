# SPDX-License-Identifier: MIT
"""Itemsets that are below the support although their items are common: what was hidden leaves such a gap.

Against baskets in which rules or itemsets were hidden by lowering their support, however far: a pair that occurs
nowhere, or seldom, although chance alone would put its items together often, was probably hidden. After Oliveira and
Zaïane 2002, whose strategies lower the support.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import AnyArray, Ints
from sfumato.attack.baskets.item_holders import ItemHolders
from sfumato.attack.baskets.mined_rules import ExactThresholds, Names, RuleNames, RuleSides
from sfumato.attack.baskets.rule_rankings import RuleRanking
from sfumato.baskets import Baskets, Item

MOST_ITEMS = 1_000
"""Of more items, the commonest are paired."""
_MOST_LONGER = 50_000
"""With more longer itemsets to look at, only pairs are."""


@dataclass(frozen=True, eq=False)
class ItemPairCounts:
    """How many baskets hold each of the commonest items, and each two of them."""

    names: tuple[str, ...]
    joint_counts: Ints
    """Items × items; the diagonal has the supports."""
    rows: int
    """The number of all baskets."""

    @cached_property
    def supports(self) -> Ints:
        """How many baskets hold each item."""
        return np.diag(self.joint_counts)

    @cached_property
    def places(self) -> dict[str, int]:
        """The index of each item."""
        return {name: position for position, name in enumerate(self.names)}


def choose_common_items(items: Sequence[Item], supports: Ints) -> list[int]:
    """The indices of the commonest items, ties by name; without those in no basket."""
    places = sorted(np.flatnonzero(supports).tolist(), key=lambda position: (-supports[position], str(items[position])))
    return places[:MOST_ITEMS]


def count_together(offsets: Ints, columns: Ints, width: int) -> Ints:
    """Items × items: how many of the baskets hold both. `columns` is the index of each occurrence, -1 to skip it."""
    from scipy.sparse import csr_matrix

    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[columns >= 0]
    shape = (len(offsets) - 1, width)
    matrix = csr_matrix((np.ones(len(rows), dtype=np.int64), (rows, columns[columns >= 0])), shape=shape)
    return np.asarray(csr_matrix(matrix.T @ matrix).toarray(), dtype=np.int64)


def count_basket_pairs(baskets: Baskets) -> ItemPairCounts:
    """Count the commonest items two by two."""
    common_items = choose_common_items(baskets.items, np.bincount(baskets.codes, minlength=len(baskets.items)))
    columns = np.full(len(baskets.items) + 1, -1, dtype=np.int64)
    columns[common_items] = np.arange(len(common_items))
    names = tuple(str(baskets.items[position]) for position in common_items)
    return ItemPairCounts(
        names, count_together(baskets.offsets, columns[baskets.codes], len(common_items)), len(baskets)
    )


class _RareItemset(NamedTuple):
    """An itemset below the support."""

    items: Names
    support: int
    expected_count: int
    """In how many baskets chance would put its items together, times the number of all baskets."""


RankRarity = Callable[[Ints, Ints, int], tuple[AnyArray, ...]]
"""From supports, expected counts and the number of baskets: the keys of each itemset, the likeliest hidden smallest."""


def _rank_gap(supports: Ints, expected_counts: Ints, rows: int) -> tuple[AnyArray, ...]:
    """By how many baskets an itemset is rarer than chance would make it."""
    return (supports * rows - expected_counts,)


def _rank_surprise(supports: Ints, expected_counts: Ints, rows: int) -> tuple[AnyArray, ...]:
    """The same, in standard deviations of a Poisson count."""
    return ((supports * rows - expected_counts) / np.sqrt(np.maximum(expected_counts, 1)),)


def _rank_support(supports: Ints, expected_counts: Ints, rows: int) -> tuple[AnyArray, ...]:
    """How many baskets the support lacks, and then the gap."""
    return -supports, *_rank_gap(supports, expected_counts, rows)


@dataclass(frozen=True, eq=False)
class RareItemsets:
    """Pairs, and longer itemsets whose parts are all frequent, that are below the support."""

    pairs: ItemPairCounts
    thresholds: ExactThresholds
    sides: RuleSides
    sizes: frozenset[int]
    """How many items the hidden itemsets have."""
    longer: tuple[_RareItemset, ...]

    def count_rules(self) -> int:
        """How many rules and itemsets these are."""
        pair_rules = self.sides.sets + 2 * (self.sides.right > 0)
        longer_rules = sum(1 for rare in self.longer for _ in self.sides.list_rules(rare.items))
        return len(self._pair_places[0]) * pair_rules + longer_rules

    def holds(self, rule: RuleNames) -> bool:
        """Whether a rule is one of them."""
        whole = rule[0] | rule[1]
        if len(rule[1]) > self.sides.right if rule[0] else not self.sides.sets:
            return False
        if len(whole) > 2:
            return whole in self._longer_itemsets
        if len(whole) < 2 or 2 not in self.sizes or not whole <= self.pairs.places.keys():
            return False
        left, right = (self.pairs.places[name] for name in whole)
        return bool(self.pairs.joint_counts[left, right] < self.thresholds.least)

    def list_rankings(self, wanted_count: int) -> Iterator[RuleRanking]:
        """By how much rarer than by chance, in baskets or in standard deviations, or by the baskets that the support
        lacks; rules of the same items with the rarer left side first, or tied.
        """
        for rank_rarity in (_rank_gap, _rank_surprise, _rank_support):
            yield from self._rank([*self._list_first_pairs(wanted_count, rank_rarity), *self.longer], rank_rarity)

    def _rank(self, rare_itemsets: Sequence[_RareItemset], rank_rarity: RankRarity) -> Iterator[RuleRanking]:
        supports, expected_counts = (
            np.array(column, dtype=np.int64)
            for column in ([rare.support for rare in rare_itemsets], [rare.expected_count for rare in rare_itemsets])
        )
        keys = zip(*(key.tolist() for key in rank_rarity(supports, expected_counts, self.pairs.rows)), strict=True)
        key_of_itemset = {rare.items: key for rare, key in zip(rare_itemsets, keys, strict=True)}
        rules = [rule for rare in rare_itemsets for rule in self.sides.list_rules(rare.items)]

        def rank_by_rarity(rule: RuleNames) -> tuple[Any, ...]:
            return key_of_itemset[rule[0] | rule[1]]

        def rank_by_left(rule: RuleNames) -> tuple[Any, ...]:
            # The fewer baskets hold the left side, the surer the rule was.
            places = [self.pairs.places[name] for name in rule[0] if name in self.pairs.places]
            return *rank_by_rarity(rule), min(self.pairs.supports[places].tolist(), default=0)

        yield RuleRanking(rules, rank_by_rarity)
        yield RuleRanking(rules, rank_by_left)

    def _list_first_pairs(self, wanted_count: int, rank_rarity: RankRarity) -> list[_RareItemset]:
        """The first pairs, as many as wanted, and those that are equal to the last of them."""
        lefts, rights = self._pair_places
        supports = self.pairs.joint_counts[lefts, rights]
        expected_counts = self.pairs.supports[lefts] * self.pairs.supports[rights]
        keys = rank_rarity(supports, expected_counts, self.pairs.rows)
        order = np.lexsort(keys[::-1])
        if 0 < wanted_count < len(order):
            last = order[wanted_count - 1]
            is_equal = np.logical_and.reduce([key == key[last] for key in keys])
            order = np.union1d(order[:wanted_count], np.flatnonzero(is_equal))
        names = self.pairs.names
        return [
            _RareItemset(frozenset((names[left], names[right])), support, expected_count)
            for left, right, support, expected_count in zip(
                lefts[order].tolist(),
                rights[order].tolist(),
                supports[order].tolist(),
                expected_counts[order].tolist(),
                strict=True,
            )
        ]

    @cached_property
    def _pair_places(self) -> tuple[Ints, Ints]:
        """The two items of each pair below the support; none if no pair was hidden."""
        if 2 not in self.sizes:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        lefts, rights = np.nonzero(np.triu(self.pairs.joint_counts < ceil(self.thresholds.least), 1))
        return lefts, rights

    @cached_property
    def _longer_itemsets(self) -> set[Names]:
        return {rare.items for rare in self.longer}


def find_rare_itemsets(
    baskets: Baskets,
    pairs: ItemPairCounts,
    mined_sets: Mapping[Names, int],
    thresholds: ExactThresholds,
    hidden_rules: set[RuleNames],
) -> RareItemsets:
    """What is below the support and has as many items as the hidden rules; `mined_sets` has all frequent itemsets."""
    sizes = frozenset(len(left | right) for left, right in hidden_rules)
    frequent_sets = {items: support for items, support in mined_sets.items() if support >= thresholds.least}
    longer = tuple(_list_longer(baskets, frequent_sets, sizes))
    return RareItemsets(pairs, thresholds, RuleSides.of(hidden_rules), sizes, longer)


def _list_longer(baskets: Baskets, frequent_sets: Mapping[Names, int], sizes: frozenset[int]) -> list[_RareItemset]:
    """Itemsets of three items or more that are not frequent, although all of their parts are."""
    candidates: list[Names] = []
    for size in sorted(sizes):
        if size > 2:
            candidates += _extend_frequent_sets(frequent_sets, size, _MOST_LONGER + 1 - len(candidates))
    if not candidates or len(candidates) > _MOST_LONGER:
        return []
    holders = ItemHolders.of(baskets, frozenset[str]().union(*candidates))
    rare_itemsets = []
    for items in candidates:
        expected_count = max(frequent_sets[items - {name}] * frequent_sets[frozenset((name,))] for name in items)
        rare_itemsets.append(_RareItemset(items, holders.count(items), expected_count))
    return rare_itemsets


def _extend_frequent_sets(frequent_sets: Mapping[Names, int], size: int, at_most: int) -> list[Names]:
    """The itemsets of some size that are not frequent, although all of their parts are."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for names in sorted(tuple(sorted(items)) for items in frequent_sets if len(items) == size - 1):
        groups.setdefault(names[:-1], []).append(names[-1])
    candidates: list[Names] = []
    for start, ends in groups.items():
        for pair in combinations(ends, 2):
            items = frozenset((*start, *pair))
            if items not in frequent_sets and all(items - {name} in frequent_sets for name in start):
                candidates.append(items)
                if len(candidates) >= at_most:
                    return candidates
    return candidates
