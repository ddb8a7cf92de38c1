# SPDX-License-Identifier: MIT
"""Cells and classes under a set of cut points: group rows, and weigh every further cut of a class in one pass.

Values of all columns are numbered in one row; the number of a value is also that of the cut right before it, so
the first value of a column is no cut."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import CodeGrid, Codes, Flags, IntGrid, Ints, Words
from sfumato.kernels.compilation import compile_cached, record


@record
class CutRule(NamedTuple):
    """What is searched for."""

    k: int
    rows: int
    penalty: int
    """What a row in a class of fewer than k costs."""
    suppress: bool
    """Whether there may be such classes."""
    squares: bool
    """Whether classes cost their squares, or their minorities."""
    labels: int
    is_balanced: bool
    """Whether classes cost no less than equal ones would."""


@record
class CutRows(NamedTuple):
    """What is read only: rows, one line each, with weights and labels."""

    codes: CodeGrid
    weights: Ints
    labels: Codes
    starts: Ints
    """Where each column's values start."""
    rule: CutRule
    marks: Words
    """A random number for each value, to hash by."""
    least: Ints
    """The least squares of small classes."""


@record
class CutScratch(NamedTuple):
    """Room to work in."""

    first: Codes
    """The first value of each value's interval."""
    counts: IntGrid
    """Of each value in a class: weight, and bound."""
    label_counts: Ints
    effect: IntGrid
    """What each cut does: the lines are `CELL_COST`, `CELL_LEAST` …"""
    tail_mask: Flags
    slots: Codes
    """Hash slots of cells."""
    cell_of: Codes
    cells: IntGrid
    """Of each cell: the lines are `WEIGHT`, `ROW` …"""
    cell_labels: Ints
    bounds: Ints
    """What each row costs at least."""
    present: Ints
    """The values present in a class."""
    tally: Ints
    """Label counts of a class, of the left and of the right of a cut."""


VALUE_PEOPLE, VALUE_BOUND = range(2)
"""What a histogram has of each value: the people who have it, and the sum of their bounds."""
CELL_COST, CELL_LEAST, GOOD, SMALL = range(4)
WEIGHT, ROW, KEY, SLOT = range(4)


@compile_cached("int64(int64, int64)")
def bound_sum_of_squares(size, k):
    """The least Σ part² of `size` rows in parts of k or more: as many parts as possible, as equal as possible."""
    parts = size // k
    part_size = size // parts
    larger = size - part_size * parts
    return larger * (part_size + 1) * (part_size + 1) + (parts - larger) * part_size * part_size


@compile_cached("void(int64[::1], boolean[::1], boolean[::1], int32[::1])")
def set_intervals(start, head, tail, first):
    """The first value of each value's interval, when the cuts of head and tail are made."""
    for column in range(start.shape[0] - 1):
        begin = start[column]
        first[begin] = begin
        for value in range(begin + 1, start[column + 1]):
            first[value] = value if head[value] or tail[value] else first[value - 1]


@compile_cached("boolean(CutRows, int32[::1], int64, int64)")
def _are_alike(table, first, row, other):
    codes, start = table.codes, table.starts
    for column in range(codes.shape[1]):
        begin = start[column]
        if first[begin + codes[row, column]] != first[begin + codes[other, column]]:
            return False
    return True


@compile_cached("int64(CutRows, CutScratch, int32[::1], int64, int64)")
def group_cells(table, work, rows, begin, end):
    """Number the cells that some rows fall into, with their sizes and labels; returns how many there are."""
    codes, weight, label, start, rule, mark = (
        table.codes,
        table.weights,
        table.labels,
        table.starts,
        table.rule,
        table.marks,
    )
    first, slot, cell_of, cell, cell_label = work.first, work.slots, work.cell_of, work.cells, work.cell_labels
    labels = rule.labels
    mask = np.uint64(slot.shape[0] - 1)
    count = np.int64(0)
    for position in range(begin, end):
        row = np.int64(rows[position])
        key = np.uint64(0)
        for column in range(codes.shape[1]):
            key += mark[first[start[column] + codes[row, column]]]
        slot_index = np.int64((key >> np.uint64(17)) & mask)
        while slot[slot_index] >= 0 and not (
            np.uint64(cell[KEY, slot[slot_index]]) == key and _are_alike(table, first, cell[ROW, slot[slot_index]], row)
        ):
            slot_index = np.int64(np.uint64(slot_index + 1) & mask)
        cell_number = np.int64(slot[slot_index])
        if cell_number < 0:
            cell_number = count
            slot[slot_index] = cell_number
            cell[WEIGHT, cell_number], cell[ROW, cell_number], cell[KEY, cell_number], cell[SLOT, cell_number] = (
                0,
                row,
                np.int64(key),
                slot_index,
            )
            for class_label in range(labels):
                cell_label[cell_number * labels + class_label] = 0
            count += 1
        cell_of[row] = cell_number
        cell[WEIGHT, cell_number] += weight[row]
        if labels > 1:
            cell_label[cell_number * labels + label[row]] += weight[row]
    return count


@compile_cached("void(CutScratch, int64)")
def clear_cells(work, count):
    """Empty the hash slots of `count` cells."""
    slot, cell = work.slots, work.cells
    for number in range(count):
        slot[cell[SLOT, number]] = -1


@compile_cached("int64(int64[::1], int64, int64)")
def find_largest_count(counts, begin, labels):
    """The largest of some neighbouring counts."""
    most = np.int64(0)
    for label in range(labels):
        most = max(most, counts[begin + label])
    return most


@compile_cached("int64(CutRule, int64, int64)")
def _compute_class_cost(rule, size, majority):
    """What a class costs: its square or its minority; each row the penalty if it is too small."""
    if size < rule.k:
        return size * rule.penalty
    return size * size if rule.squares else size - majority


@compile_cached("int64(CutRule, int64[::1], int64, int64)")
def _compute_class_bound(rule, least, size, cells):
    """What the rows of a class cost at least however it is cut further; `cells` is what their cells say."""
    if size < rule.k:
        return size * rule.penalty
    if not rule.is_balanced:
        return cells
    return max(cells, least[size] if size < least.shape[0] else bound_sum_of_squares(size, rule.k))


@record
class CutCost(NamedTuple):
    """What a set of cuts costs."""

    cost: int
    small: int
    """Rows in classes that are too small."""


@compile_cached("CutCost(CutRows, CutScratch, int32[::1], boolean[::1])")
def compute_cut_cost(table, work, rows, head):
    """The cost of a set of cuts."""
    rule = table.rule
    cell, cell_label = work.cells, work.cell_labels
    set_intervals(table.starts, head, head, work.first)
    count = group_cells(table, work, rows, 0, table.codes.shape[0])
    cost, small, labels = np.int64(0), np.int64(0), rule.labels
    for number in range(count):
        size = cell[WEIGHT, number]
        cost += _compute_class_cost(rule, size, find_largest_count(cell_label, number * labels, labels))
        if size < rule.k:
            small += size
    clear_cells(work, count)
    return CutCost(cost, small)  # type: ignore[arg-type]  # numba's numbers are Python's here


@record
class CutTrials(NamedTuple):
    """What single changes to a set of cuts gave."""

    cost: int
    """Of the set as it is now."""
    tried_count: int


@compile_cached("CutTrials(CutRows, CutScratch, int32[::1], boolean[::1], boolean[::1], int64, int64)")
def shift_cut(table, work, rows, can_cut, head, cut, cost):
    """Remove a cut or shift it by one value in `head`, whichever first makes the set cheaper; otherwise leave it."""
    tried_count = 0
    for target in (0, cut - 1, cut + 1):  # no column is cut at 0: the cut is removed
        if target != 0 and (target >= head.shape[0] or head[target] or not can_cut[target]):
            continue
        head[cut], head[target] = False, target > 0
        trial = compute_cut_cost(table, work, rows, head)
        tried_count += 1
        if trial.cost < cost and (table.rule.suppress or trial.small == 0):
            return CutTrials(trial.cost, tried_count)
        head[target], head[cut] = False, True
    return CutTrials(cost, tried_count)


@compile_cached("int64(CutRows, CutScratch, int32[::1], int64, int64)")
def set_row_bounds(table, work, rows, begin, end):
    """What each row costs at least: its finest cell is the smallest class it can be in. Returns the cells."""
    weight, rule = table.weights, table.rule
    cell_of, cell, cell_label, bound = work.cell_of, work.cells, work.cell_labels, work.bounds
    labels, k = rule.labels, rule.k
    count = group_cells(table, work, rows, begin, end)
    for position in range(begin, end):
        row = rows[position]
        number = np.int64(cell_of[row])
        if rule.squares:
            bound[row] = weight[row] * max(k, cell[WEIGHT, number])
        elif cell[ROW, number] == row:  # a cell's minority is booked once, at its first row
            bound[row] = cell[WEIGHT, number] - find_largest_count(cell_label, number * labels, labels)
        else:
            bound[row] = 0
    return count


@compile_cached("int64(CutRows, CutScratch, int32[::1], int64, int64, int64)")
def _collect_values(table, work, rows, begin, end, column):
    """Count the values of a column in a class; those present are listed in order. Returns how many."""
    codes, weight, label, start, rule = table.codes, table.weights, table.labels, table.starts, table.rule
    hist, hist_label, bound, present = work.counts, work.label_counts, work.bounds, work.present
    labels, offset = rule.labels, start[column]
    low, high, count = np.int64(1 << 40), np.int64(-1), np.int64(0)
    for position in range(begin, end):
        row = rows[position]
        value = offset + codes[row, column]
        if hist[VALUE_PEOPLE, value] == 0:
            present[count] = value
            count += 1
            low, high = min(low, value), max(high, value)
        hist[VALUE_PEOPLE, value] += weight[row]
        hist[VALUE_BOUND, value] += bound[row]
        if labels > 1:
            hist_label[value * labels + label[row]] += weight[row]
    if high - low < 16 * count:
        count = np.int64(0)
        for value in range(low, high + 1):
            if hist[VALUE_PEOPLE, value]:
                present[count] = value
                count += 1
    else:
        present[:count].sort()
    return count


@compile_cached("void(CutRows, CutScratch, int64)")
def _clear_value_counts(table, work, count):
    """Clear the counts of the values present."""
    labels = table.rule.labels
    hist, hist_label, present = work.counts, work.label_counts, work.present
    for number in range(count):
        value = present[number]
        hist[VALUE_PEOPLE, value] = 0
        hist[VALUE_BOUND, value] = 0
        for label in range(labels):
            hist_label[value * labels + label] = 0


@compile_cached("void(CutScratch, int64, int64)")
def _move_labels(work, value, labels):
    """The rows of a value go from the right of the cut to its left."""
    hist_label, tally = work.label_counts, work.tally
    for label in range(labels):
        tally[labels + label] += hist_label[value * labels + label]
        tally[2 * labels + label] -= hist_label[value * labels + label]


@compile_cached("void(CutRows, CutScratch, int64, int64, int64)")
def _weigh_column_cuts(table, work, count, size, cells):
    """Add what each cut of a column does to a class, as differences between neighbouring cuts."""
    rule = table.rule
    hist, effect, present, tally = work.counts, work.effect, work.present, work.tally
    labels, k = rule.labels, rule.k
    whole = _compute_class_cost(rule, size, find_largest_count(tally, 0, labels))
    whole_bound = _compute_class_bound(rule, table.least, size, cells)
    for label in range(labels):
        tally[labels + label] = 0
        tally[2 * labels + label] = tally[label]
    left, left_cells = np.int64(0), np.int64(0)
    for number in range(count - 1):
        value = present[number]
        left += hist[VALUE_PEOPLE, value]
        left_cells += hist[VALUE_BOUND, value]
        right = size - left
        if labels > 1:
            _move_labels(work, value, labels)
        cost = _compute_class_cost(rule, left, find_largest_count(tally, labels, labels)) - whole
        cost += _compute_class_cost(rule, right, find_largest_count(tally, 2 * labels, labels))
        least = (
            _compute_class_bound(rule, table.least, left, left_cells)
            + _compute_class_bound(rule, table.least, right, cells - left_cells)
            - whole_bound
        )
        small = np.int64(left < k) + np.int64(right < k)
        good = small == 0
        if small == 1 and rule.suppress and rule.squares:
            # Joining the small part to the other costs no more than suppressing it, unless the other is very large.
            good = min(left, right) + 2 * max(left, right) > rule.rows
        begin, end = value + 1, present[number + 1] + 1
        effect[CELL_COST, begin] += cost
        effect[CELL_COST, end] -= cost
        effect[CELL_LEAST, begin] += least
        effect[CELL_LEAST, end] -= least
        effect[GOOD, begin] += np.int64(good)
        effect[GOOD, end] -= np.int64(good)
        effect[SMALL, begin] += small
        effect[SMALL, end] -= small


@record
class ClassCost(NamedTuple):
    """What a class costs."""

    cost: int
    bound: int
    """What it costs at least, however it is cut."""
    cells: int
    """The bound that its finest cells alone give."""


@compile_cached("ClassCost(CutRows, CutScratch, int32[::1], int64, int64)")
def examine_class(table, work, rows, begin, end):
    """Weigh every cut of one class; what it costs itself."""
    weight, label, rule = table.weights, table.labels, table.rule
    bound, tally = work.bounds, work.tally
    size, cells = np.int64(0), np.int64(0)
    for code in range(rule.labels):
        tally[code] = 0
    for position in range(begin, end):
        row = rows[position]
        size += weight[row]
        cells += bound[row]
        tally[label[row]] += weight[row]
    for column in range(table.codes.shape[1]):
        count = _collect_values(table, work, rows, begin, end, column)
        if count > 1:
            _weigh_column_cuts(table, work, count, size, cells)
        _clear_value_counts(table, work, count)
    most = find_largest_count(tally, 0, rule.labels)
    bound_below = _compute_class_bound(rule, table.least, size, cells)
    return ClassCost(_compute_class_cost(rule, size, most), bound_below, cells)  # type: ignore[arg-type]  # numba's numbers are Python's here
