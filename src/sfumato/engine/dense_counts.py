# SPDX-License-Identifier: MIT
"""Count the distinct rows of columns that have few values: an array has a place for every row that there could be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, ShortCodes
from sfumato.data.reading.arrow_memory import allocate_numbers
from sfumato.engine.memory_budget import find_memory_budget

_WIDEST = 1 << 16
_MOST_PLACES = 1 << 31
_BYTES_A_PLACE = 4
_SHARE = 0.5
"""The part of the memory that places may take."""
_SLICE = 1 << 22


class PlaceCounts(NamedTuple):
    """The places at which there are rows, ascending, and how many."""

    places: Codes
    counts: Ints


def fits_places(widths: Sequence[int]) -> bool:
    """Whether there is room for every row that columns of this many values could have."""
    places = prod(widths)
    few = places < _MOST_PLACES and all(width <= _WIDEST for width in widths)
    return few and places * _BYTES_A_PLACE <= find_memory_budget() * _SHARE


def count_rows_at_places(batches: Iterable[ShortCodes], widths: Sequence[int]) -> PlaceCounts:
    """Count rows at their places; rows that come first in the order of the columns' codes have the lower ones."""
    from sfumato.kernels.dense_counts import count_at_places

    counts = np.zeros(prod(widths), dtype=np.int32)
    steps = np.array([prod(widths[column + 1 :]) for column in range(len(widths))], dtype=np.int32)
    for codes in batches:
        count_at_places(codes, steps, counts)
    return _list_filled_places(counts)


def _list_filled_places(counts: Codes) -> PlaceCounts:
    """The places that are not empty, some at a time: the counts themselves fill much of the memory."""
    parts = range(0, len(counts), _SLICE)
    most = sum(np.count_nonzero(counts[begin : begin + _SLICE]) for begin in parts)
    place_counts = PlaceCounts(np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int64))
    listed_count = 0
    for begin in parts:
        part = counts[begin : begin + _SLICE]
        taken_places = np.flatnonzero(part)
        span = slice(listed_count, listed_count + len(taken_places))
        np.add(taken_places, begin, out=place_counts.places[span], casting="same_kind")
        place_counts.counts[span] = part[taken_places]
        listed_count = span.stop
    return place_counts


def split_places(places: Codes, widths: Sequence[int]) -> list[Codes]:
    """The code of each column at some places, in memory that polars need not copy."""
    codes = []
    rest = places
    for width in reversed(widths):
        codes.append(allocate_numbers(len(places), np.int32))
        np.remainder(rest, width, out=codes[-1], casting="unsafe")
        rest = rest // width
    return codes[::-1]
