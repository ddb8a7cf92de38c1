# SPDX-License-Identifier: MIT
"""Where chance comes from: the operating system, unless an experiment asks for a seed.

Seeded noise can be taken off again by whoever learns the seed, so a release made with it is marked
«not for publication».
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, slots=True)
class Randomness:
    """A source of chance, handed to a method; it is never kept in a release."""

    seed: int | None = field(default=None, repr=False)
    _generator: np.random.Generator = field(
        default_factory=lambda: np.random.Generator(np.random.PCG64DXSM(secrets.randbits(256))), repr=False
    )

    @classmethod
    def secure(cls) -> Randomness:
        """Fresh entropy of the operating system, not to be repeated."""
        return cls()

    @classmethod
    def seeded(cls, seed: int) -> Randomness:
        """The same chance again and again, for tests and experiments."""
        return cls(seed, np.random.Generator(np.random.PCG64DXSM(seed)))

    @property
    def for_publication(self) -> bool:
        """Whether what is made with it may leave the house."""
        return self.seed is None

    def generator(self) -> np.random.Generator:
        """A numpy generator that goes on where the last draw stopped."""
        return self._generator
