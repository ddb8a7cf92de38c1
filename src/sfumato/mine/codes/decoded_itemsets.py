# SPDX-License-Identifier: MIT
"""Decode itemsets that a provider mined from encoded baskets, with the key, and derive the rules of the originals.

The provider's result is checked as far as possible (`provider_checks`). With the key alone: codes must be the key's,
the supports of single codes must be those the key knows, no frequent code and no subset of a set may be missing, and
the itemsets whose support the key knows must be there. With the originals every support is counted again, and that
nothing was left out is proved. A key that was modified, or that belongs to other baskets, is rejected: it would decode
to wrong itemsets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato.baskets import Baskets, Items
from sfumato.errors import DataError, PolicyError, count_noun
from sfumato.key import Key
from sfumato.mine.baskets.association_rules import derive_rule_frame
from sfumato.mine.baskets.itemsets import Itemsets, list_itemsets
from sfumato.mine.codes.bloom_filters import METHOD as BLOOM
from sfumato.mine.codes.bloom_filters import BloomKey
from sfumato.public.codes import provider_checks
from sfumato.public.codes.item_key import ItemKey
from sfumato.public.codes.provider_checks import CodeSet, ItemIndices
from sfumato.public.sealed_key import refuse_other_baskets
from sfumato.public.thresholds import Confidence, Support, compute_least_count

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class DecodedMining:
    """What a provider found, in terms of the originals."""

    itemsets: Itemsets
    """The frequent itemsets of the originals."""
    least: int
    """The support from which they are complete, if the provider left nothing out."""
    returned_count: int
    """How many itemsets the provider returned."""
    spot_checks: int
    """How many larger itemsets of known support were looked up."""
    is_exact: bool
    """Whether supports are the true ones: not for filters decoded without the originals."""
    is_complete: bool
    """Whether it was proved, with the originals, that nothing was left out."""

    @property
    def frame(self) -> pl.DataFrame:
        """The itemsets as a frame of ``items`` and ``support``."""
        import polars as pl

        return pl.DataFrame({"items": list_itemsets(self.itemsets), "support": self.itemsets.supports})

    def find_rules(self, min_confidence: Confidence) -> pl.DataFrame:
        """The association rules of the originals."""
        if not self.is_exact:
            raise PolicyError("rules need true supports, and filters show larger ones; decode with the originals")
        return derive_rule_frame(self.itemsets, min_confidence)


def decode_itemsets(
    itemsets: pl.DataFrame | Itemsets,
    key: Key,
    baskets: Baskets | None = None,
    min_support: Support | None = None,
    max_length: int | None = None,
) -> pl.DataFrame:
    """The frequent itemsets of the originals, from all that the provider found in the release.

    `itemsets` are all frequent itemsets of the release (no other kind), mined with the count requested for the
    originals, or a lower one. The result has the columns of `frequent_itemsets`: the sets among `itemsets` whose true
    support is at least `min_support` (a count, or a share of the original baskets), by default the smallest support in
    `itemsets`. If the provider was asked for short itemsets only, `max_length` says so; for one-to-n, ask for all. The
    result is complete if `itemsets` is. A missing code or subset is noticed and refused, and so are missing itemsets
    among the spot checks of the key. The originals are not needed, but if given every support is counted again, and
    that nothing was left out is proved; only filters (`encode_bloom`) need them to be exact: without them, there may be
    false itemsets and supports too high, never too low.
    """
    return decode_mining(itemsets, key, baskets, min_support, max_length).frame


def decode_rules(
    itemsets: pl.DataFrame | Itemsets,
    key: Key,
    baskets: Baskets | None = None,
    min_support: Support | None = None,
    min_confidence: Confidence = 0.5,
    max_length: int | None = None,
) -> pl.DataFrame:
    """The association rules of the originals, from the *itemsets* that the provider found; filters need the originals.

    Decodes as `decode_itemsets` does; the columns are those of `association_rules`. Rules that the provider derived are
    of no use: their supports and confidences count what was added to hide the items.
    """
    return decode_mining(itemsets, key, baskets, min_support, max_length).find_rules(min_confidence)


def decode_mining(
    itemsets: pl.DataFrame | Itemsets,
    key: Key,
    baskets: Baskets | None = None,
    min_support: Support | None = None,
    max_length: int | None = None,
) -> DecodedMining:
    """Decode, with an account of what was checked."""
    if max_length is not None and (isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 1):
        raise PolicyError("max_length must be a whole number of items, at least 1, or None")
    counts = _index_provider_sets(itemsets)
    provider_checks.refuse_incomplete_sets(counts)
    is_filtered = isinstance(key, Key) and key.method == BLOOM
    opened_key = BloomKey.open(key) if is_filtered else ItemKey.open(key)
    code_supports = dict(zip(opened_key.published_codes, opened_key.supports, strict=True))
    provider_checks.refuse_foreign_codes(counts, code_supports)
    least = _choose_least_support(counts, min_support, opened_key.baskets)
    provider_checks.refuse_missing_codes(counts, code_supports, least)
    decoded_supports = opened_key.decode(counts)
    spot_checks = provider_checks.choose_spot_checks(opened_key.spot_checks, least, max_length)
    provider_checks.refuse_failed_spot_checks(spot_checks, decoded_supports, is_exact=not is_filtered)
    if baskets is not None:
        refuse_other_baskets(baskets, opened_key.data)
        decoded_supports = _recount(decoded_supports, baskets, may_be_high=is_filtered)
    frequent = {
        items: count
        for items, count in decoded_supports.items()
        if count >= least and len(items) <= (max_length or len(items))
    }
    if baskets is not None:
        provider_checks.refuse_left_out(frequent, baskets, least, max_length)
    return DecodedMining(
        itemsets=_build_itemsets(frequent, opened_key.items, opened_key.baskets),
        least=least,
        returned_count=len(counts),
        spot_checks=len(spot_checks),
        is_exact=not is_filtered or baskets is not None,
        is_complete=baskets is not None,
    )


def _recount(
    decoded_supports: Mapping[ItemIndices, int], baskets: Baskets, *, may_be_high: bool
) -> dict[ItemIndices, int]:
    """The supports in the originals; a provider who counted wrongly is refused."""
    true = provider_checks.count_original_supports(decoded_supports, baskets)
    wrong = sum(
        decoded_supports[items] < count if may_be_high else decoded_supports[items] != count
        for items, count in true.items()
    )
    if wrong and may_be_high:
        raise DataError(
            f"{count_noun(wrong, 'itemset has', 'itemsets have')} too small a support in the filters; the provider's "
            "counts are wrong"
        )
    if wrong:
        raise DataError(
            f"{count_noun(wrong, 'itemset has', 'itemsets have')} another support in the originals; the provider's "
            "counts are wrong"
        )
    return true


def _index_provider_sets(provider_sets: pl.DataFrame | Itemsets) -> dict[CodeSet, int]:
    """What the provider found, as sets of whole numbers."""
    if isinstance(provider_sets, Itemsets):
        lists, supports = list_itemsets(provider_sets).to_list(), provider_sets.supports.tolist()
    else:
        absent = [name for name in ("items", "support") if name not in getattr(provider_sets, "columns", ())]
        if absent:
            raise PolicyError(
                'itemsets must be a frame with the columns "items" and "support", as returned by frequent_itemsets'
            )
        lists, supports = provider_sets["items"].to_list(), provider_sets["support"].to_list()
    try:
        return {frozenset(map(int, codes)): int(count) for codes, count in zip(lists, supports, strict=True)}
    except (TypeError, ValueError):
        raise DataError("some of the items found are not whole numbers, so they are not codes of a release") from None


def _choose_least_support(counts: Mapping[CodeSet, int], min_support: Support | None, rows: int) -> int:
    if min_support is not None:
        return compute_least_count(min_support, rows)
    # If nothing was found, nothing is known of the threshold.
    return min(counts.values(), default=rows + 1)


def _build_itemsets(supports: Mapping[ItemIndices, int], items: Items, rows: int) -> Itemsets:
    """Short ones first, in an order that the provider's does not change."""
    sorted_sets = sorted(supports, key=lambda itemset: (len(itemset), itemset))
    lengths = [len(itemset) for itemset in sorted_sets]
    codes = np.fromiter((code for itemset in sorted_sets for code in itemset), dtype=np.int32, count=sum(lengths))
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    counts = np.array([supports[itemset] for itemset in sorted_sets], dtype=np.int64)
    return Itemsets(items, offsets, codes, counts, rows)
