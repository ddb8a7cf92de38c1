# SPDX-License-Identifier: MIT
"""Counts of itemsets in groups of neighbouring baskets: a bit per basket and item, combined item by item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Bytes, Flags, Ints, Words
from sfumato.baskets import Baskets
from sfumato.runtime.progress import report_progress

_CELLS = 16_000_000
_WORDS = 2_000_000


@dataclass(frozen=True, eq=False)
class BasketBits:
    """For each of some items the baskets that hold it; every group of baskets starts a word of its own."""

    words: Words
    """Items × words."""
    starts: Ints
    """The first word of each group."""

    @classmethod
    def of(cls, baskets: Baskets, lines: Ints, groups: Ints) -> BasketBits:
        """Baskets in groups of these sizes; `lines` is the line of each item of the vocabulary, −1 for none."""
        many = int(lines.max(initial=-1)) + 1
        lengths = (groups + 63) // 64
        ends = np.cumsum(lengths)
        starts = ends - lengths
        first = np.cumsum(groups) - groups
        positions = np.arange(len(baskets)) + np.repeat(64 * starts - first, groups)
        bits: Bytes = np.zeros((many, 8 * int(ends[-1])), dtype=np.uint8)
        step = max(_CELLS // max(many, 1) // 64, 1) * 64
        bounds = np.searchsorted(positions, np.arange(0, 64 * int(ends[-1]) + step, step))
        for number, (begin, end) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
            report_progress("reading baskets", begin, len(baskets))
            code_range = slice(int(baskets.offsets[begin]), int(baskets.offsets[end]))
            row = np.repeat(positions[begin:end] - number * step, np.diff(baskets.offsets[begin : end + 1]))
            line = lines[baskets.codes[code_range]]
            flags: Flags = np.zeros((many, step), dtype=np.bool_)
            flags[line[line >= 0], row[line >= 0]] = True
            packed_flags = np.packbits(flags, axis=1, bitorder="little")
            room = bits[:, number * step // 8 : (number + 1) * step // 8]
            room[:] = packed_flags[:, : room.shape[1]]
        return cls(bits.view(np.uint64), starts)

    def count(self, sets: Ints) -> Ints:
        """How many baskets of each group hold all items of each set: sets × groups; a set is a row of lines."""
        counts = np.empty((len(sets), len(self.starts)), dtype=np.int64)
        step = max(_WORDS // max(self.words.shape[1], 1), 1)
        for begin in range(0, len(sets), step):
            part = sets[begin : begin + step]
            joint_words = self.words[part[:, 0]]
            for column in part[:, 1:].T:
                joint_words &= self.words[column]
            bit_counts = np.bitwise_count(joint_words)
            counts[begin : begin + step] = np.add.reduceat(bit_counts, self.starts, axis=1, dtype=np.int64)
        return counts
