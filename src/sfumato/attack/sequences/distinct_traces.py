# SPDX-License-Identifier: MIT
"""Sequences laid out to be searched: equal ones are read once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.mine.sequences.distinct_sequences import find_distinct_sequences
from sfumato.sequences import Sequences


class DistinctTraces(NamedTuple):
    """The distinct ones of some sequences."""

    arrays: tuple[Ints, Ints, Codes]
    """Where they begin, where their elements begin, and the codes of items."""
    places: Ints
    """Which of the distinct sequences each one is."""

    def count_each(self) -> Ints:
        """How often each distinct one occurs."""
        return np.bincount(self.places, minlength=self.arrays[0].size - 1).astype(np.int64)


def lay_out_traces(sequences: Sequences) -> DistinctTraces:
    """Find equal sequences, if their elements are single items; else all count as distinct."""
    from sfumato.kernels.sequences.label_rows import select_rows

    if sequences.codes.size != sequences.element_offsets.size - 1:
        arrays = (sequences.offsets, sequences.element_offsets, sequences.codes)
        return DistinctTraces(arrays, np.arange(len(sequences), dtype=np.int64))
    distinct = find_distinct_sequences(sequences)
    codes, offsets = select_rows(sequences.codes, sequences.offsets, distinct.firsts)
    return DistinctTraces((offsets, np.arange(codes.size + 1), codes), distinct.numbers)
