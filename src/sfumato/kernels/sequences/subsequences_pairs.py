# SPDX-License-Identifier: MIT
"""Count all patterns of two items at once, for the search for subsequences of itemsets where many items are frequent.

An item is followed by another in a row if its first element comes before the other's last one. Hence each row is read
once, not once for each of its items, and nothing is laid out behind items that nothing extends often enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes
from sfumato.kernels.baskets.itemsets_bits import compile_kernel, part
from sfumato.kernels.compilation import record
from sfumato.kernels.sequences.subsequences_closed import ElementRows


@record
class PairCounts(NamedTuple):
    """In how many rows each item is followed, and joined, by each; empty if pairs are not counted."""

    following: Codes
    joining: Codes


@record
class PairScratch(NamedTuple):
    """The items of a row in the order of their first elements, and of their last ones; when each was seen."""

    firsts: Codes
    first_elements: Codes
    lasts: Codes
    last_elements: Codes
    seen_first: Codes
    seen_last: Codes
    seen_pairs: Codes
    """For each pair, the row in which it was last seen in one element."""


@part
def _list_firsts(rows, scratch, row, begin, end):  # type: ignore[no-untyped-def]
    count = np.int64(0)
    for element in range(begin, end):
        for token in range(rows.starts[element], rows.starts[element + 1]):
            item = rows.tokens[token]
            if scratch.seen_first[item] != row:
                scratch.seen_first[item] = row
                scratch.firsts[count], scratch.first_elements[count] = item, element
                count += 1
    return count


@part
def _list_lasts(rows, scratch, row, begin, end):  # type: ignore[no-untyped-def]
    """The last element comes first."""
    count = np.int64(0)
    for element in range(end - 1, begin - 1, -1):
        for token in range(rows.starts[element], rows.starts[element + 1]):
            item = rows.tokens[token]
            if scratch.seen_last[item] != row:
                scratch.seen_last[item] = row
                scratch.lasts[count], scratch.last_elements[count] = item, element
                count += 1
    return count


@part
def _join_pairs(rows, scratch, joining, row, begin, end, repeats):  # type: ignore[no-untyped-def]
    """Count the pairs within elements; only where items repeat can a pair be in several."""
    items = np.int64(rows.codes.shape[0])
    for element in range(begin, end):
        stop = rows.starts[element + 1]
        for token in range(rows.starts[element], stop):
            first = np.int64(rows.tokens[token]) * items
            for other in range(token + 1, stop):
                pair = first + rows.tokens[other]
                if repeats:
                    if scratch.seen_pairs[pair] == row:
                        continue
                    scratch.seen_pairs[pair] = row
                joining[pair] += 1


@compile_kernel("void(ElementRows, PairCounts, PairScratch)")
def count_pairs(rows, pairs, scratch):  # type: ignore[no-untyped-def]
    """Fill in the counts, which come full of zeros; what was seen comes full of numbers that are no rows."""
    items = np.int64(rows.codes.shape[0])
    begin = np.int64(0)
    for row in range(rows.row_ends.shape[0]):
        end = np.int64(rows.row_ends[row])
        tokens = rows.starts[end] - rows.starts[begin]
        if tokens > 1:
            count = _list_firsts(rows, scratch, row, begin, end)
            left = _list_lasts(rows, scratch, row, begin, end)
            for place in range(count):
                first = np.int64(scratch.firsts[place]) * items
                while left and scratch.last_elements[left - 1] <= scratch.first_elements[place]:
                    left -= 1
                for other in range(left):
                    pairs.following[first + scratch.lasts[other]] += 1
            _join_pairs(rows, scratch, pairs.joining, row, begin, end, count < tokens)
        begin = end


__all__ = ["ElementRows", "PairCounts", "PairScratch", "count_pairs"]
