# SPDX-License-Identifier: MIT
"""Support inference: reckon with published supports until they name a handful of people.

Against a release of patterns alone. Each support is that of a crowd, but differences of them are not: those who have a
and not b are the support of a less that of ab. What leaks is that somebody has a certain rare pattern, and how many do.
Atzori, Bonchi, Giannotti, Pedreschi, *k-anonymous patterns* (2005); Calders, Goethals 2002.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.arrays import Flags
from sfumato.attack.attack import Attack, Outcome
from sfumato.baskets import Baskets
from sfumato.errors import DataError, PolicyError
from sfumato.mine.baskets.itemsets import find_itemsets
from sfumato.mine.patterns.derivability import Conjunction, ForcedPattern, forced_patterns
from sfumato.mine.patterns.inference_channels import inference_channels
from sfumato.patterns import Patterns
from sfumato.progress import report_progress
from sfumato.public.thresholds import compute_least_count
from sfumato.randomness import Randomness
from sfumato.release import Release


class SupportInference(Attack):
    """A reader subtracts one published support from another and finds that just one patient has a, but not b.

    The adversary knows the published patterns, how many baskets there were, and nothing else. It tries inclusion and
    exclusion on every set that is published, and bounds on those that are not, for patterns that 1 to k − 1 people must
    have. The targets are all such patterns among the frequent itemsets of the originals, and whatever else it finds; a
    success is a pattern found whose true support lies within the bounds found. Where baskets are published, it mines
    them first. Atzori, Bonchi, Giannotti, Pedreschi 2005.
    """

    shape: ClassVar[str] = "patterns"
    public_fields: ClassVar[tuple[str, ...]] = ("k", "min_support")

    attack: Literal["support_inference"] = "support_inference"
    k: int | None = Field(default=None, ge=2, strict=True)
    """The number of people that ought to hide one another; that of the release's method if not given."""
    min_support: int | float | None = Field(default=None, gt=0)
    """The support of the targets, and of what is mined; that of the release's method if not given."""

    def run(
        self, release: Release, truth: Baskets, control: Baskets | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Reckon, and look up in the originals what is true of what was found."""
        k, least = self._asked(release, truth)
        published = _list_patterns(release.data, least)
        report_progress("reckoning with published supports")
        try:
            claims = forced_patterns(published, k)
        except DataError:  # Supports that no database has tell nothing for certain.
            claims = []
        single = {claim.either[0]: claim for claim in claims if len(claim.either) == 1}
        true = _TruePatternCounts(truth)
        targets = _list_true_small_patterns(truth, least, k) | {
            pattern for pattern in single if 0 < true.count(pattern) < k
        }
        return Outcome(
            attempts=len(targets),
            successes=_count_pattern_hits(single, true, k),
            baseline=_count_blind_hits(truth, least, len(single), len(targets)),
            control=None if control is None else _count_pattern_hits(single, _TruePatternCounts(control), k),
            facts={
                "found": len(claims),
                "found_together": len(claims) - len(single),
                "exactly": sum(claim.least == claim.most for claim in claims),
                "of_one_person": sum(claim.most == 1 for claim in claims),
                "itemsets": len(published),
            },
        )

    def _asked(self, release: Release, truth: Baskets) -> tuple[int, int]:
        k = self.k or getattr(release.method, "k", None)
        support = self.min_support or getattr(release.method, "min_support", None)
        if k is None or support is None:
            raise PolicyError("say k and min_support: the release's method does not")
        return int(k), compute_least_count(support, len(truth))


def _list_patterns(data: Patterns | Baskets, least: int) -> Patterns:
    if isinstance(data, Patterns):
        return data
    itemsets = find_itemsets(data, least)
    return Patterns(itemsets.items, itemsets.offsets, itemsets.codes, itemsets.supports, itemsets.rows, least)


def _list_true_small_patterns(truth: Baskets, least: int, k: int) -> set[Conjunction]:
    """The true small patterns among the frequent itemsets."""
    channels = inference_channels(truth, least, k)
    return {
        Conjunction(tuple(inner), tuple(item for item in outer if item not in inner))
        for inner, outer in channels.select("inner", "outer").iter_rows()
    }


def _count_pattern_hits(claims: Mapping[Conjunction, ForcedPattern], truth: _TruePatternCounts, k: int) -> int:
    counts = [(forced, truth.count(pattern)) for pattern, forced in claims.items()]
    return sum(0 < count < k and forced.least <= count <= forced.most for forced, count in counts)


def _count_blind_hits(truth: Baskets, least: int, guesses: int, targets: int) -> int:
    """How many of so many patterns of frequent itemsets, taken at random, would be small."""
    lengths = np.diff(find_itemsets(truth, least).offsets)
    patterns = int((1 << lengths.astype(np.int64)).sum())
    return min(targets, round(guesses * targets / patterns)) if patterns else 0


class _TruePatternCounts:
    """Counts patterns in the originals; items are looked up once."""

    def __init__(self, baskets: Baskets) -> None:
        self._baskets = baskets
        self._rows = np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets))
        self._place = {str(item): code for code, item in enumerate(baskets.items)}
        self._held: dict[str, Flags] = {}

    def count(self, pattern: Conjunction) -> int:
        fits = np.ones(len(self._baskets), dtype=bool)
        for item in pattern.present:
            fits &= self._find_holding_baskets(str(item))
        for item in pattern.absent:
            fits &= ~self._find_holding_baskets(str(item))
        return int(fits.sum())

    def _find_holding_baskets(self, name: str) -> Flags:
        if name not in self._held:
            held = np.zeros(len(self._baskets), dtype=bool)
            held[self._rows[self._baskets.codes == self._place.get(name, -1)]] = True
            self._held[name] = held
        return self._held[name]
