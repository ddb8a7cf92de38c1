# SPDX-License-Identifier: MIT
"""Published rules: whether they are as confident as claimed, and how far they are from those of the originals.

Counted by code that shares nothing with the method.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

from sfumato.baskets import Baskets
from sfumato.measure.baskets.recount import recount_itemsets
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.release import Number
from sfumato.rules import Rules

SideNames = frozenset[str]
Confidences = dict[tuple[SideNames, SideNames], Fraction]


def count_weak_rules(rules: Rules, min_confidence: float) -> int:
    """How many published rules have a lower confidence."""
    least = Fraction(repr(min_confidence))
    return sum(Fraction(rule.support, rule.left_support) < least for rule in rules.list_counts())


def measure_rule_errors(
    original: Baskets, published_rules: Rules, least: int, min_confidence: float, consequent_length: int | None = None
) -> float:
    """The mean over the rules of the originals of the error of the confidence; 1 for a rule that is not published."""
    published_confidences: Confidences = {
        (frozenset(map(str, rule.left)), frozenset(map(str, rule.right))): Fraction(rule.support, rule.left_support)
        for rule in published_rules.list_counts()
    }
    true = _list_true_rules(original, least, Fraction(repr(min_confidence)), consequent_length)
    errors = [
        abs(published_confidences[rule] - share) if rule in published_confidences else Fraction(1)
        for rule, share in true.items()
    ]
    return round(float(sum(errors, Fraction(0)) / len(errors)), 12) if errors else 0.0


def _list_true_rules(original: Baskets, least: int, confidence: Fraction, most: int | None) -> Confidences:
    supports = recount_itemsets(original, least)
    rules: Confidences = {}
    for whole, support in supports.items():
        for size in range(1, min(len(whole) - 1, most or len(whole)) + 1):
            for right in map(frozenset, combinations(sorted(whole), size)):
                share = Fraction(support, supports[whole - right])
                if share >= confidence:
                    rules[whole - right, right] = share
    return rules


@checks_claim("weak_rules", "exactly", arguments=("min_confidence",))
def _check_weak_rules(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return count_weak_rules(evidence.published_data, float(arguments["min_confidence"]))
