# SPDX-License-Identifier: MIT
"""Publish rules only: association rules with support and confidence, so that they single out no few people.

Against an adversary who derives unpublished supports from published rules: a rule of 80 people at 98.7 % has one
exception, and two rules together may describe one person though each describes a crowd. What leaks: the supports of the
published rules and of their left sides. Atzori, Bonchi, Giannotti, Pedreschi, *k-anonymous patterns* (2005).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Literal

from pydantic import Field

from sfumato.baskets import Baskets
from sfumato.data.items.rule_set_files import RuleCount
from sfumato.details import PatternDetails
from sfumato.mine.baskets.association_rules import find_association_rules
from sfumato.mine.baskets.itemsets import Itemsets
from sfumato.patterns import Patterns
from sfumato.protect.patterns.publish_patterns import (
    LEAST_SUPPORT,
    PublishPatterns,
    claim_least_support,
    claim_safe_patterns,
    claim_true_supports,
)
from sfumato.protect.patterns.repaired_supports import RepairedSupports
from sfumato.protect.patterns.rule_changes import compute_confidence, find_rule_channels, list_rule_changes
from sfumato.public.thresholds import MinSupport
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.rules import Rules


class PublishRules(RepairedSupports):
    """Publish association rules with support and confidence, repaired so that they disclose no small group.

    Guarantee: no pattern ("these items and none of those") with a support above 0 and below k follows from the
    published rules, by the reasoning of `publish_patterns`; with `repair = "none"` this is not promised. Every rule has
    at least the minimum support and confidence, by its published figures. Against: anyone who derives unpublished
    supports from published rules. Limits: the frequent itemsets are repaired as if all of them were published, and the
    rules are computed from those alone; on the file, the supports behind the rules (of both sides, and of left sides)
    are checked; those of `publish_patterns`; with `additive`, supports and confidences are not the true ones, and rules
    near the thresholds may be withheld or invented; `none` repairs nothing and makes no such claim. Papers: Atzori,
    Bonchi, Giannotti, Pedreschi 2005 and 2008; Agrawal, Imieliński, Swami 1993.
    """

    shape: ClassVar[str] = "baskets"
    gives: ClassVar[str] = "patterns"
    utility = "baskets"
    section = "patterns"
    iso_20889: ClassVar[str] = "aggregation"
    loss_meaning: ClassVar[str] = "Mean error of the confidences; a rule that is not published counts as 100 %."
    kept_meaning: ClassVar[tuple[str, str]] = ("of the confidences kept", "mean over the rules of the originals")
    file_claims: ClassVar[frozenset[str]] = frozenset(
        {"least_support", "inferable_patterns", "derivable_patterns", "weak_rules"}
    )
    hides_parameters: ClassVar[bool] = True
    public_fields: ClassVar[tuple[str, ...]] = ("k", "min_confidence", "consequent_length", "repair", "seconds")
    # A share next to the count in the claim would disclose the number of baskets, and so what was added.
    private_fields: ClassVar[tuple[str, ...]] = ("min_support",)

    method: Literal["publish_rules"] = "publish_rules"
    k: int = Field(ge=2, strict=True)
    """The smallest number of people that a pattern may describe, if it describes any; at least 2. With
    `repair = "none"` nothing is promised about it: patterns of fewer people may follow from what is published."""
    min_support: MinSupport
    """The support from which a rule is published: a number of baskets, or a share of them; at least k."""
    min_confidence: float = Field(default=0.5, gt=0, le=1)
    """The confidence from which a rule is published."""
    consequent_length: int | None = Field(default=None, ge=1, strict=True)
    """The most items on the right side; by default any number."""
    repair: Literal["additive", "suppressive", "none"] = "additive"
    """`additive` raises supports as if baskets were added, so that they are upper bounds and confidences are not the
    true ones; `suppressive` withholds itemsets and their rules; `none` changes nothing, and promises nothing about
    k."""
    seconds: float = Field(default=10.0, gt=0)
    """With seven to ten items: how long to search for inferences from several unknown supports at once."""

    def protect(self, data: Baskets, randomness: Randomness | None = None) -> Release:
        """Mine, repair the itemsets, and derive the rules from what they say then."""
        itemsets = PublishPatterns(k=self.k, min_support=self.min_support, repair=self.repair, seconds=self.seconds)
        itemset_release = itemsets.protect(data)
        least = itemset_release.details["min_support"]
        true = PublishPatterns(k=self.k, min_support=self.min_support, repair="none").protect(data).data
        true_rules, published_rules = self._derive(true), self._derive(itemset_release.data)
        losses = compare_rules(true_rules, published_rules)
        mining = itemset_release.details.get_family(PatternDetails) or PatternDetails()
        details = replace(
            mining,
            rule_channels=None if mining.channels is None else find_rule_channels(mining.channels, true_rules),
            rule_changes=list_rule_changes(true_rules, published_rules, true, itemset_release.data),
        )
        return Release(
            data=published_rules,
            method=self,
            claims=self._list_claims(published_rules, least),
            losses={**losses, "added_baskets": published_rules.baskets - len(data)},
            details=details,
        )

    def _derive(self, patterns: Patterns) -> Rules:
        return derive_rules(patterns, self.min_confidence, self.consequent_length)

    def _list_claims(self, published_rules: Rules, least: int) -> tuple[Claim, ...]:
        safe = () if self.repair == "none" else (claim_safe_patterns(published_rules, self.k),)
        true = () if self.repair == "additive" else (claim_true_supports(),)
        many = claim_least_support(least, LEAST_SUPPORT[self.repair])
        confident = claim_confident_rules(self.min_confidence, is_raised=self.repair == "additive")
        return (many, confident, *safe, *true)


def claim_confident_rules(min_confidence: float, *, is_raised: bool) -> Claim:
    """Claim that no rule is weaker than asked for, by supports that may have been raised."""
    by_supports = " by its published supports, which were raised where small groups had to be hidden" * is_raised
    return Claim(
        property="weak_rules",
        threshold=0,
        bound="exactly",
        measure="weak_rules",
        arguments={"min_confidence": min_confidence},
        meaning=f"Every published rule has a confidence of at least {min_confidence}{by_supports}.",
    )


def derive_rules(patterns: Patterns, min_confidence: float, consequent_length: int | None = None) -> Rules:
    """The rules among patterns that come with all of their subsets."""
    # Kernels take no read-only arrays.
    arrays = (patterns.offsets.copy(), patterns.codes.copy(), patterns.supports.copy())
    itemsets = Itemsets(patterns.items, *arrays, patterns.baskets)
    rules = find_association_rules(itemsets, min_confidence, consequent_length=consequent_length)
    sets = [tuple(items) for items, _ in patterns.to_lists()]
    supports = patterns.supports.tolist()
    sides = zip(rules.wholes.tolist(), rules.antecedents.tolist(), rules.consequents.tolist(), strict=True)
    counts = [RuleCount(sets[left], sets[right], supports[whole], supports[left]) for whole, left, right in sides]
    return Rules.of_counts(counts, patterns.baskets)


def compare_rules(true: Rules, published_rules: Rules) -> dict[str, Number]:
    """The analyst's loss: rules that are withheld, that appeared, and whose confidence changed."""
    true_shares = {(rule.left, rule.right): compute_confidence(rule) for rule in true.list_counts()}
    published_shares = {(rule.left, rule.right): compute_confidence(rule) for rule in published_rules.list_counts()}
    errors = [
        abs(published_shares[rule] - share) if rule in published_shares else Fraction(1)
        for rule, share in true_shares.items()
    ]
    return {
        "loss": round(float(sum(errors, Fraction(0)) / len(errors)), 12) if errors else 0.0,
        "withheld_rules": sum(rule not in published_shares for rule in true_shares),
        "invented_rules": sum(rule not in true_shares for rule in published_shares),
        "changed_rules": sum(
            rule in published_shares and published_shares[rule] != share for rule, share in true_shares.items()
        ),
    }
