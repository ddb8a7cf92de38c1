# SPDX-License-Identifier: MIT
"""Randomized baskets: with which probabilities items were kept, dropped and added.

Shared by the method that randomizes, the analyst's estimators and the attacks. It is public: without it nothing can be
estimated, and its privacy does not depend on secrecy. Independent items: Rizvi and Haritsa, *Maintaining data privacy
in association rule mining* (VLDB 2002, MASK). Cut and paste: Evfimievski, Srikant, Agrawal, Gehrke, *Privacy preserving
mining of association rules* (KDD 2002). Amplification: Evfimievski, Gehrke, Srikant, *Limiting privacy breaches in
privacy preserving data mining* (PODS 2003).
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, fsum, log
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from sfumato.arrays import Floats, Ints
from sfumato.description import Description
from sfumato.errors import DataError, PolicyError
from sfumato.published_law import PublishedLaw
from sfumato.release import Release

ITEMS = "items"
"""Where `Release.public` says how items were randomized: baskets have no columns."""


class BasketDistortion(Description):
    """How the items of baskets were randomized. It is public."""

    kind: Literal["mask", "cut_and_paste"]
    """`mask`: every item by itself; `cut_and_paste`: a few items of each basket among random ones."""
    categories: tuple[str, ...] = Field(min_length=1)
    """The items that a basket can hold, as text."""
    keep: float | tuple[float, ...] | None = None
    """`mask`: the probability that an item stays; one for all, or one for each item."""
    add: float | tuple[float, ...] | None = None
    """`mask`: the probability that an item is added to a basket without it."""
    cutoff: int | None = Field(default=None, ge=1)
    """`cut_and_paste`: the most items of a basket that are pasted into the random ones."""
    level: float | None = Field(default=None, gt=0.0, lt=1.0)
    """`cut_and_paste`: the probability of every other item."""
    sizes: tuple[tuple[int, int], ...] | None = None
    """`cut_and_paste`: the original sizes of the baskets in their order: a size, and for how many baskets."""

    @model_validator(mode="after")
    def _check_sound(self) -> BasketDistortion:
        if self.kind == "mask":
            probabilities, width = (self.keep, self.add), len(self.categories)
            shares = [share if isinstance(share, tuple) else (share,) for share in probabilities]
            if any(len(share) not in (1, width) for share in shares if share):
                raise ValueError("keep and add must have one probability, or one for each item")
            if any(share is None or not 0 < share < 1 for part in shares for share in part):
                raise ValueError("keep and add must lie between 0 and 1")
        elif self.cutoff is None or self.level is None or self.sizes is None:
            raise ValueError("cut_and_paste needs cutoff, level and sizes")
        elif any(size < 0 or count < 1 for size, count in self.sizes):
            raise ValueError("sizes are counts")
        if len(set(self.categories)) < len(self.categories):
            raise ValueError("an item is listed twice")
        return self

    @property
    def keeps(self) -> Floats:
        """The probability that each item stays."""
        return np.broadcast_to(np.asarray(self.keep, dtype=np.float64), len(self.categories))

    @property
    def adds(self) -> Floats:
        """The probability that each item is added to a basket without it."""
        share = self.add if self.kind == "mask" else self.level
        return np.broadcast_to(np.asarray(share, dtype=np.float64), len(self.categories))

    @property
    def informative(self) -> bool:
        """Whether published items depend on the true ones at all."""
        return self.kind != "mask" or bool((np.abs(self.keeps - self.adds) > 1e-12).any())

    def compute_epsilon(self) -> float:
        """ε: of `mask` for one item, whatever the others are; of `cut_and_paste` for whole baskets of one size."""
        return max(self._item_epsilons) if self.kind == "mask" else log(self._paste_ratio)

    def compute_epsilon_in_all(self) -> float:
        """ε of a whole basket."""
        return fsum(self._item_epsilons) if self.kind == "mask" else log(self._paste_ratio)

    @property
    def _item_epsilons(self) -> list[float]:
        keeps, adds = self.keeps, self.adds
        held_epsilons = np.abs(np.log(keeps) - np.log(adds))
        lacked_epsilons = np.abs(np.log1p(-keeps) - np.log1p(-adds))
        return np.maximum(held_epsilons, lacked_epsilons).tolist()  # type: ignore[no-any-return]  # a list of floats

    @property
    def _paste_ratio(self) -> float:
        """The largest ratio of two baskets: all items that can be pasted are shown of one, and none of the other."""
        assert self.cutoff is not None and self.level is not None
        return fsum(self.level**-pasted_count for pasted_count in range(self.cutoff + 1))

    def group_sizes(self, baskets: int) -> Ints:
        """The sizes of groups of neighbouring baskets that were randomized alike, which must add up to all of them."""
        counts = [baskets] if self.sizes is None else [count for _, count in self.sizes]
        if sum(counts) != baskets:
            raise DataError(
                f"the release has {baskets} baskets, and {sum(counts)} sizes are published; take the baskets and their "
                "`public` description from the same release, unchanged"
            )
        return np.asarray(counts, dtype=np.int64)

    def compute_retention(self, size: int) -> float:
        """`cut_and_paste`: the probability that an item of a basket of this size is pasted."""
        assert self.cutoff is not None
        paste_shares = _list_paste_shares(self.cutoff, size)
        return fsum(count * share for count, share in enumerate(paste_shares)) / size if size else 0.0

    def build_transition(self, size: int, length: int) -> Floats:
        """`cut_and_paste`: how likely each number of an itemset's items is published (row) for each true number."""
        assert self.cutoff is not None and self.level is not None
        return _compute_transition(self.cutoff, self.level, size, length)


class DistortionLaw(BasketDistortion, PublishedLaw):
    """How items were randomized, with what else is published about it."""

    public_fields: ClassVar[tuple[str, ...]] = (
        "kind", "categories", "keep", "add", "cutoff", "level", "sizes", "epsilon", "domain",
    )  # fmt: skip

    epsilon: float | None = Field(default=None, ge=0.0)
    """The stated ε, which `compute_epsilon` gives."""
    domain: Literal["given", "data"] | None = None
    """Whether the possible items were given, or come from the data."""

    @classmethod
    def of_distortion(cls, distortion: BasketDistortion, domain: Literal["given", "data"]) -> DistortionLaw:
        """What is published about randomized baskets."""
        parts = {name: getattr(distortion, name) for name in BasketDistortion.model_fields}
        return cls(**parts, epsilon=distortion.compute_epsilon(), domain=domain)

    @property
    def privacy_budget(self) -> float | None:
        """The stated ε."""
        return self.epsilon


def _list_paste_shares(cutoff: int, size: int) -> list[float]:
    """The probability that 0, 1, … items of a basket are pasted: up to the cutoff, and no more than there are."""
    most = min(cutoff, size)
    return [*([1 / (cutoff + 1)] * most), (cutoff - most + 1) / (cutoff + 1)]


@lru_cache(maxsize=4096)
def _compute_transition(cutoff: int, level: float, size: int, length: int) -> Floats:
    matrix = np.zeros((length + 1, min(length, size) + 1))
    for true in range(matrix.shape[1]):
        for pasted_count, share in enumerate(_list_paste_shares(cutoff, size)):
            for member_count in range(max(0, pasted_count - size + true), min(true, pasted_count) + 1):
                # Of the items pasted, this many are of the itemset; the others of it come by chance.
                likely = (
                    share
                    * comb(true, member_count)
                    * comb(size - true, pasted_count - member_count)
                    / comb(size, pasted_count)
                )
                rest = length - member_count
                for more in range(rest + 1):
                    chance = comb(rest, more) * level**more * (1 - level) ** (rest - more)
                    matrix[member_count + more, true] += likely * chance
    matrix.setflags(write=False)
    return matrix


def find_distortion(release: Release) -> DistortionLaw | None:
    """How the baskets of a release were randomized; None if they were not."""
    law = release.public.get(ITEMS)
    return law if isinstance(law, DistortionLaw) else None


def get_distortion(release: Release) -> DistortionLaw:
    """How the baskets of a release were randomized, as published with it."""
    if not isinstance(release, Release):
        raise PolicyError("how baskets were randomized is published with them: give the release, not its data")
    law = find_distortion(release)
    if law is None:
        raise DataError(
            "the release has no randomized baskets, so there is nothing to estimate; mine its data with "
            "`frequent_itemsets`"
        )
    return law
