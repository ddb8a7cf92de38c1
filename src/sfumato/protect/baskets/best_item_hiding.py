# SPDX-License-Identifier: MIT
"""The exact strategy for items: the fewest occurrences to remove, with rules added to the program on demand.

The program starts with the rules about the items that show. Its solution may leave others, since a left side with a
hidden item gets rarer; they are added, and it is solved again. Each round's bound holds for the whole problem, and when
no rule is left the solution is optimal. For one item the first round is the last: its rules' requirements do not change
while it is removed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.protect.baskets.basket_columns import BasketDraft, ItemOccurrences
from sfumato.protect.baskets.exact_hiding import ExactHidingPlan, find_best_plan
from sfumato.protect.baskets.hiding_variables import CriticalBaskets
from sfumato.protect.baskets.item_cover import hide_completely
from sfumato.protect.baskets.item_rules import list_rules_about
from sfumato.protect.baskets.itemsets_at_risk import assume_nothing_at_risk
from sfumato.protect.baskets.secret_rules import HidingThresholds, SecretRule


def hide_items_exactly(
    draft: BasketDraft, columns: Sequence[int], thresholds: HidingThresholds, seconds: float
) -> dict[str, Any]:
    """Remove as few occurrences of the items as possible; return the plan's quality."""
    end = time.monotonic() + seconds
    quick = BasketDraft.of(draft.data, draft.places)
    scans = hide_completely(quick, columns, thresholds)
    fewest = int((quick.original_mask & ~quick.held_mask).sum())
    hidden_items = [draft.places[column] for column in columns]
    rules: dict[SecretRule, None] = {}
    bound, best = 0, None
    occurrences = ItemOccurrences.of(draft.data)
    while bound < fewest:
        new = [
            shown_rule.rule for item in hidden_items for shown_rule in list_rules_about(occurrences, item, thresholds)
        ]
        scans += len(hidden_items)
        if not new:
            best = occurrences
            break
        rules |= dict.fromkeys(new)
        plan, wide = _plan_against_rules(draft, tuple(rules), hidden_items, thresholds, end)
        if plan is None:
            break
        bound = max(bound, min(plan.bound, fewest))
        occurrences = _apply_plan(wide, plan)
        if plan.changes > plan.bound and time.monotonic() >= end:
            break
    held_mask = quick.held_mask if best is None else best.flag_items(draft.places)
    draft.held_mask[:] = held_mask
    draft.sizes[:] = quick.sizes if best is None else np.bincount(best.rows, minlength=best.count)
    changes = int((draft.original_mask & ~draft.held_mask).sum())
    return {
        "scans": scans,
        "objective": changes,
        "bound": min(bound, changes),
        "proven": bound >= changes,
        "gap": round((changes - min(bound, changes)) / changes, 12) if changes else 0.0,
    }


def _plan_against_rules(
    draft: BasketDraft,
    rules: tuple[SecretRule, ...],
    hidden_items: Sequence[int],
    thresholds: HidingThresholds,
    end: float,
) -> tuple[ExactHidingPlan | None, BasketDraft]:
    """The best plan against these rules alone, on a draft of all their items."""
    wide = BasketDraft.of(draft.data, {position for rule in rules for position in rule.whole})
    critical = CriticalBaskets.of(wide, [rule.renumber_rule(wide.column) for rule in rules], thresholds.least)
    victims = frozenset(wide.column[position] for position in hidden_items if position in wide.column)
    empty_risk = assume_nothing_at_risk(len(critical.rows))
    return find_best_plan(critical, thresholds, empty_risk, victims, end), wide


def _apply_plan(wide: BasketDraft, plan: ExactHidingPlan) -> ItemOccurrences:
    for row, column in plan.removals:
        wide.remove(np.array([row]), column)
    return wide.list_occurrences()
