# SPDX-License-Identifier: MIT
"""Hide items in baskets that stay in their file: decided on the few that matter, written some at a time.

The left sides of rules about an item are counted in all baskets, but only items that are frequent together with it can
be on one. The strategy is that of memory, on baskets in the same order, and so are its decisions.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Flags
from sfumato.engine.stored_baskets import StoredBaskets, Weight
from sfumato.protect.baskets.basket_columns import BasketDraft
from sfumato.protect.baskets.hide_items import HideItems
from sfumato.protect.baskets.item_cover import hide_completely
from sfumato.protect.baskets.secret_rules import index_item_names
from sfumato.protect.baskets.stored_hiding import CURE, StoredHidingPlan, build_hiding_plan, renumber_items
from sfumato.protect.stored_method import StoredBasketMethod
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress


class StoredHideItems(StoredBasketMethod[HideItems]):
    """The strategy that only removes items."""

    runs = "hide_items with the strategy complete"

    def explain_unstored(self, method: HideItems) -> str | None:
        """What of the method does not run on stored baskets; None if it runs: `complete` only removes items."""
        return None if method.strategy == "complete" else f"hide_items with strategy = {method.strategy}"

    def plan(self, method: HideItems, baskets: StoredBaskets, randomness: Randomness) -> StoredHidingPlan:
        """Decide what is removed; nothing is drawn."""
        item_places = index_item_names(baskets, method.items, "the items to hide")
        hidden_items = list(dict.fromkeys(item_places[item] for item in method.items))
        thresholds = method.compute_thresholds(len(baskets))
        companion_mask = _flag_companions(baskets, hidden_items, thresholds.least)
        # Bits of the items on left sides, and whole numbers for each occurrence.
        weight = Weight(60 + 2 * len(hidden_items) + int(companion_mask.sum()) / 8, 64)
        taken_baskets = baskets.take(companion_mask, companion_mask, "hiding items", CURE, weight)
        number = renumber_items(baskets.items, taken_baskets.baskets.items)
        draft = BasketDraft.of(
            taken_baskets.baskets, [number[position] for position in hidden_items], taken_baskets.sizes
        )
        scans = hide_completely(draft, [draft.column[number[position]] for position in hidden_items], thresholds)
        details = {"scans": scans, "sensitive": tuple(baskets.items[position] for position in hidden_items)}
        release = Release(baskets, method, method.list_claims(baskets, thresholds), {"exposed_rules": 0})
        return build_hiding_plan(baskets, taken_baskets, draft, release, details)


def _flag_companions(baskets: StoredBaskets, hidden_items: list[int], least: int) -> Flags:
    """The hidden items, and those that are frequent together with one of them."""
    joint_counts = np.zeros((len(hidden_items), len(baskets.items)), dtype=np.int64)
    for batch in baskets.iterate("counting items together"):
        rows = np.repeat(np.arange(len(batch.offsets) - 1), batch.sizes)
        for line, position in enumerate(hidden_items):
            holding_mask = np.zeros(len(batch.offsets) - 1, dtype=np.bool_)
            holding_mask[rows[batch.codes == position]] = True
            joint_counts[line] += np.bincount(batch.codes[holding_mask[rows]], minlength=len(baskets.items))
    report_progress("hiding items")
    flags = np.asarray((joint_counts >= least).any(axis=0), dtype=np.bool_)
    flags[hidden_items] = True
    return flags
