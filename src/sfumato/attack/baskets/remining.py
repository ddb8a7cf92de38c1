# SPDX-License-Identifier: MIT
"""Re-mining: look just below the thresholds, where hidden rules end up.

Against baskets in which rules were hidden by changing as little as possible: a hidden rule then lies just below a
threshold, and more rules may lie there than expected by chance. What leaks is which rules someone wanted hidden. After
Oliveira and Zaïane 2002; Verykios, Elmagarmid, Bertino, Saygin, Dasseni 2004.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, groupby
from math import ceil
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field, field_validator

from sfumato.attack.attack import Attack, Outcome, round_expected
from sfumato.baskets import Baskets, Item
from sfumato.data.items.rule_files import parse_itemset, parse_rule
from sfumato.errors import PolicyError
from sfumato.mine.baskets.itemsets import find_itemsets
from sfumato.progress import report_progress
from sfumato.public.thresholds import compute_least_count, parse_exact_confidence
from sfumato.public.unknown_items import split_unknowns
from sfumato.randomness import Randomness
from sfumato.release import Release

Names = frozenset[str]
Rule = tuple[Names, Names]
_BAND = Fraction(1, 20)
MOST_SETS = 200_000
"""With more itemsets, rules that are one basket short are not counted: verification counts them again."""


class MiningThresholds(NamedTuple):
    """From where on patterns and rules are mined."""

    support: int | float
    confidence: float | None
    """None if no rules are mined."""


class Remining(Attack):
    """A competitor knows the thresholds at which rules were hidden, and mines just below them.

    The adversary sees the published baskets and knows the thresholds, and how many rules were hidden. It mines down to
    a share of the thresholds, ranks all rules below them, by the share that they lack or by the number of baskets, and
    names the nearest, as many as were hidden; of several that are equally near it draws some, and is right as often as
    on average. The best ranking counts. The targets are the secret rules that held in
    the originals; a success is one that still holds, or is among those named. The baseline names as many of the same
    rules at random. The facts state how far below them one must mine to see the hidden rules at all, whether they
    cluster below the threshold, and how few rules one more basket would show: hidden rules are likely among those.
    """

    shape: ClassVar[str] = "baskets"
    public_fields: ClassVar[tuple[str, ...]] = ("min_support", "min_confidence", "reach")
    private_fields: ClassVar[tuple[str, ...]] = ("rules", "itemsets", "items")
    recounts_file: ClassVar[bool] = True

    attack: Literal["remining"] = "remining"
    rules: tuple[tuple[tuple[Item, ...], tuple[Item, ...]], ...] = Field(default=(), repr=False)
    """The secret rules to look for. Leave out `rules`, `itemsets` and `items` in a policy: the attack then looks
    for what the method hid."""
    itemsets: tuple[tuple[Item, ...], ...] = Field(default=(), repr=False)
    """Secret itemsets to look for."""
    items: tuple[Item, ...] = Field(default=(), repr=False)
    """Secret items: no rule about them was to show."""
    min_support: int | float | None = Field(default=None, gt=0)
    """The support from which rules show; by default that of the release's method."""
    min_confidence: float | None = Field(default=None, gt=0, le=1)
    """The confidence from which rules show; by default that of the release's method."""
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
        published_baskets = split_unknowns(release.data).known_items
        thresholds = self._lower_thresholds(release, truth)
        targets = self._list_shown_targets(release, truth, thresholds)
        sides = _RuleSides.of(targets)
        report_progress("mining below the thresholds")
        mined_rules = _mine_rules(published_baskets, thresholds.lower(self.reach), sides)
        shown_rules = {rule for rule, counts in mined_rules.items() if thresholds.shows(counts)}
        hidden_rules, unseen = targets - shown_rules, [rule for rule in mined_rules if rule not in shown_rules]
        named_count = max(_count_named(unseen, hidden_rules, rank) for rank in _list_rankings(mined_rules, thresholds))
        seen_rules = hidden_rules & set(unseen)
        draws = min(len(hidden_rules), len(unseen))
        short = count_one_basket_short(release.data, *self.choose_thresholds(release.method))
        return Outcome(
            attempts=len(targets),
            successes=round_expected(len(targets & shown_rules) + named_count),
            baseline=round_expected(Fraction(draws * len(seen_rules), len(unseen))) if unseen else 0,
            control=None if control is None else self._count_shown_in_strangers(control, thresholds, targets),
            facts={
                "visible": len(targets & shown_rules),
                "seen_below": len(seen_rules),
                "guessed": round_expected(named_count),
                "candidates": len(unseen),
                **({} if short is None else {"one_basket_short": short}),
                "hidden_one_basket_short": sum(thresholds.count_lacking(mined_rules[rule]) == 1 for rule in seen_rules),
                **_measure_threshold_distances([thresholds.measure_lack(mined_rules[rule]) for rule in seen_rules]),
                **_count_confidence_bands(mined_rules.values(), thresholds),
            },
        )

    def choose_thresholds(self, method: Any) -> MiningThresholds:
        """The support and the confidence of the attack, or else of the method."""
        support = self.min_support or getattr(method, "min_support", None)
        if support is None:
            raise PolicyError("give min_support: the release's method does not state it")
        return MiningThresholds(support, self.min_confidence or getattr(method, "min_confidence", None))

    def _lower_thresholds(self, release: Release, truth: Baskets) -> _MiningThresholds:
        support, share = self.choose_thresholds(release.method)
        return _MiningThresholds(
            Fraction(compute_least_count(support, len(truth))), None if share is None else parse_exact_confidence(share)
        )

    def _list_shown_targets(self, release: Release, truth: Baskets, thresholds: _MiningThresholds) -> set[Rule]:
        """The secret rules that held in the originals."""
        secrets: list[Any] = [*self.rules, *(((), itemset) for itemset in self.itemsets), *self.items]
        secrets = secrets or list(release.details.get("sensitive", ()))
        if not secrets:
            raise PolicyError("give the rules, itemsets or items that were hidden: the release does not state them")
        items = {str(secret) for secret in secrets if isinstance(secret, str | int)}
        rule_secrets = [secret for secret in secrets if not isinstance(secret, str | int)]
        wanted_rules = {(frozenset(map(str, left)), frozenset(map(str, right))) for left, right in rule_secrets}
        sides = _RuleSides.of(wanted_rules)
        rules = _mine_rules(truth, thresholds, _RuleSides(max(sides.right, 1 if items else 0), sides.sets))
        item_rules = {rule for rule in rules if len(rule[1]) == 1 and rule[0] and rule[1] <= items}
        return {rule for rule in (wanted_rules | item_rules) & rules.keys() if thresholds.shows(rules[rule])}

    def _count_shown_in_strangers(self, control: Baskets, thresholds: _MiningThresholds, targets: set[Rule]) -> int:
        """How many of the secret rules hold among other people: knowledge about the population."""
        rules = _mine_rules(control, thresholds, _RuleSides.of(targets))
        return sum(rule in rules and thresholds.shows(rules[rule]) for rule in targets)


@dataclass(frozen=True)
class _RuleCounts:
    whole: int
    left_count: int | None
    """None for an itemset."""


@dataclass(frozen=True)
class _MiningThresholds:
    least: Fraction
    share: Fraction | None

    def lower(self, reach: float) -> _MiningThresholds:
        kept_share = 1 - Fraction(repr(reach))
        return _MiningThresholds(self.least * kept_share, None if self.share is None else self.share * kept_share)

    def shows(self, counts: _RuleCounts) -> bool:
        return self.measure_lack(counts) == 0

    def measure_lack(self, counts: _RuleCounts) -> Fraction:
        """How far a rule is below the thresholds, as a share of them: 0 if it reaches them."""
        short = max(Fraction(0), 1 - counts.whole / self.least)
        if counts.left_count is None or self.share is None:
            return short
        return max(short, 1 - Fraction(counts.whole, counts.left_count) / self.share)

    def count_lacking(self, counts: _RuleCounts) -> int:
        """How many more baskets with its left side would have to hold the whole rule before it shows."""
        short = ceil(self.least) - counts.whole
        if counts.left_count is not None and self.share is not None:
            short = max(short, ceil(self.share * counts.left_count) - counts.whole)
        return max(0, short)


def count_one_basket_short(data: Baskets, support: int | float, confidence: float | None) -> int | None:
    """The same count from the data of a release and the thresholds that its certificate states, as anyone can."""
    least = Fraction(compute_least_count(support, len(data)))
    share = None if confidence is None else parse_exact_confidence(confidence)
    return count_rules_one_basket_short(split_unknowns(data).known_items, least, share)


def count_rules_one_basket_short(published_baskets: Baskets, least: Fraction, share: Fraction | None) -> int | None:
    """How many rules with one item on the right (itemsets if there is no confidence) one more basket would show.

    It depends on the published baskets and the thresholds alone, whatever was hidden. None with more itemsets than
    `MOST_SETS`.
    """
    thresholds = _MiningThresholds(least, share)
    lower = _MiningThresholds(Fraction(max(1, ceil(least) - 1)), None)
    try:
        rules = _mine_rules(published_baskets, lower, _RuleSides(0 if share is None else 1, share is None), MOST_SETS)
    except PolicyError:
        return None
    return sum(thresholds.count_lacking(counts) == 1 for counts in rules.values())


@dataclass(frozen=True)
class _RuleSides:
    """The kind of rules to mine: the most items on the right, and whether itemsets are included."""

    right: int
    sets: bool

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> _RuleSides:
        return cls(max((len(right) for left, right in rules if left), default=0), any(not left for left, _ in rules))


def _mine_rules(
    baskets: Baskets, thresholds: _MiningThresholds, sides: _RuleSides, at_most: int | None = None
) -> dict[Rule, _RuleCounts]:
    """All rules of that kind at or above the thresholds, by item names."""
    itemsets = find_itemsets(baskets, max(1, ceil(thresholds.least)), at_most=at_most)
    names = np.array([str(item) for item in baskets.items], dtype=object)[itemsets.codes].tolist()
    offsets, supports = itemsets.offsets.tolist(), itemsets.supports.tolist()
    sets = {frozenset(names[offsets[i] : offsets[i + 1]]): supports[i] for i in range(len(supports))}
    rules: dict[Rule, _RuleCounts] = {}
    for number, (items, whole) in enumerate(sets.items()):
        if number % 4096 == 0:
            report_progress("reading off rules", number, len(sets))
        if sides.sets:
            rules[frozenset(), items] = _RuleCounts(whole, None)
        for right in _list_proper_parts(items, sides.right):
            counts = _RuleCounts(whole, sets[items - right])
            if thresholds.shows(counts):
                rules[items - right, right] = counts
    return rules


def _list_proper_parts(items: Names, longest: int) -> Iterable[Names]:
    """The proper subsets with at most this many items."""
    sorted_items = sorted(items)
    for length in range(1, min(longest, len(sorted_items) - 1) + 1):
        yield from map(frozenset, combinations(sorted_items, length))


_Rank = Callable[[Rule], tuple[Any, ...]]
"""How near a rule is to the thresholds, the nearest first; equal where the adversary cannot tell."""


def _list_rankings(counts: Mapping[Rule, _RuleCounts], thresholds: _MiningThresholds) -> Iterator[_Rank]:
    """First come rules that lack the smallest share; those that lack the fewest baskets; those that lack confidence
    alone; and of these, those of two items. Ties go to the more frequent, then to the shorter rule, or are left.
    """

    def by_share(rule: Rule) -> tuple[Any, ...]:
        return thresholds.measure_lack(counts[rule]), -counts[rule].whole, len(rule[0]) + len(rule[1])

    def by_baskets(rule: Rule) -> tuple[Any, ...]:
        return thresholds.count_lacking(counts[rule]), *by_share(rule)

    def by_confidence(rule: Rule) -> tuple[Any, ...]:
        return counts[rule].whole < thresholds.least, *by_share(rule)

    def by_pairs(rule: Rule) -> tuple[Any, ...]:
        return len(rule[0] | rule[1]) > 2, *by_confidence(rule)

    yield from (by_share, by_baskets, by_confidence, by_pairs)
    yield lambda rule: by_share(rule)[:1]
    yield lambda rule: by_baskets(rule)[:1]


def _count_named(unseen: Sequence[Rule], hidden_rules: set[Rule], rank: _Rank) -> Fraction:
    """How many hidden rules are among the first, as many as were hidden, on average if equal ones are drawn."""
    places_left, named_count = len(hidden_rules), Fraction(0)
    for _, tied in groupby(sorted(unseen, key=rank), rank):
        tied_rules = list(tied)
        draws = min(places_left, len(tied_rules))
        named_count += Fraction(draws * len(hidden_rules.intersection(tied_rules)), len(tied_rules))
        places_left -= draws
        if not places_left:
            break
    return named_count


def _measure_threshold_distances(lacking: Sequence[Fraction]) -> Mapping[str, float]:
    """How far the hidden rules are below the thresholds, as shares of them."""
    if not lacking:
        return {}
    return {"nearest": float(min(lacking)), "median": float(sorted(lacking)[len(lacking) // 2])} | {
        "farthest": float(max(lacking))
    }


def _count_confidence_bands(rules: Iterable[_RuleCounts], thresholds: _MiningThresholds) -> Mapping[str, int]:
    """Rules in three bands of confidence, all frequent: just above the threshold, just below it, and below that."""
    if thresholds.share is None:
        return {}
    shares = [Fraction(c.whole, c.left_count) for c in rules if c.left_count and c.whole >= thresholds.least]
    return {
        "just_above": sum(thresholds.share <= share < thresholds.share + _BAND for share in shares),
        "just_below": sum(thresholds.share - _BAND <= share < thresholds.share for share in shares),
        "further_below": sum(thresholds.share - 2 * _BAND <= share < thresholds.share - _BAND for share in shares),
    }
