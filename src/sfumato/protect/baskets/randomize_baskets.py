# SPDX-License-Identifier: MIT
"""Randomize baskets: items are dropped and added at random, with known probabilities.

Against everybody, including the party that collects the baskets: a person can attribute any published item to chance.
Supports of itemsets over many baskets are estimated from the known probabilities (`sf.mine.estimate_itemsets`), and
rules from those. What leaks: other items of the same basket, which go with an item, tell more about it than it does
itself; and from a second release about the same people, with fresh randomness, the truth can be averaged out. Rizvi and
Haritsa 2002 (MASK); Evfimievski, Srikant, Agrawal, Gehrke 2002 (cut and paste).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from sfumato.arrays import Ints
from sfumato.baskets import Baskets, Item, Items
from sfumato.details import AnswerDetails
from sfumato.errors import DataError, PolicyError, count_noun
from sfumato.protect.baskets.basket_draws import BasketRows, count_expected_items, distort_baskets
from sfumato.protect.baskets.distortion_claims import claim_distortion, round_claimed
from sfumato.protect.method import Method, require_each
from sfumato.public.basket_distortion import ITEMS, BasketDistortion, DistortionLaw
from sfumato.randomness import Randomness
from sfumato.release import Number, Release

OTHER_ITEMS = "*"
"""In probabilities by item: every item that is not named."""
CUTOFF = 3
LEAST_SHARE = 1e-12
"""Smaller probabilities protect nothing, and their ratios are no longer numbers."""
_MOST_ITEMS = 1 << 28


class RandomizeBaskets(Method):
    """Drop and add items at random, with known probabilities, so that no published item is certainly true.

    Guarantee: with `mask`, whether a basket held an item changes the probability that it is published by at most e^ε,
    whatever the other items are: ε = max |ln(keep/add)|, |ln((1−add)/(1−keep))|. A whole basket has the sum over all
    items. With `cut_and_paste`, a published basket is at most γ = Σ level^−i (i = 0 … cutoff) times as likely for one
    basket as for another of the same size, which bounds every inference. Every basket is published. Against: anyone who
    reads the release, and the party that collects the baskets. Limits: for one item, ε holds; items that occur together
    disclose more, up to the ε of the whole basket, which is large. Baskets are drawn afresh in every release, and
    averaging several reveals the truth. Without `items` the possible items are taken from the data and published; a
    policy must state this. `cut_and_paste` publishes the size of every basket, without which nothing could be
    estimated, and estimates itemsets of up to `cutoff` items. Papers: Rizvi, Haritsa 2002; Evfimievski, Srikant,
    Agrawal, Gehrke 2002; Evfimievski, Gehrke, Srikant 2003.
    """

    shape: ClassVar[str] = "baskets"
    gives: ClassVar[str] = "baskets"
    by_chance: ClassVar[bool] = True
    utility = "baskets"
    truthful: ClassVar[bool] = False
    iso_20889: ClassVar[str] = "randomization (noise addition); local differential privacy"
    loss_meaning: ClassVar[str] = (
        "The share of items, present or absent, that are drawn at random, whatever the truth is."
    )
    kept_meaning: ClassVar[tuple[str, str]] = (
        "of items depend on the truth",
        "present or absent; the rest are drawn at random",
    )
    file_claims: ClassVar[frozenset[str]] = frozenset(
        {"amplification", "baskets", "epsilon", "epsilon_in_all", "strange_items"}
    )
    threshold_fields: ClassVar[Mapping[str, str]] = {"epsilon": "epsilon"}
    public_fields: ClassVar[tuple[str, ...]] = ("keep", "add", "epsilon", "operator", "cutoff", "level", "items")

    method: Literal["randomize_baskets"] = "randomize_baskets"
    keep: float | dict[str, float] | None = None
    """`mask`: the probability that an item stays in its basket; or one for each item, with "*" for all others."""
    add: float | dict[str, float] | None = None
    """`mask`: the probability that an item is added to a basket without it; by default 1 − `keep`."""
    epsilon: float | None = Field(default=None, ge=0.0)
    """ε instead of `keep` and `add`, or instead of `level`."""
    operator: Literal["mask", "cut_and_paste"] = "mask"
    """`mask` keeps and adds every item by itself; `cut_and_paste` pastes a few items of a basket among random ones."""
    cutoff: int | None = Field(default=None, ge=1, le=20, strict=True)
    """`cut_and_paste`: between 0 and this many items of a basket are pasted; by default 3."""
    level: float | None = Field(default=None, gt=0.0, lt=1.0)
    """`cut_and_paste`: the probability of every other item."""
    items: tuple[Item, ...] | Literal["from_data"] | None = None
    """The items that a basket can hold; by default those that occur, and a policy must then state "from_data"."""

    @field_validator("keep", "add", mode="before")
    @classmethod
    def _spell_items(cls, raw_shares: Any) -> Any:
        """Items by their names: a policy file has no other keys."""
        return {str(item): share for item, share in raw_shares.items()} if isinstance(raw_shares, dict) else raw_shares

    @model_validator(mode="after")
    def _check_operator(self) -> RandomizeBaskets:
        mask = self.keep is not None or self.add is not None
        paste = self.cutoff is not None or self.level is not None
        if self.operator == "mask":
            if paste:
                raise ValueError('cutoff and level are for operator = "cut_and_paste"')
            if (self.keep is None) == (self.epsilon is None) or (mask and self.keep is None):
                raise ValueError("give either keep (with add, or 1 - keep is taken) or epsilon")
        elif mask:
            raise ValueError('keep and add are for operator = "mask"; cut_and_paste takes cutoff and level')
        elif (self.level is None) == (self.epsilon is None):
            raise ValueError("cut_and_paste takes either level or epsilon")
        shares = [share for part in (self.keep, self.add) if part is not None for share in _list_shares(part)]
        if any(not LEAST_SHARE <= share <= 1 - LEAST_SHARE for share in shares):
            raise ValueError(
                "keep and add must lie between 0 and 1, without the ends: otherwise some items are certain, and ε is "
                "infinite"
            )
        if self.level is not None and self.level < LEAST_SHARE:
            raise ValueError(f"level must be at least {LEAST_SHARE:g}: otherwise every published item is certain")
        if isinstance(self.items, tuple) and len({str(item) for item in self.items}) < max(len(self.items), 1):
            raise ValueError("items must name at least one item, each once")
        return self

    def refuse_undeclared(self, data: Baskets) -> None:
        """Require items that are given or declared as taken from the data."""
        if self.items is None:
            raise PolicyError(
                "the items that a basket can hold are not given. Those of the data "
                f"({count_noun(len(data.items), 'item')}) would be published, and an item that only one person has "
                "reveals that person, whatever ε is. List all possible "
                'items, as in items = ["beer", "nuts"]; or, if it may be public which items occur, set items = '
                '"from_data"'
            )

    @classmethod
    def list_certain_claims(cls, parameters: Mapping[str, Any]) -> tuple[frozenset[str], ...]:
        """A budget of whole baskets only if each item is drawn by itself."""
        mask_claims = set() if parameters["operator"] == "mask" else {"epsilon_in_all"}
        return require_each(cls.file_claims - mask_claims)

    @classmethod
    def may_claim(cls, parameters: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
        """A claim about probabilities counts the items of each instead of naming them."""
        names_items = "operator" not in arguments
        return super().may_claim(
            parameters, {name: value for name, value in arguments.items() if names_items or name != "items"}
        )

    def list_law_columns(self) -> tuple[str, ...]:
        """The items, which are in place of a column."""
        return (ITEMS,)

    def protect(self, data: Baskets, randomness: Randomness | None = None) -> Release:
        """Find the possible items, set the probabilities, and draw every basket."""
        if not len(data) or not (len(data.items) or isinstance(self.items, tuple)):
            raise DataError("there are no baskets with items to randomize")
        possible = self._list_possible_items(data)
        rows = _renumber_items(data, possible)
        order = np.arange(len(data), dtype=np.int64)
        if self.operator == "cut_and_paste":
            order = np.argsort(np.diff(data.offsets), kind="stable").astype(np.int64)
            rows = rows.take(order)
        distortion = self._design(possible, rows)
        _refuse_large(count_expected_items(rows, distortion), len(data))
        published_rows = distort_baskets(rows, distortion, (randomness or Randomness.secure()).generator())
        law = DistortionLaw.of_distortion(distortion, "given" if isinstance(self.items, tuple) else "data")
        return Release(
            data=Baskets(possible, published_rows.offsets, published_rows.codes),
            method=self,
            claims=claim_distortion(distortion, len(data), has_given_items=isinstance(self.items, tuple)),
            losses=_compute_losses(rows, distortion),
            details=AnswerDetails(
                rows=order,
                public={ITEMS: law},
                limits=self._list_limits(),
            ),
        )

    def _list_possible_items(self, data: Baskets) -> Items:
        """The vocabulary, in an order and a type that given items decide."""
        if not isinstance(self.items, tuple):
            return data.items
        return Baskets.of([self.items]).items

    def _design(self, possible: Items, rows: BasketRows) -> BasketDistortion:
        names = tuple(map(str, possible))
        if self.operator == "cut_and_paste":
            cutoff = self.cutoff or CUTOFF
            sizes, counts = np.unique(np.diff(rows.offsets), return_counts=True)
            return BasketDistortion(
                kind="cut_and_paste",
                categories=names,
                cutoff=cutoff,
                level=_find_level(cutoff, self.epsilon) if self.level is None else self.level,
                sizes=tuple(zip(sizes.tolist(), counts.tolist(), strict=True)),
            )
        if self.epsilon is not None:
            keep, add = 1 / (1 + exp(-self.epsilon)), 1 / (1 + exp(min(self.epsilon, 700.0)))
            if keep >= 1.0:
                raise PolicyError(
                    f"epsilon = {self.epsilon:g} is so large that nothing is protected; choose 10 at most"
                )
            return BasketDistortion(kind="mask", categories=names, keep=keep, add=add)
        assert self.keep is not None
        stay = _spread_over_items(self.keep, names, "keep")
        added_shares = _subtract_from_one(stay) if self.add is None else _spread_over_items(self.add, names, "add")
        return BasketDistortion(kind="mask", categories=names, keep=stay, add=added_shares)

    def _list_limits(self) -> list[str]:
        limits = ["Baskets were drawn afresh: a second release about the same people discloses more than ε."]
        if not isinstance(self.items, tuple):
            limits.append("The items come from the data: it is not hidden that each occurs.")
        if self.operator == "cut_and_paste":
            limits.append("It is not hidden how many items each basket held.")
        return limits


def _list_shares(shares: float | dict[str, float]) -> list[float]:
    return list(shares.values()) if isinstance(shares, dict) else [shares]


def _spread_over_items(
    shares: float | dict[str, float], names: tuple[str, ...], field: str
) -> float | tuple[float, ...]:
    """One probability for all, or one for each item."""
    if not isinstance(shares, dict):
        return shares
    strange = len(shares.keys() - set(names) - {OTHER_ITEMS})
    lacked_count = 0 if OTHER_ITEMS in shares else len(set(names) - shares.keys())
    if strange or lacked_count:
        problem = (
            f"names {count_noun(strange, 'item')} that no basket can hold"
            if strange
            else f"lacks {lacked_count} of the items"
        )
        raise PolicyError(f'`{field}` {problem}; name items as they are spelled, and all others as "{OTHER_ITEMS}"')
    return tuple(shares.get(name, shares.get(OTHER_ITEMS, 0.5)) for name in names)


def _subtract_from_one(share: float | tuple[float, ...]) -> float | tuple[float, ...]:
    return tuple(1 - item_share for item_share in share) if isinstance(share, tuple) else 1 - share


def _find_level(cutoff: int, epsilon: float | None) -> float:
    """The level at which Σ level^−i is e^ε: halve the interval until nothing changes."""
    assert epsilon is not None
    if epsilon <= log(cutoff + 1):
        raise PolicyError(
            f"with cutoff = {cutoff}, epsilon must be above ln({cutoff + 1}) = {log(cutoff + 1):.3g}, which is reached "
            "when every basket holds every item; raise epsilon or lower cutoff"
        )
    low, high = 0.0, 1.0
    while (middle := (low + high) / 2) not in (low, high):
        ratio = sum(middle**-pasted_count for pasted_count in range(cutoff + 1)) if middle > 1e-12 else float("inf")
        low, high = (middle, high) if ratio > exp(min(epsilon, 700.0)) else (low, middle)
    return high


def _renumber_items(data: Baskets, possible: Items) -> BasketRows:
    """The baskets in codes of the possible items."""
    numbers = {str(item): code for code, item in enumerate(possible)}
    codes = np.array([numbers.get(str(item), -1) for item in data.items], dtype=np.int32)
    strange = int((codes < 0).sum())
    if strange:
        raise DataError(
            f"{count_noun(strange, 'item')} of the baskets {'is' if strange == 1 else 'are'} not among the "
            f"{len(possible)} `items`; add them to `items`, or remove them from the baskets"
        )
    return BasketRows(data.offsets, codes[data.codes])


def _refuse_large(expected_count: float, baskets: int) -> None:
    if expected_count > _MOST_ITEMS:
        raise PolicyError(
            f"about {expected_count:,.0f} items would be published, {expected_count / baskets:,.0f} in every basket; "
            "lower `add` or `level`, or leave rare items out of the baskets and of `items`"
        )


def _compute_losses(rows: BasketRows, distortion: BasketDistortion) -> dict[str, Number]:
    """`loss`: how far the probability that an item is published does not depend on whether the basket held it."""
    if distortion.kind == "mask":
        depends = float(np.abs(distortion.keeps - distortion.adds).mean())
    else:
        sizes: Ints = np.diff(rows.offsets)
        pasted_count = sum(distortion.compute_retention(size) * size * count for size, count in distortion.sizes or ())
        depends = pasted_count / max(int(sizes.sum()), 1) * (1 - float(distortion.adds[0]))
    return {"loss": round(1 - depends, 12), "epsilon": round_claimed(distortion.compute_epsilon_in_all())}
