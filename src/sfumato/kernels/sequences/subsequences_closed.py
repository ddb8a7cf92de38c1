# SPDX-License-Identifier: MIT
"""Whether one more item can be put into a pattern, not at its end, such that enough of its rows still hold it.

An item can go between two elements of the pattern if it lies, in a row, behind the leftmost match of what is before it
and ahead of the rightmost match of what is behind it; and into an element likewise. That is exact, so that closed and
maximal patterns are recognized without remembering others (BIDE: Wang and Han 2004). If the same is true inside the
leftmost match alone, whatever the pattern is extended by can take the item as well, and no extension is closed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, Words
from sfumato.kernels.compilation import part, record


@record
class ElementRows(NamedTuple):
    """Rows of elements of rising items; infrequent items and the elements that held only them are left out."""

    tokens: Codes
    starts: Ints
    """Where the tokens of each element begin."""
    row_of: Codes
    position_of: Codes
    """The position of each element in its row, before any was left out."""
    row_ends: Codes
    """The element after the last of each row."""
    signatures: Words
    """For each element: a bit for each item of it and of those behind it in its row; items share bits."""
    codes: Codes
    """The code of each item."""
    supports: Ints
    """How many rows hold each item."""
    task_starts: Ints
    task_elements: Codes
    """The elements that hold each item that something may extend."""


@record
class InsertionScratch(NamedTuple):
    """Where a pattern's elements begin and lie in a row, and how many rows can take an item at a slot."""

    begins: Ints
    left: Ints
    right: Ints
    counts: Codes
    marks: Ints


@part
def _read_rank(value):
    return value if value >= 0 else ~value


@part
def _holds(rows, element, ranks, begin, end):
    """Whether an element holds some rising items."""
    token, stop = rows.starts[element], rows.starts[element + 1]
    for index in range(begin, end):
        rank = _read_rank(ranks[index])
        while token < stop and rows.tokens[token] < rank:
            token += 1
        if token == stop or rows.tokens[token] != rank:
            return False
        token += 1
    return True


@part
def _is_item_of(rank, ranks, begin, end):
    for index in range(begin, end):  # noqa: SIM110  (a generator does not compile)
        if _read_rank(ranks[index]) == rank:
            return True
    return False


@part
def split_elements(ranks, length, begins):
    """Where each element of a pattern begins, and the end; returns how many there are."""
    count = np.int64(0)
    for index in range(length):
        if ranks[index] >= 0:
            begins[count] = index
            count += 1
    begins[count] = length
    return count


@part
def _match_both_ways(rows, row_begin, row_end, ranks, count, scratch, semi):
    """Where each element lies in the leftmost match, and in the rightmost one (inside the leftmost one if `semi`)."""
    begins, left, right = scratch.begins, scratch.left, scratch.right
    element = row_begin
    for index in range(count):
        while not _holds(rows, element, ranks, begins[index], begins[index + 1]):
            element += 1
        left[index] = element
        element += 1
    element = left[count - 1] if semi else row_end - 1
    for index in range(count - 1, -1, -1):
        while not _holds(rows, element, ranks, begins[index], begins[index + 1]):
            element -= 1
        right[index] = element
        element -= 1


@part
def _note(scratch, slot, serial, first_serial):
    """Count a row for an item at a slot, once; returns how many rows there are by now."""
    if scratch.marks[slot] < first_serial:
        scratch.counts[slot] = 0
    if scratch.marks[slot] != serial:
        scratch.marks[slot] = serial
        scratch.counts[slot] += np.int32(1)
    return np.int64(scratch.counts[slot])


@part
def count_insertions(rows, row, ranks, count, scratch, semi, serial, first_serial):
    """Count one row for every item that it lets be put into the pattern; returns the largest count."""
    row_begin = np.int64(rows.row_ends[row - 1]) if row else np.int64(0)
    row_end = np.int64(rows.row_ends[row])
    _match_both_ways(rows, row_begin, row_end, ranks, count, scratch, semi)
    begins, left, right = scratch.begins, scratch.left, scratch.right
    items = np.int64(rows.codes.shape[0])
    best = np.int64(0)
    for index in range(count):
        first = left[index - 1] + 1 if index else row_begin
        for token in range(rows.starts[first], rows.starts[right[index]]):
            best = max(best, _note(scratch, index * items + rows.tokens[token], serial, first_serial))
        if index + 1 == count and semi:
            continue
        stop = right[index + 1] if index + 1 < count else row_end
        for element in range(first, stop):
            size = rows.starts[element + 1] - rows.starts[element]
            if size > begins[index + 1] - begins[index] and _holds(
                rows, element, ranks, begins[index], begins[index + 1]
            ):
                for token in range(rows.starts[element], rows.starts[element + 1]):
                    rank = rows.tokens[token]
                    if not _is_item_of(rank, ranks, begins[index], begins[index + 1]):
                        slot = (count + index) * items + rank
                        best = max(best, _note(scratch, slot, serial, first_serial))
    return best
