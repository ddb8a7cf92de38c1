# SPDX-License-Identifier: MIT
"""How an adversary orders rules by how likely they were hidden, and how many hidden ones are then named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from sfumato.attack.baskets.mined_rules import ExactThresholds, MinedRuleCounts, RuleNames

RankRule = Callable[[RuleNames], tuple[Any, ...]]
"""The likeliest first; equal where the adversary cannot tell."""


@dataclass(frozen=True)
class RuleRanking:
    """Rules, and their order."""

    candidates: Sequence[RuleNames]
    rank: RankRule

    def count_named(self, hidden_rules: set[RuleNames]) -> Fraction:
        """How many hidden rules are among the first, as many as were hidden, on average if equal ones are drawn."""
        places_left, named_count = len(hidden_rules), Fraction(0)
        for _, tied in groupby(sorted(self.candidates, key=self.rank), self.rank):
            tied_rules = list(tied)
            draws = min(places_left, len(tied_rules))
            named_count += Fraction(draws * len(hidden_rules.intersection(tied_rules)), len(tied_rules))
            places_left -= draws
            if not places_left:
                break
        return named_count


def rank_by_nearness(
    candidates: Sequence[RuleNames], counts: Mapping[RuleNames, MinedRuleCounts], thresholds: ExactThresholds
) -> Iterator[RuleRanking]:
    """First come rules that lack the smallest share; those that lack the fewest baskets; those that lack confidence
    alone; and of these, those of two items. Ties go to the more frequent, then to the shorter rule, or are left.
    """

    def rank_by_share(rule: RuleNames) -> tuple[Any, ...]:
        return thresholds.measure_lack(counts[rule]), -counts[rule].whole, len(rule[0]) + len(rule[1])

    def rank_by_baskets(rule: RuleNames) -> tuple[Any, ...]:
        return thresholds.count_lacking(counts[rule]), *rank_by_share(rule)

    def rank_by_confidence(rule: RuleNames) -> tuple[Any, ...]:
        return counts[rule].whole < thresholds.least, *rank_by_share(rule)

    def rank_by_pairs(rule: RuleNames) -> tuple[Any, ...]:
        return len(rule[0] | rule[1]) > 2, *rank_by_confidence(rule)

    yield from (
        RuleRanking(candidates, rank) for rank in (rank_by_share, rank_by_baskets, rank_by_confidence, rank_by_pairs)
    )
    yield RuleRanking(candidates, lambda rule: rank_by_share(rule)[:1])
    yield RuleRanking(candidates, lambda rule: rank_by_baskets(rule)[:1])
