# SPDX-License-Identifier: MIT
"""How far published supports are from the true ones, counted by code that shares nothing with the method."""

from __future__ import annotations

from sfumato.baskets import Baskets
from sfumato.measure.baskets.recount import recount_itemsets
from sfumato.patterns import Patterns


def measure_support_errors(original: Baskets, published_patterns: Patterns, least: int) -> float:
    """The mean over the frequent itemsets of the relative error of the support; 1 for one that is withheld."""
    published_supports = {frozenset(map(str, items)): support for items, support in published_patterns.to_lists()}
    true = recount_itemsets(original, least)
    errors = [
        abs(published_supports[items] - support) / support if items in published_supports else 1.0
        for items, support in true.items()
    ]
    return round(sum(errors) / len(errors), 12) if errors else 0.0
