# SPDX-License-Identifier: MIT
"""One itemset at a time, until too few baskets hold it: a rule is hidden with the itemset it is made from.

2.b removes the most common of its items from the smallest baskets, 2.c and the cyclic method remove its items in turn
(Verykios and others, *Association rule hiding*, 2004; Atallah, Bertino, Elmagarmid, Ibrahim, Verykios, *Disclosure
limitation of sensitive rules*, 1999). The greedy method of Atallah and others walks from the itemset to its most
supported subset, item by item, and removes the last item from the baskets in which it is in the fewest frequent pairs.
All ignore the confidence: they continue until the support is strictly below the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Ints
from sfumato.protect.baskets.basket_columns import BasketDraft
from sfumato.protect.baskets.rule_strategies import order_smallest_first
from sfumato.protect.baskets.secret_rules import HidingThresholds, SecretRule


def lower_commonest(draft: BasketDraft, rule: SecretRule, thresholds: HidingThresholds) -> None:
    """2.b: remove the item that most baskets hold from the smallest baskets."""
    victim = max(rule.whole, key=lambda column: draft.count([column]))
    draft.remove(order_smallest_first(draft, rule.whole)[: count_needed_removals(draft, rule, thresholds)], victim)


def lower_in_turn(draft: BasketDraft, rule: SecretRule, thresholds: HidingThresholds) -> None:
    """2.c and cyclic: remove the first item from the first basket, the second from the second, and so on in turn."""
    rows = draft.list_holders(rule.whole)[: count_needed_removals(draft, rule, thresholds)]
    items = sorted(rule.whole)
    for turn, column in enumerate(items):
        draft.remove(rows[turn :: len(items)], column)


def lower_greedily(draft: BasketDraft, rule: SecretRule, thresholds: HidingThresholds) -> None:
    """Greedy: remove the item at the end of the most supported path, where it is in the fewest frequent pairs."""
    part = list(rule.whole)
    while len(part) > 1:
        part = max(([other for other in part if other != item] for item in part), key=draft.count)
    victim = part[0]
    rows = draft.list_holders(rule.whole)
    pairs = count_frequent_pairs(draft, rows, victim, thresholds.least)
    order = np.argsort(pairs, kind="stable")
    draft.remove(rows[order[: count_needed_removals(draft, rule, thresholds)]], victim)


def count_frequent_pairs(
    draft: BasketDraft, rows: Ints, column: int, least: int, excluded_columns: Sequence[int] = ()
) -> Ints:
    """For each basket, the number of its frequent pairs that contain the item, and none of `excluded_columns`."""
    frequent = (draft.count_companions(column) >= least).astype(np.int64)
    frequent[[draft.places[other] for other in (column, *excluded_columns)]] = 0
    offsets = draft.data.offsets
    cumulative_counts = np.concatenate([[0], np.cumsum(frequent[draft.data.codes])])
    pairs: Ints = cumulative_counts[offsets[rows + 1]] - cumulative_counts[offsets[rows]]
    for other, position in enumerate(draft.places):
        if frequent[position]:
            pairs += draft.held_mask[other, rows].astype(np.int64) - draft.original_mask[other, rows]
    return pairs


def count_needed_removals(draft: BasketDraft, rule: SecretRule, thresholds: HidingThresholds) -> int:
    """How many baskets must stop holding the itemset, so that it is no longer frequent."""
    return max(0, draft.count(rule.whole) + 1 - thresholds.least)
