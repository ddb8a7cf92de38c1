# SPDX-License-Identifier: MIT
"""Number the classes of rows at a node, in order of appearance, in arrays that are used again for every node."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.kernels.anonymity.lattice_choice import LatticeLoops

_DIRECT = 1 << 16
_LARGEST_KEY = 1 << 62


class ColumnLookup(NamedTuple):
    """What some columns contribute to the classes of rows at a node."""

    codes: Codes
    """For each row, the number of its leaves."""
    groups: Ints
    """For each number, the group at this node."""
    width: int
    """How many groups there may be."""


class ClassNumbers:
    """The classes of rows at the node that was grouped last."""

    def __init__(self, rows: int) -> None:
        """Room for this many rows, and as many classes."""
        self.keys = np.zeros(rows, dtype=np.int64)
        self.of_row = np.zeros(rows, dtype=np.int32)
        """The class of each row."""
        self.sizes = np.zeros(2 * rows, dtype=np.int64)
        self.first = np.zeros(rows, dtype=np.int64)
        """The first row of each class."""
        self._slot_class = np.full(max(_count_slots(rows), _DIRECT), -1, dtype=np.int32)
        self._slot_key = np.zeros(len(self._slot_class), dtype=np.int64)

    def shorten(self, rows: int) -> ClassNumbers:
        """The same room for fewer rows: the last grouping owns it."""
        part = ClassNumbers.__new__(ClassNumbers)
        part.keys, part.of_row, part.first = self.keys[:rows], self.of_row[:rows], self.first[:rows]
        slots = _count_slots(rows)
        part.sizes, part._slot_class, part._slot_key = self.sizes, self._slot_class[:slots], self._slot_key[:slots]
        return part

    def number_rows(self, weights: Ints) -> int:
        """Make each row a class of its own."""
        self.of_row[:] = self.first[:] = np.arange(len(weights))
        self.sizes[: len(weights)] = weights
        return len(weights)

    def number_classes(
        self, kernels: LatticeLoops, columns: list[ColumnLookup], weights: Ints, bounds: list[int]
    ) -> int:
        """Number the classes, block by block, of which no two have a class in common; returns how many there are."""
        classes = 0
        for begin, end in pairwise(bounds):
            block = slice(begin, end)
            count = self._number_block(kernels, columns, weights, block, classes)
            if begin:
                self.of_row[block] += np.int32(classes)
                self.first[classes : classes + count] += begin
            classes += count
        return classes

    def _number_block(
        self, kernels: LatticeLoops, columns: list[ColumnLookup], weights: Ints, block: slice, classes: int
    ) -> int:
        """Number the classes of some rows from 0, in several passes if a 62-bit key is too short."""
        keys, radix = self.keys[block], 1
        keys[:] = 0
        for codes, groups, width in columns:
            if width == 1:
                continue
            if radix * width > _LARGEST_KEY // max(len(keys), 1):  # the classes so far become the first digit
                radix = self._number_keys(kernels, weights, block, classes, radix)
                keys[:] = self.of_row[block]
            kernels.add_to_keys(keys, codes[block], groups * radix)
            radix *= width
        return self._number_keys(kernels, weights, block, classes, radix)

    def _number_keys(self, kernels: LatticeLoops, weights: Ints, block: slice, classes: int, radix: int) -> int:
        """Number equal keys; sizes and first rows come after those of the classes before."""
        rows = block.stop - block.start
        slots = max(_count_slots(rows), min(_DIRECT, len(self._slot_class)))
        count = kernels.group_keys(
            self.keys[block],
            weights[block],
            radix,
            self._slot_key[:slots],
            self._slot_class[:slots],
            self.of_row[block],
            self.sizes[classes : classes + 2 * rows],
            self.first[classes : classes + rows],
        )
        return int(count)


def _count_slots(rows: int) -> int:
    """Enough slots for the keys: a power of two, at least half of them empty; few, so that they stay in cache."""
    return 1 << max(int(2 * rows).bit_length(), 4)
