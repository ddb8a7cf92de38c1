# SPDX-License-Identifier: MIT
"""Random numbers by the row: a secret, a name and the number of a row decide them, and nothing else.

A row's numbers are the block of AES-256 at its number under a key of the name's own. So they do not depend on how a
table is cut into batches, on which machine or how often a row is done again, and no two rows or names share them.
Without the secret nobody can compute any; the secret is drawn for one run, and is not kept.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Floats, Words
from sfumato.private.run_secret import RunSecret

_BLOCK = 16


@dataclass(frozen=True, eq=False, repr=False)
class RowDraws:
    """A source of two words for each row and name."""

    secret: bytes

    def __post_init__(self) -> None:
        """Keep the secret out of whatever this is sent or shown with."""
        object.__setattr__(self, "secret", RunSecret(self.secret))

    def draw_words(self, name: str, first: int, count: int) -> Words:
        """The random words of consecutive rows, starting at a row number: one row of two words for each."""
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import AES256
        from cryptography.hazmat.primitives.ciphers.modes import CTR

        key = hashlib.blake2b(name.encode(), key=self.secret, digest_size=32, person=b"row draws").digest()
        stream = Cipher(AES256(key), CTR(first.to_bytes(_BLOCK, "big"))).encryptor().update(bytes(_BLOCK * count))
        return np.frombuffer(stream, dtype="<u8").reshape(count, 2)


def shape_uniform(words: Words) -> Floats:
    """Numbers from 0 to 1, 1 not included."""
    return np.asarray((words >> np.uint64(11)) * 2.0**-53)


def shape_normal(words: Words) -> Floats:
    """Standard normal numbers: the size by its rank, which has 52 bits in the tails too, then the sign."""
    from scipy.special import ndtri

    ranks = ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-53
    return np.asarray(np.where(words & np.uint64(1), -1.0, 1.0) * ndtri(ranks))
