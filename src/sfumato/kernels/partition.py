# SPDX-License-Identifier: MIT
"""The hot loops of partitioning: where to cut a part, and how to cluster the rows of a small block.

Rows come as `cells`, one line a row, kept in the order of the parts; a part is a run of lines. A cell is the
place of its value in the column's order, and the place after the last is a missing cell. `columns` has a line a
column: its kind (0 range, 1 set, 2 tree), how many leaves it has, where its hierarchy starts in `above` and
`under`, how many levels that has, and whether missing cells may be published as such. `above` holds level by
level the group of every place, `under` how many leaves such a label loses. The *width* of a part in a column is
the number of leaves that its published label loses; a gain is width saved × rows, as a share of all leaves.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compiled import compiled

RANGE, SET, TREE = 0, 1, 2
KIND, LEAVES, START, HEIGHT, OWN = 0, 1, 2, 3, 4

COLUMNS = "int64[:,::1], int32[::1], int64[::1]"


@compiled(f"int64(int64, int64, int64, {COLUMNS})")
def meeting(one, other, column, columns, above, under):  # type: ignore[no-untyped-def]
    """The lowest level at which two leaves are in one group; one above the top if they never are."""
    leaves, begin, height = columns[column, LEAVES], columns[column, START], columns[column, HEIGHT]
    for level in range(height):
        if above[begin + level * leaves + one] == above[begin + level * leaves + other]:
            return np.int64(level + 1)
    return np.int64(height + 1)


@compiled(f"int64(int64, int64, int64, int64, {COLUMNS})")
def width(low, high, distinct, column, columns, above, under):  # type: ignore[no-untyped-def]
    """What is lost by publishing some places, missing cells among them if `high` is the place after the last."""
    kind, leaves = columns[column, KIND], columns[column, LEAVES]
    if high == leaves:
        return np.int64(0) if distinct == 1 and columns[column, OWN] else max(leaves - 1, np.int64(1))
    if distinct == 1:
        return np.int64(0)
    if kind == RANGE:
        return high - low
    if kind == SET:
        return distinct - 1
    level = meeting(low, high, column, columns, above, under)
    if level > columns[column, HEIGHT]:
        return leaves - 1
    return under[columns[column, START] + (level - 1) * leaves + low]


@compiled("int64(int32[:,::1], int64, int64, int64, int64[::1], int32[::1], int64[::1])")
def _counted(cells, begin, end, column, histogram, values, counts):  # type: ignore[no-untyped-def]
    """The distinct places of a part in order, with their counts; `histogram` is all 0 on entry and on exit."""
    low = np.int64(cells[begin, column])
    high = low
    for row in range(begin, end):
        value = np.int64(cells[row, column])
        low, high = min(low, value), max(high, value)
    found = np.int64(0)
    if high - low <= 4 * (end - begin) + 64:
        for row in range(begin, end):
            histogram[cells[row, column]] += 1
        for value in range(low, high + 1):
            if histogram[value]:
                values[found], counts[found] = value, histogram[value]
                histogram[value] = 0
                found += 1
        return found
    ordered = np.sort(cells[begin:end, column].copy())
    for place in range(ordered.shape[0]):
        if place == 0 or ordered[place] != ordered[place - 1]:
            values[found], counts[found] = ordered[place], 0
            found += 1
        counts[found - 1] += 1
    return found


@compiled(f"int64(int32[::1], int64[::1], int64, int64, int64, int64, {COLUMNS})")
def _strict_place(values, counts, found, rows, least, column, columns, above, under):  # type: ignore[no-untyped-def]
    """How many distinct places go left; 0 if there is no cut. High branches first, then the nearest to the median."""
    best, best_level, best_gap, left = np.int64(0), np.int64(-1), np.int64(0), np.int64(0)
    branches = columns[column, HEIGHT] > 0 and columns[column, KIND] != RANGE
    for place in range(1, found):
        left += counts[place - 1]
        if left < least or rows - left < least:
            continue
        level = np.int64(0)
        if values[place] == columns[column, LEAVES]:  # missing cells are parted from the others before all
            level = columns[column, HEIGHT] + 2
        elif branches:
            level = meeting(values[place - 1], values[place], column, columns, above, under)
        gap = abs(2 * left - rows)
        if level > best_level or (level == best_level and gap < best_gap):
            best, best_level, best_gap = np.int64(place), level, gap
    return best


@compiled("int64(int32[::1], int64[::1], int64, int64, int64, int64)")
def _relaxed_rows(values, counts, found, rows, least, leaves):  # type: ignore[no-untyped-def]
    """How many rows go left: half of them, a multiple of `least`; but missing cells are parted where they can be."""
    missing = counts[found - 1] if values[found - 1] == leaves else np.int64(0)
    if missing >= least and rows - missing >= least:
        return rows - missing
    return rows // 2 // least * least


@compiled(
    f"UniTuple(int64, 2)(int32[:,::1], int64, int64, int64, {COLUMNS}, int64, boolean, int64[::1], int32[::1], "
    "int64[::1], float64[::1])"
)
def _proposal(  # type: ignore[no-untyped-def]
    cells, begin, end, column, columns, above, under, least, relaxed, histogram, values, counts, gain
):
    """The cut of a part in a column: the greatest place on its left, and the rows there; `gain` is −1 without one."""
    rows = end - begin
    found = _counted(cells, begin, end, column, histogram, values, counts)
    gain[0] = -1.0
    if found < 2 or rows < 2 * least:
        return np.int64(0), np.int64(0)
    leaves = columns[column, LEAVES]
    left = np.int64(0)
    if relaxed:
        left = _relaxed_rows(values, counts, found, rows, least, leaves)
    else:
        for place in range(_strict_place(values, counts, found, rows, least, column, columns, above, under)):
            left += counts[place]
    if left == 0:
        return np.int64(0), np.int64(0)
    split, below = np.int64(0), counts[0]
    while below < left:
        split += 1
        below += counts[split]
    right = split + 1 if below == left else split
    scale = np.float64(max(leaves - 1, 1))
    whole = width(values[0], values[found - 1], found, column, columns, above, under)
    ours = width(values[0], values[split], split + 1, column, columns, above, under)
    theirs = width(values[right], values[found - 1], found - right, column, columns, above, under)
    gain[0] = max((rows * whole - left * ours - (rows - left) * theirs) / scale, 0.0)
    return np.int64(values[split]), left


@compiled("void(int32[:,::1], int32[::1], int64, int64, int64, int64, int64, int32[:,::1], int32[::1])")
def _part(cells, order, begin, end, column, value, left, spare_cells, spare_order):  # type: ignore[no-untyped-def]
    """Bring the rows of the left side to the front; of those equal to `value`, as many as belong there."""
    quota = left
    for row in range(begin, end):
        quota -= cells[row, column] < value
    to_left, to_right = begin, begin + left
    for row in range(begin, end):
        here = cells[row, column]
        goes_left = here < value
        if here == value and quota > 0:
            goes_left = True
            quota -= 1
        target = to_left if goes_left else to_right
        spare_order[target] = order[row]
        for other in range(cells.shape[1]):
            spare_cells[target, other] = cells[row, other]
        if goes_left:
            to_left += 1
        else:
            to_right += 1
    for row in range(begin, end):
        order[row] = spare_order[row]
        for other in range(cells.shape[1]):
            cells[row, other] = spare_cells[row, other]


@compiled(f"int64[::1](int32[:,::1], int32[::1], int64[::1], {COLUMNS}, int64, int64, boolean)")
def cut_parts(cells, order, starts, columns, above, under, least, largest, relaxed):  # type: ignore[no-untyped-def]
    """Cut parts in the column of the greatest gain, again and again, until they have `largest` rows or no cut.

    `cells` and `order` are brought into the order of the parts, whose starts are returned, with the end of the last.
    """
    rows = cells.shape[0]
    spare_cells, spare_order = np.empty_like(cells), np.empty_like(order)
    histogram = np.zeros(columns[:, LEAVES].max() + 1, dtype=np.int64)
    values, counts = np.empty(rows, dtype=np.int32), np.empty(rows, dtype=np.int64)
    gain = np.zeros(1)
    made, parts = np.empty(rows // max(least, 1) + starts.shape[0] + 1, dtype=np.int64), np.int64(0)
    # Cutting off the right side first leaves at most one open part a step: no more than there can be parts.
    ends = np.empty_like(made)
    for number in range(starts.shape[0] - 1):
        begin, depth = starts[number], np.int64(1)
        ends[0] = starts[number + 1]
        while depth:
            end = ends[depth - 1]
            best, best_gain, value, left = np.int64(-1), -1.0, np.int64(0), np.int64(0)
            if end - begin > largest:
                for column in range(columns.shape[0]):
                    here, there = _proposal(
                        cells,
                        begin,
                        end,
                        column,
                        columns,
                        above,
                        under,
                        least,
                        relaxed,
                        histogram,
                        values,
                        counts,
                        gain,
                    )
                    if gain[0] > best_gain:
                        best, best_gain, value, left = np.int64(column), gain[0], here, there
            if best < 0:
                made[parts] = begin
                parts += 1
                begin = end
                depth -= 1
            else:
                _part(cells, order, begin, end, best, value, left, spare_cells, spare_order)
                ends[depth] = begin + left
                depth += 1
    made[parts] = rows
    return made[: parts + 1].copy()


@compiled(
    f"void(int32[:,::1], int64[::1], int64[::1], {COLUMNS}, int64, boolean, int64[:,::1], int64[:,::1], float64[:,::1])"
)
def propose_cuts(  # type: ignore[no-untyped-def]
    cells, begins, ends, columns, above, under, least, relaxed, values_out, lefts_out, gains_out
):
    """The cut of every part in every column, for whoever wants to judge them first."""
    rows = cells.shape[0]
    histogram = np.zeros(columns[:, LEAVES].max() + 1, dtype=np.int64)
    values, counts = np.empty(rows, dtype=np.int32), np.empty(rows, dtype=np.int64)
    gain = np.zeros(1)
    for number in range(begins.shape[0]):
        for column in range(columns.shape[0]):
            value, left = _proposal(
                cells, begins[number], ends[number], column, columns, above, under, least, relaxed,
                histogram, values, counts, gain,
            )  # fmt: skip
            values_out[number, column], lefts_out[number, column] = value, left
            gains_out[number, column] = gain[0]


@compiled("void(int32[:,::1], int32[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def make_cuts(cells, order, begins, ends, chosen, values, lefts):  # type: ignore[no-untyped-def]
    """Bring the rows of each part into the order of its two sides."""
    spare_cells, spare_order = np.empty_like(cells), np.empty_like(order)
    for number in range(begins.shape[0]):
        _part(
            cells, order, begins[number], ends[number], chosen[number], values[number], lefts[number],
            spare_cells, spare_order,
        )  # fmt: skip


@compiled("Tuple((int32[::1], int64[::1]))(int32[:,::1], int64, int64[::1], int64)")
def distinct_places(cells, column, starts, leaves):  # type: ignore[no-untyped-def]
    """The distinct places of every part in a column, in order, part after part, and where each part's begin."""
    groups = starts.shape[0] - 1
    flat, begins = np.empty(cells.shape[0], dtype=np.int32), np.zeros(groups + 1, dtype=np.int64)
    histogram = np.zeros(leaves + 1, dtype=np.int64)
    largest = np.int64(0)
    for group in range(groups):
        largest = max(largest, starts[group + 1] - starts[group])
    values, counts = np.empty(largest, dtype=np.int32), np.empty(largest, dtype=np.int64)
    filled = np.int64(0)
    for group in range(groups):
        found = _counted(cells, starts[group], starts[group + 1], column, histogram, values, counts)
        flat[filled : filled + found] = values[:found]
        filled += found
        begins[group + 1] = filled
    return flat[:filled].copy(), begins
