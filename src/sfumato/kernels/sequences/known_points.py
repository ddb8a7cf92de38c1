# SPDX-License-Identifier: MIT
"""How many of some known points each sequence holds, in their order or in any, and which sequences hold most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, Words
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached, part, record


@record
class KnownTraces(NamedTuple):
    """What is known of some people: points one after another, at most 64 each, and each one's own row, or -1."""

    points: Codes
    """Codes of items; -1 for an item that no sequence has."""
    offsets: Ints
    own_rows: Ints


@record
class BestRows(NamedTuple):
    """For each person: the most points that any sequence holds, in how many sequences, and whether one's own is."""

    most: Ints
    rows: Ints
    holds_own: Ints


SEQUENCES = (
    "Array(int64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), Array(int32, 1, 'C', readonly=True)"
)


@record
class RowIndex(NamedTuple):
    """What is known of rows before they are read."""

    offsets: Ints
    rows: Ints
    """Item i is in the rows ``rows[offsets[i]:offsets[i + 1]]``."""
    sketches: Words
    """A word for each row, with a bit for each of its items; items share bits where there are more than 64."""


@compile_cached(f"RowIndex({SEQUENCES}, int64)")
def index_rows(offsets, element_offsets, codes, items):
    """The rows of each item, each row once, and the items of each row."""
    bounds = np.zeros(items + 1, dtype=np.int64)
    latest = np.full(items, -1, dtype=np.int64)
    for row in range(offsets.shape[0] - 1):
        for index in range(element_offsets[offsets[row]], element_offsets[offsets[row + 1]]):
            if latest[codes[index]] != row:
                latest[codes[index]] = row
                bounds[codes[index] + 1] += 1
    for item in range(items):
        bounds[item + 1] += bounds[item]
    rows = np.empty(bounds[items], dtype=np.int64)
    sketches = np.zeros(offsets.shape[0] - 1, dtype=np.uint64)
    free = bounds.copy()
    latest[:] = -1
    for row in range(offsets.shape[0] - 1):
        for index in range(element_offsets[offsets[row]], element_offsets[offsets[row + 1]]):
            code = codes[index]
            sketches[row] |= np.uint64(1) << np.uint64(code & 63)
            if latest[code] != row:
                latest[code] = row
                rows[free[code]] = row
                free[code] += 1
    return RowIndex(bounds, rows, sketches)


@part
def count_held(offsets, element_offsets, codes, masks, row, all_points, is_ordered):
    """How many points a row holds; `masks` has a bit for each point of an item."""
    zero = np.uint64(0)
    open_points, seen_points = all_points, zero
    for element in range(offsets[row], offsets[row + 1]):
        matches = zero
        for index in range(element_offsets[element], element_offsets[element + 1]):
            matches |= masks[np.uint32(codes[index])]
        if matches:
            seen_points |= matches
            matched_points = open_points & matches
            open_points = ((open_points + matched_points) | (open_points - matched_points)) & all_points
            if (open_points == zero) if is_ordered else (seen_points == all_points):
                break
    return np.int64(popcount(all_points & ~open_points if is_ordered else seen_points))


@part
def _find_rarest(traces, begin, end, index):
    """The item among some points that the fewest rows hold."""
    rarest = traces.points[begin]
    for position in range(begin, end):
        point = traces.points[position]
        if index.offsets[point + 1] - index.offsets[point] < index.offsets[rarest + 1] - index.offsets[rarest]:
            rarest = point
    return np.int64(rarest)


@part
def _mark_points(traces, begin, end, masks):
    """Give each point a bit in the mask of its item; returns the bits that a sketch has for these items."""
    sketch = np.uint64(0)
    for position in range(begin, end):
        point = traces.points[position]
        if point >= 0:
            masks[point] |= np.uint64(1) << np.uint64(position - begin)
            sketch |= np.uint64(1) << np.uint64(point & 63)
    return sketch


@compile_cached(
    f"void({SEQUENCES}, int64[::1], RowIndex, KnownTraces, boolean, int64, uint64[::1], BestRows)", allocates=False
)
def find_best_rows(offsets, element_offsets, codes, weights, index, traces, is_ordered, limit, masks, best):
    """Fill in the best rows; `weights` says how many sequences each stands for, `masks` has a zero for each item.

    In order, the points that a sequence holds are its longest common subsequence with them, one bit a point (Hyyrö
    2004): a bit of `open_points` turns to 0 where the subsequence grows. In any order, they are just counted. One's own
    row is read first. If it holds all points, only the rows of the rarest item are read, else those whose items show
    that they may hold as many as the best so far. If `limit` sequences hold all points, others are not counted.
    """
    unit, zero = np.uint64(1), np.uint64(0)
    for person in range(traces.own_rows.shape[0]):
        begin, end = traces.offsets[person], traces.offsets[person + 1]
        all_points = ~zero if end - begin == 64 else (unit << np.uint64(end - begin)) - unit
        wanted_sketch = _mark_points(traces, begin, end, masks)
        own_row, most, rows, holds_own = traces.own_rows[person], np.int64(0), np.int64(0), np.int64(0)
        if own_row >= 0:
            most = count_held(offsets, element_offsets, codes, masks, own_row, all_points, is_ordered)
        first, last = np.int64(0), offsets.shape[0] - 1
        holds_all = most > 0 and most == end - begin
        if holds_all:
            rarest = _find_rarest(traces, begin, end, index)
            first, last = index.offsets[rarest], index.offsets[rarest + 1]
        for position in range(first, last):
            row = index.rows[position] if holds_all else np.int64(position)
            # Each item that a row lacks is at least one point that it does not hold.
            lacked_count = np.int64(popcount(wanted_sketch & ~index.sketches[row]))
            if end - begin - lacked_count < max(most, np.int64(1)):
                continue
            held_count = count_held(offsets, element_offsets, codes, masks, row, all_points, is_ordered)
            if held_count > most:
                most, rows, holds_own = held_count, np.int64(0), np.int64(0)
            if held_count == most and held_count:
                rows += weights[row]
                holds_own |= row == own_row
                if holds_all and rows >= limit:
                    break
        best.most[person], best.rows[person], best.holds_own[person] = most, rows, holds_own
        for position in range(begin, end):
            if traces.points[position] >= 0:
                masks[traces.points[position]] = zero
