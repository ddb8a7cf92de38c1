# SPDX-License-Identifier: MIT
"""Re-mining: look just below the thresholds, where hidden rules end up, and for gaps and marks that hiding leaves.

Against baskets in which rules were hidden by changing as little as possible: a hidden rule then lies just below a
threshold, and more rules may lie there than expected by chance; or its items are seldom or never together, although
they are common; or unknown marks stand where it was. What leaks is which rules someone wanted hidden. After
Oliveira and Zaïane 2002; Verykios, Elmagarmid, Bertino, Saygin, Dasseni 2004; Saygin, Verykios, Clifton 2001.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field, field_validator

from sfumato.attack.attack import Attack, Outcome, round_expected
from sfumato.attack.baskets.marked_rules import rank_by_marks
from sfumato.attack.baskets.mined_rules import (
    ExactThresholds,
    MinedRuleCounts,
    RuleNames,
    RuleSides,
    count_one_basket_short,
    mine_rules,
    replace_thresholds,
)
from sfumato.attack.baskets.rare_itemsets import ItemPairCounts, count_basket_pairs, find_rare_itemsets
from sfumato.attack.baskets.rule_rankings import rank_by_nearness
from sfumato.baskets import Baskets, Item
from sfumato.data.items.rule_files import parse_itemset, parse_rule
from sfumato.errors import PolicyError
from sfumato.public.thresholds import MiningThresholds, find_hiding_thresholds
from sfumato.public.unknown_items import ItemSplit, find_unknown_mark, split_unknowns
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress

_BAND = Fraction(1, 20)


class Remining(Attack):
    """A competitor knows the thresholds at which rules were hidden, and mines just below them.

    The adversary sees the published baskets and knows the thresholds, how many rules were hidden, and how many items
    they have; of several methods, each hid its own at its own thresholds. It ranks the rules that do not show in
    several ways and names the first, as many as were hidden: down to a share of the thresholds those that lack the
    smallest share, or the fewest baskets; below the support those that are rarest compared with how common their items
    are, which finds what was hidden entirely; and rules whose left side is in the baskets where their right side is
    marked as unknown. Of equal ones it draws some, and is right as often as on average. The best ranking counts. The
    targets are the secret rules that held in the originals; a success is one that still holds, or is among those named.
    The baseline draws as many from all rules of as many items. The facts state how far below the thresholds one must
    mine to see the hidden rules, whether they cluster there, and how few rules one more basket would show.
    """

    shape: ClassVar[str] = "baskets"
    public_fields: ClassVar[tuple[str, ...]] = ("min_support", "min_confidence", "reach")
    private_fields: ClassVar[tuple[str, ...]] = ("rules", "itemsets", "items")
    recounts_file: ClassVar[bool] = True

    attack: Literal["remining"] = "remining"
    rules: tuple[tuple[tuple[Item, ...], tuple[Item, ...]], ...] = Field(default=(), repr=False)
    """The secret rules to look for. Leave out `rules`, `itemsets` and `items` in a policy: the attack then looks
    for what the methods hid."""
    itemsets: tuple[tuple[Item, ...], ...] = Field(default=(), repr=False)
    """Secret itemsets to look for."""
    items: tuple[Item, ...] = Field(default=(), repr=False)
    """Secret items: no rule about them was to show."""
    min_support: int | float | None = Field(default=None, gt=0)
    """The support from which rules show; by default that of the method that hid them."""
    min_confidence: float | None = Field(default=None, gt=0, le=1)
    """The confidence from which rules show; by default that of the method that hid them."""
    reach: float = Field(default=0.5, gt=0, lt=1)
    """How far below the thresholds it mines, as a share of them."""

    @field_validator("rules", "itemsets", mode="before")
    @classmethod
    def _parse_rules(cls, raw_rules: Any, info: Any) -> Any:
        if not isinstance(raw_rules, list | tuple):
            return raw_rules
        parse: Any = parse_rule if info.field_name == "rules" else parse_itemset
        try:
            return tuple(parse(text) if isinstance(text, str) else text for text in raw_rules)
        except PolicyError as problem:
            raise ValueError(str(problem)) from None

    def run(
        self, release: Release, truth: Baskets, control: Baskets | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Mine the originals for the secret rules, and the release for where they are now."""
        parts = split_unknowns(release.data, find_unknown_mark(release))
        steps = self.list_hiding_steps(release)
        short = count_one_basket_short(parts.known_items, [step.thresholds for step in steps])
        names = frozenset(
            str(side.items[code]) for side in (parts.known_items, parts.unknown_items) for code in np.unique(side.codes)
        )
        mined_release = MinedRelease(parts, count_basket_pairs(parts.known_items), names)
        return self.attack_steps(mined_release, steps, truth, short, control)

    def list_hiding_steps(self, release: Release) -> list[HidingStep]:
        """What each method hid, and from where on that shows: as the attack says, or else as the method does."""
        hiding_steps = [step for step in release.list_steps() if find_hiding_thresholds(step) is not None]
        steps = [
            HidingStep(
                replace_thresholds(find_hiding_thresholds(step), self.min_support, self.min_confidence),
                _name_secrets(step.details.get("sensitive", ())),
            )
            for step in hiding_steps or [release]
        ]
        named_secrets = _name_secrets([*self.rules, *(((), itemset) for itemset in self.itemsets), *self.items])
        if named_secrets:
            *earlier_steps, last_step = steps
            steps = [step._replace(secrets=step.secrets & named_secrets) for step in earlier_steps]
            # What no other method hid is looked for at the thresholds of the last one.
            last_secrets = named_secrets.difference(*(step.secrets for step in steps)) | (
                named_secrets & last_step.secrets
            )
            steps.append(last_step._replace(secrets=last_secrets))
        if not any(step.secrets for step in steps):
            raise PolicyError("give the rules, itemsets or items that were hidden: the release does not state them")
        return steps

    def attack_steps(
        self,
        release: MinedRelease,
        steps: Sequence[HidingStep],
        truth: Baskets,
        short: int | None,
        control: Baskets | None = None,
    ) -> Outcome:
        """Attack what each method hid at its own thresholds, and add up; `short` is what is one basket short."""
        secrets: dict[ExactThresholds, frozenset[NamedSecret]] = {}
        for step in steps:
            thresholds = ExactThresholds.of(step.thresholds, release.rows)
            secrets[thresholds] = secrets.get(thresholds, frozenset()) | step.secrets
        results = [
            self._attack_secrets(release, truth, thresholds, names) for thresholds, names in secrets.items() if names
        ]
        visible_count = sum(len(result.visible_rules) for result in results)
        named_count = sum((result.named_count for result in results), Fraction(0))
        return Outcome(
            attempts=sum(len(result.targets) for result in results),
            successes=round_expected(visible_count + named_count),
            baseline=round_expected(sum((result.blind_count for result in results), Fraction(0))),
            control=None if control is None else sum(result.count_shown_in_strangers(control) for result in results),
            facts={
                "visible": visible_count,
                "seen_below": sum(len(result.seen_counts) for result in results),
                "guessed": round_expected(named_count),
                "candidates": sum(result.candidate_count for result in results),
                **({} if short is None else {"one_basket_short": short}),
                "hidden_one_basket_short": sum(result.count_one_basket_short() for result in results),
                **_measure_threshold_distances(results),
                **_count_confidence_bands(results),
            },
        )

    def _attack_secrets(
        self, release: MinedRelease, truth: Baskets, thresholds: ExactThresholds, secrets: frozenset[NamedSecret]
    ) -> _AttackedSecrets:
        """Rank what does not show at some thresholds, in all ways, and name the first."""
        targets = _list_shown_targets(truth, thresholds, secrets)
        report_progress("mining below the thresholds")
        known_baskets = release.parts.known_items
        mined_rules = mine_rules(known_baskets, thresholds.lower(self.reach), RuleSides.of(targets))
        rules = mined_rules.rules
        visible_rules = {rule for rule in targets & rules.keys() if thresholds.shows(rules[rule])}
        hidden_rules, unseen = targets - visible_rules, [rule for rule in rules if not thresholds.shows(rules[rule])]
        rare_itemsets = find_rare_itemsets(known_baskets, release.pairs, mined_rules.sets, thresholds, hidden_rules)
        mark_rankings = [*rank_by_marks(release.parts, thresholds, hidden_rules)]
        rankings = [
            *rank_by_nearness(unseen, rules, thresholds),
            *rare_itemsets.list_rankings(len(hidden_rules)),
            *mark_rankings,
        ]
        pool = {*unseen, *(rule for ranking in mark_rankings for rule in ranking.candidates)}
        candidate_count = len(pool) + rare_itemsets.count_rules() - sum(map(rare_itemsets.holds, pool))
        found_count = sum(rule in pool or rare_itemsets.holds(rule) for rule in hidden_rules)
        drawn_count = Fraction(min(len(hidden_rules), candidate_count) * found_count, candidate_count or 1)
        blind_count = _count_blind_hits(hidden_rules, release.names)
        return _AttackedSecrets(
            thresholds=thresholds,
            targets=targets,
            visible_rules=visible_rules,
            named_count=max(blind_count, drawn_count, *(ranking.count_named(hidden_rules) for ranking in rankings)),
            blind_count=blind_count,
            candidate_count=candidate_count,
            mined_counts=tuple(rules.values()),
            seen_counts=tuple(rules[rule] for rule in hidden_rules & rules.keys()),
        )


NamedSecret = str | RuleNames
"""A secret item, or a secret rule or itemset, by names as text."""


class HidingStep(NamedTuple):
    """What a method hid, and from where on it shows."""

    thresholds: MiningThresholds
    secrets: frozenset[NamedSecret]


@dataclass(frozen=True, eq=False)
class MinedRelease:
    """The published baskets that are mined."""

    parts: ItemSplit
    """Of baskets in a file, only those items that are frequent enough."""
    pairs: ItemPairCounts
    names: frozenset[str]
    """All items."""

    @property
    def rows(self) -> int:
        """The number of all baskets."""
        return self.pairs.rows


@dataclass(frozen=True, eq=False)
class _AttackedSecrets:
    """What came of the secrets that were hidden at some thresholds."""

    thresholds: ExactThresholds
    targets: set[RuleNames]
    visible_rules: set[RuleNames]
    named_count: Fraction
    blind_count: Fraction
    """How many of those named would be hidden ones, if they were drawn from all rules that there could be."""
    candidate_count: int
    mined_counts: tuple[MinedRuleCounts, ...]
    """Of all rules within reach."""
    seen_counts: tuple[MinedRuleCounts, ...]
    """Of the hidden ones among these."""

    def count_one_basket_short(self) -> int:
        """How many of the hidden rules one more basket would show."""
        return sum(self.thresholds.count_lacking(counts) == 1 for counts in self.seen_counts)

    def count_shown_in_strangers(self, control: Baskets) -> int:
        """How many of the secret rules hold among other people: knowledge about the population."""
        rules = mine_rules(control, self.thresholds, RuleSides.of(self.targets)).rules
        return sum(rule in rules and self.thresholds.shows(rules[rule]) for rule in self.targets)

    def count_band(self, low: Fraction, high: Fraction) -> int:
        """How many frequent rules have a confidence between two distances from the threshold."""
        counts = [counts for counts in self.mined_counts if counts.left_count and counts.whole >= self.thresholds.least]
        share = self.thresholds.share or Fraction(0)
        return sum(low <= Fraction(rule.whole, rule.left_count or 1) - share < high for rule in counts)


def _name_secrets(secrets: Iterable[Any]) -> frozenset[NamedSecret]:
    return frozenset(
        str(secret)
        if isinstance(secret, str | int)
        else (frozenset(map(str, secret[0])), frozenset(map(str, secret[1])))
        for secret in secrets
    )


def _list_shown_targets(truth: Baskets, thresholds: ExactThresholds, secrets: frozenset[NamedSecret]) -> set[RuleNames]:
    """The secret rules that held in the originals."""
    items = {secret for secret in secrets if isinstance(secret, str)}
    wanted_rules = {secret for secret in secrets if not isinstance(secret, str)}
    sides = RuleSides.of(wanted_rules)
    rules = mine_rules(truth, thresholds, RuleSides(max(sides.right, 1 if items else 0), sides.sets)).rules
    item_rules = {rule for rule in rules if len(rule[1]) == 1 and rule[0] and rule[1] <= items}
    return {rule for rule in (wanted_rules | item_rules) & rules.keys() if thresholds.shows(rules[rule])}


def _count_blind_hits(hidden_rules: set[RuleNames], names: frozenset[str]) -> Fraction:
    """How many hidden rules are among as many that are drawn, of all with as many items, whether they show or not."""
    sides = RuleSides.of(hidden_rules)
    every = sum(
        comb(len(names), size)
        * (sides.sets + sum(comb(size, right) for right in range(1, min(sides.right, size - 1) + 1)))
        for size in {len(left | right) for left, right in hidden_rules}
    )
    possible_count = sum(left | right <= names for left, right in hidden_rules)
    return Fraction(min(len(hidden_rules), every) * possible_count, every or 1)


def _measure_threshold_distances(results: Iterable[_AttackedSecrets]) -> Mapping[str, float]:
    """How far the hidden rules are below their thresholds, as shares of them."""
    distances = sorted(result.thresholds.measure_lack(counts) for result in results for counts in result.seen_counts)
    if not distances:
        return {}
    return {
        "nearest": float(distances[0]),
        "median": float(distances[len(distances) // 2]),
        "farthest": float(distances[-1]),
    }


def _count_confidence_bands(results: Iterable[_AttackedSecrets]) -> Mapping[str, int]:
    """Rules in three bands of confidence, all frequent: just above the threshold, just below it, and below that."""
    rule_results = [result for result in results if result.thresholds.share is not None]
    if not rule_results:
        return {}
    bands = {
        "just_above": (Fraction(0), _BAND),
        "just_below": (-_BAND, Fraction(0)),
        "further_below": (-2 * _BAND, -_BAND),
    }
    return {name: sum(result.count_band(*band) for result in rule_results) for name, band in bands.items()}
