# SPDX-License-Identifier: MIT
"""Which patterns someone hid: rankings of what does not exceed a threshold, by what an adversary can compute.

A hidden pattern lies at its threshold. It is also rarer than its items predict, since it was frequent before. And if
marks Δ show where items were hidden, some hidden pattern would be in each marked sequence if the marks were filled in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Flags
from sfumato.mine.sequences.containment import MatchLimits, check_limits, flag_code_rows, list_elements
from sfumato.mine.sequences.subsequences import find_subsequences, list_named_patterns
from sfumato.public.marked_items import MARK
from sfumato.sequences import Sequences

NamedPattern = tuple[tuple[str, ...], ...]
_MOST_EXPLAINED = 3000
"""How many patterns, the most suspect ones, are compared with marked sequences."""


class NearThreshold(NamedTuple):
    """The threshold that a pattern is nearest to without exceeding it, and how far it is."""

    threshold: int
    distance: int


class MinedPatterns(NamedTuple):
    """What the adversary mined: the supports of all patterns, and those within reach of a threshold."""

    supports: dict[NamedPattern, int]
    near_patterns: dict[NamedPattern, NearThreshold]
    rows: int
    """How many sequences there are."""
    max_gap: int | None = None
    window: int | None = None


def name_pattern(pattern: Iterable[Any]) -> NamedPattern:
    """A pattern by the names of its items."""
    return tuple(tuple(sorted(map(str, element))) for element in list_elements(pattern))


def mine_named(
    sequences: Sequences, least: int, longest: int, max_gap: int | None, window: int | None, most: int | None = None
) -> dict[NamedPattern, int]:
    """Frequent patterns by the names of their items; none with a mark.

    Of those in more sequences than `most`, only what may be part of another is ever looked up, and given.
    """
    subsequences = find_subsequences(sequences, least, longest, max_gap, window)
    if most is not None:
        subsequences = subsequences.take((subsequences.supports <= most) | (np.diff(subsequences.offsets) < longest))
    patterns = zip(list_named_patterns(subsequences), subsequences.supports.tolist(), strict=True)
    return {pattern: count for pattern, count in patterns if not any(MARK in element for element in pattern)}


def find_near(
    supports: dict[NamedPattern, int], thresholds: list[int], reach: float
) -> dict[NamedPattern, NearThreshold]:
    """Patterns that do not exceed one of the thresholds, and are within reach of it."""
    near_patterns: dict[NamedPattern, NearThreshold] = {}
    for pattern, count in supports.items():
        threshold = next((limit for limit in thresholds if limit >= count), None)
        if threshold is not None and count >= int(threshold * (1 - reach)):
            near_patterns[pattern] = NearThreshold(threshold, threshold - count)
    return near_patterns


def rank_patterns(
    published_sequences: Sequences, mined_patterns: MinedPatterns, many: int
) -> Iterator[list[NamedPattern]]:
    """Rankings of what does not exceed a threshold, of which `many` are named; ties go to the longer, then by name."""
    near_patterns = mined_patterns.near_patterns

    def has_rare_part(pattern: NamedPattern) -> bool:
        return any(
            mined_patterns.supports.get(part, 0) <= near_patterns[pattern].threshold for part in _list_parts(pattern)
        )

    nearest = sorted(
        near_patterns, key=lambda pattern: (near_patterns[pattern].distance, -measure_length(pattern), pattern)
    )
    yield nearest
    yield sorted(nearest, key=has_rare_part)
    yield sorted(nearest, key=lambda pattern: -measure_length(pattern))
    yield rank_by_absence(mined_patterns)
    yield sorted(nearest, key=lambda pattern: -_expect(mined_patterns, pattern))
    yield sorted(
        nearest, key=lambda pattern: near_patterns[pattern].distance - mined_patterns.supports.get(pattern[::-1], 0)
    )
    yield explain_marks(published_sequences, mined_patterns, many)


def rank_by_absence(mined_patterns: MinedPatterns) -> list[NamedPattern]:
    """The nearest first; of those, what chance would make most frequent."""
    near_patterns = mined_patterns.near_patterns
    return sorted(
        near_patterns, key=lambda pattern: (near_patterns[pattern].distance, -_expect(mined_patterns, pattern), pattern)
    )


def explain_marks(published_sequences: Sequences, mined_patterns: MinedPatterns, many: int) -> list[NamedPattern]:
    """Patterns of which one after another would be in most marked sequences that no earlier one would be in.

    Nothing if no mark shows.
    """
    suspects = rank_by_absence(mined_patterns)[:_MOST_EXPLAINED]
    filled_sequences = fill_marks(published_sequences, suspects)
    if filled_sequences is None or not suspects:
        return []
    limits = check_limits(mined_patterns.max_gap, mined_patterns.window)
    holder_masks = np.array([flag_holders(filled_sequences, pattern, limits) for pattern in suspects])
    open_rows, chosen_indices = np.ones(len(filled_sequences), dtype=bool), list[int]()
    rest = list(range(len(suspects)))
    while rest and len(chosen_indices) < many:
        gains = (holder_masks[rest] & open_rows).sum(axis=1).tolist()
        # Of those that explain as many, one at its threshold, then the longer one, then the more suspect one.
        best = max(
            range(len(rest)),
            key=lambda index: (
                gains[index],
                mined_patterns.near_patterns[suspects[rest[index]]].distance == 0,
                measure_length(suspects[rest[index]]),
                -rest[index],
            ),
        )
        chosen_indices.append(rest.pop(best))
        open_rows &= ~holder_masks[chosen_indices[-1]]
    return [suspects[index] for index in chosen_indices]


def measure_length(pattern: NamedPattern) -> int:
    """How many items a pattern has."""
    return sum(map(len, pattern))


def fill_marks(published_sequences: Sequences, suspects: list[NamedPattern]) -> Sequences | None:
    """The sequences with marks, each of which is every item of the suspects at once; None if there are none."""
    all_names = sorted({name for pattern in suspects for element in pattern for name in element})
    is_mark = np.array([str(item) == MARK for item in published_sequences.items], dtype=np.bool_)
    if not is_mark.any() or not all_names:
        return None
    elements = (
        np.searchsorted(
            published_sequences.element_offsets, np.flatnonzero(is_mark[published_sequences.codes]), side="right"
        )
        - 1
    )
    owners = np.unique(np.searchsorted(published_sequences.offsets, elements, side="right") - 1)
    rows = [
        [[str(item) for item in (element if isinstance(element, list) else [element])] for element in row]
        for row in published_sequences.take(owners).to_lists()
    ]
    filled_rows = [[all_names if MARK in element else element for element in row] for row in rows]
    return Sequences.of(filled_rows) if filled_rows else None


def flag_holders(sequences: Sequences, pattern: NamedPattern, limits: MatchLimits | None = None) -> Flags:
    """Which sequences hold a pattern, all of whose items occur."""
    code_of = {str(item): code for code, item in enumerate(sequences.items)}
    codes = [np.array(sorted(code_of[name] for name in element), dtype=np.int32) for element in pattern]
    return flag_code_rows(sequences, codes, limits or MatchLimits())


def _expect(mined_patterns: MinedPatterns, pattern: NamedPattern) -> float:
    """The logarithm of the share of sequences that would hold all items of a pattern by chance."""
    return sum(
        log(mined_patterns.supports.get(((name,),), 1) / mined_patterns.rows) for element in pattern for name in element
    )


def _list_parts(pattern: NamedPattern) -> Iterator[NamedPattern]:
    """The pattern without one of its items, but not the empty one."""
    for position, element in enumerate(pattern):
        for number in range(len(element)):
            rest = element[:number] + element[number + 1 :]
            part = (*pattern[:position], *((rest,) if rest else ()), *pattern[position + 1 :])
            if part:
                yield part
