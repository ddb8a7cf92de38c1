# SPDX-License-Identifier: MIT
"""Which sequences contain others, for checks; methods do not use it.

A sequence contains another if its elements, in order, include those of the other: taking the earliest element that fits
each time finds out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, Words
from sfumato.kernels.compilation import compile_cached, record


@record
class SpelledRows(NamedTuple):
    """Sequences of sets of items; the items of an element ascend."""

    offsets: Ints
    element_offsets: Ints
    codes: Codes
    marks: Words
    """A bit for the items of each sequence: what lacks a bit of another cannot contain it."""
    weights: Ints
    """How often each sequence occurs."""


@compile_cached("boolean(SpelledRows, int64, SpelledRows, int64)")
def is_element_inside(inner, element, outer, other):
    """Whether every item of an element is in another one."""
    position, end = outer.element_offsets[other], outer.element_offsets[other + 1]
    for index in range(inner.element_offsets[element], inner.element_offsets[element + 1]):
        while position < end and outer.codes[position] < inner.codes[index]:
            position += 1
        if position == end or outer.codes[position] != inner.codes[index]:
            return False
        position += 1
    return True


@compile_cached("boolean(SpelledRows, int64, SpelledRows, int64)")
def is_contained(inner, row, outer, other):
    """Whether a sequence of `inner` is a subsequence of one of `outer`."""
    if inner.marks[row] & ~outer.marks[other]:
        return False
    position, end = outer.offsets[other], outer.offsets[other + 1]
    for element in range(inner.offsets[row], inner.offsets[row + 1]):
        remaining_count = inner.offsets[row + 1] - element
        while end - position >= remaining_count and not is_element_inside(inner, element, outer, position):
            position += 1
        if end - position < remaining_count:
            return False
        position += 1
    return True


@compile_cached("boolean(SpelledRows, int64, SpelledRows, int64)")
def is_list_contained(inner, row, outer, other):
    """The same where all elements are single items."""
    if inner.marks[row] & ~outer.marks[other]:
        return False
    position, end = outer.offsets[other], outer.offsets[other + 1]
    for element in range(inner.offsets[row], inner.offsets[row + 1]):
        stop, code = end - (inner.offsets[row + 1] - element), inner.codes[element]
        while position <= stop and outer.codes[position] != code:
            position += 1
        if position > stop:
            return False
        position += 1
    return True


@compile_cached("boolean(int32[::1], int64, int64, int64)")
def is_repeated(numbers, begin, other, length):
    """Whether some numbers stand in another place, too."""
    for step in range(length):  # noqa: SIM110  (a generator does not compile)
        if numbers[begin + step] != numbers[other + step]:
            return False
    return True


@compile_cached("void(int32[::1], Array(int64, 1, 'C', readonly=True), int64[::1], int64[::1])")
def find_first_equals(numbers, bounds, slots, firsts):
    """For each row the first that is equal to it; `slots` are -1, a power of two of them, more than there are rows."""
    for row in range(firsts.shape[0]):
        begin, length = bounds[row], bounds[row + 1] - bounds[row]
        spread = np.uint64(length)
        for position in range(begin, begin + length):
            spread = (spread + np.uint64(numbers[position] + 2)) * np.uint64(0xD6E8FEB86659FD93)
            spread ^= spread >> np.uint64(32)
        slot = np.int64(spread & np.uint64(slots.shape[0] - 1))
        while slots[slot] >= 0:
            other = slots[slot]
            if bounds[other + 1] - bounds[other] == length and is_repeated(numbers, begin, bounds[other], length):
                break
            slot = (slot + 1) & (slots.shape[0] - 1)
        if slots[slot] < 0:
            slots[slot] = row
        firsts[row] = slots[slot]


@compile_cached("void(int32[::1], int64[::1], int64[::1], int64, uint64[::1])")
def pack_beginnings(numbers, begins, ends, width, keys):
    """The first numbers of each row as one word that is ordered like them."""
    for row in range(begins.shape[0]):
        key = np.uint64(0)
        for step in range(64 // width):
            index = begins[row] + step
            key = (key << np.uint64(width)) | np.uint64(numbers[index] + 2 if index < ends[row] else 0)
        keys[row] = key


@compile_cached("int64(SpelledRows, int64[::1], SpelledRows, int64[::1], int64, int64, int64)")
def count_least_containing(inner, candidates, outer, starts, first, last, least):
    """The smallest number of `outer` sequences that contain a candidate, or `least` if none has fewer.

    A candidate is done as soon as it is contained in as many as the smallest so far; `starts` says where in `outer`
    sequences that contain it are likely, so that this is soon.
    """
    count = len(outer.weights)
    is_list = len(inner.codes) == len(inner.element_offsets) - 1 and len(outer.codes) == len(outer.element_offsets) - 1
    for index in range(first, last):
        total, row = 0, candidates[index]
        for step in range(count):
            other = starts[index] + step
            other -= count if other >= count else 0
            if is_list_contained(inner, row, outer, other) if is_list else is_contained(inner, row, outer, other):
                total += outer.weights[other]
                if total >= least:
                    break
        least = min(least, total)
    return least


@compile_cached("void(SpelledRows, SpelledRows, int64[::1], boolean[::1])")
def compare_rows(inner, outer, owners, contained_mask):
    """Whether each sequence is a subsequence of its owner among the others."""
    for row in range(len(contained_mask)):
        contained_mask[row] = is_contained(inner, row, outer, owners[row])
