# SPDX-License-Identifier: MIT
"""Hide rules: change as few baskets as needed so that certain rules can no longer be mined.

Against an analyst, or a competitor, who mines the published baskets at the thresholds or above them. What leaks: that
something was hidden, if many confidences lie just below the threshold; and the rules themselves to anyone who mines far
enough below it. Dasseni, Verykios, Elmagarmid, Bertino 2001; Saygin, Verykios, Clifton 2001.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field, field_validator, model_validator

from sfumato.baskets import Baskets, Item, Items
from sfumato.data.items.rule_files import ARROW, parse_itemset, parse_rule, read_rule_file
from sfumato.data.reading.near_files import ask_for_file
from sfumato.details import HidingDetails
from sfumato.errors import DataError, PolicyError, count_noun
from sfumato.protect.baskets.basket_columns import CHANGED_ITEMS, BasketDraft, ItemChange, compute_change_losses
from sfumato.protect.baskets.decoys import choose_decoys, refuse_bare_unknowns
from sfumato.protect.baskets.hiding_claims import (
    claim_all_baskets,
    claim_no_foreign_items,
    claim_no_untrue_items,
    claim_nothing_shows,
)
from sfumato.protect.baskets.isolated_items import lower_where_safe
from sfumato.protect.baskets.itemset_strategies import lower_commonest, lower_greedily, lower_in_turn
from sfumato.protect.baskets.joint_hiding import hide_jointly
from sfumato.protect.baskets.rule_strategies import lower_right, lower_whole, raise_left
from sfumato.protect.baskets.secret_rules import (
    HidingThresholds,
    NamedRule,
    SecretRule,
    name_rule,
    number_secret_rules,
)
from sfumato.protect.method import HeadlineCount, Method
from sfumato.public.thresholds import MiningThresholds, MinSupport, compute_least_count, parse_exact_confidence
from sfumato.public.unknown_items import MARK, mark_unknowns
from sfumato.randomness import Randomness
from sfumato.release import Claim, Release
from sfumato.runtime.progress import report_progress

HidingStep = Callable[[BasketDraft, SecretRule, HidingThresholds], None]

_IN_TURN: Mapping[str, HidingStep] = {
    "1a": raise_left,
    "1b": lower_right,
    "2a": lower_whole,
    "2b": lower_commonest,
    "2c": lower_in_turn,
    "cyclic": lower_in_turn,
    "greedy": lower_greedily,
    "isolated": lower_where_safe,
    "block": lower_right,
}


class SecretSets(NamedTuple):
    """Everything to hide."""

    rules: tuple[NamedRule, ...]
    itemsets: tuple[Items, ...]


class HideRules(Method):
    """Change baskets so that none of the secret rules and itemsets reaches the thresholds.

    Guarantee: in the published baskets every secret rule has support or confidence strictly below its threshold, and
    every secret itemset has support below it, in integers and exact fractions. No new item appears, and every basket
    keeps its position. With `block`, the same holds for what is certain, and nothing published is false. Against:
    anyone who mines the published baskets at the thresholds or above them. Limits: anyone who mines below the
    thresholds still finds the rules, and may infer from many confidences just below them that something was hidden;
    other rules are lost or appear, which the losses count; `1a` may be impossible, and `exact` is optimal only among
    ways that remove items of the rules. Papers: Atallah and others 1999; Dasseni and others 2001; Saygin, Verykios,
    Clifton 2001; Verykios and others 2004; Sun and Yu 2005; Gkoulalas-Divanis and Verykios 2006.
    """

    shape: ClassVar[str] = "baskets"
    gives: ClassVar[str] = "baskets"
    utility = "baskets"
    section = "hiding"
    headline_count: ClassVar[HeadlineCount | None] = CHANGED_ITEMS
    iso_20889: ClassVar[str] = "local suppression"
    optimum_of: ClassVar[str] = "among solutions that only remove items of the rules"
    loss_meaning: ClassVar[str] = "Changed items, as a share of all items in the original baskets."
    kept_meaning: ClassVar[tuple[str, str]] = ("of the items unchanged", "of all items in the original baskets")
    file_claims: ClassVar[frozenset[str]] = frozenset({"baskets"})
    hides_parameters: ClassVar[bool] = True
    public_fields: ClassVar[tuple[str, ...]] = ("min_support", "min_confidence", "strategy", "seconds")
    private_fields: ClassVar[tuple[str, ...]] = ("rules", "itemsets", "file")
    file_fields: ClassVar[tuple[str, ...]] = ("file",)

    method: Literal["hide_rules"] = "hide_rules"
    rules: tuple[tuple[tuple[Item, ...], tuple[Item, ...]], ...] = Field(default=(), repr=False)
    """The rules to hide: pairs of left and right side, or text such as `bread, butter ==> milk`."""
    itemsets: tuple[tuple[Item, ...], ...] = Field(default=(), repr=False)
    """Sets of items that must not be frequent, as tuples or as text such as `bread, milk`."""
    file: str | None = Field(default=None, repr=False)
    """A file that lists more of both, one per line."""
    min_support: MinSupport
    """The support from which a rule shows: a number of baskets, or a share of them."""
    min_confidence: float | None = Field(default=None, gt=0, le=1)
    """The confidence from which a rule shows; required for rules, not for itemsets."""
    strategy: Literal["joint", "1a", "1b", "2a", "2b", "2c", "cyclic", "greedy", "isolated", "block", "exact"] = "joint"
    """`joint` considers all rules together; `exact` loses the fewest itemsets; `block` marks items as unknown; `1a`,
    `1b`, `2a`, `2b`, `2c`, `cyclic` and `greedy` are the published ones, rule by rule; `isolated` removes items where
    no other frequent itemset loses support, as long as there are such baskets."""
    seconds: float = Field(default=60.0, gt=0)
    """How long `exact` may search for something better."""

    @model_validator(mode="before")
    @classmethod
    def _spell_out(cls, raw_fields: Any) -> Any:
        """A single rule or itemset as text is a list of one; any other text for rules is the file that lists them."""
        if isinstance(raw_fields, Mapping) and isinstance(raw_fields.get("itemsets"), str):
            raw_fields = {**raw_fields, "itemsets": (raw_fields["itemsets"],)}
        if isinstance(raw_fields, Mapping) and isinstance(rules := raw_fields.get("rules"), str | Path):
            if ARROW in str(rules):
                return {**raw_fields, "rules": (str(rules),)}
            if raw_fields.get("file") is not None:
                raise ValueError("rules and file both name a file; give only one")
            return {**{name: value for name, value in raw_fields.items() if name != "rules"}, "file": str(rules)}
        return raw_fields

    @field_validator("rules", "itemsets", mode="before")
    @classmethod
    def _parse_rules(cls, raw_entries: Any, info: Any) -> Any:
        if not isinstance(raw_entries, list | tuple):
            return raw_entries
        parse: Callable[[str], Any] = parse_rule if info.field_name == "rules" else parse_itemset
        try:
            return tuple(parse(text) if isinstance(text, str) else text for text in raw_entries)
        except PolicyError as problem:
            raise ValueError(str(problem)) from None

    @model_validator(mode="after")
    def _check_something_to_hide(self) -> HideRules:
        if not self.rules and not self.itemsets and self.file is None:
            raise ValueError("there is nothing to hide: name rules, itemsets, or a file that lists them")
        if self.rules and self.min_confidence is None:
            raise ValueError("rules have a support and a confidence: give min_confidence, too")
        return self

    @property
    def must_be_alone(self) -> bool:
        """Items can be hidden in addition to rules, but not among items that were made unknown."""
        return self.strategy == "block"

    def explain_misfit(self, earlier: Method) -> str | None:
        """To change a basket may raise the support or the confidence of what another method lowered."""
        return "it could undo what the other promises; hide rules first"

    def describe(self) -> dict[str, Any]:
        """The method without what it hides: naming it in a certificate would disclose it."""
        description = self.model_dump(mode="json", exclude={"rules", "itemsets", "file"})
        counts = {"rules": len(self.rules), "itemsets": len(self.itemsets)}
        return description | counts | {"more_from_a_file": self.file is not None}

    @classmethod
    def find_mark(cls, parameters: Mapping[str, Any]) -> str:
        """Unknown items end in a mark."""
        return MARK if parameters.get("strategy") == "block" else ""

    @classmethod
    def find_thresholds(cls, parameters: Mapping[str, Any]) -> MiningThresholds | None:
        """Those of the secret rules and itemsets."""
        support = parameters.get("min_support")
        return None if support is None else MiningThresholds(support, parameters.get("min_confidence"))

    def protect(self, data: Baskets, randomness: Randomness | None = None) -> Release:
        """Find the baskets of each rule, and change some of them until none shows."""
        if not len(data):
            raise DataError("there are no baskets to hide anything in")
        secret = number_secret_rules(data, *self.list_secrets())
        thresholds = self.compute_thresholds(len(data))
        draft = BasketDraft.of(data, {position for rule in secret for position in rule.whole})
        draft_rules = tuple(rule.renumber_rule(draft.column) for rule in secret)
        details = self.hide(draft, draft_rules, thresholds)
        certain = draft.publish()
        published_baskets, changes = self._build_published(draft, certain, draft_rules)
        return Release(
            data=published_baskets,
            method=self,
            claims=self.list_claims(data, thresholds),
            losses={
                **compute_change_losses(data, certain, changes),
                **{name: details[name] for name in ("lost_itemsets",) if name in details},
            },
            details=HidingDetails(
                rows=np.arange(len(data), dtype=np.int64),
                sensitive=tuple(name_rule(data, rule) for rule in secret),
                changes=changes,
                **{"pruned_rules": 0, **details},
            ),
        )

    def compute_thresholds(self, rows: int) -> HidingThresholds:
        """The thresholds among this many baskets."""
        least = compute_least_count(self.min_support, rows)
        return HidingThresholds(least, parse_exact_confidence(self.min_confidence or 1.0))

    def list_secrets(self) -> SecretSets:
        """Everything to hide, including the file's."""
        if self.file is None:
            return SecretSets(self.rules, self.itemsets)
        if not Path(self.file).exists():
            raise DataError(
                f"{self.file}: the file of rules does not exist{ask_for_file(Path(self.file))}; a rule itself is "
                f"written as a,b {ARROW} c"
            )
        rule_file = read_rule_file(self.file)
        if rule_file.rules and self.min_confidence is None:
            raise PolicyError(
                f"{self.file}: {count_noun(len(rule_file.rules), 'line is a rule', 'lines are rules')}; rules need a "
                "confidence: give min_confidence"
            )
        return SecretSets((*self.rules, *rule_file.rules), (*self.itemsets, *rule_file.itemsets))

    def hide(self, draft: BasketDraft, rules: tuple[SecretRule, ...], thresholds: HidingThresholds) -> dict[str, Any]:
        """Change the draft until none of the rules shows; return a summary of the work."""
        details = self._change(draft, rules, thresholds)
        assert not any(draft.shows(rule, thresholds) for rule in rules)
        return details

    def _change(
        self, draft: BasketDraft, rules: tuple[SecretRule, ...], thresholds: HidingThresholds
    ) -> dict[str, Any]:
        """Change the draft by the strategy."""
        if self.strategy == "joint":
            return {"scans": hide_jointly(draft, rules, thresholds)}
        if self.strategy == "exact":
            from sfumato.protect.baskets.best_hiding import hide_exactly

            return hide_exactly(draft, rules, thresholds, self.seconds)
        # As published, 2.b and 2.c handle the largest itemset first; ties go to the most common one.
        sorted_rules = sorted(rules, key=lambda rule: (-len(rule.whole), -draft.count(rule.whole)))
        in_order = tuple(sorted_rules) if self.strategy in ("2b", "2c") else rules
        return {"scans": hide_in_turn(draft, in_order, thresholds, _IN_TURN[self.strategy])}

    def _build_published(
        self, draft: BasketDraft, certain: Baskets, rules: tuple[SecretRule, ...]
    ) -> tuple[Baskets, list[ItemChange]]:
        """The published baskets, and every change in them."""
        if self.strategy != "block":
            return certain, draft.list_changes()
        decoy_mask = choose_decoys(draft, rules)
        refuse_bare_unknowns(draft, decoy_mask)
        columns, rows = np.nonzero(decoy_mask | (draft.original_mask & ~draft.held_mask))
        order = np.lexsort((columns, rows))
        items = [draft.data.items[draft.places[column]] for column in columns[order].tolist()]
        unknown = rows[order].tolist()
        changes: list[ItemChange] = [(row, item, "unknown") for row, item in zip(unknown, items, strict=True)]
        return mark_unknowns(certain, unknown, items), changes

    def list_claims(self, data: Sized, thresholds: HidingThresholds) -> tuple[Claim, ...]:
        """What is promised about the published baskets."""
        unknown_mark = MARK if self.strategy == "block" else ""
        return (
            claim_nothing_shows(thresholds.least, self.min_confidence, may_hide_itemsets=True),
            *((claim_no_untrue_items(unknown_mark),) if unknown_mark else ()),
            claim_no_foreign_items(unknown_mark),
            claim_all_baskets(data),
        )


def hide_in_turn(
    draft: BasketDraft, rules: tuple[SecretRule, ...], thresholds: HidingThresholds, step: HidingStep
) -> int:
    """Hide one rule after another, repeating those that show again; return the scans as Wang et al. (2004) count them.

    One scan for each size of itemset up to the largest rule, and one for each search for its baskets.
    """
    scans = max(len(rule.whole) for rule in rules)
    shown_rules = [rule for rule in rules if draft.shows(rule, thresholds)]
    while shown_rules:
        for done_count, rule in enumerate(shown_rules):
            report_progress("hiding rules", done_count, len(shown_rules))
            if draft.shows(rule, thresholds):
                step(draft, rule, thresholds)
                scans += 1
        shown_rules = [rule for rule in rules if draft.shows(rule, thresholds)]
    return scans
