# SPDX-License-Identifier: MIT
"""The supports of many patterns at once: patterns that begin alike are matched together as far as they agree."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from sfumato.arrays import Ints
from sfumato.measure.sequences.pattern_places import ItemPlaces
from sfumato.mine.sequences.distinct_sequences import find_distinct_sequences
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences

NamePattern = tuple[tuple[str, ...], ...]
"""Elements of sorted item names."""
_CodePattern = tuple[int, ...]
_BATCH_SIZE = 4096
"""How many sequences are counted at once: what is noted of them stays in the processor's cache."""


def count_pattern_supports(
    sequences: Sequences, patterns: Iterable[NamePattern], max_gap: int | None = None, window: int | None = None
) -> dict[NamePattern, int]:
    """How many sequences contain each pattern."""
    counts = dict.fromkeys(patterns, 0)
    if max_gap is None and window is None and sequences.codes.size == sequences.element_offsets.size - 1:
        code_of = {str(item): code for code, item in enumerate(sequences.items)}
        possible = [pattern for pattern in counts if all(name in code_of for element in pattern for name in element)]
        pattern_of_codes = {
            tuple(code_of[name] for (name,) in pattern): pattern
            for pattern in possible
            if all(len(e) == 1 for e in pattern)
        }
        sorted_codes = sorted(pattern_of_codes)
        supports = _count_sorted(sequences, sorted_codes) if sorted_codes else np.zeros(0, np.int64)
        return counts | {
            pattern_of_codes[codes]: count for codes, count in zip(sorted_codes, supports.tolist(), strict=True)
        }
    places = ItemPlaces(sequences)
    return {pattern: places.count_matching(pattern, max_gap, window) for pattern in counts}


def _count_sorted(sequences: Sequences, patterns: list[_CodePattern]) -> Ints:
    """How many sequences of single items contain each of some sorted patterns; equal sequences are looked at once."""
    from sfumato.kernels.sequences.pattern_counts import count_sorted_patterns

    distinct = find_distinct_sequences(sequences)
    codes = np.array([code for pattern in patterns for code in pattern], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, patterns)], dtype=np.int64)
    starts, ends = (sequences.offsets[rows] for rows in (distinct.firsts, distinct.firsts + 1))

    def count_some(first: int) -> Ints:
        chunk, counts = slice(first, first + _BATCH_SIZE), np.zeros(len(patterns), dtype=np.int64)
        count_sorted_patterns(
            sequences.codes, starts[chunk], ends[chunk], distinct.weights[chunk], codes, offsets, counts
        )
        return counts

    totals = np.zeros(len(patterns), dtype=np.int64)
    with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        for chunk_index, counts in enumerate(pool.map(count_some, range(0, len(starts), _BATCH_SIZE))):
            report_progress("counting sequences that contain patterns", chunk_index * _BATCH_SIZE, len(starts))
            totals += counts
    return totals
