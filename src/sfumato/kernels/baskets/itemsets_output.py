# SPDX-License-Identifier: MIT
"""Where a search for itemsets stands, and how the sets it finds get into a buffer, each with its codes rising.

The state is one row of numbers, named below, so that a search can be left when the buffer is full or someone waits,
and resumed. Arrays travel in tuples. Items that are in every basket of a set (perfect extensions) are not
branched on: each subset of them, added to the set, is another set of the same support.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.kernels.compilation import compile_cached, part, record

ALL_PATTERNS, CLOSED_PATTERNS, MAXIMAL_PATTERNS = range(3)
SEARCH_DONE, FULL, SEARCH_PAUSED, GROW = range(4)
# What is asked, and what steps cost; where the search is; what is in the buffer; a set whose subsets are being given;
# tops of stacks; the root of the bitmaps; what array is too short.
(
    LEAST, KIND, MAX_LENGTH, FOLD, STRIDE, PAIR_COST, LIST_COST, WORD_COST, MAP_COST,
    LEVEL, DEPTH, WORK_LEFT, EVERYWHERE,
    SETS, CODES,
    IS_PENDING, PENDING_ROW, PENDING_LENGTH, PENDING_SUPPORT, PENDING_MASK,
    PERFECT, EXCLUDED_COUNT, FOUND_COUNT, LISTED_COUNT,
    ROOT_ITEMS, ROOT_BEFORE, ROOT_WORDS, ROOT_ROW, ROOT_EXACT,
    SHORT_OF, SHORT_SIZE,
    FIELDS,
) = range(32)  # fmt: skip
# The arrays that can be too short.
(
    PATH_ROWS, PATH_PERFECT, STACK_EXTENSIONS, STACK_BITS, STACK_FRAMES, STACK_EXCLUDED, STACK_MASKS, STACK_FOUND,
    STACK_LISTED, LEVEL_FRAMES, LEVEL_FLAT, LEVEL_ITEMS,
) = range(12)  # fmt: skip


@record
class SetBuffer(NamedTuple):
    """The sets found: codes one after another, where each set ends, supports."""

    codes: Codes
    ends: Ints
    supports: Ints


@record
class SetPath(NamedTuple):
    """The set of each step as rising codes, one row a step; perfect extensions of all steps."""

    rows: Codes
    perfect: Codes


MOST_DOUBLINGS = 10


@part
def insert_code(source, begin, length, code, target, target_offset):
    """Copy a rising row with one more code in its place; source and target may be one array."""
    if length == 0:
        target[target_offset] = code
        return
    unit = np.uint64(1)
    target[target_offset] = min(code, source[begin])
    for index in range(unit, length):
        target[target_offset + index] = max(source[begin + index - unit], min(code, source[begin + index]))
    target[target_offset + length] = max(code, source[begin + length - unit])


@part
def _insert_in_place(codes, begin, length, code):
    offset = begin + length
    while offset > begin and codes[offset - 1] > code:
        codes[offset] = codes[offset - 1]
        offset -= 1
    codes[offset] = code


@part
def give_set(state, output, row, begin, length, support):
    """Put one set into the buffer, which has room for it."""
    codes, ends, supports = output.codes, output.ends, output.supports
    offset = state[CODES]
    for index in range(np.uint64(length)):
        codes[np.uint64(offset) + index] = row[np.uint64(begin) + index]
    ends[state[SETS]] = offset + length
    supports[state[SETS]] = support
    state[CODES] = offset + length
    state[SETS] += 1


@part
def has_room(state, output, sets, codes):
    """Whether this number of further sets and codes fits into the buffer."""
    return state[SETS] + sets <= output.ends.shape[0] and state[CODES] + codes <= output.codes.shape[0]


@part
def is_short(state, array_number, size, needed_size):
    """Whether an array is shorter than needed, and if so note which and by how much."""
    if size >= needed_size:
        return False
    state[SHORT_OF] = array_number
    state[SHORT_SIZE] = needed_size
    return True


@part
def give_subsets(state, output, path, count):
    """Give the pending set with every subset of the first `count` perfect extensions; FULL if there is no room.

    The last few extensions are added by doubling what is in the buffer, the others by counting a mask upwards.
    """
    rows, perfect = path.rows, path.perfect
    codes, ends, supports = output.codes, output.ends, output.supports
    longest = state[PENDING_LENGTH] + count
    low = min(count, MOST_DOUBLINGS)
    while low > 0 and (longest << low) > (codes.shape[0] >> 1):
        low -= 1
    # A mask of more bits would not come to its end in this world.
    masks = np.int64(1) << min(count - low, 62)
    while state[PENDING_MASK] < masks:
        if not has_room(state, output, np.int64(1) << low, longest << low):
            return FULL
        first = state[SETS]
        offset = state[CODES]
        length = state[PENDING_LENGTH]
        for index in range(length):
            codes[offset + index] = rows[state[PENDING_ROW] * state[STRIDE] + index]
        for bit in range(count - low):
            if (state[PENDING_MASK] >> bit) & 1:
                _insert_in_place(codes, offset, length, perfect[low + bit])
                length += 1
        ends[first] = offset + length
        supports[first] = state[PENDING_SUPPORT]
        set_count = np.int64(1)
        end = offset + length
        for bit in range(low):
            begin = offset
            for number in range(set_count):
                size = ends[first + number] - begin
                insert_code(codes, np.uint64(begin), np.uint64(size), perfect[bit], codes, np.uint64(end))
                begin += size
                end += size + 1
                ends[first + set_count + number] = end
                supports[first + set_count + number] = state[PENDING_SUPPORT]
            set_count *= 2
        state[SETS] = first + set_count
        state[CODES] = end
        state[PENDING_MASK] += 1
        state[WORK_LEFT] -= 16 * set_count
        if state[WORK_LEFT] <= 0:
            return SEARCH_PAUSED
    state[IS_PENDING] = 0
    return SEARCH_DONE


@part
def extend_row(rows, stride, row, length, code):
    """The next row: this one and one code more."""
    insert_code(rows, np.uint64(row * stride), np.uint64(length), code, rows, np.uint64((row + 1) * stride))


@part
def widen_row(rows, stride, row, length, code):
    """This row, with one code more."""
    _insert_in_place(rows, row * stride, length, code)


@compile_cached("int64(int64[::1], SetBuffer, SetPath)", allocates=False)
def give_everywhere(state, output, path):
    """Give every set of items that are in all baskets: each such item with every subset of those before it."""
    rows, perfect = path.rows, path.perfect
    while state[EVERYWHERE] < state[PERFECT]:
        if not state[IS_PENDING]:
            rows[state[STRIDE]] = perfect[state[EVERYWHERE]]
            state[IS_PENDING], state[PENDING_ROW], state[PENDING_LENGTH], state[PENDING_MASK] = 1, 1, 1, 0
        status = give_subsets(state, output, path, state[EVERYWHERE])
        if status != SEARCH_DONE:
            return status
        state[EVERYWHERE] += 1
    return SEARCH_DONE
