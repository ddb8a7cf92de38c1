# SPDX-License-Identifier: MIT
"""Chance that can be had again: a secret from which everybody's randomized answer follows.

Who is asked twice must say the same twice, or the average of the answers tells the truth. Instead of keeping every
answer, each is drawn from a keyed hash of who is asked, about what, by which channel, and what is true. Without the
secret the draws look like chance; with it they are the same in every release. A truth that changed is a new question,
and so is the same one under another p: draws that depended on each other would tell more than both answers do alone.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from sfumato.arrays import Bytes, Floats, Ints
from sfumato.data.hierarchy import spell_cells
from sfumato.errors import DataError
from sfumato.key import Key
from sfumato.progress import report_progress
from sfumato.public.answer_channel import AnswerChannel
from sfumato.public.sealed_key import draw_bytes, seal_key, unseal_key
from sfumato.randomness import Randomness

METHOD = "randomize_response"
_TOKEN, _BLOCK = 12, 16
_CHUNK = 100_000


def draw_memory(randomness: Randomness) -> Key:
    """A secret of 256 bits for answers."""
    return seal_key(METHOD, {"answers": draw_bytes(randomness).hex(), "seeded": not randomness.for_publication})


def read_memory(path: str) -> Key:
    """The secret in a file. If there is no file it is made, of the operating system's entropy whatever the seed."""
    file = Path(path)
    if not os.path.lexists(file):  # a link that leads nowhere is a key that is missing: a new one would answer anew
        made = draw_memory(Randomness.secure())
        try:
            made.save(file)
        except DataError:
            if not file.exists():  # else another run made it in the meantime
                raise
        else:
            return made
    return Key.load(file)


@dataclass(frozen=True, eq=False, repr=False)
class AnswerDraws:
    """Draws for the rows of a table: by who is asked, or row by row where nobody is known."""

    secret: bytes
    people: tuple[str, ...] | None
    """Who is asked in each row; None where every row is asked by itself."""

    @classmethod
    def draw_afresh(cls, randomness: Randomness) -> AnswerDraws:
        """Draws that nobody can have again."""
        return cls(draw_bytes(randomness), None)

    @classmethod
    def of(cls, secret: bytes, frame: pl.DataFrame, person: Sequence[str]) -> AnswerDraws:
        """Draws by the columns that tell who somebody is."""
        return cls(secret, tuple(_join_row_cells([spell_cells(frame[name]) for name in person])))

    def tokens(self, column: str, channel: AnswerChannel, truth: pl.Series, rows: Ints) -> Bytes:
        """Twelve bytes for each of some rows that are the same for the same person, question and truth."""
        if self.people is None:
            tokens = np.zeros((len(rows), _TOKEN), dtype=np.uint8)
            tokens[:, :8] = rows.astype("<u8").view(np.uint8).reshape(-1, 8)
            return tokens
        question = hashlib.blake2b(self._question(column, channel, b"who"), key=self.secret, digest_size=32).digest()
        asked = hashlib.blake2b(key=question, digest_size=_TOKEN)
        made, people, truths = [], self.people, _join_row_cells([truth])
        for index, row in enumerate(rows.tolist()):
            if index % _CHUNK == 0:
                report_progress("asking everybody", index, len(rows))
            hasher = asked.copy()
            hasher.update(f"{people[row]}|{truths[row]}".encode())
            made.append(hasher.digest())
        return np.frombuffer(b"".join(made), dtype=np.uint8).reshape(-1, _TOKEN)

    def uniform(self, column: str, channel: AnswerChannel, tokens: Bytes, width: int) -> Floats:
        """Numbers between 0 and 1, `width` for each token: AES over the token and a counter."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        key = hashlib.blake2b(self._question(column, channel, b"what"), key=self.secret, digest_size=32).digest()
        count = (width + 1) // 2
        blocks = np.empty((len(tokens), count, _BLOCK), dtype=np.uint8)
        blocks[:, :, :_TOKEN] = tokens[:, None, :]
        blocks[:, :, _TOKEN:] = np.arange(count, dtype="<u4").view(np.uint8).reshape(count, 4)
        # Each block is enciphered once under a key of its own purpose: a cipher as a random function.
        stream = np.empty(blocks.nbytes + _BLOCK, dtype=np.uint8)
        Cipher(algorithms.AES(key), modes.ECB()).encryptor().update_into(blocks.data, stream.data)
        numbers = stream[: blocks.nbytes].view("<u8").reshape(len(tokens), 2 * count)[:, :width]
        return np.asarray((numbers >> np.uint64(11)) * 2.0**-53)

    @staticmethod
    def _question(column: str, channel: AnswerChannel, use: bytes) -> bytes:
        question = [column, channel.kind, repr(channel.p), repr(channel.q), channel.categories]
        return use + json.dumps(question).encode()


def open_memory(key: Key) -> bytes:
    """The secret in a key; one that was changed, or another method's, is refused."""
    return bytes.fromhex(unseal_key(key, METHOD)["answers"])


def _join_row_cells(columns: Sequence[pl.Series]) -> list[str]:
    """The cells of each row as one text: no two different rows give the same."""
    parts = [
        pl.when(pl.col(str(index)).is_null())
        .then(pl.lit("-"))
        .otherwise(pl.concat_str(pl.col(str(index)).str.len_bytes().cast(pl.String), pl.lit(":"), pl.col(str(index))))
        for index in range(len(columns))
    ]
    frame = pl.DataFrame([column.alias(str(index)) for index, column in enumerate(columns)])
    return frame.select(pl.concat_str(parts)).to_series().to_list()
