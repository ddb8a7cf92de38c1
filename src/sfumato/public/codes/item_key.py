# SPDX-License-Identifier: MIT
"""The key of encoded items: which codes stand for which items, and what was added to hide them.

A key that was modified is rejected: it would decode to wrong itemsets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sfumato.baskets import Baskets, Items
from sfumato.errors import DataError
from sfumato.key import Key
from sfumato.public.codes.item_columns import build_full_column, build_item_columns, intersect_items
from sfumato.public.codes.provider_checks import CodeSet, ItemIndices, SpotCheck, parse_spot_checks, spell_spot_checks
from sfumato.public.sealed_key import seal_key, unseal_key
from sfumato.runtime.progress import report_progress

METHOD = "encode_items"
_LISTS = ("items", "codes", "supports", "fake_places")
_NESTED_FIELDS = ("images", "fakes")


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
    spot_checks: tuple[SpotCheck, ...] = ()
    """Larger itemsets whose true support is known; none in keys of earlier versions."""

    def __post_init__(self) -> None:
        """Check that every set of items is determined by its codes."""
        own_positions = [image[0] for image in self.images]
        other_positions = {position for image in self.images for position in image[1:]}
        if len(set(own_positions)) != len(own_positions) or other_positions & set(own_positions):
            raise ValueError("an image is covered by others")
        if len(self.images) != len(self.items) or not len(self.codes) == len(set(self.codes)) == len(self.supports):
            raise ValueError("parts of different lengths")
        if len(self.fakes) != len(self.fake_places):
            raise ValueError("parts of different lengths")

    def seal(self) -> Key:
        """The same secret as a `Key`, which can be saved."""
        lists = {name: list(getattr(self, name)) for name in _LISTS}
        nested_lists = {name: [list(values) for values in getattr(self, name)] for name in _NESTED_FIELDS}
        rest = {"kind": self.kind, "noise": self.noise, "seed": f"{self.seed:x}", "baskets": self.baskets}
        basket_facts = {"data": self.data, "spot_checks": spell_spot_checks(self.spot_checks)}
        return seal_key(METHOD, {**lists, **nested_lists, **rest, **basket_facts})

    @classmethod
    def open(cls, key: Key | None) -> ItemKey:
        """Read a key; a modified one is rejected."""
        secret = unseal_key(key, METHOD)
        try:
            lists: dict[str, Any] = {name: tuple(secret[name]) for name in _LISTS}
            nested_lists: dict[str, Any] = {
                name: tuple(tuple(values) for values in secret[name]) for name in _NESTED_FIELDS
            }
            rest: dict[str, Any] = {name: secret[name] for name in ("kind", "noise", "baskets", "data")}
            spot_checks = parse_spot_checks(secret.get("spot_checks", ()))
            return cls(**lists, **nested_lists, **rest, seed=int(secret["seed"], 16), spot_checks=spot_checks)
        except (KeyError, TypeError, ValueError, IndexError):
            raise DataError(f"the key is not a valid key of {METHOD}") from None

    @property
    def published_codes(self) -> tuple[int, ...]:
        """The numbers that a provider finds; `supports` are theirs."""
        return self.codes

    @cached_property
    def owners(self) -> Mapping[int, int]:
        """The item that each exclusive code belongs to."""
        return {self.codes[image[0]]: item for item, image in enumerate(self.images)}

    @cached_property
    def published_images(self) -> tuple[CodeSet, ...]:
        """The image of each item, in published numbers."""
        return tuple(frozenset(self.codes[position] for position in image) for image in self.images)

    def find_itemset(self, code_set: CodeSet) -> ItemIndices | None:
        """The items with exactly these codes; None if there are no such items."""
        item_indices = [self.owners[code] for code in code_set if code in self.owners]
        covered_codes = frozenset().union(*(self.published_images[item] for item in item_indices))
        return tuple(sorted(item_indices)) if covered_codes == code_set else None

    def decode(self, provider_sets: Mapping[CodeSet, int]) -> dict[ItemIndices, int]:
        """The true support of every set of items found, without fakes."""
        counts = {
            items: count
            for code_set, count in provider_sets.items()
            if (items := self.find_itemset(code_set)) is not None
        }
        if not self.fakes:
            return counts
        columns: Any = build_item_columns(Baskets.of(self.fakes), {item for items in counts for item in items})
        whole = build_full_column(len(self.fakes))
        true: dict[ItemIndices, int] = {}
        for position, (items, count) in enumerate(counts.items()):
            if position % 4096 == 0:
                report_progress("decoding itemsets", position, len(counts))
            true[items] = count - intersect_items(columns, items, whole).bit_count()
        return true
