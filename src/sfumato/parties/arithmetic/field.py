# SPDX-License-Identifier: MIT
"""Arithmetic modulo the prime 2^61 - 1, on arrays of uint64 below the prime.

A Mersenne prime, so that a remainder is two shifts, and 61 random bits are a uniform number but for one value in 2^61.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Ints, Words
from sfumato.errors import PartyError
from sfumato.randomness import Randomness

BITS = 61
PRIME = (1 << BITS) - 1
_PRIME, _BITS = np.uint64(PRIME), np.uint64(BITS)
_HALF, _HALF_MASK = np.uint64(31), np.uint64((1 << 31) - 1)
_MIDDLE, _MIDDLE_MASK = np.uint64(30), np.uint64((1 << 30) - 1)
_UNIT = np.uint64(1)


def draw_uniform(randomness: Randomness, *shape: int) -> Words:
    """Uniform numbers below the prime."""
    return randomness.generator().integers(0, PRIME, shape, dtype=np.uint64)


def add(left: Words, right: Words) -> Words:
    """Sums. Below zero, uint64 wraps to huge numbers, so the minimum is the remainder."""
    total = left + right
    remainders: Words = np.minimum(total, total - _PRIME)
    return remainders


def subtract(left: Words, right: Words) -> Words:
    """Differences."""
    return add(left, _PRIME - right)


def multiply(left: Words, right: Words) -> Words:
    """Products, from halves of 31 bits; every partial sum stays below 2^64."""
    left_high, left_low = left >> _HALF, left & _HALF_MASK
    right_high, right_low = right >> _HALF, right & _HALF_MASK
    middle = left_high * right_low + left_low * right_high
    total = (left_high * right_high << _UNIT) + left_low * right_low
    total += (middle >> _MIDDLE) + ((middle & _MIDDLE_MASK) << _HALF)
    return _reduce(total)


def scale(factor: int, values: Words) -> Words:
    """Multiples by one number."""
    return multiply(np.broadcast_to(np.uint64(factor % PRIME), values.shape), values)


def invert_root(squares: Words) -> Words:
    """One over a square root of each number that has one: the power (p - 3) / 4 = 2^59 - 1."""
    power = squares.copy()  # squares to the 2^1 - 1
    exponent_bits = 1
    for digit in bin(59)[3:]:
        squared_power = _square_repeatedly(power, exponent_bits)
        power, exponent_bits = multiply(squared_power, power), 2 * exponent_bits
        if digit == "1":
            power, exponent_bits = multiply(_square_repeatedly(power, 1), squares), exponent_bits + 1
    return power


def invert(values: Words) -> Words:
    """One over each number, and 0 for 0: the power p - 2 = 4 (2^59 - 1) + 1."""
    return multiply(_square_repeatedly(invert_root(values), 2), values)


def wrap_signed(values: Ints) -> Words:
    """Whole numbers, perhaps negative, as remainders."""
    return np.where(values < 0, np.uint64(PRIME) - (-values).astype(np.uint64), values.astype(np.uint64))


def unwrap_signed(values: Words) -> Ints:
    """Remainders as the whole numbers nearest to zero."""
    signed_values = values.astype(np.int64)
    return np.where(signed_values > PRIME // 2, signed_values - PRIME, signed_values)


def check_residues(values: Words) -> Words:
    """Received numbers, after a check that all are below the prime."""
    if values.size and int(values.max()) >= PRIME:
        raise PartyError("a message holds a number outside the agreed range")
    return values


def _square_repeatedly(values: Words, times: int) -> Words:
    for _ in range(times):
        values = multiply(values, values)
    return values


def _reduce(total: Words) -> Words:
    folded_total = (total & _PRIME) + (total >> _BITS)
    remainders: Words = np.minimum(folded_total, folded_total - _PRIME)
    return remainders
