# SPDX-License-Identifier: MIT
"""Check hiding on baskets that stay in their file, counted some at a time, and independently of the method.

Of a rule, the baskets that hold its sides are counted. The rules about an item are looked for by `side_effects`, among
the items that are frequent together with it: no other can be on a left side that shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.engine.stored_baskets import CodedBatch, StoredBaskets, Weight
from sfumato.errors import DataError, PolicyError, count_noun
from sfumato.measure.baskets.recount import ItemNames
from sfumato.measure.baskets.side_effects import SecretNames, exposed_item_rules, reaches_thresholds
from sfumato.measure.stored_checks import checks_stored_claim, find_stored_measure
from sfumato.public.thresholds import Confidence, parse_exact_confidence
from sfumato.release import Claim, Finding, Number


@dataclass(frozen=True)
class BasketEvidence:
    """Published baskets in their file, and what only their custodian has."""

    published_baskets: StoredBaskets
    original: StoredBaskets | None = None
    sensitive: tuple[Any, ...] | None = None
    """What was to be hidden."""


def measure_stored_basket_claim(claim: Claim, evidence: BasketEvidence) -> Finding:
    """Measure a claim on the file; a claim that needs missing originals stays open."""
    if claim.needs_original and evidence.original is None:
        return Finding.of(claim, None)
    measure = find_stored_measure(claim.measure, "baskets")
    if measure is None:
        raise PolicyError(f'the claim "{claim.property}" cannot be measured in its file; use --engine memory')
    return Finding.of(claim, measure(evidence, claim.arguments))


def count_exposed_rules(
    published_baskets: StoredBaskets, sensitive: Iterable[Any], least: int, confidence: Confidence | None
) -> int:
    """How many of the secret rules and itemsets reach both thresholds, as `exposed_rules` counts them."""
    share = None if confidence is None else parse_exact_confidence(confidence)
    secrets = SecretNames.of(sensitive)
    sides = list(dict.fromkeys(side for left, right in secrets.rules for side in (left | right, left) if side))
    supports = count_stored_supports(published_baskets, sides)
    shown_count = sum(
        reaches_thresholds(supports[left | right], supports[left] if left else 0, least, share)
        for left, right in secrets.rules
    )
    return shown_count + sum(
        _count_item_rules(published_baskets, item, least, share or 1) for item in sorted(secrets.items)
    )


def count_stored_supports(baskets: StoredBaskets, itemsets: list[ItemNames]) -> dict[ItemNames, int]:
    """How many baskets hold each itemset."""
    code_of = {str(item): number for number, item in enumerate(baskets.items)}
    names = sorted({name for items in itemsets for name in items if name in code_of})
    column = {name: number for number, name in enumerate(names)}
    codes = np.full(len(baskets.items), -1, dtype=np.int64)
    codes[[code_of[name] for name in names]] = np.arange(len(names))
    supports = dict.fromkeys(itemsets, 0)
    for batch in baskets.iterate("counting what was hidden") if itemsets else ():
        holder_mask = _spread(batch, codes, len(names))
        for items in itemsets:
            if all(name in column for name in items):
                supports[items] += int(np.count_nonzero(holder_mask[[column[name] for name in items]].all(axis=0)))
    return supports


def _spread(batch: CodedBatch, codes: Ints, count: int) -> Flags:
    """Items × baskets: which baskets hold which of the numbered items."""
    holder_mask = np.zeros((count, len(batch.offsets) - 1), dtype=np.bool_)
    rows, columns = np.repeat(np.arange(len(batch.offsets) - 1), batch.sizes), codes[batch.codes]
    holder_mask[columns[columns >= 0], rows[columns >= 0]] = True
    return holder_mask


def _count_item_rules(published_baskets: StoredBaskets, item: str, least: int, share: Confidence) -> int:
    code = {str(name): number for number, name in enumerate(published_baskets.items)}.get(item)
    if code is None or published_baskets.counts[code] < max(least, 1):
        return 0
    joint_counts = np.zeros(len(published_baskets.items), dtype=np.int64)
    item_codes = np.full(len(published_baskets.items), -1, dtype=np.int64)
    item_codes[code] = 0
    for batch in published_baskets.iterate("counting items together"):
        holding_mask = np.repeat(_spread(batch, item_codes, 1)[0], batch.sizes)
        joint_counts += np.bincount(batch.codes[holding_mask], minlength=len(published_baskets.items))
    kept_mask = joint_counts >= max(least, 1)
    # Bits of the items, and whole numbers for each occurrence.
    weight = Weight(40 + int(kept_mask.sum()) / 4, 64)
    selection = published_baskets.take(kept_mask, kept_mask, "checking hidden items", "raise min_support", weight)
    return exposed_item_rules(selection.baskets, [item], least, share)


@checks_stored_claim("foreign_items", "baskets")
def _count_foreign_items(evidence: BasketEvidence, arguments: Mapping[str, Any]) -> Number:
    assert evidence.original is not None
    known_names = {str(item) for item in evidence.original.items}
    return sum(str(item) not in known_names for item in evidence.published_baskets.items)


@checks_stored_claim("unnamed_changes", "baskets")
def _count_unnamed_changes(evidence: BasketEvidence, arguments: Mapping[str, Any]) -> Number:
    assert evidence.original is not None and evidence.sensitive is not None
    items = _NumberedItems.of(evidence.original, evidence.published_baskets)
    hidden_names = {str(item) for item in evidence.sensitive}
    hidden_codes = [code for name, code in items.names.items() if name in hidden_names]
    count = 0
    for old_keys, new_keys in items.iterate_batches():
        lost_keys = np.setdiff1d(old_keys, new_keys)
        count += len(np.setdiff1d(new_keys, old_keys)) + int((~np.isin(lost_keys % items.width, hidden_codes)).sum())
    return count


@checks_stored_claim("exposed_rules", "baskets")
def _count_exposed(evidence: BasketEvidence, arguments: Mapping[str, Any]) -> Number:
    assert evidence.sensitive is not None
    least, confidence = int(arguments["min_support"]), arguments.get("min_confidence")
    return count_exposed_rules(evidence.published_baskets, evidence.sensitive, least, confidence)


checks_stored_claim("basket_count", "baskets")(lambda evidence, _: len(evidence.published_baskets))


def measure_basket_changes(original: StoredBaskets, published_baskets: StoredBaskets) -> dict[str, float]:
    """What was changed, basket by basket, as `side_effects` and `measure_changed_items` count it."""
    if len(original) != len(published_baskets):
        raise DataError(
            f"{count_noun(len(original), 'basket')} became {len(published_baskets):,}: changes can only be counted "
            "basket by basket"
        )
    items = _NumberedItems.of(original, published_baskets)
    added_count = removed_count = baskets = 0
    for old_keys, new_keys in items.iterate_batches():
        more, less = np.setdiff1d(new_keys, old_keys), np.setdiff1d(old_keys, new_keys)
        added_count, removed_count = added_count + len(more), removed_count + len(less)
        baskets += len(np.unique(np.concatenate((more, less)) // items.width))
    counts = np.zeros(len(items.names), dtype=np.int64)
    counts[: len(original.items)] = original.counts
    np.subtract.at(counts, items.published_codes, published_baskets.counts)
    total = max(original.entries, 1)
    return {
        "loss": round(min((added_count + removed_count) / total, 1.0), 12),
        "dissimilarity": float(np.abs(counts).sum()) / total,
        "added": float(added_count),
        "removed": float(removed_count),
        "changed_baskets": float(baskets),
    }


class _BatchKeys(NamedTuple):
    """A number for each item in each of some baskets."""

    old_keys: Ints
    new_keys: Ints


@dataclass(frozen=True)
class _NumberedItems:
    """The items of two files under the same numbers."""

    original: StoredBaskets
    published_baskets: StoredBaskets
    names: Mapping[str, int]
    published_codes: Ints
    """The number of each published item."""

    @classmethod
    def of(cls, original: StoredBaskets, published_baskets: StoredBaskets) -> _NumberedItems:
        names = {str(item): code for code, item in enumerate(original.items)}
        codes = [names.setdefault(str(item), len(names)) for item in published_baskets.items]
        return cls(original, published_baskets, names, np.array(codes, dtype=np.int64))

    @property
    def width(self) -> int:
        """The distance of the keys of two baskets."""
        return max(len(self.names), 1)

    def iterate_batches(self) -> Iterator[_BatchKeys]:
        """The occurrences in some baskets, before and after."""
        original_codes = np.arange(len(self.original.items), dtype=np.int64)
        files = (baskets.iterate("comparing with the originals") for baskets in (self.original, self.published_baskets))
        for original_batch, published_batch in zip(*files, strict=True):
            yield _BatchKeys(
                _number_batch(original_batch, original_codes, self.width),
                _number_batch(published_batch, self.published_codes, self.width),
            )


def _number_batch(batch: CodedBatch, number: Ints, width: int) -> Ints:
    rows = np.repeat(np.arange(len(batch.offsets) - 1, dtype=np.int64), batch.sizes)
    return rows * width + (number[batch.codes] if len(number) else 0)
