# SPDX-License-Identifier: MIT
"""Where chance comes from: a cipher keyed by the operating system, unless an experiment asks for a seed.

Seeded noise can be taken off again by whoever learns the seed, so a release made with it is marked
"not for publication".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sfumato.keystream import KeystreamBits, make_keystream_generator


@dataclass(frozen=True, slots=True)
class Randomness:
    """A source of chance, handed to a method; it is never kept in a release."""

    seed: int | None = field(default=None, repr=False)
    """The seed of a repeatable source; None if it is secure."""
    _generator: np.random.Generator = field(default_factory=make_keystream_generator, repr=False)

    @classmethod
    def secure(cls) -> Randomness:
        """AES-256 in counter mode under a key of the operating system: nobody can foretell or repeat it.

        It can be neither pickled nor copied, and a forked process goes on with a key of its own.
        """
        return cls()

    @classmethod
    def seeded(cls, seed: int) -> Randomness:
        """The same chance again and again, for tests and experiments."""
        return cls(seed, np.random.Generator(np.random.PCG64DXSM(seed)))

    @property
    def for_publication(self) -> bool:
        """Whether what is made with it may be published: only if nobody can draw the same again."""
        bits: object = self._generator.bit_generator
        return self.seed is None and isinstance(bits, KeystreamBits)

    def generator(self) -> np.random.Generator:
        """A numpy generator that goes on where the last draw stopped."""
        bits: object = self._generator.bit_generator
        if isinstance(bits, KeystreamBits):
            bits.renew_if_forked()
        return self._generator
