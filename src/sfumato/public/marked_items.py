# SPDX-License-Identifier: MIT
"""The mark that a hidden item of a sequence may leave. It is public, and no miner counts it.

Whether Δ is that mark is for the methods of a release to state: data may have an item of this name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sfumato.release import Release
    from sfumato.sequences import Sequences

MARK = "Δ"


def find_mark(release: Release, original: Sequences) -> str:
    """The mark that stands for hidden items, as the methods of a release state it; empty if they leave none.

    If no method is known, Δ is a mark unless the originals hold it as an item.
    """
    methods = [step.method for step in release.list_steps() if step.method is not None]
    if methods:
        return MARK if any(method.find_mark(method.model_dump()) == MARK for method in methods) else ""
    return "" if MARK in map(str, original.items) else MARK


def remove_marks(sequences: Sequences, mark: str) -> Sequences:
    """The sequences without marks; an element that was only a mark is gone."""
    marks = [code for code, item in enumerate(sequences.items) if mark and str(item) == mark]
    if not marks:
        return sequences
    kept_mask = ~np.isin(sequences.codes, marks)
    kept_before = np.concatenate(([0], np.cumsum(kept_mask, dtype=np.int64)))
    return replace(sequences, codes=sequences.codes[kept_mask], element_offsets=kept_before[sequences.element_offsets])
