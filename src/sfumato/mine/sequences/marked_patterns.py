# SPDX-License-Identifier: MIT
"""The mark of a hidden item is never part of a pattern, but it keeps its position where gaps are limited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Flags
from sfumato.sequences import Sequences

if TYPE_CHECKING:
    from sfumato.mine.sequences.subsequences import Subsequences


def drop_marks(sequences: Sequences, mark: str) -> Sequences:
    """The sequences without their marks and the positions of these: the same patterns if nothing limits gaps."""
    unmarked_mask = sequences.codes != sequences.items.index(mark)
    kept_before = np.concatenate(([0], np.cumsum(unmarked_mask)))
    bounds = kept_before[sequences.element_offsets]
    return Sequences(sequences.items, sequences.offsets, bounds, sequences.codes[unmarked_mask], flat=sequences.flat)


def flag_unmarked(subsequences: Subsequences, mark: str) -> Flags:
    """Which patterns have no mark."""
    mark_code = subsequences.items.index(mark)
    owners = np.repeat(np.arange(len(subsequences)), np.diff(subsequences.offsets))
    flags = np.ones(len(subsequences), dtype=np.bool_)
    flags[owners[(subsequences.codes == mark_code) | (subsequences.codes == ~mark_code)]] = False
    return flags
