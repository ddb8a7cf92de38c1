# SPDX-License-Identifier: MIT
"""Lay out what comes behind a pattern for the search over words of `subsequences_joins`: its rows, from where its
leftmost match ends, with only the items that are frequent there."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.baskets.itemsets_bits import part
from sfumato.kernels.sequences.subsequences_joins import MOST_ITEMS, open_join_children

from sfumato.kernels.sequences.subsequences_output import (  # isort: skip
    GROW, JOIN_BITS, JOIN_DEPTH, JOIN_ENTRIES, JOIN_TOKENS, JOIN_WORDS, LEAST, MASK_ITEMS, PREFIX, WORK_LEFT,
    find_lowest_bit, is_short, take_serial,
)  # fmt: skip


@part
def _begin_row(rows, word, length, width):  # type: ignore[no-untyped-def]
    """Clear the bitmaps of a row that begins at a word; returns the word after its last."""
    end = word + ((length + 63) >> 6)
    for index in range(word * width, end * width):
        rows.bits[index] = 0
    for index in range(word, end):
        rows.word_ends[index] = np.uint32(end)
    return end


@part
def _place_element(rows, token, slot, mask, holds, width):  # type: ignore[no-untyped-def]
    """Put an element into the bitmaps of its items, and into the two others if it belongs there."""
    rows.masks[token] = mask
    base = (slot >> 6) * width
    bit = np.uint64(1) << np.uint64(slot & 63)
    left = mask
    while left:
        rows.bits[base + np.int64(find_lowest_bit(left))] |= bit
        left &= left - np.uint64(1)
    if holds:
        rows.bits[base + width - 2] |= bit
    if mask & (mask - np.uint64(1)):
        rows.bits[base + width - 1] |= bit


@part
def _fill_after(rows, begin, end):  # type: ignore[no-untyped-def]
    """The items behind each token of a row."""
    behind = np.uint64(0)
    for token in range(end - 1, begin - 1, -1):
        rows.after[token] = behind
        behind |= rows.masks[token]


@part
def _count_behind(search, begin, end, last):  # type: ignore[no-untyped-def]
    """Count, once a row, what can follow a pattern and what can join its last element; returns how much work it was."""
    state, rows, elements = search.state, search.rows, search.stack.elements
    tally, seen = search.scratch.tally, search.scratch.seen
    items = np.int64(rows.codes.shape[0])
    for extension in range(2 * items):
        tally[extension] = 0
    work, entry = np.int64(0), begin
    while entry < end:
        serial = take_serial(state)
        row = rows.row_of[elements[entry]]
        first, stop = rows.starts[elements[entry] + 1], rows.starts[rows.row_ends[row]]
        for token in range(first, stop):
            item = np.uint32(rows.tokens[token])
            if seen[item] != serial:
                seen[item] = serial
                tally[item] += 1
        while entry < end and rows.row_of[elements[entry]] == row:
            token = rows.starts[elements[entry] + 1] - 1
            while token >= rows.starts[elements[entry]] and rows.tokens[token] > last:
                item = np.uint32(items + rows.tokens[token])
                if seen[item] != serial:
                    seen[item] = serial
                    tally[item] += 1
                token -= 1
            entry += 1
        work += stop - first
    return work


@part
def number_extensions(search, begin, end, last):  # type: ignore[no-untyped-def]
    """Count what extends a pattern and number the items of frequent extensions; returns how many there are."""
    search.state[WORK_LEFT] -= 64 + 4 * _count_behind(search, begin, end, last)
    least, tally, joined = search.state[LEAST], search.scratch.tally, search.joined
    items = np.int64(search.rows.codes.shape[0])
    kept = np.int64(0)
    for item in range(items):
        is_kept = tally[item] >= least or tally[items + item] >= least
        if is_kept and kept < MOST_ITEMS:
            joined.codes[kept] = search.rows.codes[item]
        joined.number_of[item] = np.int32(kept) if is_kept else np.int32(-1)
        kept += is_kept
    return kept


@part
def _mask_element(search, element):  # type: ignore[no-untyped-def]
    mask = np.uint64(0)
    for token in range(search.rows.starts[element], search.rows.starts[element + 1]):
        number = search.joined.number_of[np.uint32(search.rows.tokens[token])]
        if number >= 0:
            mask |= np.uint64(1) << np.uint64(number)
    return mask


@part
def _join_row_end(search, entry, end):  # type: ignore[no-untyped-def]
    """The entry after the last of the same row."""
    row_of, elements = search.rows.row_of, search.stack.elements
    row = row_of[elements[entry]]
    while entry < end and row_of[elements[entry]] == row:
        entry += 1
    return entry


@part
def _lacks_join_room(search, begin, end, width):  # type: ignore[no-untyped-def]
    """Whether an array is too short for the rows behind a pattern."""
    state, rows, joined = search.state, search.rows, search.joined
    tokens, words, count = np.int64(0), np.int64(0), np.int64(0)
    entry = begin
    while entry < end:
        element = np.int64(search.stack.elements[entry])
        length = np.int64(rows.row_ends[rows.row_of[element]]) - element
        tokens, words, count = tokens + length, words + ((length + 63) >> 6), count + 1
        entry = _join_row_end(search, entry, end)
    return (
        is_short(state, JOIN_TOKENS, joined.masks.shape[0], tokens)
        or is_short(state, JOIN_BITS, joined.bits.shape[0], words * width)
        or is_short(state, JOIN_WORDS, joined.word_ends.shape[0], words)
        or is_short(state, JOIN_ENTRIES, search.join_stack.tokens.shape[0], count)
    )


@part
def _join_rows(search, begin, end, above, width):  # type: ignore[no-untyped-def]
    """Turn the rows behind a pattern, from where its leftmost match ends, into words; returns how many there are."""
    rows, joined, stack = search.rows, search.joined, search.join_stack
    token, word, count = np.int64(0), np.int64(0), np.int64(0)
    entry = begin
    while entry < end:
        first = np.int64(search.stack.elements[entry])
        row_end = np.int64(rows.row_ends[rows.row_of[first]])
        next_row = _join_row_end(search, entry, end)
        word_end = _begin_row(joined, word, row_end - first, width)
        stack.tokens[count], stack.slots[count] = np.uint32(token), np.uint32(word << 6)
        begins = token
        for element in range(first, row_end):
            mask = _mask_element(search, element)
            is_end = entry < next_row and search.stack.elements[entry] == element
            entry += is_end
            if mask or element == first:
                holds = is_end and (mask & above) != 0
                _place_element(joined, token, (word << 6) + token - begins, mask, holds, width)
                token += 1
        _fill_after(joined, begins, token)
        word, entry, count = word_end, next_row, count + 1
    return count


@part
def open_joins(search, begin, end, last, length, kept):  # type: ignore[no-untyped-def]
    """Begin a search over words behind a pattern; returns GROW if there is no room for it."""
    state, joined = search.state, search.joined
    if _lacks_join_room(search, begin, end, kept + 2):
        return GROW
    lower = np.uint64(0)
    for item in range(last + 1):
        lower += np.uint64(joined.number_of[item] >= 0)
    above = ~((np.uint64(1) << lower) - np.uint64(1))
    count = _join_rows(search, begin, end, above, kept + 2)
    state[MASK_ITEMS], state[PREFIX], state[JOIN_DEPTH] = kept, length, -1
    lasts = np.uint64(1) << np.uint64(kept)
    return open_join_children(state, joined, search.join_stack, np.int64(0), count, lasts, above, np.int64(0), count)
