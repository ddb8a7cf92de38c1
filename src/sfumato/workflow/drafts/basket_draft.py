# SPDX-License-Identifier: MIT
"""What a drafted policy does with baskets: the method for each purpose, its alternatives, attacks and gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from sfumato.baskets import Baskets, Item
from sfumato.errors import DataError, PolicyError, count_noun
from sfumato.workflow.drafts.draft_methods import Purpose, round_down
from sfumato.workflow.drafts.toml_text import comment_out, write_comment, write_entry, write_value

SUPPORTS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
"""Supports that are tried, highest first: dense baskets have millions of itemsets at a low one."""
ENOUGH_ITEMSETS = 100
"""The search for a support ends once this many itemsets are frequent."""
MOST_ITEMSETS = 10_000
"""More take minutes to repair, and nobody reads them; a higher support is chosen, if any itemset has one."""
ENOUGH_BASKETS = 1000
"""From this many on, a draft limits the error of supports."""
CONFIDENCE = 0.6
USUAL_K = 10


@dataclass(frozen=True)
class FrequentItemsets:
    """The itemsets of some baskets at a support that yields neither none nor too many."""

    min_support: int
    itemsets: pl.DataFrame


def choose_support(baskets: Baskets, source: str, k: int) -> FrequentItemsets:
    """Lower the support until enough itemsets are frequent; a round one, unless that yields too many."""
    from sfumato.mine.baskets.itemsets import frequent_itemsets

    if len(baskets) < 2 or not baskets.items:
        raise DataError(
            f"{source}: only {count_noun(len(baskets), 'basket')} with {count_noun(len(baskets.items), 'item')}; add "
            "some"
        )
    best: FrequentItemsets | None = None
    for share in SUPPORTS:
        exact = max(k, round(share * len(baskets)))
        count = max(k, round_down(exact))
        if best is not None and count >= best.min_support:
            continue
        candidate = FrequentItemsets(count, frequent_itemsets(baskets, count))
        if candidate.itemsets.height > MOST_ITEMSETS:
            candidate = FrequentItemsets(exact, frequent_itemsets(baskets, exact))
        if candidate.itemsets.height > MOST_ITEMSETS and best is not None and best.itemsets.height:
            break
        best = candidate
        if best.itemsets.height >= ENOUGH_ITEMSETS or count == k:
            break
    assert best is not None, "there is at least one support"
    return best


def write_basket_methods(baskets: Baskets, source: str, purpose: Purpose, k: int | None) -> list[str]:
    """The sections [[protect]], [[attack]] and [gate]."""
    if purpose == "synthetic":
        raise PolicyError(f"{source}: there is no method for synthetic baskets; choose publish, hide or outsource")
    if purpose == "outsource":
        return _write_item_codes(baskets, source, k)
    crowd_size = k or min(USUAL_K, max(2, len(baskets) // 10))
    frequent = choose_support(baskets, source, crowd_size)
    if purpose == "hide":
        return _write_hidden_rule(baskets, source, frequent)
    return _write_patterns(frequent, crowd_size, len(baskets))


def _write_patterns(frequent: FrequentItemsets, k: int, baskets: int) -> list[str]:
    # Among few baskets, closing a channel moves a support by a large share of itself.
    limit = (
        write_entry("max_loss", 0.5, "the mean relative error of a support")
        if baskets >= ENOUGH_BASKETS
        else "#| max_loss = 0.5  # the mean relative error of a support, which is large among few baskets"
    )
    return [
        "[[protect]]",
        *write_comment("Publishes what is often bought together and how often, but no basket."),
        'method = "publish_patterns"',
        write_entry("k", k, "no pattern of fewer people can be derived"),
        write_entry("min_support", frequent.min_support, f"{frequent.itemsets.height:,} itemsets are as frequent"),
        "",
        *write_comment("Instead: publish the baskets so that some items cannot be inferred from others. Name yours."),
        *comment_out(["[[protect]]", 'method = "hide_items"', f"items = {write_value(_find_common_items(frequent))}"]),
        *comment_out([write_entry("min_support", frequent.min_support), write_entry("min_confidence", CONFIDENCE)]),
        "",
        "[[attack]]",
        write_entry("attack", "support_inference", "derives unpublished supports from published ones"),
        "",
        "[gate]",
        limit,
    ]


def _find_common_items(frequent: FrequentItemsets) -> list[Item]:
    single = frequent.itemsets.filter(pl.col("items").list.len() == 1).sort("support")
    return single["items"][0].to_list() if single.height else []


def _write_hidden_rule(baskets: Baskets, source: str, frequent: FrequentItemsets) -> list[str]:
    """An example, the surest rule: only the custodian knows what must not show."""
    secret, least = _choose_secret(baskets, frequent)
    if secret is None:
        raise DataError(
            f"{source}: no two items are bought together by {least} people or more, so no rule can be mined and there "
            "is nothing to hide; choose --for publish"
        )
    return [
        "[[protect]]",
        *write_comment("Changes baskets so that certain rules, or itemsets, can no longer be mined."),
        'method = "hide_rules"',
        *write_comment(
            "AN EXAMPLE, one of the surest rules in the data: put those that must not show, each as [[left items], "
            '[right items]], or file = "rules.txt" with one on a line ("bread, butter ==> milk").'
        ),
        f"rules = [{write_value(secret)}]",
        write_entry("min_support", least, "a rule of fewer baskets does not show"),
        write_entry("min_confidence", CONFIDENCE, "a rule that is right less often does not show"),
        "",
        *write_comment("Instead: nothing at all may predict some items."),
        *comment_out(["[[protect]]", 'method = "hide_items"', f"items = {write_value(secret[1])}"]),
        *comment_out([write_entry("min_support", least), write_entry("min_confidence", CONFIDENCE)]),
        "",
        "[[attack]]",
        write_entry("attack", "remining", "mines below the thresholds, where hidden rules end up"),
        "",
        "[gate]",
        write_entry("max_loss", 0.1, "the share of all items in baskets that may be changed"),
    ]


def _choose_secret(baskets: Baskets, frequent: FrequentItemsets) -> tuple[list[Any] | None, int]:
    """The surest rule of two items, at the support found or a lower one."""
    from sfumato.mine.baskets.association_rules import association_rules

    least = frequent.min_support
    while True:
        rules = association_rules(baskets, least, CONFIDENCE, max_length=2)
        single = rules.filter(pl.col("consequent").list.len() == 1)
        if single.height:
            best = single.sort(["lift", "support", "antecedent"], descending=[True, True, False]).row(0, named=True)
            return [list(best["antecedent"]), list(best["consequent"])], least
        if least <= 2 or frequent.itemsets.height > ENOUGH_ITEMSETS:
            return None, least
        least = max(2, least // 2)


def _write_item_codes(baskets: Baskets, source: str, k: int | None) -> list[str]:
    items = len(baskets.items)
    if items < 2:
        raise DataError(f"{source}: only {count_noun(items, 'item')}, and a code hides an item among others; add some")
    return [
        "[[protect]]",
        *write_comment("Replaces items by codes. Itemsets that are mined from the codes are decoded exactly."),
        'method = "encode_items"',
        write_entry("k", min(k or USUAL_K, items), "every code is as frequent as this many others, itself included"),
        "",
        "[[attack]]",
        write_entry("attack", "item_frequency", "a provider who knows how often items are bought"),
        "",
        "[gate]",
        "#| max_risk = { item_frequency = 0.2 }  # set it once you have seen a first run",
    ]
