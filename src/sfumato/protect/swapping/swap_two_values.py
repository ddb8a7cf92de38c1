# SPDX-License-Identifier: MIT
"""Phase II of swapping for a column of two values: the optimum by sorting.

With two values a changed record has one value to take, so only the number of changes in each value is free, and the
cheapest records of each value change. One more change in one value and one fewer in the other costs more and more: the
best split is where that turns positive. An integer program over the same records is a knapsack of nearly equal costs,
which HiGHS did not finish in a minute for 40,000 records.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Ints
from sfumato.protect.swapping.swap_records import SwapAnswer, SwapRecords


def find_cheapest_split(records: SwapRecords, shift: int, chance: np.random.Generator) -> SwapAnswer:
    """The cheapest solution whose counts shift by at most `shift` in total; ties are broken at random."""
    record_indices = np.arange(len(records.own_categories))
    costs = (
        records.chances[record_indices, records.own_categories]
        - records.chances[record_indices, 1 - records.own_categories]
    )
    sorted_records = chance.permutation(np.flatnonzero(records.free))
    sorted_records = sorted_records[np.argsort(costs[sorted_records], kind="stable")]
    zeros, one_records = (sorted_records[records.own_categories[sorted_records] == value] for value in (0, 1))
    zero_count = _choose_zeros(costs[zeros], costs[one_records], records, shift, chance)
    changed_mask = ~records.free
    changed_mask[zeros[:zero_count]] = True
    changed_mask[one_records[: records.changes - zero_count]] = True
    copies = np.repeat(record_indices, records.weight)
    return SwapAnswer(
        copies.astype(np.int64), np.where(changed_mask, 1 - records.own_categories, records.own_categories)[copies]
    )


def _choose_zeros(zeros: Ints, one_costs: Ints, records: SwapRecords, shift: int, chance: np.random.Generator) -> int:
    """How many free records of value 0 change, given the costs of both values' records in ascending order."""
    changes, forced_counts = records.changes, records.forced_counts
    # The count of value 0 falls by 2 × zeros − balance, and that of value 1 grows by as much.
    balance, room = changes + int(forced_counts[1] - forced_counts[0]), shift // 2
    fewest = max(0, changes - len(one_costs), -((room - balance) // 2))
    most = min(len(zeros), changes, (balance + room) // 2)
    assert fewest <= most, "the shift is one that records can meet"
    # What one more change of value 0 adds to the cost, from the fewest on: never less than the step before.
    steps = zeros[fewest:most] - one_costs[changes - most : changes - fewest][::-1]
    low, high = np.searchsorted(steps, 0, side="left"), np.searchsorted(steps, 0, side="right")
    return fewest + int(chance.integers(low, high, endpoint=True))
