# SPDX-License-Identifier: MIT
"""The exact strategy for rules: the best plan of an integer program, never worse than hiding them jointly."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.protect.baskets.basket_columns import BasketDraft
from sfumato.protect.baskets.exact_hiding import ExactHidingPlan, find_best_plan
from sfumato.protect.baskets.hiding_variables import CriticalBaskets, ItemRemoval
from sfumato.protect.baskets.itemsets_at_risk import ItemsetsAtRisk, find_itemsets_at_risk
from sfumato.protect.baskets.joint_hiding import hide_jointly
from sfumato.protect.baskets.secret_rules import HidingThresholds, SecretRule


def hide_exactly(
    draft: BasketDraft, rules: tuple[SecretRule, ...], thresholds: HidingThresholds, seconds: float
) -> dict[str, Any]:
    """Change the draft by the best plan; return its quality."""
    if not any(draft.shows(rule, thresholds) for rule in rules):
        return _describe_plan(ExactHidingPlan((), 0, 0, 0, 0))
    end = time.monotonic() + seconds
    critical = CriticalBaskets.of(draft, rules, thresholds.least)
    most = critical.count_most_hits(thresholds)
    at_risk = find_itemsets_at_risk(draft, critical.rules, thresholds.least, critical.rows, critical.wholes, most)
    quick = _plan_quickly(draft, rules, thresholds, critical, at_risk)
    victims = frozenset(column for rule in critical.rules for column in rule.whole)
    best = find_best_plan(critical, thresholds, at_risk, victims, end, quick.lost_count)
    if best is None or not _does_plan_hide(draft, best, rules, thresholds):
        best = quick
    # A change takes at most one basket from a rule, so no plan has fewer changes than a rule's surplus.
    least = max(
        thresholds.count_surplus(int(whole), int(left_count))
        for whole, left_count in zip(critical.whole, critical.left_counts, strict=True)
    )
    best = replace(best, bound=min(max(best.bound, least), best.changes))
    plan = (
        best if (best.lost_count, best.changes) <= (quick.lost_count, quick.changes) else _bound_quick_plan(quick, best)
    )
    for row, column in plan.removals:
        draft.remove(np.array([row]), column)
    return _describe_plan(plan)


def _describe_plan(plan: ExactHidingPlan) -> dict[str, Any]:
    return {
        "objective": plan.changes,
        "bound": plan.bound,
        "lost_itemsets": plan.lost_count,
        "lost_bound": plan.lost_bound,
        "proven": plan.proven,
        "gap": round(plan.gap, 12),
    }


def _does_plan_hide(
    draft: BasketDraft, plan: ExactHidingPlan, rules: tuple[SecretRule, ...], thresholds: HidingThresholds
) -> bool:
    """Whether a plan meets its requirements; the solver uses floating point, this does not."""
    trial = BasketDraft.of(draft.data, draft.places)
    for row, column in plan.removals:
        trial.remove(np.array([row]), column)
    return not any(trial.shows(rule, thresholds) for rule in rules)


def _bound_quick_plan(quick: ExactHidingPlan, best: ExactHidingPlan) -> ExactHidingPlan:
    """The quick plan, which is better than the one found in time, with the bounds that hold for all plans."""
    return replace(quick, lost_bound=min(best.lost_bound, quick.lost_count), bound=min(best.bound, quick.changes))


def _plan_quickly(
    draft: BasketDraft,
    rules: tuple[SecretRule, ...],
    thresholds: HidingThresholds,
    critical: CriticalBaskets,
    at_risk: ItemsetsAtRisk,
) -> ExactHidingPlan:
    """What joint hiding would remove, and what that loses."""
    trial = BasketDraft.of(draft.data, draft.places)
    hide_jointly(trial, rules, thresholds)
    removed_mask = trial.original_mask & ~trial.held_mask
    columns, rows = np.nonzero(removed_mask)
    out = removed_mask[:, critical.rows]
    lost_count = 0
    for number, items in enumerate(at_risk.columns):
        hit = at_risk.held_mask[number] & out[sorted(items)].any(axis=0)
        lost_count += int(at_risk.times[number]) if int(hit.sum()) > at_risk.spare[number] else 0
    removals = tuple(ItemRemoval(*pair) for pair in zip(rows.tolist(), columns.tolist(), strict=True))
    return ExactHidingPlan(removals, lost_count, 0, len(rows), 0)
