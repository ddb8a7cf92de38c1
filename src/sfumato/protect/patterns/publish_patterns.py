# SPDX-License-Identifier: MIT
"""Publish patterns only: the frequent itemsets and their supports, so that none of them singles out a few people.

Against an adversary who derives unpublished supports from published ones: the difference of two supports is the number
of baskets with some items and without others, which may be one person. What leaks: the supports, which are those of
many people; and, if supports are raised, that some numbers just above k may be invented. Atzori, Bonchi, Giannotti,
Pedreschi, *k-anonymous patterns* (2005).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import monotonic
from typing import ClassVar, Literal

from pydantic import Field

from sfumato.baskets import Baskets
from sfumato.details import PatternDetails
from sfumato.errors import DataError, ImpossibleRelease, PolicyError, count_noun
from sfumato.mine.baskets.itemsets import find_itemsets
from sfumato.mine.patterns.derivability import EXACT_ITEMS
from sfumato.mine.patterns.inference_channels import build_channel_frame
from sfumato.mine.patterns.known_sets import KnownSets
from sfumato.patterns import Patterns
from sfumato.protect.claims import spell_few
from sfumato.protect.patterns.additive_repair import raise_supports
from sfumato.protect.patterns.repaired_supports import RepairedSupports
from sfumato.protect.patterns.suppressive_repair import withhold_itemsets
from sfumato.public.thresholds import MinSupport, compute_least_count
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.runtime.progress import report_progress


class PublishPatterns(RepairedSupports):
    """Publish the frequent itemsets with their supports, repaired so that they disclose no small group.

    Guarantee: no pattern ("these items and none of those", and two such together) with a support above 0 and below k
    follows from the published supports and the number of baskets: neither by inclusion-exclusion among published sets,
    nor by bounds on a set whose proper subsets are known, nor, if at most six items are published, by any reasoning
    about single patterns at all. With `repair = "none"` nothing of this is promised. Against: anyone who derives
    unpublished supports from published ones. Limits: the claim is `inferable_patterns` with at most six items, and
    `derivable_patterns` with more; rules derived from the published sets disclose nothing more; with `additive`,
    published supports are raised, and anyone who knows the method may recognize some of them; with `suppressive` they
    are true, but fewer; with more than six items, inferences that need several unknown supports at once are repaired as
    far as they are found in `seconds`, with more than ten not at all, and nothing is claimed about them; `none` repairs
    nothing and makes no such claim. Papers: Atzori, Bonchi, Giannotti, Pedreschi 2005 and 2008; Calders, Goethals 2002.
    """

    shape: ClassVar[str] = "baskets"
    gives: ClassVar[str] = "patterns"
    utility = "baskets"
    section = "patterns"
    iso_20889: ClassVar[str] = "aggregation"
    loss_meaning: ClassVar[str] = "Mean relative error of the supports; a withheld itemset counts as 100 %."
    kept_meaning: ClassVar[tuple[str, str]] = ("of the supports kept", "mean over the frequent itemsets")
    file_claims: ClassVar[frozenset[str]] = frozenset({"least_support", "inferable_patterns", "derivable_patterns"})
    hides_parameters: ClassVar[bool] = True
    public_fields: ClassVar[tuple[str, ...]] = ("k", "repair", "seconds")
    # A share next to the count in the claim would disclose the number of baskets, and so what was added.
    private_fields: ClassVar[tuple[str, ...]] = ("min_support",)

    method: Literal["publish_patterns"] = "publish_patterns"
    k: int = Field(ge=2, strict=True)
    """The smallest number of people that a pattern may describe, if it describes any; at least 2. With
    `repair = "none"` nothing is promised about it: patterns of fewer people may follow from what is published."""
    min_support: MinSupport
    """The support from which an itemset is published: a number of baskets, or a share of them; at least k."""
    repair: Literal["additive", "suppressive", "none"] = "additive"
    """`additive` raises supports as if baskets were added, so that they are upper bounds; `suppressive` withholds
    itemsets; `none` publishes everything unchanged, and promises nothing about k."""
    seconds: float = Field(default=10.0, gt=0)
    """With seven to ten published items: how long to search for inferences from several unknown supports at once."""

    def protect(self, data: Baskets, randomness: Randomness | None = None) -> Release:
        """Mine, find what the supports disclose, and repair until they disclose nothing."""
        least = self._count_least_support(data)
        report_progress("mining")
        itemsets = find_itemsets(data, least)
        known_sets = KnownSets.of(itemsets.offsets, itemsets.codes, itemsets.supports, itemsets.rows)
        channels = known_sets.find_small_patterns(self.k, border=False)
        true = Patterns(itemsets.items, itemsets.offsets, itemsets.codes, itemsets.supports, itemsets.rows, least)
        details = PatternDetails(channels=build_channel_frame(known_sets, channels, itemsets.items), min_support=least)
        published_patterns, deadline = true, monotonic() + self.seconds
        if self.repair == "additive":
            raised_patterns = raise_supports(data, least, self.k, deadline)
            published_patterns = raised_patterns.patterns
            added_baskets = [
                (tuple(data.items[code] for code in basket), copies) for basket, copies in raised_patterns.added_baskets
            ]
            details = replace(
                details,
                added_baskets=tuple(added_baskets),
                rounds=raised_patterns.rounds,
                complete=raised_patterns.complete,
            )
        elif self.repair == "suppressive":
            withheld_patterns = withhold_itemsets(true, self.k, data, deadline)
            published_patterns = withheld_patterns.patterns
            details = replace(details, rounds=withheld_patterns.rounds, complete=withheld_patterns.complete)
        return Release(
            data=published_patterns,
            method=self,
            claims=self._list_claims(published_patterns, least),
            losses=_compute_pattern_losses(true, published_patterns),
            details=details,
        )

    def _count_least_support(self, data: Baskets) -> int:
        if not len(data):
            raise DataError("there are no baskets to mine for patterns")
        least = compute_least_count(self.min_support, len(data))
        if len(data) < self.k:
            raise ImpossibleRelease(
                f"{count_noun(len(data), 'basket')} cannot hide anybody among {self.k}; choose a smaller k"
            )
        if least > len(data):
            raise PolicyError(f"min_support is {least} baskets, and there are {len(data)}: lower min_support")
        if least < self.k:
            raise PolicyError(
                f"min_support is {count_noun(least, 'basket')}, fewer than k = {self.k}: a published itemset could "
                "itself describe too few people; raise min_support or lower k"
            )
        return least

    def _list_claims(self, published_patterns: Patterns, least: int) -> tuple[Claim, ...]:
        safe = () if self.repair == "none" else (claim_safe_patterns(published_patterns, self.k),)
        return (claim_least_support(least, LEAST_SUPPORT[self.repair]), *safe, *self._claim_truth())

    def _claim_truth(self) -> tuple[Claim, ...]:
        """Claims that need the baskets to check: nothing is missing, or nothing is false."""
        complete = Claim(
            property="lost_itemsets",
            threshold=0,
            bound="exactly",
            measure="lost_itemsets",
            arguments={"min_support": self.min_support},
            needs_original=True,
            meaning="Every frequent itemset of the baskets is published, with its support or a larger one.",
        )
        true = claim_true_supports()
        return {"additive": (complete,), "suppressive": (true,), "none": (complete, true)}[self.repair]


LEAST_SUPPORT: Mapping[str, str] = {
    "additive": "Every published support is at least {}. Supports, and the number of baskets, count baskets that were "
    "added where small groups had to be hidden.",
    "suppressive": "Every published itemset is held by at least {} baskets.",
    "none": "Every published itemset is held by at least {} baskets. Nothing was repaired: groups of fewer people than "
    "k may follow from the published supports.",
}
"""What is said of published supports after each repair; {} stands for the smallest."""


def claim_least_support(least: int, meaning: str) -> Claim:
    """Claim that every published itemset describes many people; in the sentence, {} stands for how many."""
    return Claim(
        property="least_support",
        threshold=least,
        measure="least_support",
        meaning=meaning.format(least),
    )


def claim_safe_patterns(published_patterns: Patterns, k: int) -> Claim:
    """Claim that nothing about few people follows, as far as was surely examined: time depends on the machine."""
    exact = len(published_patterns.items) <= EXACT_ITEMS
    name = "inferable_patterns" if exact else "derivable_patterns"
    follows = f"No pattern of {spell_few(k)} follows from the published supports"
    less = "by inclusion and exclusion, or by bounds on one unknown support at a time"
    return Claim(
        property=name,
        threshold=0,
        bound="exactly",
        measure=name,
        arguments={"k": k, "complete_from": published_patterns.complete_from or 0},
        meaning=f"{follows}." if exact else f"{follows} {less}. What follows from several together is not claimed.",
    )


def claim_true_supports() -> Claim:
    """Claim that no support was changed."""
    return Claim(
        property="untrue_supports",
        threshold=0,
        bound="exactly",
        measure="untrue_supports",
        needs_original=True,
        meaning="Every published support is the true one.",
    )


def _compute_pattern_losses(true: Patterns, published_patterns: Patterns) -> dict[str, Number]:
    """The analyst's loss: withheld sets count as entirely wrong, raised supports by how much they grew."""
    true_supports = {tuple(items): support for items, support in true.to_lists()}
    published_supports = {tuple(items): support for items, support in published_patterns.to_lists()}
    errors = [
        abs(published_supports[items] - support) / support if items in published_supports else 1.0
        for items, support in true_supports.items()
    ]
    return {
        "loss": round(sum(errors) / len(errors), 12) if errors else 0.0,
        "lost_itemsets": sum(items not in published_supports for items in true_supports),
        "ghost_itemsets": sum(items not in true_supports for items in published_supports),
        "changed_supports": sum(
            items in true_supports and true_supports[items] != support for items, support in published_supports.items()
        ),
        "added_baskets": published_patterns.baskets - true.baskets,
    }
