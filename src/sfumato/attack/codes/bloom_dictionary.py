# SPDX-License-Identifier: MIT
"""Bloom dictionary: find the baskets that hold an item, from Bloom filters alone.

Against Bloom filters of baskets. Unkeyed filters fall to anyone who knows the item names: hash each of them. Keyed
filters fall, where items have a bit of their own, to anyone who knows how often items are bought: such a bit is set in
as many baskets. What leaks is who bought what. The attack is known from Bloom filters in record linkage (Kuzu,
Kantarcioglu, Durham, Malin 2011; Christen, Schnell, Vatsalan, Ranbaduge 2017); here against Qiu, Li, Wu 2008.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.attack.attack import Attack, Outcome
from sfumato.attack.codes.nearest_supports import match_nearest_supports
from sfumato.baskets import Baskets, Item
from sfumato.errors import PolicyError
from sfumato.mine.codes.bloom_filters import hash_item
from sfumato.public.codes.filter_size import FilterSize
from sfumato.public.codes.item_columns import BasketBits, build_full_column, build_item_columns, intersect_items
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress


class BloomDictionary(Attack):
    """A provider gets filters of what people bought, knows what can be bought, and looks for buyers of a certain drug.

    With `knowledge="dictionary"` the adversary knows the item names, and the hash functions unless they are keyed. It
    computes the filter of each item and names the baskets whose filters contain it. With `knowledge="supports"` it
    knows how often each item is bought instead, and names the baskets that hold the bit with the nearest support:
    several items may share a bit, or each bit is for one item only. Then common items choose first, or those that some
    bit fits best, and bits of the same baskets count once or each. Or it matches items and bits by the ranks of their
    supports. The best way counts. A success is an item whose named baskets agree with the true ones to a certain share.
    The baseline always names all baskets.
    """

    shape: ClassVar[str] = "baskets"
    needs_codes: ClassVar[bool] = True
    public_fields: ClassVar[tuple[str, ...]] = ("knowledge", "bits", "hashes", "agreement")
    private_fields: ClassVar[tuple[str, ...]] = ("items",)

    attack: Literal["bloom_dictionary"] = "bloom_dictionary"
    knowledge: Literal["dictionary", "supports"] = "dictionary"
    """What the adversary knows: the item names and the unkeyed hash functions, or how often items are bought."""
    bits: int | None = Field(default=None, ge=1, strict=True)
    """The number of bits of a filter; by default that of the release's method."""
    hashes: int | None = Field(default=None, ge=1, strict=True)
    """The number of bits that an item sets; by default that of the release's method."""
    items: int = Field(default=1000, ge=1, strict=True)
    """How many of the most common items to look for."""
    agreement: float = Field(default=0.9, gt=0.5, le=1.0)
    """How far named and true baskets must agree: their intersection as a share of their union."""

    def run(
        self, release: Release, truth: Baskets, control: Baskets | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Name the baskets of each item; count the items for which that was right."""
        if len(release.data) != len(truth):
            raise PolicyError(
                f"{len(release.data)} filters are published for {len(truth)} baskets; the counts must be equal"
            )
        wanted_items = _list_commonest_items(truth, self.items)
        true = build_item_columns(truth, wanted_items)
        ways = self._name_baskets(release, {item: true[item].bit_count() for item in wanted_items}, len(truth))
        blind = self._count_agreeing_items(true, dict.fromkeys(wanted_items, build_full_column(len(truth))))
        strangers = None
        if control is not None:
            stranger_supports = {
                item: column.bit_count() for item, column in build_item_columns(control, wanted_items).items()
            }
            guesses = self._name_baskets(release, stranger_supports, len(control))
            strangers = max(self._count_agreeing_items(true, guess) for guess in guesses)
        return Outcome(
            attempts=len(wanted_items),
            successes=max(blind, *(self._count_agreeing_items(true, guess) for guess in ways)),
            baseline=blind,
            control=strangers,
            facts={"codes": len(release.data.items)},
        )

    def _name_baskets(self, release: Release, supports: dict[Item, int], baskets: int) -> list[dict[Item, BasketBits]]:
        """The named baskets of each item, in one or more ways."""
        columns = build_item_columns(release.data)
        if self.knowledge == "supports":
            # An item may set several bits in the same baskets: they count once, or each for an item.
            scale, distinct = len(release.data) / max(1, baskets), dict.fromkeys(columns.values())
            nearest = _match_by_supports(distinct, supports, scale)
            return [
                *nearest,
                *_match_by_supports(columns.values(), supports, scale),
                _match_by_ranks(distinct, supports),
            ]
        whole = build_full_column(len(release.data))
        names = {str(item): item for item in release.data.items}
        size = self._find_filter_size(release, names.keys() & {str(item) for item in supports})
        guessed_columns: dict[Item, BasketBits] = {}
        for done_count, item in enumerate(supports):
            if done_count % 256 == 0:
                report_progress("hashing the dictionary", done_count, len(supports))
            if size is None:
                # An item published under its own name needs no hashing.
                guessed_columns[item] = columns[names[str(item)]] if str(item) in names else 0
            else:
                guessed_columns[item] = _intersect_bit_columns(columns, hash_item(item, *size), whole)
        return [guessed_columns]

    def _find_filter_size(self, release: Release, names: Collection[str]) -> FilterSize | None:
        """As given, or as the release's method says; None if some items are published under their own `names`."""
        stated_size = None if release.method is None else release.method.filter_size
        bits = self.bits or (stated_size and stated_size.bits)
        hashes = self.hashes or (stated_size and stated_size.hashes)
        if bits and hashes:
            return FilterSize(bits, hashes)
        if not names and not (release.method is not None and stated_size is None):
            raise PolicyError("the release does not state the size of its filters; give `bits` and `hashes`")
        return None

    def _count_agreeing_items(self, true: dict[Item, BasketBits], guesses: dict[Item, BasketBits]) -> int:
        """For how many items the named baskets agree well enough with the true ones."""
        right = 0
        for item, column in true.items():
            union_count = (column | guesses.get(item, 0)).bit_count()
            right += bool(union_count) and (column & guesses.get(item, 0)).bit_count() >= self.agreement * union_count
        return right


def _intersect_bit_columns(columns: dict[Item, BasketBits], bits: Iterable[int], whole: BasketBits) -> BasketBits:
    """The baskets that hold all the bits."""
    return intersect_items({bit: columns.get(bit, 0) for bit in bits}, bits, whole)


def _list_commonest_items(baskets: Baskets, most: int) -> list[Item]:
    columns = {item: column.bit_count() for item, column in build_item_columns(baskets).items()}
    return sorted(columns, key=lambda item: (-columns[item], str(item)))[:most]


def _match_by_ranks(columns: Iterable[BasketBits], supports: dict[Item, int]) -> dict[Item, BasketBits]:
    """The most common item has the most common bit, and so on."""
    ranked_columns = sorted(columns, key=int.bit_count, reverse=True)
    return dict(zip(sorted(supports, key=lambda item: -supports[item]), ranked_columns, strict=False))


def _match_by_supports(
    columns: Iterable[BasketBits], supports: dict[Item, int], scale: float
) -> list[dict[Item, BasketBits]]:
    """For each item a bit of nearest support: an unused one, in several orders, or one that items share."""
    bits = list(columns)
    item_supports = np.array(list(supports.values()), dtype=np.float64) * scale
    bit_supports = np.array([bit.bit_count() for bit in bits], dtype=np.float64)
    return [
        {item: bits[bit_index] for item, bit_index in zip(supports, places.tolist(), strict=True) if bit_index >= 0}
        for places in match_nearest_supports(item_supports, bit_supports).values()
    ]
