# SPDX-License-Identifier: MIT
"""Encode baskets as Bloom filters, so that someone else can count itemsets and learns no item.

Against a provider who counts which filters match which requests, and knows what can be bought (a dictionary). What
leaks: how many baskets hold each bit; anyone who knows how often items are bought finds the bits of many. Filters may
show false itemsets; the originals identify them. Qiu, Li, Wu, *Protecting business intelligence and customer privacy
while outsourcing data mining tasks* (KAIS 2008); keyed here, since unkeyed filters fall to a dictionary.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.baskets import Baskets
from sfumato.details import CodeDetails
from sfumato.errors import DataError, PolicyError
from sfumato.key import Key
from sfumato.mine.codes.bloom_filters import NO_KEY, BloomKey, count_filter_supports, filter_baskets, hash_item
from sfumato.protect.baskets.hiding_claims import claim_all_baskets
from sfumato.protect.data_checks import refuse_unfit
from sfumato.protect.method import KeyedMethod
from sfumato.public.codes.filter_size import FilterSize
from sfumato.public.codes.provider_checks import draw_spot_checks
from sfumato.public.sealed_key import draw_bytes, draw_codes, fingerprint_baskets, refuse_other_baskets
from sfumato.randomness import Randomness
from sfumato.release import Claim, Release


class EncodeBloom(KeyedMethod):
    """Replace every basket by a Bloom filter of its items: the numbers of the bits that they set.

    Guarantee: mined with the threshold of the originals (τ′ = τ), no frequent itemset is missed and no support is too
    low. Decoded with the key and the originals, the result is exact. Against: a provider who knows all items by name,
    but not the key. Limits: few bits show many false itemsets (counted in `losses`), many bits show supports: anyone
    who knows how often items are bought finds them among the bits, which the attack `bloom_dictionary` measures;
    unkeyed filters fall to a dictionary at once. It is therefore marked "for study". Papers: Qiu, Li, Wu 2008; Bloom
    1970.
    """

    shape: ClassVar[str] = "baskets"
    holds: ClassVar[tuple[str, str]] = ("bit that is set", "bits that are set")
    gives: ClassVar[str] = "baskets"
    maturity: ClassVar[str] = "for study"
    utility = "codes"
    loss_meaning: ClassVar[str] = "Of the items that a basket does not hold, the share that its filter shows."
    kept_meaning: ClassVar[tuple[str, str]] = ("of absent items not shown", "filters show the rest by collision")
    decodes: ClassVar[Literal["trees", "itemsets", "candidates"]] = "candidates"
    file_claims: ClassVar[frozenset[str]] = frozenset({"baskets", "strange_bits"})
    public_fields: ClassVar[tuple[str, ...]] = ("bits", "hashes", "keyed")

    method: Literal["encode_bloom"] = "encode_bloom"
    bits: int = Field(default=128, ge=1, le=2**24, strict=True)
    """The number of bits in a filter (m)."""
    hashes: int = Field(default=4, ge=1, le=64, strict=True)
    """The number of bits that an item sets (k)."""
    keyed: bool = True
    """Whether the hash functions have a secret; without one they fall to a dictionary."""

    @property
    def iso_20889(self) -> str:  # type: ignore[override]  # depends on the parameters
        """Anyone can compute a hash that has no key."""
        return f"cryptographic tools ({'keyed hashing' if self.keyed else 'hashing without a key'})"

    @property
    def filter_size(self) -> FilterSize:
        """How many bits a filter has, and how many hash functions set them."""
        return FilterSize(self.bits, self.hashes)

    def new_key(self, data: Baskets, randomness: Randomness | None = None) -> Key:
        """Draw the hash functions, and the numbers that represent items to the provider."""
        refuse_unfit(self, data)
        if not len(data) or not data.items:
            raise DataError("these baskets contain no item, so there is nothing to encode")
        chance = randomness or Randomness.secure()
        secret = draw_bytes(chance) if self.keyed else NO_KEY
        requests = tuple(draw_codes(len(data.items), data, chance))
        filters = [hash_item(item, self.bits, self.hashes, secret) for item in data.items]
        supports = tuple(count_filter_supports(filter_baskets(data, filters, self.bits), filters))
        return BloomKey(
            items=data.items,
            requests=requests,
            secret=secret,
            bits=self.bits,
            hashes=self.hashes,
            baskets=len(data),
            data=fingerprint_baskets(data),
            supports=supports,
            spot_checks=draw_spot_checks(data, chance.generator()),
        ).seal()

    def protect(  # type: ignore[override]  # see KeyedMethod
        self, data: Baskets, key: Key | None = None, randomness: Randomness | None = None
    ) -> Release:
        """Replace each basket by the bits of its items."""
        bloom_key = BloomKey.open(key)
        if (bloom_key.bits, bloom_key.hashes, bool(bloom_key.secret)) != (self.bits, self.hashes, self.keyed):
            raise PolicyError("the key has another number of bits or hashes than the method; draw a new key")
        refuse_other_baskets(data, bloom_key.data)
        published_baskets = filter_baskets(data, bloom_key.list_filters(), self.bits)
        return Release(
            data=published_baskets,
            method=self,
            claims=self._list_claims(data),
            losses=_compute_filter_losses(data, bloom_key, published_baskets),
            details=CodeDetails(rows=np.arange(len(data), dtype=np.int64)),
        )

    def _list_claims(self, data: Baskets) -> tuple[Claim, ...]:
        never_missed = Claim(
            property="unfiltered_items",
            threshold=0,
            bound="exactly",
            measure="unfiltered_items",
            needs_original=True,
            meaning="Every item sets bits that all baskets with it hold: no frequent itemset is missed.",
        )
        only_bits = Claim(
            property="strange_bits",
            threshold=0,
            bound="exactly",
            measure="strange_bits",
            arguments={"bits": self.bits},
            meaning="Only bit numbers are published.",
        )
        return never_missed, only_bits, claim_all_baskets(data)


def _compute_filter_losses(data: Baskets, key: BloomKey, published_baskets: Baskets) -> dict[str, int | float]:
    """How often a filter shows an item that the basket does not hold."""
    true = np.bincount(data.codes, minlength=len(data.items))
    false_positives = int(np.array(key.supports).sum() - true.sum())
    absent = len(data) * len(data.items) - int(true.sum())
    return {
        "loss": false_positives / absent if absent else 0.0,
        "false_positives": false_positives,
        "bits_set": published_baskets.codes.size / (len(data) * key.bits),
    }
