# SPDX-License-Identifier: MIT
"""Local recoding: walk nodes from cheap to dear; rows that find enough company at a node stay there."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import compile_cached


@compile_cached(
    "int64(int32[:,::1], int64[::1], int32[:,::1], int64[:,::1], int64[:,::1], int32[::1], int64, int32[::1])"
)
def peel_rows(codes, weights, nodes, starts, counts, groups, k, node_of_row):
    """Number the node at which each row became final, −1 for rows that never did; returns the weight of those.

    `starts[column, level]` is where the groups of a column's leaves at a level begin in `groups`, and `counts`
    how many groups there are. A key of all columns fits 62 bits.
    """
    columns, rows = codes.shape
    remaining_rows = np.arange(rows)
    row_count = np.int64(rows)
    slots = np.int64(16)
    while slots < 2 * rows:
        slots *= 2
    mask = slots - 1
    slot_key = np.full(slots, np.int64(-1))
    slot_weight = np.zeros(slots, dtype=np.int64)
    slot_of_row = np.zeros(rows, dtype=np.int64)
    keys = np.zeros(rows, dtype=np.int64)
    node_of_row[:] = -1
    for node in range(nodes.shape[0]):
        if row_count == 0:
            break
        keys[:row_count] = 0
        for column in range(columns):
            level = nodes[node, column]
            width = counts[column, level]
            if width > 1:
                start = starts[column, level]
                for position in range(row_count):
                    keys[position] = keys[position] * width + groups[start + codes[column, remaining_rows[position]]]
        for position in range(row_count):
            key = keys[position]
            mixed_key = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
            slot = np.int64(mixed_key >> np.uint64(20)) & mask
            while slot_key[slot] >= 0 and slot_key[slot] != key:
                slot = (slot + 1) & mask
            slot_key[slot] = key
            slot_weight[slot] += weights[remaining_rows[position]]
            slot_of_row[position] = slot
        kept_count = np.int64(0)
        for position in range(row_count):
            row = remaining_rows[position]
            if slot_weight[slot_of_row[position]] >= k:
                node_of_row[row] = np.int32(node)
        for position in range(row_count):
            slot = slot_of_row[position]
            slot_key[slot] = -1
            slot_weight[slot] = 0
        for position in range(row_count):
            row = remaining_rows[position]
            if node_of_row[row] < 0:
                remaining_rows[kept_count] = row
                kept_count += 1
        row_count = kept_count
    weight = np.int64(0)
    for position in range(row_count):
        weight += weights[remaining_rows[position]]
    return weight
