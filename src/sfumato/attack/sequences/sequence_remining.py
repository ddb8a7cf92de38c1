# SPDX-License-Identifier: MIT
"""Re-mining of sequences: look at and just below the threshold, where hidden patterns end up.

Against sequences in which patterns were hidden by changing as little as possible: a hidden pattern is then left in just
as many sequences as the threshold allows. What leaks is which patterns someone wanted hidden. After Abul, Atzori,
Bonchi and Giannotti 2007, whose threshold is public.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from math import floor
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from sfumato.attack.attack import Attack, Outcome, round_expected
from sfumato.attack.sequences.absent_patterns import rank_absent
from sfumato.attack.sequences.named_patterns import (
    NamedPattern,
    Ranking,
    count_blind_hits,
    count_named,
    measure_length,
)
from sfumato.attack.sequences.secret_patterns import (
    MinedPatterns,
    NearThreshold,
    explain_marks,
    find_near,
    mine_named,
    name_pattern,
    rank_patterns,
)
from sfumato.attack.sequences.vanished_patterns import find_vanished
from sfumato.baskets import Item
from sfumato.errors import PolicyError
from sfumato.mine.sequences.containment import support
from sfumato.public.marked_items import find_mark
from sfumato.public.thresholds import find_gap_limits
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences


class SequenceRemining(Attack):
    """A competitor knows the threshold below which patterns were hidden, and mines there.

    The adversary sees the published sequences and knows how many patterns were hidden, the threshold and the length of
    each, and the limits on gaps and windows. It mines all patterns of at most that length down to a share of the
    threshold, ranks those that do not exceed it, and names the first, as many as were hidden: the nearest, of those
    whose parts all exceed the threshold, the longest, what chance would make most frequent, what is most frequent the
    other way round, or what would be in most sequences with a mark Δ if that were filled in; for a threshold of 0, what
    occurs nowhere although its items are common. It names as many as it likes of each kind, or as many of each
    threshold, or of each threshold and length, as were hidden. Of patterns that it cannot distinguish it draws some,
    and is right as often as on average. The best ranking counts, blind guesses included. The targets are the secret
    patterns that exceeded their threshold in the originals; a success is one that still does, or is named. The baseline
    mines nothing: of each length, it draws as many as were hidden from all patterns of the published items. Abul,
    Atzori, Bonchi, Giannotti 2007.
    """

    shape: ClassVar[str] = "sequences"
    public_fields: ClassVar[tuple[str, ...]] = ("threshold", "reach")
    private_fields: ClassVar[tuple[str, ...]] = ("patterns",)

    attack: Literal["sequence_remining"] = "sequence_remining"
    patterns: tuple[tuple[Any, ...], ...] = Field(default=(), repr=False)
    """The secret patterns to look for, lists of items or of item lists. Leave them out in a policy: the attack then
    looks for what the method hid."""
    threshold: Annotated[int, Field(strict=True, ge=0)] | Annotated[float, Field(ge=0, le=1)] | None = None
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
        published_sequences: Sequences = release.data
        mark = find_mark(release, truth)
        targets = {secret for secret in self._list_secrets(release, len(truth)) if secret.exceeds_limit(truth)}
        shown_secrets = {secret for secret in targets if secret.exceeds_limit(published_sequences)}
        hidden_secrets = targets - shown_secrets
        report_progress("mining below the threshold")
        searches = [
            _SecretSearch.of(published_sequences, secrets, self.reach, mark)
            for secrets in _group_by_limits(hidden_secrets)
        ]
        blind_hits = count_blind_hits(published_sequences, [secret.pattern for secret in hidden_secrets], mark)
        named_count = max(blind_hits, sum((search.count_hits() for search in searches), Fraction(0)))
        near_distances = [distance for search in searches for _, distance in search.near_patterns.values()]
        return Outcome(
            attempts=len(targets),
            successes=round_expected(len(shown_secrets) + named_count),
            baseline=round_expected(blind_hits),
            control=None
            if control is None
            else sum(secret.count_in(control) * len(truth) > secret.limit * len(control) for secret in targets),
            facts={
                "visible": len(shown_secrets),
                "seen_below": sum(len(search.patterns & search.near_patterns.keys()) for search in searches),
                "guessed": round_expected(named_count),
                "candidates": len(near_distances),
                "at_threshold": near_distances.count(0),
            },
        )

    def _list_secrets(self, release: Release, rows: int) -> set[_Secret]:
        """The secret patterns, each with the largest support that it may have, and where that was to hold."""
        stated_secrets = _list_stated(release)
        patterns = [name_pattern(pattern) for pattern in self.patterns]
        if not patterns and not stated_secrets:
            raise PolicyError("give the patterns that were hidden: the release does not state them")
        if self.threshold is None and not stated_secrets:
            raise PolicyError("give the threshold: the release's method does not state it")
        if patterns:
            largest = max((secret.limit for secret in stated_secrets), default=0)
            other_patterns = set(patterns) - {secret.pattern for secret in stated_secrets}
            limits = stated_secrets[-1][2:] if stated_secrets else find_gap_limits(release)
            stated_secrets = [
                *(secret for secret in stated_secrets if secret.pattern in patterns),
                *(_Secret(pattern, largest, *limits) for pattern in other_patterns),
            ]
        if (threshold := self.threshold) is not None:
            limit = threshold if isinstance(threshold, int) else floor(Fraction(repr(threshold)) * rows)
            stated_secrets = [secret._replace(limit=limit) for secret in stated_secrets]
        strictest_secrets = {
            secret._replace(limit=0): secret for secret in sorted(stated_secrets, key=lambda secret: -secret.limit)
        }
        return set(strictest_secrets.values())


class _Secret(NamedTuple):
    """A pattern, and in how many sequences it may be, within which limits."""

    pattern: NamedPattern
    limit: int
    max_gap: int | None
    window: int | None

    def count_in(self, sequences: Sequences) -> int:
        values: dict[str, Item] = {str(item): item for item in sequences.items}
        if not all(name in values for element in self.pattern for name in element):
            return 0
        elements = [[values[name] for name in element] for element in self.pattern]
        return support(sequences, elements, self.max_gap, self.window)

    def exceeds_limit(self, sequences: Sequences) -> bool:
        return self.count_in(sequences) > self.limit


def _list_stated(release: Release) -> list[_Secret]:
    """What each method of a release hid, within its own limits on gaps and windows."""
    return [
        _Secret(name_pattern(pattern), int(limit), *find_gap_limits(step))
        for step in release.list_steps()
        for pattern, limit in step.details.get("sensitive") or ()
    ]


def _group_by_limits(secrets: Iterable[_Secret]) -> list[list[_Secret]]:
    """Secrets of the same limits on gaps and windows together: each kind is mined for."""
    groups: dict[tuple[int | None, int | None], list[_Secret]] = {}
    for secret in secrets:
        groups.setdefault((secret.max_gap, secret.window), []).append(secret)
    return list(groups.values())


class _SecretSearch(NamedTuple):
    """What the adversary suspects, who looks for some hidden patterns of the same limits."""

    secrets: list[_Secret]
    near_patterns: dict[NamedPattern, NearThreshold]
    near_rankings: list[Ranking]
    """Of what does not exceed a threshold above 0."""
    absent_rankings: list[Ranking]
    """Of what occurs nowhere."""

    @classmethod
    def of(cls, published_sequences: Sequences, secrets: list[_Secret], reach: float, mark: str) -> _SecretSearch:
        """Mine below thresholds above 0, and look for what is absent if there is a threshold of 0."""
        many, longest = len(secrets), max(measure_length(secret.pattern) for secret in secrets)
        max_gap, window = secrets[0].max_gap, secrets[0].window
        search = cls(secrets, {}, [], [])
        if thresholds := sorted({secret.limit for secret in secrets if secret.limit}):
            least = max(1, int(thresholds[0] * (1 - reach)))
            supports = mine_named(published_sequences, least, longest, max_gap, window, most=thresholds[-1], mark=mark)
            search.near_patterns.update(find_near(supports, thresholds, reach))
            mined_patterns = MinedPatterns(
                supports, dict(search.near_patterns), len(published_sequences), max_gap, window, mark
            )
            search.near_rankings.extend(rank_patterns(published_sequences, mined_patterns, many))
        if any(not secret.limit for secret in secrets):
            for vanished_patterns in find_vanished(published_sequences, longest, mark):
                search.near_patterns.update(vanished_patterns.near_patterns)
                search.absent_rankings.append(explain_marks(published_sequences, vanished_patterns, many))
            absent_rankings = rank_absent(published_sequences, longest, max_gap, window, mark)
            absent_patterns = (pattern for ranking in absent_rankings for tied in ranking for pattern in tied.patterns)
            search.near_patterns.update(dict.fromkeys(absent_patterns, NearThreshold(0, 0)))
            search.absent_rankings.extend(absent_rankings)
        return search

    @property
    def patterns(self) -> set[NamedPattern]:
        """The hidden patterns."""
        return {secret.pattern for secret in self.secrets}

    def count_hits(self) -> Fraction:
        """How many hidden patterns are named, at best: all of one kind, or some of each kind by its best ranking."""
        kinds = self.near_rankings, self.absent_rankings
        hits_alone = [self._count_best(rankings, lambda limit, length: None) for rankings in kinds]
        hits_by_kind = [
            max(self._count_best(rankings, classify) for classify in _CLASSIFICATIONS) for rankings in kinds
        ]
        return max(*hits_alone, sum(hits_by_kind, Fraction(0)))

    def _count_best(self, rankings: list[Ranking], classify: _Classify) -> Fraction:
        """By the best ranking, if as many of each class are named as were hidden."""
        places = Counter(classify(secret.limit, measure_length(secret.pattern)) for secret in self.secrets)

        def classify_pattern(pattern: NamedPattern) -> Hashable:
            return classify(self.near_patterns[pattern].threshold, measure_length(pattern))

        hits = [count_named(ranking, self.patterns, places, classify_pattern) for ranking in rankings]
        return max(hits, default=Fraction(0))


_Classify = Callable[[int, int], Hashable]
"""The class of a pattern by its threshold and its length."""
_CLASSIFICATIONS: tuple[_Classify, ...] = (
    lambda limit, length: limit > 0,
    lambda limit, length: limit,
    lambda limit, length: (limit, length),
)
