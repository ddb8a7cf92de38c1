# SPDX-License-Identifier: MIT
"""Closed and maximal patterns under limits on gaps or windows, by comparing all frequent patterns with each other.

Under such limits a part of a pattern can be rarer than the pattern itself, so that patterns one item longer do not
decide, as they do without limits. Every longer pattern that holds all items of a shorter one is tried.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby

import numpy as np

from sfumato.arrays import Flags
from sfumato.mine.sequences.subsequences import Subsequences, list_pattern_codes
from sfumato.runtime.progress import report_progress

ElementTuples = tuple[tuple[int, ...], ...]


def flag_uncovered(subsequences: Subsequences, same_support: bool) -> Flags:
    """Which patterns no longer one contains, among all or among those of the same support."""
    patterns = list_pattern_codes(subsequences)
    order = np.lexsort(
        (-np.diff(subsequences.offsets), subsequences.supports if same_support else np.zeros(len(subsequences)))
    )
    uncovered_mask = np.ones(len(subsequences), dtype=bool)
    for group_index, (_, group) in enumerate(
        groupby(order.tolist(), lambda n: subsequences.supports[n] if same_support else 0)
    ):
        report_progress("comparing patterns", group_index)
        longer = _PatternIndex()
        for _, same_length in groupby(group, lambda n: subsequences.offsets[n + 1] - subsequences.offsets[n]):
            numbers = list(same_length)
            for number in numbers:
                uncovered_mask[number] = not longer.covers(patterns[number])
            for number in numbers:
                if uncovered_mask[number]:  # what covers a covered one covers the others, too
                    longer.add(patterns[number])
    return uncovered_mask


class _PatternIndex:
    """Patterns, and for each item a bit for each of them that holds it: a whole number may have any number of bits."""

    def __init__(self) -> None:
        self.patterns: list[ElementTuples] = []
        self.holders: dict[int, int] = defaultdict(int)

    def add(self, pattern: ElementTuples) -> None:
        bit = 1 << len(self.patterns)
        self.patterns.append(pattern)
        for code in {code for element in pattern for code in element}:
            self.holders[code] |= bit

    def covers(self, pattern: ElementTuples) -> bool:
        """Whether some pattern of the index contains this one."""
        candidates = (1 << len(self.patterns)) - 1
        for code in {code for element in pattern for code in element}:
            candidates &= self.holders.get(code, 0)
        while candidates:
            last = candidates.bit_length() - 1
            if _is_inside(pattern, self.patterns[last]):
                return True
            candidates ^= 1 << last
        return False


def _is_inside(pattern: ElementTuples, other: ElementTuples) -> bool:
    """Whether each element is part of another one of the other pattern, in order."""
    remaining_elements = iter(other)
    return all(any(set(element) <= set(larger) for larger in remaining_elements) for element in pattern)
