# SPDX-License-Identifier: MIT
"""The measures that claims about baskets and patterns name; what was to be hidden comes from the custodian."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sfumato.measure.baskets.hiding import basket_count, exposed_rules, foreign_items
from sfumato.measure.patterns.pattern_privacy import inferable_patterns, least_support, lost_itemsets, untrue_supports
from sfumato.public.thresholds import least_count
from sfumato.release import Number

if TYPE_CHECKING:
    from sfumato.measure.checks import Evidence

Check = Callable[["Evidence", Mapping[str, Any]], Number]


def evidence_checks() -> Mapping[str, Check]:
    """The checks by their names."""
    return {
        "basket_count": lambda evidence, _: basket_count(evidence.published),
        "exposed_rules": _exposed_rules,
        "foreign_items": _foreign_items,
        "inferable_patterns": _inferable_patterns,
        "least_support": lambda evidence, _: least_support(evidence.published),
        "lost_itemsets": _lost_itemsets,
        "untrue_supports": lambda evidence, _: untrue_supports(evidence.published, evidence.original),
    }


def _exposed_rules(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    secret = evidence.details["sensitive"]
    return exposed_rules(evidence.published, secret, int(arguments["min_support"]), arguments.get("min_confidence"))


def _foreign_items(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return foreign_items(evidence.published, evidence.original, str(arguments.get("unknown_mark", "")))


def _inferable_patterns(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return inferable_patterns(evidence.published, int(arguments["k"]), int(arguments["complete_from"]) or None)


def _lost_itemsets(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    least = least_count(arguments["min_support"], len(evidence.original))
    return lost_itemsets(evidence.published, evidence.original, least)
