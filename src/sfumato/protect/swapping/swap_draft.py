# SPDX-License-Identifier: MIT
"""A first solution of problem (12), in the time of a sort: what is published if a search finds nothing in its time.

Records that change are chosen by their cost, at most as many of each category as the smallest shift allows. If no
category gives away more than half of all changes, their categories are rotated by the largest count, so that nobody
keeps the own one. Otherwise the largest category trades with all others.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Ints
from sfumato.protect.swapping.swap_records import SwapAnswer, SwapRecords


def draft_answer(records: SwapRecords, shift: int, chance: np.random.Generator) -> SwapAnswer:
    """A solution that meets every sum, if the shift is at least the smallest one."""
    changed_mask = ~records.free
    changed_mask[_choose_free_records(records, shift, chance)] = True
    movers, stayers = np.flatnonzero(changed_mask), np.flatnonzero(~changed_mask)
    movers = np.repeat(movers, records.weight[movers])
    movers = movers[np.argsort(records.own_categories[movers], kind="stable")]
    category = np.concatenate([_assign_categories(records, movers), records.own_categories[stayers]])
    return SwapAnswer(np.concatenate([movers, stayers]).astype(np.int64), category)


def _assign_categories(records: SwapRecords, movers: Ints) -> Ints:
    """Another category for each of the records that change, which are sorted by their own."""
    own_categories = records.own_categories[movers]
    largest = int(np.bincount(own_categories, minlength=records.categories).argmax())
    largest_mask = own_categories == largest
    if 2 * int(largest_mask.sum()) <= len(own_categories):
        return np.roll(own_categories, int(largest_mask.sum()))
    category = np.full(len(own_categories), largest, dtype=np.int64)
    category[largest_mask] = _choose_other_values(records, movers[largest_mask], own_categories[~largest_mask])
    return category


def _choose_free_records(records: SwapRecords, shift: int, chance: np.random.Generator) -> Ints:
    """The free records whose cheapest change costs least, within what each category may give away."""
    most = (records.moving_count + shift // 2) // 2 - records.forced_counts
    free = chance.permutation(np.flatnonzero(records.free))
    row_indices = np.arange(len(free))
    other_chances = records.chances[free].copy()
    own_chances = other_chances[row_indices, records.own_categories[free]]
    other_chances[row_indices, records.own_categories[free]] = -1
    free = free[np.argsort(own_chances - other_chances.max(axis=1), kind="stable")]
    # The rank of each record among those of its category.
    by_category = np.argsort(records.own_categories[free], kind="stable")
    own_categories = records.own_categories[free][by_category]
    rank = np.empty(len(free), dtype=np.int64)
    rank[by_category] = np.arange(len(free)) - np.searchsorted(own_categories, own_categories)
    chosen_records: Ints = free[rank < most[records.own_categories[free]]][: records.changes]
    return chosen_records


def _choose_other_values(records: SwapRecords, givers: Ints, offered_categories: Ints) -> Ints:
    """What the largest category's records take: all that the others offer, and the rest their best alternative."""
    chances = records.chances[givers].copy()
    chances[:, records.own_categories[givers[0]]] = -1
    taken_categories: Ints = chances.argmax(axis=1).astype(np.int64)
    taken_categories[: len(offered_categories)] = offered_categories
    return taken_categories
