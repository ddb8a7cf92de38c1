# SPDX-License-Identifier: MIT
"""Search for adversarial rules, depth-first over the set-enumeration tree, in steps that can be left and resumed.

A target (a value of a column) lives on below a node only while a hidden row has it, enough public rows have it, and
enough rows show the column: the paper's pruning rules 2, 3 and 4, sharpened by the support. A node is visited only if
enough rows publicly have its antecedent (pruning rule 1) and one of them hides a living target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato.kernels.compilation import compile_cached
from sfumato.kernels.compiler import register_jitable
from sfumato.kernels.entries.adversarial_bits import (
    build_bit_node,
    count_words,
    judge_bits,
    keep_pairs,
    mark_living,
    number_rows,
    step_to_next_child,
)

from sfumato.kernels.entries.adversarial_frames import (  # isort: skip
    BASE, BITS, BITS_FULL, CHILD, CHILD_END, FRAME_COLUMN, FRAME_COUNT, STATE_DEPTH, ALL_DONE, FRAME_END, FREE,
    HIDING_BEGIN, IN_BITS, IN_ROWS, STATE_ITEMS,
    ITEMS_FULL, FRAME_KIND, STATE_LISTED, LISTS_FULL, LIVE, MORE, NEED, NODES, PAIR, PAIR_END, PAIRS_FULL, RULES,
    RULES_FULL,
    SHOWING_BEGIN, STACK_FULL, STEP, STEP_END, STEP_TOP, STEPS_FULL, TARGETS, TO_BUILD, TO_NUMBER, FRAME_TOP,
    TOUCHED_BEGIN,
)  # fmt: skip
from sfumato.kernels.entries.adversarial_rows import (
    forget_living,
    judge_rows,
    keep_living,
    name_values,
    spread_to_children,
    write_antecedent,
)  # fmt: skip

LONG, SHRUNK, BY_ROW, TO_RENEW = 4, 2, 30, 20
"""When rows are numbered again, all measured: sets of `LONG` words, shorter by `SHRUNK` then; looking at a row's entry
against counting a word, to judge a node and to make a base of it."""
inline_always: Callable[[Any], Any] = register_jitable(inline="always")
"""For parts of the search that many arrays go into: passing them would take as long as the part."""


@compile_cached("int64(int64[::1], RuleSettings, int64[::1], int64, int64, int64, int64)")
def _check_room_to_judge(state, settings, sizes, rules, count, free, numbers):
    """Which buffer may be too short to judge a node with this number of rows and possible rules, or `MORE`."""
    state[NEED] = state[RULES] + rules
    if state[NEED] > sizes[RULES_FULL]:
        return RULES_FULL
    state[NEED] = state[STATE_ITEMS] + settings.columns
    if state[NEED] > sizes[ITEMS_FULL]:
        return ITEMS_FULL
    state[NEED] = state[STATE_LISTED] + count
    if settings.lists_rows and state[NEED] > sizes[LISTS_FULL]:
        return LISTS_FULL
    state[NEED] = free + numbers
    if state[NEED] > sizes[STACK_FULL]:
        return STACK_FULL
    return MORE


@compile_cached("int64(int64[::1], RuleSettings, int64[::1], int64[::1], int64[::1], int64[::1])")
def _check_room_to_build(state, settings, sizes, frame, targets, first):
    """Which buffer may be too short to make a base of a node, `MORE` if none, `ALL_DONE` if the base is too large."""
    hiding_words = count_words(frame[SHOWING_BEGIN] - frame[HIDING_BEGIN])
    words = hiding_words + count_words(frame[TOUCHED_BEGIN] - frame[SHOWING_BEGIN])
    touched_words = count_words(frame[FRAME_END] - frame[TOUCHED_BEGIN])
    target_count, column = frame[FRAME_TOP] - frame[LIVE], frame[FRAME_COLUMN] + 1
    steps = min(target_count * (settings.columns - column), settings.values - first[column])
    pairs = 0
    for index in range(frame[TARGETS]):
        pairs += min(target_count, first[targets[index] + 1] - first[targets[index]])
    bits = (
        (1 + frame[TARGETS] + pairs) * (words + hiding_words)
        + touched_words
        + (steps + pairs) * (words + touched_words)
    )
    if bits > settings.afford:
        return ALL_DONE
    state[NEED] = frame[STEP_TOP] + steps
    if state[NEED] > sizes[STEPS_FULL]:
        return STEPS_FULL
    state[NEED] = frame[PAIR_END] + pairs
    if state[NEED] > sizes[PAIRS_FULL]:
        return PAIRS_FULL
    state[NEED] = frame[BITS] + bits
    return BITS_FULL if state[NEED] > sizes[BITS_FULL] else MORE


@compile_cached("int64(int64[::1], RuleSettings, int64[::1], int64[::1], int64[::1])")
def _check_room_to_step(state, settings, sizes, frame, base):
    """Which buffer may be too short for any child of a node of bits, or `MORE`."""
    pairs = frame[PAIR_END] - frame[PAIR]
    state[NEED] = frame[PAIR_END] + pairs
    if state[NEED] > sizes[PAIRS_FULL]:
        return PAIRS_FULL
    # As many words as the base's runs can take, the first of them twice.
    state[NEED] = (
        frame[BITS] + 4 + (base[FRAME_END] - base[HIDING_BEGIN] + base[SHOWING_BEGIN] - base[HIDING_BEGIN]) // 64
    )
    if state[NEED] > sizes[BITS_FULL]:
        return BITS_FULL
    numbers = 2 * frame[FRAME_COUNT] + base[FRAME_END] - base[TOUCHED_BEGIN]
    return _check_room_to_judge(state, settings, sizes, pairs, frame[FRAME_COUNT], frame[FREE], numbers)


@inline_always
def _is_better_in_rows(base, child):
    """Whether looking at a node's rows one by one takes less than counting the words of its base for every pair."""
    words = (base[FRAME_END] - base[HIDING_BEGIN]) >> 6
    return words >= LONG and child[FRAME_COUNT] * (2 + child[TARGETS]) * BY_ROW < words * (
        child[PAIR_END] - child[PAIR]
    )


@inline_always
def _is_worth_a_base(base, child, columns):
    """Whether a node is so much smaller than its base that shorter sets of its own pay for its children alone."""
    words = (base[FRAME_END] - base[HIDING_BEGIN]) >> 6
    count_cost = (child[STEP_END] - child[STEP]) * (child[PAIR_END] - child[PAIR]) * words
    build_cost = child[FRAME_COUNT] * (columns - child[FRAME_COLUMN] + child[TARGETS]) * TO_RENEW
    return words >= LONG and (child[FRAME_COUNT] >> 6) * SHRUNK < words and count_cost > build_cost


@inline_always
def _judge(entries, stacks, room, buffer, depth):
    """Find the rules of a node from its rows; whether a target lives on."""
    return judge_rows(
        entries.cell,
        stacks.rows,
        stacks.state,
        stacks.frames,
        stacks.targets,
        entries.settings,
        depth,
        room,
        buffer.rules,
    )


@inline_always
def _visit_in_bits(entries, stacks, room, buffer, depth):
    """Judge the child that the last step led to; returns about how many entries were looked at."""
    settings, state, frames = entries.settings, stacks.state, stacks.frames
    rows, bits, pairs = stacks.rows, stacks.bits, stacks.pairs
    frame, child = frames[depth], frames[depth + 1]
    base = frames[frame[BASE]]
    child[TARGETS] = frame[TARGETS]
    state[NODES] += 1
    rule_count = state[RULES]
    by_row = _is_better_in_rows(base, child)
    if by_row:
        number_rows(bits, base, child, rows)
        work = (child[FRAME_END] - child[HIDING_BEGIN]) * (2 + frame[TARGETS])
        lives = _judge(entries, stacks, room, buffer, depth + 1)
        if lives:
            keep_pairs(bits, base, child, pairs, room.alive, settings.values)
    else:
        work = ((base[FRAME_END] - base[HIDING_BEGIN]) >> 6) * (1 + frame[PAIR_END] - frame[PAIR])
        lives = judge_bits(bits, base, child, pairs, stacks.targets[depth + 1], settings, state, buffer.rules)
    if state[RULES] > rule_count:
        if settings.lists_rows and not by_row:
            number_rows(bits, base, child, rows)
        write_antecedent(state, frames, depth + 1, settings.lists_rows, rows, buffer)
    if lives and depth + 1 < settings.longest and child[STEP] < child[STEP_END]:
        if _is_worth_a_base(base, child, settings.columns):
            child[FRAME_KIND] = TO_NUMBER
        state[STATE_DEPTH] += 1
    return work + 16


@inline_always
def _visit_in_rows(entries, stacks, room, buffer, depth):
    """Judge the next child that rows were dealt to, or the root; returns about how many entries were looked at."""
    settings, state, frames, rows = entries.settings, stacks.state, stacks.frames, stacks.rows
    child = frames[depth + 1]
    free = child[FRAME_END]
    if depth >= 0:
        frame = frames[depth]
        for field in range(FRAME_COUNT + 1):
            child[field] = stacks.children[frame[CHILD], field]
        for field in (BITS, STEP_TOP, PAIR_END, FRAME_COLUMN, CHILD_END):
            child[field] = frame[field]
        frame[CHILD] += 1
        free = frame[FREE]
    state[NODES] += 1
    rule_count = state[RULES]
    lives = _judge(entries, stacks, room, buffer, depth + 1)
    if state[RULES] > rule_count:
        write_antecedent(state, frames, depth + 1, settings.lists_rows, rows, buffer)
    if lives:
        keep_living(entries.cell, rows, child, stacks.targets[depth + 1], room.alive, free)
        if depth + 1 < settings.longest and child[FRAME_COLUMN] + 1 < settings.columns:
            child[FRAME_KIND] = TO_BUILD
            state[STATE_DEPTH] += 1
        else:
            forget_living(entries.cell, rows, child, stacks.targets[depth + 1], room.alive)
    return (child[FRAME_END] - child[HIDING_BEGIN]) * (1 + child[TARGETS])


@inline_always
def _deal_next_column(entries, stacks, room, depth):
    """Deal the rows of a node out by the values of the next column."""
    cell, rows, frames, slot, names = entries.cell, stacks.rows, stacks.frames, room.slot, room.names
    frame, settings = frames[depth], entries.settings
    if frame[TARGETS] > 1 or stacks.targets[depth, 0] != frame[FRAME_COLUMN]:
        many = name_values(
            cell, rows, frame, frame[FRAME_COLUMN], entries.searched_mask, depth > 0, slot, names, settings.values
        )
        frame[CHILD] = frames[depth - 1, CHILD_END] if depth else 0
        frame[CHILD_END] = frame[CHILD]
        if many:
            frame[CHILD_END] = spread_to_children(
                cell, entries.earlier, rows, frame, many, settings, slot, names, room.tally, stacks.children
            )


@inline_always
def _make_base(entries, stacks, room, sizes, depth):
    """Give a node sets of its own if they are not too large; returns what is full, and what was looked at."""
    frame, settings = stacks.frames[depth], entries.settings
    full = _check_room_to_build(stacks.state, settings, sizes, frame, stacks.targets[depth], entries.first)
    work = 0
    if full == ALL_DONE:
        forget_living(entries.cell, stacks.rows, frame, stacks.targets[depth], room.alive)
        frame[FRAME_KIND], frame[CHILD], full = IN_ROWS, frame[CHILD_END], MORE
    elif full == MORE:
        work = (frame[FRAME_END] - frame[HIDING_BEGIN]) * (settings.columns - frame[FRAME_COLUMN] + frame[TARGETS])
        build_bit_node(entries, stacks, room, depth)
    return full, work


@inline_always
def _go_to_next_column(entries, stacks, room, depth):
    """Leave a node, or extend it by the next column; returns what is full, and what was looked at."""
    state, frame = stacks.state, stacks.frames[depth]
    state[NEED] = frame[FRAME_TOP] + frame[FRAME_END] - frame[HIDING_BEGIN]
    full, work = MORE, 0
    if state[NEED] > len(stacks.rows):
        full = STACK_FULL
    else:
        frame[FRAME_COLUMN] += 1
        if frame[FRAME_COLUMN] == entries.settings.columns:
            state[STATE_DEPTH] -= 1
        else:
            _deal_next_column(entries, stacks, room, depth)
            work = 2 * (frame[FRAME_END] - frame[HIDING_BEGIN])
    return full, work


@inline_always
def _buffer_sizes(stacks, buffer):
    """How long the buffers are that may have to grow."""
    sizes = np.zeros(PAIRS_FULL + 1, dtype=np.int64)
    sizes[STACK_FULL], sizes[RULES_FULL], sizes[ITEMS_FULL] = len(stacks.rows), len(buffer.rules), len(buffer.items)
    sizes[LISTS_FULL], sizes[BITS_FULL] = len(buffer.listed_rows), len(stacks.bits)
    sizes[STEPS_FULL], sizes[PAIRS_FULL] = len(stacks.steps), len(stacks.pairs)
    return sizes


@compile_cached("int64(PackedEntries, NodeStacks, ValueRoom, RuleBuffer, int64[::1], int64)", allocates=False)
def _search_within(entries, stacks, room, buffer, sizes, budget):
    """Go on with a search in buffers of these sizes."""
    settings, state, frames = entries.settings, stacks.state, stacks.frames
    while budget > 0:
        depth = state[STATE_DEPTH]
        frame = frames[max(depth, 0)]
        full, work = MORE, 0
        if depth >= 0 and frame[FRAME_KIND] == IN_BITS:
            base = frames[frame[BASE]]
            full = _check_room_to_step(state, settings, sizes, frame, base)
            if full == MORE:
                if step_to_next_child(
                    stacks.bits,
                    stacks.steps,
                    base,
                    frame,
                    frames[depth + 1],
                    entries.searched_mask,
                    depth > 0,
                    settings,
                ):
                    work = _visit_in_bits(entries, stacks, room, buffer, depth)
                else:
                    state[STATE_DEPTH] -= 1
        elif depth >= 0 and frame[FRAME_KIND] == TO_NUMBER:
            number_rows(stacks.bits, frames[frame[BASE]], frame, stacks.rows)
            mark_living(frame, stacks.pairs, room.alive, settings.values)
            keep_living(entries.cell, stacks.rows, frame, stacks.targets[depth], room.alive, frame[FRAME_END])
            frame[FRAME_KIND] = TO_BUILD
        elif depth >= 0 and frame[FRAME_KIND] == TO_BUILD:
            full, work = _make_base(entries, stacks, room, sizes, depth)
        elif depth >= 0 and frame[CHILD] == frame[CHILD_END]:
            full, work = _go_to_next_column(entries, stacks, room, depth)
        else:
            node = stacks.children[frame[CHILD]] if depth >= 0 else frame
            hiding_rows = node[SHOWING_BEGIN] - node[HIDING_BEGIN]
            most, free = (
                min(hiding_rows * settings.columns, settings.values),
                frame[FREE] if depth >= 0 else frame[FRAME_END],
            )
            full = _check_room_to_judge(state, settings, sizes, most, node[FRAME_COUNT], free, hiding_rows)
            if full == MORE:
                work = _visit_in_rows(entries, stacks, room, buffer, depth)
                if state[STATE_DEPTH] < 0:
                    return ALL_DONE
        budget -= work
        if full != MORE:
            return full
        if depth == 0 and state[STATE_DEPTH] < 0:
            return ALL_DONE
    return MORE


@compile_cached("int64(PackedEntries, NodeStacks, ValueRoom, RuleBuffer, int64)")
def search_adversarial_rules(entries, stacks, room, buffer, budget):
    """Go on with a search until about `budget` entries were looked at, all is done, or a buffer is too short.

    At depth −1 it begins: the runs of the whole table are in the first frame.
    """
    return _search_within(entries, stacks, room, buffer, _buffer_sizes(stacks, buffer), budget)
