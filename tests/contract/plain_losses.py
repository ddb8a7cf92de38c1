# SPDX-License-Identifier: MIT
"""What a change lost, counted by its definition in plain code: no arrays, no code of the package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from statistics import fmean, pvariance
from typing import Any

from sfumato.change_kinds import LossMeasure
from tests.contract.column_pairs import NumberPair, Pair, read_numbers


def _count_differing(pair: Pair) -> int:
    return sum(was != new_cell for was, new_cell in zip(pair.before, pair.after, strict=True))


def _count_changed(pairs: Sequence[Pair]) -> float:
    return sum(map(_count_differing, pairs)) / sum(len(pair.before) for pair in pairs)


def _count_changed_known(pairs: Sequence[Pair]) -> float:
    return sum(map(_count_differing, pairs)) / sum(cell is not None for pair in pairs for cell in pair.before)


def _share_noise(pairs: Sequence[Pair]) -> float:
    numbers = [read_numbers(pair) for pair in pairs]
    return fmean(min(pvariance(column.list_distances()) / pvariance(column.after), 1) for column in numbers)


def _share_hidden_by_midpoints(pairs: Sequence[Pair]) -> float:
    numbers = [read_numbers(pair) for pair in pairs]
    return fmean(min(_sum_squares(column) / len(column.before) / pvariance(column.before), 1) for column in numbers)


def _sum_squares(column: NumberPair) -> float:
    return sum(distance**2 for distance in column.list_distances())


def _share_within_groups(pairs: Sequence[Pair]) -> float:
    inner_sum = total = 0.0
    for pair in pairs:
        if all(cell is None or isinstance(cell, int | float | date) for cell in pair.before):
            numbers = read_numbers(pair)
            inner_sum += _sum_squares(numbers) / pvariance(numbers.before)
            total += len(numbers.before)
        else:
            inner_sum += _count_differing(pair)
            total += len(pair.before) - max(Counter(pair.before).values())
    return inner_sum / total


_PLAIN: Mapping[LossMeasure, Callable[[Sequence[Pair]], float]] = {
    LossMeasure.CHANGED_CELLS: _count_changed,
    LossMeasure.CHANGED_KNOWN_CELLS: _count_changed_known,
    LossMeasure.NOISE_SHARE: _share_noise,
    LossMeasure.MIDPOINT_SHARE: _share_hidden_by_midpoints,
    LossMeasure.WITHIN_GROUPS: _share_within_groups,
}


def count_loss(measure: LossMeasure, columns: Mapping[str, Pair], laws: Mapping[str, Mapping[str, Any]]) -> float:
    """The loss of columns that were changed in one way, by the measure that the line of their kind names."""
    if measure is LossMeasure.PUBLISHED_LAW:
        return fmean(1 - abs(float(laws[name]["p"]) - float(laws[name]["q"])) for name in columns)
    return _PLAIN[measure](list(columns.values()))


def count_blanked(columns: Mapping[str, Pair]) -> float:
    """Of the cells that had a value, the share that is empty."""
    published_cells = [
        new_cell for pair in columns.values() for was, new_cell in zip(*pair[:2], strict=True) if was is not None
    ]
    return sum(new_cell is None for new_cell in published_cells) / len(published_cells)
