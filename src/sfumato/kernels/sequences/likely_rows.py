# SPDX-License-Identifier: MIT
"""How likely it is that some known points were drawn from each sequence, and from which ones most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Floats, Ints
from sfumato.kernels.compilation import compile_cached, record
from sfumato.kernels.sequences.known_points import SEQUENCES, BestRows, KnownTraces, count_held  # noqa: F401  (a signature names two)

TIE = 1e-12
"""Likelihoods that differ by less than this share are the same but for rounding."""


@record
class LikelyRow(NamedTuple):
    """The largest likelihood of any row, or the most points; of how many sequences; and whether one's own has it."""

    most: float
    rows: int
    holds_own: bool


@record
class MarkedItems(NamedTuple):
    """The code of the mark, or -1, and the probability that a mark stands for each item, and for an unknown one."""

    mark: int
    chances: Floats


@record
class DrawnPoints(NamedTuple):
    """Points of one person: their codes, the distinct ones, how often each is known, and room to count them in."""

    codes: Codes
    distinct: Codes
    times: Ints
    counts: Ints


@compile_cached("float64(int64, int64)")
def choose(many, few):
    """In how many ways some can be chosen."""
    if few > many:
        return 0.0
    ways = 1.0
    for step in range(few):
        ways = ways * (many - step) / (step + 1)
    return ways


@compile_cached(f"float64({SEQUENCES}, int64, DrawnPoints, MarkedItems, float64[::1])")
def count_ordered_draws(offsets, element_offsets, codes, row, points, marked_items, ways):
    """The ways to draw the points from a row in their order: sums of the chances of items in drawn elements."""
    many = points.codes.shape[0]
    ways[: many + 1] = 0.0
    ways[0] = 1.0
    for element in range(offsets[row], offsets[row + 1]):
        begin, end = element_offsets[element], element_offsets[element + 1]
        for point in range(many - 1, -1, -1):
            if ways[point] == 0.0:
                continue
            chance = 0.0
            for index in range(begin, end):
                if codes[index] == points.codes[point]:
                    chance += 1.0
                elif codes[index] == marked_items.mark:
                    chance += marked_items.chances[points.codes[point]]
            if chance:
                ways[point + 1] += ways[point] * chance / (end - begin)
    return ways[many]


@compile_cached(f"float64({SEQUENCES}, int64, DrawnPoints, MarkedItems, float64[::1])")
def count_unordered_draws(offsets, element_offsets, codes, row, points, marked_items, ways):
    """The same in any order, as if each element gave one item: visits of each item, of which as many as are known.

    ``ways[total]`` sums the choices in which marks stand for `total` points; marks are then drawn one after another.
    """
    many, kinds = points.codes.shape[0], points.distinct.shape[0]
    points.counts[:] = 0
    marks = np.int64(0)
    for index in range(element_offsets[offsets[row]], element_offsets[offsets[row + 1]]):
        if codes[index] == marked_items.mark:
            marks += 1
        else:
            for kind in range(kinds):
                if codes[index] == points.distinct[kind]:
                    points.counts[kind] += 1
    ways[: many + 1] = 0.0
    ways[0] = 1.0
    point_count = np.int64(0)
    for kind in range(kinds):
        held_count, times = points.counts[kind], points.times[kind]
        for total in range(point_count + times, -1, -1):
            share, way_sum = 1.0, 0.0
            for from_marks in range(min(times, total) + 1):
                if from_marks:
                    share *= marked_items.chances[points.distinct[kind]] / from_marks
                if total - from_marks <= point_count:
                    way_sum += ways[total - from_marks] * choose(held_count, times - from_marks) * share
            ways[total] = way_sum
        point_count += times
    draws, orders = 0.0, 1.0
    for total in range(min(point_count, marks) + 1):
        draws += ways[total] * orders
        orders *= marks - total
    return draws


@compile_cached(f"LikelyRow({SEQUENCES}, int64[::1], uint64[::1], uint64, DrawnPoints, MarkedItems, boolean, int64)")
def find_likely_rows(
    offsets, element_offsets, codes, weights, sketches, wanted_sketch, points, marked_items, is_ordered, own_row
):
    """The likeliest rows of a person: the share of all draws of this number of elements that gives the points.

    A row whose sketch lacks one of the wanted bits cannot give them all.
    """
    many = points.codes.shape[0]
    ways = np.empty(many + 1)
    most, rows, holds_own = 0.0, 0, False
    for row in range(offsets.shape[0] - 1):
        size = offsets[row + 1] - offsets[row]
        if size < many or wanted_sketch & ~sketches[row]:
            continue
        if is_ordered:
            draws = count_ordered_draws(offsets, element_offsets, codes, row, points, marked_items, ways)
        else:
            draws = count_unordered_draws(offsets, element_offsets, codes, row, points, marked_items, ways)
        if draws == 0.0:
            continue
        likelihood = draws / choose(size, many)
        if likelihood > most * (1.0 + TIE):
            most, rows, holds_own = likelihood, 0, False
        if likelihood >= most * (1.0 - TIE):
            rows += weights[row]
            holds_own = holds_own or row == own_row
    return LikelyRow(most, rows, holds_own)


@compile_cached(f"LikelyRow({SEQUENCES}, int64[::1], int32[::1], uint64[::1], boolean, int64)")
def find_short_rows(offsets, element_offsets, codes, weights, points, masks, is_ordered, own_row):
    """The shortest of the rows that hold most of some points; `masks` gets a bit a point, and is left as it was."""
    many = points.shape[0]
    unit = np.uint64(1)
    for point in range(many):
        if points[point] >= 0:
            masks[points[point]] |= unit << np.uint64(point)
    all_points = ~np.uint64(0) if many == 64 else (unit << np.uint64(many)) - unit
    most, shortest, rows, holds_own = 1, 0, 0, False
    for row in range(offsets.shape[0] - 1):
        held_count = count_held(offsets, element_offsets, codes, masks, row, all_points, is_ordered)
        size = offsets[row + 1] - offsets[row]
        if held_count > most or (held_count == most and (rows == 0 or size < shortest)):
            most, shortest, rows, holds_own = held_count, size, 0, False
        if held_count == most and size == shortest:
            rows += weights[row]
            holds_own = holds_own or row == own_row
    for point in range(many):
        if points[point] >= 0:
            masks[points[point]] = 0
    return LikelyRow(float(most), rows, holds_own)


@compile_cached("int64(DrawnPoints)")
def _count_kinds(points):
    """Fill in the distinct points and how often each is known; returns how many there are."""
    kinds = np.int64(0)
    for point in range(points.codes.shape[0]):
        kind = np.int64(0)
        while kind < kinds and points.distinct[kind] != points.codes[point]:
            kind += 1
        if kind == kinds:
            points.distinct[kind], points.times[kind] = points.codes[point], 0
            kinds += 1
        points.times[kind] += 1
    return kinds


@compile_cached(f"void({SEQUENCES}, int64[::1], uint64[::1], KnownTraces, MarkedItems, boolean, uint64[::1], BestRows)")
def find_likeliest_rows(
    offsets, element_offsets, codes, weights, sketches, traces, marked_items, is_ordered, masks, best
):
    """The likeliest rows of each person; where none can give all points, the shortest of those that hold most.

    `masks` has a word of zeros for each code but that of a mark, which holds any point.
    """
    unit = np.uint64(1)
    distinct, times, counts = np.empty(64, dtype=np.int32), np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    for person in range(traces.own_rows.shape[0]):
        draws = traces.points[traces.offsets[person] : traces.offsets[person + 1]]
        kinds = _count_kinds(DrawnPoints(draws, distinct, times, counts))
        points = DrawnPoints(draws, distinct[:kinds], times[:kinds], counts[:kinds])
        wanted_sketch, is_known = np.uint64(0), True
        for code in points.distinct:
            is_known = is_known and code >= 0
            wanted_sketch |= unit << np.uint64(code & 63) if code >= 0 else np.uint64(0)
        own_row = traces.own_rows[person]
        likely = LikelyRow(0.0, 0, False)
        if is_known or marked_items.mark >= 0:
            likely = find_likely_rows(
                offsets,
                element_offsets,
                codes,
                weights,
                sketches,
                wanted_sketch,
                points,
                marked_items,
                is_ordered,
                own_row,
            )
        if likely.rows == 0:
            likely = find_short_rows(offsets, element_offsets, codes, weights, draws, masks, is_ordered, own_row)
        best.rows[person], best.holds_own[person] = likely.rows, np.int64(likely.holds_own)


@compile_cached(f"void({SEQUENCES}, int64[::1], KnownTraces, boolean, uint64[::1], BestRows)")
def find_shortest_rows(offsets, element_offsets, codes, weights, traces, is_ordered, masks, best):
    """For each person, the shortest of the rows that hold most of the points."""
    for person in range(traces.own_rows.shape[0]):
        draws = traces.points[traces.offsets[person] : traces.offsets[person + 1]]
        short = find_short_rows(
            offsets, element_offsets, codes, weights, draws, masks, is_ordered, traces.own_rows[person]
        )
        best.rows[person], best.holds_own[person] = short.rows, np.int64(short.holds_own)
