# SPDX-License-Identifier: MIT
"""How many of some known points each sequence holds, in their order or in any, and which sequences hold most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached, record


@record
class KnownTraces(NamedTuple):
    """What is known of some people: points one after another, at most 64 each, and each one's own row, or -1."""

    points: Codes
    """Codes of items; -1 for an item that no sequence has."""
    offsets: Ints
    own: Ints


@record
class BestRows(NamedTuple):
    """For each person: the most points that any sequence holds, in how many sequences, and whether one's own is."""

    most: Ints
    rows: Ints
    holds_own: Ints


SEQUENCES = (
    "Array(int64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), Array(int32, 1, 'C', readonly=True)"
)


@compile_cached(f"uint64[::1]({SEQUENCES})")
def _sketch_rows(offsets, element_offsets, codes):  # type: ignore[no-untyped-def]
    """A word for each row, with a bit for each of its items; items share bits where there are more than 64."""
    sketches = np.zeros(offsets.shape[0] - 1, dtype=np.uint64)
    for row in range(sketches.shape[0]):
        for index in range(element_offsets[offsets[row]], element_offsets[offsets[row + 1]]):
            sketches[row] |= np.uint64(1) << np.uint64(codes[index] & 63)
    return sketches


@compile_cached("int64(KnownTraces, int64, int64, uint64)")
def _count_possible(traces, begin, end, sketch):  # type: ignore[no-untyped-def]
    """How many of some points a row can hold at most."""
    count = np.int64(0)
    for index in range(begin, end):
        point = traces.points[index]
        count += point >= 0 and (sketch >> np.uint64(point & 63)) & np.uint64(1) != 0
    return count


@compile_cached(f"void({SEQUENCES}, KnownTraces, boolean, uint64[::1], BestRows)")
def find_best_rows(offsets, element_offsets, codes, traces, ordered, masks, best):  # type: ignore[no-untyped-def]
    """Fill in the best rows; `masks` has a word of zeros for each item.

    In order, the points that a sequence holds are its longest common subsequence with them, one bit a point (Hyyrö
    2004): a bit of `open_points` turns to 0 where the subsequence grows. In any order, they are just counted. A row
    whose items show that it holds fewer points than the best so far is not read, and none is read on once it has all.
    """
    sketches = _sketch_rows(offsets, element_offsets, codes)
    unit, nothing = np.uint64(1), np.uint64(0)
    for person in range(traces.own.shape[0]):
        begin, end = traces.offsets[person], traces.offsets[person + 1]
        everything = ~nothing if end - begin == 64 else (unit << np.uint64(end - begin)) - unit
        for index in range(begin, end):
            if traces.points[index] >= 0:
                masks[traces.points[index]] |= unit << np.uint64(index - begin)
        most, rows, holds_own = np.int64(0), np.int64(0), np.int64(0)
        for row in range(offsets.shape[0] - 1):
            if _count_possible(traces, begin, end, sketches[row]) < max(most, np.int64(1)):
                continue
            open_points, seen = everything, nothing
            for element in range(offsets[row], offsets[row + 1]):
                matches = nothing
                for index in range(element_offsets[element], element_offsets[element + 1]):
                    matches |= masks[np.uint32(codes[index])]
                if matches:
                    seen |= matches
                    kept = open_points & matches
                    open_points = ((open_points + kept) | (open_points - kept)) & everything
                    if (open_points == nothing) if ordered else (seen == everything):
                        break
            held = np.int64(popcount(everything & ~open_points if ordered else seen))
            if held > most:
                most, rows, holds_own = held, np.int64(0), np.int64(0)
            if held == most and held:
                rows += 1
                holds_own |= row == traces.own[person]
        best.most[person], best.rows[person], best.holds_own[person] = most, rows, holds_own
        for index in range(begin, end):
            if traces.points[index] >= 0:
                masks[traces.points[index]] = nothing
