# SPDX-License-Identifier: MIT
"""Search for subsequences of itemsets, under limits on gaps and windows, and for closed and maximal ones.

A pattern's entries are the elements where some match of it ends, each with the latest position at which such a match
can begin: what may follow depends on nothing else, so that supports are exact under both limits, where the leftmost
match alone would miss some. Without limits and with single items the leftmost end is enough and the only one kept.

Where all patterns are asked for, without limits, the search goes on over words (`subsequences_joins`) as soon as few
enough items are left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, IntGrid, Ints
from sfumato.kernels.compilation import compile_cached, part, record
from sfumato.kernels.sequences.subsequences_closed import (
    ElementRows,
    InsertionScratch,
    count_insertions,
    split_elements,
)
from sfumato.kernels.sequences.subsequences_join_rows import number_extensions, open_joins
from sfumato.kernels.sequences.subsequences_joins import MOST_JOIN_ITEMS, JoinRows, JoinStack, search_joins
from sfumato.kernels.sequences.subsequences_pairs import PairCounts

from sfumato.kernels.sequences.subsequences_output import (  # isort: skip
    ALL_PATTERNS, CLOSED_PATTERNS, PATTERN_DEPTH, SEARCH_DONE, END_CHILDREN, END_ENTRIES, END_FRAMES, END_SLOTS,
    FIRST_ONLY, FIRST_TASK, FULL, GROW,
    JOIN_DEPTH, JOINS, PATTERN_KIND, PATTERN_LEAST, MAX_GAP, PATTERN_MAX_LENGTH, SEARCH_PAUSED, STOP_TASK, NO_LIMIT,
    WINDOW,
    PATTERN_WORK_LEFT, PatternBuffer,
    give_pattern, fits_pattern, lacks_pattern_room, take_serial,
)  # fmt: skip


@record
class EndStack(NamedTuple):
    """What is still to be visited: patterns, and their entries one after another."""

    frames: IntGrid
    items: Codes
    """The last item of each pattern; the number of items is added if it joins the element before it."""
    begins: Ints
    ends: Ints
    supports: Ints
    elements: Codes
    first_positions: Codes


@record
class EndScratch(NamedTuple):
    """For each extension: how many rows and entries it has, or where to write these, and when it was last seen."""

    tally: Ints
    places: Ints
    seen_serials: Ints


@record
class EndSearch(NamedTuple):
    """All that a search over ends works with."""

    state: Ints
    output: PatternBuffer
    path: Codes
    ranks: Codes
    rows: ElementRows
    pairs: PairCounts
    stack: EndStack
    scratch: EndScratch
    insertions: InsertionScratch
    join_rows: JoinRows
    join_stack: JoinStack


CHILD_INDEX, STOP, TOP, END_FRAME = range(4)


@part
def _begin_tasks(search):
    """Put the items that the search is to begin with on the stack, which has room for their entries."""
    state, rows, stack = search.state, search.rows, search.stack
    first, stop = state[FIRST_TASK], state[STOP_TASK]
    top = np.int64(0)
    for item in range(first, stop):
        child = item - first
        stack.items[child], stack.begins[child], stack.supports[child] = np.int32(item), top, rows.supports[item]
        previous_row = np.int32(-1)
        for entry in range(rows.task_starts[item], rows.task_starts[item + 1]):
            element = rows.task_elements[entry]
            is_new = rows.row_of[element] != previous_row
            previous_row = rows.row_of[element]
            if is_new or not state[FIRST_ONLY]:
                stack.elements[top] = element
                stack.first_positions[top] = rows.position_of[element]
                top += 1
        stack.ends[child] = top
    stack.frames[0, CHILD_INDEX], stack.frames[0, STOP], stack.frames[0, TOP] = 0, stop - first, top
    state[PATTERN_DEPTH], state[FIRST_TASK] = 0, stop


@part
def _note_extension(search, extension, element, first_position, serial, pushes):
    """Count an extension that ends at an element, or write its entry if it is frequent."""
    state, scratch, stack = search.state, search.scratch, search.stack
    is_new = scratch.seen_serials[extension] != serial
    scratch.seen_serials[extension] = serial
    if state[FIRST_ONLY] and not is_new:
        return
    if pushes:
        if scratch.tally[extension] >= state[PATTERN_LEAST]:
            entry = scratch.places[extension]
            stack.elements[entry] = np.int32(element)
            stack.first_positions[entry] = np.int32(first_position)
            scratch.places[extension] = entry + 1
    else:
        scratch.tally[extension] += is_new
        scratch.places[extension] += 1


@part
def _find_farthest(search, entry):
    """The last position that can continue the match of an entry."""
    state, stack = search.state, search.stack
    end_position = np.int64(search.rows.position_of[stack.elements[entry]])
    return min(end_position + state[MAX_GAP] + 1, np.int64(stack.first_positions[entry]) + state[WINDOW] - 1)


@part
def _count_elements(search, element, last, farthest, serial):
    """Count the items of elements up to a position, each once a row; returns how much work that was."""
    rows, scratch, first_only = search.rows, search.scratch, search.state[FIRST_ONLY] != 0
    tokens, starts, position_of = rows.tokens, rows.starts, rows.position_of
    seen_serials, tally, places = scratch.seen_serials, scratch.tally, scratch.places
    begin = starts[element]
    while element < last and position_of[element] <= farthest:
        for token in range(starts[element], starts[element + 1]):
            item = np.uint32(tokens[token])
            is_new = seen_serials[item] != serial
            seen_serials[item] = serial
            tally[item] += is_new
            places[item] += is_new or not first_only
        element += 1
    return starts[element] - begin + 1


@part
def _push_elements(search, element, last, farthest, serial, first_position):
    """Write the entries of extensions by the items of elements up to a position."""
    rows = search.rows
    while element < last and rows.position_of[element] <= farthest:
        for token in range(rows.starts[element], rows.starts[element + 1]):
            _note_extension(search, np.int64(rows.tokens[token]), element, first_position, serial, True)
        element += 1


@part
def _follow_row(search, begin, end, pushes):
    """Note every extension by a new element, for one row's entries; returns how much work that was.

    A later entry never has an earlier beginning. So the entry before an element gives the latest beginning of a match
    that the element continues, and if it is too far away, so are all entries before it.
    """
    state, stack, rows = search.state, search.stack, search.rows
    serial = take_serial(state)
    row_end = np.int64(rows.row_ends[rows.row_of[stack.elements[begin]]])
    is_limited = state[MAX_GAP] != NO_LIMIT or state[WINDOW] != NO_LIMIT
    work = np.int64(0)
    for entry in range(begin, end):
        element = np.int64(stack.elements[entry]) + 1
        last = np.int64(stack.elements[entry + 1]) + 1 if entry + 1 < end else row_end
        farthest = _find_farthest(search, entry) if is_limited else np.int64(NO_LIMIT)
        first_position = np.int64(stack.first_positions[entry]) if is_limited else np.int64(0)
        if pushes:
            _push_elements(search, element, last, farthest, serial, first_position)
        else:
            work += _count_elements(search, element, last, farthest, serial)
    return work


@part
def _join_row(search, begin, end, last, pushes):
    """Note every extension of the last element by an item after its last one, for one row's entries."""
    state, stack, rows = search.state, search.stack, search.rows
    serial = take_serial(state)
    items = np.int64(rows.codes.shape[0])
    for entry in range(begin, end):
        element = np.int64(stack.elements[entry])
        token = rows.starts[element + 1] - 1
        while token >= rows.starts[element] and rows.tokens[token] > last:
            extension = items + rows.tokens[token]
            _note_extension(search, extension, element, stack.first_positions[entry], serial, pushes)
            token -= 1


@compile_cached("int64(EndSearch, int64, int64, int32, boolean)", allocates=False)
def _visit_rows(search, begin, end, last, pushes):
    """Note the extensions of a pattern in all its rows; returns how much work that was."""
    state, stack, row_of = search.state, search.stack, search.rows.row_of
    work = np.int64(0)
    while begin < end:
        row_end = begin + 1
        while row_end < end and row_of[stack.elements[row_end]] == row_of[stack.elements[begin]]:
            row_end += 1
        if state[JOINS]:
            _join_row(search, begin, row_end, last, pushes)
        work += _follow_row(search, begin, row_end, pushes)
        begin = row_end
    return work


@compile_cached("boolean(EndSearch, int64, int64, int64, boolean, int64, int64)", allocates=False)
def _can_take_item(search, begin, end, length, semi, limit, support):
    """Whether one item more, not at the end, leaves the pattern in at least `limit` rows."""
    state, stack, rows = search.state, search.stack, search.rows
    count = split_elements(search.ranks, length, search.insertions.begins)
    first_serial = take_serial(state)
    rows_left = np.int64(support)
    previous_row = np.int32(-1)
    for entry in range(begin, end):
        row = rows.row_of[stack.elements[entry]]
        if row == previous_row:
            continue
        previous_row = row
        rows_left -= 1
        serial = take_serial(state)
        best = count_insertions(rows, row, search.ranks, count, search.insertions, semi, serial, first_serial)
        if best >= limit:
            return True
        # Without a limit of all rows another row may still count more; with it, this row was part of every count.
        if limit == support and best + rows_left < limit:
            return False
    return False


@part
def _is_asked_for(search, begin, end, length, support):
    """Whether a pattern, its extensions counted, is of the kind that is asked for."""
    state, tally = search.state, search.scratch.tally
    limit = support if state[PATTERN_KIND] == CLOSED_PATTERNS else state[PATTERN_LEAST]
    for extension in range(2 * search.rows.codes.shape[0]):
        if tally[extension] >= limit:
            return False
    return not _can_take_item(search, begin, end, length, False, limit, support)


@part
def _open_children(search, begin, end, last, length):
    """Make a frame of the frequent extensions, already counted; returns GROW if there is no room for it."""
    state, stack, scratch = search.state, search.stack, search.scratch
    depth, least = state[PATTERN_DEPTH], state[PATTERN_LEAST]
    # Of the longest patterns nothing is asked but their supports.
    has_entries = length + 1 < state[PATTERN_MAX_LENGTH] or state[PATTERN_KIND] != ALL_PATTERNS
    total, children = np.int64(0), np.int64(0)
    for extension in range(scratch.tally.shape[0]):
        if scratch.tally[extension] >= least:
            total += scratch.places[extension] if has_entries else 0
            children += 1
    if children == 0:
        return SEARCH_DONE
    top, child = stack.frames[depth, TOP], stack.frames[depth, STOP]
    if (
        lacks_pattern_room(state, END_ENTRIES, stack.elements.shape[0], top + total)
        or lacks_pattern_room(state, END_FRAMES, stack.frames.shape[0], depth + 2)
        or lacks_pattern_room(state, END_CHILDREN, stack.items.shape[0], child + children)
    ):
        return GROW
    stack.frames[depth + 1, CHILD_INDEX] = child
    for extension in range(scratch.tally.shape[0]):
        if scratch.tally[extension] >= least:
            stack.items[child], stack.begins[child] = np.int32(extension), top
            stack.supports[child] = scratch.tally[extension]
            if has_entries:
                top, scratch.places[extension] = top + scratch.places[extension], top
            stack.ends[child] = top
            child += 1
    if has_entries:
        _visit_rows(search, begin, end, last, True)
    stack.frames[depth + 1, STOP], stack.frames[depth + 1, TOP] = child, top
    state[PATTERN_DEPTH] = depth + 1
    return SEARCH_DONE


@part
def _visit_pattern(search, child, length):
    """Count what extends a pattern, give it if it is asked for, and open its extensions; returns a status."""
    state, stack, rows, scratch = search.state, search.stack, search.rows, search.scratch
    begin, end, support = stack.begins[child], stack.ends[child], stack.supports[child]
    items = np.int64(rows.codes.shape[0])
    joins = stack.items[child] >= items
    last = np.int32(stack.items[child] - (items if joins else 0))
    search.ranks[length - 1] = ~last if joins else last
    search.path[length - 1] = ~rows.codes[last] if joins else rows.codes[last]
    slots = 2 * length * items
    is_checked = state[PATTERN_KIND] != ALL_PATTERNS
    if is_checked and lacks_pattern_room(state, END_SLOTS, search.insertions.counts.shape[0], slots):
        return GROW
    goes_on = length < state[PATTERN_MAX_LENGTH]
    if is_checked and _can_take_item(search, begin, end, length, True, support, support):
        state[PATTERN_WORK_LEFT] -= 64 * support
        return SEARCH_DONE
    if goes_on and not is_checked and state[MAX_GAP] == NO_LIMIT and state[WINDOW] == NO_LIMIT:
        # No rows are listed of an item that no other extends.
        kept_count = number_extensions(search, begin, end, last, length) if begin < end else np.int64(0)
        if kept_count <= MOST_JOIN_ITEMS:
            if kept_count and open_joins(search, begin, end, last, length, kept_count) == GROW:
                return GROW
            give_pattern(state, search.output, search.path, length, support)
            return SEARCH_DONE
    if goes_on or is_checked:
        for extension in range(2 * items):
            scratch.tally[extension] = 0
            scratch.places[extension] = 0
        state[PATTERN_WORK_LEFT] -= 64 + 2 * items + 8 * _visit_rows(search, begin, end, last, False)
    is_given = not is_checked or _is_asked_for(search, begin, end, length, support)
    if goes_on and _open_children(search, begin, end, last, length) == GROW:
        return GROW
    if is_given:
        give_pattern(state, search.output, search.path, length, support)
    return SEARCH_DONE


@compile_cached("int64(EndSearch)", allocates=False)
def search_ends(search):
    """Visit what is on the stack until nothing is left, the buffer is full, an array too short, or work done."""
    state, frames = search.state, search.stack.frames
    if state[FIRST_TASK] < state[STOP_TASK]:
        _begin_tasks(search)
    while state[PATTERN_DEPTH] >= 0:
        if state[JOIN_DEPTH] >= 0:
            status = search_joins(state, search.output, search.path, search.join_rows, search.join_stack)
            if status != SEARCH_DONE:
                return status
        depth = state[PATTERN_DEPTH]
        child = frames[depth, CHILD_INDEX]
        if child == frames[depth, STOP]:
            state[PATTERN_DEPTH] = depth - 1
            continue
        if state[PATTERN_WORK_LEFT] <= 0:
            return SEARCH_PAUSED
        if not fits_pattern(state, search.output, depth + 1):
            return FULL
        status = _visit_pattern(search, child, depth + 1)
        if status != SEARCH_DONE:
            return status
        frames[depth, CHILD_INDEX] = child + 1
    return SEARCH_DONE


__all__ = ["ElementRows", "EndScratch", "EndSearch", "EndStack", "InsertionScratch", "search_ends"]
