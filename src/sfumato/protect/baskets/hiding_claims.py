# SPDX-License-Identifier: MIT
"""Claims about the published baskets. The names of what is hidden stay with the custodian."""

from __future__ import annotations

from collections.abc import Sized

from sfumato.protect.claims import claim_count
from sfumato.release import Claim

ClaimArguments = dict[str, str | int | float | tuple[str, ...]]


def claim_nothing_shows(least: int, confidence: float | None, *, may_hide_itemsets: bool = False) -> Claim:
    """None of the secret rules reaches both thresholds, and none of the secret itemsets that of support.

    For an item, the rules with the item alone on the right are counted.
    """
    meaning = "No rule that was to be hidden has both support and confidence at or above their thresholds"
    if confidence is None:
        meaning = "No itemset that was to be hidden has a support at or above the threshold"
    elif may_hide_itemsets:
        meaning += ", and no itemset that was to be hidden has that support"
    arguments: ClaimArguments = {"min_support": least}
    if confidence is not None:
        arguments["min_confidence"] = confidence
    return Claim(
        property="hidden_rules",
        threshold=0,
        bound="exactly",
        measure="exposed_rules",
        arguments=arguments,
        needs_original=True,
        meaning=f"{meaning}.",
    )


def claim_no_foreign_items(unknown_mark: str = "") -> Claim:
    """No new item is published."""
    return Claim(
        property="foreign_items",
        threshold=0,
        bound="exactly",
        measure="foreign_items",
        arguments={"unknown_mark": unknown_mark} if unknown_mark else {},
        needs_original=True,
        meaning="Every published item is an item of the original baskets.",
    )


def claim_only_named_items_removed() -> Claim:
    """Nothing is added, and nothing removed but the items that are hidden."""
    return Claim(
        property="unnamed_changes",
        threshold=0,
        bound="exactly",
        measure="unnamed_changes",
        arguments={},
        needs_original=True,
        meaning="No basket has an item that it had not, and none lacks one but those that were to be hidden; what "
        "another method of the policy states to have changed does not count.",
    )


def claim_no_untrue_items(unknown_mark: str) -> Claim:
    """What is certain is true; the rest has the mark of unknown items."""
    return Claim(
        property="untrue_items",
        threshold=0,
        bound="exactly",
        measure="untrue_items",
        arguments={"unknown_mark": unknown_mark},
        needs_original=True,
        meaning="Every item that is published as certain is in the original basket, and every item of the original "
        "basket is published as certain or as unknown.",
    )


def claim_all_baskets(data: Sized) -> Claim:
    """The same number of baskets is published, in the same order."""
    return claim_count("baskets", "basket_count", len(data), "basket")
