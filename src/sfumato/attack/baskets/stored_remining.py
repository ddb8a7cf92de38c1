# SPDX-License-Identifier: MIT
"""Re-mining of baskets that stay in their file: the in-memory attack, restricted to items frequent enough to matter.

Rules down to some support have only items of that support. So the items are counted in the files, and of each basket
only those that reach it are held; pairs of common items are counted some baskets at a time. The outcome is that of
memory. No strategy that runs on such baskets marks items as unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np

from sfumato.attack.attack import Outcome
from sfumato.attack.baskets.mined_rules import count_one_basket_short
from sfumato.attack.baskets.rare_itemsets import ItemPairCounts, choose_common_items, count_together
from sfumato.attack.baskets.remining import MinedRelease, Remining
from sfumato.attack.stored_attack import StoredBasketAttack
from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.mine.baskets.stored_itemsets import take_frequent_items
from sfumato.public.thresholds import MiningThresholds, compute_least_count
from sfumato.public.unknown_items import split_unknowns
from sfumato.release import Release


class StoredRemining(StoredBasketAttack[Remining]):
    """All of re-mining."""

    runs = "remining"

    def run(self, attack: Remining, release: Release, original: StoredBaskets) -> Outcome:
        """Mine both files as far down as the attack looks."""
        published_baskets: StoredBaskets = release.data
        steps = attack.list_hiding_steps(release)
        thresholds = [step.thresholds for step in steps]
        least = min(compute_least_count(pair.support, len(original)) for pair in thresholds)
        lowest = max(1, ceil(least * (1 - Fraction(repr(attack.reach)))))
        frequent_baskets = take_frequent_items(published_baskets, lowest)
        names = frozenset(str(published_baskets.items[code]) for code in np.flatnonzero(published_baskets.counts))
        pairs = count_stored_pairs(published_baskets)
        mined_release = MinedRelease(split_unknowns(frequent_baskets, ""), pairs, names)
        short = count_stored_one_basket_short(published_baskets, thresholds)
        return attack.attack_steps(mined_release, steps, take_frequent_items(original, least), short)


def count_stored_pairs(baskets: StoredBaskets) -> ItemPairCounts:
    """As `count_basket_pairs`."""
    common_items = choose_common_items(baskets.items, baskets.counts)
    columns = np.full(len(baskets.items), -1, dtype=np.int64)
    columns[common_items] = np.arange(len(common_items))
    joint_counts = np.zeros((len(common_items), len(common_items)), dtype=np.int64)
    for batch in baskets.iterate("counting items together"):
        joint_counts += count_together(batch.offsets, columns[batch.codes], len(common_items))
    return ItemPairCounts(tuple(str(baskets.items[position]) for position in common_items), joint_counts, len(baskets))


def count_stored_one_basket_short(data: StoredBaskets, thresholds: Sequence[MiningThresholds]) -> int | None:
    """As `count_one_basket_short`."""
    least = min(compute_least_count(pair.support, len(data)) for pair in thresholds)
    return count_one_basket_short(take_frequent_items(data, max(1, least - 1)), thresholds, len(data))
