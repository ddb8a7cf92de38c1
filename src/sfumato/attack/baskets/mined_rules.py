# SPDX-License-Identifier: MIT
"""The rules and itemsets of published baskets: how far each is below thresholds, and which lack a single basket.

For an adversary, who knows the thresholds, and for anyone who counts again what a certificate says about them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil

import numpy as np

from sfumato.baskets import Baskets
from sfumato.errors import PolicyError
from sfumato.mine.baskets.itemsets import find_itemsets
from sfumato.public.thresholds import MiningThresholds, Support, compute_least_count, parse_exact_confidence
from sfumato.runtime.progress import report_progress

Names = frozenset[str]
RuleNames = tuple[Names, Names]
"""Left and right side; an itemset has no left side."""
MOST_SETS = 200_000
"""With more itemsets, rules that are one basket short are not counted: verification counts them again."""


@dataclass(frozen=True)
class MinedRuleCounts:
    """How many baskets hold a rule, and its left side."""

    whole: int
    left_count: int | None
    """None for an itemset."""


@dataclass(frozen=True)
class ExactThresholds:
    """A number of baskets, and a confidence as a fraction."""

    least: Fraction
    share: Fraction | None

    @classmethod
    def of(cls, thresholds: MiningThresholds, rows: int) -> ExactThresholds:
        """The thresholds among this many baskets."""
        least = Fraction(compute_least_count(thresholds.support, rows))
        return cls(least, None if thresholds.confidence is None else parse_exact_confidence(thresholds.confidence))

    def lower(self, reach: float) -> ExactThresholds:
        """Both lowered by a share."""
        kept_share = 1 - Fraction(repr(reach))
        return ExactThresholds(self.least * kept_share, None if self.share is None else self.share * kept_share)

    def shows(self, counts: MinedRuleCounts) -> bool:
        """Whether a rule reaches both."""
        return self.measure_lack(counts) == 0

    def measure_lack(self, counts: MinedRuleCounts) -> Fraction:
        """How far a rule is below the thresholds, as a share of them: 0 if it reaches them."""
        short = max(Fraction(0), 1 - counts.whole / self.least)
        if counts.left_count is None or self.share is None:
            return short
        # A left side in no basket has no confidence: the rule shows nowhere.
        confidence = Fraction(counts.whole, counts.left_count) if counts.left_count else Fraction(0)
        return max(short, 1 - confidence / self.share)

    def count_lacking(self, counts: MinedRuleCounts) -> int:
        """How many more baskets with its left side would have to hold the whole rule before it shows."""
        short = ceil(self.least) - counts.whole
        if counts.left_count is not None and self.share is not None:
            short = max(short, ceil(self.share * counts.left_count) - counts.whole)
        return max(0, short)


@dataclass(frozen=True)
class RuleSides:
    """The kind of rules to mine: the most items on the right, and whether itemsets are included."""

    right: int
    sets: bool

    @classmethod
    def of(cls, rules: Iterable[RuleNames]) -> RuleSides:
        """The kind of these rules."""
        return cls(max((len(right) for left, right in rules if left), default=0), any(not left for left, _ in rules))

    def list_rules(self, items: Names) -> Iterable[RuleNames]:
        """The itemset itself, and the rules that it can be divided into, if of this kind."""
        if self.sets:
            yield frozenset(), items
        sorted_items = sorted(items)
        for length in range(1, min(self.right, len(sorted_items) - 1) + 1):
            for right in map(frozenset, combinations(sorted_items, length)):
                yield items - right, right


@dataclass(frozen=True)
class MinedRules:
    """Frequent itemsets with their supports, and the rules among them that reach thresholds."""

    sets: dict[Names, int]
    rules: dict[RuleNames, MinedRuleCounts]


def mine_rules(
    baskets: Baskets, thresholds: ExactThresholds, sides: RuleSides, at_most: int | None = None
) -> MinedRules:
    """All rules of that kind at or above the thresholds, by item names."""
    itemsets = find_itemsets(baskets, max(1, ceil(thresholds.least)), at_most=at_most)
    names = np.array([str(item) for item in baskets.items], dtype=object)[itemsets.codes].tolist()
    offsets, supports = itemsets.offsets.tolist(), itemsets.supports.tolist()
    sets = {frozenset(names[offsets[i] : offsets[i + 1]]): supports[i] for i in range(len(supports))}
    rules: dict[RuleNames, MinedRuleCounts] = {}
    for number, (items, whole) in enumerate(sets.items()):
        if number % 4096 == 0:
            report_progress("reading off rules", number, len(sets))
        for left, right in sides.list_rules(items):
            counts = MinedRuleCounts(whole, sets[left] if left else None)
            if not left or thresholds.shows(counts):
                rules[left, right] = counts
    return MinedRules(sets, rules)


def replace_thresholds(
    stated_thresholds: MiningThresholds | None, support: Support | None, confidence: float | None
) -> MiningThresholds:
    """The thresholds that a method states, or what an attack says instead of them."""
    stated_support, stated_confidence = stated_thresholds or (None, None)
    if (chosen_support := support or stated_support) is None:
        raise PolicyError("give min_support: the release's method does not state it")
    return MiningThresholds(chosen_support, confidence or stated_confidence)


def count_one_basket_short(
    known_baskets: Baskets, thresholds: Iterable[MiningThresholds], rows: int | None = None
) -> int | None:
    """How many rules with one item on the right (itemsets if there is no confidence) one more basket would show.

    Rules that would show at the thresholds of at least one of the methods count, each once. It depends on the published
    baskets and the thresholds that the certificate states, whatever was hidden, so anyone can count it. None with more
    itemsets than `MOST_SETS`. `rows` is the number of baskets, if those without frequent items were left out.
    """
    short_rules: set[RuleNames] = set()
    for exact_thresholds in {ExactThresholds.of(pair, rows or len(known_baskets)) for pair in thresholds}:
        rules = _list_rules_one_basket_short(known_baskets, exact_thresholds)
        if rules is None:
            return None
        short_rules |= rules
    return len(short_rules)


def _list_rules_one_basket_short(known_baskets: Baskets, thresholds: ExactThresholds) -> set[RuleNames] | None:
    lower = ExactThresholds(Fraction(max(1, ceil(thresholds.least) - 1)), None)
    sides = RuleSides(0 if thresholds.share is None else 1, thresholds.share is None)
    try:
        rules = mine_rules(known_baskets, lower, sides, MOST_SETS).rules
    except PolicyError:
        return None
    return {rule for rule, counts in rules.items() if thresholds.count_lacking(counts) == 1}
