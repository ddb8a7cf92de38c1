# SPDX-License-Identifier: MIT
"""Search for subsequences of single items where at most 64 items are frequent: sets of items are one word.

Each token knows the set of items after it in its row, so that the rows of a pattern are counted for all extensions at
once, 64 columns of bits in parallel (carry-save adders: Muła, Kurz and Lemire 2018). Each row has a bitmap of positions
for each item, so that the next occurrence of an item is found without reading the row. Pairs of items are counted
first: what extends a pattern extends its parent and its last item, so that rows are listed only where that leaves any.

A pattern's rows are entries (token, slot) of its leftmost match. A slot is a bit of the bitmaps; rows begin at a new
word, so that tokens and slots of one row move together. Rows that occur several times come last, each once with its
weight, and are counted one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, IntGrid, Ints, UnsignedInts, Words

from sfumato.kernels.sequences.subsequences_output import (  # isort: skip
    PATTERN_DEPTH, SEARCH_DONE, FULL, GROW, PATTERN_LEAST, MASK_ENTRIES, MASK_FRAMES, MASK_ITEMS, PATTERN_MAX_LENGTH,
    SEARCH_PAUSED, PREFIX, PATTERN_WORK_LEFT,
    PatternBuffer, find_lowest_bit, give_pattern, fits_pattern, lacks_pattern_room,
)  # fmt: skip
from sfumato.kernels.compilation import compile_cached, part, record
from sfumato.kernels.sequences.subsequences_prepare import MARK

MOST_ITEMS = 64
FEW_ROWS = 24
"""Below this, bits are counted one by one."""
CHILD_INDEX, STOP, TOP, MASK_FRAME = range(4)


@record
class MaskRows(NamedTuple):
    """Rows of at most 64 different items."""

    followers: Words
    """For each token, the items after it in its row."""
    bits: Words
    """For each word of a row and each item, the positions of the item."""
    codes: Codes
    """The code of each item."""
    starts: Ints
    """Where the entries of each item begin."""
    tokens: UnsignedInts
    """The entries of each item: its first token in each row that holds it."""
    slots: UnsignedInts
    """And the slots of these."""
    pairs: Ints
    """In how many rows each item is followed by each."""
    frequent_followers: Words
    """For each item, those that follow it in enough rows."""
    totals: Ints
    """In how many rows each item is."""
    heavy: Ints
    """The first token of a row with a weight; a single number."""
    weights: Ints
    """How often the row of each word occurs; only words of rows with a weight are looked up."""


@record
class MaskStack(NamedTuple):
    """What is still to be visited: patterns, and their entries one after another."""

    frames: IntGrid
    items: Codes
    begins: Ints
    ends: Ints
    supports: Ints
    follows: Words
    """The items that may follow each pattern; it has entries only in rows where one does."""
    tokens: UnsignedInts
    slots: UnsignedInts
    tally: Ints
    planes: Words
    wanted_items: Words
    """For each extension that is listed, the items that may follow it."""


@part
def fill_masks(flat, begin, end, items, rows):
    """Fill in all but codes and starts from rows with marks after them; tokens are counted from the beginning."""
    followers, bits, starts, tokens, slots = rows.followers, rows.bits, rows.starts, rows.tokens, rows.slots
    unit = np.uint64(1)
    word = np.uint64(0)
    row_begin = begin
    while row_begin < end:
        row_end = row_begin
        while flat[row_end] != MARK:
            row_end += 1
        words = np.uint64((row_end - row_begin + 63) >> 6)
        for index in range(word * np.uint64(items), (word + words) * np.uint64(items)):
            bits[index] = 0
        later_items = np.uint64(0)
        for index in range(row_end - 1, row_begin - 1, -1):
            followers[index - begin] = later_items
            item = np.uint64(flat[index])
            later_items |= unit << item
            slot = np.uint64(index - row_begin)
            bits[(word + (slot >> np.uint64(6))) * np.uint64(items) + item] |= unit << (slot & np.uint64(63))
        index = row_begin
        while later_items:
            item = np.uint64(flat[index])
            if later_items & (unit << item):
                later_items ^= unit << item
                entry = starts[item]
                tokens[entry] = np.uint32(index - begin)
                slots[entry] = np.uint32(word * np.uint64(64) + np.uint64(index - row_begin))
                starts[item] = entry + 1
            index += 1
        word += words
        row_begin = row_end + 1
    for item_number in range(items, 0, -1):
        starts[item_number] = starts[item_number - 1]
    starts[0] = 0


@part
def _count_bits_of(word, tally):
    remaining_bits = word
    while remaining_bits:
        tally[find_lowest_bit(remaining_bits)] += 1
        remaining_bits &= remaining_bits - np.uint64(1)


@part
def _add_carry(planes, word, plane_count):
    """Add one to the number behind each set bit; returns how many planes are in use."""
    plane = np.int64(0)
    while word:
        if plane == plane_count:
            planes[plane] = np.uint64(0)
            plane_count += 1
        carry = planes[plane] & word
        planes[plane] ^= word
        word = carry
        plane += 1
    return plane_count


@part
def count_extensions(extensions, tokens, begin, end, items, tally, planes):
    """How many of the entries have each item behind them."""
    for item in range(items):
        tally[item] = 0
    position = begin
    if end - begin < FEW_ROWS:
        for index in range(begin, end):
            _count_bits_of(extensions[tokens[index]], tally)
        return
    ones_plane, twos, fours = np.uint64(0), np.uint64(0), np.uint64(0)
    plane_count = np.int64(0)
    while position + 8 <= end:
        first, second = extensions[tokens[position]], extensions[tokens[position + 1]]
        half = ones_plane ^ first
        two_a, ones_plane = (ones_plane & first) | (half & second), half ^ second
        first, second = extensions[tokens[position + 2]], extensions[tokens[position + 3]]
        half = ones_plane ^ first
        two_b, ones_plane = (ones_plane & first) | (half & second), half ^ second
        half = twos ^ two_a
        four_a, twos = (twos & two_a) | (half & two_b), half ^ two_b
        first, second = extensions[tokens[position + 4]], extensions[tokens[position + 5]]
        half = ones_plane ^ first
        two_a, ones_plane = (ones_plane & first) | (half & second), half ^ second
        first, second = extensions[tokens[position + 6]], extensions[tokens[position + 7]]
        half = ones_plane ^ first
        two_b, ones_plane = (ones_plane & first) | (half & second), half ^ second
        half = twos ^ two_a
        four_b, twos = (twos & two_a) | (half & two_b), half ^ two_b
        half = fours ^ four_a
        eight, fours = (fours & four_a) | (half & four_b), half ^ four_b
        plane_count = _add_carry(planes, eight, plane_count)
        position += 8
    for index in range(position, end):
        _count_bits_of(extensions[tokens[index]], tally)
    unit = np.uint64(1)
    for item in range(items):
        shift = np.uint64(item)
        total = ((ones_plane >> shift) & unit) + (((twos >> shift) & unit) << unit)
        total += ((fours >> shift) & unit) << np.uint64(2)
        for plane in range(plane_count):
            total += ((planes[plane] >> shift) & unit) << np.uint64(plane + 3)
        tally[item] += np.int64(total)


@part
def _find_heavy(rows, tokens, begin, end):
    """The first of some entries whose row has a weight: tokens ascend."""
    heavy = rows.heavy[0]
    if begin == end or np.int64(tokens[end - 1]) < heavy:
        return end
    while begin < end:
        middle = (begin + end) >> 1
        if np.int64(tokens[middle]) < heavy:
            begin = middle + 1
        else:
            end = middle
    return end


@part
def _count_weighted(rows, tokens, slots, begin, end, items, tally, planes):
    """How many rows have each item behind some entries; returns how many rows the entries stand for."""
    middle = _find_heavy(rows, tokens, begin, end)
    count_extensions(rows.followers, tokens, begin, middle, items, tally, planes)
    total = middle - begin
    for index in range(middle, end):
        weight = rows.weights[slots[index] >> np.uint32(6)]
        total += weight
        remaining_items = rows.followers[tokens[index]]
        while remaining_items:
            tally[find_lowest_bit(remaining_items)] += weight
            remaining_items &= remaining_items - np.uint64(1)
    return total


@part
def count_mask_pairs(state, rows, tally, planes):
    """In how many rows each item is followed by each, and by which in enough of them."""
    items, least = state[MASK_ITEMS], state[PATTERN_LEAST]
    for item in range(items):
        begin, end = rows.starts[item], rows.starts[item + 1]
        rows.totals[item] = _count_weighted(rows, rows.tokens, rows.slots, begin, end, items, tally, planes)
        rows.frequent_followers[item] = 0
        for other in range(items):
            rows.pairs[MOST_ITEMS * item + other] = tally[other]
            rows.frequent_followers[item] |= np.uint64(tally[other] >= least) << np.uint64(other)


@compile_cached("void(int64[::1], int32[::1], int64, MaskRows, MaskStack)", allocates=False)
def lay_masks(state, flat, end, rows, stack):
    """Turn all rows into words and count pairs."""
    fill_masks(flat, np.int64(0), end, state[MASK_ITEMS], rows)
    count_mask_pairs(state, rows, stack.tally, stack.planes)


@part
def open_masks(state, rows, stack, first, stop):
    """Begin a search with some of the items."""
    top = np.int64(0)
    for item in range(first, stop):
        child = item - first
        stack.items[child], stack.begins[child] = np.int32(item), top
        stack.follows[child] = (
            rows.frequent_followers[item] if state[PREFIX] + 1 < state[PATTERN_MAX_LENGTH] else np.uint64(0)
        )
        stack.supports[child] = rows.totals[item]
        for entry in range(rows.starts[item], rows.starts[item + 1]):
            stack.tokens[top] = rows.tokens[entry]
            stack.slots[top] = rows.slots[entry]
            top += (rows.followers[rows.tokens[entry]] & stack.follows[child]) != 0
        stack.ends[child] = top
    stack.frames[0, CHILD_INDEX], stack.frames[0, STOP], stack.frames[0, TOP] = 0, stop - first, top
    state[PATTERN_DEPTH] = 0


@compile_cached("void(int64[::1], MaskRows, MaskStack, int64, int64)", allocates=False)
def begin_masks(state, rows, stack, first, stop):
    """The same from outside."""
    open_masks(state, rows, stack, first, stop)


@part
def _push_extensions(rows, stack, begin, end, items, wanted_items):
    """Write the entries of each wanted extension, where anything may follow it, to where its tally points."""
    followers, bits, cursor, tokens, slots = rows.followers, rows.bits, stack.tally, stack.tokens, stack.slots
    width, unit, low = np.uint64(items), np.uint64(1), np.uint64(63)
    for index in range(begin, end):
        token, slot = np.uint64(tokens[index]), np.uint64(slots[index])
        remaining_items = followers[token] & wanted_items
        higher_slots = ~((np.uint64(2) << (slot & low)) - unit)
        word = slot >> np.uint64(6)
        while remaining_items:
            item = find_lowest_bit(remaining_items)
            remaining_items &= remaining_items - unit
            word_index = word
            positions = bits[word_index * width + item] & higher_slots
            while positions == 0:
                word_index += unit
                positions = bits[word_index * width + item]
            target = (word_index << np.uint64(6)) | find_lowest_bit(positions)
            entry = cursor[item]
            target_token = token + (target - slot)
            tokens[entry] = np.uint32(target_token)
            slots[entry] = np.uint32(target)
            cursor[item] = entry + ((followers[target_token] & stack.wanted_items[item]) != 0)


@part
def _note_children(state, rows, stack, candidates, child, top):
    """List the frequent extensions, already counted, and where their entries go; returns which of them have any."""
    least, depth, tally = state[PATTERN_LEAST], state[PATTERN_DEPTH], stack.tally
    frequent, pushed_items, remaining_items = np.uint64(0), np.uint64(0), candidates
    while remaining_items:
        item = find_lowest_bit(remaining_items)
        remaining_items &= remaining_items - np.uint64(1)
        frequent |= np.uint64(tally[item] >= least) << item
    goes_on = state[PREFIX] + depth + 2 < state[PATTERN_MAX_LENGTH]
    remaining_items = frequent
    while remaining_items:
        item = find_lowest_bit(remaining_items)
        remaining_items &= remaining_items - np.uint64(1)
        stack.items[child], stack.begins[child], stack.supports[child] = np.int32(item), top, tally[item]
        stack.follows[child] = frequent & rows.frequent_followers[item] if goes_on else np.uint64(0)
        if stack.follows[child]:
            pushed_items |= np.uint64(1) << item
            stack.wanted_items[item] = stack.follows[child]
            top, tally[item] = top + tally[item], top
        stack.ends[child] = top
        child += 1
    stack.frames[depth + 1, STOP], stack.frames[depth + 1, TOP] = child, top
    return pushed_items


@part
def _open_children(state, rows, stack, child):
    """Count the extensions of a pattern and make a frame of the frequent ones; returns GROW if there is no room."""
    items, least, depth, tally = state[MASK_ITEMS], state[PATTERN_LEAST], state[PATTERN_DEPTH], stack.tally
    begin, end, candidates = stack.begins[child], stack.ends[child], stack.follows[child]
    if depth == 0:
        for item in range(items):
            tally[item] = rows.pairs[MOST_ITEMS * stack.items[child] + item]
    else:
        _count_weighted(rows, stack.tokens, stack.slots, begin, end, items, tally, stack.planes)
    total = np.int64(0)
    for item in range(items):
        total += tally[item] if tally[item] >= least else 0
    if total == 0:
        return SEARCH_DONE
    top, child_top = stack.frames[depth, TOP], stack.frames[depth, STOP]
    if (
        lacks_pattern_room(state, MASK_ENTRIES, stack.tokens.shape[0], top + total)
        or lacks_pattern_room(state, MASK_FRAMES, stack.frames.shape[0], depth + 2)
        or lacks_pattern_room(state, MASK_FRAMES, stack.items.shape[0] // MOST_ITEMS, depth + 3)
    ):
        return GROW
    pushed_items = _note_children(state, rows, stack, candidates, child_top, top)
    if pushed_items:
        _push_extensions(rows, stack, begin, end, items, pushed_items)
        for number in range(child_top, stack.frames[depth + 1, STOP]):
            if stack.follows[number]:
                stack.ends[number] = tally[stack.items[number]]
    stack.frames[depth + 1, CHILD_INDEX] = child_top
    state[PATTERN_DEPTH] = depth + 1
    return SEARCH_DONE


@part
def search_masks(state, output, path, rows, stack):
    """Visit what is on the stack until nothing is left, the buffer is full, an array too short, or work done."""
    while state[PATTERN_DEPTH] >= 0:
        depth = state[PATTERN_DEPTH]
        child = stack.frames[depth, CHILD_INDEX]
        if child == stack.frames[depth, STOP]:
            state[PATTERN_DEPTH] = depth - 1
            continue
        if state[PATTERN_WORK_LEFT] <= 0:
            return SEARCH_PAUSED
        length = state[PREFIX] + depth + 1
        if not fits_pattern(state, output, length):
            return FULL
        path[length - 1] = rows.codes[stack.items[child]]
        state[PATTERN_WORK_LEFT] -= 32 + 4 * (stack.ends[child] - stack.begins[child])
        if stack.follows[child] and _open_children(state, rows, stack, child) == GROW:
            return GROW
        give_pattern(state, output, path, length, stack.supports[child])
        stack.frames[depth, CHILD_INDEX] = child + 1
    return SEARCH_DONE


@compile_cached("int64(int64[::1], PatternBuffer, int32[::1], MaskRows, MaskStack)", allocates=False)
def search_mask_rows(state, output, path, rows, stack):
    """The same from outside."""
    return search_masks(state, output, path, rows, stack)


__all__ = ["MaskRows", "MaskStack", "PatternBuffer", "begin_masks", "lay_masks", "search_mask_rows"]
