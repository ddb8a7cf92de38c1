# SPDX-License-Identifier: MIT
"""Hide items: change baskets so that certain items cannot be inferred from others.

Against an analyst who mines rules at the thresholds or above and looks for what predicts an item. You only name the
items; no rule needs to be mined first. What leaks: the item is still visible in most baskets that held it; what is
hidden is that others predict it. Wang, Lee, Billis, Jafari 2004.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.baskets import Baskets, Item
from sfumato.details import HidingDetails
from sfumato.errors import DataError
from sfumato.protect.baskets.basket_columns import CHANGED_ITEMS, BasketDraft, ItemOccurrences, compute_change_losses
from sfumato.protect.baskets.hide_rules import HideRules
from sfumato.protect.baskets.hiding_claims import (
    claim_all_baskets,
    claim_no_foreign_items,
    claim_nothing_shows,
    claim_only_named_items_removed,
)
from sfumato.protect.baskets.item_cover import hide_completely
from sfumato.protect.baskets.secret_rules import HidingThresholds, index_item_names
from sfumato.protect.method import HeadlineCount, Method
from sfumato.public.thresholds import MiningThresholds, MinSupport, compute_least_count, parse_exact_confidence
from sfumato.randomness import Randomness
from sfumato.release import Claim, Release


class HideItems(Method):
    """Change baskets so that no rule has one of the items on its right side.

    Guarantee: in the published baskets no rule with a hidden item on the right, whatever is on the left, has both
    support and confidence at or above the thresholds (in exact fractions). Items are only removed, and only the named
    ones; every basket keeps its position. With `islf` and `dsrf` rules may be left, and items are also added. Against:
    anyone who mines the published baskets at the thresholds or above them. Limits: the rules that the literal `islf`
    and `dsrf` leave are counted as `exposed_rules`, a loss, and nothing is claimed about them; the item itself stays
    visible, and an item that most baskets hold is guessed without any rule; anyone who mines below the thresholds still
    finds rules; `exact` has the fewest changes among those that remove the items. Papers: Wang, Lee, Billis, Jafari
    2004.
    """

    shape: ClassVar[str] = "baskets"
    gives: ClassVar[str] = "baskets"
    utility = "baskets"
    section = "hiding"
    headline_count: ClassVar[HeadlineCount | None] = CHANGED_ITEMS
    iso_20889: ClassVar[str] = "local suppression; islf and dsrf also add items"  # no technique adds but by chance
    optimum_of: ClassVar[str] = "among solutions that only remove the named items"
    loss_meaning: ClassVar[str] = "Changed items, as a share of all items in the original baskets."
    kept_meaning: ClassVar[tuple[str, str]] = ("of the items unchanged", "of all items in the original baskets")
    file_claims: ClassVar[frozenset[str]] = frozenset({"baskets"})
    hides_parameters: ClassVar[bool] = True
    public_fields: ClassVar[tuple[str, ...]] = ("min_support", "min_confidence", "strategy", "seconds")
    private_fields: ClassVar[tuple[str, ...]] = ("items",)

    method: Literal["hide_items"] = "hide_items"
    items: tuple[Item, ...] = Field(min_length=1, repr=False)
    """The items that must not be inferred; in this order for `islf` and `dsrf`."""
    min_support: MinSupport
    """The support from which a rule shows: a number of baskets, or a share of them."""
    min_confidence: float = Field(gt=0, le=1)
    """The confidence from which a rule shows."""
    strategy: Literal["complete", "islf", "dsrf", "exact"] = "complete"
    """`complete` covers every left side; `exact` does so with the fewest changes; the others are as published, for
    study."""
    seconds: float = Field(default=60.0, gt=0)
    """How long `exact` may search for something better."""

    @property
    def maturity(self) -> str:  # type: ignore[override]  # depends on the parameters
        """The published algorithms are known to leave rules."""
        return "for study" if self.strategy in ("islf", "dsrf") else "stable"

    @property
    def must_be_alone(self) -> bool:
        """The published algorithms also add items, which could bring back what another method hid."""
        return self.strategy in ("islf", "dsrf")

    def explain_misfit(self, earlier: Method) -> str | None:
        """To remove an item lowers every support, and so the confidence of rules that do not have it on the left."""
        if not isinstance(earlier, HideRules):
            return super().explain_misfit(earlier)
        lefts = {str(item) for antecedent, _ in earlier.list_secrets().rules for item in antecedent}
        if count := len({str(item) for item in self.items} & lefts):
            items = "1 item that it removes is" if count == 1 else f"{count} items that it removes are"
            return (
                f"{items} on the left of secret rules, whose confidence could rise again; hide "
                "only items on the right, or remove one of the methods"
            )
        return None

    def describe(self) -> dict[str, Any]:
        """The method without the items: naming them in a certificate would disclose what to look for."""
        return self.model_dump(mode="json", exclude={"items"}) | {"items": len(self.items)}

    @classmethod
    def find_thresholds(cls, parameters: Mapping[str, Any]) -> MiningThresholds | None:
        """Those of the rules about the items."""
        support = parameters.get("min_support")
        return None if support is None else MiningThresholds(support, parameters.get("min_confidence"))

    def protect(self, data: Baskets, randomness: Randomness | None = None) -> Release:
        """Find what predicts the items, and change baskets until nothing does."""
        if not len(data):
            raise DataError("there are no baskets to hide anything in")
        item_places = index_item_names(data, self.items, "the items to hide")
        hidden_items = list(dict.fromkeys(item_places[item] for item in self.items))
        thresholds = self.compute_thresholds(len(data))
        draft, details = self._hide_items(data, hidden_items, thresholds)
        changes, published_baskets = draft.list_changes(), draft.publish()
        return Release(
            data=published_baskets,
            method=self,
            claims=self.list_claims(data, thresholds, is_hidden=not details.get("visible_rules")),
            losses={
                **compute_change_losses(data, published_baskets, changes),
                "exposed_rules": details.get("visible_rules", 0),
            },
            details=HidingDetails(
                rows=np.arange(len(data), dtype=np.int64),
                sensitive=tuple(data.items[position] for position in hidden_items),
                changes=changes,
                **details,
            ),
        )

    def compute_thresholds(self, rows: int) -> HidingThresholds:
        """The thresholds among this many baskets."""
        least = compute_least_count(self.min_support, rows)
        return HidingThresholds(least, parse_exact_confidence(self.min_confidence))

    def list_claims(self, data: Sized, thresholds: HidingThresholds, *, is_hidden: bool = True) -> tuple[Claim, ...]:
        """What is promised about the published baskets."""
        # A threshold computed by the method would guarantee nothing, and disclose how many secrets show.
        hiding_claims = (claim_nothing_shows(thresholds.least, self.min_confidence),) if is_hidden else ()
        # The published algorithms also add items.
        change_claims = () if self.strategy in ("islf", "dsrf") else (claim_only_named_items_removed(),)
        return (*hiding_claims, *change_claims, claim_no_foreign_items(), claim_all_baskets(data))

    def _hide_items(
        self, data: Baskets, hidden_items: Sequence[int], thresholds: HidingThresholds
    ) -> tuple[BasketDraft, dict[str, Any]]:
        """The changed baskets, and a summary of the strategy's work."""
        if self.strategy in ("islf", "dsrf"):
            return _hide_as_published(data, hidden_items, thresholds, self.strategy == "islf")
        draft = BasketDraft.of(data, hidden_items)
        columns = [draft.column[position] for position in hidden_items]
        if self.strategy == "exact":
            from sfumato.protect.baskets.best_item_hiding import hide_items_exactly

            return draft, hide_items_exactly(draft, columns, thresholds, self.seconds)
        return draft, {"scans": hide_completely(draft, columns, thresholds)}


def _hide_as_published(
    data: Baskets, hidden_items: Sequence[int], thresholds: HidingThresholds, left_first: bool
) -> tuple[BasketDraft, dict[str, Any]]:
    """ISLF or DSRF, with Table 8's counts, and how many rules about the items are left."""
    from sfumato.protect.baskets.islf import hide_pairs
    from sfumato.protect.baskets.item_rules import list_every_rule_about, list_rules_about, select_shown_rules

    frequent = np.flatnonzero(np.bincount(data.codes, minlength=len(data.items)) >= thresholds.least).tolist()
    draft = BasketDraft.of(data, {*hidden_items, *frequent})
    work = hide_pairs(draft, [draft.column[position] for position in hidden_items], thresholds, left_first)
    rules = list_every_rule_about(ItemOccurrences.of(data), hidden_items, thresholds)
    # Large baskets were filled with the same items, so left sides are without number: closed ones stand for all.
    occurrences = draft.list_occurrences()
    rules_left = select_shown_rules(occurrences, rules, thresholds)
    rule_counts = {position: len(list_rules_about(occurrences, position, thresholds)) for position in hidden_items}
    handled_rules = {rule.renumber_rule(dict(enumerate(draft.places))) for rule in work.handled_rules}
    return draft, {
        "scans": work.scans,
        "pruned_rules": len(rules - rules_left - handled_rules),
        "visible_rules": sum(rule_counts.values()),
        "impossible": sorted((data.items[position] for position, count in rule_counts.items() if count), key=str),
    }
