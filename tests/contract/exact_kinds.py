# SPDX-License-Identifier: MIT
"""Which kinds of change are true of all cells of a column, decided by plain code: no arrays, no code of the package."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from math import gcd, lcm
from statistics import fmean

from sfumato.change_kinds import ChangeKind
from tests.contract.column_pairs import Pair, covers, read_numbers
from tests.contract.examples import METHOD_EXAMPLES


def _is_kept(pair: Pair) -> bool:
    return list(pair.before) == list(pair.after)


def _is_blanked(pair: Pair) -> bool:
    return all(new_cell is None or new_cell == was for was, new_cell in zip(pair.before, pair.after, strict=True))


def _is_covered(pair: Pair) -> bool:
    """Whether every cell is its original or a label of it, and some are labels."""
    changed = {(was, new_cell) for was, new_cell in zip(pair.before, pair.after, strict=True) if was != new_cell}
    if not changed or any(None in cells for cells in changed):
        return False
    return all(covers(str(new_cell), str(was), pair.tree) for was, new_cell in changed)


def _is_covered_by_labels(pair: Pair) -> bool:
    """Whether every cell is a label, and none is a value that somebody had."""
    return _is_covered(pair) and not {str(was) for was in pair.before} & {str(now) for now in pair.after if now != "*"}


def _has_numbers(pair: Pair) -> bool:
    """Whether every known cell is a number or a date, before and after, and the same cells are empty."""
    cells = [cell for cell in (*pair.before, *pair.after) if cell is not None]
    empty = [was is None for was in pair.before] == [new_cell is None for new_cell in pair.after]
    return empty and bool(cells) and all(isinstance(cell, int | float | date) for cell in cells)


def _is_capped(pair: Pair) -> bool:
    if not _has_numbers(pair):
        return False
    before, after = read_numbers(pair)
    low, high = min(after), max(after)
    return all(new_number == min(max(was, low), high) for was, new_number in zip(before, after, strict=True))


def _is_grouped(pair: Pair) -> bool:
    """Whether one word stands for all values that are no longer there."""
    changed = {(was, new_cell) for was, new_cell in zip(pair.before, pair.after, strict=True) if was != new_cell}
    old_cells, labels = {was for was, _ in changed}, {new_cell for _, new_cell in changed}
    return len(labels) == 1 and None not in labels and not old_cells & set(pair.after)


def _find_step(pair: Pair) -> float:
    """The largest number that all published ones are multiples of; of dates, their days from the first one."""
    numbers = read_numbers(pair).after
    dates = any(isinstance(cell, date) for cell in pair.after)
    exact = [Fraction(repr(number - min(numbers) if dates else number)) for number in numbers]
    denominator = lcm(*(number.denominator for number in exact))
    return gcd(*(int(number * denominator) for number in exact)) / denominator


def _is_rounded(pair: Pair, farthest: float = 0.5) -> bool:
    """Whether cells are multiples of a step, and at most half of it from their originals."""
    if not _has_numbers(pair):
        return False
    numbers = read_numbers(pair)
    most = farthest * _find_step(pair) * (1 + 1e-9)
    return all(abs(distance) <= most for distance in numbers.list_distances())


def _is_mean(pair: Pair) -> bool:
    """Whether every cell is the mean of the originals of all rows with the same cell."""
    if not _has_numbers(pair):
        return False
    before, after = read_numbers(pair)
    groups: dict[float, list[float]] = {}
    for was, new_number in zip(before, after, strict=True):
        groups.setdefault(new_number, []).append(was)
    return all(abs(fmean(group) - new_number) <= 1e-6 * (1 + abs(new_number)) for new_number, group in groups.items())


def _is_cut(pair: Pair) -> bool:
    """Whether every cell stands for an interval of numbers, and all cells of an interval are equal."""
    if not _has_numbers(pair):
        return False
    order = sorted(zip(*read_numbers(pair), strict=True))
    new_cells = [new_cell for _, new_cell in order]
    return new_cells == sorted(new_cells) and len({was for was, _ in order}) == len(set(order))


def _is_midpoint(pair: Pair) -> bool:
    """Whether cells stand for intervals, and originals lie on both sides of them: no first days of months."""
    return _is_cut(pair) and min(distances := read_numbers(pair).list_distances()) < 0 < max(distances)


def _is_swapped(pair: Pair) -> bool:
    return Counter(pair.before) == Counter(pair.after)


RANKS: tuple[Mapping[ChangeKind, Callable[[Pair], bool]], ...] = (
    {ChangeKind.KEPT: _is_kept},
    {ChangeKind.BLANKED: _is_blanked},
    {
        ChangeKind.GENERALIZED: _is_covered_by_labels,
        ChangeKind.PARTLY_GENERALIZED: _is_covered,
        ChangeKind.RANGES: _is_covered,
    },
    {ChangeKind.CAPPED: _is_capped, ChangeKind.GROUPED: _is_grouped, ChangeKind.ROUNDED: _is_rounded},
    {ChangeKind.MEANS: _is_mean},
    {ChangeKind.INTERVALS: _is_midpoint},
    {ChangeKind.SWAPPED: _is_swapped},
)
"""Kinds with a test that shows them to be true of a column. Those that tell more come first; all others come last."""


def find_more_exact(stated_kind: ChangeKind, columns: Sequence[Pair]) -> ChangeKind | None:
    """A kind that tells more than the stated one and is true of all columns."""
    for rank in RANKS:
        if stated_kind in rank:
            return None
        for kind, is_true in rank.items():
            if all(map(is_true, columns)):
                return kind
    return None


_TRUE: Mapping[ChangeKind, Callable[[Pair], bool]] = {
    ChangeKind.CAPPED: _is_capped,
    ChangeKind.ROUNDED: lambda pair: _is_rounded(pair, farthest=1.0),  # it may be rounded down, or up
    ChangeKind.INTERVALS: _is_cut,
} | {kind: test for example in METHOD_EXAMPLES for kind, test in example.shows.items()}
"""What must be true of numbers and dates, or what an example says of its own kind; what files are compared with leaves
this open (`measure/changes.py`)."""


def is_false(stated_kind: ChangeKind, column: Pair) -> bool:
    """Whether a statement is not true, about numbers or dates or of a kind that an example shows; words are none."""
    says_steps = re.search(r"\bmultiples?\b|\bsteps?\b", stated_kind.meaning.words) is not None
    return (stated_kind in _TRUE and not _TRUE[stated_kind](column)) or (
        says_steps and not _is_rounded(column, farthest=1.0)
    )


def list_tested_kinds() -> set[ChangeKind]:
    """The kinds whose words are compared with cells."""
    return set(_find_tests())


def is_shown(stated_kind: ChangeKind, column: Pair) -> bool:
    """Whether the test of a kind shows that it is true of a column."""
    return _find_tests()[stated_kind](column)


def _find_tests() -> dict[ChangeKind, Callable[[Pair], bool]]:
    return {kind: test for rank in RANKS for kind, test in rank.items()} | dict(_TRUE)
