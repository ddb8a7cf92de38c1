# SPDX-License-Identifier: MIT
"""MDAV: groups of k rows around the rows that lie farthest out, two at a time (Domingo-Ferrer and Torra 2005).

Rows lie in a space of standardized numbers and of categories; two different categories are 1 apart, which is a
corner of a simplex each, so that a mean of categories has distances too. Rows that have a group are moved behind
those that have none, so that every pass runs over neighbouring memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import CodeGrid, FloatGrid, Ints
from sfumato.kernels.compilation import compile_cached, record


@record
class MixedSpace(NamedTuple):
    """Rows as points: columns by rows."""

    numbers: FloatGrid
    codes: CodeGrid
    """Categories."""
    start: Ints
    """Where each column's categories start."""
    rows: Ints
    """Row numbers."""


ROWS_LEFT, GROUPS = range(2)


@compile_cached("void(MixedSpace, int64, float64[::1], float64[::1], float64[::1])")
def _measure_squared_distances(space, remaining_count, centre, shares, distance):
    """The squared distance of every row left from a centre; `shares` says how far each category is from it."""
    numbers, codes, start = space.numbers, space.codes, space.start
    for row in range(remaining_count):
        distance[row] = 0.0
    for column in range(numbers.shape[0]):
        coordinate = centre[column]
        for row in range(remaining_count):
            gap = numbers[column, row] - coordinate
            distance[row] += gap * gap
    for column in range(codes.shape[0]):
        begin = start[column]
        for row in range(remaining_count):
            distance[row] += shares[begin + codes[column, row]]


@compile_cached("void(MixedSpace, int64, float64[::1], float64[::1])")
def _set_centroid(space, remaining_count, centre, shares):
    """The mean of the rows left, and how far each category is from the mean of categories."""
    numbers, codes, start = space.numbers, space.codes, space.start
    for column in range(numbers.shape[0]):
        total = 0.0
        for row in range(remaining_count):
            total += numbers[column, row]
        centre[column] = total / remaining_count
    for value in range(shares.shape[0]):
        shares[value] = 0.0
    for column in range(codes.shape[0]):
        begin, end = start[column], start[column + 1]
        for row in range(remaining_count):
            shares[begin + codes[column, row]] += 1.0
        squares = 0.0
        for value in range(begin, end):
            squares += (shares[value] / remaining_count) ** 2
        for value in range(begin, end):
            shares[value] = (1.0 - 2.0 * shares[value] / remaining_count + squares) / 2.0


@compile_cached("void(MixedSpace, int64, float64[::1], float64[::1])")
def _set_row_centre(space, row_place, centre, shares):
    """The same for a single row."""
    numbers, codes, start = space.numbers, space.codes, space.start
    for column in range(numbers.shape[0]):
        centre[column] = numbers[column, row_place]
    for value in range(shares.shape[0]):
        shares[value] = 1.0
    for column in range(codes.shape[0]):
        shares[start[column] + codes[column, row_place]] = 0.0


@compile_cached("int64(float64[::1], int64[::1], int64)")
def _find_farthest_row(distance, rows, remaining_count):
    """The row farthest away; of several, the one with the lowest number."""
    farthest_row = np.int64(0)
    for position in range(1, remaining_count):
        if distance[position] >= distance[farthest_row] and (
            distance[position] > distance[farthest_row] or rows[position] < rows[farthest_row]
        ):
            farthest_row = np.int64(position)
    return farthest_row


@compile_cached("void(float64[::1], int64[::1], int64, int64[::1])")
def _set_nearest_rows(distance, rows, remaining_count, nearest):
    """The nearest rows, as many as there is room for; of equally near ones those with the lowest numbers."""
    room, count = nearest.shape[0], np.int64(0)
    for position in range(remaining_count):
        far = distance[position]
        if count == room:
            last = nearest[room - 1]
            if far > distance[last] or (far == distance[last] and rows[position] > rows[last]):
                continue
        offset = count if count < room else room - 1
        while offset > 0:
            nearer_row = nearest[offset - 1]
            if distance[nearer_row] < far or (distance[nearer_row] == far and rows[nearer_row] < rows[position]):
                break
            nearest[offset] = nearer_row
            offset -= 1
        nearest[offset] = position
        count = min(count + 1, room)


@compile_cached("void(MixedSpace, float64[::1], int64[::1], int32[::1], int64[::1])")
def _assign_group(space, distance, nearest, group, state):
    """Give some rows a group of their own and fill their places with the last rows left."""
    numbers, codes, rows = space.numbers, space.codes, space.rows
    nearest.sort()
    for number in range(nearest.shape[0] - 1, -1, -1):
        row_place = nearest[number]
        group[rows[row_place]] = state[GROUPS]
        state[ROWS_LEFT] -= 1
        last = state[ROWS_LEFT]
        for column in range(numbers.shape[0]):
            numbers[column, row_place] = numbers[column, last]
        for column in range(codes.shape[0]):
            codes[column, row_place] = codes[column, last]
        rows[row_place] = rows[last]
        distance[row_place] = distance[last]
    state[GROUPS] += 1


@compile_cached("boolean(MixedSpace, int64, int32[::1], int64[::1], int64)")
def group_by_mdav(space, k, group, state, budget):
    """Group the remaining rows, for at most `budget` row visits; true when all have a group. The space is used up."""
    rows = space.rows
    distance = np.empty(state[ROWS_LEFT], dtype=np.float64)
    centre, shares = np.empty(space.numbers.shape[0]), np.empty(space.start[-1])
    nearest = np.empty(k, dtype=np.int64)
    while state[ROWS_LEFT] >= 2 * k:
        if budget <= 0:
            return False
        budget -= 4 * state[ROWS_LEFT]
        pair = state[ROWS_LEFT] >= 3 * k
        _set_centroid(space, state[ROWS_LEFT], centre, shares)
        _measure_squared_distances(space, state[ROWS_LEFT], centre, shares, distance)
        _set_row_centre(space, _find_farthest_row(distance, rows, state[ROWS_LEFT]), centre, shares)
        _measure_squared_distances(space, state[ROWS_LEFT], centre, shares, distance)
        _set_nearest_rows(distance, rows, state[ROWS_LEFT], nearest)
        _assign_group(space, distance, nearest, group, state)
        if pair:  # the row farthest from the first one gets the second group
            _set_row_centre(space, _find_farthest_row(distance, rows, state[ROWS_LEFT]), centre, shares)
            _measure_squared_distances(space, state[ROWS_LEFT], centre, shares, distance)
            _set_nearest_rows(distance, rows, state[ROWS_LEFT], nearest)
            _assign_group(space, distance, nearest, group, state)
    for position in range(state[ROWS_LEFT]):
        group[rows[position]] = state[GROUPS]
    state[GROUPS] += np.int64(state[ROWS_LEFT] > 0)
    state[ROWS_LEFT] = 0
    return True
