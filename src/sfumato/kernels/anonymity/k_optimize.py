# SPDX-License-Identifier: MIT
"""The set-enumeration tree of cut points, walked depth first: head, tail, bound, prune, branch.

A frame of the stack is a node: its head (the cuts made), the classes of its rows that are still large enough,
and its tail (the cuts that may yet be made). `CutStack` is the state of the search; it can be left and resumed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Flags, IntGrid, Ints

from sfumato.kernels.anonymity.k_optimize_cells import (  # isort: skip
    CELL_COST, GOOD, KEY, CELL_LEAST, ROW, SMALL, WEIGHT, clear_cells, examine_class, group_cells, find_largest_count,
    set_row_bounds,
    set_intervals,
)  # fmt: skip
from sfumato.kernels.compilation import compile_cached, record


@record
class CutStack(NamedTuple):
    """Where the search stands, and what lies below."""

    rows: Codes
    class_starts: Codes
    tails: Codes
    frames: IntGrid
    """A line a node: the places are `NODE_BEGIN`, `NODE_END` …"""
    head: Flags
    best_head: Flags
    state: Ints


NODE_BEGIN, NODE_END, CLASS, CLASS_END, TAIL, TAIL_END, FIXED_COST, NODE_BOUND, CUT, IS_ONLY = range(10)
CUT_DEPTH, BEST, NODE_COUNT = range(3)
CUTS_DONE, CUTS_RUNNING, CUTS_FULL = range(3)


@record
class NodeCost(NamedTuple):
    """What a node of the search costs."""

    cost: int
    bound: int
    """What it and all below it cost at least."""
    cells: int
    """The bound that its finest cells alone give."""
    cell_count: int


@compile_cached("NodeCost(CutRows, CutScratch, CutStack, int64)")
def examine_cuts(table, work, stack, frame):
    """Weigh every cut at a node: `effect` then holds what each does to cost and bound, and to how many classes.

    The hash slots of its cells are still set (`clear_cells`).
    """
    rows, class_start, tail, frames, head = stack.rows, stack.class_starts, stack.tails, stack.frames, stack.head
    effect, tail_mask = work.effect, work.tail_mask
    frame_line = frames[frame]
    for position in range(frame_line[TAIL], frame_line[TAIL_END]):
        tail_mask[tail[position]] = True
    set_intervals(table.starts, head, tail_mask, work.first)
    for position in range(frame_line[TAIL], frame_line[TAIL_END]):
        tail_mask[tail[position]] = False
    cell_count = set_row_bounds(table, work, rows, frame_line[NODE_BEGIN], frame_line[NODE_END])
    effect[:] = 0
    cost, bound, cells = frame_line[FIXED_COST], frame_line[FIXED_COST], frame_line[FIXED_COST]
    for number in range(frame_line[CLASS], frame_line[CLASS_END]):
        end = class_start[number + 1] if number + 1 < frame_line[CLASS_END] else frame_line[NODE_END]
        class_cost = examine_class(table, work, rows, class_start[number], end)
        cost += class_cost.cost
        bound += class_cost.bound
        cells += class_cost.cells
    for effect_kind in range(4):
        for value in range(1, effect.shape[1]):
            effect[effect_kind, value] += effect[effect_kind, value - 1]
    return NodeCost(cost, bound, cells, cell_count)


@compile_cached("void(CutRows, CutScratch, CutStack)")
def set_root_frame(table, work, stack):
    """Make the bottom frame: the classes of the head's cuts that are large enough, and no tail."""
    codes, rule = table.codes, table.rule
    rows, class_start, frames, head = stack.rows, stack.class_starts, stack.frames, stack.head
    cell_of, cell = work.cell_of, work.cells
    set_intervals(table.starts, head, head, work.first)
    all_rows = np.arange(codes.shape[0], dtype=np.int32)
    count = group_cells(table, work, all_rows, 0, codes.shape[0])
    frame_line = frames[0]
    frame_line[:] = 0
    places = np.zeros(count, dtype=np.int64)
    for row in range(codes.shape[0]):
        places[cell_of[row]] += 1
    row_count, classes = np.int64(0), np.int64(0)
    for number in range(count):
        length = places[number]
        places[number] = -1
        if cell[WEIGHT, number] < rule.k:
            frame_line[FIXED_COST] += cell[WEIGHT, number] * rule.penalty
        else:
            places[number] = row_count
            class_start[classes] = row_count
            classes += 1
            row_count += length
    for row in range(codes.shape[0]):
        number = cell_of[row]
        if places[number] >= 0:
            rows[places[number]] = row
            places[number] += 1
    frame_line[NODE_END], frame_line[CLASS_END], frame_line[CUT] = row_count, classes, -1
    clear_cells(work, count)


@compile_cached("int64(CutRows, CutScratch, CutStack)")
def weigh_head(table, work, stack):
    """The cost of the head's cuts, in one call: to hand all arrays over takes as long as a small table's rows."""
    set_root_frame(table, work, stack)
    node = examine_cuts(table, work, stack, 0)
    clear_cells(work, node.cell_count)
    return node.cost


@compile_cached("int64(CutRows, CutScratch, int64, int64, int64)")
def _find_neighbour_cell(table, work, number, column, next_interval):
    """The cell that differs from one only in lying in the next interval of a column; −1 if it is empty."""
    codes, start, mark = table.codes, table.starts, table.marks
    first, slot, cell = work.first, work.slots, work.cells
    mask = np.uint64(slot.shape[0] - 1)
    row = cell[ROW, number]
    own_interval = first[start[column] + codes[row, column]]
    key = np.uint64(cell[KEY, number]) - mark[own_interval] + mark[next_interval]
    slot_index = np.int64((key >> np.uint64(17)) & mask)
    while slot[slot_index] >= 0:
        other = np.int64(slot[slot_index])
        if np.uint64(cell[KEY, other]) == key:
            is_same = True
            for other_column in range(codes.shape[1]):
                other_interval = first[start[other_column] + codes[cell[ROW, other], other_column]]
                cell_interval = (
                    next_interval if other_column == column else first[start[other_column] + codes[row, other_column]]
                )
                is_same = is_same and other_interval == cell_interval
            if is_same:
                return other
        slot_index = np.int64(np.uint64(slot_index + 1) & mask)
    return np.int64(-1)


@compile_cached("int64(CutRows, CutScratch, int64, int64)")
def _compute_merge_gain(table, work, first_cell, other):
    """By how much the bound rises when two cells are merged."""
    rule = table.rule
    cell, cell_label = work.cells, work.cell_labels
    k, labels = rule.k, rule.labels
    a, b = cell[WEIGHT, first_cell], cell[WEIGHT, other]
    if rule.squares:
        joint_size = max(k, a + b)
        return a * (joint_size - max(k, a)) + b * (joint_size - max(k, b))
    most = np.int64(0)
    for label in range(labels):
        most = max(most, cell_label[first_cell * labels + label] + cell_label[other * labels + label])
    return (
        find_largest_count(cell_label, first_cell * labels, labels)
        + find_largest_count(cell_label, other * labels, labels)
        - most
    )


@compile_cached("void(CutRows, CutScratch, int64, int64[::1])")
def set_gains(table, work, count, gain):
    """By how much the bound of a node rises when a cut is given up; all other cuts may still be made."""
    codes, start = table.codes, table.starts
    first, cell = work.first, work.cells
    next_start = np.full(first.shape[0], -1, dtype=np.int32)
    for column in range(codes.shape[1]):
        for value in range(start[column] + 1, start[column + 1]):
            if first[value] == value:
                next_start[first[value - 1]] = value
    gain[:] = 0
    for number in range(count):
        row = cell[ROW, number]
        for column in range(codes.shape[1]):
            next_interval = np.int64(next_start[first[start[column] + codes[row, column]]])
            if next_interval >= 0:
                other = _find_neighbour_cell(table, work, number, column, next_interval)
                if other >= 0:
                    gain[next_interval] += _compute_merge_gain(table, work, number, other)


@compile_cached("void(CutRows, CutStack, int64, int64)")
def _split_frame(table, stack, frame, cut):
    """Fill the next frame with the classes of a frame, cut once more; parts that are too small drop out."""
    codes, weight, start, rule = table.codes, table.weights, table.starts, table.rule
    rows, class_start, frames = stack.rows, stack.class_starts, stack.frames
    column = np.searchsorted(start, cut, side="right") - 1
    value = cut - start[column]
    frame_line, child = frames[frame], frames[frame + 1]
    rows_end, classes = frame_line[NODE_END], frame_line[CLASS_END]
    for number in range(frame_line[CLASS], frame_line[CLASS_END]):
        begin = class_start[number]
        end = class_start[number + 1] if number + 1 < frame_line[CLASS_END] else frame_line[NODE_END]
        left, right = np.int64(0), np.int64(0)
        for position in range(begin, end):
            if codes[rows[position], column] < value:
                left += weight[rows[position]]
            else:
                right += weight[rows[position]]
        for side in range(2):
            size = right if side else left
            if size < rule.k:
                child[FIXED_COST] += size * rule.penalty
                continue
            class_start[classes] = rows_end
            classes += 1
            for position in range(begin, end):
                if (codes[rows[position], column] >= value) == (side == 1):
                    rows[rows_end] = rows[position]
                    rows_end += 1
    child[NODE_BEGIN], child[NODE_END], child[CLASS], child[CLASS_END] = (
        frame_line[NODE_END],
        rows_end,
        frame_line[CLASS_END],
        classes,
    )


@compile_cached("boolean(CutRows, CutStack, int64, int64)")
def _push_cut(table, stack, cut, is_only):
    """Make a cut of the tail: it leaves the tail, and the next frame has it in its head. False if room lacks."""
    rows, class_start, tail, frames, head, state = (
        stack.rows,
        stack.class_starts,
        stack.tails,
        stack.frames,
        stack.head,
        stack.state,
    )
    frame_line = frames[state[CUT_DEPTH]]
    if (
        state[CUT_DEPTH] + 1 >= frames.shape[0]
        or 2 * frame_line[NODE_END] - frame_line[NODE_BEGIN] > rows.shape[0]
        or 3 * frame_line[CLASS_END] - 2 * frame_line[CLASS] > class_start.shape[0]
        or 2 * frame_line[TAIL_END] - frame_line[TAIL] > tail.shape[0]
    ):
        return False
    tail_end = frame_line[TAIL]
    for position in range(frame_line[TAIL], frame_line[TAIL_END]):
        if tail[position] != cut:
            tail[tail_end] = tail[position]
            tail_end += 1
    frame_line[TAIL_END] = tail_end
    child = frames[state[CUT_DEPTH] + 1]
    child[FIXED_COST], child[CUT], child[IS_ONLY] = frame_line[FIXED_COST], cut, is_only
    _split_frame(table, stack, state[CUT_DEPTH], cut)
    child[TAIL], child[TAIL_END] = tail_end, 2 * tail_end - frame_line[TAIL]
    tail[tail_end : child[TAIL_END]] = tail[frame_line[TAIL] : tail_end]
    head[cut] = True
    state[CUT_DEPTH] += 1
    return True


@compile_cached("void(CutStack)")
def _pop_frame(stack):
    """Leave a node that is done, and those above that have nothing else left."""
    frames, head, state = stack.frames, stack.head, stack.state
    is_only = True
    while is_only and state[CUT_DEPTH] >= 0:
        frame_line = frames[state[CUT_DEPTH]]
        if frame_line[CUT] >= 0:
            head[frame_line[CUT]] = False
        is_only = frame_line[IS_ONLY] != 0
        state[CUT_DEPTH] -= 1


@compile_cached("void(CutRows, CutScratch, CutStack, int64)")
def _improve_best_node(table, work, stack, cost):
    """Take the best node that is one cut away, if it is better than the best known."""
    tail, frames, head, best_head, state = stack.tails, stack.frames, stack.head, stack.best_head, stack.state
    effect = work.effect
    frame_line = frames[state[CUT_DEPTH]]
    for position in range(frame_line[TAIL], frame_line[TAIL_END]):
        cut = tail[position]
        if cost + effect[CELL_COST, cut] < state[BEST] and (table.rule.suppress or effect[SMALL, cut] == 0):
            state[BEST] = cost + effect[CELL_COST, cut]
            best_head[:] = head
            best_head[cut] = True


@compile_cached("boolean(CutRows, CutScratch, CutStack, int64)")
def _prune_tail(table, work, stack, bound):
    """Drop cuts from the tail that are useless or lead to nothing better; true if there were any."""
    tail, frames, state = stack.tails, stack.frames, stack.state
    effect, suppress = work.effect, table.rule.suppress
    frame_line = frames[state[CUT_DEPTH]]
    tail_end = frame_line[TAIL]
    for position in range(frame_line[TAIL], frame_line[TAIL_END]):
        cut = tail[position]
        useless = effect[GOOD, cut] == 0 or (not suppress and effect[SMALL, cut] > 0)
        if not useless and bound + effect[CELL_LEAST, cut] < state[BEST]:
            tail[tail_end] = cut
            tail_end += 1
    is_pruned = tail_end < frame_line[TAIL_END]
    frame_line[TAIL_END] = tail_end
    return is_pruned


@compile_cached("int64(CutScratch, CutStack, int64[::1])")
def _choose_next_cut(work, stack, gain):
    """The cut of the tail whose absence raises the bound most, then the one that lowers the cost most."""
    tail, frames, state = stack.tails, stack.frames, stack.state
    effect = work.effect
    frame_line = frames[state[CUT_DEPTH]]
    chosen_cut = tail[frame_line[TAIL]]
    for position in range(frame_line[TAIL] + 1, frame_line[TAIL_END]):
        cut = tail[position]
        more = gain[cut] - gain[chosen_cut]
        if more > 0 or (more == 0 and effect[CELL_COST, cut] < effect[CELL_COST, chosen_cut]):
            chosen_cut = cut
    return np.int64(chosen_cut)


@compile_cached("int64(CutRows, CutScratch, CutStack, int64)")
def search_cuts(table, work, stack, budget):
    """Walk the tree depth first for `budget` row visits; returns whether it is done, still running, or out of room."""
    frames, state = stack.frames, stack.state
    gain = np.zeros(work.first.shape[0], dtype=np.int64)
    while state[CUT_DEPTH] >= 0:
        if budget <= 0:
            return CUTS_RUNNING
        frame_line = frames[state[CUT_DEPTH]]
        node = examine_cuts(table, work, stack, state[CUT_DEPTH])
        cost, bound, cells, class_count = node.cost, node.bound, node.cells, node.cell_count
        frame_line[NODE_BOUND] = bound
        state[NODE_COUNT] += 1
        budget -= (frame_line[NODE_END] - frame_line[NODE_BEGIN]) * table.codes.shape[1] + 100
        _improve_best_node(table, work, stack, cost)
        is_pruned = _prune_tail(table, work, stack, bound)
        if bound >= state[BEST] or frame_line[TAIL_END] == frame_line[TAIL]:
            clear_cells(work, class_count)
            _pop_frame(stack)
            continue
        if is_pruned:
            clear_cells(work, class_count)
            continue
        set_gains(table, work, class_count, gain)
        clear_cells(work, class_count)
        cut = _choose_next_cut(work, stack, gain)
        uncut_bound = max(bound, cells + gain[cut])
        if not _push_cut(table, stack, cut, np.int64(uncut_bound >= state[BEST])):
            return CUTS_FULL
        frame_line[NODE_BOUND] = uncut_bound
        frames[state[CUT_DEPTH], NODE_BOUND] = bound
    return CUTS_DONE
