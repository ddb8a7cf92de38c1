# SPDX-License-Identifier: MIT
"""Split and count groups of rows that agree, in one pass where numpy needs a dozen."""

from __future__ import annotations

from sfumato.kernels.compilation import compile_cached


@compile_cached("int64(int64[::1], int64[::1], int64[::1], int64, int64[::1], int64[::1], int64[::1])")
def keep_agreeing_rows(rows, groups, values, width, table, kept_rows, kept_groups):
    """Keep the rows whose group and value have a number in `table`, with that number; returns how many."""
    kept_count = 0
    for position in range(rows.size):
        row = rows[position]
        number = table[groups[position] * width + values[row]]
        if number >= 0:
            kept_rows[kept_count] = row
            kept_groups[kept_count] = number
            kept_count += 1
    return kept_count


@compile_cached("void(int64[::1], int64[::1], int64[::1], int64, int64[::1], int64[::1])")
def count_agreeing_pairs(rows, groups, values, width, table, counts):
    """Count the rows of every pair of group and value that has a number in `table`."""
    for position in range(rows.size):
        number = table[groups[position] * width + values[rows[position]]]
        if number >= 0:
            counts[number] += 1
