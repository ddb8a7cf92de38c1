# SPDX-License-Identifier: MIT
"""Rows of items: count what is in the rows of one item, and copy what is left of them.

A row is a run of rising item numbers between marks. `places` says where in the rows an item is, so that what comes
later in a row is behind that place and what comes earlier before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, UnsignedInts, Words
from sfumato.kernels.baskets.itemsets_output import ALL_PATTERNS, CLOSED_PATTERNS, KIND, LEAST
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached, part, record


@record
class RowLists(NamedTuple):
    """Rows of items with a mark before, between and after; for each item the places where it is, its code, support."""

    flat: UnsignedInts
    places: UnsignedInts
    starts: Ints
    """Where each item's places start."""
    codes: Codes
    supports: Ints


@record
class RowScratch(NamedTuple):
    """For each item of level 0 a tally, a bitmap of rows and its number one level on; then the items that are kept."""

    tally: UnsignedInts
    bitmap: Words
    number_of: UnsignedInts
    kept_items: UnsignedInts
    counts: UnsignedInts
    maps: Words


@record
class CountedItems(NamedTuple):
    """The items in the rows of one item."""

    frequent: int
    """How many are frequent; −1 if the set is known to be covered."""
    later_count: int
    """How many of them come later in the rows."""
    visits: int
    """How many were met in all."""


@record
class CopiedRows(NamedTuple):
    """What was copied."""

    end: int
    """Where the copy ends."""
    rows: int
    pairs: int


MARK = np.uint32(0xFFFFFFFF)


@compile_cached("void(uint32[::1], int64, int64)")
def _sort_kept_items(kept_items, first, count):
    if count - first > 40:
        kept_items[first:count].sort()
        return
    for number in range(first + 1, count):
        item = kept_items[number]
        offset = number
        while offset > first and kept_items[offset - 1] > item:
            kept_items[offset] = kept_items[offset - 1]
            offset -= 1
        kept_items[offset] = item


@compile_cached("int64(uint32[::1], uint32[::1], int64, int64, uint64, uint32[::1])", allocates=False)
def _tally_items(flat, places, begin, end, step, tally):
    """Count the items on one side of an item in its rows; returns how many there are in all."""
    visits = np.int64(0)
    for position in range(begin, end):
        offset = np.uint64(places[position]) + step
        item = flat[offset]
        while item != MARK:
            tally[item] += np.uint32(1)
            visits += 1
            offset += step
            item = flat[offset]
    return visits


@compile_cached("int64(uint32[::1], uint32[::1], int64, int64, uint64, uint64[::1])", allocates=False)
def _map_items(flat, places, begin, end, step, bitmap):
    """As `_tally_items`, for at most 64 rows: a bitmap of its rows for every item."""
    visits = np.int64(0)
    bit = np.uint64(1)
    for position in range(begin, end):
        offset = np.uint64(places[position]) + step
        item = flat[offset]
        while item != MARK:
            bitmap[item] |= bit
            visits += 1
            offset += step
            item = flat[offset]
        bit <<= np.uint64(1)
    return visits


@compile_cached("int64(int64, int64, uint32[::1], int64, uint32[::1], int64)", allocates=False)
def _keep_range(first, stop, tally, least, kept_items, count):
    """Keep the frequent items of a range of numbers, and forget the counts of the others."""
    least = np.uint32(least)
    for item in range(np.uint64(first), np.uint64(stop)):
        if tally[item] >= least:
            kept_items[count] = np.uint32(item)
            count += 1
        else:
            tally[item] = 0
    return count


@compile_cached("int64(uint32[::1], uint32[::1], int64, int64, uint64, RowScratch, int64, int64)", allocates=False)
def _keep_tallied(flat, places, begin, end, step, scratch, least, first):
    """Keep the frequent items of rows, in the order of their numbers, by going through the rows again."""
    tally, kept_items, counts = scratch.tally, scratch.kept_items, scratch.counts
    least = np.uint32(least)
    count = first
    for position in range(begin, end):
        offset = np.uint64(places[position]) + step
        item = flat[offset]
        while item != MARK:
            if tally[item] >= least:
                kept_items[count] = item
                counts[count] = tally[item]
                count += 1
            tally[item] = 0
            offset += step
            item = flat[offset]
    for number in range(first, count):
        tally[kept_items[number]] = counts[number]
    _sort_kept_items(kept_items, first, count)
    return count


@compile_cached("int64(uint32[::1], uint32[::1], int64, int64, uint64, RowScratch, int64, int64)", allocates=False)
def _keep_mapped(flat, places, begin, end, step, scratch, least, first):
    """As `_keep_tallied`, with bitmaps."""
    bitmap, tally, kept_items, maps = scratch.bitmap, scratch.tally, scratch.kept_items, scratch.maps
    count = first
    for position in range(begin, end):
        offset = np.uint64(places[position]) + step
        item = flat[offset]
        while item != MARK:
            rows = bitmap[item]
            if rows:
                bitmap[item] = 0
                size = np.int64(popcount(rows))
                if size >= least:
                    kept_items[count] = item
                    maps[count] = rows
                    tally[item] = np.uint32(size)
                    count += 1
            offset += step
            item = flat[offset]
    for number in range(first, count):
        bitmap[kept_items[number]] = maps[number]
    _sort_kept_items(kept_items, first, count)
    return count


@compile_cached("boolean(uint32[::1], uint32[::1], int64, int64, uint32[::1])", allocates=False)
def _is_item_covered(flat, places, begin, end, kept_items):
    """Whether some item comes before one in all its rows: what the first row has, less what a further one lacks."""
    unit = np.uint64(1)
    remaining_count = np.int64(0)
    offset = np.uint64(places[begin]) - unit
    while flat[offset] != MARK:
        kept_items[remaining_count] = flat[offset]
        remaining_count += 1
        offset -= unit
    for position in range(begin + 1, end):
        if remaining_count == 0:
            return False
        offset = np.uint64(places[position]) - unit
        still = np.int64(0)
        for number in range(remaining_count):
            item = kept_items[number]
            # Both go downwards, and the mark is larger than any item.
            while flat[offset] != MARK and flat[offset] > item:
                offset -= unit
            kept_items[still] = item
            still += flat[offset] == item
        remaining_count = still
    return remaining_count > 0


@part
def _count_side(lists, begin, end, step, least, scratch, kept_count, first, stop):
    """Keep the frequent items `first` to `stop`, on one side of an item in its rows; returns how many it met too."""
    flat, places, tally = lists.flat, lists.places, scratch.tally
    if end - begin <= 64:
        visits = _map_items(flat, places, begin, end, step, scratch.bitmap)
        count = _keep_mapped(flat, places, begin, end, step, scratch, least, kept_count)
    else:
        visits = _tally_items(flat, places, begin, end, step, tally)
        if visits > stop - first:
            count = _keep_range(first, stop, tally, least, scratch.kept_items, kept_count)
        else:
            count = _keep_tallied(flat, places, begin, end, step, scratch, least, kept_count)
    return count, visits


@part
def count_rows(state, lists, begin, end, item, items, support, scratch):
    """Count the items in the rows of one.

    What comes earlier in the rows matters only if closed or maximal
    sets are asked for. If nothing frequent comes later, a set is closed unless something earlier is in all its rows,
    which two or three rows mostly rule out.
    """
    least, kind = state[LEAST], state[KIND]
    later_count, visits = _count_side(lists, begin, end, np.uint64(1), least, scratch, 0, item + 1, items)
    count = later_count
    if kind == CLOSED_PATTERNS and later_count == 0:
        if (
            end - begin == support
            and end > begin
            and _is_item_covered(lists.flat, lists.places, begin, end, scratch.kept_items)
        ):
            return CountedItems(np.int64(-1), later_count, visits)  # type: ignore[arg-type]  # numba's numbers are Python's here
    elif kind != ALL_PATTERNS:
        count, earlier = _count_side(lists, begin, end, ~np.uint64(0), least, scratch, count, 0, item)
        visits += earlier
    return CountedItems(count, later_count, visits)


@compile_cached(
    "CopiedRows(uint32[::1], uint32[::1], int64, int64, uint32[::1], int64, uint32[::1], int64)", allocates=False
)
def copy_rows(flat, places, begin, end, target, target_begin, number_of, excluded_count):
    """Copy the rows of an item with only what the root holds, under the root's numbers.

    Left out are rows without a pair of two such items of which one is an extension.
    """
    unit = np.uint64(1)
    rows = np.int64(0)
    pairs = np.int64(0)
    target[target_begin] = MARK
    at_end = np.uint64(target_begin + 1)
    for position in range(begin, end):
        offset = np.uint64(places[position])
        if excluded_count:
            while flat[offset - unit] != MARK:
                offset -= unit
        start = at_end
        while flat[offset] != MARK:
            number = number_of[flat[offset]]
            target[at_end] = number - 1
            at_end += np.uint64(number > 0)
            offset += unit
        size = np.int64(at_end - start)
        if size < 2 or target[at_end - unit] < excluded_count:
            at_end = start
            continue
        extension_count = size
        if excluded_count:
            extension_count = np.int64(0)
            for target_index in range(start, at_end):
                extension_count += target[target_index] >= excluded_count
        target[at_end] = MARK
        at_end += unit
        rows += 1
        pairs += extension_count * (size - 1)
    return CopiedRows(np.int64(at_end), rows, pairs)  # type: ignore[arg-type]  # numba's numbers are Python's here
