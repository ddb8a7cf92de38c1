# SPDX-License-Identifier: MIT
"""Count rows of small numbers: every row that there could be has a place of its own."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import compile_cached

_BLOCK = 1 << 12
"""So many rows at a time, so that their places stay in the cache."""


@compile_cached("void(uint16[:,::1], int32[::1], int32[::1])")
def count_at_places(codes, steps, counts):
    """Add one at the place of each row; `codes` has a line for each column, whose codes count `steps` places each."""
    rows = codes.shape[1]
    places = np.empty(_BLOCK, dtype=np.int32)
    for block in range(0, rows, _BLOCK):
        count = min(_BLOCK, rows - block)
        places[:count] = 0
        for column in range(codes.shape[0]):
            step, line = steps[column], codes[column]
            for row in range(count):
                places[row] += np.int32(line[block + row]) * step
        for row in range(count):
            counts[places[row]] += 1
