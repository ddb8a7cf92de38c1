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
from numba.extending import register_jitable

from sfumato.kernels.compiled import compiled
from sfumato.kernels.entries.adversarial_bits import (
    build,
    judge_bits,
    keep_pairs,
    mark_living,
    next_child,
    number_rows,
    words_for,
)
from sfumato.kernels.entries.adversarial_frames import (
    AFFORD,
    BASE,
    BITS,
    BITS_FULL,
    CHILD,
    CHILD_END,
    COLUMN,
    COLUMNS,
    COUNT,
    DEPTH,
    DONE,
    END,
    FREE,
    HIDING,
    IN_BITS,
    IN_ROWS,
    ITEMS,
    ITEMS_FULL,
    KIND,
    LISTED,
    LISTING,
    LISTS_FULL,
    LIVE,
    LONGEST,
    MORE,
    NEED,
    NODES,
    PAIR,
    PAIR_END,
    PAIRS_FULL,
    RULES,
    RULES_FULL,
    SHOWING,
    STACK_FULL,
    STEP,
    STEP_END,
    STEP_TOP,
    STEPS_FULL,
    TARGETS,
    TO_BUILD,
    TO_NUMBER,
    TOP,
    TOUCHED,
    VALUES,
)  # fmt: skip
from sfumato.kernels.entries.adversarial_rows import (
    forget_living,
    judge_rows,
    keep_living,
    name_values,
    spread,
    write_antecedent,
)  # fmt: skip

LONG, SHRUNK, BY_ROW, TO_RENEW = 4, 2, 30, 20
"""When rows are numbered again, all measured: sets of so many words, so much shorter then; looking at a row's entry
against counting a word, to judge a node and to make a base of it."""
inlined: Callable[[Any], Any] = register_jitable(inline="always")
"""For parts of the search that many arrays go into: passing them would take as long as the part."""


@compiled("int64(int64[::1], int64[::1], int64[::1], int64, int64, int64, int64)")
def _room_to_judge(state, settings, sizes, rules, count, free, numbers):  # type: ignore[no-untyped-def]
    """Which buffer may be too short to judge a node of so many rows that may have so many rules, or `MORE`."""
    state[NEED] = state[RULES] + rules
    if state[NEED] > sizes[RULES_FULL]:
        return RULES_FULL
    state[NEED] = state[ITEMS] + settings[COLUMNS]
    if state[NEED] > sizes[ITEMS_FULL]:
        return ITEMS_FULL
    state[NEED] = state[LISTED] + count
    if settings[LISTING] and state[NEED] > sizes[LISTS_FULL]:
        return LISTS_FULL
    state[NEED] = free + numbers
    if state[NEED] > sizes[STACK_FULL]:
        return STACK_FULL
    return MORE


@compiled("int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def _room_to_build(state, settings, sizes, frame, targets, first):  # type: ignore[no-untyped-def]
    """Which buffer may be too short to make a base of a node, `MORE` if none is, `DONE` if it would be too large."""
    hiding = words_for(frame[SHOWING] - frame[HIDING])
    words = hiding + words_for(frame[TOUCHED] - frame[SHOWING])
    touched = words_for(frame[END] - frame[TOUCHED])
    living, column = frame[TOP] - frame[LIVE], frame[COLUMN] + 1
    steps = min(living * (settings[COLUMNS] - column), settings[VALUES] - first[column])
    pairs = 0
    for at in range(frame[TARGETS]):
        pairs += min(living, first[targets[at] + 1] - first[targets[at]])
    bits = (1 + frame[TARGETS] + pairs) * (words + hiding) + touched + (steps + pairs) * (words + touched)
    if bits > settings[AFFORD]:
        return DONE
    state[NEED] = frame[STEP_TOP] + steps
    if state[NEED] > sizes[STEPS_FULL]:
        return STEPS_FULL
    state[NEED] = frame[PAIR_END] + pairs
    if state[NEED] > sizes[PAIRS_FULL]:
        return PAIRS_FULL
    state[NEED] = frame[BITS] + bits
    return BITS_FULL if state[NEED] > sizes[BITS_FULL] else MORE


@compiled("int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def _room_to_step(state, settings, sizes, frame, base):  # type: ignore[no-untyped-def]
    """Which buffer may be too short for any child of a node of bits, or `MORE`."""
    pairs = frame[PAIR_END] - frame[PAIR]
    state[NEED] = frame[PAIR_END] + pairs
    if state[NEED] > sizes[PAIRS_FULL]:
        return PAIRS_FULL
    # As many words as the base's runs can take, the first of them twice.
    state[NEED] = frame[BITS] + 4 + (base[END] - base[HIDING] + base[SHOWING] - base[HIDING]) // 64
    if state[NEED] > sizes[BITS_FULL]:
        return BITS_FULL
    numbers = 2 * frame[COUNT] + base[END] - base[TOUCHED]
    return _room_to_judge(state, settings, sizes, pairs, frame[COUNT], frame[FREE], numbers)


@inlined
def _better_in_rows(base, child):  # type: ignore[no-untyped-def]
    """Whether looking at a node's rows one by one takes less than counting the words of its base for every pair."""
    words = (base[END] - base[HIDING]) >> 6
    return words >= LONG and child[COUNT] * (2 + child[TARGETS]) * BY_ROW < words * (child[PAIR_END] - child[PAIR])


@inlined
def _worth_a_base(base, child, columns):  # type: ignore[no-untyped-def]
    """Whether a node is so much smaller than its base that shorter sets of its own pay for its children alone."""
    words = (base[END] - base[HIDING]) >> 6
    counting = (child[STEP_END] - child[STEP]) * (child[PAIR_END] - child[PAIR]) * words
    building = child[COUNT] * (columns - child[COLUMN] + child[TARGETS]) * TO_RENEW
    return words >= LONG and (child[COUNT] >> 6) * SHRUNK < words and counting > building


@inlined
def _visit_in_bits(  # type: ignore[no-untyped-def]
    cell, settings, state, frames, targets, rows, bits, pairs, slot, names, tally, alive, rules, starts, items,
    list_starts, listed, depth,
):  # fmt: skip
    """Judge the child that the last step led to; returns about how many entries were looked at."""
    frame, child = frames[depth], frames[depth + 1]
    base = frames[frame[BASE]]
    child[TARGETS] = frame[TARGETS]
    state[NODES] += 1
    before = state[RULES]
    by_row = _better_in_rows(base, child)
    if by_row:
        number_rows(bits, base, child, rows)
        work = (child[END] - child[HIDING]) * (2 + frame[TARGETS])
        lives = judge_rows(cell, rows, state, frames, targets, settings, depth + 1, slot, names, tally, alive, rules)
        if lives:
            keep_pairs(bits, base, child, pairs, alive, settings[VALUES])
    else:
        work = ((base[END] - base[HIDING]) >> 6) * (1 + frame[PAIR_END] - frame[PAIR])
        lives = judge_bits(bits, base, child, pairs, targets[depth + 1], settings, state, rules)
    if state[RULES] > before:
        if settings[LISTING] and not by_row:
            number_rows(bits, base, child, rows)
        write_antecedent(state, frames, depth + 1, settings, rows, starts, items, list_starts, listed)
    if lives and depth + 1 < settings[LONGEST] and child[STEP] < child[STEP_END]:
        if _worth_a_base(base, child, settings[COLUMNS]):
            child[KIND] = TO_NUMBER
        state[DEPTH] += 1
    return work + 16


@inlined
def _visit_in_rows(  # type: ignore[no-untyped-def]
    cell, settings, state, frames, targets, children, rows, slot, names, tally, alive, rules, starts, items,
    list_starts, listed, depth,
):  # fmt: skip
    """Judge the next child that rows were dealt to, or the root; returns about how many entries were looked at."""
    child = frames[depth + 1]
    free = child[END]
    if depth >= 0:
        frame = frames[depth]
        child[: COUNT + 1] = children[frame[CHILD], : COUNT + 1]
        for field in (BITS, STEP_TOP, PAIR_END, COLUMN, CHILD_END):
            child[field] = frame[field]
        frame[CHILD] += 1
        free = frame[FREE]
    state[NODES] += 1
    before = state[RULES]
    lives = judge_rows(cell, rows, state, frames, targets, settings, depth + 1, slot, names, tally, alive, rules)
    if state[RULES] > before:
        write_antecedent(state, frames, depth + 1, settings, rows, starts, items, list_starts, listed)
    if lives:
        keep_living(cell, rows, child, targets[depth + 1], alive, free)
        if depth + 1 < settings[LONGEST] and child[COLUMN] + 1 < settings[COLUMNS]:
            child[KIND] = TO_BUILD
            state[DEPTH] += 1
        else:
            forget_living(cell, rows, child, targets[depth + 1], alive)
    return (child[END] - child[HIDING]) * (1 + child[TARGETS])


@inlined
def _deal_next_column(  # type: ignore[no-untyped-def]
    cell, earlier, settings, ours, frames, targets, children, rows, slot, names, tally, depth
):  # fmt: skip
    """Deal the rows of a node out by the values of the next column."""
    frame = frames[depth]
    if frame[TARGETS] > 1 or targets[depth, 0] != frame[COLUMN]:
        many = name_values(cell, rows, frame, frame[COLUMN], ours, depth > 0, slot, names, settings[VALUES])
        frame[CHILD] = frames[depth - 1, CHILD_END] if depth else 0
        frame[CHILD_END] = frame[CHILD]
        if many:
            frame[CHILD_END] = spread(cell, earlier, rows, frame, many, settings, slot, names, tally, children)


@compiled(
    "int64(int32[:,::1], int32[:,::1], int64[::1], int64[::1], boolean[::1], int64[::1], int64[:,::1], int64[:,::1], "
    "int64[:,::1], int32[::1], uint64[::1], int64[:,::1], int64[:,::1], int32[::1], int32[::1], int64[:,::1], "
    "uint8[::1], int32[:,::1], int64[::1], int32[::1], int64[::1], int32[::1], int64)"
)
def search(  # type: ignore[no-untyped-def]
    cell, earlier, first, settings, ours, state, frames, targets,
    children, rows, bits, steps, pairs, slot, names, tally,
    alive, rules, starts, items, list_starts, listed, budget,
):  # fmt: skip
    """Go on with a search until about `budget` entries were looked at, all is done, or a buffer is too short.

    At depth −1 it begins: the runs of the whole table are in the first frame. `ours` says which items may come first
    in an antecedent, so that several searches can share the work.
    """
    sizes = np.zeros(PAIRS_FULL + 1, dtype=np.int64)
    sizes[STACK_FULL], sizes[RULES_FULL], sizes[ITEMS_FULL] = len(rows), len(rules), len(items)
    sizes[LISTS_FULL], sizes[BITS_FULL], sizes[STEPS_FULL], sizes[PAIRS_FULL] = (
        len(listed), len(bits), len(steps), len(pairs),
    )  # fmt: skip
    while budget > 0:
        depth = state[DEPTH]
        frame = frames[max(depth, 0)]
        full = MORE
        if depth >= 0 and frame[KIND] == IN_BITS:
            base = frames[frame[BASE]]
            full = _room_to_step(state, settings, sizes, frame, base)
            if full == MORE:
                if next_child(bits, steps, base, frame, frames[depth + 1], ours, depth > 0, settings):
                    budget -= _visit_in_bits(
                        cell, settings, state, frames, targets, rows, bits, pairs, slot, names, tally, alive, rules,
                        starts, items, list_starts, listed, depth,
                    )  # fmt: skip
                else:
                    state[DEPTH] -= 1
        elif depth >= 0 and frame[KIND] == TO_NUMBER:
            number_rows(bits, frames[frame[BASE]], frame, rows)
            mark_living(frame, pairs, alive, settings[VALUES])
            keep_living(cell, rows, frame, targets[depth], alive, frame[END])
            frame[KIND] = TO_BUILD
        elif depth >= 0 and frame[KIND] == TO_BUILD:
            full = _room_to_build(state, settings, sizes, frame, targets[depth], first)
            if full == DONE:
                forget_living(cell, rows, frame, targets[depth], alive)
                frame[KIND], frame[CHILD], full = IN_ROWS, frame[CHILD_END], MORE
            elif full == MORE:
                budget -= (frame[END] - frame[HIDING]) * (settings[COLUMNS] - frame[COLUMN] + frame[TARGETS])
                build(
                    cell, earlier, rows, frame, depth, targets[depth], ours, slot, names, tally, alive, settings,
                    bits, steps, pairs,
                )  # fmt: skip
        elif depth >= 0 and frame[CHILD] == frame[CHILD_END]:
            state[NEED] = frame[TOP] + frame[END] - frame[HIDING]
            if state[NEED] > len(rows):
                full = STACK_FULL
            else:
                frame[COLUMN] += 1
                if frame[COLUMN] == settings[COLUMNS]:
                    state[DEPTH] -= 1
                else:
                    _deal_next_column(
                        cell, earlier, settings, ours, frames, targets, children, rows, slot, names, tally, depth
                    )
                    budget -= 2 * (frame[END] - frame[HIDING])
        else:
            node = children[frame[CHILD]] if depth >= 0 else frame
            hiding = node[SHOWING] - node[HIDING]
            most, free = min(hiding * settings[COLUMNS], settings[VALUES]), frame[FREE] if depth >= 0 else frame[END]
            full = _room_to_judge(state, settings, sizes, most, node[COUNT], free, hiding)
            if full == MORE:
                budget -= _visit_in_rows(
                    cell, settings, state, frames, targets, children, rows, slot, names, tally, alive, rules, starts,
                    items, list_starts, listed, depth,
                )  # fmt: skip
                if state[DEPTH] < 0:
                    return DONE
        if full != MORE:
            return full
        if depth == 0 and state[DEPTH] < 0:
            return DONE
    return MORE
