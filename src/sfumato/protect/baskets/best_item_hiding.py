# SPDX-License-Identifier: MIT
"""The exact strategy for items: the fewest occurrences to take out, with rules added to the program as they arise.

The program starts with the rules about the items that show. Its solution may leave others, since a left side with a
hidden item gets rarer; they are added, and it is solved again. Each round's bound holds for the whole problem, and when
no rule is left the solution is the best there is. For one item the first round is the last: what its rules need does
not change while it is taken out.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.protect.baskets.at_risk import nothing_at_risk
from sfumato.protect.baskets.basket_columns import Draft, Occurrences
from sfumato.protect.baskets.exact_hiding import Plan, best_plan
from sfumato.protect.baskets.hiding_variables import Critical
from sfumato.protect.baskets.item_cover import hide_completely
from sfumato.protect.baskets.item_rules import rules_about
from sfumato.protect.baskets.secret_rules import SecretRule, Thresholds


def hide_items_exactly(draft: Draft, columns: Sequence[int], thresholds: Thresholds, seconds: float) -> dict[str, Any]:
    """Take as few occurrences of the items out as it takes; returns how good that is."""
    end = time.monotonic() + seconds
    quick = Draft.of(draft.data, draft.places)
    scans = hide_completely(quick, columns, thresholds)
    fewest = int((quick.before & ~quick.held).sum())
    hidden = [draft.places[column] for column in columns]
    rules: dict[SecretRule, None] = {}
    bound, best = 0, None
    now = Occurrences.of(draft.data)
    while bound < fewest:
        new = [one.rule for item in hidden for one in rules_about(now, item, thresholds)]
        scans += len(hidden)
        if not new:
            best = now
            break
        rules |= dict.fromkeys(new)
        plan, wide = _plan(draft, tuple(rules), hidden, thresholds, end)
        if plan is None:
            break
        bound = max(bound, min(plan.bound, fewest))
        now = _tried(wide, plan)
        if plan.changes > plan.bound and time.monotonic() >= end:
            break
    chosen = quick.held if best is None else best.columns(draft.places)
    draft.held[:] = chosen
    draft.sizes[:] = quick.sizes if best is None else np.bincount(best.rows, minlength=best.count)
    changes = int((draft.before & ~draft.held).sum())
    return {
        "scans": scans,
        "objective": changes,
        "bound": min(bound, changes),
        "proven": bound >= changes,
        "gap": round((changes - min(bound, changes)) / changes, 12) if changes else 0.0,
    }


def _plan(
    draft: Draft, rules: tuple[SecretRule, ...], hidden: Sequence[int], thresholds: Thresholds, end: float
) -> tuple[Plan | None, Draft]:
    """The best plan against these rules alone, on a draft of all their items."""
    wide = Draft.of(draft.data, {place for rule in rules for place in rule.whole})
    critical = Critical.of(wide, [rule.numbered(wide.column) for rule in rules], thresholds.least)
    victims = frozenset(wide.column[place] for place in hidden if place in wide.column)
    nothing = nothing_at_risk(len(critical.rows))
    return best_plan(critical, thresholds, nothing, victims, end), wide


def _tried(wide: Draft, plan: Plan) -> Occurrences:
    for row, column in plan.removals:
        wide.remove(np.array([row]), column)
    return wide.occurrences()
