# SPDX-License-Identifier: MIT
"""Search for subsequences of itemsets where at most 62 items are frequent, or are behind a pattern: sets are one word.

As in `subsequences_masks`, each element knows the items of the elements after it, each row has a bitmap of elements for
each item, and a pattern is not followed where nothing can extend it. Each item of an element knows what can join it
there or in a later element of the row that holds it. What can join several items is in the elements that hold all of
them, which are what their bitmaps have in common. Two further bitmaps, called columns like those of the items, say
which elements hold the last element of the pattern that the search began with, and which hold more than one item.

A pattern's rows are entries (token, slot) of the elements where its leftmost match ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, IntGrid, Ints, Unsigned, Words
from sfumato.kernels.baskets.itemsets_bits import compile_kernel, part
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import record
from sfumato.kernels.sequences.subsequences_masks import count_extensions

from sfumato.kernels.sequences.subsequences_output import (  # isort: skip
    DONE, FULL, GROW, JOIN_DEPTH, JOIN_ENTRIES, JOIN_FRAMES, LARGEST, LEAST, MASK_ITEMS, MAX_LENGTH, PAUSED, PREFIX,
    WORK_LEFT, PatternBuffer, find_lowest_bit, give_pattern, has_room, is_short,
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
    """Rows of elements of at most 62 different items, whole or from the end of a pattern's leftmost match on."""

    masks: Words
    """For each token, an element: its items."""
    after: Words
    """And the items of the elements after it in its row."""
    begins: Unsigned
    """And where its occurrences begin, one for each of its items."""
    joining: Words
    """For each occurrence, the larger items that are with it there or with its item in a later element of the row."""
    bits: Words
    """For each word of a row and each column, the slots of the elements that are in it."""
    word_ends: Unsigned
    """For each word, the word after the last of its row."""
    nearest: Words
    """For each item, what is with it in the elements of a row that are laid out so far."""
    followed: Words
    """For each item, those that follow it in enough rows; or all."""
    joined: Words
    """For each item, the larger ones that join it in enough rows; or all of them."""
    pairs: Ints
    """Of whole rows: in how many each item is followed by each, and joined by each."""
    codes: Codes
    """The code of each item."""
    ranks: Codes
    """The number of each item in the whole search."""
    number_of: Codes
    """The number of each item of the whole search, or -1."""


@record
class JoinTasks(NamedTuple):
    """The first element with each item in each row that holds it."""

    starts: Ints
    tokens: Unsigned
    slots: Unsigned


@record
class JoinStack(NamedTuple):
    """What is still to be visited: patterns, and their entries one after another."""

    frames: IntGrid
    items: Codes
    """The last item of each pattern; `JOINING` is added if it joins the element before it."""
    begins: Ints
    ends: Ints
    supports: Ints
    lasts: Words
    """The columns that an element must be in to hold the last element of each pattern."""
    follows: Words
    """The items that may follow each pattern; it has entries only if some may extend it."""
    joins: Words
    """The items that may join it."""
    tokens: Unsigned
    slots: Unsigned
    occurrences: Unsigned
    """For the entries of a visited pattern that ends in a single item: where that is."""
    joinable: Words
    """For those of another: what can join its last element in that row."""
    tally: Ints
    planes: Words


class JoinPattern(NamedTuple):
    """A pattern that is visited: its entries, its last element, and what may extend it."""

    begin: np.int64
    end: np.int64
    item: np.int64
    """The only item of the last element, or -1."""
    lasts: np.uint64
    follows: np.uint64
    joins: np.uint64


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
def _list_joinable(rows, token, slot, lasts, wanted, width):  # type: ignore[no-untyped-def]
    """Those of some items that can join the last element of a pattern in one row."""
    joinable = np.uint64(0)
    word = slot >> 6
    since = ~np.uint64(0) << np.uint64(slot & 63)
    for here in range(word, np.int64(rows.word_ends[word])):
        left = _find_holding(rows.bits, here * width, lasts) & since
        while left:
            joinable |= rows.masks[token + (here << 6) + np.int64(find_lowest_bit(left)) - slot]
            left &= left - np.uint64(1)
        since = ~np.uint64(0)
    return joinable & wanted


@part
def list_occurrences(rows, tokens, begin, end, item, occurrences):  # type: ignore[no-untyped-def]
    """Where an item occurs in the elements of some entries, which all hold it."""
    lower = (np.uint64(1) << np.uint64(item)) - np.uint64(1)
    for entry in range(begin, end):
        token = tokens[entry]
        occurrences[entry - begin] = rows.begins[token] + np.uint32(popcount(rows.masks[token] & lower))


@part
def _count_joined(rows, stack, pattern, items):  # type: ignore[no-untyped-def]
    """How many rows each item can join in."""
    tally, joinable, begin, end = stack.tally, stack.joinable, pattern.begin, pattern.end
    if pattern.item >= 0:
        list_occurrences(rows, stack.tokens, begin, end, pattern.item, stack.occurrences)
        count_extensions(rows.joining, stack.occurrences, np.int64(0), end - begin, items, tally, stack.planes)
        for item in range(items):
            tally[JOINING + item] = tally[item]
        return
    for entry in range(begin, end):
        token, slot = np.int64(stack.tokens[entry]), np.int64(stack.slots[entry])
        found = _list_joinable(rows, token, slot, pattern.lasts, pattern.joins, items + 2)
        joinable[entry - begin] = found
        while found:
            tally[JOINING + np.int64(find_lowest_bit(found))] += 1
            found &= found - np.uint64(1)


@part
def _count_children(state, rows, stack, pattern):  # type: ignore[no-untyped-def]
    """In how many rows each item can follow and join; pairs were counted before."""
    items, tally = state[MASK_ITEMS], stack.tally
    if state[PREFIX] == 0 and state[JOIN_DEPTH] == 0:
        for number in range(2 * JOINING):
            tally[number] = rows.pairs[2 * JOINING * pattern.item + number]
        if pattern.joins:
            list_occurrences(rows, stack.tokens, pattern.begin, pattern.end, pattern.item, stack.occurrences)
        return
    for item in range(items):
        tally[JOINING + item] = 0
    if pattern.joins:
        _count_joined(rows, stack, pattern, items)
    if pattern.follows:
        count_extensions(rows.after, stack.tokens, pattern.begin, pattern.end, items, tally, stack.planes)
    else:
        for item in range(items):
            tally[item] = 0


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
def _push_entries(rows, stack, pattern, pushed_follows, pushed_joins, width):  # type: ignore[no-untyped-def]
    """Write the entries of the children that have any."""
    for entry in range(pattern.begin, pattern.end):
        token, slot = np.int64(stack.tokens[entry]), np.int64(stack.slots[entry])
        _push_followers(rows, stack, token, slot, pushed_follows, width)
        if pushed_joins:
            place = entry - pattern.begin
            joinable = rows.joining[stack.occurrences[place]] if pattern.item >= 0 else stack.joinable[place]
            _push_joined(rows, stack, token, slot, pattern.lasts, joinable & pushed_joins, width)


@part
def _describe_child(state, rows, stack, pattern, child, number, frequent_follows, frequent_joins):  # type: ignore[no-untyped-def]
    """Note a child's last element and what may extend it; returns whether anything may.

    What extends a pattern extends what it is made of, so that it is looked for only among what the parent's extensions
    and the pairs leave.
    """
    items, item = state[MASK_ITEMS], number & (JOINING - 1)
    bit, rich = np.uint64(1) << np.uint64(item), np.uint64(1) << np.uint64(items + 1)
    joins = number >= JOINING
    stack.items[child] = np.int32(number)
    stack.lasts[child] = bit | (pattern.lasts if joins else rich)
    held = popcount(stack.lasts[child] & ((np.uint64(1) << np.uint64(items)) - np.uint64(1)))
    stack.follows[child], stack.joins[child] = np.uint64(0), np.uint64(0)
    if state[PREFIX] + state[JOIN_DEPTH] + 2 < state[MAX_LENGTH]:
        stack.follows[child] = frequent_follows & rows.followed[item]
        if np.int64(held) < state[LARGEST]:
            stack.joins[child] = (frequent_joins if joins else frequent_follows) & rows.joined[item]
    return (stack.follows[child] | stack.joins[child]) != 0


class _FrequentChildren(NamedTuple):
    """What extends a pattern in enough rows, and how many entries that takes at most."""

    follows: np.uint64
    joins: np.uint64
    entries: np.int64


@part
def _list_frequent(tally, pattern, items, least):  # type: ignore[no-untyped-def]
    follows, joins, entries = np.uint64(0), np.uint64(0), np.int64(0)
    for item in range(items):
        bit = np.uint64(1) << np.uint64(item)
        if tally[item] >= least and pattern.follows & bit:
            follows |= bit
            entries += tally[item]
        if tally[JOINING + item] >= least and pattern.joins & bit:
            joins |= bit
            entries += tally[JOINING + item]
    return _FrequentChildren(follows, joins, entries)


@part
def open_join_children(state, rows, stack, pattern, child, top):  # type: ignore[no-untyped-def]
    """Count what extends a pattern and make a frame of it; returns GROW if there is no room for it.

    `child` and `top` say where children and entries may be written.
    """
    items, depth, tally = state[MASK_ITEMS], state[JOIN_DEPTH], stack.tally
    if is_short(state, JOIN_ENTRIES, stack.joinable.shape[0], pattern.end - pattern.begin):
        return GROW
    _count_children(state, rows, stack, pattern)
    frequent = _list_frequent(tally, pattern, items, state[LEAST])
    if frequent.entries == 0:
        return DONE
    if (
        is_short(state, JOIN_ENTRIES, stack.tokens.shape[0], top + frequent.entries)
        or is_short(state, JOIN_FRAMES, stack.frames.shape[0], depth + 3)
        or is_short(state, JOIN_FRAMES, stack.items.shape[0] // MOST_CHILDREN, depth + 3)
    ):
        return GROW
    stack.frames[depth + 1, AT] = child
    pushed_follows, pushed_joins = np.uint64(0), np.uint64(0)
    for number in range(2 * JOINING):
        bit = np.uint64(1) << np.uint64(number & (JOINING - 1))
        if not (frequent.follows if number < JOINING else frequent.joins) & bit:
            continue
        stack.supports[child], stack.begins[child] = tally[number], top
        if _describe_child(state, rows, stack, pattern, child, number, frequent.follows, frequent.joins):
            pushed_follows |= bit if number < JOINING else np.uint64(0)
            pushed_joins |= bit if number >= JOINING else np.uint64(0)
            top, tally[number] = top + tally[number], top
        stack.ends[child] = top
        child += 1
    if pushed_follows | pushed_joins:
        _push_entries(rows, stack, pattern, pushed_follows, pushed_joins, items + 2)
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
        begin, end, joins = stack.begins[child], stack.ends[child], stack.items[child] >= JOINING
        item = np.int64(stack.items[child]) & (JOINING - 1)
        path[length - 1] = ~rows.codes[item] if joins else rows.codes[item]
        state[WORK_LEFT] -= 64 + 8 * (end - begin)
        follows, joined = stack.follows[child], stack.joins[child]
        if follows | joined:
            single = np.int64(-1) if joins else item
            pattern = JoinPattern(begin, end, single, stack.lasts[child], follows, joined)
            stop, top = stack.frames[depth, STOP], stack.frames[depth, TOP]
            if open_join_children(state, rows, stack, pattern, stop, top) == GROW:
                return GROW
        give_pattern(state, output, path, length, stack.supports[child])
        stack.frames[depth, AT] = child + 1
    return DONE


@compile_kernel("int64(int64[::1], PatternBuffer, int32[::1], JoinRows, JoinStack)")
def search_join_rows(state, output, path, rows, stack):  # type: ignore[no-untyped-def]
    """The same from outside."""
    return search_joins(state, output, path, rows, stack)


@compile_kernel("void(int64[::1], JoinRows, JoinTasks, JoinStack, int64, int64)")
def begin_joins(state, rows, tasks, stack, first, stop):  # type: ignore[no-untyped-def]
    """Begin a search of whole rows with some of the items; the stack has room for their entries."""
    top = np.int64(0)
    for item in range(first, stop):
        child = item - first
        stack.items[child], stack.begins[child] = np.int32(item), top
        stack.lasts[child] = (np.uint64(1) << np.uint64(item)) | (np.uint64(1) << np.uint64(state[MASK_ITEMS] + 1))
        is_last = state[MAX_LENGTH] == 1
        stack.follows[child] = np.uint64(0) if is_last else rows.followed[item]
        stack.joins[child] = np.uint64(0) if is_last else rows.joined[item]
        for entry in range(tasks.starts[item], tasks.starts[item + 1]):
            stack.tokens[top], stack.slots[top] = tasks.tokens[entry], tasks.slots[entry]
            top += 1
        stack.ends[child], stack.supports[child] = top, top - stack.begins[child]
    stack.frames[0, AT], stack.frames[0, STOP], stack.frames[0, TOP] = 0, stop - first, top
    state[JOIN_DEPTH] = 0


__all__ = ["JoinRows", "JoinStack", "JoinTasks", "PatternBuffer", "begin_joins", "search_join_rows"]
