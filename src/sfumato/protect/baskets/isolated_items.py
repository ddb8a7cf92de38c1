# SPDX-License-Identifier: MIT
"""Isolated items and safe baskets: lower the support of an itemset where no other frequent itemset loses any.

An item of a secret itemset is isolated in a basket if no frequent pair there joins it to an item outside the secret
itemset. A basket that holds the secret itemset is safe if one of its items is isolated in it. Every frequent itemset
consists of frequent pairs, so removing an isolated item lowers the support of parts of the secret itemset, and of
infrequent itemsets, only. The course of Giannotti, Pedreschi and Turini (2009) names "isolated items and safe
transactions" among the methods that reduce support, next to the cyclic and the greedy one of Atallah and others (1999),
and does not define them: this is our reading. If too few baskets are safe, the greedy method does the rest.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.protect.baskets.basket_columns import BasketDraft
from sfumato.protect.baskets.itemset_strategies import count_frequent_pairs, count_needed_removals, lower_greedily
from sfumato.protect.baskets.secret_rules import HidingThresholds, SecretRule


def lower_where_safe(draft: BasketDraft, rule: SecretRule, thresholds: HidingThresholds) -> None:
    """Remove isolated items from safe baskets, in the order of the baskets; then go on greedily."""
    rows = draft.list_holders(rule.whole)
    # Of several isolated items the most common one goes: its parts of the secret itemset can spare a basket best.
    items = sorted(rule.whole, key=lambda column: -draft.count([column]))
    isolated_mask = flag_isolated_items(draft, rule, rows, items, thresholds.least)
    safe = np.flatnonzero(isolated_mask.any(axis=0))[: count_needed_removals(draft, rule, thresholds)]
    victims = isolated_mask[:, safe].argmax(axis=0)
    for number, column in enumerate(items):
        draft.remove(rows[safe[victims == number]], column)
    if count_needed_removals(draft, rule, thresholds):
        lower_greedily(draft, rule, thresholds)


def flag_isolated_items(draft: BasketDraft, rule: SecretRule, rows: Ints, items: list[int], least: int) -> Flags:
    """Items × baskets: whether no frequent pair joins the item to one that is not of the secret itemset."""
    return np.array([count_frequent_pairs(draft, rows, column, least, rule.whole) == 0 for column in items])
