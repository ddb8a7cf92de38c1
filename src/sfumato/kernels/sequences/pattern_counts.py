# SPDX-License-Identifier: MIT
"""In how many sequences of single items each of many patterns is contained.

Patterns come sorted, so that those which begin alike are neighbours and are matched together as far as they agree. A
match takes the first occurrence of each item after the one before.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import compile_cached

_CODES = "Array(int32, 1, 'C', readonly=True)"
_WEIGHTS = "Array(int64, 1, 'C', readonly=True)"


@compile_cached(f"void({_CODES}, int64[::1], int64[::1], {_WEIGHTS}, int32[::1], int64[::1], int64[::1])")
def count_sorted_patterns(codes, starts, ends, weights, patterns, offsets, counts):
    """Row i is ``codes[starts[i]:ends[i]]`` and occurs `weights[i]` times; patterns are cut by `offsets`."""
    count = starts.shape[0]
    rows, places = np.empty(2 * count + 1, dtype=np.int64), np.empty(2 * count + 1, dtype=np.int64)
    rows[:count], places[:count] = np.arange(count), starts
    longest = np.int64(0)
    for number in range(counts.shape[0]):
        longest = max(longest, offsets[number + 1] - offsets[number])
    begins = np.zeros(longest + 2, dtype=np.int64)  # where the matches of each prefix begin, by its length
    begins[1] = count
    depth = np.int64(0)
    for number in range(counts.shape[0]):
        first, length = offsets[number], offsets[number + 1] - offsets[number]
        shared_length, previous_start = np.int64(0), offsets[max(number - 1, 0)]
        while (
            shared_length < min(depth, length)
            and patterns[previous_start + shared_length] == patterns[first + shared_length]
        ):
            shared_length += 1
        for depth in range(shared_length, length):  # type: ignore[assignment]  # numba's numbers are Python's here
            begin, end = begins[depth], begins[depth + 1]
            if 2 * end - begin > rows.shape[0]:
                rows = np.concatenate((rows[:end], np.empty(2 * end, dtype=np.int64)))
                places = np.concatenate((places[:end], np.empty(2 * end, dtype=np.int64)))
            top, code = end, patterns[first + depth]
            for entry in range(begin, end):
                row, position = rows[entry], places[entry]
                stop = ends[row]
                while position < stop and codes[position] != code:
                    position += 1
                if position < stop:
                    rows[top], places[top] = row, position + 1
                    top += 1
            begins[depth + 2] = top
        depth = length
        total = np.int64(0)
        for entry in range(begins[depth], begins[depth + 1]):
            total += weights[rows[entry]]
        counts[number] = total
