# SPDX-License-Identifier: MIT
"""Lay baskets out for the search for itemsets: count, keep what is frequent, then lists or bitmaps."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.bits import popcount
from sfumato.kernels.compiled import compiled

OFFSETS = "Array(int64, 1, 'C', readonly=True)"
BASKETS = f"Array(int32, 1, 'C', readonly=True), {OFFSETS}"
MARK = np.uint32(0xFFFFFFFF)


@compiled("void(Array(int32, 1, 'C', readonly=True), int64[::1])")
def count_codes(codes, counts):  # type: ignore[no-untyped-def]
    """How often each code occurs."""
    for place in range(codes.shape[0]):
        counts[np.uint32(codes[place])] += 1


@compiled(f"void({BASKETS}, int32[::1], int32[::1])")
def measure_rows(codes, offsets, rank, sizes):  # type: ignore[no-untyped-def]
    """How many items of each basket have a rank."""
    for row in range(offsets.shape[0] - 1):
        size = np.int32(0)
        for place in range(offsets[row], offsets[row + 1]):
            size += rank[np.uint32(codes[place])] >= 0
        sizes[row] = size


@compiled(f"void({BASKETS}, int32[::1], int32[::1], int64[::1], uint32[::1], uint32[::1])")
def lay_lists(codes, offsets, rank, sizes, starts, flat, places):  # type: ignore[no-untyped-def]
    """Rows of ranks, rising, with marks around them, of baskets with two ranked items or more; and where each rank is.

    Rows are filled rank by rank, so that nothing has to be sorted. `starts` must come with room for one more than
    there are ranks; it is filled here.
    """
    ranks = starts.shape[0] - 1
    starts[:] = 0
    cursor = np.empty(sizes.shape[0], dtype=np.uint32)
    filled = np.uint32(1)
    flat[0] = MARK
    for row in range(sizes.shape[0]):
        cursor[row] = filled
        if sizes[row] >= 2:
            filled += np.uint32(sizes[row] + 1)
            flat[filled - np.uint32(1)] = MARK
            for place in range(offsets[row], offsets[row + 1]):
                number = rank[np.uint32(codes[place])]
                if number >= 0:
                    starts[number + 1] += 1
    for number in range(ranks):
        starts[number + 1] += starts[number]
    end = starts[:-1].copy()
    for row in range(sizes.shape[0]):
        if sizes[row] >= 2:
            for place in range(offsets[row], offsets[row + 1]):
                number = rank[np.uint32(codes[place])]
                if number >= 0:
                    places[end[number]] = np.uint32(row)
                    end[number] += 1
    for number in range(ranks):
        for place in range(starts[number], starts[number + 1]):
            row_at = places[place]
            at = cursor[row_at]
            flat[at] = np.uint32(number)
            places[place] = at
            cursor[row_at] = at + np.uint32(1)


@compiled(f"void({BASKETS}, int32[::1], int32[::1], uint64, uint64[::1])")
def lay_bitmaps(codes, offsets, rank, sizes, words, bits):  # type: ignore[no-untyped-def]
    """One bitmap for each rank, of `words` words, over the baskets with two ranked items or more."""
    one = np.uint64(1)
    row_bit = np.uint64(0)
    for row in range(sizes.shape[0]):
        if sizes[row] < 2:
            continue
        bit = one << (row_bit & np.uint64(63))
        word = row_bit >> np.uint64(6)
        for place in range(offsets[row], offsets[row + 1]):
            number = rank[np.uint32(codes[place])]
            if number >= 0:
                bits[np.uint64(number) * words + word] |= bit
        row_bit += one


@compiled(f"void({BASKETS}, uint64[::1], uint64[::1], int32[::1])")
def mark_rows(codes, offsets, mark, held, sizes):  # type: ignore[no-untyped-def]
    """What each basket holds, as one word: the marks of its codes; and how many of them there are."""
    for row in range(offsets.shape[0] - 1):
        marks = np.uint64(0)
        for place in range(offsets[row], offsets[row + 1]):
            marks |= mark[np.uint32(codes[place])]
        held[row] = marks
        sizes[row] = np.int32(popcount(marks))


@compiled("int64(uint64[::1], int32[::1], int32[::1], int64[::1], int64[::1])")
def merge_rows(held, sizes, table, times, planes):  # type: ignore[no-untyped-def]
    """Count the baskets that hold the same two items or more; returns how many distinct ones there are.

    They move to the front of `held`, `times` says how many each stands for, and `planes` how many of these numbers
    have each binary digit. The table holds −1; its length is a power of two, larger than the number of baskets.
    """
    mask = np.uint64(table.shape[0] - 1)
    distinct = np.int64(0)
    for row in range(sizes.shape[0]):
        if sizes[row] < 2:
            continue
        marks = held[row]
        at = (marks * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32) & mask
        while table[at] >= 0 and held[table[at]] != marks:
            at = (at + np.uint64(1)) & mask
        if table[at] < 0:
            table[at] = np.int32(distinct)
            held[distinct] = marks
            times[distinct] = 0
            distinct += 1
        times[table[at]] += 1
    for number in range(distinct):
        for plane in range(planes.shape[0]):
            planes[plane] += (times[number] >> plane) & 1
    return distinct


@compiled("void(uint64[::1], int64[::1], int64, int64[::1], uint64, uint64[::1], uint64[::1])")
def lay_merged(held, times, distinct, planes, words, bits, shifts):  # type: ignore[no-untyped-def]
    """One bitmap for each item over distinct baskets, once for each binary digit of how many each stands for."""
    one = np.uint64(1)
    low = np.uint64(0)
    for plane in range(planes.shape[0]):
        row_bit = low << np.uint64(6)
        for number in range(distinct):
            if not (times[number] >> plane) & 1:
                continue
            bit = one << (row_bit & np.uint64(63))
            word = row_bit >> np.uint64(6)
            left = held[number]
            while left:
                lowest = left & (~left + one)
                bits[popcount(lowest - one) * words + word] |= bit
                left ^= lowest
            row_bit += one
        end = (row_bit + np.uint64(63)) >> np.uint64(6)
        for place in range(low, end):
            shifts[place] = np.uint64(plane)
        low = end


@compiled("void(int64[::1], int32[::1], int64[::1])")
def look_up(values, codes, into):  # type: ignore[no-untyped-def]
    """The value of each code."""
    for place in range(codes.shape[0]):
        into[place] = values[np.uint32(codes[place])]
