# SPDX-License-Identifier: MIT
"""Plain SPMF files of sequences, read and written byte by byte.

Plain is a file whose items are whole numbers of at most seven digits and whose marks are all where they belong. Of
anything else nothing is said but that it is not plain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.kernels.compilation import compile_cached, part, record

MOST_DIGITS = 7
_ITEM, _ELEMENT_END, _SEQUENCE_END, _UNKNOWN = range(4)


@record
class PlainSequences(NamedTuple):
    """Room for the sequences of a file: no text has more items than half its bytes, nor more marks than a third."""

    numbers: Codes
    element_offsets: Ints
    offsets: Ints


@record
class PlainCounts(NamedTuple):
    """How much there is of each; no sequences if the text is not plain."""

    items: int
    elements: int
    sequences: int


class _Word(NamedTuple):
    kind: np.int64
    number: np.int64
    end: np.int64


@part
def _is_blank(letter):
    return letter in (32, 9)


@part
def _read_word(raw, begin):
    """The word that begins at a byte, up to the next blank or line end."""
    end, size = begin, raw.shape[0]
    if raw[begin] == 45:  # a minus
        kind = np.int64(raw[begin + 1]) - 48 if begin + 1 < size else np.int64(_UNKNOWN)
        end = begin + 2
        if kind not in (_ELEMENT_END, _SEQUENCE_END):
            kind = np.int64(_UNKNOWN)
        if end < size and not _is_blank(raw[end]) and raw[end] != 10:
            kind = np.int64(_UNKNOWN)
        return _Word(kind, np.int64(0), end)
    number = np.int64(0)
    while end < size and 48 <= raw[end] <= 57:
        number = 10 * number + np.int64(raw[end]) - 48
        end += 1
    is_whole = end == size or _is_blank(raw[end]) or raw[end] == 10
    has_zero = raw[begin] == 48 and end - begin > 1
    is_number = is_whole and not has_zero and 0 < end - begin <= MOST_DIGITS
    return _Word(np.int64(_ITEM if is_number else _UNKNOWN), number, end)


@compile_cached("PlainCounts(Array(uint8, 1, 'C', readonly=True), PlainSequences)")
def parse_plain_sequences(raw, room):
    """Read one sequence from each line that is not empty."""
    no_counts = PlainCounts(np.int64(0), np.int64(0), np.int64(0))  # type: ignore[arg-type]  # numba's numbers are Python's here
    items, elements, sequences, position = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    room.element_offsets[0], room.offsets[0] = 0, 0
    is_open, is_closed = False, False  # a line has begun; its -2 was read
    while position < raw.shape[0]:
        if _is_blank(raw[position]):
            position += 1
            continue
        if raw[position] == 10:
            if is_open and not is_closed:
                return no_counts
            is_open, is_closed = False, False
            position += 1
            continue
        word = _read_word(raw, position)
        has_items = items > room.element_offsets[elements]
        if is_closed or word.kind == _UNKNOWN or (has_items != (word.kind == _ELEMENT_END) and word.kind != _ITEM):
            return no_counts
        is_open, position = True, word.end
        if word.kind == _ITEM:
            room.numbers[items] = np.int32(word.number)
            items += 1
        elif word.kind == _ELEMENT_END:
            elements += 1
            room.element_offsets[elements] = items
        else:
            sequences, is_closed = sequences + 1, True
            room.offsets[sequences] = elements
    return PlainCounts(items, elements, sequences) if is_closed or not is_open else no_counts  # type: ignore[arg-type]  # numba's numbers are Python's here


@compile_cached(
    "void(Array(int32, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint8[::1], int64[::1], uint8[::1])"
)
def spell_sequences_of_items(codes, offsets, letters, bounds, text):
    """Write the letters of each item of each sequence, and those after the last item at its end."""
    text_end, last = np.int64(0), bounds.shape[0] - 2
    for row in range(offsets.shape[0] - 1):
        for position in range(offsets[row], offsets[row + 1] + 1):
            word = np.int64(codes[position]) if position < offsets[row + 1] else last
            for letter in range(bounds[word], bounds[word + 1]):
                text[text_end] = letters[letter]
                text_end += 1
