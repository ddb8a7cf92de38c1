# SPDX-License-Identifier: MIT
"""What a repair did to rules, one by one and with the reason, for the custodian: it says what the originals hold."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

import polars as pl

from sfumato.baskets import Item
from sfumato.data.items.rule_set_files import RuleCount
from sfumato.patterns import Patterns
from sfumato.rules import Rules

WITHHELD_SET = "an itemset behind it is withheld"
LESS_CONFIDENT = "raised supports lower its confidence below the minimum"
RAISED_SET = "raised supports make its itemset frequent"
MORE_CONFIDENT = "raised supports lift its confidence to the minimum"
RAISED_SUPPORT = "supports behind it were raised"

Sides = tuple[tuple[Item, ...], tuple[Item, ...]]


def list_rule_changes(
    true: Rules, released_rules: Rules, true_sets: Patterns, published_sets: Patterns
) -> pl.DataFrame:
    """Every rule that is withheld, invented or changed: its sides, what happened, why, its figures before and after.

    `true_sets` and `published_sets` are the itemsets that the rules come from.
    """
    true_rules, published_rules = _key_rules(true), _key_rules(released_rules)
    sets_before, sets_after = _list_sets(true_sets), _list_sets(published_sets)
    rows = [
        _describe_change(true_rules.get(sides), published_rules.get(sides), sets_before, sets_after)
        for sides in dict.fromkeys((*true_rules, *published_rules))
        if _differ(true_rules.get(sides), published_rules.get(sides))
    ]
    # Where the originals have no rule, only the invented ones tell what items are.
    kind = pl.List(
        pl.String if any(isinstance(item, str) for item in (*true.items, *released_rules.items)) else pl.Int64
    )
    return pl.DataFrame(rows, schema={"antecedent": kind, "consequent": kind, **_FIGURES}, orient="row")


_FIGURES: Mapping[str, Any] = {
    "change": pl.String,
    "why": pl.String,
    "true_support": pl.Int64,
    "true_confidence": pl.Float64,
    "support": pl.Int64,
    "confidence": pl.Float64,
}


def find_rule_channels(channels: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Those inference channels that rules alone disclose: every support of the channel is behind some rule."""
    known_sets = {frozenset(), *_list_sets(rules)}
    channel_mask = [
        _is_known(frozenset(inner), frozenset(outer), known_sets)
        for inner, outer in channels["inner", "outer"].iter_rows()
    ]
    return channels.filter(pl.Series(channel_mask, dtype=pl.Boolean))


def _is_known(inner: frozenset[Item], outer: frozenset[Item], known_sets: set[frozenset[Item]]) -> bool:
    rest = sorted(outer - inner, key=str)
    return all(
        inner.union(chosen_items) in known_sets
        for size in range(len(rest) + 1)
        for chosen_items in combinations(rest, size)
    )


def _key_rules(rules: Rules) -> dict[Sides, RuleCount]:
    return {(rule.left, rule.right): rule for rule in rules.list_counts()}


def _list_sets(patterns: Patterns) -> set[frozenset[Item]]:
    return {frozenset(items) for items, _ in patterns.to_lists()}


def _differ(true_rule: RuleCount | None, published_rule: RuleCount | None) -> bool:
    if true_rule is None or published_rule is None:
        return True
    return compute_confidence(true_rule) != compute_confidence(published_rule)


def _describe_change(
    true_rule: RuleCount | None,
    published_rule: RuleCount | None,
    true_sets: set[frozenset[Item]],
    published_sets: set[frozenset[Item]],
) -> tuple[Any, ...]:
    rule = true_rule or published_rule
    assert rule is not None  # one of the two has it
    whole, left_items = frozenset((*rule.left, *rule.right)), frozenset(rule.left)
    if published_rule is None:
        has_published_sets = whole in published_sets and left_items in published_sets
        change, reason = "withheld", LESS_CONFIDENT if has_published_sets else WITHHELD_SET
    elif true_rule is None:
        change, reason = "invented", MORE_CONFIDENT if whole in true_sets else RAISED_SET
    else:
        change, reason = "changed", RAISED_SUPPORT
    return (
        list(rule.left),
        list(rule.right),
        change,
        reason,
        *_list_figures(true_rule),
        *_list_figures(published_rule),
    )


def _list_figures(rule: RuleCount | None) -> tuple[int | None, float | None]:
    return (None, None) if rule is None else (rule.support, rule.support / rule.left_support)


def compute_confidence(rule: RuleCount) -> Fraction:
    """The confidence of a rule, exactly."""
    return Fraction(rule.support, rule.left_support)
