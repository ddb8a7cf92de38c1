# SPDX-License-Identifier: MIT
"""Bloom filters of baskets and of items: the key that draws them, and the provider's mining over them.

B(S) is a vector of m bits; each item sets the bits that k hash functions name. A set S counts as contained in a basket
T if all bits of B(S) are set in B(T), so a contained set is never missed, and bits that other items set may feign one.
Qiu, Li, Wu, *Protecting business intelligence and customer privacy while outsourcing data mining tasks* (KAIS 2008).
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
from sfumato.mine.baskets.item_columns import Column, columns_of, everywhere, together
from sfumato.progress import tell
from sfumato.public.sealed_key import sealed, unsealed
from sfumato.public.thresholds import Support, least_count

if TYPE_CHECKING:
    import polars as pl

METHOD = "encode_bloom"
UNKEYED = b""
"""Whoever knows the hash functions computes such filters, too."""


def item_bits(item: Item, bits: int, hashes: int, secret: bytes = UNKEYED) -> tuple[int, ...]:
    """The bits that an item sets: k keyed hashes (HMAC-SHA-256), each of range m. Some may coincide."""
    marks = (hmac.new(secret, f"{number}:{item}".encode(), hashlib.sha256).digest() for number in range(hashes))
    return tuple(int.from_bytes(mark, "big") % bits for mark in marks)


@dataclass(frozen=True)
class BloomKey:
    """A key, opened."""

    items: Items
    requests: tuple[int, ...]
    """The number under which the provider hears of each item."""
    secret: bytes
    bits: int
    hashes: int
    baskets: int
    data: str
    """The fingerprint of the baskets."""
    supports: tuple[int, ...]
    """How many filters hold that of each item."""

    def sealed(self) -> Key:
        """For keeping."""
        content = {
            "items": list(self.items),
            "requests": list(self.requests),
            "secret": self.secret.hex(),
            "bits": self.bits,
            "hashes": self.hashes,
            "baskets": self.baskets,
            "data": self.data,
            "supports": list(self.supports),
        }
        return sealed(METHOD, content)

    @classmethod
    def opened(cls, key: Key | None) -> BloomKey:
        """Read a key; one that was changed is refused."""
        secret = unsealed(key, METHOD)
        try:
            lists: dict[str, Any] = {name: tuple(secret[name]) for name in ("items", "requests", "supports")}
            numbers: dict[str, Any] = {name: int(secret[name]) for name in ("bits", "hashes", "baskets")}
            found = cls(**lists, **numbers, data=str(secret["data"]), secret=bytes.fromhex(secret["secret"]))
            if not len(found.items) == len(set(found.requests)) == len(found.supports):
                raise ValueError("parts of different lengths")
        except (KeyError, TypeError, ValueError):
            raise DataError(f"the key does not hold what a key of {METHOD} holds") from None
        return found

    def filters(self) -> list[tuple[int, ...]]:
        """The filter of each item."""
        return [item_bits(item, self.bits, self.hashes, self.secret) for item in self.items]


def filter_baskets(baskets: Baskets, filters: list[tuple[int, ...]], bits: int) -> Baskets:
    """The filter of each basket, as the set of its bits."""
    hashes = len(filters[0]) if filters else 0
    of_items = np.array(filters, dtype=np.int32).reshape(-1, hashes)
    return Baskets(tuple(range(bits)), baskets.offsets * hashes, of_items[baskets.codes].reshape(-1))


def filter_supports(published: Baskets, filters: list[tuple[int, ...]]) -> list[int]:
    """How many baskets' filters hold each of the given ones."""
    columns = columns_of(published, {bit for one in filters for bit in one})
    whole = everywhere(len(published))
    found = []
    for done, one in enumerate(filters):
        if done % 256 == 0:
            tell("counting filters", done, len(filters))
        found.append(together(columns, one, whole).bit_count())
    return found


def filter_requests(key: Key) -> Baskets:
    """What the provider gets besides the baskets: the filter of each item, under a number (`ids`) instead of a name."""
    opened = BloomKey.opened(key)
    named = sorted(zip(opened.requests, opened.filters(), strict=True))
    return Baskets.of([set(bits) for _, bits in named], ids=[number for number, _ in named])


def mine_filters(
    filters: Baskets, requests: Baskets, min_support: Support, max_length: int | None = None
) -> pl.DataFrame:
    """The provider's side: sets of requests whose joint filter at least `min_support` baskets' filters hold.

    It needs no key. Filters only add bits, so with the threshold of the originals (τ′ = τ) none of their frequent
    itemsets is missed; a higher τ′ would feign fewer and might miss some. The frame is that of `frequent_itemsets`,
    ``items`` being request numbers.
    """
    if max_length is not None and max_length < 1:
        raise PolicyError("max_length is a whole number of items, at least 1, or None")
    least = least_count(min_support, len(filters))
    columns = _request_columns(filters, requests)
    found: dict[tuple[int, ...], int] = {}
    level: dict[tuple[int, ...], Column] = {(number,): column for number, column in columns.items()}
    length = 1
    while level:
        tell("mining filters", len(found))
        counts = {one: column.bit_count() for one, column in level.items()}  # counting phase
        level = {one: column for one, column in level.items() if counts[one] >= least}  # pruning phase
        found |= {one: counts[one] for one in level}
        length += 1
        level = {} if max_length is not None and length > max_length else _candidates(level)  # generating phase
    return _frame(found)


def _request_columns(filters: Baskets, requests: Baskets) -> dict[int, Column]:
    """Which baskets' filters hold each request."""
    if any(not isinstance(bit, int) for bit in (*filters.items, *requests.items)):
        raise DataError("filters hold numbers of bits; encode the baskets first")
    bits = columns_of(filters, requests.items)
    numbers = requests.ids if requests.ids is not None else range(len(requests))
    rows: list[Any] = requests.to_lists()
    whole = everywhere(len(filters))
    columns = {int(number): together(bits, row, whole) for number, row in zip(numbers, rows, strict=True)}
    return dict(sorted(columns.items()))


def _candidates(level: Mapping[tuple[int, ...], Column]) -> dict[tuple[int, ...], Column]:
    """Sets of one more request, all of whose parts are in the level (Apriori)."""
    by_start: dict[tuple[int, ...], list[int]] = {}
    for one in level:
        by_start.setdefault(one[:-1], []).append(one[-1])
    found: dict[tuple[int, ...], Column] = {}
    for start, ends in by_start.items():
        tell("joining filters", len(found))
        for low, high in combinations(sorted(ends), 2):
            joined = (*start, low, high)
            if all(joined[:at] + joined[at + 1 :] in level for at in range(len(start))):
                found[joined] = level[*start, low] & level[*start, high]
    return found


def _frame(found: Mapping[tuple[int, ...], int]) -> pl.DataFrame:
    import polars as pl

    columns = {"items": [list(one) for one in found], "support": list(found.values())}
    return pl.DataFrame(columns, schema={"items": pl.List(pl.Int64), "support": pl.Int64})
