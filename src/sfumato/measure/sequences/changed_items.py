# SPDX-License-Identifier: MIT
"""M1 of Abul, Atzori, Bonchi and Giannotti (2007): how many items were marked, before marks are deleted or replaced."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Codes, Flags, Ints
from sfumato.measure.sequences.sequence_checks import number_item_texts
from sfumato.public.marked_items import MARK
from sfumato.sequences import Sequences


def count_marks(original: Sequences, published_sequences: Sequences, mark: str = MARK) -> int:
    """M1: how many items of the originals became a mark, were deleted or were replaced.

    A sequence that has all its elements is compared element by element. In one that has lost some, what is counted is
    how many items of the original it no longer has. If sequences were left out, it is not known which, and only marks
    and the items that are fewer are counted.
    """
    if len(original) != len(published_sequences):
        marks = [code for code, item in enumerate(published_sequences.items) if mark and str(item) == mark]
        return int(np.isin(published_sequences.codes, marks).sum()) + max(
            0, original.codes.size - published_sequences.codes.size
        )
    numbers = number_item_texts(original, published_sequences)
    aligned_mask = np.diff(original.offsets) == np.diff(published_sequences.offsets)
    original_keys, published_keys = (
        _number_placed_items(data, aligned_mask, numbers) for data in (original, published_sequences)
    )
    places, counts = np.unique(original_keys, return_counts=True)
    kept_places, kept_counts = np.unique(published_keys, return_counts=True)
    matched_counts = np.zeros_like(counts)
    is_kept = np.isin(places, kept_places, assume_unique=True)
    matched_counts[is_kept] = kept_counts[np.isin(kept_places, places, assume_unique=True)]
    return int(np.maximum(counts - matched_counts, 0).sum())


def _number_placed_items(data: Sequences, aligned_mask: Flags, numbers: dict[str, int]) -> Ints:
    """Each item with its place as one number: its sequence, and its element in those that can be compared so."""
    lengths = np.diff(data.offsets)
    widths = np.where(aligned_mask, lengths, 1)  # the same before and after
    starts = np.cumsum(widths) - widths
    element_index = np.arange(data.element_offsets.size - 1) - np.repeat(data.offsets[:-1], lengths)
    elements = np.repeat(starts, lengths) + np.where(np.repeat(aligned_mask, lengths), element_index, 0)
    codes: Codes = np.array([numbers[str(item)] for item in data.items], dtype=np.int32)[data.codes]
    return np.asarray(np.repeat(elements, np.diff(data.element_offsets)) * max(len(numbers), 1) + codes)
