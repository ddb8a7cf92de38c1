# SPDX-License-Identifier: MIT
"""How little the supports of frequent patterns must move if sequences are to be anonymous: the best of all releases.

The optimal problem of Pensa, Monreale, Pinelli and Pedreschi (2008) asks for a release in which no sequence is rarer
than k and every pattern that was k-frequent keeps its support. It often has no solution; then the sum of the
differences of supports is what is lost at least.

The optimum ranges over every multiset of at most as many sequences as there are originals in which whatever occurs
occurs at least k times and was k-frequent before. Such a release consists of k-frequent patterns of the originals and
of nothing else, since each published sequence occurs: so it is enough to say how often each of these patterns is
published, which an integer program does. Which person a sequence belongs to, and how far it is from that person's
original, does not count. It shares nothing with the methods, and is for small data: a program has as many columns as
there are frequent patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.errors import DataError, PolicyError
from sfumato.mine.sequences.containment import flag_rows
from sfumato.mine.sequences.subsequences import find_subsequences, list_patterns
from sfumato.sequences import Sequences

MOST_PATTERNS = 2_000
"""With more frequent patterns the program is too large to be worth a try."""


@dataclass(frozen=True)
class SupportOptimum:
    """The smallest sum of differences of supports, over the patterns that are k-frequent in the originals."""

    distance: int
    """The sum for the best release found."""
    bound: int
    """No release has a smaller sum."""
    release: Sequences
    """A release with that sum; its sequences belong to nobody."""

    @property
    def proven(self) -> bool:
        """Whether nothing is better than what was found."""
        return self.bound >= self.distance

    @property
    def gap(self) -> float:
        """By which share of it the sum found may be too large; 0 if it is proven."""
        return 0.0 if self.proven else (self.distance - self.bound) / self.distance


def support_optimum(sequences: Sequences, k: int, seconds: float = 30.0) -> SupportOptimum:
    """The anonymous release whose supports are closest to those of the originals, with a bound if time runs out.

    Compare it with the `support_distance` of `pattern_changes` at `min_support=k`.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 2:
        raise PolicyError("k must be a whole number, at least 2")
    if not len(sequences):
        raise DataError("there are no sequences to anonymize")
    subsequences = find_subsequences(sequences, k, at_most=MOST_PATTERNS, mark="")
    patterns = list_patterns(subsequences).to_list()
    program = _Program(_compare_patterns(patterns), subsequences.supports, k, len(sequences))
    counts, bound = program.solve(seconds)
    distance = program.measure(counts)
    published_patterns = [
        pattern for pattern, count in zip(patterns, counts.tolist(), strict=True) for _ in range(count)
    ]
    return SupportOptimum(distance, min(bound, distance), Sequences.of(published_patterns))


def _compare_patterns(patterns: list[list[Any]]) -> Ints:
    """Whether each pattern (rows) is contained in each (columns), as 0 or 1."""
    several = Sequences.of(patterns)
    flags = [flag_rows(several, pattern) for pattern in patterns]
    return np.array(flags, dtype=np.int64).reshape(len(patterns), len(patterns))


class _SupportSolution(NamedTuple):
    """How often each pattern is published, and a bound of the cost."""

    counts: Ints
    bound: int


@dataclass(frozen=True)
class _Program:
    """How often each frequent pattern is published, as an integer program."""

    containment: Ints
    supports: Ints
    k: int
    most: int

    def measure(self, counts: Ints) -> int:
        """The sum of differences of supports if each pattern is published so often."""
        return int(np.abs(self.containment @ counts - self.supports).sum())

    def solve(self, seconds: float) -> _SupportSolution:
        """How often each pattern is published, and a bound: publishing nothing if nothing was found in time.

        The columns are, for each pattern, how often it is published, whether it is, and by how much its support moves.
        """
        from scipy.optimize import Bounds, milp

        size = len(self.supports)
        if not size:
            return _SupportSolution(np.zeros(0, dtype=np.int64), 0)
        cost = np.concatenate([np.zeros(2 * size), np.ones(size)])
        highest = np.concatenate([np.full(size, self.most), np.ones(size), np.full(size, np.inf)])
        result = milp(
            cost,
            integrality=np.concatenate([np.ones(2 * size), np.zeros(size)]),
            bounds=Bounds(np.zeros(3 * size), highest),
            constraints=self._list_constraints(size),
            options={"time_limit": seconds},
        )
        lowest = result.mip_dual_bound
        bound = max(0, ceil(lowest - 1e-6)) if lowest is not None and np.isfinite(lowest) else 0
        if result.x is None:
            return _SupportSolution(np.zeros(size, dtype=np.int64), bound)
        return _SupportSolution(self._round(result.x[:size]), bound)

    def _list_constraints(self, size: int) -> list[Any]:
        from scipy.optimize import LinearConstraint
        from scipy.sparse import csr_array, eye_array, hstack

        containment, identity = csr_array(self.containment.astype(float)), eye_array(size)
        zeros = csr_array((size, size))
        return [
            LinearConstraint(hstack([containment, zeros, identity]), lb=self.supports),  # it moved down by no more
            LinearConstraint(hstack([containment, zeros, -identity]), ub=self.supports),  # nor up
            LinearConstraint(hstack([identity, -self.most * identity, zeros]), ub=0),  # what is published is marked
            LinearConstraint(hstack([containment, -self.k * identity, zeros]), lb=0),  # what is marked occurs k times
            LinearConstraint(np.concatenate([np.ones(size), np.zeros(2 * size)])[None, :], ub=self.most),
        ]

    def _round(self, values: Floats) -> Ints:
        """The solver's numbers as whole ones; an answer that is not anonymous after all is given up."""
        counts = np.rint(values).astype(np.int64)
        supports = self.containment @ counts
        is_anonymous = bool((supports[counts > 0] >= self.k).all()) and counts.sum() <= self.most
        return counts if is_anonymous else np.zeros_like(counts)
