# SPDX-License-Identifier: MIT
"""Search for subsequences of itemsets behind a pattern after which at most 62 items are frequent: sets are one word.

As in `subsequences_masks`, each element knows the items of the elements after it, and each row has a bitmap of elements
for each item. What can join the last element of a pattern is in the elements that hold all of it, which are what the
bitmaps of its items have in common. Two further bitmaps, called columns like those of the items, say which elements
hold the last element of the pattern that the search began with, and which hold more than one item.

A pattern's rows are entries (token, slot) of the elements where its leftmost match ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, IntGrid, Ints, Unsigned, Words
from sfumato.kernels.baskets.itemsets_bits import part
from sfumato.kernels.compilation import record
from sfumato.kernels.sequences.subsequences_masks import count_extensions

from sfumato.kernels.sequences.subsequences_output import (  # isort: skip
    DONE, FULL, GROW, JOIN_DEPTH, JOIN_ENTRIES, JOIN_FRAMES, LEAST, MASK_ITEMS, MAX_LENGTH, PAUSED, PREFIX, WORK_LEFT,
    find_lowest_bit, give_pattern, has_room, is_short,
)  # fmt: skip

MOST_ITEMS = 62
MOST_WORDS = 1 << 26
"""Half a gigabyte: a pattern whose rows would take more is extended without words."""
MOST_CHILDREN = 128
"""Of one pattern: each item can follow or join."""
JOINING = 64
"""Added to the number of an item that joins the last element."""
AT, STOP, TOP, JOIN_FRAME = range(4)


@record
class JoinRows(NamedTuple):
    """Rows of elements of at most 62 different items, from the end of a pattern's leftmost match on."""

    masks: Words
    """For each token, an element: its items."""
    after: Words
    """And the items of the elements after it in its row."""
    bits: Words
    """For each word of a row and each column, the slots of the elements that are in it."""
    word_ends: Unsigned
    """For each word, the word after the last of its row."""
    codes: Codes
    """The code of each item."""
    number_of: Codes
    """The number of each item of the whole search, or -1."""


@record
class JoinStack(NamedTuple):
    """What is still to be visited: patterns, and their entries one after another."""

    frames: IntGrid
    items: Codes
    """The last item of each pattern; `JOINING` is added if it joins the element before it."""
    begins: Ints
    ends: Ints
    lasts: Words
    """The columns that an element must be in to hold the last element of each pattern."""
    tokens: Unsigned
    slots: Unsigned
    joinable: Words
    """For the entries of the pattern that is visited: what can join its last element in that row."""
    tally: Ints
    planes: Words


@part
def _find_holding(bits, base, lasts):  # type: ignore[no-untyped-def]
    """The slots of a word whose elements are in all of some columns."""
    found = ~np.uint64(0)
    left = lasts
    while left and found:
        found &= bits[base + np.int64(find_lowest_bit(left))]
        left &= left - np.uint64(1)
    return found


@part
def _list_joinable(rows, token, slot, lasts, above, width):  # type: ignore[no-untyped-def]
    """The items that can join the last element of a pattern in one row."""
    joinable = np.uint64(0)
    word = slot >> 6
    since = ~np.uint64(0) << np.uint64(slot & 63)
    for here in range(word, np.int64(rows.word_ends[word])):
        left = _find_holding(rows.bits, here * width, lasts) & since
        while left:
            joinable |= rows.masks[token + (here << 6) + np.int64(find_lowest_bit(left)) - slot]
            left &= left - np.uint64(1)
        since = ~np.uint64(0)
    return joinable & above


@part
def _count_children(rows, stack, begin, end, lasts, above, items):  # type: ignore[no-untyped-def]
    """How many rows each item can follow in, and join in."""
    tally, joinable = stack.tally, stack.joinable
    count_extensions(rows.after, stack.tokens, begin, end, items, tally, stack.planes)
    for item in range(items):
        tally[JOINING + item] = 0
    for entry in range(begin, end):
        token, slot = np.int64(stack.tokens[entry]), np.int64(stack.slots[entry])
        found = _list_joinable(rows, token, slot, lasts, above, items + 2)
        joinable[entry - begin] = found
        while found:
            tally[JOINING + np.int64(find_lowest_bit(found))] += 1
            found &= found - np.uint64(1)


@part
def _push(stack, child, token, slot, target):  # type: ignore[no-untyped-def]
    """Write an entry to where the tally of a child points."""
    entry = stack.tally[child]
    stack.tokens[entry] = np.uint32(token + target - slot)
    stack.slots[entry] = np.uint32(target)
    stack.tally[child] = entry + 1


@part
def _push_followers(rows, stack, token, slot, wanted, width):  # type: ignore[no-untyped-def]
    """The next element with each of some items."""
    left = rows.after[token] & wanted
    above = ~((np.uint64(2) << np.uint64(slot & 63)) - np.uint64(1))
    while left:
        item = np.int64(find_lowest_bit(left))
        left &= left - np.uint64(1)
        word = slot >> 6
        found = rows.bits[word * width + item] & above
        while found == 0:
            word += 1
            found = rows.bits[word * width + item]
        _push(stack, item, token, slot, (word << 6) + np.int64(find_lowest_bit(found)))


@part
def _push_joined(rows, stack, token, slot, lasts, wanted, width):  # type: ignore[no-untyped-def]
    """The first element that holds the last one of a pattern with each of some items."""
    left = wanted
    while left:
        item = np.int64(find_lowest_bit(left))
        left &= left - np.uint64(1)
        columns = lasts | (np.uint64(1) << np.uint64(item))
        word = slot >> 6
        found = _find_holding(rows.bits, word * width, columns) & (~np.uint64(0) << np.uint64(slot & 63))
        while found == 0:
            word += 1
            found = _find_holding(rows.bits, word * width, columns)
        _push(stack, JOINING + item, token, slot, (word << 6) + np.int64(find_lowest_bit(found)))


@part
def open_join_children(state, rows, stack, begin, end, lasts, above, child, top):  # type: ignore[no-untyped-def]
    """Count what extends a pattern and make a frame of it; returns GROW if there is no room for it.

    `child` and `top` say where children and entries may be written.
    """
    items, least, depth, tally = state[MASK_ITEMS], state[LEAST], state[JOIN_DEPTH], stack.tally
    if is_short(state, JOIN_ENTRIES, stack.joinable.shape[0], end - begin):
        return GROW
    _count_children(rows, stack, begin, end, lasts, above, items)
    total = np.int64(0)
    for item in range(items):
        total += tally[item] if tally[item] >= least else 0
        total += tally[JOINING + item] if tally[JOINING + item] >= least else 0
    if total == 0:
        return DONE
    if (
        is_short(state, JOIN_ENTRIES, stack.tokens.shape[0], top + total)
        or is_short(state, JOIN_FRAMES, stack.frames.shape[0], depth + 3)
        or is_short(state, JOIN_FRAMES, stack.items.shape[0] // MOST_CHILDREN, depth + 3)
    ):
        return GROW
    stack.frames[depth + 1, AT] = child
    follows, joins, rich = np.uint64(0), np.uint64(0), np.uint64(1) << np.uint64(items + 1)
    for number in range(2 * JOINING):
        item = number & (JOINING - 1)
        if item >= items or tally[number] < least:
            continue
        bit = np.uint64(1) << np.uint64(item)
        if number < JOINING:
            follows |= bit
            stack.lasts[child] = bit | rich
        else:
            joins |= bit
            stack.lasts[child] = bit | lasts
        stack.items[child], stack.begins[child] = np.int32(number), top
        top, tally[number] = top + tally[number], top
        stack.ends[child] = top
        child += 1
    for entry in range(begin, end):
        token, slot = np.int64(stack.tokens[entry]), np.int64(stack.slots[entry])
        _push_followers(rows, stack, token, slot, follows, items + 2)
        _push_joined(rows, stack, token, slot, lasts, stack.joinable[entry - begin] & joins, items + 2)
    stack.frames[depth + 1, STOP], stack.frames[depth + 1, TOP] = child, top
    state[JOIN_DEPTH] = depth + 1
    return DONE


@part
def search_joins(state, output, path, rows, stack):  # type: ignore[no-untyped-def]
    """Visit what is on the stack until nothing is left, the buffer is full, an array too short, or work done."""
    while state[JOIN_DEPTH] >= 0:
        depth = state[JOIN_DEPTH]
        child = stack.frames[depth, AT]
        if child == stack.frames[depth, STOP]:
            state[JOIN_DEPTH] = depth - 1
            continue
        if state[WORK_LEFT] <= 0:
            return PAUSED
        length = state[PREFIX] + depth + 1
        if not has_room(state, output, length):
            return FULL
        begin, end = stack.begins[child], stack.ends[child]
        item = np.int64(stack.items[child]) & (JOINING - 1)
        path[length - 1] = ~rows.codes[item] if stack.items[child] >= JOINING else rows.codes[item]
        state[WORK_LEFT] -= 64 + 8 * (end - begin)
        if length < state[MAX_LENGTH]:
            above = ~((np.uint64(2) << np.uint64(item)) - np.uint64(1))
            lasts, stop, top = stack.lasts[child], stack.frames[depth, STOP], stack.frames[depth, TOP]
            if open_join_children(state, rows, stack, begin, end, lasts, above, stop, top) == GROW:
                return GROW
        give_pattern(state, output, path, length, end - begin)
        stack.frames[depth, AT] = child + 1
    return DONE
