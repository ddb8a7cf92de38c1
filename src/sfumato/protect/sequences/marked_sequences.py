# SPDX-License-Identifier: MIT
"""Sequences without their marked items, or with a mark in their place."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Codes, Flags
from sfumato.public.marked_items import MARK
from sfumato.sequences import Sequences


def delete_marked(data: Sequences, alive: Flags, codes: Codes | None = None) -> Sequences:
    """The sequences without their marked items, with other codes if given; an element that lost all items is gone."""
    kept_before = np.concatenate(([0], np.cumsum(alive)))
    kept_codes = (data.codes if codes is None else codes)[alive]
    if len(data.codes) == len(data.element_offsets) - 1:  # an element is gone with its item
        every = np.arange(len(kept_codes) + 1, dtype=np.int64)
        return Sequences(data.items, kept_before[data.offsets], every, kept_codes, None, data.flat)
    offsets = kept_before[data.element_offsets]
    return Sequences(data.items, data.offsets, offsets, kept_codes, None, data.flat)


def show_marks(data: Sequences, alive: Flags) -> Sequences:
    """The sequences with a mark for every marked item; items become text, as the mark is."""
    items = (*map(str, data.items), MARK)
    codes = np.where(alive, data.codes, np.int32(len(data.items)))
    return Sequences(items, data.offsets, data.element_offsets, codes.astype(np.int32), None, data.flat)
