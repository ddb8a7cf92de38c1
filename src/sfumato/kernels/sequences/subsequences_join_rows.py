# SPDX-License-Identifier: MIT
"""Lay out rows for the search over words of `subsequences_joins`: whole rows where few items are frequent, else the
rows of a pattern, from where its leftmost match ends, with only the items that are frequent there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached, part
from sfumato.kernels.sequences.subsequences_masks import count_extensions

from sfumato.kernels.sequences.subsequences_joins import (  # isort: skip
    HOLDS, JOIN_OFFSET, MOST_JOIN_ITEMS, JoinPattern, JoinRows, JoinStack, JoinTasks, list_occurrences,
    open_join_children,
)  # fmt: skip
from sfumato.kernels.sequences.subsequences_output import (  # isort: skip
    GROW, JOIN_DEPTH, JOIN_ENTRIES, JOIN_OCCURRENCES, JOIN_TOKENS, PATTERN_LARGEST, PATTERN_LEAST, MASK_ITEMS, PREFIX,
    PATTERN_WORK_LEFT,
    find_lowest_bit, lacks_pattern_room, take_serial,
)  # fmt: skip
from sfumato.kernels.sequences.subsequences_prepare import OFFSETS, TOKENS, make_signature


@part
def _fill_row(state, rows, begin, end, occurrence):
    """Fill in all that follows from the masks of a row's elements, the last first; returns the next occurrence."""
    later_items = np.uint64(0)
    for token in range(end - 1, begin - 1, -1):
        rows.followers[token] = later_items
        rows.begins[token] = np.uint32(occurrence)
        later_items |= rows.masks[token]
        remaining_items = rows.masks[token] & ~HOLDS
        state[PATTERN_LARGEST] = max(state[PATTERN_LARGEST], np.int64(popcount(remaining_items)))
        while remaining_items:
            item = np.int64(find_lowest_bit(remaining_items))
            remaining_items &= remaining_items - np.uint64(1)
            joining_items = rows.nearest[item] | remaining_items
            rows.nearest[item], rows.joining_items[occurrence] = joining_items, joining_items
            occurrence += 1
    while later_items:
        rows.nearest[np.int64(find_lowest_bit(later_items))] = 0
        later_items &= later_items - np.uint64(1)
    return occurrence


@part
def _enter_row(rows, tasks, cursor, begin):
    """Note the first element with each item of a row."""
    remaining_items = rows.followers[begin] | rows.masks[begin]
    token = begin
    while remaining_items:
        items = rows.masks[token] & remaining_items
        remaining_items ^= items
        while items:
            item = np.int64(find_lowest_bit(items))
            items &= items - np.uint64(1)
            entry = cursor[item]
            tasks.tokens[entry] = np.uint32(token)
            cursor[item] = entry + 1
        token += 1


@compile_cached(f"void(int64[::1], {TOKENS}, {OFFSETS}, JoinRows, JoinTasks, int64[::1])", allocates=False)
def lay_joins(state, codes, element_offsets, offsets, rows, tasks, cursor):
    """Turn all sequences into words and list the first elements with each item; `cursor` says where these begin."""
    token, occurrence = np.int64(0), np.int64(0)
    for row in range(offsets.shape[0] - 1):
        begin = token
        for element in range(offsets[row], offsets[row + 1]):
            mask = np.uint64(0)
            for position in range(element_offsets[element], element_offsets[element + 1]):
                number = rows.number_of[np.uint32(codes[position])]
                if number >= 0:
                    mask |= np.uint64(1) << np.uint64(number)
            if mask:
                rows.masks[token] = mask
                token += 1
        if token > begin:
            occurrence = _fill_row(state, rows, begin, token, occurrence)
            _enter_row(rows, tasks, cursor, begin)


@compile_cached("void(int64[::1], JoinRows, JoinTasks, JoinStack)", allocates=False)
def count_join_pairs(state, rows, tasks, stack):
    """In how many rows each item is followed and joined by each, and by which in enough of them."""
    items, least, tally = state[MASK_ITEMS], state[PATTERN_LEAST], stack.tally
    for item in range(items):
        begin, end = tasks.starts[item], tasks.starts[item + 1]
        first = 2 * JOIN_OFFSET * item
        rows.frequent_followers[item], rows.frequent_joiners[item] = 0, 0
        count_extensions(rows.followers, tasks.tokens, begin, end, items, tally, stack.planes)
        for other in range(items):
            rows.pairs[first + other] = tally[other]
            rows.frequent_followers[item] |= np.uint64(tally[other] >= least) << np.uint64(other)
        list_occurrences(rows, tasks.tokens, begin, end, item, stack.occurrences)
        count_extensions(rows.joining_items, stack.occurrences, np.int64(0), end - begin, items, tally, stack.planes)
        for other in range(items):
            rows.pairs[first + JOIN_OFFSET + other] = tally[other]
            rows.frequent_joiners[item] |= np.uint64(tally[other] >= least) << np.uint64(other)


@part
def _count_behind(search, begin, end, last):
    """Count, once a row, what can follow a pattern and what can join its last element; returns how much work it was."""
    state, rows, elements = search.state, search.rows, search.stack.elements
    tally, seen_serials = search.scratch.tally, search.scratch.seen_serials
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
            if seen_serials[item] != serial:
                seen_serials[item] = serial
                tally[item] += 1
        while entry < end and rows.row_of[elements[entry]] == row:
            token = rows.starts[elements[entry] + 1] - 1
            while token >= rows.starts[elements[entry]] and rows.tokens[token] > last:
                item = np.uint32(items + rows.tokens[token])
                if seen_serials[item] != serial:
                    seen_serials[item] = serial
                    tally[item] += 1
                token -= 1
            entry += 1
        work += stop - first
    return work


@part
def number_extensions(search, begin, end, last, length):
    """Count what extends a pattern and number the items of frequent extensions; returns how many there are."""
    least, tally, joined_rows, pairs = search.state[PATTERN_LEAST], search.scratch.tally, search.join_rows, search.pairs
    items = np.int64(search.rows.codes.shape[0])
    kept_count = np.int64(0)
    search.state[PATTERN_WORK_LEFT] -= 64
    if length == 1 and pairs.order_counts.shape[0]:
        for item in range(items):
            tally[item] = pairs.order_counts[last * items + item]
            tally[items + item] = pairs.joint_counts[last * items + item]
    else:
        search.state[PATTERN_WORK_LEFT] -= 4 * _count_behind(search, begin, end, last)
    for item in range(items):
        is_kept = tally[item] >= least or tally[items + item] >= least
        if is_kept and kept_count < MOST_JOIN_ITEMS:
            joined_rows.codes[kept_count], joined_rows.ranks[kept_count] = search.rows.codes[item], np.int32(item)
        joined_rows.number_of[item] = np.int32(kept_count) if is_kept else np.int32(-1)
        kept_count += is_kept
    return kept_count


@part
def _list_partners(search, kept_count):
    """Which items can follow and join each, as far as pairs were counted."""
    joined_rows, pairs, least = search.join_rows, search.pairs, search.state[PATTERN_LEAST]
    items = np.int64(search.rows.codes.shape[0])
    for number in range(kept_count):
        joined_rows.frequent_followers[number] = ~np.uint64(0)
        joined_rows.frequent_joiners[number] = ~((np.uint64(2) << np.uint64(number)) - np.uint64(1))
        if pairs.order_counts.shape[0]:
            joined_rows.frequent_followers[number], joined_rows.frequent_joiners[number] = 0, 0
            for other in range(kept_count):
                pair, bit = np.int64(joined_rows.ranks[number]) * items + joined_rows.ranks[other], np.uint64(other)
                joined_rows.frequent_followers[number] |= np.uint64(pairs.order_counts[pair] >= least) << bit
                joined_rows.frequent_joiners[number] |= np.uint64(pairs.joint_counts[pair] >= least) << bit


@part
def _mask_element(search, element):
    starts, mask = search.rows.starts, np.uint64(0)
    for token in range(np.uint64(starts[element]), np.uint64(starts[element + np.uint64(1)])):
        number = search.join_rows.number_of[np.uint32(search.rows.tokens[token])]
        if number >= 0:
            mask |= np.uint64(1) << np.uint64(number)
    return mask


@part
def _join_row_end(search, entry, end):
    """The entry after the last of the same row."""
    row_of, elements = search.rows.row_of, search.stack.elements
    row = row_of[elements[entry]]
    while entry < end and row_of[elements[entry]] == row:
        entry += 1
    return entry


@part
def _lacks_join_room(search, begin, end):
    """Whether an array is too short for the rows behind a pattern, which are parts of all rows."""
    state, rows, joined_rows = search.state, search.rows, search.join_rows
    return (
        lacks_pattern_room(state, JOIN_TOKENS, joined_rows.masks.shape[0], rows.row_of.shape[0])
        or lacks_pattern_room(state, JOIN_OCCURRENCES, joined_rows.joining_items.shape[0], rows.tokens.shape[0])
        or lacks_pattern_room(state, JOIN_ENTRIES, search.join_stack.tokens.shape[0], end - begin)
    )


@part
def _sign_kept(joined_rows, kept_count):
    """The bits of the items that are kept."""
    signature = np.uint64(0)
    for number in range(kept_count):
        signature |= make_signature(np.uint32(joined_rows.ranks[number]))
    return signature


@part
def _is_at_end(search, entry, last, wanted_signature):
    """Whether nothing that is wanted comes behind the last item of a pattern in a row."""
    rows, element = search.rows, np.uint32(search.stack.elements[entry])
    if not rows.signatures[element] & wanted_signature:
        return True
    next_element = element + np.uint32(1)
    is_last = next_element == np.uint32(rows.row_ends[np.uint32(rows.row_of[element])])
    if is_last or not rows.signatures[next_element] & wanted_signature:
        return rows.tokens[np.uint64(rows.starts[next_element]) - np.uint64(1)] == last
    return False


class _MaskedRow(NamedTuple):
    """Where the tokens of a row end, and whether anything in it extends the pattern."""

    end: np.int64
    is_extended: bool


@part
def _mask_row(search, entry, next_row, token, higher_items, wanted_signature):
    """Write the masks of what is behind a pattern in a row, as far as anything wanted is there."""
    rows, joined_rows, elements = search.rows, search.join_rows, search.stack.elements
    first = np.uint64(elements[entry])
    is_extended = False
    for element in range(first, np.uint64(rows.row_ends[np.uint32(rows.row_of[first])])):
        if not rows.signatures[element] & wanted_signature:
            break
        mask = _mask_element(search, element)
        is_end = entry < next_row and elements[entry] == element
        entry += is_end
        if mask or element == first:
            holds = is_end and (mask & higher_items) != 0
            is_extended = bool(is_extended or holds or (mask != 0 and element > first))
            joined_rows.masks[token] = mask | (HOLDS if holds else np.uint64(0))
            token += 1
    return _MaskedRow(token, is_extended)


@part
def _join_rows(search, begin, end, last, higher_items, wanted_signature):
    """Turn the rows behind a pattern, from where its leftmost match ends, into words; returns how many there are."""
    joined_rows, stack = search.join_rows, search.join_stack
    token, count, occurrence = np.int64(0), np.int64(0), np.int64(0)
    entry = begin
    while entry < end:
        next_row = _join_row_end(search, entry, end)
        if entry + 1 == next_row and _is_at_end(search, entry, last, wanted_signature):
            entry = next_row
            continue
        row = _mask_row(search, entry, next_row, token, higher_items, wanted_signature)
        if row.is_extended:
            stack.tokens[count] = np.uint32(token)
            occurrence = _fill_row(search.state, joined_rows, token, row.end, occurrence)
            token, count = row.end, count + 1
        entry = next_row
    return count


@part
def open_joins(search, begin, end, last, length, kept_count):
    """Begin a search over words behind a pattern; returns GROW if there is no room for it."""
    state, joined_rows = search.state, search.join_rows
    if _lacks_join_room(search, begin, end):
        return GROW
    lower = np.uint64(0)
    for item in range(last + 1):
        lower += np.uint64(joined_rows.number_of[item] >= 0)
    higher_items = ~((np.uint64(1) << lower) - np.uint64(1))
    state[MASK_ITEMS], state[PREFIX], state[JOIN_DEPTH], state[PATTERN_LARGEST] = kept_count, length, -1, 1
    _list_partners(search, kept_count)
    count = _join_rows(search, begin, end, last, higher_items, _sign_kept(joined_rows, kept_count))
    pattern = JoinPattern(np.int64(0), count, np.int64(-1), HOLDS, ~np.uint64(0), higher_items)
    return open_join_children(state, joined_rows, search.join_stack, pattern, np.int64(0), count)


__all__ = ["JoinRows", "JoinStack", "JoinTasks", "count_join_pairs", "lay_joins", "number_extensions", "open_joins"]
