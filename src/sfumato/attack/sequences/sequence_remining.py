# SPDX-License-Identifier: MIT
"""Re-mining of sequences: look at and just below the threshold, where hidden patterns end up.

Against sequences in which patterns were hidden by changing as little as possible: a hidden pattern is then left in just
as many sequences as the threshold allows. What leaks is which patterns somebody wanted hidden. After Abul, Atzori,
Bonchi and Giannotti 2007, whose threshold is public.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import floor
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from sfumato.attack.attack import Attack, Outcome
from sfumato.baskets import Item
from sfumato.errors import PolicyError
from sfumato.mine.sequences.containment import list_elements, support
from sfumato.mine.sequences.subsequences import find_subsequences, list_named_patterns
from sfumato.progress import report_progress
from sfumato.public.marked_items import MARK
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.sequences import Sequences

NamedPattern = tuple[tuple[str, ...], ...]


class SequenceRemining(Attack):
    """A competitor knows the threshold below which patterns were hidden, and mines there.

    The adversary sees the published sequences and knows the thresholds, how many patterns were hidden, how long the
    longest is, and the limits on gaps and windows. It mines all patterns of at most that length down to a share of the
    threshold, ranks those that do not exceed it by how near they are, and names the nearest, as many as were hidden: of
    all, of those whose parts all exceed the threshold, or the longest first; the best ranking counts. The targets are
    the secret patterns that exceeded their threshold in the originals; a success is one that still does, or is named.
    The baseline names as many of the same patterns at random. Abul, Atzori, Bonchi, Giannotti 2007.
    """

    shape: ClassVar[str] = "sequences"
    public_fields: ClassVar[tuple[str, ...]] = ("threshold", "reach")
    private_fields: ClassVar[tuple[str, ...]] = ("patterns",)

    attack: Literal["sequence_remining"] = "sequence_remining"
    patterns: tuple[tuple[Any, ...], ...] = Field(default=(), repr=False)
    """The secret patterns to look for, lists of items or of item lists. Leave them out in a policy: the attack then
    looks for what the method hid."""
    threshold: int | float | None = Field(default=None, ge=0)
    """In how many sequences, or which share of them, a hidden pattern may be; by default what the release's method
    allows each."""
    reach: float = Field(default=0.5, gt=0, lt=1)
    """How far below the threshold it mines, as a share of it."""

    def run(
        self,
        release: Release,
        truth: Sequences,
        control: Sequences | None = None,
        randomness: Randomness | None = None,
    ) -> Outcome:
        """Count the secret patterns in the originals, and mine the release for where they are now."""
        published: Sequences = release.data
        limits = self._list_limits(release, len(truth))
        gap, window = (getattr(release.method, name, None) for name in ("max_gap", "window"))
        targets = {secret for secret, limit in limits.items() if _count(truth, secret, gap, window) > limit}
        shown = {secret for secret in targets if _count(published, secret, gap, window) > limits[secret]}
        hidden = targets - shown
        thresholds = sorted({limits[secret] for secret in hidden if limits[secret]})
        report_progress("mining below the threshold")
        mined: dict[NamedPattern, int] = {}
        if thresholds:
            least = max(1, int(thresholds[0] * (1 - self.reach)))
            longest = max(map(_measure_length, hidden))
            mined = _mine(published, least, thresholds[-1], longest, gap, window)
        below = _find_near(mined, thresholds, self.reach)
        guessed = max((hidden & set(names[: len(hidden)]) for names in _rank(below, mined)), key=len)
        drawn = min(len(hidden), len(below))
        seen = hidden & below.keys()
        return Outcome(
            attempts=len(targets),
            successes=len(shown) + len(guessed),
            baseline=len(shown) + (round(drawn * len(seen) / len(below)) if below else 0),
            control=None
            if control is None
            else sum(
                _count(control, secret, gap, window) * len(truth) > limits[secret] * len(control) for secret in targets
            ),
            facts={
                "visible": len(shown),
                "seen_below": len(seen),
                "guessed": len(guessed),
                "candidates": len(below),
                "at_threshold": sum(near.distance == 0 for near in below.values()),
            },
        )

    def _list_limits(self, release: Release, rows: int) -> dict[NamedPattern, int]:
        """The secret patterns, each with the largest support that it may have."""
        stated = {_name(pattern): int(limit) for pattern, limit in release.details.get("sensitive") or ()}
        secrets = [_name(pattern) for pattern in self.patterns] or list(stated)
        if not secrets:
            raise PolicyError("give the patterns that were hidden: the release does not state them")
        if self.threshold is not None:
            given = self.threshold
            return dict.fromkeys(secrets, given if isinstance(given, int) else floor(Fraction(repr(given)) * rows))
        if not stated:
            raise PolicyError("give the threshold: the release's method does not state it")
        largest = max(stated.values())
        return {secret: stated.get(secret, largest) for secret in secrets}


class _NearThreshold(NamedTuple):
    """The threshold that a pattern is nearest to without exceeding it, and how far it is."""

    threshold: int
    distance: int


def _find_near(
    mined: dict[NamedPattern, int], thresholds: list[int], reach: float
) -> dict[NamedPattern, _NearThreshold]:
    """Patterns that do not exceed one of the thresholds, and are within reach of it."""
    near: dict[NamedPattern, _NearThreshold] = {}
    for pattern, count in mined.items():
        threshold = next((limit for limit in thresholds if limit >= count), None)
        if threshold is not None and count >= int(threshold * (1 - reach)):
            near[pattern] = _NearThreshold(threshold, threshold - count)
    return near


def _name(pattern: Iterable[Any]) -> NamedPattern:
    return tuple(tuple(sorted(map(str, element))) for element in list_elements(pattern))


def _measure_length(pattern: NamedPattern) -> int:
    return sum(map(len, pattern))


def _count(sequences: Sequences, pattern: NamedPattern, max_gap: int | None, window: int | None) -> int:
    values: dict[str, Item] = {str(item): item for item in sequences.items}
    if not all(name in values for element in pattern for name in element):
        return 0
    return support(sequences, [[values[name] for name in element] for element in pattern], max_gap, window)


def _mine(
    sequences: Sequences, least: int, most: int, longest: int, max_gap: int | None, window: int | None
) -> dict[NamedPattern, int]:
    """Frequent patterns by the names of their items; none with a mark.

    Of those that exceed all thresholds, only what may be part of another is ever looked up.
    """
    found = find_subsequences(sequences, least, longest, max_gap, window)
    found = found.take((found.supports <= most) | (np.diff(found.offsets) < longest))
    patterns = zip(list_named_patterns(found), found.supports.tolist(), strict=True)
    return {pattern: count for pattern, count in patterns if not any(MARK in element for element in pattern)}


def _rank(below: dict[NamedPattern, _NearThreshold], mined: dict[NamedPattern, int]) -> Iterator[list[NamedPattern]]:
    """Rankings of what does not exceed a threshold; ties go to the longer pattern, then by name."""

    def has_rare_part(pattern: NamedPattern) -> bool:
        return any(mined.get(part, 0) <= below[pattern].threshold for part in _list_parts(pattern))

    nearest = sorted(below, key=lambda pattern: (below[pattern].distance, -_measure_length(pattern), pattern))
    yield nearest
    yield sorted(nearest, key=has_rare_part)
    yield sorted(nearest, key=lambda pattern: -_measure_length(pattern))


def _list_parts(pattern: NamedPattern) -> Iterator[NamedPattern]:
    """The pattern without one of its items, but not the empty one."""
    for place, element in enumerate(pattern):
        for number in range(len(element)):
            rest = element[:number] + element[number + 1 :]
            part = (*pattern[:place], *((rest,) if rest else ()), *pattern[place + 1 :])
            if part:
                yield part
