# SPDX-License-Identifier: MIT
"""Closed and maximal patterns under limits on gaps or windows, by comparing all frequent patterns with each other.

Under such limits a part of a pattern can be rarer than the pattern itself, so that patterns one item longer do not
decide, as they do without limits. Every longer pattern is tried; those without some item of the shorter one
are passed over first.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from sfumato.arrays import Flags
from sfumato.mine.sequences.subsequences import Subsequences, list_pattern_codes

Elements = tuple[tuple[int, ...], ...]


def flag_uncovered(found: Subsequences, same_support: bool) -> Flags:
    """Which patterns no longer one contains, among all or among those of the same support."""
    patterns = list_pattern_codes(found)
    groups: dict[int, list[int]] = defaultdict(list)
    for number, support in enumerate(found.supports.tolist()):
        groups[support if same_support else 0].append(number)
    kept = np.ones(len(found), dtype=bool)
    lengths = np.diff(found.offsets)
    for group in groups.values():
        numbers = sorted(group, key=lambda number: -int(lengths[number]))
        items = [{code for element in patterns[number] for code in element} for number in numbers]
        for place, number in enumerate(numbers):
            kept[number] = not any(
                lengths[other] > lengths[number]
                and items[place] <= items[earlier]
                and _is_inside(patterns[number], patterns[other])
                for earlier, other in enumerate(numbers[:place])
                if kept[other]  # what covers a covered one covers this one, too
            )
    return kept


def _is_inside(pattern: Elements, other: Elements) -> bool:
    """Whether each element is part of another one of the other pattern, in order."""
    later = iter(other)
    return all(any(set(element) <= set(larger) for larger in later) for element in pattern)
