# SPDX-License-Identifier: MIT
"""How many published rows fit the people who were looked up: what facts and gates say of single persons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sfumato.arrays import Ints


class MatchSizes(NamedTuple):
    """How many rows fit the people, in the strongest way."""

    people: int
    """People whom some row fits."""
    unique: int
    """People whom one row fits."""
    smallest: int
    """The fewest rows that fit someone; 0 if nobody is matched."""

    @classmethod
    def of(cls, counts: Ints) -> MatchSizes:
        """From how many rows fit each person."""
        matched_counts = counts[counts > 0]
        smallest = int(matched_counts.min()) if len(matched_counts) else 0
        return cls(len(matched_counts), int((matched_counts == 1).sum()), smallest)

    @property
    def highest_risk(self) -> float:
        """How likely the person is found whom the fewest rows fit."""
        return 1 / self.smallest if self.smallest else 0.0

    def join(self, other: MatchSizes) -> MatchSizes:
        """With what less knowledge finds: who knows more may know less, so no person is safer."""
        smallest = min((size for size in (self.smallest, other.smallest) if size), default=0)
        return MatchSizes(self.people, max(self.unique, other.unique), smallest)

    def state_facts(self, names: Sequence[str]) -> dict[str, Any]:
        """For the report."""
        return {
            "matched": self.people,
            "unique_matches": self.unique,
            "smallest_match": self.smallest,
            "highest_risk": self.highest_risk,
            "knowledge": list(names),
        }
