# SPDX-License-Identifier: MIT
"""Bloom dictionary: name the baskets that hold an item, from filters alone.

Against Bloom filters of baskets. Unkeyed filters fall to whoever knows the items by name: it hashes each of them.
Keyed ones fall, as far as items have a bit of their own, to whoever knows how often items are bought: such a bit is in
just as many baskets. What leaks is who bought what. Known of Bloom filters in record linkage (Kuzu, Kantarcioglu,
Durham, Malin 2011; Christen, Schnell, Vatsalan, Ranbaduge 2017); here against Qiu, Li, Wu 2008.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import Field

from sfumato.attack.attack import Attack, Outcome
from sfumato.baskets import Baskets, Item
from sfumato.errors import PolicyError
from sfumato.mine.baskets.item_columns import Column, build_full_column, build_item_columns, intersect_items
from sfumato.mine.codes.bloom_filters import hash_item
from sfumato.progress import report_progress
from sfumato.randomness import Randomness
from sfumato.release import Release


class BloomDictionary(Attack):
    """A provider gets filters of what people bought, knows what can be bought, and looks for who bought a certain drug.

    With `knowledge="dictionary"` the adversary knows the items by name, and the hash functions as far as they have no
    key; it computes the filter of each item and names the baskets whose filters hold it. With `knowledge="supports"` it
    knows how often each item is bought instead, and names the baskets that hold the bit whose support comes nearest,
    each bit for one item only. A success is an item whose named baskets agree with the true ones to a certain share.
    The baseline names all baskets each time.
    """

    shape: ClassVar[str] = "baskets"
    public_fields: ClassVar[tuple[str, ...]] = ("knowledge", "bits", "hashes", "agreement")
    private_fields: ClassVar[tuple[str, ...]] = ("items",)

    attack: Literal["bloom_dictionary"] = "bloom_dictionary"
    knowledge: Literal["dictionary", "supports"] = "dictionary"
    """What it knows: the items and the hash functions without their key, or how often items are bought."""
    bits: int | None = Field(default=None, ge=1, strict=True)
    """How many bits a filter has; what the release's method says if not given."""
    hashes: int | None = Field(default=None, ge=1, strict=True)
    """How many bits an item sets; what the release's method says if not given."""
    items: int = Field(default=1000, ge=1, strict=True)
    """How many items, the commonest, it looks for."""
    agreement: float = Field(default=0.9, gt=0.5, le=1.0)
    """How far named and true baskets must agree: those in both, as a share of those in either."""

    def run(
        self, release: Release, truth: Baskets, control: Baskets | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Name the baskets of each item; count for how many items that was right."""
        if len(release.data) != len(truth):
            raise PolicyError(
                f"{len(release.data)} filters are published of {len(truth)} baskets; they must be as many"
            )
        wanted = _list_commonest_items(truth, self.items)
        true = build_item_columns(truth, wanted)
        named_columns = self._named(release, {item: true[item].bit_count() for item in wanted}, len(truth))
        strangers = None
        if control is not None:
            others = {item: column.bit_count() for item, column in build_item_columns(control, wanted).items()}
            guesses = self._named(release, others, len(control))
            strangers = self._count_agreeing_items(true, guesses)
        whole = build_full_column(len(truth))
        return Outcome(
            attempts=len(wanted),
            successes=self._count_agreeing_items(true, named_columns),
            baseline=self._count_agreeing_items(true, dict.fromkeys(wanted, whole)),
            control=strangers,
            facts={"codes": len(release.data.items)},
        )

    def _named(self, release: Release, supports: dict[Item, int], baskets: int) -> dict[Item, Column]:
        """The baskets that are named for each item."""
        columns = build_item_columns(release.data)
        if self.knowledge == "supports":
            return _match_by_supports(columns, supports, len(release.data) / max(1, baskets))
        whole = build_full_column(len(release.data))
        names = {str(item): item for item in release.data.items}
        bits, hashes = self._known(release)
        guessed_columns: dict[Item, Column] = {}
        for done, item in enumerate(supports):
            if done % 256 == 0:
                report_progress("hashing the dictionary", done, len(supports))
            if bits is None or hashes is None:
                # What is published under its name needs no hashing.
                guessed_columns[item] = columns[names[str(item)]] if str(item) in names else 0
            else:
                guessed_columns[item] = _intersect_bit_columns(columns, hash_item(item, bits, hashes), whole)
        return guessed_columns

    def _known(self, release: Release) -> tuple[int | None, int | None]:
        bits = self.bits or getattr(release.method, "bits", None)
        return bits, self.hashes or getattr(release.method, "hashes", None)

    def _count_agreeing_items(self, true: dict[Item, Column], guesses: dict[Item, Column]) -> int:
        """For how many items the named baskets are the true ones, or nearly."""
        right = 0
        for item, column in true.items():
            either = (column | guesses.get(item, 0)).bit_count()
            right += bool(either) and (column & guesses.get(item, 0)).bit_count() >= self.agreement * either
        return right


def _intersect_bit_columns(columns: dict[Item, Column], bits: Iterable[int], whole: Column) -> Column:
    """The baskets that hold all of the bits."""
    return intersect_items({bit: columns.get(bit, 0) for bit in bits}, bits, whole)


def _list_commonest_items(baskets: Baskets, most: int) -> list[Item]:
    columns = {item: column.bit_count() for item, column in build_item_columns(baskets).items()}
    return sorted(columns, key=lambda item: (-columns[item], str(item)))[:most]


def _match_by_supports(columns: dict[Item, Column], supports: dict[Item, int], scale: float) -> dict[Item, Column]:
    """For each item, the commonest first, the bit nearest in support; bits of the same baskets count once."""
    free = list(dict.fromkeys(columns.values()))
    counts = [column.bit_count() for column in free]
    matched_columns: dict[Item, Column] = {}
    for item, support in sorted(supports.items(), key=lambda item: -item[1]):
        if not free:
            break
        nearest = min(range(len(free)), key=lambda index: abs(counts[index] - support * scale))
        matched_columns[item] = free.pop(nearest)
        counts.pop(nearest)
    return matched_columns
