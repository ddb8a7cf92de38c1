# SPDX-License-Identifier: MIT
"""Which sequences of single items are equal: found once for the same data, whoever asks."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sfumato.sequences import Sequences

if TYPE_CHECKING:
    from sfumato.kernels.sequences.distinct_rows import DistinctRows

_FOUND: WeakKeyDictionary[Sequences, DistinctRows] = WeakKeyDictionary()
"""Sequences never change, so that what was found of them stays true as long as they are there."""


def find_distinct_sequences(sequences: Sequences) -> DistinctRows:
    """The distinct sequences among some whose elements are single items."""
    from sfumato.kernels.sequences.distinct_rows import find_distinct_rows

    found = _FOUND.get(sequences)
    if found is None:
        found = find_distinct_rows(sequences.codes, sequences.offsets)
        for several in found:
            several.setflags(write=False)
        _FOUND[sequences] = found
    return found
