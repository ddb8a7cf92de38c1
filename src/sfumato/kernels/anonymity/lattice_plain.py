# SPDX-License-Identifier: MIT
"""The loops of `lattice.py` in numpy, to the same results: slower by the row, but nothing has to be loaded
first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Codes, Flags, Floats, Ints
from sfumato.kernels.anonymity.lattice_choice import LatticeLoops

_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def add_to_keys(keys: Ints, codes: Codes, lookup: Ints) -> None:
    """Add to each row's key what its leaf contributes at this node."""
    np.add(keys, lookup.take(codes), out=keys)


def group_keys(
    keys: Ints,
    weights: Ints,
    radix: int,
    slot_key: Ints,
    slot_class: Codes,
    class_of_row: Codes,
    class_size: Ints,
    first_row: Ints,
) -> int:
    """Number the classes of equal keys as they first appear, add up their weights, note their first rows.

    Rows are hashed into slots in rounds: equal keys share a slot, and the first row in a slot stands for
    its key. Those who share a slot with another key go to the next round, with other slots.
    """
    mask = np.uint64(len(slot_class) - 1)
    stands_for = np.empty(len(keys), dtype=np.int64)
    rows = np.arange(len(keys), dtype=np.int64)
    remaining_rows, mixed_keys = rows, keys.view(np.uint64)
    direct = radix <= len(slot_class)
    while len(remaining_rows):
        if not direct:
            mixed_keys = mixed_keys * _HASH_MULTIPLIER
            mixed_keys = mixed_keys ^ (mixed_keys >> np.uint64(29))
        slots = keys if direct else (mixed_keys & mask).view(np.int64)
        slot_class[slots[::-1]] = remaining_rows[::-1]  # the last assignment stays, so the first row does
        class_numbers = slot_class[slots].astype(np.int64)
        slot_class[slots] = -1
        stands_for[remaining_rows] = class_numbers
        if direct:
            break
        other = keys[class_numbers] != keys[remaining_rows]
        remaining_rows, mixed_keys = remaining_rows[other], mixed_keys[other]
    begins = stands_for == rows
    classes = int(np.count_nonzero(begins))
    first_row[:classes] = np.flatnonzero(begins)
    class_of_row[:] = (np.cumsum(begins) - 1)[stands_for]
    class_size[:classes] = np.bincount(class_of_row, weights=weights, minlength=classes)
    return classes


def add_suppression_costs(
    codes: Codes,
    starts: Ints,
    spared_leaves: Ints,
    first: Ints,
    refused_counts: Ints,
    lasting_shares: Floats,
    excess: Ints,
    lasting_excess: Floats,
) -> None:
    """Add up per column what suppression costs: for the refused rows of each class, and for those that stay refused."""
    dear = np.flatnonzero((refused_counts > 0) | (lasting_shares > 0.0))
    more = spared_leaves[starts[:, None] + codes[:, first[dear]]]
    excess += more @ refused_counts[dear]
    lasting_excess += more @ lasting_shares[dear]


def count_class_values(
    of_row: Codes,
    rows: Codes,
    codes: Codes,
    counts: Ints,
    width: int,
    blocks: Ints,
    dense: Ints,
    values_out: Codes,
    counts_out: Ints,
    starts_out: Ints,
) -> int:
    """Count the values of each class: fills in the value and count of each pair and where classes begin; returns how
    many pairs there are."""
    pairs = 0
    for (begin, first), (end, last) in pairwise(blocks.T.tolist()):
        of_class = of_row[rows[begin:end]].astype(np.int64) - first
        totals = np.bincount(
            of_class * width + codes[begin:end], weights=counts[begin:end], minlength=(last - first) * width
        )
        places = np.flatnonzero(totals)
        span = slice(pairs, pairs + len(places))
        values_out[span], counts_out[span] = places % width, totals[places]
        starts_out[first:last] = pairs + np.flatnonzero(np.diff(places // width, prepend=-1))
        pairs = span.stop
    return pairs


def choose_informative_node(live: Flags, bound: Floats, shape: Ints, gains: Codes, histogram: Ints) -> int:
    """The live node whose check rules out most, whichever way it ends; −1 if no node is live.

    `gains` is left with how many that are, for every live node.
    """
    alive = np.flatnonzero(live)
    if not len(alive):
        return -1
    gains[:] = live
    add_finer_nodes(gains, shape.tolist())
    bounds = bound[alive]
    low, high = bounds.min(), bounds.max()
    bins = len(histogram)
    scale = (bins - 1) / (high - low) if high > low else 0.0
    bucket = ((bounds - low) * scale).astype(np.int64)
    histogram[:] = np.bincount(bucket, minlength=bins)[::-1].cumsum()[::-1]
    gains[alive] = np.minimum(gains[alive], histogram[bucket])
    return int(alive[np.argmax(gains[alive])])


def add_finer_nodes(counts: npt.NDArray[Any], shape: Sequence[int]) -> None:
    """Add to each node of a lattice what there is at all finer ones, in place; a node may have several numbers."""
    outer_size = 1
    for size in shape:
        levels = counts.reshape(outer_size, size, -1)
        for level in range(1, size):
            levels[:, level] += levels[:, level - 1]
        outer_size *= size


__all__ = [
    "add_finer_nodes",
    "add_suppression_costs",
    "add_to_keys",
    "choose_informative_node",
    "count_class_values",
    "group_keys",
]


LOOPS = LatticeLoops(add_to_keys, group_keys, add_suppression_costs, count_class_values, choose_informative_node)
