# SPDX-License-Identifier: MIT
"""Re-mining of sequences: look at and just below the threshold, where hidden patterns end up.

Against sequences in which patterns were hidden by changing as little as possible: a hidden pattern is then left in just
as many sequences as the threshold allows. What leaks is which patterns someone wanted hidden. After Abul, Atzori,
Bonchi and Giannotti 2007, whose threshold is public.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from sfumato.attack.attack import Attack, Outcome, round_expected
from sfumato.attack.sequences.absent_patterns import rank_absent
from sfumato.attack.sequences.secret_patterns import (
    MinedPatterns,
    NamedPattern,
    NearThreshold,
    explain_marks,
    find_near,
    measure_length,
    mine_named,
    name_pattern,
    rank_patterns,
)
from sfumato.attack.sequences.vanished_patterns import find_vanished
from sfumato.baskets import Item
from sfumato.errors import PolicyError
from sfumato.mine.sequences.containment import support
from sfumato.progress import report_progress
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.sequences import Sequences


class SequenceRemining(Attack):
    """A competitor knows the threshold below which patterns were hidden, and mines there.

    The adversary sees the published sequences and knows the thresholds, how many patterns were hidden, how long the
    longest is, and the limits on gaps and windows. It mines all patterns of at most that length down to a share of the
    threshold, ranks those that do not exceed it, and names the first, as many as were hidden: the nearest, of those
    whose parts all exceed the threshold, the longest, what chance would make most frequent, what is most frequent the
    other way round, or what would be in most sequences with a mark Δ if that were filled in; for a threshold of 0, what
    occurs nowhere although its items are common. The best ranking counts. The targets are the secret patterns that
    exceeded their threshold in the originals; a success is one that still does, or is named. The baseline names as many
    of the same patterns at random. Abul, Atzori, Bonchi, Giannotti 2007.
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
        limits = self._list_limits(release, len(truth))
        gap, window = (getattr(release.method, name, None) for name in ("max_gap", "window"))
        targets = {secret for secret, limit in limits.items() if _count(truth, secret, gap, window) > limit}
        shown_secrets = {
            secret for secret in targets if _count(published_sequences, secret, gap, window) > limits[secret]
        }
        hidden_secrets = targets - shown_secrets
        thresholds = sorted({limits[secret] for secret in hidden_secrets if limits[secret]})
        report_progress("mining below the threshold")
        supports: dict[NamedPattern, int] = {}
        if thresholds:
            least = max(1, int(thresholds[0] * (1 - self.reach)))
            longest = max(map(measure_length, hidden_secrets))
            supports = mine_named(published_sequences, least, longest, gap, window, most=thresholds[-1])
        near_patterns = find_near(supports, thresholds, self.reach)
        rankings = [
            *rank_patterns(
                published_sequences,
                MinedPatterns(supports, near_patterns, len(published_sequences), gap, window),
                len(hidden_secrets),
            )
        ]
        if any(not limits[secret] for secret in hidden_secrets):
            longest = max(map(measure_length, hidden_secrets))
            for vanished_patterns in find_vanished(published_sequences, longest):
                near_patterns |= vanished_patterns.near_patterns
                rankings.append(explain_marks(published_sequences, vanished_patterns, len(hidden_secrets)))
            absent = rank_absent(published_sequences, longest, gap, window)
            near_patterns |= {pattern: NearThreshold(0, 0) for names in absent for pattern in names}
            rankings += absent
        guessed_secrets = max((hidden_secrets & set(names[: len(hidden_secrets)]) for names in rankings), key=len)
        draws = min(len(hidden_secrets), len(near_patterns))
        seen_secrets = hidden_secrets & near_patterns.keys()
        return Outcome(
            attempts=len(targets),
            successes=len(shown_secrets) + len(guessed_secrets),
            baseline=round_expected(draws * len(seen_secrets) / len(near_patterns)) if near_patterns else 0,
            control=None
            if control is None
            else sum(
                _count(control, secret, gap, window) * len(truth) > limits[secret] * len(control) for secret in targets
            ),
            facts={
                "visible": len(shown_secrets),
                "seen_below": len(seen_secrets),
                "guessed": len(guessed_secrets),
                "candidates": len(near_patterns),
                "at_threshold": sum(near_threshold.distance == 0 for near_threshold in near_patterns.values()),
            },
        )

    def _list_limits(self, release: Release, rows: int) -> dict[NamedPattern, int]:
        """The secret patterns, each with the largest support that it may have."""
        stated_limits = {name_pattern(pattern): int(limit) for pattern, limit in release.details.get("sensitive") or ()}
        secrets = [name_pattern(pattern) for pattern in self.patterns] or list(stated_limits)
        if not secrets:
            raise PolicyError("give the patterns that were hidden: the release does not state them")
        if self.threshold is not None:
            threshold = self.threshold
            return dict.fromkeys(
                secrets, threshold if isinstance(threshold, int) else floor(Fraction(repr(threshold)) * rows)
            )
        if not stated_limits:
            raise PolicyError("give the threshold: the release's method does not state it")
        largest = max(stated_limits.values())
        return {secret: stated_limits.get(secret, largest) for secret in secrets}


def _count(sequences: Sequences, pattern: NamedPattern, max_gap: int | None, window: int | None) -> int:
    values: dict[str, Item] = {str(item): item for item in sequences.items}
    if not all(name in values for element in pattern for name in element):
        return 0
    return support(sequences, [[values[name] for name in element] for element in pattern], max_gap, window)
