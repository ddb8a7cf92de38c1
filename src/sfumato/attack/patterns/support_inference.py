# SPDX-License-Identifier: MIT
"""Support inference: derive unpublished supports from published ones until they describe only a few people.

Against a release of patterns alone. Every published support covers many people, but differences of supports may not:
the people with a and without b number the support of a minus that of ab. What leaks is that someone has a rare
pattern, and how many people do. Atzori, Bonchi, Giannotti, Pedreschi, *k-anonymous patterns* (2005); Calders, Goethals
2002.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.arrays import Flags
from sfumato.attack.attack import Attack, Outcome
from sfumato.baskets import Baskets
from sfumato.errors import DataError, PolicyError
from sfumato.mine.baskets.itemsets import find_itemsets
from sfumato.mine.patterns.derivability import Conjunction, ForcedPattern, forced_patterns
from sfumato.mine.patterns.inference_channels import inference_channels
from sfumato.mine.patterns.rule_classifier import list_conditions
from sfumato.patterns import Patterns
from sfumato.public.thresholds import compute_least_count, find_crowd_thresholds
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table


class SupportInference(Attack):
    """A reader subtracts one published support from another and finds that exactly one patient has a, but not b.

    The adversary knows the published patterns and the number of baskets, and nothing else. It applies
    inclusion-exclusion to every published set, and bounds to the others, to find patterns that 1 to k − 1 people must
    have. The targets are all such patterns among the frequent itemsets of the originals, and anything else it finds. A
    success is a pattern whose true support lies within the derived bounds. If baskets are published, it mines them
    first. Atzori, Bonchi, Giannotti, Pedreschi 2005.
    """

    shape: ClassVar[str] = "patterns"
    public_fields: ClassVar[tuple[str, ...]] = ("k",)
    # A share next to the count in the claim would disclose the number of baskets, and so what was added.
    private_fields: ClassVar[tuple[str, ...]] = ("min_support",)

    attack: Literal["support_inference"] = "support_inference"
    k: int | None = Field(default=None, ge=2, strict=True)
    """The smallest number of people that may share a pattern; by default that of the release's method."""
    min_support: int | float | None = Field(default=None, gt=0)
    """The minimum support of the targets and of mining; by default that of the release's method."""

    def run(self, release: Release, truth: Any, control: Any = None, randomness: Randomness | None = None) -> Outcome:
        """Derive small patterns, and check them against the originals."""
        truth, control = _list_baskets(release, truth), _list_baskets(release, control)
        k, least = self._find_thresholds(release, truth)
        published_patterns = _list_patterns(release.data, least)
        report_progress("deriving from published supports")
        try:
            claims = forced_patterns(published_patterns, k)
        except DataError:  # Supports that no database has imply nothing for certain.
            claims = []
        single = {claim.conjunctions[0]: claim for claim in claims if len(claim.conjunctions) == 1}
        true = _TruePatternCounts(truth)
        targets = _list_true_small_patterns(truth, least, k) | {
            _spell_pattern(pattern) for pattern in single if 0 < true.count(pattern) < k
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
                "itemsets": len(published_patterns),
            },
        )

    def _find_thresholds(self, release: Release, truth: Baskets) -> tuple[int, int]:
        thresholds = find_crowd_thresholds(release)
        k = self.k or (thresholds and thresholds.k)
        support = self.min_support or (thresholds and thresholds.support)
        if k is None or support is None:
            raise PolicyError("give k and min_support: the release's method does not state them")
        return int(k), compute_least_count(support, len(truth))


def _list_baskets(release: Release, truth: Any) -> Any:
    """For a table, the classifier conditions that each row satisfies."""
    return list_conditions(release.data, truth) if isinstance(truth, Table) else truth


def _list_patterns(data: Patterns | Baskets, least: int) -> Patterns:
    if isinstance(data, Patterns):
        return data
    itemsets = find_itemsets(data, least)
    return Patterns(itemsets.items, itemsets.offsets, itemsets.codes, itemsets.supports, itemsets.rows, least)


def _list_true_small_patterns(truth: Baskets, least: int, k: int) -> set[Conjunction]:
    """The true small patterns among the frequent itemsets."""
    channels = inference_channels(truth, least, k)
    return {
        _spell_pattern(Conjunction(tuple(inner), tuple(item for item in outer if item not in inner)))
        for inner, outer in channels.select("inner", "outer").iter_rows()
    }


def _spell_pattern(pattern: Conjunction) -> Conjunction:
    """The same pattern of a release and of the originals, whether items are numbers or text."""
    return Conjunction(*(tuple(sorted(map(str, items))) for items in (pattern.present, pattern.absent)))


def _count_pattern_hits(claims: Mapping[Conjunction, ForcedPattern], truth: _TruePatternCounts, k: int) -> int:
    counts = [(forced_pattern, truth.count(pattern)) for pattern, forced_pattern in claims.items()]
    return sum(
        0 < count < k and forced_pattern.least <= count <= forced_pattern.most for forced_pattern, count in counts
    )


def _count_blind_hits(truth: Baskets, least: int, guesses: int, targets: int) -> int:
    """How many of this many random patterns of frequent itemsets would be small."""
    lengths = np.diff(find_itemsets(truth, least).offsets)
    patterns = int((1 << lengths.astype(np.int64)).sum())
    return min(targets, round(guesses * targets / patterns)) if patterns else 0


class _TruePatternCounts:
    """Counts patterns in the originals; each item is looked up once."""

    def __init__(self, baskets: Baskets) -> None:
        self._baskets = baskets
        self._rows = np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets))
        self._code_of = {str(item): code for code, item in enumerate(baskets.items)}
        self._holder_masks: dict[str, Flags] = {}

    def count(self, pattern: Conjunction) -> int:
        fits = np.ones(len(self._baskets), dtype=bool)
        for item in pattern.present:
            fits &= self._find_holding_baskets(str(item))
        for item in pattern.absent:
            fits &= ~self._find_holding_baskets(str(item))
        return int(fits.sum())

    def _find_holding_baskets(self, name: str) -> Flags:
        if name not in self._holder_masks:
            holder_mask = np.zeros(len(self._baskets), dtype=bool)
            holder_mask[self._rows[self._baskets.codes == self._code_of.get(name, -1)]] = True
            self._holder_masks[name] = holder_mask
        return self._holder_masks[name]
