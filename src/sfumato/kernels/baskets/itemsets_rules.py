# SPDX-License-Identifier: MIT
"""Association rules from all frequent itemsets: split each set in two wherever the confidence is high enough.

Both sides of a split are frequent sets themselves, so a rule is three numbers of sets: the whole, the left side and the
right side. They are looked up by a key that is the sum of a random mark for each item: taking items away is one
subtraction. New keys are drawn until all sets have different keys; then a key alone says which set it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, Words
from sfumato.kernels.compilation import compile_cached, record

RULE_SET, RULE_LEFT, RULE_RIGHT = range(3)
"""Which itemsets a rule consists of: all of it, its left side, its right side."""
SEARCH_DONE, FULL, SEARCH_PAUSED, ABSENT_SIDE = range(4)
WALK_SET, WALK_STOP, WALK_DEPTH, WALK_FILLED, WALK_WORK_LEFT, WALK_FIELDS = range(6)


@record
class IndexedSets(NamedTuple):
    """Itemsets, and where each is found."""

    offsets: Ints
    codes: Codes
    supports: Ints
    needed_supports: Ints
    """The least support of a whole for each left side."""
    marks: Words
    keys: Words
    slots: Ints


@compile_cached("boolean(int64[::1], int32[::1], uint64[::1], uint64[::1], int64[::1])")
def fill_table(offsets, codes, marks, keys, slots):
    """Put every set into the table under its key; False if two sets have the same."""
    mask = np.uint64(slots.shape[0] - 1)
    slots[:] = -1
    for number in range(keys.shape[0]):
        key = np.uint64(0)
        for position in range(offsets[number], offsets[number + 1]):
            key += marks[codes[position]]
        keys[number] = key
        slot_index = (key >> np.uint64(17)) & mask
        while slots[slot_index] >= 0:
            if keys[slots[slot_index]] == key:
                return False
            slot_index = (slot_index + np.uint64(1)) & mask
        slots[slot_index] = number
    return True


@compile_cached("int64(uint64[::1], int64[::1], uint64)")
def _find_set(keys, slots, key):
    """The set of a key; −1 if there is none."""
    mask = np.uint64(slots.shape[0] - 1)
    slot_index = (key >> np.uint64(17)) & mask
    while slots[slot_index] >= 0 and keys[slots[slot_index]] != key:
        slot_index = (slot_index + np.uint64(1)) & mask
    return slots[slot_index]


@compile_cached("int64(int64[::1], IndexedSets, int64, int64[::1], uint64[::1], int64[:,::1])")
def split_sets(state, sets, longest, places, right_keys, rules):
    """Write the rules of sets `WALK_SET` to `WALK_STOP`, with right sides up to a length, until done, full or paused;
    ABSENT_SIDE if a side is not among the sets.

    A right side grows by one item at a time, in order: if a rule is not sure enough, no rule that moves more items to
    the right is.
    """
    offsets, codes, supports, needed_supports = sets.offsets, sets.codes, sets.supports, sets.needed_supports
    marks, keys, slots = sets.marks, sets.keys, sets.slots
    while state[WALK_SET] < state[WALK_STOP]:
        number = state[WALK_SET]
        begin = offsets[number]
        size = offsets[number + 1] - begin
        depth = state[WALK_DEPTH]
        if size < 2:
            state[WALK_SET] += 1
            continue
        if depth == 0:
            places[1] = -1
            right_keys[0] = np.uint64(0)
            depth = 1
        while depth > 0:
            if state[WALK_FILLED] == rules.shape[0] or state[WALK_WORK_LEFT] <= 0:
                state[WALK_DEPTH] = depth
                return FULL if state[WALK_FILLED] == rules.shape[0] else SEARCH_PAUSED
            places[depth] += 1
            if places[depth] == size:
                depth -= 1
                continue
            state[WALK_WORK_LEFT] -= 1
            right = right_keys[depth - 1] + marks[codes[begin + places[depth]]]
            left_set = _find_set(keys, slots, keys[number] - right)
            right_set = _find_set(keys, slots, right)
            if left_set < 0 or right_set < 0:
                return ABSENT_SIDE
            if supports[number] < needed_supports[left_set]:
                continue
            rule_index = state[WALK_FILLED]
            rules[rule_index, RULE_SET], rules[rule_index, RULE_LEFT], rules[rule_index, RULE_RIGHT] = (
                number,
                left_set,
                right_set,
            )
            state[WALK_FILLED] = rule_index + 1
            if depth < longest and depth + 1 < size:
                right_keys[depth] = right
                depth += 1
                places[depth] = places[depth - 1]
        state[WALK_DEPTH] = 0
        state[WALK_SET] += 1
    return SEARCH_DONE
