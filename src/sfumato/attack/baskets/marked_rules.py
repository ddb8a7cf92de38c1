# SPDX-License-Identifier: MIT
"""Where unknown marks stand: the baskets in which an item was made unknown hold the rest of the rule that was hidden.

Against baskets in which rules were blocked. The marked item is on the right side, and the left side is what marked
baskets have in common, marks that were added as decoys included. After Saygin, Verykios, Clifton 2001.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from sfumato.attack.baskets.item_holders import ItemHolders
from sfumato.attack.baskets.mined_rules import ExactThresholds, MinedRuleCounts, Names, RuleNames, RuleSides
from sfumato.attack.baskets.rule_rankings import RuleRanking
from sfumato.public.unknown_items import ItemSplit

_LIKELIEST = 12
"""Of so many items, those in most baskets with a mark, longer left sides are made."""


@dataclass(frozen=True)
class _MarkedRest:
    """A marked item, and other items that may be the rest of a rule."""

    marked_item: str
    rest: Names
    common_share: Fraction
    """Of the baskets in which the item is marked, the share that holds the rest."""
    over_share: Fraction
    """By how much that is more than of all baskets."""


@dataclass(frozen=True)
class _MarkedRules:
    """Rules that do not show and have a marked item on the right, by what marks tell about them."""

    rests: dict[RuleNames, _MarkedRest]
    distances: dict[RuleNames, Fraction]
    """How far each is from the thresholds."""


def rank_by_marks(parts: ItemSplit, thresholds: ExactThresholds, hidden_rules: set[RuleNames]) -> Iterator[RuleRanking]:
    """By the share of the marked baskets that hold the rest of the rule, ties by how near it is to the thresholds; by
    how much that share exceeds the one of all baskets; and by the marks that no rule before explains.
    """
    if not parts.unknown_items.codes.size:
        return
    known_holders, mark_holders = ItemHolders.of(parts.known_items), ItemHolders.of(parts.unknown_items)
    marked_rules = _list_marked_rules(known_holders, mark_holders, thresholds, hidden_rules, len(parts.known_items))
    rests, distances, candidates = marked_rules.rests, marked_rules.distances, list(marked_rules.rests)

    def rank_by_share(rule: RuleNames) -> tuple[Any, ...]:
        return -rests[rule].common_share, distances[rule]

    def rank_by_excess(rule: RuleNames) -> tuple[Any, ...]:
        return -rests[rule].over_share, distances[rule]

    yield RuleRanking(candidates, rank_by_share)
    yield RuleRanking(candidates, rank_by_excess)
    explaining_order = _order_by_unexplained(marked_rules, known_holders, mark_holders, len(hidden_rules))
    yield RuleRanking(
        candidates, lambda rule: (explaining_order.get(rule, len(explaining_order)), *rank_by_excess(rule))
    )


def _list_marked_rules(
    known_holders: ItemHolders,
    mark_holders: ItemHolders,
    thresholds: ExactThresholds,
    hidden_rules: set[RuleNames],
    rows: int,
) -> _MarkedRules:
    sizes, sides = {len(left | right) for left, right in hidden_rules}, RuleSides.of(hidden_rules)
    marked_rules = _MarkedRules({}, {})
    for marked_item in mark_holders.bits:
        for size in sorted(sizes):
            for rest in _list_rests(known_holders, mark_holders, marked_item, size - 1, rows):
                for rule in sides.list_rules(rest.rest | {marked_item}):
                    left, right = rule
                    counts = MinedRuleCounts(
                        known_holders.count(left | right), known_holders.count(left) if left else None
                    )
                    best = marked_rules.rests.get(rule)
                    is_better = best is None or rest.common_share > best.common_share
                    if marked_item in right and not thresholds.shows(counts) and is_better:
                        marked_rules.rests[rule] = rest
                        marked_rules.distances[rule] = thresholds.measure_lack(counts)
    return marked_rules


def _list_rests(
    known_holders: ItemHolders, mark_holders: ItemHolders, marked_item: str, size: int, rows: int
) -> Iterator[_MarkedRest]:
    """The items, or sets of the likeliest items, that may be the rest of a rule."""
    holders = mark_holders.bits[marked_item]
    marks = holders.bit_count()
    shares = {
        name: Fraction((bits & holders).bit_count(), marks)
        for name, bits in known_holders.bits.items()
        if name != marked_item
    }
    names = sorted(shares, key=lambda name: (-shares[name], name))
    for rest in combinations(names if size == 1 else names[:_LIKELIEST], size):
        bits = known_holders.find(rest) if rest else 0
        common_share = Fraction((bits & holders).bit_count(), marks)
        over_share = common_share - Fraction(bits.bit_count(), rows)
        yield _MarkedRest(marked_item, frozenset(rest), common_share, over_share)


def _order_by_unexplained(
    marked_rules: _MarkedRules, known_holders: ItemHolders, mark_holders: ItemHolders, wanted_count: int
) -> dict[RuleNames, int]:
    """The rule that explains most marks beyond chance, then the one that explains most of the others, and so on."""
    open_marks = dict(mark_holders.bits)
    holders = {rest.rest: known_holders.find(rest.rest) for rest in marked_rules.rests.values() if rest.rest}
    order: dict[RuleNames, int] = {}
    for position in range(min(wanted_count, len(marked_rules.rests))):

        def count_explained(rule: RuleNames) -> tuple[Fraction, Fraction]:
            rest = marked_rules.rests[rule]
            marks = open_marks[rest.marked_item]
            explained_count = (marks & holders.get(rest.rest, 0)).bit_count()
            chance = rest.common_share - rest.over_share
            return explained_count - chance * marks.bit_count(), -marked_rules.distances[rule]

        best = max((rule for rule in marked_rules.rests if rule not in order), key=count_explained)
        order[best] = position
        rest = marked_rules.rests[best]
        open_marks[rest.marked_item] &= ~holders.get(rest.rest, 0)
    return order
