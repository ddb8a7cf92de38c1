# SPDX-License-Identifier: MIT
"""Encode items so that someone else can mine itemsets and rules, and learns neither the items nor the results.

Against a provider who mines the release and knows how often items are bought. Two ways: `padded` gives each item one
code, and adds fake baskets until each code shares its support with k − 1 others; `one_to_n` gives each item several
codes, some of them shared, and adds random ones to every basket. What leaks: the number of baskets, their sizes, and
which codes occur together; with `one_to_n` also which codes are fake, and with it the mapping. Wong, Cheung, Hung, Kao,
Mamoulis (VLDB 2007), broken by Molloy, Li, Li (ICDM 2009); padding by baskets after Giannotti, Lakshmanan, Monreale,
Pedreschi, Wang (IEEE Systems Journal 2013).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.arrays import Flags, Ints
from sfumato.baskets import Baskets
from sfumato.details import CodeDetails
from sfumato.errors import DataError, ImpossibleRelease, PolicyError, count_noun
from sfumato.key import Key
from sfumato.private.keystream import make_keyed_generator
from sfumato.protect.baskets.hiding_claims import claim_all_baskets
from sfumato.protect.claims import spell_others
from sfumato.protect.data_checks import refuse_unfit
from sfumato.protect.method import KeyedMethod, require_each
from sfumato.public.codes.item_key import ItemKey
from sfumato.public.codes.provider_checks import draw_spot_checks
from sfumato.public.sealed_key import draw_bytes, draw_codes, fingerprint_baskets, refuse_other_baskets
from sfumato.randomness import Randomness
from sfumato.release import Claim, Release
from sfumato.runtime.progress import report_progress


class EncodeItems(KeyedMethod):
    """Replace items by codes, so that the itemsets a provider finds are the true ones in disguise.

    Guarantee: all frequent itemsets of the release, decoded with the key, are those of the originals with their true
    supports. With `padded`, every code has the support of at least k − 1 others. Against: a provider who compares how
    often codes occur with how often items are bought, and does no more. Limits: itemsets are mined with the count
    threshold of the originals; it does not promise that items stay unknown. Anyone who knows how often *pairs* are
    bought, or tells added baskets from true ones by a mixture model, names most common items, which the attack
    `item_frequency` measures, so both kinds are for study; sizes of baskets stay; that a provider left out a few larger
    itemsets is noticed for certain only with the originals; `one_to_n` is broken in the literature (fake codes
    correlate with nothing, so they are found and removed). Papers: Wong, Cheung, Hung, Kao, Mamoulis 2007; Molloy, Li,
    Li 2009; Giannotti, Lakshmanan, Monreale, Pedreschi, Wang 2013.
    """

    shape: ClassVar[str] = "baskets"
    holds: ClassVar[tuple[str, str]] = ("code", "codes")
    gives: ClassVar[str] = "baskets"
    utility = "codes"
    maturity: ClassVar[str] = "for study"  # both kinds are read by who knows how often items are bought
    iso_20889: ClassVar[str] = "cryptographic tools (deterministic encryption)"
    loss_meaning: ClassVar[str] = "Of the published codes, the share that was added to hide supports."
    kept_meaning: ClassVar[tuple[str, str]] = ("of the codes stand for items", "the rest were added")
    decodes: ClassVar[Literal["trees", "itemsets", "candidates"]] = "itemsets"
    threshold_fields: ClassVar[Mapping[str, str]] = {"shared_support": "k"}
    file_claims: ClassVar[frozenset[str]] = frozenset({"baskets", "shared_support"})
    public_fields: ClassVar[tuple[str, ...]] = ("kind", "k", "n", "shared_codes", "fake_codes", "noise")

    method: Literal["encode_items"] = "encode_items"
    kind: Literal["padded", "one_to_n"] = "padded"
    """`padded`: one code per item and padded supports; `one_to_n`: several codes per item and random ones in every
    basket."""
    k: int = Field(default=10, ge=2, strict=True)
    """Of `padded`: the smallest number of codes with the same support."""
    n: int = Field(default=2, ge=1, strict=True)
    """Of `one_to_n`: the largest number of codes per item."""
    shared_codes: int | None = Field(default=None, ge=1, strict=True)
    """Of `one_to_n`: how many codes several items share; by default half as many as there are items."""
    fake_codes: int | None = Field(default=None, ge=0, strict=True)
    """Of `one_to_n`: how many codes belong to no item; by default half as many as there are items."""
    noise: float = Field(default=0.5, ge=0.0)
    """Of `one_to_n`: how many random codes a basket gets on average, as a share of its own."""

    @classmethod
    def list_certain_claims(cls, parameters: Mapping[str, Any]) -> tuple[frozenset[str], ...]:
        """Padded codes share their supports; others add no basket."""
        return require_each(("shared_support",) if parameters["kind"] == "padded" else ("baskets",))

    def new_key(self, data: Baskets, randomness: Randomness | None = None) -> Key:
        """Draw codes, and what is added to hide their supports; a new key gives new codes."""
        refuse_unfit(self, data)
        if not len(data) or not data.items:
            raise DataError("these baskets contain no item, so there is nothing to encode")
        chance = randomness or Randomness.secure()
        draft = self._draw_padded_key(data, chance) if self.kind == "padded" else self._draw_one_to_n_key(data, chance)
        supports = np.bincount(_encode_baskets(data, draft).codes, minlength=len(draft.codes))
        spot_checks = draw_spot_checks(data, chance.generator())
        return replace(draft, supports=tuple(supports.tolist()), spot_checks=spot_checks).seal()

    def protect(  # type: ignore[override]  # see KeyedMethod
        self, data: Baskets, key: Key | None = None, randomness: Randomness | None = None
    ) -> Release:
        """Replace every item by its codes, and add what the key prescribes."""
        item_key = ItemKey.open(key)
        if item_key.kind != self.kind:
            raise PolicyError(f'the key is for kind "{item_key.kind}", but the method has kind "{self.kind}"')
        refuse_other_baskets(data, item_key.data)
        encoded_baskets = _encode_baskets(data, item_key)
        published_baskets = Baskets(item_key.codes, encoded_baskets.offsets, encoded_baskets.codes.astype(np.int32))
        return Release(
            data=published_baskets,
            method=self,
            claims=self._list_claims(data),
            losses={
                "loss": encoded_baskets.added_count / published_baskets.codes.size,
                "added_baskets": len(item_key.fakes),
                "added_codes": len(item_key.codes) - len(item_key.items),
            },
            details=CodeDetails(rows=encoded_baskets.rows),
        )

    def _draw_padded_key(self, data: Baskets, randomness: Randomness) -> ItemKey:
        count = len(data.items)
        if count < self.k:
            cure = f"set k to {count} at most, or use one_to_n" if count > 1 else "use one_to_n"
            raise ImpossibleRelease(
                f"{count_noun(count, 'item')} cannot share a support with {count_noun(self.k - 1, 'other')} each; "
                f"{cure}"
            )
        chance, supports = randomness.generator(), np.bincount(data.codes, minlength=count)
        lacked_counts = _count_lacking_baskets(supports, self.k)
        fakes = _draw_fake_baskets(lacked_counts, np.diff(data.offsets), chance)
        places = np.sort(chance.choice(len(data) + len(fakes), len(fakes), replace=False)).tolist()
        return ItemKey(
            kind="padded",
            items=data.items,
            codes=tuple(draw_codes(count, data, randomness)),
            images=tuple((position,) for position in range(count)),
            fakes=fakes,
            fake_places=tuple(places),
            supports=(0,) * count,
            noise=0.0,
            seed=0,
            baskets=len(data),
            data=fingerprint_baskets(data),
        )

    def _draw_one_to_n_key(self, data: Baskets, randomness: Randomness) -> ItemKey:
        """An admissible mapping: each image has its own code, which no other holds, and shared ones."""
        chance, count = randomness.generator(), len(data.items)
        shared_count = max(1, count // 2) if self.shared_codes is None else self.shared_codes
        fake = max(1, count // 2) if self.fake_codes is None else self.fake_codes
        sizes = chance.integers(0, min(self.n - 1, shared_count), count, endpoint=True)
        images = [
            (position, *(count + chance.choice(shared_count, size, replace=False)).tolist())
            for position, size in enumerate(sizes.tolist())
        ]
        total = count + shared_count + fake
        return ItemKey(
            kind="one_to_n",
            items=data.items,
            codes=tuple(draw_codes(total, data, randomness)),
            images=tuple(images),
            fakes=(),
            fake_places=(),
            supports=(0,) * total,
            noise=self.noise,
            seed=int.from_bytes(draw_bytes(randomness), "big"),
            baskets=len(data),
            data=fingerprint_baskets(data),
        )

    def _list_claims(self, data: Baskets) -> tuple[Claim, ...]:
        claims = [
            Claim(
                property="unrecoverable_items",
                threshold=0,
                bound="exactly",
                measure="unrecoverable_items",
                needs_original=True,
                meaning="For every item there are codes that exactly the baskets with the item hold together: so all "
                "itemsets that a provider finds decode to their true items and supports.",
            ),
            claim_no_item_named(),
        ]
        if self.kind == "padded":
            claims.append(
                Claim(
                    property="shared_support",
                    threshold=self.k,
                    measure="shared_support",
                    meaning=f"Every code is in as many baskets as at least {spell_others(self.k)}. This does not hide "
                    "which item it is from anyone who knows supports and tells added baskets from true ones.",
                )
            )
        else:
            claims.append(claim_all_baskets(data))
        return tuple(claims)


def claim_no_item_named() -> Claim:
    """Claim that codes are not names."""
    return Claim(
        property="named_items",
        threshold=0,
        bound="exactly",
        measure="named_items",
        needs_original=True,
        meaning="No item of the originals is published under its name.",
    )


class _EncodedBaskets:
    """Published baskets: code indices split by offsets, the original of each (−1: none), and how many were added."""

    def __init__(self, rows_of_codes: Ints, codes: Ints, rows: Ints, added_count: int) -> None:
        order = np.argsort(rows_of_codes, kind="stable")
        counts = np.bincount(rows_of_codes, minlength=len(rows))
        self.offsets: Ints = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        self.codes: Ints = codes[order]
        self.rows, self.added_count = rows, added_count


def _encode_baskets(data: Baskets, key: ItemKey) -> _EncodedBaskets:
    occurrence_rows = np.repeat(np.arange(len(data)), np.diff(data.offsets))
    if key.kind == "padded":
        return _encode_with_fakes(data, key, occurrence_rows)
    return _encode_with_noise(data, key, occurrence_rows)


def _encode_with_fakes(data: Baskets, key: ItemKey, occurrence_rows: Ints) -> _EncodedBaskets:
    """One code per item; fake baskets in between. The index of an item's code is that of the item."""
    fake_at = np.array(key.fake_places, dtype=np.int64)
    real_at = np.setdiff1d(np.arange(len(data) + len(fake_at)), fake_at)
    rows = np.full(len(data) + len(fake_at), -1, dtype=np.int64)
    rows[real_at] = np.arange(len(data))
    fake_rows = np.repeat(fake_at, [len(fake) for fake in key.fakes])
    fake_codes = np.array([position for fake in key.fakes for position in fake], dtype=np.int64)
    return _EncodedBaskets(
        np.concatenate((real_at[occurrence_rows], fake_rows)),
        np.concatenate((data.codes, fake_codes)),
        rows,
        len(fake_codes),
    )


def _encode_with_noise(data: Baskets, key: ItemKey, occurrence_rows: Ints) -> _EncodedBaskets:
    """N(t) = M(t) ∪ E with random E, as long as no item outside t becomes one that t′ shows."""
    width, total = max(map(len, key.images)), len(key.codes)
    # Short images are padded with their own code: it is present anyway.
    images = np.array([image + image[:1] * (width - len(image)) for image in key.images], dtype=np.int64)
    true = _sort_distinct((occurrence_rows[:, None] * total + images[data.codes]).ravel())
    chance = make_keyed_generator(key.seed.to_bytes(32, "big"))
    sizes = np.bincount(true // total, minlength=len(data))
    counts = chance.poisson(key.noise * np.maximum(sizes, 1))
    noise = np.repeat(np.arange(len(data)), counts) * total + chance.integers(0, total, int(counts.sum()))
    noise = _sort_distinct(noise[~_flag_members(noise, true)])
    merged_cells = np.sort(np.concatenate((true, noise)))
    row, code_place = np.divmod(noise, total)
    own_code_mask = code_place < len(
        images
    )  # an own code that is not true belongs to an item that is not in the basket
    image_cells = row[own_code_mask, None] * total + images[code_place[own_code_mask]]
    # Without its own code an item is not shown, and no other item needs that code.
    feigned_cells = noise[own_code_mask][_flag_members(image_cells, merged_cells).all(axis=1)]
    row, code_place = np.divmod(merged_cells[~_flag_members(merged_cells, feigned_cells)], total)
    return _EncodedBaskets(row, code_place, np.arange(len(data), dtype=np.int64), len(noise) - len(feigned_cells))


def _sort_distinct(numbers: Ints) -> Ints:
    """In order, each once."""
    sorted_numbers = np.sort(numbers)
    return (
        sorted_numbers[np.concatenate(([True], sorted_numbers[1:] != sorted_numbers[:-1]))]
        if len(sorted_numbers)
        else sorted_numbers
    )


def _flag_members(numbers: Ints, sorted_numbers: Ints) -> Flags:
    """Whether each is one of some ordered numbers."""
    if not len(sorted_numbers):
        return np.zeros(numbers.shape, dtype=bool)
    indices = np.minimum(np.searchsorted(sorted_numbers, numbers), len(sorted_numbers) - 1)
    return np.asarray(sorted_numbers[indices] == numbers)


def _count_lacking_baskets(supports: Ints, k: int) -> Ints:
    """The fewest additional baskets that each item needs, so that at least k share a support.

    Sorted by support, groups are runs of k to 2k − 1 neighbours, each raised to its largest; the best cuts are found
    from the rarest up.
    """
    order = np.argsort(-supports, kind="stable")
    sorted_supports = supports[order]
    sums = np.concatenate(([0], np.cumsum(sorted_supports)))
    count = len(sorted_supports)
    cost = np.full(count + 1, np.iinfo(np.int64).max // 2)
    cost[count] = 0
    cut = np.zeros(count, dtype=np.int64)
    for start in range(count - k, -1, -1):
        if start % 4096 == 0:
            report_progress("grouping items by support", count - start, count)
        stops = np.arange(start + k, min(start + 2 * k - 1, count) + 1)
        group_costs = sorted_supports[start] * (stops - start) - (sums[stops] - sums[start]) + cost[stops]
        best = int(group_costs.argmin())
        cost[start], cut[start] = group_costs[best], stops[best]
    lacked_counts = np.zeros(count, dtype=np.int64)
    start = 0
    while start < count:
        stop = int(cut[start])
        lacked_counts[order[start:stop]] = sorted_supports[start] - sorted_supports[start:stop]
        start = stop
    return lacked_counts


def _draw_fake_baskets(lacked_counts: Ints, sizes: Ints, chance: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    """Baskets that hold each item as often as needed, about as large as true ones."""
    total, most = int(lacked_counts.sum()), int(lacked_counts.max())
    if not total:
        return ()
    true_sizes = sizes[sizes > 0]
    count = max(most, -(-total // max(1, int(true_sizes.mean()))))
    weights = chance.choice(true_sizes, count)
    slots = np.repeat(np.arange(count), weights)
    fakes: list[list[int]] = [[] for _ in range(count)]
    for done_count, item in enumerate(np.flatnonzero(lacked_counts).tolist()):
        if done_count % 256 == 0:
            report_progress("filling baskets", done_count, len(lacked_counts))
        for basket in _choose_baskets(int(lacked_counts[item]), weights, slots, chance).tolist():
            fakes[basket].append(item)
    return tuple(tuple(fake) for fake in fakes if fake)


def _choose_baskets(wanted_count: int, weights: Ints, slots: Ints, chance: np.random.Generator) -> Ints:
    """Draw baskets, large ones preferred."""
    if 4 * wanted_count > len(weights):
        # Exponential times, the earliest win: weighted sampling without replacement.
        return np.argpartition(chance.exponential(size=len(weights)) / weights, wanted_count - 1)[:wanted_count]
    chosen_baskets = np.zeros(0, dtype=np.int64)
    while len(chosen_baskets) < wanted_count:
        chosen_baskets = np.unique(
            np.concatenate((chosen_baskets, slots[chance.integers(0, len(slots), 2 * wanted_count)]))
        )
    return np.asarray(chance.permutation(chosen_baskets)[:wanted_count])
