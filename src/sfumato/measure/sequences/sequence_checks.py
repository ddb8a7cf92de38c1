# SPDX-License-Identifier: MIT
"""Whether published sequences hide their owners: how many contain each of them.

A release in which no subsequence is rare need not be searched subsequence by subsequence. Whatever occurs in it is
contained in some published sequence, and everything that contains a sequence also contains what is in it. So the rarest
subsequence is a whole published sequence, and the smallest support is that of the published sequence which the fewest
contain. In the same way, if each published sequence is contained in k originals, so is all that occurs in the release.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, Words
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.release import Number
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences, refuse_other_data

_CHUNK = 64


@dataclass(frozen=True, eq=False)
class DistinctSequences:
    """The distinct sequences among some, sorted so that those which start alike are neighbours."""

    spellings: list[bytes]
    rows: Any
    """The same as arrays for kernels."""

    @classmethod
    def of(cls, data: Sequences, numbers: Mapping[str, int], *, is_flat: bool) -> DistinctSequences:
        """Collect them; items are compared as text. Elements that are all single items need no marks."""
        marked_codes, bounds = _list_items(data, numbers) if is_flat else _mark_elements(data, numbers)
        distinct = _find_distinct(marked_codes, bounds)
        raw_spellings = [marked_codes[bounds[row] : bounds[row + 1]].tobytes() for row in distinct.firsts.tolist()]
        order = np.array(sorted(range(len(raw_spellings)), key=raw_spellings.__getitem__), dtype=np.int64)
        spellings = [raw_spellings[index] for index in order.tolist()]
        sorted_elements = _take_rows(marked_codes, bounds, distinct.firsts[order])
        return cls(spellings, _unpack_elements(*sorted_elements, distinct.weights[order], is_flat))

    def find_whole(self) -> Ints:
        """Those that no other starts with: what others start with is contained in more."""
        pairs = zip(self.spellings, [*self.spellings[1:], b""], strict=True)
        return np.flatnonzero([not next_text.startswith(text) for text, next_text in pairs])


def number_item_texts(*several: Sequences) -> dict[str, int]:
    """A number for each item of some sequences, by its text: "7" and 7 are the same."""
    numbers: dict[str, int] = {}
    for data in several:
        for item in data.items:
            numbers.setdefault(str(item), len(numbers))
    return numbers


def spell_sequences(data: Sequences, numbers: Mapping[str, int]) -> list[bytes]:
    """Each sequence as bytes: its items' numbers, ascending in each element, with -1 after each element."""
    marked_codes, bounds = _mark_elements(data, numbers)
    content = marked_codes.tobytes()
    return [content[4 * start : 4 * stop] for start, stop in itertools.pairwise(bounds.tolist())]


class _ElementMarks(NamedTuple):
    numbers: Codes
    """Of the items, with -1 after each element."""
    bounds: Ints
    """Where each sequence begins."""


def number_codes(data: Sequences, numbers: Mapping[str, int]) -> Codes:
    """The number of each item, ascending in each element."""
    number = np.array([numbers[str(item)] for item in data.items], dtype=np.int32)
    is_same = np.array_equal(number, np.arange(len(number)))
    codes: Codes = data.codes.copy() if is_same else number[data.codes]
    if (np.diff(number) > 0).all() or len(codes) == len(data.element_offsets) - 1:
        return codes
    elements = np.repeat(np.arange(len(data.element_offsets) - 1), np.diff(data.element_offsets))
    return codes[np.lexsort((codes, elements))]


def _list_items(data: Sequences, numbers: Mapping[str, int]) -> _ElementMarks:
    """Single items without marks."""
    return _ElementMarks(number_codes(data, numbers), data.offsets)


def _mark_elements(data: Sequences, numbers: Mapping[str, int]) -> _ElementMarks:
    codes = number_codes(data, numbers)
    marked_codes = np.full(len(codes) + len(data.element_offsets) - 1, -1, dtype=np.int32)
    if len(marked_codes) == 2 * len(codes):  # single items
        marked_codes[::2] = codes
        return _ElementMarks(marked_codes, 2 * data.offsets)
    # Each element is longer by its mark.
    elements = np.repeat(np.arange(len(data.element_offsets) - 1), np.diff(data.element_offsets))
    marked_codes[np.arange(len(codes)) + elements] = codes
    return _ElementMarks(marked_codes, data.element_offsets[data.offsets] + data.offsets)


class _DistinctWalks(NamedTuple):
    """The distinct sequences among some, in the order in which they first occur."""

    firsts: Ints
    weights: Ints
    """How often each occurs."""


def _find_distinct(marked_codes: Codes, bounds: Ints) -> _DistinctWalks:
    """Equal sequences, by a kernel of the checks alone: methods find theirs by another."""
    from sfumato.kernels.sequences.crowd_counts import find_first_equals

    rows = len(bounds) - 1
    slots = np.full(2 << rows.bit_length(), -1, dtype=np.int64)
    owners = np.empty(rows, dtype=np.int64)
    find_first_equals(marked_codes, bounds, slots, owners)
    weights = np.bincount(owners, minlength=rows)
    firsts = np.flatnonzero(weights)
    return _DistinctWalks(firsts, weights[firsts])


def _take_rows(marked_codes: Codes, bounds: Ints, rows: Ints) -> _ElementMarks:
    """Some sequences, one after another."""
    lengths = bounds[rows + 1] - bounds[rows]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    places = np.arange(offsets[-1]) + np.repeat(bounds[rows] - offsets[:-1], lengths)
    return _ElementMarks(marked_codes[places], offsets)


def _unpack_elements(marked_codes: Codes, ends: Ints, weights: Ints, is_flat: bool) -> Any:
    """Sequences, with marks after their elements unless they are flat, as arrays for kernels."""
    from sfumato.kernels.sequences.crowd_counts import SpelledRows

    if is_flat:
        return SpelledRows(
            ends, np.arange(len(marked_codes) + 1), marked_codes, _sketch_rows(marked_codes, ends), weights
        )
    is_mark = marked_codes < 0
    element_counts = np.concatenate(([0], np.cumsum(is_mark)))
    items_before = np.concatenate(([0], np.cumsum(~is_mark)))
    element_offsets = np.concatenate(([0], items_before[np.flatnonzero(is_mark) + 1])).astype(np.int64)
    codes = np.ascontiguousarray(marked_codes[~is_mark])
    offsets = element_counts[ends].astype(np.int64)
    return SpelledRows(offsets, element_offsets, codes, _sketch_rows(codes, items_before[ends]), weights)


def lay_out_rows(data: Sequences, numbers: Mapping[str, int]) -> Any:
    """Sequences as arrays for kernels, each as it is, equal ones too."""
    from sfumato.kernels.sequences.crowd_counts import SpelledRows

    codes = number_codes(data, numbers)
    marks = _sketch_rows(codes, data.element_offsets[data.offsets])
    return SpelledRows(data.offsets.copy(), data.element_offsets.copy(), codes, marks, np.ones(len(data), np.int64))


def _sketch_rows(codes: Codes, bounds: Ints) -> Words:
    """A bit for the items of each sequence."""
    bits = np.append(
        np.uint64(1) << (codes % 64).astype(np.uint64), np.uint64(0)
    )  # one more, where the last row is empty
    sketches = np.bitwise_or.reduceat(bits, bounds[:-1]) if len(bounds) > 1 else np.zeros(0, dtype=np.uint64)
    return np.asarray(np.where(np.diff(bounds) > 0, sketches, np.uint64(0)))


class _PlacedRows(NamedTuple):
    """Distinct sequences as arrays for kernels, and where to begin to look for what contains each of some others."""

    rows: Any
    starts: Ints


def _place_among(
    inner: DistinctSequences, whole: Ints, outer_sequences: Sequences, numbers: Mapping[str, int], *, is_flat: bool
) -> _PlacedRows:
    """Distinct sequences ordered by how they begin, and for each of the others the first that begins like it."""
    marked_codes, bounds = (
        _list_items(outer_sequences, numbers) if is_flat else _mark_elements(outer_sequences, numbers)
    )
    distinct = _find_distinct(marked_codes, bounds)
    keys = _pack_beginnings(marked_codes, bounds[distinct.firsts], bounds[distinct.firsts + 1], len(numbers))
    order = np.argsort(keys)
    sorted_elements = _take_rows(marked_codes, bounds, distinct.firsts[order])
    inner_codes = np.frombuffer(bytearray().join(inner.spellings[row] for row in whole), dtype=np.int32)
    stops = np.cumsum([0, *(len(inner.spellings[row]) // 4 for row in whole)], dtype=np.int64)
    starts = np.searchsorted(keys[order], _pack_beginnings(inner_codes, stops[:-1], stops[1:], len(numbers)))
    starts[starts == len(order)] = 0
    rows = _unpack_elements(*sorted_elements, distinct.weights[order], is_flat)
    return _PlacedRows(rows, starts.astype(np.int64))


def _pack_beginnings(marked_codes: Codes, begins: Ints, ends: Ints, numbers: int) -> Words:
    """The first numbers of each sequence, with marks if there are any, as one word that is ordered like them."""
    from sfumato.kernels.sequences.crowd_counts import pack_beginnings

    keys = np.zeros(len(begins), dtype=np.uint64)
    pack_beginnings(
        marked_codes, np.ascontiguousarray(begins), np.ascontiguousarray(ends), (numbers + 1).bit_length(), keys
    )
    return keys


def measure_least_containing(published_sequences: Sequences, outer_sequences: Sequences) -> int:
    """The smallest number of sequences of `outer_sequences` that contain a published one; 0 if nothing is published."""
    if not len(published_sequences):
        return 0
    from sfumato.kernels.sequences.crowd_counts import count_least_containing

    numbers = number_item_texts(published_sequences, outer_sequences)
    is_flat = all(len(data.codes) == len(data.element_offsets) - 1 for data in (published_sequences, outer_sequences))
    inner = DistinctSequences.of(published_sequences, numbers, is_flat=is_flat)
    whole = inner.find_whole()
    # Where to begin changes how soon enough are found, not how many there are.
    has_outer = outer_sequences is not published_sequences
    outer = (
        _place_among(inner, whole, outer_sequences, numbers, is_flat=is_flat)
        if has_outer
        else _PlacedRows(inner.rows, whole)
    )
    least = len(outer_sequences)
    for first in range(0, len(whole), _CHUNK):
        report_progress("counting sequences that contain others", first, len(whole))
        last = min(first + _CHUNK, len(whole))
        least = int(count_least_containing(inner.rows, whole, outer.rows, outer.starts, first, last, least))
    return least


def sequence_anonymity(sequences: Sequences) -> int:
    """The smallest support of anything that occurs in some sequences: their k.

    It is the number of sequences that contain the rarest whole sequence, since what is part of it is at least as
    frequent.
    """
    refuse_other_data(sequences)
    return measure_least_containing(sequences, sequences)


@checks_claim("sequence_anonymity", "at_least", covers="people by their items")
def _check_anonymity(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return sequence_anonymity(evidence.published_data)


@checks_claim("original_support", "at_least", needs_original=True)
def _check_original_support(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return measure_least_containing(evidence.published_data, evidence.original)


checks_claim("sequence_count", "exactly", properties=("sequences",), unit="size")(
    lambda evidence, _: len(evidence.published_data)
)
