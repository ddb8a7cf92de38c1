# SPDX-License-Identifier: MIT
"""The heaviest window: the guess that is most likely to be close to the true value behind a noisy one.

A guess counts as right within a tolerance. So the adversary, who knows a distribution of true values and how noise was
drawn, places a window of that width where it holds most of the posterior probability, and guesses its middle. It knows
the width and the distribution only roughly; a window whose rim counts less does not lean on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.attack.noise.noisy_numbers import ColumnPrior
from sfumato.public.noise_law import Noise

_PIECES = 400
_RIM = (0.6, 0.8, 1.0)
_TIE_SHARE = 1 - 1e-6


@dataclass(frozen=True, eq=False)
class HeaviestWindow:
    """Windows over small pieces of a distribution of true values."""

    prior: ColumnPrior
    noise: Noise
    reach: float
    """How far a window reaches to both sides of its middle."""
    soft: bool = False
    """Whether the rim of a window counts less than its core."""

    @cached_property
    def edges(self) -> Floats:
        """Of the pieces: the bins, cut further; whole numbers are not cut."""
        cuts = np.linspace(self.prior.low, self.prior.high, _PIECES + 1)
        if step := self.noise.step:
            cuts = (np.rint(cuts / step + 0.5) - 0.5) * step
        return np.unique(np.clip(np.concatenate([self.prior.edges, cuts]), self.prior.low, self.prior.high))

    @cached_property
    def middles(self) -> Floats:
        """Where a window may have its middle: in the middle of a piece, or between two."""
        pieces = (self.edges[:-1] + self.edges[1:]) / 2
        return np.sort(np.concatenate([pieces, self.edges[1:-1]]))

    @cached_property
    def density(self) -> Floats:
        """The prior density of each piece."""
        pieces = (self.edges[:-1] + self.edges[1:]) / 2
        bins = np.clip(np.searchsorted(self.prior.edges, pieces) - 1, 0, len(self.prior.density) - 1)
        return self.prior.density[bins]

    def _find_ends(self, reach: float) -> tuple[Ints, Ints]:
        """The first piece of each window, and the first one after it."""
        pieces, slack = (self.edges[:-1] + self.edges[1:]) / 2, 1e-9 * (self.prior.high - self.prior.low)
        first = np.searchsorted(pieces, self.middles - reach - slack)
        return first, np.searchsorted(pieces, self.middles + reach + slack, side="right")

    def _weigh(self, mass_sums: Floats) -> Floats:
        """The weight of each window, from the running sums of the pieces."""
        weight = np.zeros((len(mass_sums), len(self.middles)))
        for share in _RIM if self.soft else (1.0,):
            first, end = self._find_ends(share * self.reach)
            weight += mass_sums[:, end] - mass_sums[:, first]
        return weight

    def estimate(self, published_numbers: Floats) -> Floats:
        """The middle of the heaviest window for each published value; NaN where no true value is possible."""
        differences = published_numbers[:, None] - self.edges
        # Far above its mean a distribution function is 1 to all digits: mirror it there.
        mirrored_mass = np.diff(self.noise.cumulate(-differences), axis=1)
        mass = self.density * np.where(
            differences[:, 1:] > 0, mirrored_mass, -np.diff(self.noise.cumulate(differences), axis=1)
        )
        mass_sums = np.concatenate([np.zeros((len(mass), 1)), np.cumsum(mass, axis=1)], axis=1)
        weight = self._weigh(mass_sums)
        # Of equally heavy neighbours the middle one: an error in the reach then matters least.
        best = weight >= weight.max(axis=1, keepdims=True) * _TIE_SHARE
        start = best.argmax(axis=1)
        stops = ~best & (np.arange(len(self.middles)) > start[:, None])
        end = np.where(stops.any(axis=1), stops.argmax(axis=1), len(self.middles)) - 1
        return np.where(mass_sums[:, -1] > 0, (self.middles[start] + self.middles[end]) / 2, np.nan)
