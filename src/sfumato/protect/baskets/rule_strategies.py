# SPDX-License-Identifier: MIT
"""One rule at a time, until its confidence or its support is below the threshold.

1.a adds the left side to baskets that lack the right one; 1.b removes an item of the right side; 2.a removes any item
of the rule. Dasseni, Verykios, Elmagarmid, Bertino, *Hiding association rules by using confidence and support* (2001);
Verykios and others, *Association rule hiding* (2004). As published they stop *at* the threshold, where a rule still
shows; here they continue until it is strictly below. "Least impact" is read as: the fewest of the rule's itemsets that
are one item smaller become infrequent; ties go to the item whose itemsets are held by most baskets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Ints
from sfumato.errors import ImpossibleRelease, PolicyError, count_noun
from sfumato.protect.baskets.basket_columns import BasketDraft
from sfumato.protect.baskets.secret_rules import HidingThresholds, SecretRule


def raise_left(draft: BasketDraft, rule: SecretRule, thresholds: HidingThresholds) -> None:
    """1.a: complete the left side in baskets that nearly hold it and lack the right side."""
    if not rule.left:
        raise PolicyError("1a lowers confidences, but an itemset has none; hide itemsets with another strategy")
    partly = ~draft.flag_holding(rule.left) & ~draft.flag_holding(rule.right)
    candidates = np.flatnonzero(partly).astype(np.int64)
    present = draft.held_mask[list(rule.left)][:, candidates].sum(axis=0)
    fullest = candidates[np.argsort(-present, kind="stable")]
    needed_count = thresholds.count_missing_lefts(draft.count(rule.whole), draft.count(rule.left))
    if needed_count > len(fullest):
        raise ImpossibleRelease(
            f"1a would have to add a rule's left side to {count_noun(needed_count, 'basket')}, but only "
            f"{len(fullest)} could take it without holding the right side; use a strategy that removes items (joint, "
            "1b, 2a), or raise min_confidence"
        )
    for column in rule.left:
        draft.add(_select_lacking_rows(draft, fullest[:needed_count], column), column)


def lower_right(draft: BasketDraft, rule: SecretRule, thresholds: HidingThresholds) -> None:
    """1.b: remove an item of the right side from the smallest baskets that hold the rule."""
    needed_count = thresholds.count_surplus(draft.count(rule.whole), draft.count(rule.left))
    victim = choose_least_harmful(draft, rule.right, rule.whole, thresholds.least)
    draft.remove(order_smallest_first(draft, rule.whole)[:needed_count], victim)


def lower_whole(draft: BasketDraft, rule: SecretRule, thresholds: HidingThresholds) -> None:
    """2.a: remove an item of the rule from the smallest baskets that hold it."""
    whole, left_count = draft.count(rule.whole), draft.count(rule.left)
    victim = choose_least_harmful(draft, rule.whole, rule.whole, thresholds.least)
    needed_count = 0
    while thresholds.shows(whole - needed_count, left_count - needed_count if victim in rule.left else left_count):
        needed_count += 1
    draft.remove(order_smallest_first(draft, rule.whole)[:needed_count], victim)


def order_smallest_first(draft: BasketDraft, columns: Sequence[int]) -> Ints:
    """The baskets that hold the items, those with the fewest items first."""
    rows = draft.list_holders(columns)
    return rows[np.argsort(draft.sizes[rows], kind="stable")]


def choose_least_harmful(draft: BasketDraft, victims: Sequence[int], whole: Sequence[int], least: int) -> int:
    """The victim that does least harm to the itemsets that are one item smaller than the rule."""
    if len(victims) == 1:
        return victims[0]
    smaller = {item: draft.count([other for other in whole if other != item]) for item in whole}

    def measure_harm(victim: int) -> tuple[int, int]:
        # All but one of the smaller itemsets hold the victim.
        hit = [count for item, count in smaller.items() if item != victim]
        return sum(count == least for count in hit), -sum(hit)

    return min(victims, key=measure_harm)


def _select_lacking_rows(draft: BasketDraft, rows: Ints, column: int) -> Ints:
    lacking_rows: Ints = rows[~draft.held_mask[column, rows]]
    return lacking_rows
