# SPDX-License-Identifier: MIT
"""Hide rules in baskets that stay in their file: decided on the few that matter, written some at a time.

A rule shows by how many baskets hold its items, so only baskets with one of these items are changed or counted; next to
them only frequent items matter, since a strategy spares frequent itemsets. The strategies are those of memory, on
baskets in the same order, and so are their decisions.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Flags
from sfumato.engine.stored_baskets import StoredBaskets, Weight
from sfumato.protect.baskets.basket_columns import BasketDraft
from sfumato.protect.baskets.hide_rules import HideRules
from sfumato.protect.baskets.secret_rules import name_rule, number_secret_rules
from sfumato.protect.baskets.stored_hiding import CURE, StoredHidingPlan, build_hiding_plan, renumber_items
from sfumato.protect.stored_method import StoredBasketMethod
from sfumato.randomness import Randomness
from sfumato.release import Release

_STRATEGIES = ("joint", "1b", "2a", "2b", "2c", "cyclic", "greedy", "isolated")
"""Those that only remove items, and look at no other baskets."""


class StoredHideRules(StoredBasketMethod[HideRules]):
    """The strategies that only remove items."""

    runs = f"hide_rules with the strategy {', '.join(_STRATEGIES)}"

    def explain_unstored(self, method: HideRules) -> str | None:
        """What of the method does not run on stored baskets; None if it runs."""
        return None if method.strategy in _STRATEGIES else f"hide_rules with strategy = {method.strategy}"

    def plan(self, method: HideRules, baskets: StoredBaskets, randomness: Randomness) -> StoredHidingPlan:
        """Decide what is removed; nothing is drawn."""
        secret = number_secret_rules(baskets, *method.list_secrets())
        thresholds = method.compute_thresholds(len(baskets))
        secret_items = _flag_places(baskets, [position for rule in secret for position in rule.whole])
        # A draft has each named column twice, and each rule twice more while it is hidden.
        weight = Weight(60 + 2 * int(secret_items.sum()) + 2 * len(secret), 64)
        taken_baskets = baskets.take(
            secret_items | (baskets.counts >= thresholds.least), secret_items, "hiding rules", CURE, weight
        )
        number = renumber_items(baskets.items, taken_baskets.baskets.items)
        draft = BasketDraft.of(
            taken_baskets.baskets,
            [number[position] for position in np.flatnonzero(secret_items).tolist()],
            taken_baskets.sizes,
        )
        draft_rules = tuple(rule.renumber_rule(number).renumber_rule(draft.column) for rule in secret)
        details = method.hide(draft, draft_rules, thresholds)
        details = {"pruned_rules": 0, **details, "sensitive": tuple(name_rule(baskets, rule) for rule in secret)}
        release = Release(baskets, method, method.list_claims(baskets, thresholds), {})
        return build_hiding_plan(baskets, taken_baskets, draft, release, details)


def _flag_places(baskets: StoredBaskets, places: list[int]) -> Flags:
    flags = np.zeros(len(baskets.items), dtype=np.bool_)
    flags[places] = True
    return flags
