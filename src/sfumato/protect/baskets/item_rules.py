# SPDX-License-Identifier: MIT
"""The rules about an item: every left side from which it can be inferred.

If ``X ==> Y`` shows and the item is in ``Y``, then ``X ==> item`` shows as well: its support and confidence are at
least as large. So only rules with the item alone on the right count. Of the left sides held together with the item by
the same baskets, the largest has the highest confidence; so it is enough to check those that are closed among the
baskets that hold the item. An empty left side is not a rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato.arrays import Ints, Words
from sfumato.mine.baskets.itemsets import Itemsets, find_itemsets
from sfumato.protect.baskets.basket_columns import ItemOccurrences
from sfumato.protect.baskets.secret_rules import HidingThresholds, SecretRule
from sfumato.runtime.progress import report_progress

_REPORT_EVERY = 4096


@dataclass(frozen=True, slots=True)
class ShownRule:
    """A rule about an item that shows."""

    rule: SecretRule
    """As indices into the vocabulary."""
    whole: int
    """How many baskets hold it."""
    left_count: int
    """How many hold its left side."""


def list_rules_about(occurrences: ItemOccurrences, item: int, thresholds: HidingThresholds) -> list[ShownRule]:
    """The closed rules with the item on the right that show, those that need the most lowering first."""
    holding_mask = np.zeros(occurrences.count, dtype=np.bool_)
    holding_mask[occurrences.rows[occurrences.codes == item]] = True
    if holding_mask.sum() < thresholds.least:
        return []
    companion_baskets = occurrences.keep_occurrences(holding_mask[occurrences.rows] & (occurrences.codes != item))
    itemsets = find_itemsets(companion_baskets, thresholds.least, kind="closed")
    if not len(itemsets):
        return []
    number = {name: position for position, name in enumerate(occurrences.items)}
    item_numbers = np.array([number[name] for name in companion_baskets.items], dtype=np.int64)
    return sorted(
        _list_shown_rules(occurrences, item, item_numbers, itemsets, thresholds),
        key=lambda shown_rule: (
            -thresholds.count_surplus(shown_rule.whole, shown_rule.left_count),
            len(shown_rule.rule.left),
            shown_rule.rule.left,
        ),
    )


def _list_shown_rules(
    occurrences: ItemOccurrences, item: int, item_numbers: Ints, itemsets: Itemsets, thresholds: HidingThresholds
) -> Iterator[ShownRule]:
    count = BasketCounter.of(occurrences, item_numbers[np.unique(itemsets.codes)])
    wholes, offsets = itemsets.supports.tolist(), itemsets.offsets.tolist()
    for number, whole in enumerate(wholes):
        if number % _REPORT_EVERY == 0:
            report_progress("counting left sides", number, len(wholes))
        left_items = item_numbers[itemsets.codes[offsets[number] : offsets[number + 1]]].tolist()
        many = count(left_items)
        if thresholds.shows(whole, many):
            yield ShownRule(SecretRule(tuple(left_items), (item,)), whole, many)


@dataclass(frozen=True, eq=False)
class BasketCounter:
    """Counts the baskets that hold some items, using bit sets."""

    bits: Words
    line: dict[int, int]

    @classmethod
    def of(cls, occurrences: ItemOccurrences, places: Ints) -> BasketCounter:
        """Bits for the items at these indices."""
        line_of_item = np.full(len(occurrences.items), -1, dtype=np.int64)
        line_of_item[places] = np.arange(len(places))
        occurrence_mask = line_of_item[occurrences.codes] >= 0
        words = -(-occurrences.count // 64)
        bits = np.zeros(len(places) * words, dtype=np.uint64)
        spots = line_of_item[occurrences.codes[occurrence_mask]] * words + occurrences.rows[occurrence_mask] // 64
        np.bitwise_or.at(bits, spots, np.uint64(1) << (occurrences.rows[occurrence_mask] % 64).astype(np.uint64))
        return cls(bits.reshape(len(places), words), {int(position): index for index, position in enumerate(places)})

    def __call__(self, places: Sequence[int]) -> int:
        """How many baskets hold all of the items."""
        return int(np.bitwise_count(self.flag_holding(places)).sum())

    def flag_holding(self, places: Sequence[int]) -> Words:
        """Which baskets hold all of the items, as bits."""
        holder_bits: Words = np.bitwise_and.reduce(self.bits[[self.line[position] for position in places]], axis=0)
        return holder_bits


def list_every_rule_about(
    occurrences: ItemOccurrences, items: Sequence[int], thresholds: HidingThresholds
) -> frozenset[SecretRule]:
    """Every rule that shows and has one of the items on the right, alone or with others: for counting on small data."""
    supports = _count_itemsets_about(occurrences, items, thresholds.least)
    count = _CachedCounter(occurrences)
    shown_rules: set[SecretRule] = set()
    for number, (whole, support) in enumerate(supports.items()):
        if number % _REPORT_EVERY == 0:
            report_progress("counting rules", number, len(supports))
        for size in range(1, len(whole)):
            for left in combinations(whole, size):
                right = tuple(item for item in whole if item not in left)
                if set(right) & set(items) and thresholds.shows(support, count(left)):
                    shown_rules.add(SecretRule(left, right))
    return frozenset(shown_rules)


def select_shown_rules(
    occurrences: ItemOccurrences, rules: Iterable[SecretRule], thresholds: HidingThresholds
) -> frozenset[SecretRule]:
    """Those of some rules that show."""
    count = _CachedCounter(occurrences)
    return frozenset(
        rule for rule in rules if thresholds.shows(count(tuple(sorted((*rule.left, *rule.right)))), count(rule.left))
    )


def _count_itemsets_about(occurrences: ItemOccurrences, items: Sequence[int], least: int) -> dict[tuple[int, ...], int]:
    """The frequent itemsets that hold one of the items: mined among the baskets that hold it, not among all."""
    number = {name: position for position, name in enumerate(occurrences.items)}
    supports: dict[tuple[int, ...], int] = {}
    for item in items:
        holding_mask = np.zeros(occurrences.count, dtype=np.bool_)
        holding_mask[occurrences.rows[occurrences.codes == item]] = True
        if holding_mask.sum() < least:
            continue
        companion_baskets = occurrences.keep_occurrences(holding_mask[occurrences.rows] & (occurrences.codes != item))
        itemsets = find_itemsets(companion_baskets, least)
        names = [number[name] for name in companion_baskets.items]
        offsets = itemsets.offsets.tolist()
        for line, support in enumerate(itemsets.supports.tolist()):
            other_items = [names[code] for code in itemsets.codes[offsets[line] : offsets[line + 1]].tolist()]
            supports[tuple(sorted((item, *other_items)))] = support
    return supports


class _CachedCounter:
    """How many baskets hold some items; each question is answered once."""

    def __init__(self, occurrences: ItemOccurrences) -> None:
        self._count = BasketCounter.of(occurrences, np.arange(len(occurrences.items), dtype=np.int64))
        self._known_counts: dict[tuple[int, ...], int] = {}

    def __call__(self, places: tuple[int, ...]) -> int:
        if places not in self._known_counts:
            self._known_counts[places] = self._count(places)
        return self._known_counts[places]
