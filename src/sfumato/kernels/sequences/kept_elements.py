# SPDX-License-Identifier: MIT
"""How much published sequences keep of their originals, for measures: methods use another formula (`common_lengths`).

The longest common subsequence, 64 positions at a time, by the formula of Allison and Dix (1986): the bits that are set
say after which positions one more element is common.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached, record


@record
class ComparedRows(NamedTuple):
    """Published sequences of numbered elements, and their originals among others."""

    elements: Codes
    offsets: Ints
    originals: Codes
    original_offsets: Ints
    owners: Ints
    """The original of each published sequence."""


@compile_cached("int64(ComparedRows, int64, uint64[:,::1], uint64[::1])")
def _measure_row(rows, row, masks, steps):
    """The length for one sequence; `masks` has a row of zeros for each number, and gets them back."""
    unit = np.uint64(1)
    begin, end = rows.original_offsets[rows.owners[row]], rows.original_offsets[rows.owners[row] + 1]
    first, last = rows.offsets[row], rows.offsets[row + 1]
    common_count = np.int64(0)  # what both begin or end with is common
    while begin < end and first < last and rows.originals[begin] == rows.elements[first]:
        begin, first, common_count = begin + 1, first + 1, common_count + 1
    while begin < end and first < last and rows.originals[end - 1] == rows.elements[last - 1]:
        end, last, common_count = end - 1, last - 1, common_count + 1
    if begin == end or first == last:
        return common_count
    words = (end - begin + 63) // 64
    for position in range(begin, end):
        masks[rows.originals[position], (position - begin) // 64] |= unit << np.uint64((position - begin) % 64)
    steps[:words] = np.uint64(0)
    for position in range(first, last):
        mask = masks[rows.elements[position]]
        shifted_in, borrow = unit, np.uint64(0)
        for word in range(words):
            step_bits = steps[word] | mask[word]
            shifted_bits = (steps[word] << unit) | shifted_in
            shifted_in = steps[word] >> np.uint64(63)
            rest = step_bits - shifted_bits
            difference = rest - borrow
            borrow = np.uint64(step_bits < shifted_bits or rest < borrow)
            steps[word] = step_bits & (difference ^ step_bits)
    for position in range(begin, end):
        masks[rows.originals[position], (position - begin) // 64] = np.uint64(0)
    length = np.uint64(0)
    for word in range(words):
        length += popcount(steps[word])
    return common_count + np.int64(length)


@compile_cached("int64(ComparedRows, uint64[:,::1], int64, int64)")
def count_kept_elements(rows, masks, first, last):
    """How many elements some published sequences have in common with their originals, in order."""
    steps = np.zeros(masks.shape[1], dtype=np.uint64)
    kept_count = np.int64(0)
    for row in range(first, last):
        kept_count += _measure_row(rows, row, masks, steps)
    return kept_count
