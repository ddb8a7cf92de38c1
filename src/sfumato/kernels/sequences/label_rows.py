# SPDX-License-Identifier: MIT
"""Rows of labels, one after another: copies of some, the set of labels of each, and paths of a tree spelled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, Words
from sfumato.kernels.compilation import compile_cached

_CODES = "Array(int32, 1, 'C', readonly=True)"
_INTS = "Array(int64, 1, 'C', readonly=True)"


class SelectedRows(NamedTuple):
    """Row i is ``labels[offsets[i]:offsets[i + 1]]``."""

    labels: Codes
    offsets: Ints


def select_rows(labels: Codes, offsets: Ints, rows: Ints) -> SelectedRows:
    """Some of the rows, one after another."""
    selected_offsets = np.concatenate(([0], np.cumsum(np.diff(offsets)[rows])))
    target = np.empty(int(selected_offsets[-1]), dtype=np.int32)
    _copy_rows(labels, offsets, rows, selected_offsets, target)
    return SelectedRows(target, selected_offsets)


def mark_rows(labels: Codes, offsets: Ints, bits: Words) -> Words:
    """For each row, the bits that stand for its labels."""
    marks = np.zeros(len(offsets) - 1, dtype=np.uint64)
    _mark_rows(labels, offsets, bits, marks)
    return marks


@compile_cached(f"void({_CODES}, {_INTS}, {_INTS}, {_INTS}, int32[::1])", allocates=False)
def _copy_rows(labels, offsets, rows, selected_offsets, target):
    for number in range(rows.shape[0]):
        begin, start = offsets[rows[number]], selected_offsets[number]
        for step in range(selected_offsets[number + 1] - start):
            target[start + step] = labels[begin + step]


@compile_cached(f"void({_CODES}, {_INTS}, uint64[::1], uint64[::1])", allocates=False)
def _mark_rows(labels, offsets, bits, marks):
    for row in range(marks.shape[0]):
        row_bits = np.uint64(0)
        for position in range(offsets[row], offsets[row + 1]):
            row_bits |= bits[labels[position]]
        marks[row] = row_bits


@compile_cached(f"void({_CODES}, {_INTS}, {_INTS}, {_INTS}, int32[::1])", allocates=False)
def spell_rows(labels, parents, nodes, offsets, target):
    """Write the labels from the root of a tree to each of some nodes."""
    for number in range(nodes.shape[0]):
        node = nodes[number]
        for position in range(offsets[number + 1] - 1, offsets[number] - 1, -1):
            target[position] = labels[node]
            node = parents[node]
