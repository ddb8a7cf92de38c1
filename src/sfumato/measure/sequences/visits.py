# SPDX-License-Identifier: MIT
"""Visits of regions and flows between them, before and after; and how far each sequence moved from its original."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Codes, Ints
from sfumato.errors import DataError, count_noun
from sfumato.public.marked_items import MARK
from sfumato.sequences import Sequences, refuse_other_data


def visit_counts(original: Sequences, published_sequences: Sequences, mark: str = MARK) -> pl.DataFrame:
    """How often each item, such as a region, is visited: `region`, `before`, `after`.

    The mark of hidden items is left out; it is empty if there is none, and Δ is an item of the data.
    """
    refuse_other_data(original, published_sequences)
    counts = [_count_items(data) for data in (original, published_sequences)]
    names = sorted(name for name in {*counts[0], *counts[1]} if not mark or name != mark)
    return pl.DataFrame(
        {
            "region": names,
            "before": [counts[0].get(name, 0) for name in names],
            "after": [counts[1].get(name, 0) for name in names],
        },
        schema={"region": pl.String, "before": pl.Int64, "after": pl.Int64},
    )


def flow_counts(original: Sequences, published_sequences: Sequences, mark: str = MARK) -> pl.DataFrame:
    """How often one item directly follows another: `start`, `goal`, `before`, `after`.

    Items of neighbouring elements are paired, each with each. A mark between two regions ends a flow; it is empty if
    there is none, and Δ is an item of the data.
    """
    refuse_other_data(original, published_sequences)
    names = sorted({str(item) for data in (original, published_sequences) for item in data.items})
    original_counts = _count_steps(original, names)
    counts = [
        original_counts,
        original_counts if published_sequences is original else _count_steps(published_sequences, names),
    ]
    keys = np.union1d(counts[0].keys, counts[1].keys)
    start, goal = np.divmod(keys, max(len(names), 1))
    is_step = np.array([not mark or name != mark for name in names], dtype=np.bool_)
    step_mask = is_step[start] & is_step[goal]
    totals = [several.find(keys[step_mask]) for several in counts]
    words = pl.Series(names, dtype=pl.String)
    return pl.DataFrame(
        {
            "start": words.gather(start[step_mask]),
            "goal": words.gather(goal[step_mask]),
            "before": pl.Series(totals[0], dtype=pl.Int64),
            "after": pl.Series(totals[1], dtype=pl.Int64),
        }
    )


def edit_distances(
    original: Sequences, published_sequences: Sequences, rows: Ints | Sequence[int] | None = None
) -> Ints:
    """For each published sequence, how many elements were inserted, deleted or replaced.

    `rows` are the originals of the published sequences, as in `release.details.rows`; without it they correspond one to
    one.
    """
    from sfumato.kernels.sequences.edit_distance import LabelRows, measure_edit_distances

    refuse_other_data(original, published_sequences)
    if rows is None and len(original) != len(published_sequences):
        raise DataError(
            f"{count_noun(len(original), 'sequence')} became {len(published_sequences):,}: give rows, the original of "
            "each"
        )
    owners = (
        np.arange(len(published_sequences), dtype=np.int64) if rows is None else np.asarray(rows, dtype=np.int64).copy()
    )
    numbers: dict[Any, int] = {}
    original_rows, published_rows = (
        LabelRows(_number_elements(data, numbers), data.offsets.copy()) for data in (original, published_sequences)
    )
    costs = np.empty(int(np.diff(published_sequences.offsets).max(initial=0)) + 1, dtype=np.int64)
    distances = np.zeros(len(published_sequences), dtype=np.int64)
    masks = np.zeros(len(numbers) + 1, dtype=np.uint64)
    measure_edit_distances(original_rows, published_rows, owners, costs, masks, distances)
    return distances


def _count_items(data: Sequences) -> dict[str, int]:
    counts = np.bincount(data.codes, minlength=len(data.items)).tolist()
    return {str(item): count for item, count in zip(data.items, counts, strict=True)}


def count_holders(data: Sequences) -> dict[str, int]:
    """How many sequences hold each item."""
    from sfumato.kernels.sequences.subsequences_prepare import count_rows_of_codes

    counts = np.zeros(len(data.items), dtype=np.int64)
    bounds = np.ascontiguousarray(data.element_offsets[data.offsets])
    count_rows_of_codes(data.codes, bounds, np.full_like(counts, -1), counts)
    return {str(item): count for item, count in zip(data.items, counts.tolist(), strict=True)}


class _StepCounts(NamedTuple):
    """Steps, each as one number, ascending, and how often each is taken."""

    keys: Ints
    counts: Ints

    def find(self, keys: Ints) -> Ints:
        """How often some steps are taken."""
        if not self.keys.size:
            return np.zeros(keys.size, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        return np.where(self.keys[places] == keys, self.counts[places], 0)


def _count_steps(data: Sequences, names: Sequence[str]) -> _StepCounts:
    """Pairs of items of neighbouring elements, counted; a step is numbered by the names of its items."""
    number = {name: index for index, name in enumerate(names)}
    size = max(len(names), 1)
    smallest = np.min_scalar_type(-size * size - 1)  # of the signed integers that hold a step's number
    numbers = np.array([number[str(item)] for item in data.items], dtype=smallest)
    keys = _list_single_steps(data, numbers, size) if _has_single_items(data) else _list_steps(data, numbers, size)
    if size * size <= 4 * keys.size:  # then a counter for each pair is faster than sorting
        totals = np.bincount(keys, minlength=size * size)[: size * size]
        step_keys = np.flatnonzero(totals)
        return _StepCounts(step_keys, totals[step_keys])
    step_keys, totals = np.unique(keys[keys < size * size], return_counts=True)
    return _StepCounts(step_keys.astype(np.int64), totals)


def _has_single_items(data: Sequences) -> bool:
    return data.codes.size == data.element_offsets.size - 1


def _list_single_steps(data: Sequences, numbers: Codes | Ints, size: int) -> Codes | Ints:
    """Each item with the next one, as one number; `size` squared, which is no step, from one sequence to another."""
    places = numbers[data.codes]
    keys = places[:-1] * size
    keys += places[1:]
    begins = data.offsets[1:-1]
    keys[begins[(begins > 0) & (begins < places.size)] - 1] = size * size
    return keys


def _list_steps(data: Sequences, numbers: Codes | Ints, size: int) -> Codes | Ints:
    """The items of neighbouring elements, each with each."""
    is_followed = np.ones(data.element_offsets.size - 1, dtype=np.bool_)
    is_followed[data.offsets[1:][np.diff(data.offsets) > 0] - 1] = False
    pairs = np.flatnonzero(is_followed)
    sizes = np.diff(data.element_offsets)
    left, right = sizes[pairs], sizes[pairs + 1]
    totals = left * right
    offset = np.arange(int(totals.sum())) - np.repeat(np.cumsum(totals) - totals, totals)
    width = np.repeat(right, totals)
    start = data.codes[np.repeat(data.element_offsets[pairs], totals) + offset // np.maximum(width, 1)]
    goal = data.codes[np.repeat(data.element_offsets[pairs + 1], totals) + offset % np.maximum(width, 1)]
    return np.asarray(numbers[start] * size + numbers[goal])


def _number_elements(data: Sequences, numbers: dict[Any, int]) -> Codes:
    """Each element as a number; equal elements, by the names of their items, have the same."""
    names = [str(item) for item in data.items]
    if _has_single_items(data):
        of_code = np.array([numbers.setdefault((name,), len(numbers)) for name in names], dtype=np.int32)
        return of_code[data.codes]
    codes, bounds = data.codes.tolist(), data.element_offsets.tolist()
    elements = (tuple(sorted(names[code] for code in codes[first:stop])) for first, stop in pairwise(bounds))
    return np.fromiter((numbers.setdefault(element, len(numbers)) for element in elements), np.int32, len(bounds) - 1)
