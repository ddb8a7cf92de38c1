# SPDX-License-Identifier: MIT
"""The hot loops of partitioning: where to cut a part, and how to cluster the rows of a small block.

Rows come as `cells`, a line for one row or for several equal ones, kept in the order of the parts; a part is a run of
lines, and `weights` says how many people a line stands for. A cell is the place of its value in the column's order, and
the place after the last is a missing cell. `traits` has a line a column: its kind (0 range, 1 set, 2 tree), how many
leaves it has, where its hierarchy starts in `groups` and `label_losses`, how many levels that has, and whether missing
cells may be published as such. `groups` holds level by level the group of every place, `label_losses` how many leaves
such a label loses. The *width* of a part in a column is the number of leaves that its published label loses; a gain is
width saved × people, as a share of all leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import CodeGrid, Codes, FloatGrid, Floats, IntGrid, Ints
from sfumato.kernels.compilation import compile_cached, record

BY_RANGE, BY_SET, BY_TREE = 0, 1, 2
COLUMN_KIND, LEAVES, START, HEIGHT, OWN_VALUES = 0, 1, 2, 3, 4


@record
class PartColumns(NamedTuple):
    """What the columns are like: a line each in `traits`, and their hierarchies one after another."""

    traits: IntGrid
    groups: Codes
    label_losses: Ints


LOWEST, HIGHEST = range(2)
"""The ends of the places that a part has in a column."""


@record
class CutRoom(NamedTuple):
    """Room to look for a cut: the histogram is all 0 between two looks."""

    offsets: Ints
    """Where each column's places begin in the histogram."""
    histogram: Ints
    ends: IntGrid
    """The lowest and the highest place of each column."""
    values: Codes
    counts: Ints
    """The distinct places of a part in a column, in order, and their counts."""


@record
class ColumnCuts(NamedTuple):
    """The cut of a part in every column: the greatest place on its left, the rows there, what it saves, or −1."""

    values: Ints
    lefts: Ints
    gains: Floats


@record
class PartCuts(NamedTuple):
    """The same of many parts, a line each."""

    values: IntGrid
    lefts: IntGrid
    gains: FloatGrid


@compile_cached("int64(int64, int64, int64, PartColumns)", allocates=False)
def find_meeting_level(leaf, other, column, columns):
    """The lowest level at which two leaves are in one group; one above the top if they never are."""
    leaves, begin, height = (
        columns.traits[column, LEAVES],
        columns.traits[column, START],
        columns.traits[column, HEIGHT],
    )
    for level in range(height):
        if columns.groups[begin + level * leaves + leaf] == columns.groups[begin + level * leaves + other]:
            return np.int64(level + 1)
    return np.int64(height + 1)


@compile_cached("int64(int64, int64, int64, int64, PartColumns)", allocates=False)
def measure_width(low, high, distinct, column, columns):
    """What is lost by publishing some places, missing cells among them if `high` is the place after the last."""
    kind, leaves = columns.traits[column, COLUMN_KIND], columns.traits[column, LEAVES]
    if high == leaves:
        return np.int64(0) if distinct == 1 and columns.traits[column, OWN_VALUES] else max(leaves - 1, np.int64(1))
    if distinct == 1:
        return np.int64(0)
    if kind == BY_RANGE:
        return high - low
    if kind == BY_SET:
        return distinct - 1
    level = find_meeting_level(low, high, column, columns)
    if level > columns.traits[column, HEIGHT]:
        return leaves - 1
    return columns.label_losses[columns.traits[column, START] + (level - 1) * leaves + low]


@record
class PartLines(NamedTuple):
    """Lines in the order of the parts: their cells, which lines they are, and how many people each stands for."""

    cells: CodeGrid
    order: Codes
    weights: Ints


@compile_cached("int64(int32[:,::1], int64[::1], int64, int64, int64[::1], int64[::1], int64[:,::1])")
def _count_cells(cells, weights, begin, end, offsets, histogram, ends):
    """Count the places of all columns of a part in one pass, and find the lowest and the highest of each."""
    people = np.int64(0)
    for column in range(offsets.shape[0]):
        ends[column, LOWEST] = ends[column, HIGHEST] = cells[begin, column]
    for row in range(begin, end):
        people += weights[row]
        for column in range(offsets.shape[0]):
            value = np.int64(cells[row, column])
            histogram[offsets[column] + value] += weights[row]
            ends[column, LOWEST] = min(ends[column, LOWEST], value)
            ends[column, HIGHEST] = max(ends[column, HIGHEST], value)
    return people


@compile_cached("int64(int32[:,::1], int64, int64, int64, int64, int64[::1], int64[::1], int32[::1], int64[::1])")
def _list_distinct_places(cells, begin, end, column, offset, ends, histogram, values, counts):
    """The distinct places of a part in a column, in order, with their counts; the histogram is cleared."""
    distinct_count = np.int64(0)
    if ends[HIGHEST] - ends[LOWEST] <= 4 * (end - begin) + 64:
        for value in range(ends[LOWEST], ends[HIGHEST] + 1):
            count = histogram[offset + value]
            if count:
                values[distinct_count], counts[distinct_count] = value, count
                histogram[offset + value] = 0
                distinct_count += 1
        return distinct_count
    sorted_places = np.sort(cells[begin:end, column].copy())
    for position in range(sorted_places.shape[0]):
        count = histogram[offset + sorted_places[position]]
        if count:
            values[distinct_count], counts[distinct_count] = sorted_places[position], count
            histogram[offset + sorted_places[position]] = 0
            distinct_count += 1
    return distinct_count


@compile_cached("int64[::1](PartColumns)")
def _compute_column_offsets(columns):
    """Where each column begins in an array that holds all places of all columns, and last how long that is."""
    offsets = np.zeros(columns.traits.shape[0] + 1, dtype=np.int64)
    for column in range(columns.traits.shape[0]):
        offsets[column + 1] = offsets[column] + columns.traits[column, LEAVES] + 1
    return offsets


@compile_cached("int64(int32[::1], int64[::1], int64, int64, int64, int64, PartColumns)", allocates=False)
def _choose_strict_cut(values, counts, distinct_count, rows, least, column, columns):
    """How many distinct places go left; 0 if there is no cut. High branches first, then the nearest to the median."""
    best, best_level, best_gap, left_count = np.int64(0), np.int64(-1), np.int64(0), np.int64(0)
    branches = columns.traits[column, HEIGHT] > 0 and columns.traits[column, COLUMN_KIND] != BY_RANGE
    for position in range(1, distinct_count):
        left_count += counts[position - 1]
        if left_count < least or rows - left_count < least:
            continue
        level = np.int64(0)
        if values[position] == columns.traits[column, LEAVES]:  # missing cells are separated from the others first
            level = columns.traits[column, HEIGHT] + 2
        elif branches:
            level = find_meeting_level(values[position - 1], values[position], column, columns)
        gap = abs(2 * left_count - rows)
        if level > best_level or (level == best_level and gap < best_gap):
            best, best_level, best_gap = np.int64(position), level, gap
    return best


@compile_cached("int64(int32[::1], int64[::1], int64, int64, int64, int64)")
def _choose_relaxed_cut(values, counts, distinct_count, rows, least, leaves):
    """How many rows go left: half of them, a multiple of `least`; but missing cells are separated if possible."""
    missing = counts[distinct_count - 1] if values[distinct_count - 1] == leaves else np.int64(0)
    if missing >= least and rows - missing >= least:
        return rows - missing
    return rows // 2 // least * least


@compile_cached("void(CutRoom, int64, int64, int64, PartColumns, int64, boolean, ColumnCuts)", allocates=False)
def _propose_in(room, distinct_count, rows, column, columns, least, is_relaxed, cuts):
    """Find the cut of a part in a column, given its distinct places."""
    values, counts = room.values, room.counts
    cuts.values[column], cuts.lefts[column], cuts.gains[column] = 0, 0, -1.0
    if distinct_count < 2 or rows < 2 * least:
        return
    leaves = columns.traits[column, LEAVES]
    left_count = np.int64(0)
    if is_relaxed:
        left_count = _choose_relaxed_cut(values, counts, distinct_count, rows, least, leaves)
    else:
        for position in range(_choose_strict_cut(values, counts, distinct_count, rows, least, column, columns)):
            left_count += counts[position]
    if left_count == 0:
        return
    split, cumulative_count = np.int64(0), counts[0]
    while cumulative_count < left_count:
        split += 1
        cumulative_count += counts[split]
    right = split + 1 if cumulative_count == left_count else split
    scale = np.float64(max(leaves - 1, 1))
    whole = measure_width(values[0], values[distinct_count - 1], distinct_count, column, columns)
    left_width = measure_width(values[0], values[split], split + 1, column, columns)
    right_width = measure_width(values[right], values[distinct_count - 1], distinct_count - right, column, columns)
    cuts.values[column], cuts.lefts[column] = values[split], left_count
    cuts.gains[column] = max((rows * whole - left_count * left_width - (rows - left_count) * right_width) / scale, 0.0)


@compile_cached("void(PartLines, int64, PartLines, int64)", allocates=False)
def _copy_line(source, row, target, slot):
    target.order[slot], target.weights[slot] = source.order[row], source.weights[row]
    for column in range(source.cells.shape[1]):
        target.cells[slot, column] = source.cells[row, column]


@compile_cached("int64(PartLines, int64, int64, int64, int64, int64, PartLines)", allocates=False)
def _partition_lines(lines, begin, end, column, value, left_count, spare):
    """Bring the lines of the left side to the front, and return where the right side begins.

    Of those equal to `value`, as many go left as make up `left_count` people.
    """
    cells, quota = lines.cells, left_count
    for row in range(begin, end):
        if cells[row, column] < value:
            quota -= lines.weights[row]
    middle, right_count = begin, np.int64(0)
    for row in range(begin, end):
        cell, weight = cells[row, column], lines.weights[row]
        goes_left = cell < value
        if cell == value and quota > 0:
            goes_left = True
            quota -= weight
        if goes_left:  # never beyond the line that is looked at
            _copy_line(lines, row, lines, middle)
            middle += 1
        else:
            _copy_line(lines, row, spare, right_count)
            right_count += 1
    for row in range(right_count):
        _copy_line(spare, row, lines, middle + row)
    return middle


@compile_cached("CutRoom(int64, PartColumns)")
def _make_room(rows, columns):
    """Room for cuts of this number of rows."""
    offsets = _compute_column_offsets(columns)
    histogram, ends = np.zeros(offsets[-1], dtype=np.int64), np.empty((columns.traits.shape[0], 2), dtype=np.int64)
    return CutRoom(offsets, histogram, ends, np.empty(rows, dtype=np.int32), np.empty(rows, dtype=np.int64))


@compile_cached("void(PartLines, int64, int64, PartColumns, int64, boolean, CutRoom, ColumnCuts)", allocates=False)
def _propose_part_cuts(lines, begin, end, columns, least, is_relaxed, room, cuts):
    """The cut of a part in every column."""
    count, cells = columns.traits.shape[0], lines.cells
    people = _count_cells(cells, lines.weights, begin, end, room.offsets[:count], room.histogram, room.ends)
    for column in range(count):
        distinct_count = _list_distinct_places(
            cells, begin, end, column, room.offsets[column], room.ends[column], room.histogram, room.values, room.counts
        )
        _propose_in(room, distinct_count, people, column, columns, least, is_relaxed, cuts)


@compile_cached("PartLines(PartLines)")
def _make_spare_lines(lines):
    return PartLines(np.empty_like(lines.cells), np.empty_like(lines.order), np.empty_like(lines.weights))


@compile_cached("int64[::1](PartLines, int64[::1], PartColumns, int64, int64, boolean)")
def cut_parts(lines, starts, columns, least, largest, is_relaxed):
    """Cut parts in the column of the greatest gain, again and again, until they have `largest` people or no cut.

    The lines are brought into the order of the parts, whose starts are returned, with the end of the last.
    """
    rows, count = lines.cells.shape
    spare, room = _make_spare_lines(lines), _make_room(rows, columns)
    cuts = ColumnCuts(np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64), np.empty(count))
    most = min(rows, lines.weights.sum() // max(least, 1)) + starts.shape[0] + 1
    part_starts, parts = np.empty(most, dtype=np.int64), np.int64(0)
    # The left side is cut on first, so the ends that wait are no more than there can be parts.
    stack = np.empty_like(part_starts)
    for number in range(starts.shape[0] - 1):
        begin, depth = starts[number], np.int64(1)
        stack[0] = starts[number + 1]
        while depth:
            end, best = stack[depth - 1], np.int64(-1)
            people = lines.weights[begin:end].sum()
            if people > largest and people >= 2 * least:
                _propose_part_cuts(lines, begin, end, columns, least, is_relaxed, room, cuts)
                best = np.int64(np.argmax(cuts.gains))
                if cuts.gains[best] < 0:
                    best = np.int64(-1)
            if best < 0:
                part_starts[parts] = begin
                parts += 1
                begin = end
                depth -= 1
            else:
                stack[depth] = _partition_lines(lines, begin, end, best, cuts.values[best], cuts.lefts[best], spare)
                depth += 1
    part_starts[parts] = rows
    return part_starts[: parts + 1].copy()


@compile_cached("void(PartLines, int64[::1], int64[::1], PartColumns, int64, boolean, PartCuts)")
def propose_cuts(lines, begins, ends, columns, least, is_relaxed, cuts):
    """The cut of every part in every column, for callers that judge them first."""
    room = _make_room(lines.cells.shape[0], columns)
    for number in range(begins.shape[0]):
        part_cuts = ColumnCuts(cuts.values[number], cuts.lefts[number], cuts.gains[number])
        _propose_part_cuts(lines, begins[number], ends[number], columns, least, is_relaxed, room, part_cuts)


@compile_cached("int64[::1](PartLines, int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def make_cuts(lines, begins, ends, chosen_columns, values, lefts):
    """Bring the lines of each part into the order of its two sides, and return where the right ones begin."""
    spare, middles = _make_spare_lines(lines), np.empty_like(begins)
    for number in range(begins.shape[0]):
        middles[number] = _partition_lines(
            lines, begins[number], ends[number], chosen_columns[number], values[number], lefts[number], spare
        )
    return middles


@compile_cached("void(PartLines, int64[::1], int64[::1], PartLines)")
def regroup_lines(lines, part_of_place, starts, regrouped_lines):
    """Bring lines into the order of other parts, whose starts are known, and keep their order inside each."""
    next_slots = starts.copy()
    for row in range(lines.order.shape[0]):
        _copy_line(lines, row, regrouped_lines, next_slots[part_of_place[row]])
        next_slots[part_of_place[row]] += 1


@record
class DistinctPlaces(NamedTuple):
    """The distinct places of every part in a column."""

    places: Codes
    """In order, part after part."""
    begins: Ints
    """Where each part's begin."""


@compile_cached("DistinctPlaces(int32[:,::1], int64, int64[::1], int64)")
def list_distinct_places(cells, column, starts, leaves):
    """List the distinct places of every part in a column."""
    groups = starts.shape[0] - 1
    flat, begins = np.empty(cells.shape[0], dtype=np.int32), np.zeros(groups + 1, dtype=np.int64)
    histogram, ends = np.zeros(leaves + 1, dtype=np.int64), np.empty(2, dtype=np.int64)
    largest = np.int64(0)
    for group in range(groups):
        largest = max(largest, starts[group + 1] - starts[group])
    values, counts = np.empty(largest, dtype=np.int32), np.empty(largest, dtype=np.int64)
    place_count = np.int64(0)
    for group in range(groups):
        begin, end = starts[group], starts[group + 1]
        ends[LOWEST] = ends[HIGHEST] = cells[begin, column]
        for row in range(begin, end):
            value = np.int64(cells[row, column])
            histogram[value] += 1
            ends[LOWEST], ends[HIGHEST] = min(ends[LOWEST], value), max(ends[HIGHEST], value)
        distinct_count = _list_distinct_places(cells, begin, end, column, 0, ends, histogram, values, counts)
        flat[place_count : place_count + distinct_count] = values[:distinct_count]
        place_count += distinct_count
        begins[group + 1] = place_count
    return DistinctPlaces(flat[:place_count].copy(), begins)
