# SPDX-License-Identifier: MIT
"""The source of random numbers: a cipher keyed by the operating system, or a seed for experiments.

Anyone who learns the seed can remove seeded noise, so a release made with it is marked
"not for publication".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sfumato.errors import PolicyError
from sfumato.private.keystream import KeystreamBits, make_keystream_generator


@dataclass(frozen=True, slots=True)
class Randomness:
    """A source of random numbers for a method; a release never holds it."""

    seed: int | None = field(default=None, repr=False)
    """The seed of a repeatable source; None if it is secure."""
    _generator: np.random.Generator = field(default_factory=make_keystream_generator, repr=False)

    @classmethod
    def secure(cls) -> Randomness:
        """AES-256 in counter mode under a key of the operating system: nobody can predict or repeat it.

        It can be neither pickled nor copied, and a forked process continues with its own key.
        """
        return cls()

    @classmethod
    def seeded(cls, seed: int) -> Randomness:
        """Repeatable random numbers, for tests and experiments."""
        return cls(seed, np.random.Generator(np.random.PCG64DXSM(seed)))

    @property
    def for_publication(self) -> bool:
        """Whether results may be published: only if nobody can repeat the draws."""
        bits: object = self._generator.bit_generator
        return self.seed is None and isinstance(bits, KeystreamBits)

    def generator(self) -> np.random.Generator:
        """A numpy generator that continues after the last draw."""
        bits: object = self._generator.bit_generator
        if isinstance(bits, KeystreamBits):
            bits.renew_if_forked()
        return self._generator


def refuse_other_randomness(randomness: object, *fitting_types: type) -> None:
    """Say what to give in place of a seed or a generator of numpy, without showing it; other types may be allowed."""
    if randomness is not None and not isinstance(randomness, (Randomness, *fitting_types)):
        raise PolicyError(
            "randomness must be sf.Randomness.secure(), the default, or sf.Randomness.seeded(7) for tests"
        )
