# SPDX-License-Identifier: MIT
"""Rows of labels, one after another: copies of some, and paths of a tree spelled."""

from __future__ import annotations

from sfumato.kernels.baskets.itemsets_bits import compile_kernel

_CODES = "Array(int32, 1, 'C', readonly=True)"
_INTS = "Array(int64, 1, 'C', readonly=True)"


@compile_kernel(f"void({_CODES}, {_INTS}, {_INTS}, {_INTS}, int32[::1])")
def copy_rows(labels, offsets, rows, target_offsets, target):  # type: ignore[no-untyped-def]
    """Write some rows one after another; `target_offsets` say where each begins."""
    for number in range(rows.shape[0]):
        begin, place = offsets[rows[number]], target_offsets[number]
        for step in range(target_offsets[number + 1] - place):
            target[place + step] = labels[begin + step]


@compile_kernel(f"void({_CODES}, {_INTS}, {_INTS}, {_INTS}, int32[::1])")
def spell_rows(labels, parents, nodes, offsets, target):  # type: ignore[no-untyped-def]
    """Write the labels from the root to each of some nodes."""
    for number in range(nodes.shape[0]):
        node = nodes[number]
        for place in range(offsets[number + 1] - 1, offsets[number] - 1, -1):
            target[place] = labels[node]
            node = parents[node]
