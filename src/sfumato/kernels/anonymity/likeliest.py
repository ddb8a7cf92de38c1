# SPDX-License-Identifier: MIT
"""Which published rows are the likeliest to be someone's: those of least cost, added up over the columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import FloatGrid, IntGrid, Ints, Singles
from sfumato.kernels.compilation import compile_cached, record

# How far sums of the same terms may differ, as a share: beside one far number, which widens the scale of a column, the
# costs of the others differ by less than any fixed amount.
_ROUNDING = 1 + 1e-12


SCALE, WALL, PERSON_MISSING, ROW_MISSING, BOTH_MISSING = range(5)
"""What the law of a column says."""
RUN_BEGIN, RUN_WIDTH = range(2)
"""Where the table of a column begins, and how many labels it has."""


@record
class NumberCosts(NamedTuple):
    """Columns whose cost grows with the gap between a known number and a published one, or a published range."""

    person_numbers: FloatGrid
    """People × columns; NaN where the number is missing."""
    low: FloatGrid
    """Rows × columns."""
    high: FloatGrid
    laws: FloatGrid
    """Columns × scale, cost of a gap beyond the scale (0: the cost is half the square of gap / scale), cost of a
    person's missing number, of a row's, of both. Against a row of any number, a person's costs as a row's."""


@record
class LabelCosts(NamedTuple):
    """Columns whose cost is looked up by the known value and the published label."""

    person_labels: IntGrid
    row_labels: IntGrid
    costs: Singles
    """A table of values × labels for each column, one after another."""
    layout: IntGrid
    """Columns × where the table begins, how many labels it has."""


@compile_cached("float64(NumberCosts, int64, int64, int64)")
def price_number(numbers, person, row, column):
    """The cost of one known number against one published cell; it never falls as the gap grows."""
    known_number, low = numbers.person_numbers[person, column], numbers.low[row, column]
    if np.isnan(known_number):
        only_person = PERSON_MISSING if low > -np.inf else ROW_MISSING
        return numbers.laws[column, BOTH_MISSING if np.isnan(low) else only_person]
    if np.isnan(low):
        return numbers.laws[column, ROW_MISSING]
    gap = max(low - known_number, known_number - numbers.high[row, column])
    if gap <= 0.0:
        return 0.0
    scale, wall = numbers.laws[column, SCALE], numbers.laws[column, WALL]
    if scale == 0.0:
        return wall
    ratio = gap / scale
    if wall == 0.0:
        return 0.5 * ratio * ratio
    # Within the wall all gaps are equally likely; the nearer is taken, so that millions of rows need not be listed.
    return 1e-6 * ratio * ratio + (wall if ratio > 1.0 + 1e-9 else 0.0)


@compile_cached("float64(NumberCosts, LabelCosts, int64, int64, float64)")
def price_row(numbers, labels, person, row, most):
    """The cost of a row for a person, added up only until it is more than `most`."""
    cost = 0.0
    for column in range(numbers.person_numbers.shape[1]):
        cost += price_number(numbers, person, row, column)
        if cost > most:
            return cost
    for column in range(labels.person_labels.shape[1]):
        begin, width = labels.layout[column, RUN_BEGIN], labels.layout[column, RUN_WIDTH]
        cost += labels.costs[begin + labels.person_labels[person, column] * width + labels.row_labels[row, column]]
        if cost > most:
            return cost
    return cost


@record
class CheapestRows(NamedTuple):
    """The rows of least cost for each person."""

    counts: Ints
    """How many share it."""
    rows: Ints
    """These rows, one person after another."""


@compile_cached("CheapestRows(NumberCosts, LabelCosts, int64[::1], int64[::1], boolean[::1])")
def list_cheapest_rows(numbers, labels, first, last, is_sorted):
    """List the rows of least cost for each person.

    A person is compared with the rows from `first` to `last`. Where those are sorted by the first number, the search
    begins at the person's own and goes both ways until that number alone costs too much.
    """
    people, ties = len(first), np.empty(max(labels.row_labels.shape[0], 1), np.int64)
    counts, listed_rows, total = np.zeros(people, np.int64), np.empty(max(people, 1), np.int64), 0
    for person in range(people):
        best, count = np.inf, 0
        begin, end = first[person], last[person]
        sweep = is_sorted[person] and not np.isnan(numbers.person_numbers[person, 0])
        right = begin
        if sweep:
            right += np.searchsorted(numbers.low[begin:end, 0], numbers.person_numbers[person, 0])
        left = right - 1
        while left >= begin or right < end:
            row = right
            if right >= end or (
                left >= begin
                and numbers.person_numbers[person, 0] - numbers.low[left, 0]
                < numbers.low[right, 0] - numbers.person_numbers[person, 0]
            ):
                row = left
                left -= 1
            else:
                right += 1
            if sweep and price_number(numbers, person, row, 0) > best * _ROUNDING:
                break
            cost = price_row(numbers, labels, person, row, best * _ROUNDING)
            if cost * _ROUNDING < best:
                best, count = cost, 0
            if cost <= best * _ROUNDING:
                ties[count] = row
                count += 1
        if total + count > len(listed_rows):
            longer_rows = np.empty(2 * (total + count), np.int64)
            longer_rows[:total] = listed_rows[:total]
            listed_rows = longer_rows
        listed_rows[total : total + count] = ties[:count]
        total += count
        counts[person] = count
    return CheapestRows(counts, listed_rows[:total].copy())
