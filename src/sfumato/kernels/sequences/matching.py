# SPDX-License-Identifier: MIT
"""The matches of a pattern in a sequence, counted by dynamic programming: there may be more than could be listed.

A match is a list of positions, one for each element of the pattern, each holding all of its items. Between two
neighbours there are at most `max_gap` other positions, and from the first to the last at most `window` positions.
Counts are floats, since they grow like binomials; what is 0 is exactly 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import ByteGrid, Codes, Flags, FloatGrid, Ints
from sfumato.kernels.compilation import compile_cached, record


@record
class MarkedElements(NamedTuple):
    """The elements of sequences, and which of their items are still there."""

    element_offsets: Ints
    codes: Codes
    alive: Flags
    in_place: bool
    """Whether an element without items keeps its position, so that no gap shrinks."""


@record
class HiddenPattern(NamedTuple):
    """The elements of a pattern, and the limits of its matches."""

    offsets: Ints
    codes: Codes
    max_gap: int
    window: int


@record
class MatchGrid(NamedTuple):
    """For each element of a pattern (rows) and each position (columns): whether it fits, and matches around it."""

    fits: ByteGrid
    forward: FloatGrid
    """Matches of the pattern up to this element that end here."""
    backward: FloatGrid
    """Matches of the pattern from this element on that start here."""
    whole_matches: FloatGrid
    """Whole matches that have this element here."""
    places: Ints
    """The element of the sequence at each position."""


@compile_cached("boolean(MarkedElements, int64, HiddenPattern, int64)")
def _fits(elements, element, pattern, index):
    """Whether an element holds all items of one of the pattern's."""
    for wanted_index in range(pattern.offsets[index], pattern.offsets[index + 1]):
        is_held = False
        for item in range(elements.element_offsets[element], elements.element_offsets[element + 1]):
            is_held |= elements.alive[item] and elements.codes[item] == pattern.codes[wanted_index]
        if not is_held:
            return False
    return True


@compile_cached("MatchGrid(MarkedElements, int64, int64, HiddenPattern)")
def lay_grid(elements, first, last, pattern):
    """Where the elements of a pattern fit in the sequence of the elements from `first` up to `last`."""
    places = np.empty(last - first, dtype=np.int64)
    count = 0
    for element in range(first, last):
        is_present = elements.in_place
        for item in range(elements.element_offsets[element], elements.element_offsets[element + 1]):
            is_present |= elements.alive[item]
        if is_present:
            places[count] = element
            count += 1
    size = len(pattern.offsets) - 1
    fits = np.zeros((size, count), dtype=np.uint8)
    for index in range(size):
        for position in range(count):
            fits[index, position] = _fits(elements, places[position], pattern, index)
    empty = np.zeros((size, count))
    return MatchGrid(fits, empty, np.zeros((size, count)), np.zeros((size, count)), places[:count].copy())


@compile_cached("float64(MatchGrid, int64, int64, boolean, int64)")
def _count_forward(grid, first, last, from_first, max_gap):
    """Count matches within a span, all of them or those that start at its first position."""
    size = grid.fits.shape[0]
    for position in range(first, last):
        grid.forward[0, position] = grid.fits[0, position] and (not from_first or position == first)
    for index in range(1, size):
        ways = 0.0
        for position in range(first, last):
            if position - first > max_gap:  # a running sum minus what is too far would not be exact
                ways = 0.0
                if grid.fits[index, position]:
                    for earlier in range(max(first, position - 1 - max_gap), position):
                        ways += grid.forward[index - 1, earlier]
            elif position > first:
                ways += grid.forward[index - 1, position - 1]
            grid.forward[index, position] = ways if grid.fits[index, position] else 0.0
    total = 0.0
    for position in range(first, last):
        total += grid.forward[size - 1, position]
    return total


@compile_cached("void(MatchGrid, int64, int64, int64)")
def _count_backward(grid, first, last, max_gap):
    """Count the ways to complete a match within a span, and add up the matches through each position."""
    size = grid.fits.shape[0]
    for position in range(first, last):
        grid.backward[size - 1, position] = grid.fits[size - 1, position]
    for index in range(size - 2, -1, -1):
        ways = 0.0
        for position in range(last - 1, first - 1, -1):
            if last - 1 - position > max_gap:
                ways = 0.0
                if grid.fits[index, position]:
                    for later_position in range(position + 1, min(last, position + 2 + max_gap)):
                        ways += grid.backward[index + 1, later_position]
            elif position < last - 1:
                ways += grid.backward[index + 1, position + 1]
            grid.backward[index, position] = ways if grid.fits[index, position] else 0.0
    for index in range(size):
        for position in range(first, last):
            if grid.forward[index, position] > 0 and grid.backward[index, position] > 0:
                grid.whole_matches[index, position] += grid.forward[index, position] * grid.backward[index, position]


@compile_cached("float64(MatchGrid, HiddenPattern, boolean)")
def count_in_grid(grid, pattern, counts_through):
    """How many matches there are; with `counts_through`, also how many go through each position."""
    count = grid.fits.shape[1]
    if count <= pattern.window:
        total = _count_forward(grid, 0, count, False, pattern.max_gap)
        if counts_through and total > 0:
            _count_backward(grid, 0, count, pattern.max_gap)
        return total
    total = 0.0
    for first in range(count):
        if grid.fits[0, first]:
            last = min(count, first + pattern.window)
            matches = _count_forward(grid, first, last, True, pattern.max_gap)
            if counts_through and matches > 0:
                _count_backward(grid, first, last, pattern.max_gap)
            total += matches
    return total


@compile_cached("void(MarkedElements, int64[::1], HiddenPattern, int64[::1], float64[::1])")
def count_matches(elements, offsets, pattern, rows, totals):
    """How many matches a pattern has in each of some sequences."""
    for index in range(len(rows)):
        row = rows[index]
        grid = lay_grid(elements, offsets[row], offsets[row + 1], pattern)
        totals[index] = count_in_grid(grid, pattern, False)


@compile_cached("float64(MarkedElements, int64, int64, HiddenPattern, float64[::1])")
def weigh_items(elements, first, last, pattern, weights):
    """Add to the weight of each item of a sequence how many matches need it; returns how many there are."""
    grid = lay_grid(elements, first, last, pattern)
    total = count_in_grid(grid, pattern, True)
    if total == 0:
        return total
    begin = elements.element_offsets[first]
    for index in range(grid.fits.shape[0]):
        for position in range(grid.fits.shape[1]):
            if grid.whole_matches[index, position] > 0:
                element = grid.places[position]
                for item in range(elements.element_offsets[element], elements.element_offsets[element + 1]):
                    for wanted_index in range(pattern.offsets[index], pattern.offsets[index + 1]):
                        if elements.alive[item] and elements.codes[item] == pattern.codes[wanted_index]:
                            weights[item - begin] += grid.whole_matches[index, position]
    return total


@compile_cached("float64(MarkedElements, int64, int64, HiddenPattern, float64[::1])")
def weigh_single_items(elements, begin, end, pattern, weights):
    """The same for a sequence and a pattern of single items without limits, of the items from `begin` up to `end`.

    Only items of the pattern matter then, so that a sequence is read once and the rest is done with those. Sums are
    taken in the same order, so that weights are equal to the last bit.
    """
    size = len(pattern.codes)
    hits, forward = np.empty(end - begin, dtype=np.int64), np.empty((end - begin, size))
    beginnings, count = np.zeros(size + 1), 0
    beginnings[0] = 1.0
    for item in range(begin, end):
        code, is_hit = elements.codes[item], False
        for index in range(size - 1, -1, -1):  # an item is one element of a match only
            forward[count, index] = 0.0
            if pattern.codes[index] == code and elements.alive[item]:
                is_hit = True
                forward[count, index] = beginnings[index]
                beginnings[index + 1] += beginnings[index]
        hits[count] = item
        count += is_hit
    total = beginnings[size]
    endings = np.zeros(size + 1)
    endings[size] = 1.0
    for number in range(count - 1 if total > 0 else -1, -1, -1):
        code = elements.codes[hits[number]]
        for index in range(size):
            if pattern.codes[index] == code:
                ways = endings[index + 1]
                if forward[number, index] > 0 and ways > 0:
                    weights[hits[number] - begin] += forward[number, index] * ways
                if index:
                    endings[index] += ways
    return total


@compile_cached("boolean(MarkedElements, int64, int64, HiddenPattern, int64[::1])")
def find_match(elements, first, last, pattern, match):
    """The elements of one match, the one that starts last; returns whether there is any."""
    grid = lay_grid(elements, first, last, pattern)
    size, count = grid.fits.shape
    for start in range(count - 1, -1, -1):
        if not grid.fits[0, start]:
            continue
        end = min(count, start + min(pattern.window, count))
        if _count_forward(grid, start, end, True, pattern.max_gap) == 0:
            continue
        _count_backward(grid, start, end, pattern.max_gap)
        position = start
        match[0] = grid.places[start]
        for index in range(1, size):
            position += 1
            while grid.backward[index, position] == 0:
                position += 1
            match[index] = grid.places[position]
        return True
    return False
