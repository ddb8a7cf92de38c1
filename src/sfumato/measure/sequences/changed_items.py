# SPDX-License-Identifier: MIT
"""M1 of Abul, Atzori, Bonchi and Giannotti (2007): how many items were marked, before marks are deleted or replaced."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Codes, Flags, Ints
from sfumato.measure.sequences.sequence_checks import number_item_texts
from sfumato.public.marked_items import MARK
from sfumato.sequences import Sequences


def count_marks(original: Sequences, published: Sequences) -> int:
    """M1: how many items of the originals became a mark Δ, were deleted or were replaced.

    A sequence that has all its elements is compared element by element. In one that has lost some, what is counted is
    how many items of the original it no longer has. If sequences were left out, it is not known which, and only marks
    and the items that are fewer are counted.
    """
    if len(original) != len(published):
        marks = [code for code, item in enumerate(published.items) if str(item) == MARK]
        return int(np.isin(published.codes, marks).sum()) + max(0, original.codes.size - published.codes.size)
    numbers = number_item_texts(original, published)
    aligned = np.diff(original.offsets) == np.diff(published.offsets)
    original_keys, published_keys = (_place_items(data, aligned, numbers) for data in (original, published))
    places, counts = np.unique(original_keys, return_counts=True)
    kept_places, kept_counts = np.unique(published_keys, return_counts=True)
    kept = np.zeros_like(counts)
    is_kept = np.isin(places, kept_places, assume_unique=True)
    kept[is_kept] = kept_counts[np.isin(kept_places, places, assume_unique=True)]
    return int(np.maximum(counts - kept, 0).sum())


def _place_items(data: Sequences, aligned: Flags, numbers: dict[str, int]) -> Ints:
    """Each item with its place as one number: its sequence, and its element in those that can be compared so."""
    lengths = np.diff(data.offsets)
    widths = np.where(aligned, lengths, 1)  # the same before and after
    starts = np.cumsum(widths) - widths
    within = np.arange(data.element_offsets.size - 1) - np.repeat(data.offsets[:-1], lengths)
    elements = np.repeat(starts, lengths) + np.where(np.repeat(aligned, lengths), within, 0)
    codes: Codes = np.array([numbers[str(item)] for item in data.items], dtype=np.int32)[data.codes]
    return np.asarray(np.repeat(elements, np.diff(data.element_offsets)) * max(len(numbers), 1) + codes)
