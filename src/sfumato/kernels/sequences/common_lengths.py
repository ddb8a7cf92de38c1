# SPDX-License-Identifier: MIT
"""The lengths of the longest common subsequences of pairs of sequences, 64 positions at a time (Hyyrö 2004)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached, record


@record
class LabelPairs(NamedTuple):
    """Two lists of sequences of labels, compared in order."""

    labels: Codes
    offsets: Ints
    other_labels: Codes
    other_offsets: Ints


@compile_cached("boolean(int32[::1], int64, int64, int32[::1], int64, int64)")
def _is_within(labels, begin, end, outer, outer_begin, outer_end):
    """Whether one sequence is a subsequence of another."""
    position = outer_begin
    for inner in range(begin, end):
        while position < outer_end and outer[position] != labels[inner]:
            position += 1
        if position == outer_end:
            return False
        position += 1
    return True


@compile_cached("void(LabelPairs, uint64[:,::1], int64, int64, int64[::1])")
def measure_common_lengths(pairs, masks, first, last, lengths):
    """The length of each pair's longest common subsequence; `masks` has a row of zeros for each label."""
    row = np.empty(masks.shape[1], dtype=np.uint64)
    unit = np.uint64(1)
    for number in range(first, last):
        begin, end = pairs.offsets[number], pairs.offsets[number + 1]
        other_begin, other_end = pairs.other_offsets[number], pairs.other_offsets[number + 1]
        if _is_within(pairs.other_labels, other_begin, other_end, pairs.labels, begin, end):
            lengths[number] = other_end - other_begin  # something was deleted, and nothing else
            continue
        words = (end - begin + 63) // 64
        row[:words] = ~np.uint64(0)
        for position in range(begin, end):
            masks[pairs.labels[position], (position - begin) // 64] |= unit << np.uint64((position - begin) % 64)
        for position in range(other_begin, other_end):
            mask = masks[pairs.other_labels[position]]
            carry = np.uint64(0)
            for word in range(words):
                total = row[word] + (row[word] & mask[word])
                overflow = total < row[word]
                carried_total = total + carry
                carry = np.uint64(overflow or carried_total < total)
                row[word] = carried_total | (row[word] & ~mask[word])
        matched_count = np.uint64(0)
        for word in range(words):
            matched_count += popcount(~row[word])
        lengths[number] = np.int64(matched_count)
        for position in range(begin, end):
            masks[pairs.labels[position], :words] = np.uint64(0)
