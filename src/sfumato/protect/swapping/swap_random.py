# SPDX-License-Identifier: MIT
"""Swaps at random: who is changed, and to which value, is drawn.

Against an adversary who knows the method. A solution of problem (1) of Li and Sarkar (2004) that is cheap may change
every record of one category and none of another; published values of the second are then certainly true. Here records
are drawn evenly, whatever their category, and their values are dealt out again so that nobody keeps the own one. What
leaks: if one category would have to give away more than half of all changes, the others are changed more often.
`draw_proportional_answer` is the random program that Li and Sarkar compare with, as they describe it.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Ints
from sfumato.protect.swapping.swap_marginal import find_least_shift
from sfumato.protect.swapping.swap_records import SwapAnswer, SwapRecords


def draw_random_answer(records: SwapRecords, chance: np.random.Generator) -> SwapAnswer:
    """Change records of U drawn at random, and what must be changed of V; each of the two is balanced by itself."""
    copies = np.repeat(np.arange(len(records.own_categories)), records.weight).astype(np.int64)
    own_categories = records.own_categories[copies]
    category = own_categories.copy()
    counts = np.bincount(own_categories, minlength=records.categories)
    free = np.flatnonzero(records.free[copies])
    chosen_copies = free[_draw_movers(own_categories[free], records.available, records.changes, chance)]
    for moved_copies in (chosen_copies, np.flatnonzero(~records.free[copies])):
        if len(moved_copies):
            category[moved_copies] = _distribute_values(own_categories[moved_copies], counts, chance)
    return SwapAnswer(copies, category.astype(np.int64))


def draw_proportional_answer(records: SwapRecords, counts: Ints, chance: np.random.Generator) -> SwapAnswer:
    """Change records of U drawn at random, and what must be changed of V; every new value is drawn by itself.

    It is another one than the own, with the share that it has in the whole column: so counts stay only about the same.
    """
    copies = np.repeat(np.arange(len(records.own_categories)), records.weight).astype(np.int64)
    own_categories = records.own_categories[copies]
    category = own_categories.copy()
    free = records.free[copies]
    moved_copies = np.concatenate(
        [chance.choice(np.flatnonzero(free), records.changes, replace=False), np.flatnonzero(~free)]
    )
    for value in np.unique(own_categories[moved_copies]):
        value_copies = moved_copies[own_categories[moved_copies] == value]
        other_counts = np.where(np.arange(records.categories) == value, 0, counts)
        category[value_copies] = chance.choice(
            records.categories, len(value_copies), p=other_counts / other_counts.sum()
        )
    return SwapAnswer(copies, category.astype(np.int64))


def _draw_movers(own_categories: Ints, available: Ints, changes: int, chance: np.random.Generator) -> Ints:
    """This many records at random; of one category at most as many as the smallest shift of the counts allows."""
    shift = find_least_shift(available, changes, np.zeros(len(available), dtype=np.int64))
    order = chance.permutation(len(own_categories))
    by_category = np.argsort(own_categories[order], kind="stable")
    sorted_categories = own_categories[order][by_category]
    rank = np.empty(len(own_categories), dtype=np.int64)
    rank[by_category] = np.arange(len(own_categories)) - np.searchsorted(sorted_categories, sorted_categories)
    movers: Ints = order[rank < (changes + shift // 2) // 2][:changes]
    return movers


def _distribute_values(own_categories: Ints, counts: Ints, chance: np.random.Generator) -> Ints:
    """Another category for every record: those of all of them in random order, if none is held by more than half."""
    largest = int(np.bincount(own_categories).argmax())
    largest_mask = own_categories == largest
    if 2 * int(largest_mask.sum()) > len(own_categories):
        return _trade_with_largest(own_categories, largest, counts, chance)
    dealt: Ints = chance.permutation(own_categories)
    stuck = chance.permutation(np.flatnonzero(dealt == own_categories))
    stuck = stuck[np.argsort(own_categories[stuck], kind="stable")]
    if not len(stuck):
        return dealt
    common = int(np.bincount(own_categories[stuck]).argmax())
    alike, other_stuck = stuck[own_categories[stuck] == common], stuck[own_categories[stuck] != common]
    if len(alike) <= len(other_stuck):  # they can exchange among themselves
        dealt[stuck] = np.roll(own_categories[stuck], len(alike))
        return dealt
    # The rest of one category exchanges with records that neither have it nor were dealt it; there are enough.
    strangers = chance.permutation(np.flatnonzero((own_categories != common) & (dealt != common)))
    strangers = strangers[~np.isin(strangers, other_stuck)][: len(alike) - len(other_stuck)]
    partners = np.concatenate([other_stuck, strangers])
    dealt[alike], dealt[partners] = dealt[partners], common
    return dealt


def _trade_with_largest(own_categories: Ints, largest: int, counts: Ints, chance: np.random.Generator) -> Ints:
    """The largest category trades with all others; its remaining records get values as common as they are."""
    dealt = np.full(len(own_categories), largest, dtype=np.int64)
    largest_indices, other_indices = (
        chance.permutation(np.flatnonzero(own_categories == largest)),
        np.flatnonzero(own_categories != largest),
    )
    dealt[largest_indices[: len(other_indices)]] = own_categories[other_indices]
    other_categories = np.flatnonzero(np.arange(len(counts)) != largest)
    weights = np.maximum(counts[other_categories], 1)
    remaining_indices = largest_indices[len(other_indices) :]
    dealt[remaining_indices] = chance.choice(other_categories, len(remaining_indices), p=weights / weights.sum())
    return dealt
