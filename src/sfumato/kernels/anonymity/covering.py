# SPDX-License-Identifier: MIT
"""Which classes cover a person: one bitmap of classes a value, intersected over the columns.

Columns that distinguish classes best come first: after them little is left to look at.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached


@compile_cached("void(uint64[:,::1], int64[:,::1], int64[::1])")
def count_covering_classes(bits, places, counts):
    """How many classes cover each person; `places[person, column]` is the row of `bits` for their value."""
    people, columns = places.shape
    words = bits.shape[1]
    for person in range(people):
        class_count = np.uint64(0)
        for word in range(words):
            common = bits[places[person, 0], word]
            for column in range(1, columns):
                if not common:
                    break
                common &= bits[places[person, column], word]
            class_count += popcount(common)
        counts[person] = class_count


@compile_cached("void(uint64[:,::1], int64[:,::1], int64[::1], int64[::1])")
def list_covering_classes(bits, places, starts, classes):
    """The classes that cover each person, one after another from their start on."""
    people, columns = places.shape
    words = bits.shape[1]
    for person in range(people):
        offset = starts[person]
        for word in range(words):
            common = bits[places[person, 0], word]
            for column in range(1, columns):
                if not common:
                    break
                common &= bits[places[person, column], word]
            bit = np.int64(0)
            while common:
                if common & np.uint64(1):
                    classes[offset] = np.int64(word) * 64 + bit
                    offset += 1
                common >>= np.uint64(1)
                bit += 1
