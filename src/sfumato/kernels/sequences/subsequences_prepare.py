# SPDX-License-Identifier: MIT
"""Lay sequences out for the search for subsequences: count, keep what is frequent, find where each item is first."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import compile_cached, part

OFFSETS = "Array(int64, 1, 'C', readonly=True)"
TOKENS = f"Array(int32, 1, 'C', readonly=True), {OFFSETS}"
MARK = np.int32(-1)
"""After the last token of a row."""


@part
def make_signature(item):
    """One of 64 bits for an item."""
    return np.uint64(1) << np.uint64(item & np.uint32(63))


@compile_cached(f"void({TOKENS}, int64[::1], int64[::1])")
def count_rows_of_codes(codes, offsets, seen_rows, counts):
    """How many rows hold each code; `seen_rows` is initialized with values that are not row numbers."""
    for row in range(offsets.shape[0] - 1):
        for position in range(offsets[row], offsets[row + 1]):
            code = np.uint32(codes[position])
            if seen_rows[code] != row:
                seen_rows[code] = row
                counts[code] += 1


@compile_cached(f"int64({TOKENS}, int32[::1], int64[::1], int32[::1], int64[::1], uint32[::1])")
def lay_rows(codes, offsets, rank, seen_rows, flat, starts, places):
    """Rows of ranks, a mark after each, and the first place of each rank in each row; returns the length used.

    `starts` says where the places of each rank begin and comes filled; `seen_rows` comes full of numbers that are no
    rows.
    """
    cursor = starts.copy()
    flat_end = np.int64(0)
    for row in range(offsets.shape[0] - 1):
        begin = flat_end
        for position in range(offsets[row], offsets[row + 1]):
            number = rank[np.uint32(codes[position])]
            if number >= 0:
                flat[flat_end] = number
                if seen_rows[number] != row:
                    seen_rows[number] = row
                    places[cursor[number]] = np.uint32(flat_end)
                    cursor[number] += 1
                flat_end += 1
        if flat_end > begin:
            flat[flat_end] = MARK
            flat_end += 1
    return flat_end


@compile_cached("void(int32[::1], int64[::1], int64[::1], int64[::1], int32[::1], int64[::1])")
def gather_rows(flat, offsets, order, seen_rows, target, counts):
    """Copy some rows of ranks with their marks, and count in how many of them each rank is.

    `seen_rows` comes full of numbers that are no rows, `counts` full of zeros.
    """
    target_end = np.int64(0)
    for index in range(order.shape[0]):
        row = order[index]
        for position in range(offsets[row], offsets[row + 1]):
            number = flat[position]
            target[target_end] = number
            target_end += 1
            if number != MARK and seen_rows[number] != index:
                seen_rows[number] = index
                counts[number] += 1


@compile_cached(f"int64({TOKENS}, {OFFSETS}, int32[::1], int32[::1], int64[::1], int32[::1], int32[::1], int32[::1])")
def pack_elements(codes, element_offsets, offsets, rank, tokens, starts, row_of, position_of, row_ends):
    """Elements of rising ranks, without those that lose all items; returns how many are left.

    `starts` says where the tokens of each element begin, `row_of` and `position_of` which element of which row it was,
    `row_ends` which element comes after the last of its row.
    """
    unit = np.uint64(1)
    token_end = np.uint64(0)
    element_count = np.uint64(0)
    starts[0] = 0
    for row in range(np.uint64(offsets.shape[0] - 1)):
        first = np.uint64(offsets[row])
        for element in range(first, np.uint64(offsets[row + unit])):
            begin = token_end
            for position in range(np.uint64(element_offsets[element]), np.uint64(element_offsets[element + unit])):
                number = rank[np.uint32(codes[position])]
                if number >= 0:
                    tokens[token_end] = number
                    token_end += unit
            if token_end > begin:
                row_of[element_count] = np.int32(row)
                position_of[element_count] = np.int32(element - first)
                element_count += unit
                starts[element_count] = np.int64(token_end)
        row_ends[row] = np.int32(element_count)
    return np.int64(element_count)


@compile_cached("void(int32[::1], int64[::1], int32[::1], uint64[::1], int64[::1])")
def sign_elements(tokens, starts, row_ends, signatures, counts):
    """A bit for each item of an element and of those behind it, for each element; and count the tokens of each item."""
    unit = np.uint64(1)
    begin = np.uint64(0)
    for row in range(np.uint64(row_ends.shape[0])):
        end = np.uint64(row_ends[row])
        signature = np.uint64(0)
        for step in range(end - begin):
            element = end - unit - step
            for token in range(np.uint64(starts[element]), np.uint64(starts[element + unit])):
                item = np.uint32(tokens[token])
                signature |= make_signature(item)
                counts[item] += 1
            signatures[element] = signature
        begin = end


@compile_cached(f"boolean({TOKENS}, int32[::1])")
def has_joins(codes, element_offsets, rank):
    """Whether some element holds more than one item that has a rank."""
    for element in range(element_offsets.shape[0] - 1):
        ranked_count = 0
        for position in range(element_offsets[element], element_offsets[element + 1]):
            ranked_count += rank[np.uint32(codes[position])] >= 0
        if ranked_count > 1:
            return True
    return False


@compile_cached("void(int32[::1], int64[::1], boolean[::1], uint64[::1], int32[::1])")
def unpack_elements(tokens, starts, is_listed, cursor, elements):
    """The elements that hold each token that is listed, one token after another; `cursor` says where each begins."""
    for element in range(np.uint64(starts.shape[0] - 1)):
        for position in range(np.uint64(starts[element]), np.uint64(starts[element + np.uint64(1)])):
            token = np.uint32(tokens[position])
            if is_listed[token]:
                elements[cursor[token]] = np.int32(element)
                cursor[token] += np.uint64(1)
