# SPDX-License-Identifier: MIT
"""Search for subsequences of single items where more than 64 items are frequent: rows are copied, shorter each time.

Level 0 holds all rows; each further level what comes after the first occurrence of one more item, with only the items
that are still frequent there (PrefixSpan: Pei et al. 2001). As soon as at most 64 items are left, the search goes on
over words (`subsequences_masks`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, IntGrid, Ints, UnsignedInts
from sfumato.kernels.compilation import compile_cached, part, record

from sfumato.kernels.sequences.subsequences_masks import (  # isort: skip
    MOST_ITEMS, MaskRows, MaskStack, count_mask_pairs, fill_masks, open_masks, search_masks,
)  # fmt: skip
from sfumato.kernels.sequences.subsequences_output import (  # isort: skip
    PATTERN_DEPTH, SEARCH_DONE, FULL, GROW, PATTERN_LEAST, LEVEL, PATTERN_LEVEL_FLAT, PATTERN_LEVEL_FRAMES,
    PATTERN_LEVEL_ITEMS, LEVEL_PLACES, MASK_ENTRIES,
    MASK_ITEMS, MASK_TOKENS, MASK_WORDS, PATTERN_MAX_LENGTH, SEARCH_PAUSED, PREFIX, PATTERN_WORK_LEFT, PatternBuffer,
    give_pattern, fits_pattern,
    lacks_pattern_room, take_serial,
)  # fmt: skip
from sfumato.kernels.sequences.subsequences_prepare import MARK


@record
class SequenceLists(NamedTuple):
    """Rows of items with a mark after each, and the first place of each item in each row."""

    flat: Codes
    places: UnsignedInts
    starts: Ints
    """Where the places of each item begin."""
    codes: Codes
    """The code of each item."""


@record
class TokenScratch(NamedTuple):
    """For each item: how many rows hold it, when it was last seen, its number in the next level."""

    tally: Ints
    seen_serials: Ints
    number_of: Codes


@record
class SequenceSearch(NamedTuple):
    """All that a search over lists works with, besides the lists of level 0."""

    state: Ints
    output: PatternBuffer
    path: Codes
    frames: IntGrid
    lists: SequenceLists
    """Those of all further levels, one after another."""
    scratch: TokenScratch
    masks: MaskRows
    stack: MaskStack


ITEM_INDEX, STOP, ITEMS, FLAT_END, PLACES_END, ITEMS_BEGIN, ITEMS_END, LEVEL_FRAME = range(8)


class _FollowerCounts(NamedTuple):
    """What follows an item: how many items are frequent there, and how many tokens, rows and places they take."""

    items: np.int64
    tokens: np.int64
    places: np.int64


@part
def _count_suffixes(state, lists, begin, end, scratch, items):
    """Count the items behind some places and number the frequent ones; the others get no number."""
    flat, places, tally, seen_serials, number_of = (
        lists.flat,
        lists.places,
        scratch.tally,
        scratch.seen_serials,
        scratch.number_of,
    )
    for item in range(items):
        tally[item] = 0
    tokens = np.int64(0)
    for index in range(begin, end):
        serial = take_serial(state)
        position = np.int64(places[index]) + 1
        first = position
        while flat[position] != MARK:
            token = np.uint32(flat[position])
            if seen_serials[token] != serial:
                seen_serials[token] = serial
                tally[token] += 1
            position += 1
        tokens += position - first
    kept_count, kept_places = np.int64(0), np.int64(0)
    for item in range(items):
        number_of[item] = MARK
        if tally[item] >= state[PATTERN_LEAST]:
            number_of[item] = np.int32(kept_count)
            kept_places += tally[item]
            kept_count += 1
    return _FollowerCounts(kept_count, tokens, kept_places)


@part
def _copy_suffixes(lists, begin, end, number_of, target, target_end):
    """Copy what has a number behind some places, row by row; returns where the copy ends."""
    flat, places = lists.flat, lists.places
    for index in range(begin, end):
        position = np.int64(places[index]) + 1
        row_begin = target_end
        while flat[position] != MARK:
            number = number_of[np.uint32(flat[position])]
            target[target_end] = number
            target_end += number >= 0
            position += 1
        if target_end > row_begin:
            target[target_end] = MARK
            target_end += 1
    return target_end


@part
def _place_items(state, lists, flat_begin, flat_end, seen_serials, first):
    """Fill in the first place of each item of the level in each row; starts come filled."""
    flat, places, starts = lists.flat, lists.places, lists.starts
    serial = take_serial(state)
    for index in range(flat_begin, flat_end):
        item = flat[index]
        if item == MARK:
            serial = take_serial(state)
        elif seen_serials[item] != serial:
            seen_serials[item] = serial
            places[starts[first + item]] = np.uint32(index)
            starts[first + item] += 1


@part
def _open_list_level(search, parent_codes, parent_first, items, kept_count, flat_end):
    """Make a level of rows that were copied: codes of its items, and their places."""
    state, frames, lists, scratch = search.state, search.frames, search.lists, search.scratch
    level = state[LEVEL]
    first, places_end = frames[level, ITEMS_END], frames[level, PLACES_END]
    for item in range(items):
        number = scratch.number_of[item]
        if number >= 0:
            lists.codes[first + number] = parent_codes[parent_first + item]
            lists.starts[first + number] = places_end
            places_end += scratch.tally[item]
    _place_items(state, lists, frames[level, FLAT_END], flat_end, scratch.seen_serials, first)
    for number in range(kept_count, 0, -1):
        lists.starts[first + number] = lists.starts[first + number - 1]
    lists.starts[first] = frames[level, PLACES_END]
    level += 1
    frames[level, ITEM_INDEX], frames[level, STOP], frames[level, ITEMS] = 0, kept_count, kept_count
    frames[level, FLAT_END], frames[level, PLACES_END] = flat_end, places_end
    frames[level, ITEMS_BEGIN], frames[level, ITEMS_END] = first, first + kept_count + 1
    state[LEVEL] = level


@part
def _open_mask_level(search, parent_codes, parent_first, items, kept_count, flat_end):
    """Turn rows that were copied into words, and begin a search over them."""
    state, masks, scratch = search.state, search.masks, search.scratch
    places_end = np.int64(0)
    for item in range(items):
        number = scratch.number_of[item]
        if number >= 0:
            masks.codes[number] = parent_codes[parent_first + item]
            masks.starts[number] = places_end
            places_end += scratch.tally[item]
    fill_masks(search.lists.flat, search.frames[state[LEVEL], FLAT_END], flat_end, kept_count, masks)
    state[MASK_ITEMS], state[PREFIX] = kept_count, state[LEVEL] + 1
    count_mask_pairs(state, masks, search.stack.tally, search.stack.planes)
    open_masks(state, masks, search.stack, np.int64(0), kept_count)


@part
def _lacks_room(search, rows, counts):
    """Whether an array is too short for the rows behind an item; words of bitmaps are asked for at their most."""
    state, frames, lists, masks = search.state, search.frames, search.lists, search.masks
    level = state[LEVEL]
    if lacks_pattern_room(
        state, PATTERN_LEVEL_FLAT, lists.flat.shape[0], frames[level, FLAT_END] + counts.tokens + rows + 1
    ):
        return True
    if counts.items <= MOST_ITEMS:
        words = rows + (counts.tokens >> 6)
        return (
            lacks_pattern_room(state, MASK_TOKENS, masks.followers.shape[0], counts.tokens + rows)
            or lacks_pattern_room(state, MASK_WORDS, masks.bits.shape[0], words * counts.items)
            or lacks_pattern_room(state, MASK_TOKENS, masks.tokens.shape[0], counts.places)
            or lacks_pattern_room(state, MASK_ENTRIES, search.stack.tokens.shape[0], counts.places)
        )
    return (
        lacks_pattern_room(state, PATTERN_LEVEL_FRAMES, frames.shape[0], level + 2)
        or lacks_pattern_room(
            state, PATTERN_LEVEL_ITEMS, lists.starts.shape[0], frames[level, ITEMS_END] + counts.items + 1
        )
        or lacks_pattern_room(state, LEVEL_PLACES, lists.places.shape[0], frames[level, PLACES_END] + counts.places)
    )


@part
def _visit_item(search, lists, item):
    """Give the pattern that ends in an item of the present level, and go on behind it; returns a status."""
    state, frames, scratch = search.state, search.frames, search.scratch
    level = state[LEVEL]
    first, items = frames[level, ITEMS_BEGIN], frames[level, ITEMS]
    begin, end = lists.starts[first + item], lists.starts[first + item + 1]
    search.path[level] = lists.codes[first + item]
    counts = _FollowerCounts(np.int64(0), np.int64(0), np.int64(0))
    if level + 1 < state[PATTERN_MAX_LENGTH]:
        counts = _count_suffixes(state, lists, begin, end, scratch, items)
        if counts.items and _lacks_room(search, end - begin, counts):
            return GROW
    state[PATTERN_WORK_LEFT] -= 64 + 4 * (counts.tokens + end - begin) + items
    give_pattern(state, search.output, search.path, level + 1, end - begin)
    if counts.items:
        flat_end = _copy_suffixes(lists, begin, end, scratch.number_of, search.lists.flat, frames[level, FLAT_END])
        if counts.items <= MOST_ITEMS:
            _open_mask_level(search, lists.codes, first, items, counts.items, flat_end)
        else:
            _open_list_level(search, lists.codes, first, items, counts.items, flat_end)
    return SEARCH_DONE


@compile_cached("int64(SequenceSearch, SequenceLists)", allocates=False)
def search_sequence_lists(search, base):
    """Search the tasks (items of level 0) until they are done, the buffer full, an array too short, or work done."""
    state, frames = search.state, search.frames
    while True:
        if state[PATTERN_DEPTH] >= 0:
            status = search_masks(state, search.output, search.path, search.masks, search.stack)
            if status != SEARCH_DONE:
                return status
        level = state[LEVEL]
        item = frames[level, ITEM_INDEX]
        if item == frames[level, STOP]:
            if level == 0:
                return SEARCH_DONE
            state[LEVEL] = level - 1
            continue
        if state[PATTERN_WORK_LEFT] <= 0:
            return SEARCH_PAUSED
        if not fits_pattern(state, search.output, level + 1):
            return FULL
        status = _visit_item(search, search.lists if level else base, item)
        if status != SEARCH_DONE:
            return status
        frames[level, ITEM_INDEX] = item + 1
