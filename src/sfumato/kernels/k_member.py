# SPDX-License-Identifier: MIT
"""The hot loops of k-member clustering: grow clusters of k rows, each time by the row that loses least.

Columns and cells are described as in `kernels/partition.py`. A cost is the sum over columns of the width, each
as a share of `ONE`, in whole numbers: they neither drift nor tie by rounding.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compiled import compiled
from sfumato.kernels.partition import COLUMNS, KIND, LEAVES, RANGE, SET, width

ONE = 1 << 40


@compiled(f"void(int32[::1], int64[::1], int64[::1], int64, int64, int64[::1], int64[::1], int64, {COLUMNS})")
def _distances(values, parts, costs, rows, column, state, stamps, cluster, columns, above, under):  # type: ignore[no-untyped-def]
    """What each row would add to a cluster's width in a column, whose state (low, high, distinct) has changed."""
    kind, leaves = columns[column, KIND], columns[column, LEAVES]
    one = ONE // max(leaves - 1, np.int64(1))
    low, high, distinct = state[0], state[1], state[2]
    now = width(low, high, distinct, column, columns, above, under)
    if high == leaves and low < leaves:  # already published as nothing: nothing more to lose
        for row in range(rows):
            costs[row] -= parts[row]
            parts[row] = 0
        return
    for row in range(rows):
        value = np.int64(values[row])
        if value == leaves or high == leaves:
            known = value != high
            added = width(min(low, value), max(high, value), distinct + known, column, columns, above, under) - now
        elif kind == RANGE:
            added = max(low - value, np.int64(0)) + max(value - high, np.int64(0))
        elif kind == SET:
            added = np.int64(stamps[value] != cluster)
        elif low <= value <= high:
            added = np.int64(0)
        else:
            added = width(min(low, value), max(high, value), np.int64(2), column, columns, above, under) - now
        costs[row] += added * one - parts[row]
        parts[row] = added * one


@compiled(f"void(int32[:,::1], int64, int64, int64, int64, int32[::1], int64[::1], {COLUMNS})")
def _cluster_block(cells, begin, end, size, first, cluster_of_row, stamps, columns, above, under):  # type: ignore[no-untyped-def]
    """Cluster the rows of one block; up to `size` − 1 rows are left over and stay −1.

    A cluster starts at the row furthest from the one before.
    """
    count, rows = columns.shape[0], end - begin
    values, parts = np.empty((count, rows), dtype=np.int32), np.zeros((count, rows), dtype=np.int64)
    costs, places, state = np.zeros(rows, dtype=np.int64), np.arange(begin, end), np.zeros((count, 3), dtype=np.int64)
    for row in range(rows):
        for column in range(count):
            values[column, row] = cells[begin + row, column]
    cluster = first
    while rows >= size:
        chosen = np.int64(np.argmax(costs[:rows]))
        for member in range(size):
            offset = np.int64(0)
            for column in range(count):
                value = np.int64(values[column, chosen])
                if member == 0:
                    state[column, 0], state[column, 1], state[column, 2] = value, value, 0
                if stamps[offset + value] != cluster:
                    stamps[offset + value] = cluster
                    state[column, 0] = min(state[column, 0], value)
                    state[column, 1] = max(state[column, 1], value)
                    state[column, 2] += 1
                    _distances(
                        values[column], parts[column], costs, rows, column, state[column], stamps[offset:], cluster,
                        columns, above, under,
                    )  # fmt: skip
                offset += columns[column, LEAVES] + 1
            cluster_of_row[places[chosen]] = cluster
            rows -= 1
            places[chosen], costs[chosen] = places[rows], costs[rows]
            for column in range(count):
                values[column, chosen], parts[column, chosen] = values[column, rows], parts[column, rows]
            if rows:
                chosen = np.int64(np.argmin(costs[:rows]))
        cluster += 1


@compiled(f"int64(int32[:,::1], int64, int64, int64, int64, {COLUMNS}, int64[::1], int64)")
def _joint_width(cells, begin, end, other_begin, other_end, columns, above, under, stamps, first_stamp):  # type: ignore[no-untyped-def]
    """The summed widths, each as a share of `ONE`, of two runs of rows taken together."""
    total, offset = np.int64(0), np.int64(0)
    for column in range(columns.shape[0]):
        leaves = columns[column, LEAVES]
        low, high, distinct = leaves, np.int64(-1), np.int64(0)
        for number in range(end - begin + other_end - other_begin):
            row = begin + number if number < end - begin else other_begin + number - (end - begin)
            value = np.int64(cells[row, column])
            low, high = min(low, value), max(high, value)
            if stamps[offset + value] != first_stamp:
                stamps[offset + value] = first_stamp
                distinct += 1
        total += width(low, high, distinct, column, columns, above, under) * (ONE // max(leaves - 1, np.int64(1)))
        offset += leaves + 1
    return total


@compiled(f"int64[::1](int32[:,::1], int64[::1], {COLUMNS})")
def part_costs(cells, starts, columns, above, under):  # type: ignore[no-untyped-def]
    """Per part, what one of its rows loses, as a share of `ONE` a column."""
    stamps = np.full((columns[:, LEAVES] + 1).sum(), -1, dtype=np.int64)
    costs = np.empty(starts.shape[0] - 1, dtype=np.int64)
    for part in range(costs.shape[0]):
        begin, end = starts[part], starts[part + 1]
        costs[part] = _joint_width(cells, begin, end, end, end, columns, above, under, stamps, np.int64(part))
    return costs


@compiled(f"int64[::1](int32[:,::1], int64[::1], int64[::1], boolean[::1], int64, {COLUMNS})")
def nearest_parts(cells, starts, block_of_part, wanting, least, columns, above, under):  # type: ignore[no-untyped-def]
    """For each wanting part the other part of its block with which it has `least` rows and loses least; else −1.

    Parts are in the order of their blocks.
    """
    parts = starts.shape[0] - 1
    costs = part_costs(cells, starts, columns, above, under)
    stamps = np.full((columns[:, LEAVES] + 1).sum(), -1, dtype=np.int64)
    nearest, stamp, block_begin = np.full(parts, -1, dtype=np.int64), np.int64(0), np.int64(0)
    for part in range(parts):
        if block_of_part[part] != block_of_part[block_begin]:
            block_begin = np.int64(part)
        if not wanting[part]:
            continue
        rows, smallest = starts[part + 1] - starts[part], np.inf
        other = block_begin
        while other < parts and block_of_part[other] == block_of_part[part]:
            theirs = starts[other + 1] - starts[other]
            if other != part and rows + theirs >= least:
                joint = _joint_width(
                    cells, starts[part], starts[part + 1], starts[other], starts[other + 1], columns, above, under,
                    stamps, stamp,
                )  # fmt: skip
                stamp += 1
                loses = np.float64(joint) * (rows + theirs) - np.float64(costs[other]) * theirs
                if loses < smallest:
                    nearest[part], smallest = other, loses
            other += 1
    return nearest


@compiled(f"int32[::1](int32[:,::1], int64[::1], int64, {COLUMNS})")
def cluster_blocks(cells, starts, size, columns, above, under):  # type: ignore[no-untyped-def]
    """The cluster of every row, numbered block by block; rows that are left over are −1."""
    cluster_of_row = np.full(cells.shape[0], -1, dtype=np.int32)
    stamps = np.full((columns[:, LEAVES] + 1).sum(), -1, dtype=np.int64)
    first = np.int64(0)
    for block in range(starts.shape[0] - 1):
        begin, end = starts[block], starts[block + 1]
        _cluster_block(cells, begin, end, size, first, cluster_of_row, stamps, columns, above, under)
        first += (end - begin) // size
    return cluster_of_row
