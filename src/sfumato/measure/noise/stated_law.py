# SPDX-License-Identifier: MIT
"""The stated distribution of noise, and how unlikely the published differences are under it.

Implemented independently of the method, so that its bugs cannot hide themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Floats
from sfumato.errors import PolicyError


@dataclass(frozen=True)
class StatedLaw:
    """The stated distribution of noise."""

    kind: str
    scale: float
    step: float

    def below(self, points: Floats) -> Floats:
        """The probability of less noise than this, before rounding."""
        if self.kind == "gaussian":
            from scipy.special import ndtr

            return np.asarray(ndtr(points / self.scale))
        if self.kind == "uniform":
            return np.clip((points / self.scale + 1) / 2, 0.0, 1.0)
        raise PolicyError(f'noise must be uniform or gaussian, not "{self.kind}"')

    def compute_chance_of_larger(self, size: Floats) -> Floats:
        """The probability that noise is further from 0."""
        return np.where(size <= 0, 1.0, 2 * self.below(-np.abs(size)))

    def rank(self, added: Floats) -> Floats:
        """The rank of noise in its distribution, from −½ to ½; rounded noise in the middle of its possible ranks."""
        return (self.below(added - self.step / 2) + self.below(added + self.step / 2) - 1) / 2

    def rank_size(self, added: Floats) -> Floats:
        """The rank of the size of noise in its distribution, from −½ to ½."""
        size = np.abs(added)
        return (
            1
            - self.compute_chance_of_larger(size - self.step / 2)
            - self.compute_chance_of_larger(size + self.step / 2)
        ) / 2


def bound_distance_chance(added: Floats, law: StatedLaw, blur: float) -> float:
    """A bound on the probability of a distance this large: 2 exp(−2 n d²)."""
    count = len(added)
    ranks = np.arange(count + 1) / count
    above, under = ranks[1:] - law.below(added + blur), law.below(added - blur) - ranks[:-1]
    far = max(0.0, float(above.max()), float(under.max()))
    return float(2 * np.exp(-2 * count * far**2))


def bound_size_chances(added: Floats, law: StatedLaw, blur: float) -> list[float]:
    """The probabilities that the i-th smallest and i-th largest size are this small, and this large; i = 1, 2, 4, …"""
    from scipy.special import betainc

    count, sizes = len(added), np.sort(np.abs(added))
    steps = 2 ** np.arange(int(np.log2(count)) + 1)
    ranks = np.unique(np.append(steps, count + 1 - steps))
    chosen = sizes[ranks - 1]
    small = betainc(ranks, count + 1 - ranks, 1 - law.compute_chance_of_larger(chosen + blur))
    large = betainc(count + 1 - ranks, ranks, law.compute_chance_of_larger(chosen - blur))
    return [*map(float, small), *map(float, large)]


def bound_crowding_chances(added: Floats, law: StatedLaw, blur: float) -> list[float]:
    """Bounds on the probability that 1, 2, 4, … others lie this close above some difference."""
    from scipy.special import bdtrc

    count = len(added)
    others = 2 ** np.arange(int(np.log2(count - 1)) + 1) if count > 1 else np.zeros(0, np.int64)
    close = np.array([(added[many:] - added[:-many]).min() for many in others]) / 2 + blur
    return [
        count * float(bdtrc(many - 1, count - 1, share))
        for many, share in zip(others.tolist(), 1 - law.compute_chance_of_larger(close), strict=True)
    ]
