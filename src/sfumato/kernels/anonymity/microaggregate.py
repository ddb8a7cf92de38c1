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
from sfumato.kernels.compiled import compiled, record


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


LEFT, GROUPS = range(2)


@compiled("void(MixedSpace, int64, float64[::1], float64[::1], float64[::1])")
def _measure(space, left, centre, shares, distance):  # type: ignore[no-untyped-def]
    """The squared distance of every row left from a centre; `shares` says how far each category is from it."""
    numbers, codes, start = space.numbers, space.codes, space.start
    for row in range(left):
        distance[row] = 0.0
    for column in range(numbers.shape[0]):
        here = centre[column]
        for row in range(left):
            gap = numbers[column, row] - here
            distance[row] += gap * gap
    for column in range(codes.shape[0]):
        begin = start[column]
        for row in range(left):
            distance[row] += shares[begin + codes[column, row]]


@compiled("void(MixedSpace, int64, float64[::1], float64[::1])")
def _set_centre(space, left, centre, shares):  # type: ignore[no-untyped-def]
    """The mean of the rows left, and how far each category is from the mean of categories."""
    numbers, codes, start = space.numbers, space.codes, space.start
    for column in range(numbers.shape[0]):
        total = 0.0
        for row in range(left):
            total += numbers[column, row]
        centre[column] = total / left
    for value in range(shares.shape[0]):
        shares[value] = 0.0
    for column in range(codes.shape[0]):
        begin, end = start[column], start[column + 1]
        for row in range(left):
            shares[begin + codes[column, row]] += 1.0
        squares = 0.0
        for value in range(begin, end):
            squares += (shares[value] / left) ** 2
        for value in range(begin, end):
            shares[value] = (1.0 - 2.0 * shares[value] / left + squares) / 2.0


@compiled("void(MixedSpace, int64, float64[::1], float64[::1])")
def _set_row(space, place, centre, shares):  # type: ignore[no-untyped-def]
    """The same for a single row."""
    numbers, codes, start = space.numbers, space.codes, space.start
    for column in range(numbers.shape[0]):
        centre[column] = numbers[column, place]
    for value in range(shares.shape[0]):
        shares[value] = 1.0
    for column in range(codes.shape[0]):
        shares[start[column] + codes[column, place]] = 0.0


@compiled("int64(float64[::1], int64[::1], int64)")
def _farthest(distance, rows, left):  # type: ignore[no-untyped-def]
    """The row farthest away; of several, the one with the lowest number."""
    chosen = np.int64(0)
    for place in range(1, left):
        if distance[place] >= distance[chosen] and (distance[place] > distance[chosen] or rows[place] < rows[chosen]):
            chosen = np.int64(place)
    return chosen


@compiled("void(float64[::1], int64[::1], int64, int64[::1])")
def _set_nearest(distance, rows, left, nearest):  # type: ignore[no-untyped-def]
    """The nearest rows, as many as there is room for; of equally near ones those with the lowest numbers."""
    room, count = nearest.shape[0], np.int64(0)
    for place in range(left):
        far = distance[place]
        if count == room:
            last = nearest[room - 1]
            if far > distance[last] or (far == distance[last] and rows[place] > rows[last]):
                continue
        at = count if count < room else room - 1
        while at > 0:
            before = nearest[at - 1]
            if distance[before] < far or (distance[before] == far and rows[before] < rows[place]):
                break
            nearest[at] = before
            at -= 1
        nearest[at] = place
        count = min(count + 1, room)


@compiled("void(MixedSpace, float64[::1], int64[::1], int32[::1], int64[::1])")
def _put_together(space, distance, nearest, group, state):  # type: ignore[no-untyped-def]
    """Give some rows a group of their own and fill their places with the last rows left."""
    numbers, codes, rows = space.numbers, space.codes, space.rows
    nearest.sort()
    for number in range(nearest.shape[0] - 1, -1, -1):
        place = nearest[number]
        group[rows[place]] = state[GROUPS]
        state[LEFT] -= 1
        last = state[LEFT]
        for column in range(numbers.shape[0]):
            numbers[column, place] = numbers[column, last]
        for column in range(codes.shape[0]):
            codes[column, place] = codes[column, last]
        rows[place] = rows[last]
        distance[place] = distance[last]
    state[GROUPS] += 1


@compiled("boolean(MixedSpace, int64, int32[::1], int64[::1], int64)")
def mdav(space, k, group, state, budget):  # type: ignore[no-untyped-def]
    """Group the rows left, for so many row visits; true when all have a group. The space is used up."""
    rows = space.rows
    distance = np.empty(state[LEFT], dtype=np.float64)
    centre, shares = np.empty(space.numbers.shape[0]), np.empty(space.start[-1])
    nearest = np.empty(k, dtype=np.int64)
    while state[LEFT] >= 2 * k:
        if budget <= 0:
            return False
        budget -= 4 * state[LEFT]
        pair = state[LEFT] >= 3 * k
        _set_centre(space, state[LEFT], centre, shares)
        _measure(space, state[LEFT], centre, shares, distance)
        _set_row(space, _farthest(distance, rows, state[LEFT]), centre, shares)
        _measure(space, state[LEFT], centre, shares, distance)
        _set_nearest(distance, rows, state[LEFT], nearest)
        _put_together(space, distance, nearest, group, state)
        if pair:  # the row farthest from the first one gets the second group
            _set_row(space, _farthest(distance, rows, state[LEFT]), centre, shares)
            _measure(space, state[LEFT], centre, shares, distance)
            _set_nearest(distance, rows, state[LEFT], nearest)
            _put_together(space, distance, nearest, group, state)
    for place in range(state[LEFT]):
        group[rows[place]] = state[GROUPS]
    state[GROUPS] += np.int64(state[LEFT] > 0)
    state[LEFT] = 0
    return True
