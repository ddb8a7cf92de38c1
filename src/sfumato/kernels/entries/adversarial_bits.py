# SPDX-License-Identifier: MIT
"""Nodes of the search for adversarial rules whose rows are bits: children are intersections of sets.

A node with row numbers becomes a base: each item that may extend it and each living target gets the set of its rows,
rows that hide something first, so that hidden rows are counted in the first few words. Below, nothing but words is
read, until a node is so much smaller than its base that new, shorter sets pay.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.bits import add_common_rows, count_common_rows, do_rows_meet, intersect_row_sets, list_set_rows
from sfumato.kernels.compilation import compile_cached

from sfumato.kernels.entries.adversarial_frames import (  # isort: skip
    BASE, BITS, CHILD_END, FRAME_COLUMN, COLUMN_EMPTY, COLUMN_HIDDEN, FRAME_COUNT, FRAME_END, FREE, HIDING_BEGIN,
    IN_BITS, FRAME_ITEM, FRAME_KIND, LIVE,
    LIVING_SET, PAIR, PAIR_COLUMN, PAIR_END, PAIR_FIELDS, PAIR_HIDDEN, PAIR_ITEM, PAIR_SHOWN, REACHED_SET, FRAME_SET,
    SHOWING_BEGIN, STEP,
    STEP_COLUMN, STEP_END, STEP_ITEM, STEP_NEXT, STEP_REACHED, STEP_SET, STEP_TOP, TARGETS, FRAME_TOP, TOUCHED_BEGIN,
)  # fmt: skip
from sfumato.kernels.entries.adversarial_rows import name_values, write_rule

ROW_BITS, TOUCHED_BITS, HIDDEN_BITS = range(3)
"""Where the bits of a value begin: of its rows, of touched ones, and of rows that hide it."""


@compile_cached("int64(int64)")
def count_words(rows):
    """How many words the bits of these rows take."""
    return (rows + 63) >> 6


@compile_cached(
    "void(int32[:,::1], int32[::1], int64, int64, int64, int32[::1], int64[:,::1], int64, uint64[::1], int64)"
)
def _set_rows(cell, rows, begin, end, column, slot, places, field, bits, word_offset):
    """Put a run of rows into the sets of their values, from a word of these sets on."""
    for position in range(end - begin):
        k = slot[cell[rows[begin + position], column]]
        if k:
            bits[places[k, field] + word_offset + (position >> 6)] |= np.uint64(1) << np.uint64(position & 63)


@compile_cached("void(uint64[::1], int64, int64)")
def _fill_bits(bits, begin, many):
    """The set of all rows: `many` bits."""
    for word in range(many >> 6):
        bits[begin + word] = ~np.uint64(0)
    if many & 63:
        bits[begin + (many >> 6)] = (np.uint64(1) << np.uint64(many & 63)) - np.uint64(1)


@compile_cached("int64(int32[:,::1], int32[::1], int64[::1], int64, int32[::1], int32[::1], int64, uint8[::1], int64)")
def _name_targets(cell, rows, frame, column, slot, names, many, alive, items):
    """Number on the living targets of a column, those that have no number yet; returns how many numbers there are."""
    for position in range(frame[LIVE], frame[FRAME_TOP]):
        code = cell[rows[position], column]
        if alive[code] and slot[code - items] == 0:
            many += 1
            slot[code - items] = many
            names[many] = code - items
    return many


@compile_cached("int64(PackedEntries, NodeStacks, ValueRoom, int64[::1], int64, boolean, int64, int64)")
def _make_pairs(entries, stacks, room, frame, column, target, many, free):
    """Give each named value of a column the set of rows that show it, each living one a pair; returns where bits are
    free. `tally[k]` becomes where value k is shown and where it was shown in touched rows."""
    cell, items = entries.cell, entries.settings.values
    rows, bits, pairs = stacks.rows, stacks.bits, stacks.pairs
    slot, names, places, alive = room.slot, room.names, room.tally, room.alive
    hiding_words = count_words(frame[SHOWING_BEGIN] - frame[HIDING_BEGIN])
    words = hiding_words + count_words(frame[TOUCHED_BEGIN] - frame[SHOWING_BEGIN])
    touched_words = count_words(frame[FRAME_END] - frame[TOUCHED_BEGIN])
    begin = free
    for k in range(1, many + 1):
        places[k, ROW_BITS], places[k, TOUCHED_BITS] = free, free + words
        free += words + touched_words
    places[many + 1, ROW_BITS] = free
    free += words if target else 0
    bits[begin:free] = np.uint64(0)
    slot[2 * items] = many + 1 if target else 0
    _set_rows(cell, rows, frame[HIDING_BEGIN], frame[SHOWING_BEGIN], column, slot, places, ROW_BITS, bits, 0)
    _set_rows(
        cell, rows, frame[SHOWING_BEGIN], frame[TOUCHED_BEGIN], column, slot, places, ROW_BITS, bits, hiding_words
    )
    slot[2 * items] = 0
    _set_rows(
        entries.earlier, rows, frame[TOUCHED_BEGIN], frame[FRAME_END], column, slot, places, TOUCHED_BITS, bits, 0
    )
    if not target:
        return free
    hidden_begin = free
    free += hiding_words
    empty = places[many + 1, ROW_BITS]
    if count_common_rows(bits, empty, empty, words) == 0:
        empty = -1
    for k in range(1, many + 1):
        places[k, HIDDEN_BITS] = -1
        if alive[items + names[k]]:
            pair = pairs[frame[PAIR_END]]
            frame[PAIR_END] += 1
            places[k, HIDDEN_BITS] = free
            pair[PAIR_COLUMN], pair[PAIR_ITEM] = column, names[k]
            pair[COLUMN_HIDDEN], pair[COLUMN_EMPTY] = hidden_begin, empty
            pair[PAIR_SHOWN], pair[PAIR_HIDDEN] = places[k, ROW_BITS], free
            free += hiding_words
    bits[hidden_begin:free] = np.uint64(0)
    for position in range(frame[SHOWING_BEGIN] - frame[HIDING_BEGIN]):
        code = cell[rows[frame[HIDING_BEGIN] + position], column]
        if items <= code < 2 * items:
            bit = np.uint64(1) << np.uint64(position & 63)
            bits[hidden_begin + (position >> 6)] |= bit
            k = slot[code - items]
            if k and places[k, HIDDEN_BITS] >= 0:
                bits[places[k, HIDDEN_BITS] + (position >> 6)] |= bit
    return free


@compile_cached("void(PackedEntries, NodeStacks, ValueRoom, int64)")
def build_bit_node(entries, stacks, room, depth):
    """Make a node with row numbers a base: sets for its rows, its steps and its living pairs."""
    cell, settings = entries.cell, entries.settings
    frame, targets, rows = stacks.frames[depth], stacks.targets[depth], stacks.rows
    bits, steps, pairs = stacks.bits, stacks.steps, stacks.pairs
    slot, names, places, alive = room.slot, room.names, room.tally, room.alive
    hiding_words = count_words(frame[SHOWING_BEGIN] - frame[HIDING_BEGIN])
    showing_words = count_words(frame[TOUCHED_BEGIN] - frame[SHOWING_BEGIN])
    touched_words = count_words(frame[FRAME_END] - frame[TOUCHED_BEGIN])
    free = frame[BITS]
    frame[FRAME_KIND], frame[BASE] = IN_BITS, depth
    frame[FRAME_SET], frame[LIVING_SET], frame[REACHED_SET] = (
        free,
        free + hiding_words + showing_words,
        free + 2 * hiding_words + showing_words,
    )
    _fill_bits(bits, free, frame[SHOWING_BEGIN] - frame[HIDING_BEGIN])
    _fill_bits(bits, free + hiding_words, frame[TOUCHED_BEGIN] - frame[SHOWING_BEGIN])
    _fill_bits(bits, frame[REACHED_SET], frame[FRAME_END] - frame[TOUCHED_BEGIN])
    free = frame[REACHED_SET] + touched_words
    frame[PAIR] = frame[PAIR_END]
    frame[STEP] = frame[STEP_TOP]
    offset = 0
    for column in range(settings.columns):
        target = offset < frame[TARGETS] and targets[offset] == column
        offset += target
        extends = column > frame[FRAME_COLUMN] and (frame[TARGETS] > 1 or not target)
        if not target and not extends:
            continue
        shown_count = 0
        if extends:
            shown_count = name_values(
                cell, rows, frame, column, entries.searched_mask, True, slot, names, settings.values
            )
        many = shown_count
        if target:
            many = _name_targets(cell, rows, frame, column, slot, names, shown_count, alive, settings.values)
        free = _make_pairs(entries, stacks, room, frame, column, target, many, free)
        first = frame[STEP_TOP]
        for k in range(1, shown_count + 1):
            is_frequent = (
                count_common_rows(bits, places[k, ROW_BITS], places[k, ROW_BITS], hiding_words + showing_words)
                >= settings.least
            )
            if is_frequent and (
                settings.tracks_rows == 0
                or do_rows_meet(bits, places[k, TOUCHED_BITS], places[k, TOUCHED_BITS], touched_words)
            ):
                step = steps[frame[STEP_TOP]]
                step[STEP_ITEM], step[STEP_COLUMN] = names[k], column
                step[STEP_SET], step[STEP_REACHED] = places[k, ROW_BITS], places[k, TOUCHED_BITS]
                frame[STEP_TOP] += 1
        steps[first : frame[STEP_TOP], STEP_NEXT] = frame[STEP_TOP]
        for k in range(1, many + 1):
            slot[names[k]] = 0
    bits[frame[LIVING_SET] : frame[LIVING_SET] + hiding_words] = np.uint64(0)
    for offset in range(frame[PAIR], frame[PAIR_END]):
        add_common_rows(bits, frame[FRAME_SET], pairs[offset, PAIR_HIDDEN], hiding_words, frame[LIVING_SET])
        alive[settings.values + pairs[offset, PAIR_ITEM]] = 0
    frame[STEP_END] = frame[STEP_TOP]
    frame[BITS] = free
    frame[FREE] = frame[FRAME_TOP]


@compile_cached(
    "boolean(uint64[::1], int64[:,::1], int64[::1], int64[::1], int64[::1], boolean[::1], boolean, RuleSettings)"
)
def step_to_next_child(bits, steps, base, frame, child, searched_mask, takes_all, settings):
    """Take steps from a node until enough rows, a living one and a touched one are left; whether one was found."""
    hiding_words = count_words(base[SHOWING_BEGIN] - base[HIDING_BEGIN])
    words = hiding_words + count_words(base[TOUCHED_BEGIN] - base[SHOWING_BEGIN])
    touched_words = count_words(base[FRAME_END] - base[TOUCHED_BEGIN])
    child[FRAME_SET], child[LIVING_SET], child[REACHED_SET] = (
        frame[BITS],
        frame[BITS] + words,
        frame[BITS] + words + hiding_words,
    )
    child[BITS] = child[REACHED_SET] + touched_words
    while frame[STEP] < frame[STEP_END]:
        step = steps[frame[STEP]]
        frame[STEP] += 1
        if not do_rows_meet(bits, frame[LIVING_SET], step[STEP_SET], hiding_words) or not (
            takes_all or searched_mask[step[STEP_ITEM]]
        ):
            continue
        if settings.tracks_rows == 1 and not do_rows_meet(bits, frame[REACHED_SET], step[STEP_REACHED], touched_words):
            continue
        child[FRAME_COUNT] = intersect_row_sets(bits, frame[FRAME_SET], step[STEP_SET], words, child[FRAME_SET])
        if child[FRAME_COUNT] < settings.least:
            continue
        intersect_row_sets(bits, frame[REACHED_SET], step[STEP_REACHED], touched_words, child[REACHED_SET])
        child[FRAME_ITEM], child[FRAME_COLUMN] = step[STEP_ITEM], step[STEP_COLUMN]
        child[FRAME_KIND], child[BASE], child[FREE] = IN_BITS, frame[BASE], frame[FREE]
        child[STEP], child[STEP_END], child[STEP_TOP] = step[STEP_NEXT], frame[STEP_END], frame[STEP_TOP]
        child[PAIR], child[PAIR_END], child[CHILD_END] = frame[PAIR], frame[PAIR_END], frame[CHILD_END]
        return True
    return False


@compile_cached(
    "boolean(uint64[::1], int64[::1], int64[::1], int64[:,::1], int64[::1], RuleSettings, int64[::1], int32[:,::1])"
)
def judge_bits(bits, base, child, pairs, targets, settings, state, rules):
    """Find the rules of a node and the pairs that live on below it, of those that the frame names; True if any do."""
    hiding_words = count_words(base[SHOWING_BEGIN] - base[HIDING_BEGIN])
    words = hiding_words + count_words(base[TOUCHED_BEGIN] - base[SHOWING_BEGIN])
    first, last = child[PAIR], child[PAIR_END]
    top = last
    target_count = 0
    last_column, public, hidden_count = np.int64(-1), np.int64(0), np.int64(0)
    for index in range(first, last):
        pair = pairs[index]
        column = pair[PAIR_COLUMN]
        if column == child[FRAME_COLUMN]:
            continue
        secretly = count_common_rows(bits, child[FRAME_SET], pair[PAIR_HIDDEN], hiding_words)
        if secretly == 0:
            continue
        fits = count_common_rows(bits, child[FRAME_SET], pair[PAIR_SHOWN], words)
        if fits < settings.least_fitting:
            continue
        if column != last_column:
            last_column = column
            hidden_count = count_common_rows(bits, child[FRAME_SET], pair[COLUMN_HIDDEN], hiding_words)
            public = child[FRAME_COUNT] - hidden_count
            if pair[COLUMN_EMPTY] >= 0:
                public -= count_common_rows(bits, child[FRAME_SET], pair[COLUMN_EMPTY], words)
        if public < settings.least:
            continue
        for field in range(PAIR_FIELDS):
            pairs[top, field] = pair[field]
        top += 1
        if target_count == 0 or targets[target_count - 1] != column:
            targets[target_count] = column
            target_count += 1
        write_rule(state, settings, rules, pair[PAIR_ITEM], public, fits, hidden_count, secretly)
    child[PAIR], child[PAIR_END], child[TARGETS] = last, top, target_count
    if top == last:
        return False
    bits[child[LIVING_SET] : child[LIVING_SET] + hiding_words] = np.uint64(0)
    for index in range(last, top):
        add_common_rows(bits, child[FRAME_SET], pairs[index, PAIR_HIDDEN], hiding_words, child[LIVING_SET])
    return True


@compile_cached("void(uint64[::1], int64[::1], int64[::1], int32[::1])")
def number_rows(bits, base, frame, rows):
    """Give a node of bits its rows as numbers too, where the stack is free."""
    hiding_words = count_words(base[SHOWING_BEGIN] - base[HIDING_BEGIN])
    showing_words = count_words(base[TOUCHED_BEGIN] - base[SHOWING_BEGIN])
    touched_words = count_words(base[FRAME_END] - base[TOUCHED_BEGIN])
    frame[HIDING_BEGIN] = frame[FREE]
    frame[SHOWING_BEGIN] = list_set_rows(
        bits, frame[FRAME_SET], hiding_words, rows, base[HIDING_BEGIN], frame[HIDING_BEGIN]
    )
    frame[TOUCHED_BEGIN] = list_set_rows(
        bits, frame[FRAME_SET] + hiding_words, showing_words, rows, base[SHOWING_BEGIN], frame[SHOWING_BEGIN]
    )
    frame[FRAME_END] = list_set_rows(
        bits, frame[REACHED_SET], touched_words, rows, base[TOUCHED_BEGIN], frame[TOUCHED_BEGIN]
    )


@compile_cached("void(int64[::1], int64[:,::1], uint8[::1], int64)")
def mark_living(frame, pairs, alive, items):
    """Say what lives by marks rather than by pairs, whose place becomes free."""
    for index in range(frame[PAIR], frame[PAIR_END]):
        alive[items + pairs[index, PAIR_ITEM]] = 1
    frame[PAIR_END] = frame[PAIR]
    frame[BITS] = frame[FRAME_SET]


@compile_cached("void(uint64[::1], int64[::1], int64[::1], int64[:,::1], uint8[::1], int64)")
def keep_pairs(bits, base, child, pairs, alive, items):
    """Keep the pairs that are marked as living, take the marks off, and note the rows that hide them."""
    hiding_words = count_words(base[SHOWING_BEGIN] - base[HIDING_BEGIN])
    last = top = child[PAIR_END]
    bits[child[LIVING_SET] : child[LIVING_SET] + hiding_words] = np.uint64(0)
    for index in range(child[PAIR], last):
        if alive[items + pairs[index, PAIR_ITEM]]:
            alive[items + pairs[index, PAIR_ITEM]] = 0
            for field in range(PAIR_FIELDS):
                pairs[top, field] = pairs[index, field]
            add_common_rows(bits, child[FRAME_SET], pairs[index, PAIR_HIDDEN], hiding_words, child[LIVING_SET])
            top += 1
    child[PAIR], child[PAIR_END] = last, top
