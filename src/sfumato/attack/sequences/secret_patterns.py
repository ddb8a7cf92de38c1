# SPDX-License-Identifier: MIT
"""Which patterns someone hid: rankings of what does not exceed a threshold, by what an adversary can compute.

A hidden pattern lies at its threshold. It is also rarer than its items predict, since it was frequent before. And if
marks Δ show where items were hidden, some hidden pattern would be in each marked sequence if the marks were filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import fsum, log
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Flags
from sfumato.attack.sequences.named_patterns import NamedPattern, Ranking, TiedPatterns, measure_length, rank_by
from sfumato.mine.sequences.containment import MatchLimits, check_limits, flag_code_rows, list_elements
from sfumato.mine.sequences.subsequences import find_subsequences, list_named_patterns
from sfumato.public.marked_items import MARK
from sfumato.sequences import Sequences

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
    mark: str = MARK
    """What stands for hidden items; empty if nothing does."""


def name_pattern(pattern: Iterable[Any]) -> NamedPattern:
    """A pattern by the names of its items."""
    return tuple(tuple(sorted(map(str, element))) for element in list_elements(pattern))


def mine_named(
    sequences: Sequences,
    least: int,
    longest: int,
    max_gap: int | None = None,
    window: int | None = None,
    *,
    most: int | None = None,
    mark: str = MARK,
) -> dict[NamedPattern, int]:
    """Frequent patterns by the names of their items; none with a mark.

    Of those in more sequences than `most`, only what may be part of another is ever looked up, and given.
    """
    subsequences = find_subsequences(sequences, least, longest, max_gap, window, mark=mark)
    if most is not None:
        subsequences = subsequences.take((subsequences.supports <= most) | (np.diff(subsequences.offsets) < longest))
    return dict(zip(list_named_patterns(subsequences), subsequences.supports.tolist(), strict=True))


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


def rank_patterns(published_sequences: Sequences, mined_patterns: MinedPatterns, many: int) -> Iterator[Ranking]:
    """Rankings of what does not exceed a threshold, of which `many` are named; ties go to the longer, or are left."""
    near_patterns = mined_patterns.near_patterns

    def has_rare_part(pattern: NamedPattern) -> bool:
        return any(
            mined_patterns.supports.get(part, 0) <= near_patterns[pattern].threshold for part in _list_parts(pattern)
        )

    def rank_after(key: Callable[[NamedPattern], Any]) -> Ranking:
        return rank_by(
            near_patterns, lambda pattern: (key(pattern), near_patterns[pattern].distance, -measure_length(pattern))
        )

    yield rank_by(near_patterns, lambda pattern: near_patterns[pattern].distance)
    yield rank_after(lambda pattern: 0)
    yield rank_after(has_rare_part)
    yield rank_after(lambda pattern: -measure_length(pattern))
    yield rank_by_absence(mined_patterns)
    yield rank_after(lambda pattern: -_expect(mined_patterns, pattern))
    yield rank_after(
        lambda pattern: near_patterns[pattern].distance - mined_patterns.supports.get(pattern[::-1], 0),
    )
    yield explain_marks(published_sequences, mined_patterns, many)


def rank_by_absence(mined_patterns: MinedPatterns) -> Ranking:
    """The nearest first; of those, what chance would make most frequent."""
    near_patterns = mined_patterns.near_patterns
    return rank_by(near_patterns, lambda pattern: (near_patterns[pattern].distance, -_expect(mined_patterns, pattern)))


def explain_marks(published_sequences: Sequences, mined_patterns: MinedPatterns, many: int) -> Ranking:
    """Patterns of which one after another would be in most marked sequences that no earlier one would be in.

    Of those that explain as many, one at its threshold comes first, then the longer one, then the more suspect one.
    One is drawn of several that are alike and would be in the same sequences. Nothing if no mark shows.
    """
    ranks = {pattern: rank for rank, tied in enumerate(rank_by_absence(mined_patterns)) for pattern in tied.patterns}
    suspects = list(ranks)[:_MOST_EXPLAINED]
    filled_sequences = fill_marks(published_sequences, suspects, mined_patterns.mark)
    if filled_sequences is None or not suspects:
        return []
    limits = check_limits(mined_patterns.max_gap, mined_patterns.window)
    alike: dict[tuple[Any, ...], list[NamedPattern]] = {}
    for pattern in suspects:
        threshold, distance = mined_patterns.near_patterns[pattern]
        rank = distance == 0, measure_length(pattern), -ranks[pattern], threshold
        alike.setdefault((rank, flag_holders(filled_sequences, pattern, limits).tobytes()), []).append(pattern)
    holder_masks = np.array([np.frombuffer(holders, dtype=np.bool_) for _, holders in alike])
    order, undrawn = list(alike), [len(patterns) for patterns in alike.values()]
    open_rows, ranking = np.ones(len(filled_sequences), dtype=bool), Ranking()
    while len(ranking) < many and open_rows.any():
        gains = (holder_masks & open_rows).sum(axis=1).tolist()
        best = max(range(len(order)), key=lambda index: (gains[index], *order[index]))
        if not gains[best]:
            break
        ranking.append(TiedPatterns(alike[order[best]], 1))
        undrawn[best] -= 1
        open_rows &= ~holder_masks[best]
    rest = sorted((key, count) for key, count in zip(order, undrawn, strict=True) if count)[::-1]
    return ranking + [TiedPatterns(alike[key], count) for key, count in rest[:many]]


def fill_marks(published_sequences: Sequences, suspects: list[NamedPattern], mark: str) -> Sequences | None:
    """The sequences with marks, each of which is every item of the suspects at once; None if there are none."""
    all_names = sorted({name for pattern in suspects for element in pattern for name in element})
    is_mark = np.array([bool(mark) and str(item) == mark for item in published_sequences.items], dtype=np.bool_)
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
    filled_rows = [[all_names if mark in element else element for element in row] for row in rows]
    return Sequences.of(filled_rows) if filled_rows else None


def flag_holders(sequences: Sequences, pattern: NamedPattern, limits: MatchLimits | None = None) -> Flags:
    """Which sequences hold a pattern, all of whose items occur."""
    code_of = {str(item): code for code, item in enumerate(sequences.items)}
    codes = [np.array(sorted(code_of[name] for name in element), dtype=np.int32) for element in pattern]
    return flag_code_rows(sequences, codes, limits or MatchLimits())


def _expect(mined_patterns: MinedPatterns, pattern: NamedPattern) -> float:
    """The logarithm of the share of sequences that would hold all items of a pattern by chance; equal if that is."""
    logarithms = [
        log(mined_patterns.supports.get(((name,),), 1) / mined_patterns.rows) for element in pattern for name in element
    ]
    return round(fsum(logarithms), 9)


def _list_parts(pattern: NamedPattern) -> Iterator[NamedPattern]:
    """The pattern without one of its items, but not the empty one."""
    for position, element in enumerate(pattern):
        for number in range(len(element)):
            rest = element[:number] + element[number + 1 :]
            part = (*pattern[:position], *((rest,) if rest else ()), *pattern[position + 1 :])
            if part:
                yield part
