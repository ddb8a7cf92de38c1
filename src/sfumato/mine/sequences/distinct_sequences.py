# SPDX-License-Identifier: MIT
"""Which sequences of single items are equal: computed once per data set and cached."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sfumato.sequences import Sequences

if TYPE_CHECKING:
    from sfumato.kernels.sequences.distinct_rows import DistinctRows

_DISTINCT_ROWS: WeakKeyDictionary[Sequences, DistinctRows] = WeakKeyDictionary()
"""Sequences never change, so that what was found of them stays true as long as they are there."""


def find_distinct_sequences(sequences: Sequences) -> DistinctRows:
    """The distinct sequences among some whose elements are single items."""
    from sfumato.kernels.sequences.distinct_rows import find_distinct_rows

    distinct_rows = _DISTINCT_ROWS.get(sequences)
    if distinct_rows is None:
        distinct_rows = find_distinct_rows(sequences.codes, sequences.offsets)
        for several in distinct_rows:
            several.setflags(write=False)
        _DISTINCT_ROWS[sequences] = distinct_rows
    return distinct_rows
