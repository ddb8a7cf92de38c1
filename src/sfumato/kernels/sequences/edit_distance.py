# SPDX-License-Identifier: MIT
"""How many elements must be inserted, deleted or replaced to turn one sequence into another (Levenshtein 1966)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.kernels.compilation import compile_cached, part, record


@record
class LabelRows(NamedTuple):
    """Sequences of labels, one after another."""

    labels: Codes
    offsets: Ints


@part
def _measure_short(original, first, first_end, published_rows, other, other_end, masks):
    """The distance of a stretch from one of 1 to 64 labels, a column of the dynamic program at a time (Hyyrö 2003)."""
    unit = np.uint64(1)
    for position in range(other, other_end):
        masks[published_rows.labels[position]] |= unit << np.uint64(position - other)
    last = unit << np.uint64(other_end - other - 1)
    rises, falls, distance = ~np.uint64(0), np.uint64(0), other_end - other
    for index in range(first, first_end):
        equal = masks[original.labels[index]]
        level = (((equal & rises) + rises) ^ rises) | equal
        rise_bits, fall_bits = falls | ~(level | rises), rises & level
        distance += np.int64((rise_bits & last) != 0) - np.int64((fall_bits & last) != 0)
        rise_bits, fall_bits = (rise_bits << unit) | unit, fall_bits << unit
        diagonal = equal | falls
        rises, falls = fall_bits | ~(diagonal | rise_bits), rise_bits & diagonal
    for position in range(other, other_end):
        masks[published_rows.labels[position]] = 0
    return distance


@compile_cached("void(LabelRows, LabelRows, int64[::1], int64[::1], uint64[::1], int64[::1])")
def measure_edit_distances(original, published_rows, owners, costs, masks, distances):
    """The distance of each published sequence from its owner's; `costs` has room for the longest and one more.

    `masks` has a zero for each label. Equal beginnings and ends cost nothing and are passed over: most releases change
    little.
    """
    for row in range(owners.shape[0]):
        first, first_end = original.offsets[owners[row]], original.offsets[owners[row] + 1]
        other, other_end = published_rows.offsets[row], published_rows.offsets[row + 1]
        while first < first_end and other < other_end and original.labels[first] == published_rows.labels[other]:
            first += 1
            other += 1
        while (
            first < first_end
            and other < other_end
            and original.labels[first_end - 1] == published_rows.labels[other_end - 1]
        ):
            first_end -= 1
            other_end -= 1
        width = other_end - other
        if 0 < width <= 64:
            distances[row] = _measure_short(original, first, first_end, published_rows, other, other_end, masks)
            continue
        for column in range(width + 1):
            costs[column] = column
        for index in range(first, first_end):
            diagonal = costs[0]
            costs[0] += 1
            for column in range(1, width + 1):
                replace_cost = diagonal + (original.labels[index] != published_rows.labels[other + column - 1])
                diagonal = costs[column]
                costs[column] = min(replace_cost, min(diagonal, costs[column - 1]) + 1)
        distances[row] = costs[width]
