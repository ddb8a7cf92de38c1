# SPDX-License-Identifier: MIT
"""What a release of sequences costs an analyst who mines it for frequent patterns.

For a custodian, who has the originals and the release. SupSim and the F-measure are those of Pensa, Monreale, Pinelli
and Pedreschi (2008), M1 to M3 those of Abul, Atzori, Bonchi and Giannotti (2007). A mark is never part of a pattern.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple

from sfumato.measure.sequences.changed_items import count_marks
from sfumato.measure.sequences.support_counts import NamePattern, count_pattern_supports
from sfumato.mine.sequences.containment import list_elements
from sfumato.mine.sequences.subsequences import Subsequences, find_subsequences, list_named_patterns
from sfumato.public.marked_items import MARK
from sfumato.public.thresholds import Support, compute_least_count
from sfumato.sequences import Sequences, refuse_other_data


@dataclass(frozen=True)
class SupportChanges:
    """The frequent patterns before and after, but for hidden patterns and those that contain one: they do not count."""

    before: int
    """Patterns that are frequent in the originals, and neither hidden nor contain a hidden one."""
    after: int
    """Patterns that are frequent in the release, and neither hidden nor contain a hidden one."""
    lost_patterns: int
    """Frequent before and not after."""
    ghosts: int
    """Frequent after and not before."""
    sup_sim: float | None
    """SupSim: over patterns frequent in both, the mean of the smaller support divided by the larger; None if there is
    no such pattern."""
    support_distance: int
    """The sum of the differences of supports, over all patterns that are frequent before or after."""
    support_distortion: float | None
    """M3: the mean share of its support that a pattern frequent in the release has lost; None, and not 0, if no pattern
    is left. A pattern that is in no original does not count."""

    @property
    def precision(self) -> float:
        """The share of the patterns found in the release that are frequent in the originals; 1 if none is found."""
        return (self.after - self.ghosts) / self.after if self.after else 1.0

    @property
    def recall(self) -> float:
        """The share of the patterns frequent in the originals that are found in the release; 1 if there are none."""
        return (self.before - self.lost_patterns) / self.before if self.before else 1.0

    @property
    def f_measure(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    @property
    def pattern_distortion(self) -> float | None:
        """M2: by which share the number of frequent patterns fell; None if there was none."""
        return (self.before - self.after) / self.before if self.before else None


@dataclass(frozen=True)
class PatternChanges(SupportChanges):
    """The frequent patterns before and after, and how much was changed."""

    marks: int
    """M1: items of the originals that were marked, deleted or replaced, as far as the two files show: what was replaced
    by an item that a shortened sequence lost elsewhere does not."""


class PatternSelection(NamedTuple):
    """Which patterns are compared; `pattern_changes` explains each."""

    min_support: Support
    max_length: int | None = None
    max_gap: int | None = None
    window: int | None = None
    hidden_patterns: tuple[Any, ...] = ()
    at_most: int | None = None
    mark: str = MARK


def pattern_changes(
    original: Sequences,
    published_sequences: Sequences,
    min_support: Support,
    max_length: int | None = None,
    max_gap: int | None = None,
    window: int | None = None,
    *,
    hidden_patterns: Iterable[Any] = (),
    at_most: int | None = None,
    mark: str = MARK,
) -> PatternChanges:
    """Compare the frequent patterns of the originals with those of the release.

    `min_support` as a share is one of the originals. `hidden_patterns` are patterns that were hidden on purpose: losing
    them is no loss, and they do not count, nor does any pattern that contains one. An error is raised if more than
    `at_most` patterns are frequent before or after. `mark` stands for hidden items and is never part of a pattern;
    empty if there is no mark, and Δ is an item of the data.
    """
    selection = PatternSelection(min_support, max_length, max_gap, window, tuple(hidden_patterns), at_most, mark)
    changes = compare_supports(original, published_sequences, selection)
    return PatternChanges(**vars(changes), marks=count_marks(original, published_sequences, mark))


def compare_supports(
    original: Sequences, published_sequences: Sequences, selection: PatternSelection
) -> SupportChanges:
    """Compare the frequent patterns as `pattern_changes` does, without counting what was changed."""
    min_support, max_length, max_gap, window, hidden_patterns, at_most, mark = selection
    refuse_other_data(original, published_sequences)
    least = compute_least_count(min_support, len(original))
    limits = (max_length, max_gap, window)
    secrets = [_name_pattern(pattern) for pattern in hidden_patterns]
    subsequences = [
        find_subsequences(data, least, *limits, at_most=at_most, mark=mark) for data in (original, published_sequences)
    ]
    original_supports, published_supports = (_name_patterns(patterns, secrets) for patterns in subsequences)
    common = original_supports.keys() & published_supports.keys()
    pairs = [(original_supports[pattern], published_supports[pattern]) for pattern in common]
    remaining_supports = count_pattern_supports(published_sequences, original_supports.keys() - common, max_gap, window)
    had = count_pattern_supports(original, published_supports.keys() - common, max_gap, window)
    lost_pairs = [(original_supports[pattern], count) for pattern, count in remaining_supports.items()]
    ghosts = [(count, published_supports[pattern]) for pattern, count in had.items()]
    # Patterns come in no fixed order, and only an exact sum is the same in every run.
    ratios = [min(pair) / max(pair) for pair in pairs]
    shares = [(old - new) / old for old, new in (*pairs, *ghosts) if old]
    return SupportChanges(
        before=len(original_supports),
        after=len(published_supports),
        lost_patterns=len(lost_pairs),
        ghosts=len(ghosts),
        sup_sim=fsum(ratios) / len(ratios) if ratios else None,
        support_distance=sum(abs(old - new) for old, new in (*pairs, *lost_pairs, *ghosts)),
        support_distortion=fsum(shares) / len(shares) if shares else None,
    )


def _name_patterns(subsequences: Subsequences, secrets: list[NamePattern]) -> dict[NamePattern, int]:
    """Patterns by the names of their items, without hidden ones."""
    return {
        pattern: count
        for pattern, count in zip(list_named_patterns(subsequences), subsequences.supports.tolist(), strict=True)
        if not any(_holds(pattern, secret) for secret in secrets)
    }


def _name_pattern(pattern: Iterable[Any]) -> NamePattern:
    return tuple(tuple(sorted(map(str, element))) for element in list_elements(pattern))


def _holds(pattern: NamePattern, part: NamePattern) -> bool:
    """Whether one pattern contains another."""
    remaining_elements = iter(pattern)
    return all(any(set(element) <= set(larger) for larger in remaining_elements) for element in part)
