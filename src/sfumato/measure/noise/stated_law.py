# SPDX-License-Identifier: MIT
"""The stated distribution of noise, and how unlikely the published differences are under it.

Implemented independently of the method, so that its bugs cannot hide themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.errors import PolicyError

_PART = 1 << 20
"""How many numbers are looked at at once: differences of a large table lie in a file."""


@dataclass(frozen=True)
class StatedLaw:
    """The stated distribution of noise."""

    kind: str
    scale: float
    step: float

    def cumulate_before_rounding(self, points: Floats) -> Floats:
        """The probability of less noise than this, before rounding."""
        if self.kind == "gaussian":
            from scipy.special import ndtr

            return np.asarray(ndtr(points / self.scale))
        if self.kind == "uniform":
            return np.clip((points / self.scale + 1) / 2, 0.0, 1.0)
        raise PolicyError(f'noise must be uniform or gaussian, not "{self.kind}"')

    def compute_chance_of_larger(self, size: Floats) -> Floats:
        """The probability that noise is further from 0."""
        return np.where(size <= 0, 1.0, 2 * self.cumulate_before_rounding(-np.abs(size)))

    def rank(self, differences: Floats) -> Floats:
        """The rank of noise in its distribution, from −½ to ½; rounded noise in the middle of its possible ranks."""
        return (
            self.cumulate_before_rounding(differences - self.step / 2)
            + self.cumulate_before_rounding(differences + self.step / 2)
            - 1
        ) / 2

    def rank_size(self, differences: Floats) -> Floats:
        """The rank of the size of noise in its distribution, from −½ to ½."""
        size = np.abs(differences)
        return (
            1
            - self.compute_chance_of_larger(size - self.step / 2)
            - self.compute_chance_of_larger(size + self.step / 2)
        ) / 2


def judge_differences(differences: Floats, law: StatedLaw, blur: float) -> float:
    """By how many standard errors sorted differences deviate from a law: the rarest of all tests, for their number."""
    from scipy.special import ndtri

    answers = [
        bound_distance_chance(differences, law, blur),
        *bound_size_chances(differences, law, blur),
        *bound_crowding_chances(differences, law, blur),
    ]
    rare = float(np.clip(len(answers) * min(answers), 1e-300, 1.0))
    return round(-float(ndtri(rare / 2)), 12) + 0.0


def bound_distance_chance(differences: Floats, law: StatedLaw, blur: float) -> float:
    """A bound on the probability of a distance this large: 2 exp(−2 n d²)."""
    count, far = len(differences), 0.0
    for part in split_into_parts(count):
        ranks = np.arange(part.start, part.stop + 1) / count
        gaps_above, gaps_below = (
            ranks[1:] - law.cumulate_before_rounding(differences[part] + blur),
            law.cumulate_before_rounding(differences[part] - blur) - ranks[:-1],
        )
        far = max(far, float(gaps_above.max()), float(gaps_below.max()))
    return float(2 * np.exp(-2 * count * far**2))


def bound_size_chances(differences: Floats, law: StatedLaw, blur: float) -> list[float]:
    """The probabilities that the i-th smallest and i-th largest size are this small, and this large; i = 1, 2, 4, …"""
    from scipy.special import betainc

    count = len(differences)
    steps = 2 ** np.arange(int(np.log2(count)) + 1)
    ranks = np.unique(np.append(steps, count + 1 - steps))
    picked_distances = pick_distances(differences, 0.0, ranks)
    small = betainc(ranks, count + 1 - ranks, 1 - law.compute_chance_of_larger(picked_distances + blur))
    large = betainc(count + 1 - ranks, ranks, law.compute_chance_of_larger(picked_distances - blur))
    return [*map(float, small), *map(float, large)]


def bound_crowding_chances(differences: Floats, law: StatedLaw, blur: float) -> list[float]:
    """Bounds on the probability that 1, 2, 4, … others lie this close above some difference."""
    from scipy.special import bdtrc

    count = len(differences)
    neighbour_counts = 2 ** np.arange(int(np.log2(count - 1)) + 1) if count > 1 else np.zeros(0, np.int64)
    close = np.array([find_narrowest(differences, many) for many in neighbour_counts.tolist()]) / 2 + blur
    return [
        count * float(bdtrc(many - 1, count - 1, share))
        for many, share in zip(neighbour_counts.tolist(), 1 - law.compute_chance_of_larger(close), strict=True)
    ]


def split_into_parts(count: int) -> Iterator[slice]:
    """Parts of an array that may lie in a file."""
    return (slice(begin, min(begin + _PART, count)) for begin in range(0, count, _PART))


def find_narrowest(sorted_numbers: Floats, rank_gap: int) -> float:
    """The least distance between two sorted numbers that are this many places apart."""
    parts = split_into_parts(len(sorted_numbers) - rank_gap)
    return min(
        float((sorted_numbers[part.start + rank_gap : part.stop + rank_gap] - sorted_numbers[part]).min())
        for part in parts
    )


def pick_distances(sorted_numbers: Floats, centre: float, ranks: Ints) -> Floats:
    """Of the distances of sorted numbers from a centre, those of some ranks, 1 for the smallest; without sorting."""
    split = int(np.searchsorted(sorted_numbers, centre))
    return np.array([_pick_distance(sorted_numbers, centre, split, rank) for rank in ranks.tolist()])


def _pick_distance(sorted_numbers: Floats, centre: float, split: int, rank: int) -> float:
    """Numbers below the centre, backwards, and above it are two ascending lists of distances: search where to cut."""
    low, high = max(0, rank - (len(sorted_numbers) - split)), min(rank, split)
    while low < high:
        middle = (low + high) // 2
        if centre - sorted_numbers[split - 1 - middle] < sorted_numbers[split + rank - middle - 1] - centre:
            low = middle + 1
        else:
            high = middle
    ends = [centre - sorted_numbers[split - low]] if low else []
    ends += [sorted_numbers[split + rank - low - 1] - centre] if rank > low else []
    return float(max(ends))
