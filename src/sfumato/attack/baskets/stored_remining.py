# SPDX-License-Identifier: MIT
"""Re-mining of baskets that stay in their file: the attack of memory, on the items that it could find at all.

Rules down to some support have only items of that support. So the items are counted in the files, and of each basket
only those that reach it are held; the outcome is that of memory.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil

from sfumato.attack.attack import Outcome
from sfumato.attack.baskets.remining import Remining, count_one_basket_short
from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.mine.baskets.stored_itemsets import take_frequent_items
from sfumato.public.thresholds import compute_least_count
from sfumato.release import Release


def run_stored_remining(attack: Remining, release: Release, original: StoredBaskets) -> Outcome:
    """Mine both files as far down as the attack looks."""
    published_baskets: StoredBaskets = release.data
    least = compute_least_count(attack.choose_thresholds(release.method).support, len(original))
    lowest = min(ceil(least * (1 - Fraction(repr(attack.reach)))), least - 1)
    frequent_baskets = take_frequent_items(published_baskets, max(1, lowest))
    # A share would be one of the baskets that were taken.
    counting_attack = attack.model_copy(update={"min_support": least})
    return counting_attack.run(replace(release, data=frequent_baskets), take_frequent_items(original, least))


def count_stored_one_basket_short(data: StoredBaskets, support: int | float, confidence: float | None) -> int | None:
    """As `count_one_basket_short`."""
    least = compute_least_count(support, len(data))
    return count_one_basket_short(take_frequent_items(data, max(1, least - 1)), least, confidence)
