# SPDX-License-Identifier: MIT
"""The set-enumeration tree of cut points, walked depth first: head, tail, bound, prune, branch.

A frame of the stack is a node: its head (the cuts made), the classes of its rows that are still large enough,
and its tail (the cuts that may yet be made). `STACK` is the state of the search; it can be left and resumed.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.anonymity.k_optimize_cells import (
    COST,
    GOOD,
    LABELS,
    LEAST,
    PENALTY,
    SMALL,
    SQUARES,
    SUPPRESS,
    TABLE,
    WORK,
    K,
    clear_cells,
    examine_class,
    group_cells,
    largest,
    set_bounds,
    set_intervals,
)
from sfumato.kernels.compiled import compiled

# rows of frames, class starts, tails, frames, cuts of the head, cuts of the best, state
STACK = "Tuple((int32[::1], int32[::1], int32[::1], int64[:,::1], boolean[::1], boolean[::1], int64[::1]))"

ROW, ROW_END, CLASS, CLASS_END, TAIL, TAIL_END, FIXED, BOUND, CUT, ONLY = range(10)
DEPTH, BEST, EXAMINED = range(3)
DONE, RUNNING, FULL = range(3)


@compiled(f"UniTuple(int64, 4)({TABLE}, {WORK}, {STACK}, int64)")
def examine(table, work, stack, frame):  # type: ignore[no-untyped-def]
    """Weigh every cut at a node: `effect` then holds what each does to cost and bound, and to how many classes.

    Returns the node's cost, its bound, the bound that its finest cells alone give, and how many of them there
    are; their hash slots are still set (`clear_cells`).
    """
    rows, class_start, tail, frames, head = stack[0], stack[1], stack[2], stack[3], stack[4]
    effect, tailed = work[3], work[4]
    here = frames[frame]
    for place in range(here[TAIL], here[TAIL_END]):
        tailed[tail[place]] = True
    set_intervals(table[3], head, tailed, work[0])
    for place in range(here[TAIL], here[TAIL_END]):
        tailed[tail[place]] = False
    found = set_bounds(table, work, rows, here[ROW], here[ROW_END])
    effect[:] = 0
    cost, bound, cells = here[FIXED], here[FIXED], here[FIXED]
    for number in range(here[CLASS], here[CLASS_END]):
        end = class_start[number + 1] if number + 1 < here[CLASS_END] else here[ROW_END]
        one = examine_class(table, work, rows, class_start[number], end)
        cost += one[0]
        bound += one[1]
        cells += one[2]
    for what in range(4):
        for value in range(1, effect.shape[1]):
            effect[what, value] += effect[what, value - 1]
    return cost, bound, cells, found


@compiled(f"void({TABLE}, {WORK}, {STACK})")
def set_root(table, work, stack):  # type: ignore[no-untyped-def]
    """Make the bottom frame: the classes of the head's cuts that are large enough, and no tail."""
    codes, rule = table[0], table[4]
    rows, class_start, frames, head = stack[0], stack[1], stack[3], stack[4]
    cell_of, cell = work[6], work[7]
    set_intervals(table[3], head, head, work[0])
    everybody = np.arange(codes.shape[0], dtype=np.int32)
    count = group_cells(table, work, everybody, 0, codes.shape[0])
    here = frames[0]
    here[:] = 0
    place = np.zeros(count, dtype=np.int64)
    for row in range(codes.shape[0]):
        place[cell_of[row]] += 1
    filled, classes = np.int64(0), np.int64(0)
    for number in range(count):
        length = place[number]
        place[number] = -1
        if cell[0, number] < rule[K]:
            here[FIXED] += cell[0, number] * rule[PENALTY]
        else:
            place[number] = filled
            class_start[classes] = filled
            classes += 1
            filled += length
    for row in range(codes.shape[0]):
        number = cell_of[row]
        if place[number] >= 0:
            rows[place[number]] = row
            place[number] += 1
    here[ROW_END], here[CLASS_END], here[CUT] = filled, classes, -1
    clear_cells(work, count)


@compiled(f"int64({TABLE}, {WORK}, int64, int64, int64)")
def _neighbour(table, work, number, column, after):  # type: ignore[no-untyped-def]
    """The cell that differs from one only in lying in the next interval of a column; −1 if it is empty."""
    codes, start, mark = table[0], table[3], table[5]
    first, slot, cell = work[0], work[5], work[7]
    mask = np.uint64(slot.shape[0] - 1)
    row = cell[1, number]
    own = first[start[column] + codes[row, column]]
    key = np.uint64(cell[2, number]) - mark[own] + mark[after]
    at = np.int64((key >> np.uint64(17)) & mask)
    while slot[at] >= 0:
        other = np.int64(slot[at])
        if np.uint64(cell[2, other]) == key:
            same = True
            for one in range(codes.shape[1]):
                theirs = first[start[one] + codes[cell[1, other], one]]
                ours = after if one == column else first[start[one] + codes[row, one]]
                same = same and theirs == ours
            if same:
                return other
        at = np.int64(np.uint64(at + 1) & mask)
    return np.int64(-1)


@compiled(f"int64({TABLE}, {WORK}, int64, int64)")
def _merging(table, work, one, other):  # type: ignore[no-untyped-def]
    """By how much the bound rises when two cells can no longer be told apart."""
    rule = table[4]
    cell, cell_label = work[7], work[8]
    k, labels = rule[K], rule[LABELS]
    a, b = cell[0, one], cell[0, other]
    if rule[SQUARES]:
        both = max(k, a + b)
        return a * (both - max(k, a)) + b * (both - max(k, b))
    most = np.int64(0)
    for label in range(labels):
        most = max(most, cell_label[one * labels + label] + cell_label[other * labels + label])
    return largest(cell_label, one * labels, labels) + largest(cell_label, other * labels, labels) - most


@compiled(f"void({TABLE}, {WORK}, int64, int64[::1])")
def set_gains(table, work, count, gain):  # type: ignore[no-untyped-def]
    """By how much the bound of a node rises when a cut is given up; all other cuts may still be made."""
    codes, start = table[0], table[3]
    first, cell = work[0], work[7]
    following = np.full(first.shape[0], -1, dtype=np.int32)
    for column in range(codes.shape[1]):
        for value in range(start[column] + 1, start[column + 1]):
            if first[value] == value:
                following[first[value - 1]] = value
    gain[:] = 0
    for number in range(count):
        row = cell[1, number]
        for column in range(codes.shape[1]):
            after = np.int64(following[first[start[column] + codes[row, column]]])
            if after >= 0:
                other = _neighbour(table, work, number, column, after)
                if other >= 0:
                    gain[after] += _merging(table, work, number, other)


@compiled(f"void({TABLE}, {STACK}, int64, int64)")
def _split(table, stack, frame, cut):  # type: ignore[no-untyped-def]
    """Fill the next frame with the classes of a frame, cut once more; parts that are too small drop out."""
    codes, weight, start, rule = table[0], table[1], table[3], table[4]
    rows, class_start, frames = stack[0], stack[1], stack[3]
    column = np.searchsorted(start, cut, side="right") - 1
    value = cut - start[column]
    here, child = frames[frame], frames[frame + 1]
    filled, classes = here[ROW_END], here[CLASS_END]
    for number in range(here[CLASS], here[CLASS_END]):
        begin = class_start[number]
        end = class_start[number + 1] if number + 1 < here[CLASS_END] else here[ROW_END]
        left, right = np.int64(0), np.int64(0)
        for place in range(begin, end):
            if codes[rows[place], column] < value:
                left += weight[rows[place]]
            else:
                right += weight[rows[place]]
        for side in range(2):
            size = right if side else left
            if size < rule[K]:
                child[FIXED] += size * rule[PENALTY]
                continue
            class_start[classes] = filled
            classes += 1
            for place in range(begin, end):
                if (codes[rows[place], column] >= value) == (side == 1):
                    rows[filled] = rows[place]
                    filled += 1
    child[ROW], child[ROW_END], child[CLASS], child[CLASS_END] = here[ROW_END], filled, here[CLASS_END], classes


@compiled(f"boolean({TABLE}, {STACK}, int64, int64)")
def _push(table, stack, cut, only):  # type: ignore[no-untyped-def]
    """Make a cut of the tail: it leaves the tail, and the next frame has it in its head. False if room lacks."""
    rows, class_start, tail, frames, head, state = stack[0], stack[1], stack[2], stack[3], stack[4], stack[6]
    here = frames[state[DEPTH]]
    if (
        state[DEPTH] + 1 >= frames.shape[0]
        or 2 * here[ROW_END] - here[ROW] > rows.shape[0]
        or 3 * here[CLASS_END] - 2 * here[CLASS] > class_start.shape[0]
        or 2 * here[TAIL_END] - here[TAIL] > tail.shape[0]
    ):
        return False
    kept = here[TAIL]
    for place in range(here[TAIL], here[TAIL_END]):
        if tail[place] != cut:
            tail[kept] = tail[place]
            kept += 1
    here[TAIL_END] = kept
    child = frames[state[DEPTH] + 1]
    child[FIXED], child[CUT], child[ONLY] = here[FIXED], cut, only
    _split(table, stack, state[DEPTH], cut)
    child[TAIL], child[TAIL_END] = kept, 2 * kept - here[TAIL]
    tail[kept : child[TAIL_END]] = tail[here[TAIL] : kept]
    head[cut] = True
    state[DEPTH] += 1
    return True


@compiled(f"void({STACK})")
def _pop(stack):  # type: ignore[no-untyped-def]
    """Leave a node that is done, and those above that have nothing else left."""
    frames, head, state = stack[3], stack[4], stack[6]
    only = True
    while only and state[DEPTH] >= 0:
        here = frames[state[DEPTH]]
        if here[CUT] >= 0:
            head[here[CUT]] = False
        only = here[ONLY] != 0
        state[DEPTH] -= 1


@compiled(f"void({TABLE}, {WORK}, {STACK}, int64)")
def _improve(table, work, stack, cost):  # type: ignore[no-untyped-def]
    """Take the best node that is one cut away, if it is better than the best known."""
    tail, frames, head, best_head, state = stack[2], stack[3], stack[4], stack[5], stack[6]
    effect = work[3]
    here = frames[state[DEPTH]]
    for place in range(here[TAIL], here[TAIL_END]):
        cut = tail[place]
        if cost + effect[COST, cut] < state[BEST] and (table[4][SUPPRESS] or effect[SMALL, cut] == 0):
            state[BEST] = cost + effect[COST, cut]
            best_head[:] = head
            best_head[cut] = True


@compiled(f"boolean({TABLE}, {WORK}, {STACK}, int64)")
def _prune(table, work, stack, bound):  # type: ignore[no-untyped-def]
    """Drop cuts from the tail that are useless or lead to nothing better; true if there were any."""
    tail, frames, state = stack[2], stack[3], stack[6]
    effect, suppress = work[3], table[4][SUPPRESS]
    here = frames[state[DEPTH]]
    kept = here[TAIL]
    for place in range(here[TAIL], here[TAIL_END]):
        cut = tail[place]
        useless = effect[GOOD, cut] == 0 or (not suppress and effect[SMALL, cut] > 0)
        if not useless and bound + effect[LEAST, cut] < state[BEST]:
            tail[kept] = cut
            kept += 1
    pruned = kept < here[TAIL_END]
    here[TAIL_END] = kept
    return pruned


@compiled(f"int64({WORK}, {STACK}, int64[::1])")
def _next_cut(work, stack, gain):  # type: ignore[no-untyped-def]
    """The cut of the tail whose absence raises the bound most, then the one that lowers the cost most."""
    tail, frames, state = stack[2], stack[3], stack[6]
    effect = work[3]
    here = frames[state[DEPTH]]
    chosen = tail[here[TAIL]]
    for place in range(here[TAIL] + 1, here[TAIL_END]):
        cut = tail[place]
        more = gain[cut] - gain[chosen]
        if more > 0 or (more == 0 and effect[COST, cut] < effect[COST, chosen]):
            chosen = cut
    return np.int64(chosen)


@compiled(f"int64({TABLE}, {WORK}, {STACK}, int64)")
def search(table, work, stack, budget):  # type: ignore[no-untyped-def]
    """Walk the tree depth first for so many row visits; says whether it is done, still running, or out of room."""
    frames, state = stack[3], stack[6]
    gain = np.zeros(work[0].shape[0], dtype=np.int64)
    while state[DEPTH] >= 0:
        if budget <= 0:
            return RUNNING
        here = frames[state[DEPTH]]
        cost, bound, cells, found = examine(table, work, stack, state[DEPTH])
        here[BOUND] = bound
        state[EXAMINED] += 1
        budget -= (here[ROW_END] - here[ROW]) * table[0].shape[1] + 100
        _improve(table, work, stack, cost)
        pruned = _prune(table, work, stack, bound)
        if bound >= state[BEST] or here[TAIL_END] == here[TAIL]:
            clear_cells(work, found)
            _pop(stack)
            continue
        if pruned:
            clear_cells(work, found)
            continue
        set_gains(table, work, found, gain)
        clear_cells(work, found)
        cut = _next_cut(work, stack, gain)
        without = max(bound, cells + gain[cut])
        if not _push(table, stack, cut, np.int64(without >= state[BEST])):
            return FULL
        here[BOUND] = without
        frames[state[DEPTH], BOUND] = bound
    return DONE
