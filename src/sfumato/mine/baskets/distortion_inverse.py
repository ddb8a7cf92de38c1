# SPDX-License-Identifier: MIT
"""Supports behind randomized baskets: the distortion of an itemset inverted, and how far its estimate can be off.

An estimate is a mean over published baskets of a value that depends on which of the itemset's items each one shows. The
values are those whose expectation is 1 for a basket that held all of them and 0 for any other: for independent items
the product of (shown − add) / (keep − add); for cut and paste, by the number of items shown, a row of the inverse of
Evfimievski's matrix for baskets of each size.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.errors import PolicyError
from sfumato.public.basket_distortion import BasketDistortion

EstimateScope = Literal["baskets", "population"]


class SupportEstimates(NamedTuple):
    """Estimated shares of baskets, with intervals."""

    support: Floats
    low: Floats
    high: Floats


class ConfidenceInterval(NamedTuple):
    """The interval of a rule's confidence."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class DistortionInverse:
    """Estimates from counts of what is shown."""

    distortion: BasketDistortion
    groups: Ints
    """The sizes of groups of baskets that were randomized alike."""
    z: float
    """How many standard deviations an interval reaches to either side."""
    scope: EstimateScope

    @classmethod
    def make(
        cls, distortion: BasketDistortion, baskets: int, confidence: float, scope: EstimateScope
    ) -> DistortionInverse:
        """Check the parameters."""
        if isinstance(confidence, bool) or not 0.0 < confidence < 1.0:
            raise PolicyError("confidence must lie between 0 and 1")
        if scope not in ("baskets", "population"):
            raise PolicyError('`of` is "baskets", those behind the release, or "population", which they are drawn from')
        return cls(distortion, distortion.group_sizes(baskets), NormalDist().inv_cdf((1 + confidence) / 2), scope)

    @property
    def baskets(self) -> int:
        """The number of baskets."""
        return int(self.groups.sum())

    @property
    def longest(self) -> int | None:
        """The most items of a set whose support can be estimated."""
        return self.distortion.cutoff

    def list_usable_items(self) -> Ints:
        """The items whose published presence depends on the truth."""
        if self.distortion.kind == "cut_and_paste":
            return np.arange(len(self.distortion.categories), dtype=np.int64)
        return np.flatnonzero(np.abs(self.distortion.keeps - self.distortion.adds) > 1e-12).astype(np.int64)

    def weigh(self, sets: Ints) -> Floats:
        """The value of each pattern of shown items: sets × groups × 2^length; the first item is the highest bit."""
        if self.distortion.kind == "mask":
            keeps, adds = self.distortion.keeps[sets], self.distortion.adds[sets]
            values = np.ones((len(sets), 1))
            for keep, add in zip(keeps.T, adds.T, strict=True):
                item_values = np.stack([-add, 1 - add], axis=1) / (keep - add)[:, None]
                values = (values[:, :, None] * item_values[:, None, :]).reshape(len(sets), -1)
            return values[:, None, :]
        length = sets.shape[1]
        shown_counts = np.bitwise_count(np.arange(2**length)).astype(np.int64)
        rows = [self._weigh_size(size, length)[shown_counts] for size, _ in self.distortion.sizes or ()]
        return np.stack(rows)[None, :, :]

    def _weigh_size(self, size: int, length: int) -> Floats:
        """Cut and paste: the value of each number of items shown, in a basket of one size."""
        if size < length:
            return np.zeros(length + 1)  # it cannot have held the set
        target = np.zeros(length + 1)
        target[length] = 1.0
        return np.asarray(np.linalg.solve(self.distortion.build_transition(size, length).T, target), dtype=np.float64)

    def estimate(self, sets: Ints, patterns: Floats) -> SupportEstimates:
        """The supports of sets, from how many baskets of each group show each pattern of their items."""
        values = self.weigh(sets)
        support = np.sum(values * patterns, axis=(1, 2)) / self.baskets
        square = np.sum(values**2 * patterns, axis=(1, 2)) / self.baskets
        return self._bound(sets, support, square)

    def _bound(self, sets: Ints, support: Floats, square: Floats) -> SupportEstimates:
        """All s whose own standard deviation, times z, reaches the estimate: Wilson's interval for a mean of values.

        The variance of one value is constant + slope · s − bend · s². `square` is the mean of squared values. Baskets
        that are fixed vary by the distortion alone; those of a population also by who is among them.
        """
        clipped_support = np.clip(support, 0.0, 1.0)
        bend = float(self.scope == "population")
        if self.distortion.kind == "mask":
            keeps, adds = self.distortion.keeps[sets], self.distortion.adds[sets]
            held_factors = keeps * (1 - keeps) / (keeps - adds) ** 2 + 1
            lacked_factors = adds * (1 - adds) / (keeps - adds) ** 2
            whole = held_factors.prod(axis=1)
            most = np.maximum(held_factors, lacked_factors).prod(axis=1)
            constant = np.minimum(
                np.maximum(square - clipped_support * whole, 0.0) / np.maximum(1 - clipped_support, 1e-9), most
            )
            slope = whole - constant - (1 - bend)
        else:
            constant = np.maximum(square - clipped_support + bend * clipped_support * (1 - clipped_support), 0.0)
            slope, bend = np.zeros(len(support)), 0.0
        share = self.z**2 / self.baskets
        middle = (2 * support + share * slope) / 2
        scale = 1 + share * bend
        reach = np.sqrt(np.maximum(middle**2 - scale * (support**2 - share * constant), 0.0))
        low, high = (middle - reach) / scale, (middle + reach) / scale
        return SupportEstimates(support, np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0))

    def bound_confidence(
        self, whole: Ints, left_mask: list[bool], patterns: Floats, confidence: float
    ) -> ConfidenceInterval:
        """The interval of a rule's confidence, by the delta method; `left_mask` flags the items on the left side."""
        length = len(whole)
        whole_values = self.weigh(whole[None, :])[0]
        side = np.flatnonzero(left_mask)
        left_values = self.weigh(whole[None, side])[0]
        bits = np.arange(2**length)
        # Which pattern of the left side alone each pattern of all items shows.
        of_left = sum(
            ((bits >> (length - 1 - item)) & 1) << (len(side) - 1 - position)
            for position, item in enumerate(side.tolist())
        )
        difference = whole_values - confidence * left_values[:, of_left]
        square = float(np.sum(difference**2 * patterns)) / self.baskets
        support, left_support = (
            float(np.sum(values * patterns)) / self.baskets for values in (whole_values, left_values[:, of_left])
        )
        true = 0.0 if self.scope == "population" else max(support, 0.0) * (1 - min(confidence, 1.0))
        error = np.sqrt(max(square - true, 0.0) / self.baskets) / left_support
        reach = self.z * float(error)
        return ConfidenceInterval(min(max(confidence - reach, 0.0), 1.0), min(max(confidence + reach, 0.0), 1.0))


def split_counts(counts: Floats) -> Floats:
    """How many baskets show each pattern of items, from how many show all items of each subset (last axis, by bits)."""
    length = counts.shape[-1].bit_length() - 1
    table = counts.reshape(*counts.shape[:-1], *([2] * length)).copy()
    for axis in range(counts.ndim - 1, counts.ndim - 1 + length):
        total_counts, held_counts = np.take(table, [0], axis), np.take(table, [1], axis)
        table = np.concatenate([total_counts - held_counts, held_counts], axis)
    return table.reshape(counts.shape)
