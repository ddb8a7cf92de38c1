# SPDX-License-Identifier: MIT
"""The exact strategy for rules: the best plan of an integer program, never worse than hiding them jointly."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.protect.baskets.at_risk import AtRisk, itemsets_at_risk
from sfumato.protect.baskets.basket_columns import Draft
from sfumato.protect.baskets.exact_hiding import Plan, best_plan
from sfumato.protect.baskets.hiding_variables import Critical
from sfumato.protect.baskets.joint_hiding import hide_jointly
from sfumato.protect.baskets.secret_rules import SecretRule, Thresholds


def hide_exactly(draft: Draft, rules: tuple[SecretRule, ...], thresholds: Thresholds, seconds: float) -> dict[str, Any]:
    """Change the draft by the best plan; returns how good it is."""
    if not any(draft.shows(rule, thresholds) for rule in rules):
        return _told(Plan((), 0, 0, 0, 0))
    end = time.monotonic() + seconds
    critical = Critical.of(draft, rules, thresholds.least)
    most = critical.most_hits(thresholds)
    at_risk = itemsets_at_risk(draft, critical.rules, thresholds.least, critical.rows, critical.wholes, most)
    quick = _quick_plan(draft, rules, thresholds, critical, at_risk)
    victims = frozenset(column for rule in critical.rules for column in rule.whole)
    best = best_plan(critical, thresholds, at_risk, victims, end, quick.lost)
    if best is None or not _hides(draft, best, rules, thresholds):
        best = quick
    # A change takes at most one basket from a rule, so none has fewer changes than a rule's surplus.
    least = max(
        thresholds.surplus(int(whole), int(left)) for whole, left in zip(critical.whole, critical.left, strict=True)
    )
    best = replace(best, bound=min(max(best.bound, least), best.changes))
    plan = best if (best.lost, best.changes) <= (quick.lost, quick.changes) else _bounded(quick, best)
    for row, column in plan.removals:
        draft.remove(np.array([row]), column)
    return _told(plan)


def _told(plan: Plan) -> dict[str, Any]:
    return {
        "objective": plan.changes,
        "bound": plan.bound,
        "lost_itemsets": plan.lost,
        "lost_bound": plan.lost_bound,
        "proven": plan.proven,
        "gap": round(plan.gap, 12),
    }


def _hides(draft: Draft, plan: Plan, rules: tuple[SecretRule, ...], thresholds: Thresholds) -> bool:
    """Whether a plan does what it must; the solver counts in floating point, this does not."""
    trial = Draft.of(draft.data, draft.places)
    for row, column in plan.removals:
        trial.remove(np.array([row]), column)
    return not any(trial.shows(rule, thresholds) for rule in rules)


def _bounded(quick: Plan, best: Plan) -> Plan:
    """The quick plan, which is better than what was found in time, with the bounds that hold for all plans."""
    return replace(quick, lost_bound=min(best.lost_bound, quick.lost), bound=min(best.bound, quick.changes))


def _quick_plan(
    draft: Draft, rules: tuple[SecretRule, ...], thresholds: Thresholds, critical: Critical, at_risk: AtRisk
) -> Plan:
    """What hiding jointly would take out, and what that loses."""
    trial = Draft.of(draft.data, draft.places)
    hide_jointly(trial, rules, thresholds)
    gone = trial.before & ~trial.held
    columns, rows = np.nonzero(gone)
    out = gone[:, critical.rows]
    lost = 0
    for number, items in enumerate(at_risk.columns):
        hit = at_risk.held[number] & out[sorted(items)].any(axis=0)
        lost += int(at_risk.times[number]) if int(hit.sum()) > at_risk.spare[number] else 0
    return Plan(tuple(zip(rows.tolist(), columns.tolist(), strict=True)), lost, 0, len(rows), 0)
