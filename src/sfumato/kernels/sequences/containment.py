# SPDX-License-Identifier: MIT
"""Which sequences hold a pattern of itemsets, under limits on gaps and on the window."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.kernels.compilation import compile_cached, record


@record
class PatternCodes(NamedTuple):
    """A pattern as rising codes of each element, and the limits of its matches."""

    codes: Codes
    starts: Ints
    """Where the codes of each element begin, and the end."""
    max_gap: int
    window: int


@compile_cached("boolean(Array(int32, 1, 'C', readonly=True), int64, int64, int32[::1], int64, int64)")
def _holds_codes(codes, begin, end, wanted_codes, first, stop):
    """Whether rising codes hold some other rising codes."""
    for index in range(first, stop):
        while begin < end and codes[begin] < wanted_codes[index]:
            begin += 1
        if begin == end or codes[begin] != wanted_codes[index]:
            return False
        begin += 1
    return True


SEQUENCES = (
    "Array(int64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), Array(int32, 1, 'C', readonly=True)"
)


@compile_cached(f"void({SEQUENCES}, PatternCodes, uint8[::1])")
def match_free_rows(offsets, element_offsets, codes, pattern, flags):
    """Set the flag of each row that holds the pattern, whose limits are none: the leftmost match is enough."""
    count = pattern.starts.shape[0] - 1
    for row in range(offsets.shape[0] - 1):
        step = np.int64(0)
        for element in range(offsets[row], offsets[row + 1]):
            if _holds_codes(
                codes,
                element_offsets[element],
                element_offsets[element + 1],
                pattern.codes,
                pattern.starts[step],
                pattern.starts[step + 1],
            ):
                step += 1
                if step == count:
                    flags[row] = 1
                    break


@compile_cached(f"void({SEQUENCES}, PatternCodes, int32[::1], uint8[::1])")
def match_rows(offsets, element_offsets, codes, pattern, latest, flags):
    """Set the flag of each row that holds the pattern; `latest` has room for two rows.

    For each element of a row and each element of the pattern in turn, `latest` is the latest position at which a match
    of the pattern so far can begin that ends there, or -1.
    """
    half = latest.shape[0] // 2
    count = pattern.starts.shape[0] - 1
    for row in range(offsets.shape[0] - 1):
        first, size = offsets[row], offsets[row + 1] - offsets[row]
        previous_half, current_half = np.int64(0), half
        is_match = size >= count
        step = np.int64(0)
        while is_match and step < count:
            is_match = False
            latest_begin = np.int64(-1)
            for position in range(size):
                if step == 0:
                    begin = np.int64(position)
                else:
                    # The running maximum serves where gaps are free; else look back as far as a gap may reach.
                    if position:
                        latest_begin = max(latest_begin, np.int64(latest[previous_half + position - 1]))
                    begin = latest_begin
                    if pattern.max_gap < size:
                        begin = np.int64(-1)
                        for other in range(max(0, position - 1 - pattern.max_gap), position):
                            begin = max(begin, np.int64(latest[previous_half + other]))
                latest[current_half + position] = -1
                if begin >= 0 and position - begin < pattern.window:
                    element = first + position
                    if _holds_codes(
                        codes,
                        element_offsets[element],
                        element_offsets[element + 1],
                        pattern.codes,
                        pattern.starts[step],
                        pattern.starts[step + 1],
                    ):
                        latest[current_half + position] = np.int32(begin)
                        is_match = True
            previous_half, current_half = current_half, previous_half
            step += 1
        flags[row] = is_match
