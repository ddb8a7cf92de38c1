# SPDX-License-Identifier: MIT
"""What is at risk in sequences: who is found by a few points of theirs, and what only one sequence holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.attack.sequences.sequence_linking import SequenceLinking
from sfumato.errors import DataError, PolicyError
from sfumato.measure.sequences.sequence_checks import sequence_anonymity
from sfumato.mine.sequences.subsequences import find_subsequences
from sfumato.release import Release
from sfumato.report.words.wording import spell_percent
from sfumato.runtime.progress import report_progress
from sfumato.sequences import PointCounts, Sequences

POINTS = (1, 2, 3)
"""How many points of a sequence the adversary knows."""
PEOPLE = 500
"""How many people are looked for."""
MOST_PATTERNS = 2_000_000
"""With more patterns of one or two items than this, the rare ones are not counted."""


@dataclass(frozen=True)
class KnownPointRisk:
    """How many people are found by this many points of their sequence, in order, drawn at random."""

    points: int
    unique_share: float


@dataclass(frozen=True, repr=False)
class SequenceAudit:
    """What an adversary could do with sequences."""

    source: str
    """Where they came from."""
    sequences: int
    """The number of sequences."""
    empty: int
    """How many of them have no element."""
    elements: int
    """The number of elements of all sequences together."""
    shortest: int
    """The least number of elements of a sequence."""
    median_length: float
    """The median number."""
    longest: int
    """The largest number."""
    items: int
    """How many different items there are."""
    rare_items: int
    """How many of these only one sequence holds."""
    people: int
    """How many people were looked for, drawn at random: everybody, if there are no more."""
    known_points: tuple[KnownPointRisk, ...]
    """The share of them who are found, for each number of known points."""
    k: int
    """The least number of sequences that contain a whole sequence: each one's own, and those that go on from it."""
    patterns: int | None
    """How many patterns of one or two items occur; None if there are too many to count."""
    rare_patterns: int | None
    """How many of these occur in one sequence only."""
    points: PointCounts | None = None
    """How many points the sequences were made of and how many lie in no region, if they come from points."""

    def __repr__(self) -> str:
        """Counts and the first sentence."""
        return f"SequenceAudit({self.source}: {self.sequences:,} sequences. {self.list_sentences()[0]})"

    def as_json(self) -> dict[str, Any]:
        """The audit as JSON."""
        return {**asdict(self), "points": None if self.points is None else self.points._asdict()}

    def list_sentences(self) -> tuple[str, ...]:
        """The audit in words."""
        shares = ", ".join(f"{spell_percent(risk.unique_share)} by {risk.points}" for risk in self.known_points)
        clause = "these are found by points of their sequence, known in order"
        sentences = [f"Of {self.people:,} people who were looked for, {clause}: {shares}."]
        if any(risk.unique_share for risk in self.known_points):
            sentences.append("A person who is found by some points reveals all others.")
        if self.rare_items:
            sentences.append(
                f"{self.rare_items:,} of {self.items:,} items {_conjugate_be(self.rare_items)} in one sequence only."
            )
        if self.patterns is None:
            sentences.append("There are too many patterns of one or two items to count those that are rare.")
        elif self.rare_patterns:
            counts = f"{self.rare_patterns:,} of {self.patterns:,} patterns of one or two items"
            sentences.append(f"{counts} {_conjugate_be(self.rare_patterns)} in one sequence only.")
        if self.k > 1:
            sentences.append(f"Every sequence as a whole is contained in at least {self.k:,} (k = {self.k:,}).")
        else:
            sentences.append("Some sequences as a whole are contained in no other (k = 1).")
        if self.points is not None and self.points.left_out:
            sentences.append(self.points.describe())
        return tuple(sentences)


def audit_sequences(sequences: Sequences, source: str = "the sequences") -> SequenceAudit:
    """Examine sequences as an adversary would, before protecting them."""
    lengths = np.diff(sequences.offsets)
    if not lengths.any():
        raise DataError(f"{source}: there are {lengths.size} sequences and none has an item; add some")
    report_progress("looking for people")
    linking = SequenceLinking(points=POINTS, attempts=PEOPLE)
    outcome = linking.run(Release(sequences, None, (), {}), sequences)
    shares = zip(POINTS, outcome.facts["unique_before"], strict=True)
    report_progress("counting rare patterns")
    rare = _count_short_patterns(sequences)
    return SequenceAudit(
        source=source,
        sequences=lengths.size,
        empty=int((lengths == 0).sum()),
        elements=int(lengths.sum()),
        shortest=int(lengths.min()),
        median_length=float(np.median(lengths)),
        longest=int(lengths.max()),
        items=len(sequences.items),
        rare_items=_count_rare_items(sequences),
        people=outcome.attempts,
        known_points=tuple(KnownPointRisk(points, share) for points, share in shares),
        k=sequence_anonymity(sequences),
        patterns=None if rare is None else rare[0],
        rare_patterns=None if rare is None else rare[1],
        points=sequences.points,
    )


def _conjugate_be(count: int) -> str:
    return "is" if count == 1 else "are"


def _count_rare_items(sequences: Sequences) -> int:
    owners = np.repeat(np.arange(len(sequences)), np.diff(sequences.element_offsets[sequences.offsets]))
    owner_items = np.unique(owners * len(sequences.items) + sequences.codes)
    return int((np.bincount(owner_items % len(sequences.items)) == 1).sum())


def _count_short_patterns(sequences: Sequences) -> tuple[int, int] | None:
    """How many patterns of one or two items occur, and how many of them once."""
    try:
        patterns = find_subsequences(sequences, 1, max_length=2, at_most=MOST_PATTERNS, mark="")
    except PolicyError:
        return None
    return len(patterns), int((patterns.supports == 1).sum())
