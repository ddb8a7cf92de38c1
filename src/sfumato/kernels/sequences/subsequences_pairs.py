# SPDX-License-Identifier: MIT
"""Count all patterns of two items at once, for the search for subsequences of itemsets where many items are frequent.

An item is followed by another in a row if its first element comes before the other's last one. Hence each row is read
once, not once for each of its items, and nothing is laid out behind items that nothing extends often enough. In a row
without repeats the items that follow one are simply the tokens behind its element. Indices are unsigned, so that none
is tested for being counted from the end: that halves the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes
from sfumato.kernels.compilation import compile_cached, part, record
from sfumato.kernels.sequences.subsequences_closed import ElementRows


@record
class PairCounts(NamedTuple):
    """In how many rows each item is followed, and joined, by each; empty if pairs are not counted."""

    order_counts: Codes
    joint_counts: Codes


@record
class PairScratch(NamedTuple):
    """The items of a row in the order of their first elements, and of their last ones; in which row each was seen."""

    firsts: Codes
    first_elements: Codes
    lasts: Codes
    last_elements: Codes
    seen_items: Codes
    seen_first: Codes
    seen_last: Codes
    seen_pairs: Codes
    """For each pair, the row in which it was last seen in one element."""


@part
def _has_repeats(rows, scratch, row, begin, end):
    """Whether some item is in several elements of a row."""
    repeats = False
    for token in range(np.uint64(rows.starts[begin]), np.uint64(rows.starts[end])):
        item = np.uint32(rows.tokens[token])
        repeats |= scratch.seen_items[item] == row
        scratch.seen_items[item] = row
    return repeats


@part
def _count_distinct(rows, pairs, begin, end):
    """Count the pairs of a row without repeats."""
    items = np.uint64(rows.codes.shape[0])
    row_stop = np.uint64(rows.starts[end])
    for element in range(np.uint64(begin), np.uint64(end)):
        token, stop = np.uint64(rows.starts[element]), np.uint64(rows.starts[element + np.uint64(1)])
        for position in range(token, stop):
            first = np.uint64(np.uint32(rows.tokens[position])) * items
            for other in range(position + np.uint64(1), stop):
                pairs.joint_counts[first + np.uint64(np.uint32(rows.tokens[other]))] += 1
            for other in range(stop, row_stop):
                pairs.order_counts[first + np.uint64(np.uint32(rows.tokens[other]))] += 1


@part
def _list_firsts(rows, scratch, row, begin, end):
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
def _list_lasts(rows, scratch, row, begin, end):
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
def _count_joining(rows, scratch, counts, row, begin, end):
    """Count the pairs within the elements of a row with repeats, each once."""
    items = np.int64(rows.codes.shape[0])
    for element in range(begin, end):
        stop = rows.starts[element + 1]
        for token in range(rows.starts[element], stop):
            first = np.int64(rows.tokens[token]) * items
            for other in range(token + 1, stop):
                pair = first + rows.tokens[other]
                if scratch.seen_pairs[pair] != row:
                    scratch.seen_pairs[pair] = row
                    counts[pair] += 1


@part
def _count_following(rows, scratch, counts, row, begin, end):
    """Count which item follows which in a row with repeats, each once."""
    items = np.int64(rows.codes.shape[0])
    count = _list_firsts(rows, scratch, row, begin, end)
    last_count = _list_lasts(rows, scratch, row, begin, end)
    for index in range(count):
        first = np.int64(scratch.firsts[index]) * items
        while last_count and scratch.last_elements[last_count - 1] <= scratch.first_elements[index]:
            last_count -= 1
        for other in range(last_count):
            counts[first + scratch.lasts[other]] += 1


@compile_cached("void(ElementRows, PairCounts, PairScratch)", allocates=False)
def count_item_pairs(rows, pairs, scratch):
    """Fill in the counts, which come full of zeros; what was seen comes full of numbers that are no rows."""
    begin = np.int64(0)
    for row in range(rows.row_ends.shape[0]):
        end = np.int64(rows.row_ends[row])
        if rows.starts[end] - rows.starts[begin] > 1:
            if _has_repeats(rows, scratch, row, begin, end):
                _count_following(rows, scratch, pairs.order_counts, row, begin, end)
                _count_joining(rows, scratch, pairs.joint_counts, row, begin, end)
            else:
                _count_distinct(rows, pairs, begin, end)
        begin = end


__all__ = ["ElementRows", "PairCounts", "PairScratch", "count_item_pairs"]
