# SPDX-License-Identifier: MIT
"""Whether hidden rules are hidden, and the side effects of hiding them.

For a custodian, who has both the original and the published baskets. Everything is counted by `recount`, not by the
miner that the methods use. The side effects are those of Oliveira and Zaïane, *Privacy preserving frequent itemset
mining* (2002): hiding failure, misses, artifacts and dissimilarity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.baskets import Baskets, Item
from sfumato.errors import DataError, count_noun
from sfumato.measure.baskets.recount import ItemColumns, ItemNames, list_frequent_itemsets, recount_itemsets
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.public.thresholds import Confidence, Support, compute_least_count, parse_exact_confidence
from sfumato.release import Number
from sfumato.runtime.progress import report_progress

Secret = tuple[Sequence[Item], Sequence[Item]] | Item
"""A rule by its two sides, an itemset as a rule without a left side, or an item that no rule may have on the right."""


@dataclass(frozen=True)
class SideEffects:
    """The side effects of hiding. Secret rules and itemsets count as exposed or not, never as lost."""

    sensitive: int
    """Secret rules and itemsets that held in the original."""
    exposed: int
    """Secret rules and itemsets that hold in the release, whether or not they held in the original."""
    itemsets: int
    """Itemsets frequent in the original, without those that contain a secret one."""
    lost_itemsets: int
    """How many of these are no longer frequent."""
    ghost_itemsets: int
    """Itemsets that became frequent."""
    rules: int
    """Rules that reached both thresholds in the original, without the secret ones."""
    lost_rules: int
    """How many of these no longer do."""
    ghost_rules: int
    """Rules that newly reach both thresholds, without the secret ones."""
    rules_published: int
    """Rules that reach both thresholds in the release."""
    dissimilarity: float
    """The total difference of item supports, as a share of all occurrences: 0 means equal."""
    added: int
    """Items added to baskets."""
    removed: int
    """Items removed from baskets; those marked as unknown are not among them."""
    changed_baskets: int
    """Baskets that differ."""
    unknown: int = 0
    """Items marked as unknown, whether or not the basket held them."""

    @property
    def hiding_failure(self) -> float:
        """Secret rules that hold in the release, for each that held in the original."""
        return self.exposed / self.sensitive if self.sensitive else 0.0

    @property
    def misses_cost(self) -> float:
        """The share of the other rules that was lost."""
        return self.lost_rules / self.rules if self.rules else 0.0

    @property
    def artifactual_patterns(self) -> float:
        """The share of the published rules that does not hold in the original."""
        return self.ghost_rules / self.rules_published if self.rules_published else 0.0


def side_effects(
    original: Baskets,
    published_baskets: Baskets,
    min_support: Support,
    min_confidence: Confidence | None,
    sensitive: Iterable[Secret],
    unknown_mark: str = "",
    other_secrets: Iterable[Secret] = (),
) -> SideEffects:
    """Compare what an analyst finds before and after; items marked as unknown count as absent.

    `other_secrets` were hidden by other methods: they are neither counted as secret here nor as lost.
    """
    least = compute_least_count(min_support, len(original))
    share = None if min_confidence is None else parse_exact_confidence(min_confidence)
    secrets = SecretNames.of(sensitive)
    all_secrets = secrets | SecretNames.of(other_secrets)
    original_sets = _FrequentSets(recount_itemsets(original, least))
    published_sets = _FrequentSets(recount_itemsets(published_baskets, least, unknown_mark), original_sets.item_places)
    sets = _compare_itemsets(original_sets, published_sets, all_secrets)
    rules = (
        _MiningDifference()
        if share is None
        else _compare_rules(original_sets, published_sets, share, secrets, all_secrets)
    )
    changes = _BasketChanges.of(original, published_baskets, unknown_mark)
    secret_sets = [right for left, right in secrets.rules if not left]
    return SideEffects(
        sensitive=rules.original_secrets + sum(original_sets.holds(items) for items in secret_sets),
        exposed=rules.published_secrets + sum(published_sets.holds(items) for items in secret_sets),
        itemsets=sets.original_count,
        lost_itemsets=sets.lost_count,
        ghost_itemsets=sets.ghosts,
        rules=rules.original_count,
        lost_rules=rules.lost_count,
        ghost_rules=rules.ghosts,
        rules_published=rules.published_count,
        dissimilarity=changes.dissimilarity,
        added=changes.added_count,
        removed=changes.removed_count,
        unknown=changes.unknown,
        changed_baskets=changes.baskets,
    )


def exposed_rules(
    published_baskets: Baskets, sensitive: Iterable[Secret], least: int, confidence: Confidence | None = None
) -> int:
    """How many of the secret rules and itemsets reach both thresholds."""
    share = None if confidence is None else parse_exact_confidence(confidence)
    secrets = SecretNames.of(sensitive)
    columns = ItemColumns.of(published_baskets, {name for left, right in secrets.rules for name in left | right})
    shown_count = 0
    for left, right in secrets.rules:
        whole = columns.count_support(left | right)
        shown_count += reaches_thresholds(whole, columns.count_support(left) if left else 0, least, share)
    return shown_count + sum(exposed_item_rules(published_baskets, [item], least, share or 1) for item in secrets.items)


def exposed_item_rules(published_baskets: Baskets, items: Iterable[Item], least: int, confidence: Confidence) -> int:
    """How many rules with one of the items alone on the right, and anything on the left, reach both thresholds.

    A rule with more items on the right reaches them only if one with the item alone does.
    """
    share = parse_exact_confidence(confidence)
    columns = ItemColumns.of(published_baskets, least=max(least, 1))
    shown_count = 0
    for name in sorted({str(item) for item in items} & set(columns.names)):
        itemsets = list_frequent_itemsets(columns, max(least, 1), columns.names.index(name))
        shown_count += sum(
            reaches_thresholds(itemset.support, itemset.left_support, least, share) for itemset in itemsets
        )
    return shown_count


def count_foreign_items(published_baskets: Baskets, original: Baskets, unknown_mark: str = "") -> int:
    """How many published items no original basket holds; with a mark, "milk?" counts as "milk"."""
    known_names = {str(item) for item in original.items}
    names = [str(item) for item in published_baskets.items]
    return sum((name.removesuffix(unknown_mark) if unknown_mark else name) not in known_names for name in names)


def count_baskets(published_baskets: Baskets) -> int:
    """The number of published baskets."""
    return len(published_baskets)


checks_claim("basket_count", "exactly", properties=("baskets",), unit="size")(
    lambda evidence, _: count_baskets(evidence.published_data)
)
checks_claim("foreign_items", "exactly", needs_original=True)(
    lambda evidence, arguments: count_foreign_items(
        evidence.published_data, evidence.original, str(arguments.get("unknown_mark", ""))
    )
)


@checks_claim("exposed_rules", "exactly", properties=("hidden_rules",), private="sensitive")
def _check_exposed_rules(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    secret = evidence.details["sensitive"]
    return exposed_rules(
        evidence.published_data, secret, int(arguments["min_support"]), arguments.get("min_confidence")
    )


def reaches_thresholds(whole: int, left_support: int, least: int, share: Fraction | None) -> bool:
    """Whether a rule shows; an itemset has no left side and no confidence."""
    return whole >= least and (share is None or whole * share.denominator >= share.numerator * left_support)


@dataclass(frozen=True)
class SecretNames:
    """What is secret, by the names of its items as text."""

    rules: tuple[tuple[ItemNames, ItemNames], ...]
    items: frozenset[str]

    @classmethod
    def of(cls, sensitive: Iterable[Secret]) -> SecretNames:
        """Sort out rules, itemsets and items."""
        rules, items = [], set()
        for secret in sensitive:
            if isinstance(secret, str | int):
                items.add(str(secret))
            else:
                left, right = (frozenset(map(str, side)) for side in secret)
                rules.append((left, right))
        return cls(tuple(dict.fromkeys(rules)), frozenset(items))

    def __or__(self, other: SecretNames) -> SecretNames:
        """Both."""
        return SecretNames(tuple(dict.fromkeys((*self.rules, *other.rules))), self.items | other.items)

    def covers(self, items: ItemNames) -> bool:
        """Whether an itemset contains a secret one."""
        return any(not left and right <= items for left, right in self.rules)

    def is_secret(self, left: ItemNames, right: ItemNames) -> bool:
        """Whether a rule is secret."""
        return bool(right & self.items) or (left, right) in self.rules or self.covers(left | right)


class _FrequentSets:
    """Frequent itemsets as bit masks of their items, for fast enumeration of subsets."""

    def __init__(self, sets: Mapping[ItemNames, int], item_places: Mapping[str, int] | None = None) -> None:
        self.item_places: dict[str, int] = dict(item_places or {})
        for items in sets:
            for name in sorted(items):
                self.item_places.setdefault(name, len(self.item_places))
        self.names_in_order = list(self.item_places)
        self.sets = {sum(1 << self.item_places[name] for name in items): support for items, support in sets.items()}

    def name_items(self, mask: int) -> ItemNames:
        """The items of a set."""
        return frozenset(self.names_in_order[bit] for bit in _list_bits(mask))

    def holds(self, items: ItemNames) -> bool:
        """Whether a set is frequent."""
        return items <= self.item_places.keys() and sum(1 << self.item_places[name] for name in items) in self.sets


@dataclass
class _MiningDifference:
    original_count: int = 0
    published_count: int = 0
    lost_count: int = 0
    ghosts: int = 0
    original_secrets: int = 0
    published_secrets: int = 0


def _compare_itemsets(
    original_sets: _FrequentSets, published_sets: _FrequentSets, secrets: SecretNames
) -> _MiningDifference:
    old, new = original_sets.sets.keys(), published_sets.sets.keys()
    public_masks = {mask for mask in old if not secrets.covers(original_sets.name_items(mask))}
    return _MiningDifference(
        original_count=len(public_masks),
        published_count=len(new),
        lost_count=len(public_masks - new),
        ghosts=len(new - old),
    )


def _compare_rules(
    original_sets: _FrequentSets,
    published_sets: _FrequentSets,
    share: Fraction,
    secrets: SecretNames,
    all_secrets: SecretNames,
) -> _MiningDifference:
    difference = _MiningDifference()
    every = list(dict.fromkeys((*original_sets.sets, *published_sets.sets)))
    for number, whole in enumerate(every):
        if number % 1024 == 0:
            report_progress("comparing rules", number, len(every))
        for left_mask in _list_proper_submasks(whole):
            old, new = (
                _has_rule(original_sets, whole, left_mask, share),
                _has_rule(published_sets, whole, left_mask, share),
            )
            if not old and not new:
                continue
            difference.published_count += new
            sides = published_sets.name_items(left_mask), published_sets.name_items(whole ^ left_mask)
            if secrets.is_secret(*sides):
                difference.original_secrets += old
                difference.published_secrets += new
                continue
            difference.ghosts += new and not old
            if not all_secrets.is_secret(*sides):
                difference.original_count += old
                difference.lost_count += old and not new
    return difference


def _has_rule(frequent_sets: _FrequentSets, whole: int, left_mask: int, share: Fraction) -> bool:
    support = frequent_sets.sets.get(whole)
    return support is not None and support * share.denominator >= share.numerator * frequent_sets.sets[left_mask]


def _list_proper_submasks(mask: int) -> Iterator[int]:
    part = (mask - 1) & mask
    while part:
        yield part
        part = (part - 1) & mask


def _list_bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


@dataclass(frozen=True)
class _BasketChanges:
    """Occurrences added, removed or marked as unknown; baskets are compared in order."""

    dissimilarity: float
    added_count: int
    removed_count: int
    unknown: int
    baskets: int

    @classmethod
    def of(cls, original: Baskets, published_baskets: Baskets, unknown_mark: str) -> _BasketChanges:
        if len(original) != len(published_baskets):
            raise DataError(
                f"{count_noun(len(original), 'basket')} became {len(published_baskets):,}: changes can only be counted "
                "basket by basket"
            )
        names = {str(item): code for code, item in enumerate(original.items)}
        shown_names = [str(item) for item in published_baskets.items]
        lacks = np.array([bool(unknown_mark) and name.endswith(unknown_mark) for name in shown_names], bool)
        plain = [
            name.removesuffix(unknown_mark) if hides else name for name, hides in zip(shown_names, lacks, strict=True)
        ]
        number = np.array([names.setdefault(name, len(names)) for name in plain], dtype=np.int64)
        width = max(len(names), 1)
        old = np.repeat(np.arange(len(original)), np.diff(original.offsets)) * width + original.codes
        codes = published_baskets.codes.astype(np.int64)
        new = np.repeat(np.arange(len(published_baskets)), np.diff(published_baskets.offsets)) * width + number[codes]
        unknown, new = new[lacks[codes]], new[~lacks[codes]]
        added_keys, removed_keys = np.setdiff1d(new, old), np.setdiff1d(np.setdiff1d(old, new), unknown)
        counts = [np.bincount(keys % width, minlength=width) for keys in (old, new)]
        support_difference = int(np.abs(counts[0] - counts[1]).sum())
        return cls(
            dissimilarity=support_difference / len(old) if len(old) else float(bool(len(new))),
            added_count=len(added_keys),
            removed_count=len(removed_keys),
            unknown=len(unknown),
            baskets=len(np.unique(np.concatenate((added_keys, removed_keys, unknown)) // width)),
        )
