# SPDX-License-Identifier: MIT
"""How far published sequences are from the originals, measured on the written file."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.measure.sequences.sequence_checks import number_codes, number_item_texts, spell_sequences
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences

_CHUNK = 4096


class _NumberedElements(NamedTuple):
    labels: Codes
    offsets: Ints


def measure_changed_elements(original: Sequences, published_sequences: Sequences, rows: Ints | None = None) -> float:
    """Of the elements of all sequences before and after, the share that was deleted or inserted.

    What a sequence keeps is the longest subsequence that it has in common with its original. `rows` are the originals
    of the published sequences; the elements of all other originals are deleted.
    """
    from sfumato.kernels.sequences.kept_elements import ComparedRows, count_kept_elements

    owners = np.arange(len(published_sequences)) if rows is None else np.array(rows, dtype=np.int64)
    original_elements, published_elements, size = _number_elements(original, published_sequences)
    words = (int(np.diff(original.offsets)[owners].max(initial=1)) + 63) // 64
    masks = np.zeros((max(size, 1), words), dtype=np.uint64)
    compared_rows = ComparedRows(*published_elements, *original_elements, owners)
    kept_count = 0
    for first in range(0, len(owners), _CHUNK):
        report_progress("comparing sequences", first, len(owners))
        kept_count += count_kept_elements(compared_rows, masks, first, min(first + _CHUNK, len(owners)))
    total = len(original_elements.labels) + len(published_elements.labels)
    return round(1 - 2 * kept_count / total, 12) if total else 0.0


class _NumberedPair(NamedTuple):
    original: _NumberedElements
    published_elements: _NumberedElements
    size: int
    """How many numbers there are."""


def _number_elements(original: Sequences, published_sequences: Sequences) -> _NumberedPair:
    """Each element as a number; equal elements have the same."""
    numbers = number_item_texts(original, published_sequences)
    if all(len(data.codes) == len(data.element_offsets) - 1 for data in (original, published_sequences)):
        original_codes, published_codes = (number_codes(data, numbers) for data in (original, published_sequences))
        size = len(numbers)
    else:
        elements: dict[bytes, int] = {}
        original_codes, published_codes = (
            _number_sets(data, numbers, elements) for data in (original, published_sequences)
        )
        size = len(elements)
    # Compiled code takes no read-only arrays.
    return _NumberedPair(
        _NumberedElements(original_codes, original.offsets.copy()),
        _NumberedElements(published_codes, published_sequences.offsets.copy()),
        size,
    )


def _number_sets(data: Sequences, numbers: dict[str, int], elements: dict[bytes, int]) -> Codes:
    rows = Sequences(data.items, np.arange(len(data.element_offsets), dtype=np.int64), data.element_offsets, data.codes)
    spellings = spell_sequences(rows, numbers)
    return np.fromiter((elements.setdefault(text, len(elements)) for text in spellings), np.int32, len(spellings))
