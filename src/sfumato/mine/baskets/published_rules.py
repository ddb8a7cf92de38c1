# SPDX-License-Identifier: MIT
"""What a published association rule reveals about the people it does not describe.

A rule with its support and confidence reveals two supports: its own, and that of its left side, which is the support
divided by the confidence. The difference is the number of people who have the left side and not the right, and for a
very confident rule there are few of them. Atzori, Bonchi, Giannotti, Pedreschi, *k-anonymous patterns* (2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import polars as pl

from sfumato.baskets import Item
from sfumato.errors import DataError, PolicyError
from sfumato.patterns import Patterns
from sfumato.public.thresholds import Confidence, parse_exact_confidence


@dataclass(frozen=True)
class RuleCounts:
    """The counts that follow from a rule's support and confidence."""

    antecedent: int
    """How many baskets hold the left side."""
    individuals: int
    """How many of them do not hold the right side."""


def count_rule_people(support: int, confidence: Confidence) -> RuleCounts:
    """How many people have a rule's left side but not its right: support 80 at 98.7 % is 81 people, all but one.

    The confidence may be rounded: the nearest whole number of people is used.
    """
    if isinstance(support, bool) or not isinstance(support, int) or support < 0:
        raise PolicyError("the support of a rule must be a whole number of baskets")
    share = Fraction(support) / parse_exact_confidence(confidence)
    antecedent = max(support, (2 * share.numerator + share.denominator) // (2 * share.denominator))
    return RuleCounts(antecedent, antecedent - support)


def list_rule_patterns(rules: pl.DataFrame, baskets: int) -> Patterns:
    """The supports that published rules reveal: of each rule as a whole, and of its left side.

    The frame has `antecedent`, `consequent`, `support` (a count) and `confidence`, as returned by `association_rules`.
    """
    missing = [name for name in ("antecedent", "consequent", "support", "confidence") if name not in rules.columns]
    if missing:
        raise DataError(f"a frame of rules lacks {missing}; name its columns as association_rules does")
    supports: dict[frozenset[Item], int] = {}
    columns = rules.select("antecedent", "consequent", "support", "confidence")
    for left, right, support, confidence in columns.iter_rows():
        supports[frozenset((*left, *right))] = support
        if left:
            supports[frozenset(left)] = count_rule_people(support, confidence).antecedent
    return Patterns.of(supports.items(), baskets)
