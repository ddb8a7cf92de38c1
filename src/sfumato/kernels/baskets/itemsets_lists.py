# SPDX-License-Identifier: MIT
"""Search for itemsets over lists: the baskets of each item in turn, as rows of their other items.

Level 0 holds all baskets; each further level those of one more item, with only the items that are still frequent
among them and without the baskets that have nothing left to pair (occurrence delivery: Uno, Kiyomi and Arimura's
LCM). Items are numbered from rare to frequent and rows rise, so that what can be added to a set comes after it in a row
and what is excluded before it. At each set the cheaper way on is taken: one more level, or bitmaps over its baskets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import IntGrid, Ints
from sfumato.kernels.baskets.itemsets_bitmaps import BitmapStack, SearchRoot, open_root, search_bitmaps
from sfumato.kernels.baskets.itemsets_bits import round_to_blocks

from sfumato.kernels.baskets.itemsets_output import (  # isort: skip
    ALL_PATTERNS, DEPTH, SEARCH_DONE, FOLD, FOUND_COUNT, FULL, GROW, KIND, LEVEL, LEVEL_FLAT, LEVEL_FRAMES, LEVEL_ITEMS,
    LIST_COST, LISTED_COUNT, MAP_COST, MAX_LENGTH, MAXIMAL_PATTERNS, PAIR_COST, PATH_PERFECT, PATH_ROWS, SEARCH_PAUSED,
    IS_PENDING, PENDING_LENGTH, PENDING_MASK, PENDING_ROW, PENDING_SUPPORT, PERFECT, ROOT_BEFORE, ROOT_EXACT,
    ROOT_ITEMS, ROOT_ROW, ROOT_WORDS, STACK_BITS,
    STACK_EXCLUDED, STACK_EXTENSIONS, STACK_MASKS, STRIDE, WORD_COST, WORK_LEFT, SetBuffer, SetPath, extend_row,
    give_set,
    give_subsets, has_room, is_short, widen_row,
)  # fmt: skip
from sfumato.kernels.baskets.itemsets_rows import MARK, RowLists, RowScratch, copy_rows, count_rows
from sfumato.kernels.compilation import compile_cached, part, record


@record
class ListSearch(NamedTuple):
    """All that a search over lists works with, besides the lists of level 0."""

    state: Ints
    output: SetBuffer
    path: SetPath
    root: SearchRoot
    stack: BitmapStack
    frames: IntGrid
    lists: RowLists
    """Those of all further levels, one after another."""
    scratch: RowScratch


(
    ITEM_INDEX, LIST_ITEMS, LIST_LENGTH, LIST_PERFECT_BEFORE, FLAT_BEGIN, LIST_FLAT_END, PLACES_BEGIN, LIST_PLACES_END,
    LIST_ITEMS_BEGIN, LIST_ITEMS_END, LIST_FRAME,
) = range(11)  # fmt: skip


@part
def _forget_kept_items(scratch, kept_count):
    tally, bitmap, number_of, kept_items = scratch.tally, scratch.bitmap, scratch.number_of, scratch.kept_items
    for number in range(kept_count):
        tally[kept_items[number]] = 0
        bitmap[kept_items[number]] = 0
        number_of[kept_items[number]] = 0


@part
def _sort_out_kept_items(search, lists, first, kept_count, later_count, item, length):
    """Part what was kept: excluded items, perfect extensions, extensions.

    Returns how many excluded items and extensions the root has, and how long the set is; the length is 0 if the set is
    inside the baskets of an excluded item.
    """
    state, path, root, scratch = search.state, search.path, search.root, search.scratch
    tally, number_of, kept_items = scratch.tally, scratch.number_of, scratch.kept_items
    codes, support = lists.codes, lists.supports[first + item]
    row = state[LEVEL] + 1
    excluded_count = np.int64(0)
    total = np.int64(0)
    for number in range(later_count - kept_count, later_count):
        other = kept_items[number if number >= 0 else number + kept_count]
        count = np.int64(tally[other])
        if count == support and (state[FOLD] or other < item):
            if other < item:
                return excluded_count, total, 0
            if state[KIND] == ALL_PATTERNS:
                path.perfect[state[PERFECT]] = codes[first + other]
                state[PERFECT] += 1
            else:
                widen_row(path.rows, state[STRIDE], row, length, codes[first + other])
                length += 1
            continue
        excluded_count += other < item
        root.codes[total] = codes[first + other]
        root.supports[total] = count
        total += 1
        number_of[other] = np.uint32(total)
    return excluded_count, total, length


@part
def _order_branches(state, root, stack):
    """Lay out the root's branches at the bottom of the stack, by rising support while they are few."""
    ids, counts, slots = stack.items, stack.supports, stack.slots
    excluded_count, total, words = state[ROOT_BEFORE], state[ROOT_ITEMS], state[ROOT_WORDS]
    is_sorted = total - excluded_count <= 64
    for item in range(excluded_count, total):
        slot = item - excluded_count
        count = root.supports[item]
        if is_sorted:
            while slot > 0 and counts[slot - 1] > count:
                ids[slot], counts[slot], slots[slot] = ids[slot - 1], counts[slot - 1], slots[slot - 1]
                slot -= 1
        ids[slot], counts[slot], slots[slot] = np.uint32(item), count, np.uint64(item * words)


@part
def _set_bits(state, bits, flat, begin, end):
    """The bitmaps of the root, from its rows."""
    words = np.uint64(state[ROOT_WORDS])
    for position in range(np.uint64(state[ROOT_ITEMS]) * words):
        bits[position] = 0
    row = np.uint64(0)
    unit = np.uint64(1)
    for index in range(np.uint64(begin + 1), np.uint64(end)):
        item = flat[index]
        if item == MARK:
            row += unit
        else:
            bits[np.uint64(item) * words + (row >> np.uint64(6))] |= unit << (row & np.uint64(63))


@part
def _open_level(search, level, total, excluded_count, length, perfect_before):
    """Make a level of the rows that were copied: where each item is, and its code and support."""
    frames, lists, root = search.frames, search.lists, search.root
    flat, places, starts, codes, counts = lists.flat, lists.places, lists.starts, lists.codes, lists.supports
    first, begin, end = frames[level, LIST_ITEMS_BEGIN], frames[level, FLAT_BEGIN], frames[level, LIST_FLAT_END]
    for item in range(total + 1):
        starts[first + item] = 0
    for index in range(begin + 1, end):
        if flat[index] != MARK:
            starts[first + np.int64(flat[index])] += 1
    places_end = frames[level, PLACES_BEGIN]
    for item in range(total):
        size = starts[first + item]
        starts[first + item] = places_end
        places_end += size
        codes[first + item] = root.codes[item]
        counts[first + item] = root.supports[item]
    starts[first + total] = places_end
    for index in range(begin + 1, end):
        if flat[index] != MARK:
            item = first + np.int64(flat[index])
            places[starts[item]] = np.uint32(index)
            starts[item] += 1
    for item in range(total, 0, -1):
        starts[first + item] = starts[first + item - 1]
    starts[first] = frames[level, PLACES_BEGIN]
    frames[level, ITEM_INDEX], frames[level, LIST_ITEMS], frames[level, LIST_LENGTH] = excluded_count, total, length
    frames[level, LIST_PERFECT_BEFORE], frames[level, LIST_PLACES_END] = perfect_before, places_end
    frames[level, LIST_ITEMS_END] = first + total + 1


@part
def _take_row(state, output, path, row, length, support, is_extended, is_leaf):
    """Give a set if it is one that is asked for, or leave it pending; returns whether to look below it."""
    if state[KIND] == ALL_PATTERNS and state[PERFECT]:
        state[IS_PENDING], state[PENDING_MASK], state[PENDING_SUPPORT] = 1, 0, support
        state[PENDING_ROW], state[PENDING_LENGTH] = row, length
        return True
    if length > state[MAX_LENGTH]:
        return False
    if state[KIND] != MAXIMAL_PATTERNS or (is_leaf and not is_extended):
        give_set(state, output, path.rows, row * state[STRIDE], length, support)
    return not is_leaf and length < state[MAX_LENGTH]


@part
def _lacks_list_room(search, items):
    state, path, stack, frames = search.state, search.path, search.stack, search.frames
    level = state[LEVEL]
    set_words = (items + 63) >> 6
    return (
        is_short(state, PATH_ROWS, path.rows.shape[0], (level + 3) * state[STRIDE])
        or is_short(state, PATH_PERFECT, path.perfect.shape[0], state[PERFECT] + items)
        or is_short(state, STACK_EXTENSIONS, stack.items.shape[0], items + 1)
        or is_short(state, STACK_BITS, stack.bits.shape[0], items + 1)
        or is_short(state, STACK_EXCLUDED, stack.excluded_items.shape[0], items + 2)
        or is_short(state, STACK_MASKS, stack.masks.shape[0], 2 * set_words)
        or is_short(state, LEVEL_FRAMES, frames.shape[0], level + 2)
        or is_short(state, LEVEL_ITEMS, search.lists.starts.shape[0], frames[level, LIST_ITEMS_END] + items + 2)
    )


@part
def _branch_from_item(search, lists, first, item, kept_count, later_count, length):
    """Give the set that ends in an item, and open the way below it; returns a status."""
    state, stack, scratch = search.state, search.stack, search.scratch
    frames, deeper = search.frames, search.lists
    level = state[LEVEL]
    begin, end = lists.starts[first + item], lists.starts[first + item + 1]
    support, perfect_before = lists.supports[first + item], state[PERFECT]
    excluded_count, total, length = _sort_out_kept_items(search, lists, first, kept_count, later_count, item, length)
    if length == 0:
        _forget_kept_items(scratch, kept_count)
        return SEARCH_DONE
    is_few = end - begin <= 64
    branches = total - excluded_count
    words, rows, pairs, flat_end = np.int64(1), np.int64(0), np.int64(0), np.int64(0)
    as_bitmaps = True
    if not is_few and branches > (state[KIND] == ALL_PATTERNS):
        copied_rows = copy_rows(
            lists.flat,
            lists.places,
            begin,
            end,
            deeper.flat,
            frames[level, LIST_FLAT_END],
            scratch.number_of,
            excluded_count,
        )
        flat_end, rows, pairs = copied_rows.end, copied_rows.rows, copied_rows.pairs
        words = round_to_blocks(max((rows + 63) >> 6, np.int64(1)))
        as_bitmaps = branches * branches * (words * state[WORD_COST] + state[MAP_COST]) <= 2 * (
            pairs * state[PAIR_COST] + branches * state[LIST_COST]
        )
        if as_bitmaps and is_short(state, STACK_BITS, stack.bits.shape[0], total * words):
            state[PERFECT] = perfect_before
            _forget_kept_items(scratch, kept_count)
            return GROW
    if is_few:
        for number in range(kept_count):
            slot = scratch.number_of[scratch.kept_items[number]]
            if slot:
                stack.bits[slot - 1] = scratch.bitmap[scratch.kept_items[number]]
    _forget_kept_items(scratch, kept_count)
    if not _take_row(state, search.output, search.path, level + 1, length, support, excluded_count > 0, branches == 0):
        state[PERFECT] = perfect_before
        return SEARCH_DONE
    if as_bitmaps:
        state[ROOT_ITEMS], state[ROOT_BEFORE], state[ROOT_WORDS] = total, excluded_count, words
        state[ROOT_ROW], state[ROOT_EXACT] = level + 1, is_few
        state[FOUND_COUNT], state[LISTED_COUNT] = 0, 0
        if not is_few and branches > (state[KIND] == ALL_PATTERNS):
            _set_bits(state, stack.bits, deeper.flat, frames[level, LIST_FLAT_END], flat_end)
        _order_branches(state, search.root, stack)
        open_root(state, search.root, stack, length, perfect_before, 0, branches)
        return SEARCH_DONE
    frames[level + 1, FLAT_BEGIN], frames[level + 1, LIST_FLAT_END] = frames[level, LIST_FLAT_END], flat_end
    frames[level + 1, PLACES_BEGIN] = frames[level, LIST_PLACES_END]
    frames[level + 1, LIST_ITEMS_BEGIN] = frames[level, LIST_ITEMS_END]
    _open_level(search, level + 1, total, excluded_count, length, perfect_before)
    state[LEVEL] = level + 1
    return SEARCH_DONE


@part
def _visit_item(search, lists, first, items, item):
    """Count what goes with an item of the present level, and go on from there; returns a status."""
    state, frames, scratch = search.state, search.frames, search.scratch
    level = state[LEVEL]
    begin, end = lists.starts[first + item], lists.starts[first + item + 1]
    length = frames[level, LIST_LENGTH] + 1
    if _lacks_list_room(search, 1):
        return GROW
    extend_row(search.path.rows, state[STRIDE], level, length - 1, lists.codes[first + item])
    kept_count, later_count, visits = np.int64(0), np.int64(0), np.int64(0)
    if state[FOLD] or length < state[MAX_LENGTH]:
        support = lists.supports[first + item]
        counts = count_rows(state, lists, begin, end, item, items, support, scratch)
        kept_count, later_count, visits = counts.frequent, counts.later_count, counts.visits
    state[WORK_LEFT] -= 64 + 4 * (visits + end - begin)
    if kept_count < 0:
        return SEARCH_DONE
    if _lacks_list_room(search, kept_count) or is_short(
        state, LEVEL_FLAT, search.lists.flat.shape[0], frames[level, LIST_FLAT_END] + visits + end - begin + 2
    ):
        _forget_kept_items(scratch, kept_count)
        return GROW
    return _branch_from_item(search, lists, first, item, kept_count, later_count, length)


@compile_cached("int64(ListSearch, RowLists)", allocates=False)
def search_lists(search, base):
    """Search the tasks (items of level 0) until they are done, the buffer full, an array too short, or work done."""
    state, output, path, frames = search.state, search.output, search.path, search.frames
    while True:
        if state[DEPTH] >= 0:
            status = search_bitmaps(state, output, path, search.root, search.stack)
            if status != SEARCH_DONE:
                return status
        if state[IS_PENDING]:
            status = give_subsets(state, output, path, state[PERFECT])
            if status != SEARCH_DONE:
                return status
        level = state[LEVEL]
        item = frames[level, ITEM_INDEX]
        if item == frames[level, LIST_ITEMS]:
            if level == 0:
                return SEARCH_DONE
            state[PERFECT] = frames[level, LIST_PERFECT_BEFORE]
            state[LEVEL] = level - 1
            continue
        if state[WORK_LEFT] <= 0:
            return SEARCH_PAUSED
        if not has_room(state, output, 1, state[STRIDE]):
            return FULL
        lists = search.lists if level else base
        items = frames[level, LIST_ITEMS] if level else base.supports.shape[0]
        status = _visit_item(search, lists, frames[level, LIST_ITEMS_BEGIN], items, item)
        if status != SEARCH_DONE:
            return status
        frames[level, ITEM_INDEX] = item + 1
