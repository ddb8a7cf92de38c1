# SPDX-License-Identifier: MIT
"""The hot loops of k-member clustering: grow clusters of k people, each time by the row that loses least.

Columns, cells and weights are described as in `partition.py`. A line of k people or more is a cluster by itself. A cost
is the sum over columns of the width, each as a share of `WHOLE`, in whole numbers: they neither drift nor tie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.kernels.anonymity.partition import BY_RANGE, BY_SET, BY_TREE, COLUMN_KIND, LEAVES, measure_width
from sfumato.kernels.compilation import compile_cached, record

WHOLE = 1 << 40
LOW, HIGH, DISTINCT = range(3)
"""What is known of a cluster in a column: its lowest and highest place, and how many there are."""


@compile_cached("void(int32[::1], int64[::1], int64, boolean, int64, boolean, int64, int64, int64)")
def _widen_plain(values, costs, rows, is_range, unit, first, low, high, value):
    """Add to each row's cost what `value` changes for it, in a range from `low` to `high` or in a set."""
    if not is_range:
        for row in range(rows):
            is_equal = np.int64(values[row] == value)
            costs[row] += unit * (1 - is_equal if first else -is_equal)
    elif first:
        for row in range(rows):
            costs[row] += unit * abs(np.int64(values[row]) - value)
    elif value < low:
        for row in range(rows):
            row_value = np.int64(values[row])
            costs[row] -= unit * (max(low - row_value, 0) - max(value - row_value, 0))
    else:
        for row in range(rows):
            row_value = np.int64(values[row])
            costs[row] -= unit * (max(row_value - high, 0) - max(row_value - value, 0))


@record
class KnownPlaces(NamedTuple):
    """The distinct places of a column in a block, and what each would add to a cluster."""

    places: Codes
    added_costs: Ints
    change: Ints


@compile_cached(
    "void(int32[::1], int64[::1], int64, int64[::1], KnownPlaces, int64[::1], int64, int64, PartColumns)",
    allocates=False,
)
def _widen_column(numbers, costs, column, state, known_places, stamps, cluster, count, columns):
    """The same for any column: what each of its places would add to a cluster of that state, then each row."""
    unit = WHOLE // max(columns.traits[column, LEAVES] - 1, np.int64(1))
    low, high, distinct = state[LOW], state[HIGH], state[DISTINCT]
    current_width = measure_width(low, high, distinct, column, columns)
    for number in range(count):
        known_place = np.int64(known_places.places[number])
        more = distinct + (stamps[known_place] != cluster)
        added_cost = unit * (
            measure_width(min(low, known_place), max(high, known_place), more, column, columns) - current_width
        )
        known_places.change[number] = added_cost - known_places.added_costs[number]
        known_places.added_costs[number] = added_cost
    for row in range(costs.shape[0]):
        costs[row] += known_places.change[numbers[row]]


@compile_cached("int64[::1](int64[::1], int64, int64, int64, int64, int64[::1])")
def _set_crowds_apart(weights, begin, end, size, first, cluster_of_row):
    """Number the lines of `size` people or more as clusters, and return the others."""
    other_rows, rows, cluster = np.empty(end - begin, dtype=np.int64), np.int64(0), np.int64(first)
    for row in range(begin, end):
        if weights[row] >= size:
            cluster_of_row[row] = cluster
            cluster += 1
        else:
            other_rows[rows] = row
            rows += 1
    return other_rows[:rows].copy()


@compile_cached("void(int32[:,::1], int64[::1], int64[:,::1], int32[:,::1], int32[:,::1], int64[::1])")
def _number_values(cells, places, traits, values, known_values, distinct):
    """Copy the cells of a block by columns, and number those of columns that are not plain within the block."""
    for column in range(values.shape[0]):
        for row in range(values.shape[1]):
            values[column, row] = cells[places[row], column]
        if traits[column, COLUMN_KIND] == BY_TREE or values[column].max() == traits[column, LEAVES]:
            distinct_values = np.unique(values[column])
            distinct[column] = distinct_values.shape[0]
            known_values[column, : distinct_values.shape[0]] = distinct_values
            values[column] = np.searchsorted(distinct_values, values[column])


@compile_cached("int64(int32[:,::1], int64[::1], int64, int64, int64, int64, int64[::1], int64[::1], PartColumns)")
def _cluster_block(cells, weights, begin, end, size, first, cluster_of_row, stamps, columns):
    """Cluster the rows of one block, and return the next number; each row that is left over is a cluster of its own.

    A cluster starts at the row furthest from the one before. Columns of ranges and sets without missing cells
    are plain: their loops have no branches. Cells of others are numbered within the block.
    """
    places = _set_crowds_apart(weights, begin, end, size, first, cluster_of_row)
    count, rows = columns.traits.shape[0], np.int64(places.shape[0])
    cluster, people = first + (end - begin) - rows, weights[places].sum()
    if rows == 0:
        return cluster
    values, known_values = np.empty((count, rows), dtype=np.int32), np.empty((count, rows), dtype=np.int32)
    tables, change = np.zeros((count, rows), dtype=np.int64), np.zeros(rows, dtype=np.int64)
    costs, state = np.zeros(rows, dtype=np.int64), np.zeros((count, 3), dtype=np.int64)
    distinct = np.zeros(count, dtype=np.int64)
    _number_values(cells, places, columns.traits, values, known_values, distinct)
    while people >= size:
        chosen_row = np.int64(np.argmax(costs[:rows]))
        costs[:rows] = 0
        member, have = np.int64(0), np.int64(0)
        while have < size:
            offset = np.int64(0)
            for column in range(count):
                plain = distinct[column] == 0
                value = np.int64(
                    values[column, chosen_row] if plain else known_values[column, values[column, chosen_row]]
                )
                if member == 0:
                    state[column, LOW], state[column, HIGH], state[column, DISTINCT] = value, value, 0
                    tables[column, : distinct[column]] = 0
                low, high, is_range = (
                    state[column, LOW],
                    state[column, HIGH],
                    columns.traits[column, COLUMN_KIND] == BY_RANGE,
                )
                unit = WHOLE // max(columns.traits[column, LEAVES] - 1, np.int64(1))
                if stamps[offset + value] != cluster:
                    stamps[offset + value] = cluster
                    state[column, LOW], state[column, HIGH] = min(low, value), max(high, value)
                    state[column, DISTINCT] += 1
                    if not plain:
                        known_places = KnownPlaces(known_values[column], tables[column], change)
                        _widen_column(
                            values[column], costs[:rows], column, state[column], known_places, stamps[offset:], cluster,
                            distinct[column], columns,
                        )  # fmt: skip
                    elif member == 0 or not is_range or value < low or value > high:
                        _widen_plain(values[column], costs, rows, is_range, unit, member == 0, low, high, value)
                offset += columns.traits[column, LEAVES] + 1
            cluster_of_row[places[chosen_row]] = cluster
            have += weights[places[chosen_row]]
            member += 1
            rows -= 1
            places[chosen_row], costs[chosen_row] = places[rows], costs[rows]
            for column in range(count):
                values[column, chosen_row] = values[column, rows]
            if rows:
                chosen_row = np.int64(np.argmin(costs[:rows]))
        people -= have
        cluster += 1
    for row in range(rows):
        cluster_of_row[places[row]] = cluster + row
    return cluster + rows


@compile_cached("int64(int32[::1], int64, int64, int64, int64)")
def _count_union(flat, begin, end, other_begin, other_end):
    """How many places two ordered runs of distinct places have together."""
    union_size = np.int64(0)
    while begin < end and other_begin < other_end:
        first_place, second_place = flat[begin], flat[other_begin]
        begin += first_place <= second_place
        other_begin += second_place <= first_place
        union_size += 1
    return union_size + (end - begin) + (other_end - other_begin)


@compile_cached("int64(int32[::1], int64[:,::1], int64, int64, PartColumns, float64)", allocates=False)
def _compute_joint_cost(flat, begins, part, other, columns, most):
    """What a row loses in two parts taken together; some number above `most` if it is more than that."""
    total = np.int64(0)
    for column in range(columns.traits.shape[0]):
        begin, end = begins[column, part], begins[column, part + 1]
        other_begin, other_end = begins[column, other], begins[column, other + 1]
        low, high = min(flat[begin], flat[other_begin]), max(flat[end - 1], flat[other_end - 1])
        distinct = np.int64(1 if low == high else 2)
        if columns.traits[column, COLUMN_KIND] == BY_SET and low != high:
            distinct = _count_union(flat, begin, end, other_begin, other_end)
        unit = WHOLE // max(columns.traits[column, LEAVES] - 1, np.int64(1))
        total += unit * measure_width(low, high, distinct, column, columns)
        if total > most:
            break
    return total


@compile_cached("int64[::1](int32[::1], int64[:,::1], PartColumns)")
def compute_part_costs(flat, begins, columns):
    """What a row of each part loses, given the distinct places of each column and part, and where these begin."""
    costs = np.empty(begins.shape[1] - 1, dtype=np.int64)
    for part in range(costs.shape[0]):
        costs[part] = _compute_joint_cost(flat, begins, part, part, columns, np.inf)
    return costs


@compile_cached(
    "int64[::1](int32[::1], int64[:,::1], int64[::1], int64[::1], boolean[::1], int64, boolean[::1], PartColumns)"
)
def find_nearest_parts(flat, begins, sizes, block_of_part, refused_mask, least, free, columns):
    """For each wanting part the other part of its block with which it has `least` people and loses least; else −1.

    Parts are in the order of their blocks. `free` says of each whether nothing at all is lost by it.
    """
    parts = sizes.shape[0]
    costs = compute_part_costs(flat, begins, columns)
    nearest, block_begin = np.full(parts, -1, dtype=np.int64), np.int64(0)
    for part in range(parts):
        if block_of_part[part] != block_of_part[block_begin]:
            block_begin = np.int64(part)
        if not refused_mask[part]:
            continue
        smallest, other = np.inf, block_begin
        while other < parts and block_of_part[other] == block_of_part[part]:
            joint_size = sizes[part] + sizes[other]
            if other != part and joint_size >= least:
                other_cost = np.float64(costs[other]) * sizes[other]
                most = (smallest + other_cost) / joint_size
                joint = _compute_joint_cost(flat, begins, part, other, columns, most)
                loses = np.float64(joint) * joint_size - other_cost
                if loses < smallest:
                    nearest[part], smallest = other, loses
                    if smallest == 0.0:
                        break  # none is nearer
            other += 1
        free[part] = smallest == 0.0
    return nearest


@compile_cached("int64(int32[:,::1], int64[::1], int64[::1], int64, int64, int64[::1], PartColumns)")
def cluster_blocks(cells, weights, starts, size, first, cluster_of_row, columns):
    """Cluster the rows of every block, and number the clusters from `first` on; returns the next number."""
    stamps = np.full((columns.traits[:, LEAVES] + 1).sum(), -1, dtype=np.int64)
    for block in range(starts.shape[0] - 1):
        first = _cluster_block(
            cells, weights, starts[block], starts[block + 1], size, first, cluster_of_row, stamps, columns
        )
    return first
