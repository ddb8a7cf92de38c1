# SPDX-License-Identifier: MIT
"""Hide rules or items in baskets that stay in their file: decided on the few that matter, written some at a time.

A rule shows by how many baskets hold its items, so only baskets with one of these items are changed or counted; next to
them only frequent items matter, since a strategy spares frequent itemsets. For an item, the left sides are counted in
all baskets, but only items that are frequent together with it can be on one. The strategies are those of memory, on
baskets in the same order, and so are their decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.baskets import Items
from sfumato.details import HidingDetails
from sfumato.engine.stored_baskets import CodedBatch, StoredBaskets, TakenBaskets, Weight
from sfumato.protect.baskets.basket_columns import BasketDraft, summarize_changes
from sfumato.protect.baskets.hide_items import HideItems
from sfumato.protect.baskets.hide_rules import HideRules
from sfumato.protect.baskets.item_cover import hide_completely
from sfumato.protect.baskets.secret_rules import index_item_names, name_rule, number_secret_rules
from sfumato.release import Release
from sfumato.runtime.progress import report_progress

_STRATEGIES = {
    "hide_rules": ("joint", "1b", "2a", "2b", "2c", "cyclic", "greedy", "isolated"),
    "hide_items": ("complete",),
}
"""Those that only remove items, and look at no other baskets."""
_CURE = "raise min_support"


@dataclass(frozen=True, eq=False, repr=False)
class StoredHidingPlan:
    """What is removed from which baskets, decided before any is written."""

    original: StoredBaskets
    rows: Ints
    """The baskets that lose an item, ascending; one that loses several is listed as often."""
    codes: Ints
    """The item that each loses, ascending within a basket."""
    smallest: int
    """The fewest items of a published basket."""
    release: Release
    """What is claimed and lost; its data is what was read."""

    @cached_property
    def counts(self) -> Ints:
        """How many published baskets hold each item."""
        lost_counts: Ints = np.bincount(self.codes, minlength=len(self.original.items))
        return self.original.counts - lost_counts

    def publish(self) -> Iterator[CodedBatch]:
        """The published baskets in their order, some at a time, under the vocabulary of the originals."""
        width = len(self.original.items)
        lost_cells = self.rows * width + self.codes
        for batch in self.original.iterate("writing"):
            count = len(batch.offsets) - 1
            begin, end = np.searchsorted(self.rows, (batch.first, batch.first + count))
            if begin == end:
                yield batch
                continue
            rows = np.repeat(np.arange(batch.first, batch.first + count), batch.sizes)
            kept_mask = ~np.isin(rows * width + batch.codes, lost_cells[begin:end])
            sizes = np.bincount(rows[kept_mask] - batch.first, minlength=count)
            yield CodedBatch(batch.first, np.concatenate(([0], np.cumsum(sizes))), batch.codes[kept_mask])


def explain_unstored_hiding(method: Any) -> str | None:
    """What of a method does not run on stored baskets; None if it runs."""
    strategies = _STRATEGIES.get(method.method)
    if strategies is None:
        return str(method.method)
    return None if method.strategy in strategies else f"{method.method} with strategy = {method.strategy}"


def describe_stored_hiding() -> str:
    """What runs, in words."""
    return " or ".join(f"{name} with the strategy {', '.join(strategies)}" for name, strategies in _STRATEGIES.items())


def plan_stored_hiding(method: HideRules | HideItems, baskets: StoredBaskets) -> StoredHidingPlan:
    """Decide what is removed; nothing is drawn."""
    return _plan_rules(method, baskets) if isinstance(method, HideRules) else _plan_items(method, baskets)


def _plan_rules(method: HideRules, baskets: StoredBaskets) -> StoredHidingPlan:
    secret = number_secret_rules(baskets, *method.list_secrets())
    thresholds = method.compute_thresholds(len(baskets))
    secret_items = _flag_places(baskets, [position for rule in secret for position in rule.whole])
    # A draft has each named column twice, and each rule twice more while it is hidden.
    weight = Weight(60 + 2 * int(secret_items.sum()) + 2 * len(secret), 64)
    taken_baskets = baskets.take(
        secret_items | (baskets.counts >= thresholds.least), secret_items, "hiding rules", _CURE, weight
    )
    number = _renumber(baskets.items, taken_baskets.baskets.items)
    draft = BasketDraft.of(
        taken_baskets.baskets,
        [number[position] for position in np.flatnonzero(secret_items).tolist()],
        taken_baskets.sizes,
    )
    draft_rules = tuple(rule.renumber_rule(number).renumber_rule(draft.column) for rule in secret)
    details = method.hide(draft, draft_rules, thresholds)
    details = {"pruned": 0, **details, "sensitive": tuple(name_rule(baskets, rule) for rule in secret)}
    return _build_plan(
        baskets, taken_baskets, draft, Release(baskets, method, method.list_claims(baskets, thresholds), {}), details
    )


def _plan_items(method: HideItems, baskets: StoredBaskets) -> StoredHidingPlan:
    item_places = index_item_names(baskets, method.items, "the items to hide")
    hidden_items = list(dict.fromkeys(item_places[item] for item in method.items))
    thresholds = method.compute_thresholds(len(baskets))
    companion_mask = _flag_companions(baskets, hidden_items, thresholds.least)
    # Bits of the items on left sides, and whole numbers for each occurrence.
    weight = Weight(60 + 2 * len(hidden_items) + int(companion_mask.sum()) / 8, 64)
    taken_baskets = baskets.take(companion_mask, companion_mask, "hiding items", _CURE, weight)
    number = _renumber(baskets.items, taken_baskets.baskets.items)
    draft = BasketDraft.of(taken_baskets.baskets, [number[position] for position in hidden_items], taken_baskets.sizes)
    scans = hide_completely(draft, [draft.column[number[position]] for position in hidden_items], thresholds)
    details = {"scans": scans, "sensitive": tuple(baskets.items[position] for position in hidden_items)}
    release = Release(baskets, method, method.list_claims(baskets, thresholds), {"exposed_rules": 0})
    return _build_plan(baskets, taken_baskets, draft, release, details)


def _build_plan(
    baskets: StoredBaskets,
    taken_baskets: TakenBaskets,
    draft: BasketDraft,
    release: Release,
    details: Mapping[str, Any],
) -> StoredHidingPlan:
    """What the draft says about all baskets."""
    places = {item: position for position, item in enumerate(baskets.items)}
    changes = [(int(taken_baskets.rows[row]), item, word) for row, item, word in draft.list_changes()]
    assert all(word == "removed" for _, _, word in changes), "the strategies only remove"
    losses = {**summarize_changes(changes, baskets.entries, len(changes)), **release.losses}
    return StoredHidingPlan(
        original=baskets,
        rows=np.array([row for row, _, _ in changes], dtype=np.int64),
        codes=np.array([places[item] for _, item, _ in changes], dtype=np.int64),
        smallest=min(baskets.smallest, int(draft.sizes.min(initial=baskets.smallest))),
        release=Release(baskets, release.method, release.claims, losses, HidingDetails(changes=changes, **details)),
    )


def _flag_places(baskets: StoredBaskets, places: list[int]) -> Flags:
    flags = np.zeros(len(baskets.items), dtype=np.bool_)
    flags[places] = True
    return flags


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


def _renumber(items: Items, taken_items: Items) -> dict[int, int]:
    """The index of each item that was taken, by its index among all."""
    positions = {item: number for number, item in enumerate(items)}
    return {positions[item]: number for number, item in enumerate(taken_items)}
