# SPDX-License-Identifier: MIT
"""Bloom filters of baskets and of items: the key that draws them, and the provider's mining over them.

B(S) is a vector of m bits; each item sets the bits that k hash functions name. A set S counts as contained in a basket
T if all bits of B(S) are set in B(T), so a contained set is never missed, but bits that other items set may cause false
positives. Qiu, Li, Wu, *Protecting business intelligence and customer privacy while outsourcing data mining tasks*
(KAIS 2008).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.baskets import Baskets, Item, Items
from sfumato.errors import DataError, PolicyError
from sfumato.key import Key
from sfumato.public.codes.item_columns import BasketBits, build_full_column, build_item_columns, intersect_items
from sfumato.public.codes.provider_checks import CodeSet, ItemIndices, SpotCheck, parse_spot_checks, spell_spot_checks
from sfumato.public.sealed_key import seal_key, unseal_key
from sfumato.public.thresholds import Support, compute_least_count
from sfumato.runtime.progress import report_progress

if TYPE_CHECKING:
    import polars as pl

METHOD = "encode_bloom"
NO_KEY = b""
"""Anyone who knows the hash functions can compute such filters."""


def hash_item(item: Item, bits: int, hashes: int, secret: bytes = NO_KEY) -> tuple[int, ...]:
    """The bits that an item sets: k keyed hashes (HMAC-SHA-256), each of range m. Some may coincide."""
    marks = (hmac.new(secret, f"{number}:{item}".encode(), hashlib.sha256).digest() for number in range(hashes))
    return tuple(int.from_bytes(mark, "big") % bits for mark in marks)


@dataclass(frozen=True)
class BloomKey:
    """A key, opened."""

    items: Items
    requests: tuple[int, ...]
    """The number that the provider sees for each item."""
    secret: bytes
    bits: int
    hashes: int
    baskets: int
    data: str
    """The fingerprint of the baskets."""
    supports: tuple[int, ...]
    """How many basket filters contain that of each item."""
    spot_checks: tuple[SpotCheck, ...] = ()
    """Larger itemsets whose true support is known; none in keys of earlier versions."""

    def seal(self) -> Key:
        """The same secret as a `Key`, which can be saved."""
        content = {
            "items": list(self.items),
            "requests": list(self.requests),
            "secret": self.secret.hex(),
            "bits": self.bits,
            "hashes": self.hashes,
            "baskets": self.baskets,
            "data": self.data,
            "supports": list(self.supports),
            "spot_checks": spell_spot_checks(self.spot_checks),
        }
        return seal_key(METHOD, content)

    @classmethod
    def open(cls, key: Key | None) -> BloomKey:
        """Read a key; a modified one is rejected."""
        secret = unseal_key(key, METHOD)
        try:
            lists: dict[str, Any] = {name: tuple(secret[name]) for name in ("items", "requests", "supports")}
            numbers: dict[str, Any] = {name: int(secret[name]) for name in ("bits", "hashes", "baskets")}
            lists["spot_checks"] = parse_spot_checks(secret.get("spot_checks", ()))
            bloom_key = cls(**lists, **numbers, data=str(secret["data"]), secret=bytes.fromhex(secret["secret"]))
            if not len(bloom_key.items) == len(set(bloom_key.requests)) == len(bloom_key.supports):
                raise ValueError("parts of different lengths")
        except (KeyError, TypeError, ValueError):
            raise DataError(f"the key is not a valid key of {METHOD}") from None
        return bloom_key

    @property
    def published_codes(self) -> tuple[int, ...]:
        """The numbers that a provider finds; `supports` are theirs."""
        return self.requests

    def decode(self, provider_sets: Mapping[CodeSet, int]) -> dict[ItemIndices, int]:
        """The items of every set found, and the support that the filters show."""
        index = {request: item for item, request in enumerate(self.requests)}
        return {tuple(sorted(index[code] for code in code_set)): count for code_set, count in provider_sets.items()}

    def list_filters(self) -> list[tuple[int, ...]]:
        """The filter of each item."""
        return [hash_item(item, self.bits, self.hashes, self.secret) for item in self.items]


def filter_baskets(baskets: Baskets, filters: list[tuple[int, ...]], bits: int) -> Baskets:
    """The filter of each basket, as the set of its bits."""
    hashes = len(filters[0]) if filters else 0
    of_items = np.array(filters, dtype=np.int32).reshape(-1, hashes)
    return Baskets(tuple(range(bits)), baskets.offsets * hashes, of_items[baskets.codes].reshape(-1))


def count_filter_supports(published_baskets: Baskets, filters: list[tuple[int, ...]]) -> list[int]:
    """How many baskets' filters contain each of the given ones."""
    columns = build_item_columns(published_baskets, {bit for item_filter in filters for bit in item_filter})
    whole = build_full_column(len(published_baskets))
    supports = []
    for filter_index, item_filter in enumerate(filters):
        if filter_index % 256 == 0:
            report_progress("counting filters", filter_index, len(filters))
        supports.append(intersect_items(columns, item_filter, whole).bit_count())
    return supports


def filter_requests(key: Key) -> Baskets:
    """What the provider gets besides the baskets: the filter of each item, under a number (`ids`) instead of a name."""
    bloom_key = BloomKey.open(key)
    named_filters = sorted(zip(bloom_key.requests, bloom_key.list_filters(), strict=True))
    return Baskets.of([set(bits) for _, bits in named_filters], ids=[number for number, _ in named_filters])


def mine_filters(
    filters: Baskets, requests: Baskets, min_support: Support, max_length: int | None = None
) -> pl.DataFrame:
    """The provider's side: sets of requests whose joint filter is contained in at least `min_support` baskets' filters.

    It needs no key. Filters only add bits, so with the threshold of the originals (τ′ = τ) none of their frequent
    itemsets is missed; a higher τ′ would give fewer false positives and might miss some. The frame is that of
    `frequent_itemsets`, with request numbers as ``items``.
    """
    if max_length is not None and max_length < 1:
        raise PolicyError("max_length must be a whole number of items, at least 1, or None")
    least = compute_least_count(min_support, len(filters))
    columns = _build_request_columns(filters, requests)
    frequent: dict[tuple[int, ...], int] = {}
    level: dict[tuple[int, ...], BasketBits] = {(number,): column for number, column in columns.items()}
    length = 1
    while level:
        report_progress("mining filters", len(frequent))
        counts = {requests: column.bit_count() for requests, column in level.items()}  # counting phase
        level = {requests: column for requests, column in level.items() if counts[requests] >= least}  # pruning phase
        frequent |= {requests: counts[requests] for requests in level}
        length += 1
        level = {} if max_length is not None and length > max_length else _join_candidates(level)  # generating phase
    return _build_request_frame(frequent)


def _build_request_columns(filters: Baskets, requests: Baskets) -> dict[int, BasketBits]:
    """Which baskets' filters contain each request."""
    if any(not isinstance(bit, int) for bit in (*filters.items, *requests.items)):
        raise DataError("filters must hold bit numbers; encode the baskets first")
    bits = build_item_columns(filters, requests.items)
    numbers = requests.ids if requests.ids is not None else range(len(requests))
    rows: list[Any] = requests.to_lists()
    whole = build_full_column(len(filters))
    columns = {int(number): intersect_items(bits, row, whole) for number, row in zip(numbers, rows, strict=True)}
    return dict(sorted(columns.items()))


def _join_candidates(level: Mapping[tuple[int, ...], BasketBits]) -> dict[tuple[int, ...], BasketBits]:
    """Sets with one more request, all of whose subsets are in the level (Apriori)."""
    by_start: dict[tuple[int, ...], list[int]] = {}
    for requests in level:
        by_start.setdefault(requests[:-1], []).append(requests[-1])
    candidates: dict[tuple[int, ...], BasketBits] = {}
    for start, ends in by_start.items():
        report_progress("joining filters", len(candidates))
        for low, high in combinations(sorted(ends), 2):
            candidate = (*start, low, high)
            if all(candidate[:index] + candidate[index + 1 :] in level for index in range(len(start))):
                candidates[candidate] = level[*start, low] & level[*start, high]
    return candidates


def _build_request_frame(frequent: Mapping[tuple[int, ...], int]) -> pl.DataFrame:
    import polars as pl

    columns = {"items": [list(requests) for requests in frequent], "support": list(frequent.values())}
    return pl.DataFrame(columns, schema={"items": pl.List(pl.Int64), "support": pl.Int64})
