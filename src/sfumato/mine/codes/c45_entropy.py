# SPDX-License-Identifier: MIT
"""Sums of n log n in whole numbers, so that a tree's choices depend on counts alone, never on the order of additions.

The logarithm of a number is the sum of those of its prime factors, each rounded once. Entropies that are equal by
arithmetic are then equal as integers, and a tie is a tie on codes as on originals.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from sfumato.arrays import Ints
from sfumato.errors import DataError

UNIT = 2**24
"""One bit of information, as a whole number."""
MOST_ROWS = 2**30
"""With more rows, the sums would not fit 64 bits."""


@lru_cache(maxsize=4)
def tabulate_logs(most: int) -> Ints:
    """The binary logarithm of every number up to `most`, in units; 0 for 0."""
    if most > MOST_ROWS:
        raise DataError(f"a tree can be grown on {MOST_ROWS} rows at most")
    logs, rest = np.zeros(most + 1, dtype=np.int64), np.arange(most + 1, dtype=np.int64)
    for prime in _list_primes(math.isqrt(most)):
        unit = round(math.log2(prime) * UNIT)
        power = prime
        while power <= most:
            logs[power::power] += unit
            rest[power::power] //= prime
            power *= prime
    # What is left has no prime factor up to the root of `most`, so it is a prime itself, or 1.
    logs[1:] += np.rint(np.log2(rest[1:]) * UNIT).astype(np.int64)
    return logs


def _list_primes(most: int) -> list[int]:
    return [number for number in range(2, most + 1) if all(number % part for part in range(2, math.isqrt(number) + 1))]


@lru_cache(maxsize=4)
def tabulate_information(most: int) -> Ints:
    """n log n for every number of rows up to `most`, in units."""
    return np.arange(most + 1, dtype=np.int64) * tabulate_logs(most)
