# SPDX-License-Identifier: MIT
"""Cells and classes under a set of cut points: group rows, and weigh every further cut of a class in one pass.

Values of all columns are numbered in one row; the number of a value is also that of the cut right before it, so
the first value of a column is no cut. Arrays travel in tuples: `TABLE` is read only, `WORK` is scratch.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compiled import compiled

# codes (rows × columns), weights, labels, where each column's values start, rules, a random number for each value,
# the least squares of small classes
TABLE = "Tuple((int32[:,::1], int64[::1], int32[::1], int64[::1], int64[::1], uint64[::1], int64[::1]))"
# first value of each value's interval, value counts, value labels, effects of cuts, open cuts,
# hash slots, cell of each row, cells, labels of cells, bound of each row, values present in a class,
# label counts of a class, of the left and of the right of a cut
WORK = (
    "Tuple((int32[::1], int64[:,::1], int64[::1], int64[:,::1], boolean[::1],"
    " int32[::1], int32[::1], int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1]))"
)

K, ROWS, PENALTY, SUPPRESS, SQUARES, LABELS, BALANCED = range(7)
COST, LEAST, GOOD, SMALL = range(4)


@compiled("int64(int64, int64)")
def least_squares(size, k):  # type: ignore[no-untyped-def]
    """The least Σ part² of so many rows in parts of k or more: as many parts as possible, as equal as possible."""
    parts = size // k
    each = size // parts
    larger = size - each * parts
    return larger * (each + 1) * (each + 1) + (parts - larger) * each * each


@compiled("void(int64[::1], boolean[::1], boolean[::1], int32[::1])")
def set_intervals(start, head, tail, first):  # type: ignore[no-untyped-def]
    """The first value of each value's interval, when the cuts of head and tail are made."""
    for column in range(start.shape[0] - 1):
        begin = start[column]
        first[begin] = begin
        for value in range(begin + 1, start[column + 1]):
            first[value] = value if head[value] or tail[value] else first[value - 1]


@compiled(f"boolean({TABLE}, int32[::1], int64, int64)")
def _alike(table, first, one, other):  # type: ignore[no-untyped-def]
    codes, start = table[0], table[3]
    for column in range(codes.shape[1]):
        begin = start[column]
        if first[begin + codes[one, column]] != first[begin + codes[other, column]]:
            return False
    return True


@compiled(f"int64({TABLE}, {WORK}, int32[::1], int64, int64)")
def group_cells(table, work, rows, begin, end):  # type: ignore[no-untyped-def]
    """Number the cells that some rows fall into, with their sizes and labels; returns how many there are."""
    codes, weight, label, start, rule, mark = table[0], table[1], table[2], table[3], table[4], table[5]
    first, slot, cell_of, cell, cell_label = work[0], work[5], work[6], work[7], work[8]
    labels = rule[LABELS]
    mask = np.uint64(slot.shape[0] - 1)
    count = np.int64(0)
    for place in range(begin, end):
        row = np.int64(rows[place])
        key = np.uint64(0)
        for column in range(codes.shape[1]):
            key += mark[first[start[column] + codes[row, column]]]
        at = np.int64((key >> np.uint64(17)) & mask)
        while slot[at] >= 0 and not (
            np.uint64(cell[2, slot[at]]) == key and _alike(table, first, cell[1, slot[at]], row)
        ):
            at = np.int64(np.uint64(at + 1) & mask)
        found = np.int64(slot[at])
        if found < 0:
            found = count
            slot[at] = found
            cell[0, found], cell[1, found], cell[2, found], cell[3, found] = 0, row, np.int64(key), at
            for one in range(labels):
                cell_label[found * labels + one] = 0
            count += 1
        cell_of[row] = found
        cell[0, found] += weight[row]
        if labels > 1:
            cell_label[found * labels + label[row]] += weight[row]
    return count


@compiled(f"void({WORK}, int64)")
def clear_cells(work, count):  # type: ignore[no-untyped-def]
    """Empty the hash slots of so many cells."""
    slot, cell = work[5], work[7]
    for number in range(count):
        slot[cell[3, number]] = -1


@compiled("int64(int64[::1], int64, int64)")
def largest(counts, begin, labels):  # type: ignore[no-untyped-def]
    """The largest of some neighbouring counts."""
    most = np.int64(0)
    for one in range(labels):
        most = max(most, counts[begin + one])
    return most


@compiled("int64(int64[::1], int64, int64)")
def _class_cost(rule, size, majority):  # type: ignore[no-untyped-def]
    """What a class costs: its square or its minority; each row the penalty if it is too small."""
    if size < rule[K]:
        return size * rule[PENALTY]
    return size * size if rule[SQUARES] else size - majority


@compiled("int64(int64[::1], int64[::1], int64, int64)")
def _class_bound(rule, least, size, cells):  # type: ignore[no-untyped-def]
    """What the rows of a class cost at least however it is cut further; `cells` is what their cells say."""
    if size < rule[K]:
        return size * rule[PENALTY]
    if not rule[BALANCED]:
        return cells
    return max(cells, least[size] if size < least.shape[0] else least_squares(size, rule[K]))


@compiled(f"UniTuple(int64, 2)({TABLE}, {WORK}, int32[::1], boolean[::1])")
def cost_of(table, work, rows, head):  # type: ignore[no-untyped-def]
    """The cost of a set of cuts, and the rows in classes that are too small."""
    rule = table[4]
    cell, cell_label = work[7], work[8]
    set_intervals(table[3], head, head, work[0])
    count = group_cells(table, work, rows, 0, table[0].shape[0])
    cost, small, labels = np.int64(0), np.int64(0), rule[LABELS]
    for number in range(count):
        size = cell[0, number]
        cost += _class_cost(rule, size, largest(cell_label, number * labels, labels))
        if size < rule[K]:
            small += size
    clear_cells(work, count)
    return cost, small


@compiled(f"int64({TABLE}, {WORK}, int32[::1], int64, int64)")
def set_bounds(table, work, rows, begin, end):  # type: ignore[no-untyped-def]
    """What each row costs at least: its finest cell is the smallest class it can be in. Returns the cells."""
    weight, rule = table[1], table[4]
    cell_of, cell, cell_label, bound = work[6], work[7], work[8], work[9]
    labels, k = rule[LABELS], rule[K]
    count = group_cells(table, work, rows, begin, end)
    for place in range(begin, end):
        row = rows[place]
        number = np.int64(cell_of[row])
        if rule[SQUARES]:
            bound[row] = weight[row] * max(k, cell[0, number])
        elif cell[1, number] == row:  # a cell's minority is booked once, at its first row
            bound[row] = cell[0, number] - largest(cell_label, number * labels, labels)
        else:
            bound[row] = 0
    return count


@compiled(f"int64({TABLE}, {WORK}, int32[::1], int64, int64, int64)")
def _collect(table, work, rows, begin, end, column):  # type: ignore[no-untyped-def]
    """Count the values of a column in a class; those present are listed in order. Returns how many."""
    codes, weight, label, start, rule = table[0], table[1], table[2], table[3], table[4]
    hist, hist_label, bound, present = work[1], work[2], work[9], work[10]
    labels, offset = rule[LABELS], start[column]
    low, high, count = np.int64(1 << 40), np.int64(-1), np.int64(0)
    for place in range(begin, end):
        row = rows[place]
        value = offset + codes[row, column]
        if hist[0, value] == 0:
            present[count] = value
            count += 1
            low, high = min(low, value), max(high, value)
        hist[0, value] += weight[row]
        hist[1, value] += bound[row]
        if labels > 1:
            hist_label[value * labels + label[row]] += weight[row]
    if high - low < 16 * count:
        count = np.int64(0)
        for value in range(low, high + 1):
            if hist[0, value]:
                present[count] = value
                count += 1
    else:
        present[:count].sort()
    return count


@compiled(f"void({TABLE}, {WORK}, int64)")
def _forget(table, work, count):  # type: ignore[no-untyped-def]
    """Clear the counts of the values present."""
    labels = table[4][LABELS]
    hist, hist_label, present = work[1], work[2], work[10]
    for number in range(count):
        value = present[number]
        hist[0, value] = 0
        hist[1, value] = 0
        for one in range(labels):
            hist_label[value * labels + one] = 0


@compiled(f"void({WORK}, int64, int64)")
def _move_labels(work, value, labels):  # type: ignore[no-untyped-def]
    """The rows of a value go from the right of the cut to its left."""
    hist_label, tally = work[2], work[11]
    for one in range(labels):
        tally[labels + one] += hist_label[value * labels + one]
        tally[2 * labels + one] -= hist_label[value * labels + one]


@compiled(f"void({TABLE}, {WORK}, int64, int64, int64)")
def _weigh(table, work, count, size, cells):  # type: ignore[no-untyped-def]
    """Add what each cut of a column does to a class, as differences between neighbouring cuts."""
    rule = table[4]
    hist, effect, present, tally = work[1], work[3], work[10], work[11]
    labels, k = rule[LABELS], rule[K]
    whole = _class_cost(rule, size, largest(tally, 0, labels))
    whole_bound = _class_bound(rule, table[6], size, cells)
    for one in range(labels):
        tally[labels + one] = 0
        tally[2 * labels + one] = tally[one]
    left, left_cells = np.int64(0), np.int64(0)
    for number in range(count - 1):
        value = present[number]
        left += hist[0, value]
        left_cells += hist[1, value]
        right = size - left
        if labels > 1:
            _move_labels(work, value, labels)
        cost = _class_cost(rule, left, largest(tally, labels, labels)) - whole
        cost += _class_cost(rule, right, largest(tally, 2 * labels, labels))
        least = (
            _class_bound(rule, table[6], left, left_cells)
            + _class_bound(rule, table[6], right, cells - left_cells)
            - whole_bound
        )
        small = np.int64(left < k) + np.int64(right < k)
        good = small == 0
        if small == 1 and rule[SUPPRESS] and rule[SQUARES]:
            # Joining the small part to the other costs no more than suppressing it, unless the other is very large.
            good = min(left, right) + 2 * max(left, right) > rule[ROWS]
        begin, end = value + 1, present[number + 1] + 1
        effect[COST, begin] += cost
        effect[COST, end] -= cost
        effect[LEAST, begin] += least
        effect[LEAST, end] -= least
        effect[GOOD, begin] += np.int64(good)
        effect[GOOD, end] -= np.int64(good)
        effect[SMALL, begin] += small
        effect[SMALL, end] -= small


@compiled(f"UniTuple(int64, 3)({TABLE}, {WORK}, int32[::1], int64, int64)")
def examine_class(table, work, rows, begin, end):  # type: ignore[no-untyped-def]
    """Weigh every cut of one class; returns its cost, its bound, and the bound that its cells alone give."""
    weight, label, rule = table[1], table[2], table[4]
    bound, tally = work[9], work[11]
    size, cells = np.int64(0), np.int64(0)
    for one in range(rule[LABELS]):
        tally[one] = 0
    for place in range(begin, end):
        row = rows[place]
        size += weight[row]
        cells += bound[row]
        tally[label[row]] += weight[row]
    for column in range(table[0].shape[1]):
        count = _collect(table, work, rows, begin, end, column)
        if count > 1:
            _weigh(table, work, count, size, cells)
        _forget(table, work, count)
    most = largest(tally, 0, rule[LABELS])
    return _class_cost(rule, size, most), _class_bound(rule, table[6], size, cells), cells
