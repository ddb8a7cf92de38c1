# SPDX-License-Identifier: MIT
"""Where a search for subsequences stands, and how the patterns it finds get into a buffer.

The state is one row of numbers, named below, so that a search can be left when the buffer is full or someone waits,
and resumed. A pattern is a run of codes: a code that is not negative begins a new element, and the complement of a code
(a negative number) joins the element before it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.kernels.compilation import part, record
from sfumato.kernels.compiler import intrinsic, ir, types

ALL_PATTERNS, CLOSED_PATTERNS, MAXIMAL_PATTERNS = range(3)
SEARCH_DONE, FULL, SEARCH_PAUSED, GROW = range(4)
# What is asked; where the search is; what is in the buffer; what array is too short.
(
    PATTERN_LEAST, PATTERN_MAX_LENGTH, PATTERN_KIND, MAX_GAP, WINDOW, FIRST_ONLY, JOINS,
    FIRST_TASK, STOP_TASK, LEVEL, PATTERN_DEPTH, JOIN_DEPTH, PREFIX, MASK_ITEMS, PATTERN_LARGEST, PATTERN_WORK_LEFT,
    SERIAL,
    PATTERNS, PATTERN_CODES,
    PATTERN_SHORT_OF, PATTERN_SHORT_SIZE,
    PATTERN_FIELDS,
) = range(22)  # fmt: skip
# The arrays that can be too short.
(
    PATTERN_LEVEL_FRAMES, PATTERN_LEVEL_FLAT, PATTERN_LEVEL_ITEMS, LEVEL_PLACES, MASK_TOKENS, MASK_WORDS, MASK_FRAMES,
    MASK_ENTRIES,
    END_FRAMES, END_ENTRIES, END_CHILDREN, END_SLOTS, JOIN_TOKENS, JOIN_OCCURRENCES, JOIN_FRAMES, JOIN_ENTRIES,
) = range(16)  # fmt: skip
NO_LIMIT = 1 << 62


@record
class PatternBuffer(NamedTuple):
    """The patterns found: codes one after another, where each pattern ends, supports."""

    codes: Codes
    ends: Ints
    supports: Ints


def _count_trailing(typing_context: Any, word: Any) -> Any:
    """The number of the lowest bit that is set; the word must not be zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


find_lowest_bit: Any = intrinsic(_count_trailing)


@part
def give_pattern(state, output, path, length, support):
    """Put one pattern into the buffer, which has room for it."""
    offset = state[PATTERN_CODES]
    for index in range(length):
        output.codes[offset + index] = path[index]
    output.ends[state[PATTERNS]] = offset + length
    output.supports[state[PATTERNS]] = support
    state[PATTERN_CODES] = offset + length
    state[PATTERNS] += 1


@part
def fits_pattern(state, output, length):
    """Whether one more pattern of a length fits into the buffer."""
    return state[PATTERNS] < output.ends.shape[0] and state[PATTERN_CODES] + length <= output.codes.shape[0]


@part
def lacks_pattern_room(state, array_number, size, needed_size):
    """Whether an array is shorter than needed, and if so note which and by how much."""
    if size >= needed_size:
        return False
    state[PATTERN_SHORT_OF] = array_number
    state[PATTERN_SHORT_SIZE] = needed_size
    return True


@part
def take_serial(state):
    """A number that was not used before, to mark what was seen."""
    state[SERIAL] += 1
    return np.int64(state[SERIAL])
