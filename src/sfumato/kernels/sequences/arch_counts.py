# SPDX-License-Identifier: MIT
"""How many times in a row a sequence holds all of some items.

Such a stretch is an arch (Hébrard 1991). A sequence of n arches over some items contains every sequence of n of them,
since each item can be taken from an arch of its own.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import compile_cached

_CODES = "Array(int32, 1, 'C', readonly=True)"
_OFFSETS = "Array(int64, 1, 'C', readonly=True)"


@compile_cached(f"void({_CODES}, {_OFFSETS}, {_OFFSETS}, boolean[::1], int64, int64[::1])")
def count_arches(codes, element_offsets, offsets, is_member, members, arches):
    """Count the arches of each sequence over the items that are members; an element is part of one arch only."""
    seen_serials = np.zeros(is_member.shape[0], dtype=np.int64)
    serial = np.int64(0)
    for row in range(arches.shape[0]):
        serial += 1
        held_count, count = np.int64(0), np.int64(0)
        for element in range(offsets[row], offsets[row + 1]):
            for position in range(element_offsets[element], element_offsets[element + 1]):
                code = np.uint32(codes[position])
                if is_member[code] and seen_serials[code] != serial:
                    seen_serials[code] = serial
                    held_count += 1
            if held_count == members:
                count += 1
                serial += 1
                held_count = np.int64(0)
        arches[row] = count
