# SPDX-License-Identifier: MIT
"""Bitmaps of 64-bit words: intersect, count, compare. And how the parts of the itemset kernels are compiled."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

part: Any = numba.njit(nogil=True, boundscheck=False, forceinline=True)
"""A part of a kernel: compiled only into those that call it, where passing it arrays costs nothing."""


def _count_bits(typing_context: Any, word: Any) -> Any:
    """How many bits of a word are set: one instruction, and one that loops can be vectorised around."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


popcount: Any = intrinsic(_count_bits)


@part
def intersect(bits, one, other, place, words):  # type: ignore[no-untyped-def]
    """Intersect two bitmaps into a third; returns how many bits are set."""
    total = np.uint64(0)
    for word in range(words):
        both = bits[one + word] & bits[other + word]
        bits[place + word] = both
        total += popcount(both)
    return np.int64(total)


@part
def common(bits, one, other, words):  # type: ignore[no-untyped-def]
    """How many bits two bitmaps share."""
    total = np.uint64(0)
    for word in range(words):
        total += popcount(bits[one + word] & bits[other + word])
    return np.int64(total)


@part
def is_within(bits, one, others, other, words):  # type: ignore[no-untyped-def]
    """Whether every bit of the one is set in the other."""
    at = np.uint64(0)
    # Eight words at once: most answers are no, and known by then, which a processor can foresee.
    while at + np.uint64(8) <= words:
        outside = np.uint64(0)
        for word in range(np.uint64(8)):
            outside |= bits[one + at + word] & ~others[other + at + word]
        if outside:
            return False
        at += np.uint64(8)
    outside = np.uint64(0)
    for word in range(at, words):
        outside |= bits[one + word] & ~others[other + word]
    return outside == 0


@part
def is_within_few(bits, one, others, other, words):  # type: ignore[no-untyped-def]
    """The same for bitmaps of a word or two."""
    outside = np.uint64(0)
    for word in range(words):
        outside |= bits[one + word] & ~others[other + word]
        if outside:
            return False
    return True
