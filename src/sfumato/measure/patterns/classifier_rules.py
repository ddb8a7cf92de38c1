# SPDX-License-Identifier: MIT
"""Rules of a classifier: whether they partition people, whether anybody is left over, and whether they are true.

From the file alone, except for the last; by code that shares nothing with the method.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from sfumato.measure.checks import checks_claim
from sfumato.mine.patterns.rule_classifier import NOT, CellHolders, choose_rules, flag_known_classes
from sfumato.rules import Rules
from sfumato.table import Table

SideWords = frozenset[str]


def count_small_remainders(rules: Rules, k: int) -> int:
    """How many left sides have 1 to k − 1 people more than their rules together."""
    leaf_supports, supports = _list_leaves(rules), _count_told(rules)
    return sum(0 < leaf_supports[side] - supports[side] < k for side in leaf_supports)


def count_overlapping_rules(rules: Rules) -> int:
    """How many pairs of left sides do not contradict each other; one more if they do not add up to all people."""
    leaves = _list_leaves(rules)
    pairs = sum(not _contradict(first, second) for first, second in combinations(leaves, 2))
    return pairs + (sum(leaves.values()) != rules.baskets)


def measure_top_confidence(rules: Rules) -> float:
    """The largest confidence of a rule; 0 without rules."""
    return max((rule.support / rule.left_support for rule in rules.list_counts()), default=0.0)


def count_untrue_rules(rules: Rules, original: Table) -> int:
    """How many rules have another support or another support of the left side in the originals."""
    holders = CellHolders(original)
    known_mask = flag_known_classes(rules, original)
    wrong = 0
    for rule in rules.list_counts():
        left_mask = holders.find_all(map(str, rule.left)) & known_mask
        rule_mask = left_mask & holders.find_all(map(str, rule.right))
        wrong += (int(rule_mask.sum()), int(left_mask.sum())) != (rule.support, rule.left_support)
    return wrong


def measure_classification_error(rules: Rules, original: Table) -> float:
    """Of the rows whose class is known, the share that gets another one, or none, by the first rule that fits."""
    counts = rules.list_counts()
    if not counts:
        return 1.0
    rule_numbers, holders = choose_rules(rules, original), CellHolders(original)
    known_mask = flag_known_classes(rules, original)
    right = sum(
        int(((rule_numbers == number) & known_mask & holders.find_all(map(str, rule.right))).sum())
        for number, rule in enumerate(counts)
    )
    return 1 - right / int(known_mask.sum()) if known_mask.any() else 0.0


def _list_leaves(rules: Rules) -> dict[SideWords, int]:
    return {frozenset(map(str, rule.left)): rule.left_support for rule in rules.list_counts()}


def _count_told(rules: Rules) -> Counter[SideWords]:
    supports: Counter[SideWords] = Counter()
    for rule in rules.list_counts():
        supports[frozenset(map(str, rule.left))] += rule.support
    return supports


def _contradict(first: SideWords, second: SideWords) -> bool:
    return any(f"{NOT}{item}" in second for item in first) or any(f"{NOT}{item}" in first for item in second)


checks_claim("small_remainders", "exactly", arguments=("k",))(
    lambda evidence, arguments: count_small_remainders(evidence.published_data, int(arguments["k"]))
)
checks_claim("overlapping_rules", "exactly")(lambda evidence, _: count_overlapping_rules(evidence.published_data))
checks_claim("top_confidence", "at_most")(lambda evidence, _: measure_top_confidence(evidence.published_data))
checks_claim("untrue_rules", "exactly", needs_original=True)(
    lambda evidence, _: count_untrue_rules(evidence.published_data, evidence.original)
)
