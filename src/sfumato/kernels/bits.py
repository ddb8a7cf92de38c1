# SPDX-License-Identifier: MIT
"""Sets of rows as bits: counting them, and what two sets have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compilation import compile_cached
from sfumato.kernels.compiler import intrinsic, types


def _count_bits(typing_context: Any, word: Any) -> Any:
    """How many bits of a word are set: one instruction, and one that loops can be vectorised around."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


popcount: Any = intrinsic(_count_bits)


@compile_cached("int64(uint64[::1], int64, int64, int64)")
def count_common_rows(bits, first_set, other, words):
    """How many rows two sets share that begin at two places of an array."""
    total = np.uint64(0)
    first, second = np.uint64(first_set), np.uint64(other)
    for word in range(np.uint64(words)):
        total += popcount(bits[first + word] & bits[second + word])
    return np.int64(total)


@compile_cached("boolean(uint64[::1], int64, int64, int64)")
def do_rows_meet(bits, first_set, other, words):
    """Whether two sets share a row."""
    first, second = np.uint64(first_set), np.uint64(other)
    for word in range(np.uint64(words)):  # noqa: SIM110  (a generator does not compile)
        if bits[first + word] & bits[second + word]:
            return True
    return False


@compile_cached("int64(uint64[::1], int64, int64, int64, int64)")
def intersect_row_sets(bits, first_set, other, words, target):
    """Write what two sets share to a third place; returns how many rows that are."""
    total = np.uint64(0)
    first, second, third = np.uint64(first_set), np.uint64(other), np.uint64(target)
    for word in range(np.uint64(words)):
        common_bits = bits[first + word] & bits[second + word]
        bits[third + word] = common_bits
        total += popcount(common_bits)
    return np.int64(total)


@compile_cached("void(uint64[::1], int64, int64, int64, int64)")
def add_common_rows(bits, first_set, other, words, target):
    """Add what two sets share to a third."""
    first, second, third = np.uint64(first_set), np.uint64(other), np.uint64(target)
    for word in range(np.uint64(words)):
        bits[third + word] |= bits[first + word] & bits[second + word]


@compile_cached("int64(uint64[::1], int64, int64, int32[::1], int64, int64)")
def list_set_rows(bits, begin, words, rows, base, target):
    """List the rows of a set: bit i is row number `rows[base + i]`; returns the place after the last one listed."""
    for word in range(words):
        remaining_bits = bits[begin + word]
        while remaining_bits:
            low = remaining_bits & (~remaining_bits + np.uint64(1))
            rows[target] = rows[base + 64 * word + np.int64(popcount(low - np.uint64(1)))]
            target += 1
            remaining_bits ^= low
    return target
