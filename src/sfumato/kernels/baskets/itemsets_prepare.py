# SPDX-License-Identifier: MIT
"""Lay baskets out for the search for itemsets: count, keep what is frequent, then lists or bitmaps."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import compile_cached

OFFSETS = "Array(int64, 1, 'C', readonly=True)"
BASKETS = f"Array(int32, 1, 'C', readonly=True), {OFFSETS}"
MARK = np.uint32(0xFFFFFFFF)


@compile_cached("void(Array(int32, 1, 'C', readonly=True), int64[::1])")
def count_codes(codes, counts):
    """How often each code occurs."""
    for position in range(codes.shape[0]):
        counts[np.uint32(codes[position])] += 1


@compile_cached(f"void({BASKETS}, int32[::1], int32[::1])")
def measure_rows(codes, offsets, rank, sizes):
    """How many items of each basket have a rank."""
    for row in range(offsets.shape[0] - 1):
        size = np.int32(0)
        for position in range(offsets[row], offsets[row + 1]):
            size += rank[np.uint32(codes[position])] >= 0
        sizes[row] = size


@compile_cached(f"void({BASKETS}, int32[::1], int32[::1], int64[::1], uint32[::1], uint32[::1])")
def lay_lists(codes, offsets, rank, sizes, starts, flat, places):
    """Rows of ranks, rising, with marks around them, of baskets with two ranked items or more; and where each rank is.

    Rows are filled rank by rank, so that nothing has to be sorted. `starts` must come with room for one more than
    there are ranks; it is filled here.
    """
    ranks = starts.shape[0] - 1
    starts[:] = 0
    cursor = np.empty(sizes.shape[0], dtype=np.uint32)
    flat_end = np.uint32(1)
    flat[0] = MARK
    for row in range(sizes.shape[0]):
        cursor[row] = flat_end
        if sizes[row] >= 2:
            flat_end += np.uint32(sizes[row] + 1)
            flat[flat_end - np.uint32(1)] = MARK
            for position in range(offsets[row], offsets[row + 1]):
                number = rank[np.uint32(codes[position])]
                if number >= 0:
                    starts[number + 1] += 1
    for number in range(ranks):
        starts[number + 1] += starts[number]
    end = starts[:-1].copy()
    for row in range(sizes.shape[0]):
        if sizes[row] >= 2:
            for position in range(offsets[row], offsets[row + 1]):
                number = rank[np.uint32(codes[position])]
                if number >= 0:
                    places[end[number]] = np.uint32(row)
                    end[number] += 1
    for number in range(ranks):
        for position in range(starts[number], starts[number + 1]):
            row_at = places[position]
            offset = cursor[row_at]
            flat[offset] = np.uint32(number)
            places[position] = offset
            cursor[row_at] = offset + np.uint32(1)


@compile_cached(f"void({BASKETS}, int32[::1], int32[::1], uint64, uint64[::1])")
def lay_bitmaps(codes, offsets, rank, sizes, words, bits):
    """One bitmap for each rank, of `words` words, over the baskets with two ranked items or more."""
    unit = np.uint64(1)
    row_bit = np.uint64(0)
    for row in range(sizes.shape[0]):
        if sizes[row] < 2:
            continue
        bit = unit << (row_bit & np.uint64(63))
        word = row_bit >> np.uint64(6)
        for position in range(offsets[row], offsets[row + 1]):
            number = rank[np.uint32(codes[position])]
            if number >= 0:
                bits[np.uint64(number) * words + word] |= bit
        row_bit += unit


@compile_cached("void(int64[::1], int32[::1], int64[::1])")
def look_up(values, codes, target):
    """The value of each code."""
    for position in range(codes.shape[0]):
        target[position] = values[np.uint32(codes[position])]
