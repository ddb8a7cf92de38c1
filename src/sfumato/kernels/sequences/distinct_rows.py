# SPDX-License-Identifier: MIT
"""Equal rows of numbers, found by hashing; rows that share a hash are compared."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Ints
from sfumato.kernels.compilation import compile_cached, part, record


@record
class DistinctRows(NamedTuple):
    """The distinct rows among some, in the order in which they first occur."""

    numbers: Ints
    """For each row, which of the distinct ones it is."""
    firsts: Ints
    """For each distinct one, the first row that is equal to it."""
    weights: Ints
    """And how many are."""


@part
def _hash_row(codes, begin, end):
    hash_value = np.uint64(end - begin)
    for position in range(begin, end):
        hash_value = (hash_value ^ np.uint64(np.uint32(codes[position]))) * np.uint64(0x9E3779B97F4A7C15)
        hash_value ^= hash_value >> np.uint64(29)
    return hash_value


@part
def _is_equal(codes, begin, end, other, other_end):
    if end - begin != other_end - other:
        return False
    for step in range(end - begin):  # noqa: SIM110  (a generator does not compile)
        if codes[begin + step] != codes[other + step]:
            return False
    return True


@compile_cached("DistinctRows(Array(int32, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True))")
def find_distinct_rows(codes, offsets):
    """Row i is ``codes[offsets[i]:offsets[i + 1]]``."""
    rows = offsets.shape[0] - 1
    slots = 2
    while slots < 2 * rows:
        slots *= 2
    table = np.full(slots, -1, dtype=np.int64)
    numbers, firsts, weights = np.empty(rows, np.int64), np.empty(rows, np.int64), np.zeros(rows, np.int64)
    count = 0
    for row in range(rows):
        begin, end = offsets[row], offsets[row + 1]
        slot = np.int64(_hash_row(codes, begin, end) & np.uint64(slots - 1))
        while table[slot] >= 0:
            first = firsts[table[slot]]
            if _is_equal(codes, begin, end, offsets[first], offsets[first + 1]):
                break
            slot = (slot + 1) & (slots - 1)
        if table[slot] < 0:
            table[slot], firsts[count] = count, row
            count += 1
        numbers[row] = table[slot]
        weights[table[slot]] += 1
    return DistinctRows(numbers, firsts[:count].copy(), weights[:count].copy())
