# SPDX-License-Identifier: MIT
"""Note where rows are: every combination of columns has a place for each row that it could have."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import compile_cached

_BLOCK = 1 << 12
"""So many rows at a time, so that their codes and the places of one combination stay in the cache."""


@compile_cached("void(uint16[:,::1], int64[:,::1], int32[:,::1], int32[::1], uint8[::1])")
def note_seen_places(codes, columns, steps, begins, seen_counts):
    """Count rows at their places, up to two: from there on, nobody is alone.

    `codes` has a line for each column. Combination `c` has three `columns[c]`, whose codes count `steps[c]` places each
    from `begins[c]` on; one of fewer columns names any of them, and steps of 0.
    """
    rows = codes.shape[1]
    places = np.empty(_BLOCK, dtype=np.int32)
    for block in range(0, rows, _BLOCK):
        count = min(_BLOCK, rows - block)
        for number in range(columns.shape[0]):
            first, second, third = codes[columns[number, 0]], codes[columns[number, 1]], codes[columns[number, 2]]
            by_first, by_second, by_third = steps[number, 0], steps[number, 1], steps[number, 2]
            # A loop without branches, which the compiler does for eight rows at once.
            for row in range(count):
                places[row] = (
                    begins[number]
                    + np.int32(first[block + row]) * by_first
                    + np.int32(second[block + row]) * by_second
                    + np.int32(third[block + row]) * by_third
                )
            for row in range(count):
                if seen_counts[places[row]] < 2:
                    seen_counts[places[row]] += 1
