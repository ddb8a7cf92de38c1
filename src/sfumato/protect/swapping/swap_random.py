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
    copies = np.repeat(np.arange(len(records.own)), records.weight).astype(np.int64)
    own = records.own[copies]
    category = own.copy()
    counts = np.bincount(own, minlength=records.categories)
    free = np.flatnonzero(records.free[copies])
    chosen = free[_draw_movers(own[free], records.available, records.changes, chance)]
    for moved in (chosen, np.flatnonzero(~records.free[copies])):
        if len(moved):
            category[moved] = _deal_out(own[moved], counts, chance)
    return SwapAnswer(copies, category.astype(np.int64))


def draw_proportional_answer(records: SwapRecords, counts: Ints, chance: np.random.Generator) -> SwapAnswer:
    """Change records of U drawn at random, and what must be changed of V; every new value is drawn by itself.

    It is another one than the own, with the share that it has in the whole column: so counts stay only about the same.
    """
    copies = np.repeat(np.arange(len(records.own)), records.weight).astype(np.int64)
    own = records.own[copies]
    category = own.copy()
    free = records.free[copies]
    moved = np.concatenate([chance.choice(np.flatnonzero(free), records.changes, replace=False), np.flatnonzero(~free)])
    for value in np.unique(own[moved]):
        some = moved[own[moved] == value]
        others = np.where(np.arange(records.categories) == value, 0, counts)
        category[some] = chance.choice(records.categories, len(some), p=others / others.sum())
    return SwapAnswer(copies, category.astype(np.int64))


def _draw_movers(own: Ints, available: Ints, changes: int, chance: np.random.Generator) -> Ints:
    """So many records at random; of one category at most as many as the smallest shift of the counts allows."""
    shift = find_least_shift(available, changes, np.zeros(len(available), dtype=np.int64))
    order = chance.permutation(len(own))
    by_category = np.argsort(own[order], kind="stable")
    ranked = own[order][by_category]
    rank = np.empty(len(own), dtype=np.int64)
    rank[by_category] = np.arange(len(own)) - np.searchsorted(ranked, ranked)
    movers: Ints = order[rank < (changes + shift // 2) // 2][:changes]
    return movers


def _deal_out(own: Ints, counts: Ints, chance: np.random.Generator) -> Ints:
    """Another category for every record: those of all of them in random order, if none is held by more than half."""
    largest = int(np.bincount(own).argmax())
    inside = own == largest
    if 2 * int(inside.sum()) > len(own):
        return _trade_with_largest(own, largest, counts, chance)
    dealt: Ints = chance.permutation(own)
    stuck = chance.permutation(np.flatnonzero(dealt == own))
    stuck = stuck[np.argsort(own[stuck], kind="stable")]
    if not len(stuck):
        return dealt
    common = int(np.bincount(own[stuck]).argmax())
    alike, others = stuck[own[stuck] == common], stuck[own[stuck] != common]
    if len(alike) <= len(others):  # they can exchange among themselves
        dealt[stuck] = np.roll(own[stuck], len(alike))
        return dealt
    # The rest of one category exchanges with records that neither have it nor were dealt it; there are enough.
    strangers = chance.permutation(np.flatnonzero((own != common) & (dealt != common)))
    strangers = strangers[~np.isin(strangers, others)][: len(alike) - len(others)]
    partners = np.concatenate([others, strangers])
    dealt[alike], dealt[partners] = dealt[partners], common
    return dealt


def _trade_with_largest(own: Ints, largest: int, counts: Ints, chance: np.random.Generator) -> Ints:
    """The largest category trades with all others; its remaining records get values as common as they are."""
    dealt = np.full(len(own), largest, dtype=np.int64)
    inside, outside = chance.permutation(np.flatnonzero(own == largest)), np.flatnonzero(own != largest)
    dealt[inside[: len(outside)]] = own[outside]
    others = np.flatnonzero(np.arange(len(counts)) != largest)
    weights = np.maximum(counts[others], 1)
    left = inside[len(outside) :]
    dealt[left] = chance.choice(others, len(left), p=weights / weights.sum())
    return dealt
