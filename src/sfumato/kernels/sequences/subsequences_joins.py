# SPDX-License-Identifier: MIT
"""Search for subsequences of itemsets where at most 62 items are frequent, or are behind a pattern: sets are one word.

As in `subsequences_masks`, each element knows the items of the elements after it, and a pattern's rows are not listed
where nothing can extend it. Each item of an element knows what can join it there or in a later element of the row that
holds it. What can join several items is in the elements that hold all of them. The next element with each of several
items is found by reading the row on until all are found: the elements of a row are next to each other, and this takes
less time than to look each item up.

A pattern's rows are entries: the elements where its leftmost match ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, IntGrid, Ints, UnsignedInts, Words
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached, part, record
from sfumato.kernels.sequences.subsequences_masks import count_extensions

from sfumato.kernels.sequences.subsequences_output import (  # isort: skip
    SEARCH_DONE, FULL, GROW, JOIN_DEPTH, JOIN_ENTRIES, JOIN_FRAMES, PATTERN_LARGEST, PATTERN_LEAST, MASK_ITEMS,
    PATTERN_MAX_LENGTH, SEARCH_PAUSED, PREFIX,
    PATTERN_WORK_LEFT, PatternBuffer, find_lowest_bit, give_pattern, fits_pattern, lacks_pattern_room,
)  # fmt: skip

MOST_JOIN_ITEMS = 62
HOLDS = np.uint64(1 << 62)
"""In the mask of an element: it holds the last element of the pattern that the search began with."""
MOST_CHILDREN = 128
"""Of one pattern: each item can follow or join."""
JOIN_OFFSET = 64
"""Added to the number of an item that joins the last element."""
CHILD_INDEX, STOP, TOP, JOIN_FRAME = range(4)


@record
class JoinRows(NamedTuple):
    """Rows of elements of at most 62 different items, whole or from the end of a pattern's leftmost match on."""

    masks: Words
    """For each token, an element: its items, and whether it `HOLDS`."""
    followers: Words
    """And the items of the elements after it in its row."""
    begins: UnsignedInts
    """And where its occurrences begin, one for each of its items."""
    joining_items: Words
    """For each occurrence, the larger items that are with it there or with its item in a later element of the row."""
    nearest: Words
    """For each item, what is with it in the elements of a row that are laid out so far."""
    frequent_followers: Words
    """For each item, those that follow it in enough rows; or all."""
    frequent_joiners: Words
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
    tokens: UnsignedInts


@record
class JoinStack(NamedTuple):
    """What is still to be visited: patterns, and their entries one after another."""

    frames: IntGrid
    items: Codes
    """The last item of each pattern; `JOIN_OFFSET` is added if it joins the element before it."""
    begins: Ints
    ends: Ints
    supports: Ints
    lasts: Words
    """What the mask of an element must have if it holds the last element of each pattern."""
    follows: Words
    """The items that may follow each pattern; it has entries only in rows where something may extend it."""
    joins: Words
    """The items that may join it."""
    tokens: UnsignedInts
    occurrences: UnsignedInts
    """For the entries of a visited pattern that ends in a single item: where that is."""
    joinable: Words
    """For those of another: what can join its last element in that row."""
    tally: Ints
    planes: Words
    wanted_follows: Words
    """For each extension that is listed, the items that may follow it."""
    wanted_joins: Words
    """And those that may join it."""


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
def _list_joinable(rows, token, lasts, wanted_items):
    """Those of some items that can join the last element of a pattern in one row."""
    joinable = rows.masks[token]
    while rows.followers[token] & lasts == lasts:
        token += 1
        if rows.masks[token] & lasts == lasts:
            joinable |= rows.masks[token]
    return joinable & wanted_items


@part
def list_occurrences(rows, tokens, begin, end, item, occurrences):
    """Where an item occurs in the elements of some entries, which all hold it."""
    lower = (np.uint64(1) << np.uint64(item)) - np.uint64(1)
    for entry in range(begin, end):
        token = tokens[entry]
        occurrences[entry - begin] = rows.begins[token] + np.uint32(popcount(rows.masks[token] & lower))


@part
def _count_joined(rows, stack, pattern, items):
    """How many rows each item can join in."""
    tally, joinable, begin, end = stack.tally, stack.joinable, pattern.begin, pattern.end
    if pattern.item >= 0:
        list_occurrences(rows, stack.tokens, begin, end, pattern.item, stack.occurrences)
        count_extensions(rows.joining_items, stack.occurrences, np.int64(0), end - begin, items, tally, stack.planes)
        for item in range(items):
            tally[JOIN_OFFSET + item] = tally[item]
        return
    for entry in range(begin, end):
        joins = _list_joinable(rows, np.int64(stack.tokens[entry]), pattern.lasts, pattern.joins)
        joinable[entry - begin] = joins
        while joins:
            tally[JOIN_OFFSET + np.int64(find_lowest_bit(joins))] += 1
            joins &= joins - np.uint64(1)


@part
def _count_children(state, rows, stack, pattern):
    """In how many rows each item can follow and join; pairs were counted before."""
    items, tally = state[MASK_ITEMS], stack.tally
    if state[PREFIX] == 0 and state[JOIN_DEPTH] == 0:
        for number in range(2 * JOIN_OFFSET):
            tally[number] = rows.pairs[2 * JOIN_OFFSET * pattern.item + number]
        if pattern.joins:
            list_occurrences(rows, stack.tokens, pattern.begin, pattern.end, pattern.item, stack.occurrences)
        return
    for item in range(items):
        tally[JOIN_OFFSET + item] = 0
    if pattern.joins:
        _count_joined(rows, stack, pattern, items)
    if pattern.follows:
        count_extensions(rows.followers, stack.tokens, pattern.begin, pattern.end, items, tally, stack.planes)
    else:
        for item in range(items):
            tally[item] = 0


@part
def _push(rows, stack, items, token, first):
    """Write an entry of each of some children, if anything may extend it there, to where its tally points."""
    later_items = rows.followers[token]
    nearby_items = later_items | rows.masks[token]
    while items:
        number = first + np.int64(find_lowest_bit(items))
        items &= items - np.uint64(1)
        entry = stack.tally[number]
        stack.tokens[entry] = np.uint32(token)
        stack.tally[number] = entry + (
            ((later_items & stack.wanted_follows[number]) | (nearby_items & stack.wanted_joins[number])) != 0
        )


@part
def _push_entries(rows, stack, pattern, pushed_follows, pushed_joins):
    """Write the entries of the children that have any: the first element that each item follows or joins in."""
    for entry in range(pattern.begin, pattern.end):
        token, index = np.int64(stack.tokens[entry]), entry - pattern.begin
        joins = np.uint64(0)
        if pushed_joins:
            joins = rows.joining_items[stack.occurrences[index]] if pattern.item >= 0 else stack.joinable[index]
            joins &= pushed_joins
            items = rows.masks[token] & joins
            joins ^= items
            _push(rows, stack, items, token, JOIN_OFFSET)
        follows = rows.followers[token] & pushed_follows
        while follows | joins:
            token += 1
            mask = rows.masks[token]
            items = mask & follows
            follows ^= items
            _push(rows, stack, items, token, np.int64(0))
            if joins and mask & pattern.lasts == pattern.lasts:
                items = mask & joins
                joins ^= items
                _push(rows, stack, items, token, JOIN_OFFSET)


@part
def _describe_child(state, rows, stack, pattern, child, number, frequent_follows, frequent_joins):
    """Note a child's last element and what may extend it; returns whether anything may.

    What extends a pattern extends what it is made of, so that it is looked for only among what the parent's extensions
    and the pairs leave.
    """
    item, joins = number & (JOIN_OFFSET - 1), number >= JOIN_OFFSET
    stack.items[child] = np.int32(number)
    stack.lasts[child] = (np.uint64(1) << np.uint64(item)) | (pattern.lasts if joins else np.uint64(0))
    item_count = popcount(stack.lasts[child] & ~HOLDS)
    stack.follows[child], stack.joins[child] = np.uint64(0), np.uint64(0)
    if state[PREFIX] + state[JOIN_DEPTH] + 2 < state[PATTERN_MAX_LENGTH]:
        stack.follows[child] = frequent_follows & rows.frequent_followers[item]
        if np.int64(item_count) < state[PATTERN_LARGEST]:
            stack.joins[child] = (frequent_joins if joins else frequent_follows) & rows.frequent_joiners[item]
    return (stack.follows[child] | stack.joins[child]) != 0


class _FrequentChildren(NamedTuple):
    """What extends a pattern in enough rows, and how many entries that takes at most."""

    follows: np.uint64
    joins: np.uint64
    entries: np.int64


@part
def _list_frequent(tally, pattern, items, least):
    follows, joins, entries = np.uint64(0), np.uint64(0), np.int64(0)
    for item in range(items):
        bit = np.uint64(1) << np.uint64(item)
        if tally[item] >= least and pattern.follows & bit:
            follows |= bit
            entries += tally[item]
        if tally[JOIN_OFFSET + item] >= least and pattern.joins & bit:
            joins |= bit
            entries += tally[JOIN_OFFSET + item]
    return _FrequentChildren(follows, joins, entries)


@part
def open_join_children(state, rows, stack, pattern, child, top):
    """Count what extends a pattern and make a frame of it; returns GROW if there is no room for it.

    `child` and `top` say where children and entries may be written.
    """
    items, depth, tally = state[MASK_ITEMS], state[JOIN_DEPTH], stack.tally
    if lacks_pattern_room(state, JOIN_ENTRIES, stack.joinable.shape[0], pattern.end - pattern.begin):
        return GROW
    _count_children(state, rows, stack, pattern)
    frequent = _list_frequent(tally, pattern, items, state[PATTERN_LEAST])
    if frequent.entries == 0:
        return SEARCH_DONE
    if (
        lacks_pattern_room(state, JOIN_ENTRIES, stack.tokens.shape[0], top + frequent.entries)
        or lacks_pattern_room(state, JOIN_FRAMES, stack.frames.shape[0], depth + 3)
        or lacks_pattern_room(state, JOIN_FRAMES, stack.items.shape[0] // MOST_CHILDREN, depth + 3)
    ):
        return GROW
    stack.frames[depth + 1, CHILD_INDEX] = child
    pushed_follows, pushed_joins = np.uint64(0), np.uint64(0)
    for number in range(2 * JOIN_OFFSET):
        bit = np.uint64(1) << np.uint64(number & (JOIN_OFFSET - 1))
        if not (frequent.follows if number < JOIN_OFFSET else frequent.joins) & bit:
            continue
        stack.supports[child], stack.begins[child] = tally[number], top
        if _describe_child(state, rows, stack, pattern, child, number, frequent.follows, frequent.joins):
            pushed_follows |= bit if number < JOIN_OFFSET else np.uint64(0)
            pushed_joins |= bit if number >= JOIN_OFFSET else np.uint64(0)
            stack.wanted_follows[number], stack.wanted_joins[number] = stack.follows[child], stack.joins[child]
            top, tally[number] = top + tally[number], top
        stack.ends[child] = top
        child += 1
    if pushed_follows | pushed_joins:
        _push_entries(rows, stack, pattern, pushed_follows, pushed_joins)
        for other in range(stack.frames[depth + 1, CHILD_INDEX], child):
            if stack.follows[other] | stack.joins[other]:
                stack.ends[other] = tally[stack.items[other]]
    stack.frames[depth + 1, STOP], stack.frames[depth + 1, TOP] = child, top
    state[JOIN_DEPTH] = depth + 1
    return SEARCH_DONE


@part
def search_joins(state, output, path, rows, stack):
    """Visit what is on the stack until nothing is left, the buffer is full, an array too short, or work done."""
    while state[JOIN_DEPTH] >= 0:
        depth = state[JOIN_DEPTH]
        child = stack.frames[depth, CHILD_INDEX]
        if child == stack.frames[depth, STOP]:
            state[JOIN_DEPTH] = depth - 1
            continue
        if state[PATTERN_WORK_LEFT] <= 0:
            return SEARCH_PAUSED
        length = state[PREFIX] + depth + 1
        if not fits_pattern(state, output, length):
            return FULL
        begin, end, joins = stack.begins[child], stack.ends[child], stack.items[child] >= JOIN_OFFSET
        item = np.int64(stack.items[child]) & (JOIN_OFFSET - 1)
        path[length - 1] = ~rows.codes[item] if joins else rows.codes[item]
        state[PATTERN_WORK_LEFT] -= 64 + 8 * (end - begin)
        follows, joining_items = stack.follows[child], stack.joins[child]
        if follows | joining_items:
            single = np.int64(-1) if joins else item
            pattern = JoinPattern(begin, end, single, stack.lasts[child], follows, joining_items)
            stop, top = stack.frames[depth, STOP], stack.frames[depth, TOP]
            if open_join_children(state, rows, stack, pattern, stop, top) == GROW:
                return GROW
        give_pattern(state, output, path, length, stack.supports[child])
        stack.frames[depth, CHILD_INDEX] = child + 1
    return SEARCH_DONE


@compile_cached("int64(int64[::1], PatternBuffer, int32[::1], JoinRows, JoinStack)", allocates=False)
def search_join_rows(state, output, path, rows, stack):
    """The same from outside."""
    return search_joins(state, output, path, rows, stack)


@compile_cached("void(int64[::1], JoinRows, JoinTasks, JoinStack, int64, int64)", allocates=False)
def begin_joins(state, rows, tasks, stack, first, stop):
    """Begin a search of whole rows with some of the items; the stack has room for their entries."""
    top = np.int64(0)
    for item in range(first, stop):
        child = item - first
        stack.items[child], stack.begins[child] = np.int32(item), top
        stack.lasts[child] = np.uint64(1) << np.uint64(item)
        is_last = state[PATTERN_MAX_LENGTH] == 1
        stack.follows[child] = np.uint64(0) if is_last else rows.frequent_followers[item]
        stack.joins[child] = np.uint64(0) if is_last else rows.frequent_joiners[item]
        for entry in range(tasks.starts[item], tasks.starts[item + 1]):
            stack.tokens[top] = tasks.tokens[entry]
            top += 1
        stack.ends[child], stack.supports[child] = top, top - stack.begins[child]
    stack.frames[0, CHILD_INDEX], stack.frames[0, STOP], stack.frames[0, TOP] = 0, stop - first, top
    state[JOIN_DEPTH] = 0


__all__ = ["JoinRows", "JoinStack", "JoinTasks", "PatternBuffer", "begin_joins", "search_join_rows"]
