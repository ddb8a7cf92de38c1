# SPDX-License-Identifier: MIT
"""Nodes of the search for adversarial rules whose rows are numbers on a stack, dealt out to children by value."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import compile_cached

from sfumato.kernels.entries.adversarial_frames import (  # isort: skip
    ANTECEDENTS, CHILD, FRAME_COLUMN, FRAME_COUNT, FRAME_END, FREE, HIDING_BEGIN, FRAME_ITEM, STATE_ITEMS, STATE_LISTED,
    LIVE, RULES, SHOWING_BEGIN, TARGETS, FRAME_TOP,
    TOUCHED_BEGIN,
)  # fmt: skip

RULE_ANTECEDENT, RULE_TARGET, RULE_PUBLIC, RULE_PUBLIC_FITS, RULE_HIDDEN, RULE_HIDDEN_FITS = range(6)
"""The fields of a rule."""
SHOWN_ROWS, HIDDEN_ROWS = range(2)
"""How many rows show a value, and how many hide it."""
HIDING_RUN, SHOWING_RUN, TOUCHED_RUN = range(3)
"""The three runs of a frame's rows."""


@compile_cached("void(int64[::1], RuleSettings, int32[:,::1], int64, int64, int64, int64, int64)")
def write_rule(state, settings, rules, target, public, fits, hidden_count, secretly):
    """Write a rule if it is adversarial: (antecedent, target, |pub|, those that fit, |hid|, those that fit)."""
    numerator, denominator = settings.numerator, settings.denominator
    if fits * denominator >= numerator * public and secretly * denominator >= numerator * hidden_count:
        rule_offset = state[RULES]
        rules[rule_offset, RULE_ANTECEDENT] = state[ANTECEDENTS]
        rules[rule_offset, RULE_TARGET] = target
        rules[rule_offset, RULE_PUBLIC] = public
        rules[rule_offset, RULE_PUBLIC_FITS] = fits
        rules[rule_offset, RULE_HIDDEN] = hidden_count
        rules[rule_offset, RULE_HIDDEN_FITS] = secretly
        state[RULES] += 1


@compile_cached("int64(int32[:,::1], int32[::1], int64[::1], int64, int64, int32[::1], int32[::1], int64[:,::1])")
def _count_hidden_values(cell, rows, frame, items, column, slot, names, tally):
    """Count the values that a column hides in some rows, and how often each is seen there; returns how many.

    `tally[k]` becomes (rows that show value k, rows that hide it), `tally[0]` (rows with nothing, rows that hide).
    """
    value_count = 0
    secret = 0
    for position in range(frame[HIDING_BEGIN], frame[SHOWING_BEGIN]):
        code = cell[rows[position], column] - items
        if 0 <= code < items:
            k = slot[code]
            if k == 0:
                value_count += 1
                k = np.int32(value_count)
                slot[code] = k
                names[k] = code
                tally[k, SHOWN_ROWS] = 0
                tally[k, HIDDEN_ROWS] = 0
            tally[k, HIDDEN_ROWS] += 1
            secret += 1
    if value_count == 0:
        return 0
    slot[2 * items] = value_count + 1
    tally[value_count + 1, SHOWN_ROWS] = 0
    for position in range(frame[HIDING_BEGIN], frame[TOUCHED_BEGIN]):
        tally[slot[cell[rows[position], column]], SHOWN_ROWS] += 1
    for k in range(1, value_count + 1):
        slot[names[k]] = 0
    slot[2 * items] = 0
    tally[0, SHOWN_ROWS] = tally[value_count + 1, SHOWN_ROWS]
    tally[0, HIDDEN_ROWS] = secret
    return value_count


@compile_cached(
    "boolean(int32[:,::1], int32[::1], int64[::1], int64[:,::1], int64[:,::1], RuleSettings, int64, ValueRoom, "
    "int32[:,::1])"
)
def judge_rows(cell, rows, state, frames, targets, settings, depth, room, rules):
    """Find the rules of a node and the targets that live on below it, which are marked; True if any do."""
    slot, names, tally, alive = room.slot, room.names, room.tally, room.alive
    frame = frames[depth]
    target_count = 0
    for index in range(frames[depth - 1, TARGETS] if depth else settings.columns):
        column = targets[depth - 1, index] if depth else index
        if column == frame[FRAME_COLUMN]:
            continue
        value_count = _count_hidden_values(cell, rows, frame, settings.values, column, slot, names, tally)
        hidden_count = tally[0, HIDDEN_ROWS]
        public = frame[FRAME_COUNT] - hidden_count - tally[0, SHOWN_ROWS]
        if value_count == 0 or public < settings.least:
            continue
        lives = False
        for k in range(1, value_count + 1):
            if tally[k, SHOWN_ROWS] >= settings.least_fitting:
                lives = True
                alive[settings.values + names[k]] = 1
                if depth or settings.prior:
                    write_rule(
                        state,
                        settings,
                        rules,
                        names[k],
                        public,
                        tally[k, SHOWN_ROWS],
                        hidden_count,
                        tally[k, HIDDEN_ROWS],
                    )
        if lives:
            targets[depth, target_count] = column
            target_count += 1
    frame[TARGETS] = target_count
    return target_count > 0


@compile_cached("void(int32[:,::1], int32[::1], int64[::1], int64[::1], uint8[::1], int64)")
def keep_living(cell, rows, frame, targets, alive, free):
    """List the rows of a node that hide a living target, where the stack is free."""
    top = free
    for position in range(frame[HIDING_BEGIN], frame[SHOWING_BEGIN]):
        for index in range(frame[TARGETS]):
            if alive[cell[rows[position], targets[index]]]:
                rows[top] = rows[position]
                top += 1
                break
    frame[LIVE] = free
    frame[FRAME_TOP] = top


@compile_cached("void(int32[:,::1], int32[::1], int64[::1], int64[::1], uint8[::1])")
def forget_living(cell, rows, frame, targets, alive):
    """Take the marks of living targets off again."""
    for position in range(frame[LIVE], frame[FRAME_TOP]):
        for index in range(frame[TARGETS]):
            alive[cell[rows[position], targets[index]]] = 0


@compile_cached(
    "int64(int32[:,::1], int32[::1], int64[::1], int64, boolean[::1], boolean, int32[::1], int32[::1], int64)"
)
def name_values(cell, rows, frame, column, searched_mask, takes_all, slot, names, items):
    """Number from 1 the values of a column that a node's living rows show, in their order; returns how many."""
    many = 0
    for position in range(frame[LIVE], frame[FRAME_TOP]):
        code = cell[rows[position], column]
        if code < items and slot[code] == 0 and (takes_all or searched_mask[code]):
            slot[code] = 1
            many += 1
            names[many] = code
    names[1 : many + 1].sort()
    for k in range(1, many + 1):
        slot[names[k]] = k
    return many


@compile_cached("void(int32[:,::1], int32[::1], int64, int64, int64, int32[::1], int64[:,::1], int64)")
def _deal_rows(cell, rows, begin, end, column, slot, places, run):
    """Deal a run of rows out to the children that their values belong to."""
    for position in range(begin, end):
        k = slot[cell[rows[position], column]]
        if k:
            rows[places[k, run]] = rows[position]
            places[k, run] += 1


@compile_cached(
    "int64(int32[:,::1], int32[:,::1], int32[::1], int64[::1], int64, RuleSettings, int32[::1], int32[::1], "
    "int64[:,::1], int64[:,::1])"
)
def spread_to_children(cell, earlier, rows, frame, many, settings, slot, names, places, children):
    """Extend a node by the named values of its column: children, written like frames, each with its runs of rows.

    Children begin at `children[frame[CHILD]]`; returns the number after the last one.
    """
    column = frame[FRAME_COLUMN]
    places[: many + 1] = 0
    for position in range(frame[HIDING_BEGIN], frame[SHOWING_BEGIN]):
        places[slot[cell[rows[position], column]], HIDING_RUN] += 1
    for position in range(frame[SHOWING_BEGIN], frame[TOUCHED_BEGIN]):
        places[slot[cell[rows[position], column]], SHOWING_RUN] += 1
    for position in range(frame[TOUCHED_BEGIN], frame[FRAME_END]):
        places[slot[earlier[rows[position], column]], TOUCHED_RUN] += 1
    last = frame[CHILD]
    free = frame[FRAME_TOP]
    for k in range(1, many + 1):
        count = places[k, HIDING_RUN] + places[k, SHOWING_RUN]
        if count < settings.least or (settings.tracks_rows == 1 and places[k, TOUCHED_RUN] == 0):
            slot[names[k]] = 0
            continue
        children[last, FRAME_ITEM] = names[k]
        children[last, FRAME_COUNT] = count
        for run in range(3):
            children[last, HIDING_BEGIN + run] = free
            size = places[k, run]
            places[k, run] = free
            free += size
        children[last, FRAME_END] = free
        last += 1
    if last > frame[CHILD]:
        _deal_rows(cell, rows, frame[HIDING_BEGIN], frame[SHOWING_BEGIN], column, slot, places, HIDING_RUN)
        _deal_rows(cell, rows, frame[SHOWING_BEGIN], frame[TOUCHED_BEGIN], column, slot, places, SHOWING_RUN)
        _deal_rows(earlier, rows, frame[TOUCHED_BEGIN], frame[FRAME_END], column, slot, places, TOUCHED_RUN)
    for k in range(1, many + 1):
        slot[names[k]] = 0
    frame[FREE] = free
    return last


@compile_cached("void(int64[::1], int64[:,::1], int64, int64, int32[::1], RuleBuffer)")
def write_antecedent(state, frames, depth, lists_rows, rows, buffer):
    """Write down the antecedent that was just found to have rules, and its rows in rising order."""
    starts, items, list_starts, listed_rows = buffer.starts, buffer.items, buffer.list_starts, buffer.listed_rows
    for index in range(1, depth + 1):
        items[state[STATE_ITEMS]] = frames[index, FRAME_ITEM]
        state[STATE_ITEMS] += 1
    state[ANTECEDENTS] += 1
    starts[state[ANTECEDENTS]] = state[STATE_ITEMS]
    if lists_rows:
        hiding_row, other, end = frames[depth, HIDING_BEGIN], frames[depth, SHOWING_BEGIN], frames[depth, TOUCHED_BEGIN]
        while hiding_row < frames[depth, SHOWING_BEGIN] or other < end:
            if other == end or (hiding_row < frames[depth, SHOWING_BEGIN] and rows[hiding_row] < rows[other]):
                listed_rows[state[STATE_LISTED]] = rows[hiding_row]
                hiding_row += 1
            else:
                listed_rows[state[STATE_LISTED]] = rows[other]
                other += 1
            state[STATE_LISTED] += 1
    list_starts[state[ANTECEDENTS]] = state[STATE_LISTED]
