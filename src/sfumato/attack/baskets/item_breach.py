# SPDX-License-Identifier: MIT
"""Item breach: infer from a randomized basket that it held a rare item.

Against randomized baskets. How items were randomized is public, and the release exists to publish supports; Bayes' rule
combines them. An item that few people have becomes likely when it is published, and more so together with items that go
with it: an upward breach from ρ1 to ρ2. Evfimievski, Gehrke, Srikant, *Limiting privacy breaches in privacy preserving
data mining* (PODS 2003).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.attack import Attack, Outcome, round_expected
from sfumato.baskets import Baskets, Item
from sfumato.errors import DataError, PolicyError
from sfumato.mine.baskets.estimated_itemsets import estimate_item_supports
from sfumato.public.basket_distortion import BasketDistortion, find_distortion
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress

_SMALL_ERROR = 0.1
"""The standard error up to which a share is better counted than expected."""


class ItemBreach(Attack):
    """An employer reads that a basket held a test kit, knows that chance may have put it there, and infers the truth.

    The adversary knows which basket is whose, how items were randomized, and the supports of all items, estimated from
    the release itself. It looks at items that at most a share `prior` (ρ1) of the people have, and names each basket
    that held one with a probability of at least `posterior` (ρ2): by the item alone, or together with the `partners`
    that go with it most; of `cut_and_paste`, by what all baskets of the same size show. The risk is the share of the
    baskets that truly held such an item and are named, by the better way. The baseline names as many baskets at random.
    The control is people who are not in the data: without their baskets no item that is rare becomes likely.
    """

    shape: ClassVar[str] = "baskets"
    public_fields: ClassVar[tuple[str, ...]] = ("prior", "posterior", "partners", "most")
    private_fields: ClassVar[tuple[str, ...]] = ("items",)

    attack: Literal["item_breach"] = "item_breach"
    prior: float = Field(default=0.1, gt=0.0, lt=1.0)
    """ρ1: the largest share of people who have an item that is looked for."""
    posterior: float = Field(default=0.5, gt=0.0, le=1.0)
    """ρ2: how probable an item must become for a basket to be named."""
    partners: int = Field(default=2, ge=0, le=8, strict=True)
    """How many items that go with it are looked at together with an item; 0 for none."""
    items: tuple[Item, ...] | None = None
    """The items that are looked for; by default the most common ones."""
    most: int = Field(default=50, ge=1, strict=True)
    """How many of the most common items are looked for, or taken as partners."""

    @model_validator(mode="after")
    def _check_breach(self) -> Self:
        if self.prior >= self.posterior:
            raise ValueError("a breach needs a posterior above the prior")
        return self

    def run(
        self, release: Release, truth: Baskets, control: Baskets | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Name the baskets of each item; count those that held it."""
        if len(release.data) != len(truth):
            raise PolicyError(
                f"{len(release.data)} baskets are published, of {len(truth)} originals; the counts must match"
            )
        known_items = _KnownItems.of(release, self.most, self.items)
        targets = [line for line in known_items.targets if known_items.supports[line] <= self.prior]
        rows = release.details.rows
        holder_mask = _flag_items(truth, [known_items.names[line] for line in targets])
        holder_mask = holder_mask if rows is None else holder_mask[:, np.asarray(rows)]
        report_progress("naming baskets")
        guesses = {way: self._name_baskets(known_items, targets, way) for way in known_items.list_ways(self.partners)}
        right = {way: int((flags & holder_mask).sum()) for way, flags in guesses.items()}
        best = max(right, key=right.__getitem__)
        many, true = guesses[best].sum(axis=1), holder_mask.sum(axis=1)
        return Outcome(
            attempts=int(true.sum()),
            successes=right[best],
            baseline=round_expected(float(np.sum(many * true)) / max(len(truth), 1)),
            control=None if control is None else 0,
            facts={"items": len(targets), "named": int(many.sum()), "best_way": best},
        )

    def _name_baskets(self, known_items: _KnownItems, targets: list[int], way: str) -> Flags:
        """Targets × baskets: whether the basket held the item with enough probability."""
        if known_items.distortion is None:
            return known_items.published_mask[targets]
        if not known_items.is_masked:
            return np.array([self._name_by_size(known_items, line, way) for line in targets], dtype=bool).reshape(
                len(targets), known_items.published_mask.shape[1]
            )
        guesses = np.zeros((len(targets), known_items.published_mask.shape[1]), dtype=bool)
        for row, line in enumerate(targets):
            item_lines = [line, *known_items.list_partners(line, self.partners if way == "with_partners" else 0)]
            codes, likely = known_items.judge_patterns(item_lines)
            guesses[row] = likely[codes] >= self.posterior
        return guesses

    def _name_by_size(self, known_items: _KnownItems, line: int, way: str) -> Flags:
        """Cut and paste: an item of a small basket is pasted more often, and a large basket holds more items."""
        assert known_items.distortion is not None and known_items.distortion.sizes is not None
        level, sizes = float(known_items.distortion.adds[0]), known_items.distortion.sizes
        mean = sum(size * count for size, count in sizes) / max(sum(count for _, count in sizes), 1)
        guesses, begin = [np.zeros(0, dtype=bool)], 0
        for size, count in sizes:
            part, begin = known_items.published_mask[line, begin : begin + count], begin + count
            retention = known_items.distortion.compute_retention(size)
            prior = min(max(known_items.supports[line], 0.0) * size / mean, 1.0) if mean else 0.0
            if size == len(known_items.distortion.categories):
                prior = 1.0  # such a basket holds every item there is
            elif way != "alone":
                prior = _estimate_own_share(part, prior, retention, level, way == "by_own_count")
            shown_chance, hidden_chance = retention + (1 - retention) * level, (1 - retention) * (1 - level)
            yes = prior * shown_chance / (prior * shown_chance + (1 - prior) * level)
            no = prior * hidden_chance / (prior * hidden_chance + (1 - prior) * (1 - level)) if prior < 1 else 1.0
            guesses.append(np.where(part, yes, no) >= self.posterior)
        return np.concatenate(guesses)


class _PatternChances(NamedTuple):
    """How likely an item was truly held, by the pattern of some items."""

    codes: Ints
    """The pattern of each basket."""
    likely: Floats
    """The probability, for each pattern."""


class _KnownItems(NamedTuple):
    """What the adversary knows about the most common items."""

    names: list[str]
    published_mask: Flags
    """Items × published baskets."""
    supports: Floats
    """The estimated share of people who have each."""
    targets: list[int]
    distortion: BasketDistortion | None
    places: Ints
    """The numbers of the items among the possible ones."""

    @classmethod
    def of(cls, release: Release, most: int, wanted_items: tuple[Item, ...] | None) -> _KnownItems:
        data: Baskets = release.data
        distortion = find_distortion(release)
        possible = list(map(str, data.items)) if distortion is None else list(distortion.categories)
        if distortion is None:
            supports = np.bincount(data.codes, minlength=len(possible)) / max(len(data), 1)
        else:
            supports = np.clip(np.nan_to_num(estimate_item_supports(release)), 0.0, 1.0)
        number = {name: index for index, name in enumerate(possible)}
        asked_names = [str(item) for item in wanted_items or ()]
        if strange := sum(name not in number for name in asked_names):
            raise DataError(f"{strange} of the attack's `items` are not among the items that a basket can hold")
        order = np.argsort(-supports, kind="stable")[:most].tolist()
        places = list(dict.fromkeys([*(number[name] for name in asked_names), *order]))
        names = [possible[index] for index in places]
        targets = list(range(len(asked_names) if asked_names else len(names)))
        shares = np.asarray(supports[places], dtype=np.float64)
        return cls(names, _flag_items(data, names), shares, targets, distortion, np.array(places, dtype=np.int64))

    @property
    def is_masked(self) -> bool:
        """Whether every item was randomized by itself."""
        return self.distortion is not None and self.distortion.kind == "mask"

    def list_ways(self, partners: int) -> list[str]:
        """By the item alone, and by what else the release tells about its baskets."""
        if self.distortion is None or (self.is_masked and not partners):
            return ["alone"]
        return ["alone", "with_partners"] if self.is_masked else ["alone", "by_size", "by_own_count"]

    def list_partners(self, line: int, count: int) -> list[int]:
        """The items that go with an item most, by the estimated covariance relative to their own variance."""
        assert self.distortion is not None
        keeps, adds = self.distortion.keeps[self.places], self.distortion.adds[self.places]
        wide = keeps - adds
        if not count or abs(wide[line]) < 1e-12:
            return []
        joint_shares = (self.published_mask & self.published_mask[line]).mean(axis=1)
        single_shares = self.published_mask.mean(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            covariance = (joint_shares - single_shares * single_shares[line]) / (wide * wide[line])
            ties = np.abs(covariance) / np.sqrt(np.maximum(self.supports * (1 - self.supports), 1e-6))
        ties[line] = -1.0
        ties = np.where(np.abs(wide) < 1e-12, -1.0, ties)
        best = np.argsort(-ties, kind="stable")[:count].tolist()
        return [other for other in best if ties[other] >= 0]

    def judge_patterns(self, item_lines: list[int]) -> _PatternChances:
        """Each basket's pattern of some items, and how likely it is for each pattern that the first was truly held."""
        assert self.distortion is not None
        codes = np.zeros(self.published_mask.shape[1], dtype=np.int64)
        for line in item_lines:
            codes = 2 * codes + self.published_mask[line]
        size = len(item_lines)
        truth = np.bincount(codes, minlength=2**size).reshape([2] * size) / max(len(codes), 1)
        channels = []
        for axis, line in enumerate(item_lines):
            keep, add = (float(part[self.places[line]]) for part in (self.distortion.keeps, self.distortion.adds))
            channel = np.array([[1 - add, 1 - keep], [add, keep]])
            channels.append(channel)
            if abs(keep - add) > 1e-12:
                truth = _apply_along(np.linalg.inv(channel), truth, axis)
        truth = np.clip(truth, 0.0, None)
        truth /= max(float(truth.sum()), 1e-300)
        sure = truth.copy()
        sure[0] = 0.0
        for axis, channel in enumerate(channels):
            truth, sure = _apply_along(channel, truth, axis), _apply_along(channel, sure, axis)
        return _PatternChances(codes, (sure / np.maximum(truth, 1e-300)).ravel())


def _estimate_own_share(
    shown_flags: Flags, expected_share: float, retention: float, level: float, count: bool
) -> float:
    """The share of baskets of one size that hold an item, by those baskets alone.

    In few baskets chance alone would look like knowledge: they must differ by three standard errors from what is
    expected or, if they are to be counted, be so many that the error is small.
    """
    wide = retention * (1 - level)
    if wide < 1e-12 or not len(shown_flags):
        return expected_share
    likely = level + expected_share * wide
    error = (likely * (1 - likely) / len(shown_flags)) ** 0.5
    is_countable = count and error <= _SMALL_ERROR * wide
    if not is_countable and abs(float(shown_flags.mean()) - likely) <= 3 * error:
        return expected_share
    return min(max((float(shown_flags.mean()) - level) / wide, 0.0), 1.0)


def _apply_along(matrix: Floats, table: Floats, axis: int) -> Floats:
    return np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)


def _flag_items(baskets: Baskets, names: list[str]) -> Flags:
    """Items × baskets: whether the basket holds the item."""
    line = {name: number for number, name in enumerate(names)}
    lines = np.array([line.get(str(item), -1) for item in baskets.items], dtype=np.int64)
    flags: Any = np.zeros((len(names), len(baskets)), dtype=np.bool_)
    if len(lines):
        row = np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets))
        item_lines = lines[baskets.codes]
        flags[item_lines[item_lines >= 0], row[item_lines >= 0]] = True
    return np.asarray(flags, dtype=np.bool_)
