# SPDX-License-Identifier: MIT
"""The hot loops of a search over sets of cut points: group rows, weigh every further cut in one pass, walk the tree.

Values of all columns are numbered in one row; the number of a value is also that of the cut right before it, so
the first value of a column is no cut. A frame of the stack is a node of the set-enumeration tree: its head (the
cuts made), the classes of its rows that are still large enough, and its tail (the cuts that may yet be made).
Arrays travel in three tuples: `TABLE` is read only, `WORK` is scratch, `STACK` is the state of the search.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compiled import compiled

# codes (rows × columns), weights, labels, where each column's values start, rules, a random number for each value
TABLE = "Tuple((int32[:,::1], int64[::1], int32[::1], int64[::1], int64[::1], uint64[::1]))"
# first value of each value's interval, value counts, value labels, effects of cuts, open cuts,
# hash slots, cell of each row, cells, labels of cells, bound of each row, values present in a class, label counts
WORK = (
    "Tuple((int32[::1], int64[:,::1], int64[::1], int64[:,::1], boolean[::1],"
    " int32[::1], int32[::1], int64[:,::1], int64[::1], int64[::1], int64[::1], int64[:,::1]))"
)
# rows of frames, class starts, tails, frames, cuts of the head, cuts of the best, state
STACK = "Tuple((int32[::1], int32[::1], int32[::1], int64[:,::1], boolean[::1], boolean[::1], int64[::1]))"

K, ROWS, PENALTY, SUPPRESS, SQUARES, LABELS, BALANCED = range(7)
ROW, ROW_END, CLASS, CLASS_END, TAIL, TAIL_END, FIXED, BOUND, CUT, ONLY = range(10)
DEPTH, BEST, VISITED, EXAMINED, FRESH = range(5)
COST, LEAST, GOOD, SMALL = range(4)
DONE, RUNNING, FULL = range(3)


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
    codes, weight, label, start, rule, mark = table
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
def _largest(counts, begin, labels):  # type: ignore[no-untyped-def]
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


@compiled("int64(int64[::1], int64, int64)")
def _class_bound(rule, size, cells):  # type: ignore[no-untyped-def]
    """What the rows of a class cost at least however it is cut further; `cells` is what their cells say."""
    if size < rule[K]:
        return size * rule[PENALTY]
    return max(cells, least_squares(size, rule[K])) if rule[BALANCED] else cells


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
        cost += _class_cost(rule, size, _largest(cell_label, number * labels, labels))
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
            bound[row] = cell[0, number] - _largest(cell_label, number * labels, labels)
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
        count = 0
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
        tally[1, one] += hist_label[value * labels + one]
        tally[2, one] -= hist_label[value * labels + one]


@compiled(f"void({TABLE}, {WORK}, int64, int64, int64)")
def _weigh(table, work, count, size, cells):  # type: ignore[no-untyped-def]
    """Add what each cut of a column does to a class, as differences between neighbouring cuts."""
    rule = table[4]
    hist, effect, present, tally = work[1], work[3], work[10], work[11]
    labels, k = rule[LABELS], rule[K]
    whole = _class_cost(rule, size, _largest(tally[0], 0, labels))
    whole_bound = _class_bound(rule, size, cells)
    tally[1] = 0
    tally[2] = tally[0]
    left, left_cells = np.int64(0), np.int64(0)
    for number in range(count - 1):
        value = present[number]
        left += hist[0, value]
        left_cells += hist[1, value]
        right = size - left
        if labels > 1:
            _move_labels(work, value, labels)
        cost = _class_cost(rule, left, _largest(tally[1], 0, labels)) - whole
        cost += _class_cost(rule, right, _largest(tally[2], 0, labels))
        least = _class_bound(rule, left, left_cells) + _class_bound(rule, right, cells - left_cells) - whole_bound
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
def _examine_class(table, work, rows, begin, end):  # type: ignore[no-untyped-def]
    """Weigh every cut of one class; returns its cost, its bound, and the bound that its cells alone give."""
    weight, label, rule = table[1], table[2], table[4]
    bound, tally = work[9], work[11]
    size, cells = np.int64(0), np.int64(0)
    tally[0] = 0
    for place in range(begin, end):
        row = rows[place]
        size += weight[row]
        cells += bound[row]
        tally[0, label[row]] += weight[row]
    for column in range(table[0].shape[1]):
        count = _collect(table, work, rows, begin, end, column)
        if count > 1:
            _weigh(table, work, count, size, cells)
        _forget(table, work, count)
    most = _largest(tally[0], 0, rule[LABELS])
    return _class_cost(rule, size, most), _class_bound(rule, size, cells), cells


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
        one = _examine_class(table, work, rows, class_start[number], end)
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
    codes, weight, rule = table[0], table[1], table[4]
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
    return _largest(cell_label, one * labels, labels) + _largest(cell_label, other * labels, labels) - most


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
        state[VISITED] += 1
        here[BOUND] = without
        frames[state[DEPTH], BOUND] = bound
    return DONE
