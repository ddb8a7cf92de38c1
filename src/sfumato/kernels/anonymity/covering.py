# SPDX-License-Identifier: MIT
"""Which classes cover a person: one bitmap of classes a value, intersected over the columns."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.bits import popcount
from sfumato.kernels.compiled import compiled


@compiled("void(uint64[:,::1], int64[:,::1], int64[::1])")
def count_covering(bits, places, counts):  # type: ignore[no-untyped-def]
    """How many classes cover each person; `places[person, column]` is the row of `bits` for their value."""
    people, columns = places.shape
    words = bits.shape[1]
    for person in range(people):
        found = np.uint64(0)
        for word in range(words):
            common = bits[places[person, 0], word]
            for column in range(1, columns):
                common &= bits[places[person, column], word]
            found += popcount(common)
        counts[person] = found


@compiled("void(uint64[:,::1], int64[:,::1], int64[::1], int64[::1])")
def list_covering(bits, places, starts, classes):  # type: ignore[no-untyped-def]
    """The classes that cover each person, one after another from their start on."""
    people, columns = places.shape
    words = bits.shape[1]
    for person in range(people):
        at = starts[person]
        for word in range(words):
            common = bits[places[person, 0], word]
            for column in range(1, columns):
                common &= bits[places[person, column], word]
            bit = np.int64(0)
            while common:
                if common & np.uint64(1):
                    classes[at] = np.int64(word) * 64 + bit
                    at += 1
                common >>= np.uint64(1)
                bit += 1
