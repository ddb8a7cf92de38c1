# SPDX-License-Identifier: MIT
"""Decode itemsets that a provider mined from encoded baskets, with the key.

The provider's result is checked as far as the key allows: codes must be the key's, the supports of single codes must be
those the key knows, no code with the requested support may be missing, and no subset of a set. So a provider who mined
with a higher threshold is noticed wherever that cost a single code. One who returns all single codes but leaves out
larger sets is not: the key does not know their supports. A key that was modified, or that belongs to other baskets, is
rejected: it would decode to wrong itemsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sfumato.baskets import Baskets, Item, Items
from sfumato.errors import DataError, PolicyError
from sfumato.key import Key
from sfumato.mine.baskets.item_columns import build_full_column, build_item_columns, intersect_items
from sfumato.mine.baskets.itemsets import Itemsets, list_itemsets
from sfumato.mine.codes.bloom_filters import METHOD as BLOOM
from sfumato.mine.codes.bloom_filters import BloomKey, filter_requests, mine_filters
from sfumato.progress import report_progress
from sfumato.public.sealed_key import refuse_other_baskets, seal_key, unseal_key
from sfumato.public.thresholds import Support, compute_least_count

if TYPE_CHECKING:
    import polars as pl

METHOD = "encode_items"
Coded = frozenset[int]
_LISTS = ("items", "codes", "supports", "fake_places")
_NESTED = ("images", "fakes")

__all__ = ["ItemKey", "decode_itemsets", "filter_requests", "mine_filters"]


@dataclass(frozen=True)
class ItemKey:
    """A key of `encode_items`, opened."""

    kind: str
    items: Items
    codes: tuple[int, ...]
    """The published numbers: those of the items' images, and fake ones."""
    images: tuple[tuple[int, ...], ...]
    """For each item the indices of its codes; the first is its own, in no other item's image."""
    fakes: tuple[tuple[int, ...], ...]
    """Fake baskets, as indices of items."""
    fake_places: tuple[int, ...]
    """Their positions among the published baskets."""
    supports: tuple[int, ...]
    """How many published baskets hold each code."""
    noise: float
    seed: int
    """The seed of the random codes of each basket."""
    baskets: int
    """The number of baskets without fakes."""
    data: str
    """Their fingerprint."""

    def __post_init__(self) -> None:
        """Check that every set of items is determined by its codes."""
        own = [image[0] for image in self.images]
        others = {position for image in self.images for position in image[1:]}
        if len(set(own)) != len(own) or others & set(own):
            raise ValueError("an image is covered by others")
        if len(self.images) != len(self.items) or not len(self.codes) == len(set(self.codes)) == len(self.supports):
            raise ValueError("parts of different lengths")
        if len(self.fakes) != len(self.fake_places):
            raise ValueError("parts of different lengths")

    def sealed(self) -> Key:
        """For keeping."""
        lists = {name: list(getattr(self, name)) for name in _LISTS}
        nested = {name: [list(values) for values in getattr(self, name)] for name in _NESTED}
        rest = {"kind": self.kind, "noise": self.noise, "seed": f"{self.seed:x}", "baskets": self.baskets}
        return seal_key(METHOD, {**lists, **nested, **rest, "data": self.data})

    @classmethod
    def opened(cls, key: Key | None) -> ItemKey:
        """Read a key; a modified one is rejected."""
        secret = unseal_key(key, METHOD)
        try:
            lists: dict[str, Any] = {name: tuple(secret[name]) for name in _LISTS}
            nested: dict[str, Any] = {name: tuple(tuple(values) for values in secret[name]) for name in _NESTED}
            rest: dict[str, Any] = {name: secret[name] for name in ("kind", "noise", "baskets", "data")}
            return cls(**lists, **nested, **rest, seed=int(secret["seed"], 16))
        except (KeyError, TypeError, ValueError, IndexError):
            raise DataError(f"the key is not a valid key of {METHOD}") from None

    @cached_property
    def owners(self) -> Mapping[int, int]:
        """The item that each exclusive code belongs to."""
        return {self.codes[image[0]]: item for item, image in enumerate(self.images)}

    @cached_property
    def published(self) -> tuple[Coded, ...]:
        """The image of each item, in published numbers."""
        return tuple(frozenset(self.codes[position] for position in image) for image in self.images)

    def itemset(self, coded: Coded) -> tuple[int, ...] | None:
        """The items with exactly these codes; None if there are no such items."""
        held = [self.owners[code] for code in coded if code in self.owners]
        covered = frozenset().union(*(self.published[item] for item in held))
        return tuple(sorted(held)) if covered == coded else None

    def decoded(self, provider_sets: Mapping[Coded, int]) -> dict[tuple[int, ...], int]:
        """The true support of every set of items found, without fakes."""
        columns = self._fake_columns()
        whole = build_full_column(len(self.fakes))
        true: dict[tuple[int, ...], int] = {}
        for done, (coded, count) in enumerate(provider_sets.items()):
            if done % 4096 == 0:
                report_progress("decoding itemsets", done, len(provider_sets))
            items = self.itemset(coded)
            if items is not None:
                true[items] = count - (intersect_items(columns, items, whole).bit_count() if whole else 0)
        return true

    def _fake_columns(self) -> dict[int, int]:
        fakes = Baskets.of(self.fakes)
        columns: Any = build_item_columns(fakes, range(len(self.items))) if self.fakes else {}
        return dict(columns)


def decode_itemsets(
    found: pl.DataFrame | Itemsets, key: Key, baskets: Baskets | None = None, min_support: Support | None = None
) -> pl.DataFrame:
    """The frequent itemsets of the originals, from all that the provider found in the release.

    `found` are all frequent itemsets of the release (no other kind, and for one-to-n no `max_length`), mined with the
    count requested for the originals, or a lower one. The result has the columns of `frequent_itemsets`: the itemsets
    of `found` whose true support is at least `min_support` (a count, or a share of the original baskets), by default
    the smallest support in `found`. It is complete if `found` is. A missing single code or subset is noticed and
    refused; that larger itemsets were left out cannot be. The originals are not needed, but if given every support is
    counted again; only filters (`encode_bloom`) need them to be exact: without them, there may be false itemsets and
    supports too high, never too low.
    """
    counts = _index_provider_sets(found)
    _refuse_incomplete_sets(counts)
    if isinstance(key, Key) and key.method == BLOOM:
        return _decode_filters(counts, BloomKey.opened(key), baskets, min_support)
    opened = ItemKey.opened(key)
    known = dict(zip(opened.codes, opened.supports, strict=True))
    _refuse_foreign_codes(counts, known)
    least = _choose_least_support(counts, min_support, opened.baskets)
    _refuse_missing_codes(counts, known, least)
    true = {items: count for items, count in opened.decoded(counts).items() if count >= least}
    if baskets is not None:
        refuse_other_baskets(baskets, opened.data)
        wrong = sum(count != true[items] for items, count in _recount_originals(true, baskets).items())
        if wrong:
            raise DataError(
                f"{wrong} itemsets have different supports in the originals; the provider's counts are wrong"
            )
    return _build_decoded_frame(true, opened.items)


def _decode_filters(
    counts: Mapping[Coded, int], key: BloomKey, baskets: Baskets | None, min_support: Support | None
) -> pl.DataFrame:
    known = dict(zip(key.requests, key.supports, strict=True))
    _refuse_foreign_codes(counts, known)
    request_index = {request: index for index, request in enumerate(key.requests)}
    least = _choose_least_support(counts, min_support, key.baskets)
    _refuse_missing_codes(counts, known, least)
    supports = {tuple(sorted(request_index[code] for code in coded)): count for coded, count in counts.items()}
    kept = {items: count for items, count in supports.items() if count >= least}
    if baskets is not None:
        refuse_other_baskets(baskets, key.data)
        true = _recount_originals(kept, baskets)
        low = sum(kept[items] < count for items, count in true.items())
        if low:
            raise DataError(f"{low} itemsets have too small a support in the filters; the provider's counts are wrong")
        kept = {items: count for items, count in true.items() if count >= least}
    return _build_decoded_frame(kept, key.items)


def _index_provider_sets(provider_sets: pl.DataFrame | Itemsets) -> dict[Coded, int]:
    """What the provider found, as sets of whole numbers."""
    if isinstance(provider_sets, Itemsets):
        lists, supports = list_itemsets(provider_sets).to_list(), provider_sets.supports.tolist()
    else:
        absent = [name for name in ("items", "support") if name not in getattr(provider_sets, "columns", ())]
        if absent:
            raise PolicyError(
                'found must be a frame with the columns "items" and "support", as returned by frequent_itemsets'
            )
        lists, supports = provider_sets["items"].to_list(), provider_sets["support"].to_list()
    try:
        return {frozenset(map(int, codes)): int(count) for codes, count in zip(lists, supports, strict=True)}
    except (TypeError, ValueError):
        raise DataError("some of the items found are not whole numbers, so they are not codes of a release") from None


def _refuse_incomplete_sets(counts: Mapping[Coded, int]) -> None:
    """All subsets of a frequent set are frequent: if one is missing, the sets are incomplete."""
    gaps = sum(
        counts.get(codes - {code}, -1) < count for codes, count in counts.items() if len(codes) > 1 for code in codes
    )
    if gaps or frozenset() in counts:
        raise DataError(
            f"{gaps} subsets of itemsets are missing or rarer than the whole; mine all frequent itemsets "
            '(kind "all"), not the closed or maximal ones'
        )


def _refuse_foreign_codes(counts: Mapping[Coded, int], known: Mapping[int, int]) -> None:
    single = {next(iter(codes)): count for codes, count in counts.items() if len(codes) == 1}
    foreign = sum(code not in known for code in single)
    if foreign:
        raise DataError(f"{foreign} of {len(single)} codes found are not of this key; use the key of this release")
    wrong = sum(known[code] != count for code, count in single.items())
    if wrong:
        raise DataError(
            f"{wrong} of {len(single)} codes have a different support than in this key's release; either the key "
            "or the provider's counts belong to another release"
        )


def _refuse_missing_codes(counts: Mapping[Coded, int], known: Mapping[int, int], least: int) -> None:
    """A provider who mined with a higher threshold leaves out codes that the key knows to be frequent."""
    missing = sum(count >= least and frozenset({code}) not in counts for code, count in known.items())
    if missing:
        raise DataError(
            f"{missing} codes have a support of {least} or more in this key's release, but were not found; the "
            "provider mined with a higher threshold or left itemsets out. Ask for all itemsets from that support on, "
            "or set min_support to the one that was mined"
        )


def _choose_least_support(counts: Mapping[Coded, int], min_support: Support | None, rows: int) -> int:
    if min_support is not None:
        return compute_least_count(min_support, rows)
    # If nothing was found, nothing is known of the threshold.
    return min(counts.values(), default=rows + 1)


def _recount_originals(sets: Iterable[tuple[int, ...]], baskets: Baskets) -> dict[tuple[int, ...], int]:
    """The supports of sets of item indices, counted in the originals."""
    wanted = list(sets)
    used = sorted({position for itemset in wanted for position in itemset})
    columns = dict(
        zip(used, build_item_columns(baskets, [baskets.items[position] for position in used]).values(), strict=True)
    )
    whole = build_full_column(len(baskets))
    return {itemset: intersect_items(columns, itemset, whole).bit_count() for itemset in wanted}


def _build_decoded_frame(supports: Mapping[tuple[int, ...], int], items: Items) -> pl.DataFrame:
    import polars as pl

    kind = pl.String if items and isinstance(items[0], str) else pl.Int64
    names: list[list[Item]] = [[items[position] for position in itemset] for itemset in supports]
    return pl.DataFrame(
        {"items": names, "support": list(supports.values())}, schema={"items": pl.List(kind), "support": pl.Int64}
    )
