# SPDX-License-Identifier: MIT
"""Repeatable randomness: a secret that determines everybody's randomized answer.

A person who is asked twice must give the same answer twice; otherwise the average of the answers reveals the truth.
Instead of storing answers, each is drawn from a keyed hash of the person, the question, the channel and the truth.
Without the secret the draws look random; with it they are the same in every release. A changed truth is a new question,
and so is the same question with another p: dependent draws would disclose more than both answers do alone.
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
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError
from sfumato.key import Key
from sfumato.private.run_secret import RunSecret
from sfumato.public.answer_channel import AnswerChannel
from sfumato.public.sealed_key import draw_bytes, seal_key, unseal_key
from sfumato.randomness import Randomness
from sfumato.runtime.progress import report_progress

METHOD = "randomize_response"
_TOKEN, _BLOCK = 12, 16
_CHUNK = 100_000


def draw_memory(randomness: Randomness) -> Key:
    """A 256-bit secret for answers."""
    return seal_key(METHOD, {"answers": draw_bytes(randomness).hex(), "seeded": not randomness.for_publication})


def read_memory(path: str) -> Key:
    """Read the secret from a file. If it does not exist, create it from the operating system's entropy, ignoring the
    seed."""
    file = Path(path)
    if not os.path.lexists(file):  # a broken link is a missing key: a new key would draw new answers
        new_key = draw_memory(Randomness.secure())
        try:
            new_key.save(file)
        except DataError:
            if not file.exists():  # otherwise another run created it in the meantime
                raise
        else:
            return new_key
    return Key.load(file)


@dataclass(frozen=True, eq=False, repr=False)
class AnswerDraws:
    """Draws for the rows of a table: one per person, or one per row if persons are not identified."""

    secret: bytes
    people: tuple[str, ...] | None
    """The person in each row; None if every row is independent."""

    def __post_init__(self) -> None:
        """Keep the secret out of whatever this is sent or shown with."""
        object.__setattr__(self, "secret", RunSecret(self.secret))

    @classmethod
    def draw_afresh(cls, randomness: Randomness) -> AnswerDraws:
        """Draws that cannot be repeated."""
        return cls(draw_bytes(randomness), None)

    @classmethod
    def of(cls, secret: bytes, frame: pl.DataFrame, person: Sequence[str]) -> AnswerDraws:
        """Draws that depend on the columns that identify a person."""
        return cls(secret, tuple(_join_row_cells([spell_cells(frame[name]) for name in person])))

    def compute_tokens(
        self, column: str, channel: AnswerChannel, truth: pl.Series, rows: Ints, first: int = 0
    ) -> Bytes:
        """Twelve bytes per row, the same for the same person, question and truth.

        Without people they are the number of the row: `first` is that of the first, if these are not all.
        """
        if self.people is None:
            tokens = np.zeros((len(rows), _TOKEN), dtype=np.uint8)
            tokens[:, :8] = (rows + first).astype("<u8").view(np.uint8).reshape(-1, 8)
            return tokens
        question = hashlib.blake2b(
            self._encode_question(column, channel, b"who"), key=self.secret, digest_size=32
        ).digest()
        question_hasher = hashlib.blake2b(key=question, digest_size=_TOKEN)
        digests, people, truths = [], self.people, _join_row_cells([truth])
        for index, row in enumerate(rows.tolist()):
            if index % _CHUNK == 0:
                report_progress("randomizing answers", index, len(rows))
            hasher = question_hasher.copy()
            hasher.update(f"{people[row]}|{truths[row]}".encode())
            digests.append(hasher.digest())
        return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, _TOKEN)

    def draw_uniform(self, column: str, channel: AnswerChannel, tokens: Bytes, width: int) -> Floats:
        """Numbers between 0 and 1, `width` per token: AES over the token and a counter."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        key = hashlib.blake2b(self._encode_question(column, channel, b"what"), key=self.secret, digest_size=32).digest()
        count = (width + 1) // 2
        blocks = np.empty((len(tokens), count, _BLOCK), dtype=np.uint8)
        blocks[:, :, :_TOKEN] = tokens[:, None, :]
        blocks[:, :, _TOKEN:] = np.arange(count, dtype="<u4").view(np.uint8).reshape(count, 4)
        # Each block is encrypted once under a key used for nothing else: the cipher acts as a random function.
        stream = np.empty(blocks.nbytes + _BLOCK, dtype=np.uint8)
        Cipher(algorithms.AES(key), modes.ECB()).encryptor().update_into(blocks.data, stream.data)
        numbers = stream[: blocks.nbytes].view("<u8").reshape(len(tokens), 2 * count)[:, :width]
        return np.asarray((numbers >> np.uint64(11)) * 2.0**-53)

    @staticmethod
    def _encode_question(column: str, channel: AnswerChannel, use: bytes) -> bytes:
        question = [column, channel.kind, repr(channel.p), repr(channel.q), channel.categories]
        return use + json.dumps(question).encode()


def open_memory(key: Key) -> bytes:
    """Read the secret from a key; refuse a modified key or one of another method."""
    return bytes.fromhex(unseal_key(key, METHOD)["answers"])


def _join_row_cells(columns: Sequence[pl.Series]) -> list[str]:
    """The cells of each row as one text; different rows give different texts."""
    parts = [
        pl.when(pl.col(str(index)).is_null())
        .then(pl.lit("-"))
        .otherwise(pl.concat_str(pl.col(str(index)).str.len_bytes().cast(pl.String), pl.lit(":"), pl.col(str(index))))
        for index in range(len(columns))
    ]
    frame = pl.DataFrame([column.alias(str(index)) for index, column in enumerate(columns)])
    return frame.select(pl.concat_str(parts)).to_series().to_list()
