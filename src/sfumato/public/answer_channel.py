# SPDX-License-Identifier: MIT
"""Randomized answers: the probability of each published answer for each true one.

Shared by the method that randomizes, the analyst's estimators and the attacks. A channel is public: without it nothing
can be estimated, and its privacy does not depend on secrecy. Warner, *Randomized response: a survey technique for
eliminating evasive answer bias* (JASA 1965); for many categories Kairouz, Bonawitz, Ramage (2016), and the optimized
unary encoding of Wang, Blocki, Li, Jha (USENIX Security 2017).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, log
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, ValidationError, model_validator

from sfumato.arrays import Bytes, Floats, Ints
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.reading.arrow_memory import copy_buffer
from sfumato.description import Description
from sfumato.errors import DataError, PolicyError
from sfumato.published_law import PublishedLaw
from sfumato.release import Release
from sfumato.runtime.progress import report_progress

ChannelKind = Literal["warner", "k_ary", "unary"]
NO_ANSWER, STRANGE = -1, -2
_CELLS = 4_000_000
MARK = "x"
"""The prefix of a cell of bits, so that no reader of the file takes the hexadecimal digits for a number."""


class AnswerChannel(Description):
    """How one column's answers were randomized. It is public."""

    kind: ChannelKind
    """`warner` for two answers, `k_ary` for more; `unary`: a cell has one bit per category."""
    p: float = Field(ge=0.0, le=1.0)
    """The probability of the true answer; `unary`: that the true category's bit is set."""
    q: float = Field(ge=0.0, le=1.0)
    """The probability of each other answer; `unary`: that another category's bit is set."""
    categories: tuple[str | None, ...] = Field(min_length=2)
    """The possible answers as they are spelled, in the order of the bits; null if "missing" is an answer."""
    memoized: bool = False
    """Whether a person who is asked again gives the same answer."""
    repeats: float = Field(default=1.0, ge=1.0)
    """The factor by which repeated answers increase a variance: Σ m² / n if the same answer occurs in m rows."""

    @model_validator(mode="after")
    def _check_sound(self) -> AnswerChannel:
        other_count = len(self.categories) - 1
        if self.kind != "unary" and abs(self.p + other_count * self.q - 1) > 1e-9:
            raise ValueError("the probabilities of all answers do not add up to 1")
        if len(set(self.categories)) <= other_count or (self.kind == "warner" and other_count != 1):
            raise ValueError("the categories do not fit the kind, or one is listed twice")
        return self

    @classmethod
    def of(cls, description: Any) -> AnswerChannel:
        """Parse a channel as published in a release, or return it unchanged."""
        if isinstance(description, cls):
            return description
        try:
            return cls.model_validate({name: description[name] for name in cls.model_fields if name in description})
        except (ValidationError, TypeError):
            raise DataError(
                "a channel of randomized answers needs kind (warner, k_ary or unary), p, q and two or more categories"
            ) from None

    @property
    def one_answer(self) -> bool:
        """Whether a cell holds one category rather than bits."""
        return self.kind != "unary"

    @property
    def informative(self) -> bool:
        """Whether an answer depends on the truth at all."""
        return abs(self.p - self.q) > 1e-12

    def compute_epsilon(self) -> float:
        """ε: no answer is more than e^ε times as likely for one truth as for another (local differential privacy)."""
        if not self.informative:
            return 0.0
        if self.one_answer:
            return abs(log(self.p / self.q))
        return abs(log(self.p * (1 - self.q) / ((1 - self.p) * self.q)))

    def build_matrix(self) -> Floats:
        """The probability of each answer (row) for each truth (column); for bits, the probability that each is set."""
        size = len(self.categories)
        return np.full((size, size), self.q) + (self.p - self.q) * np.eye(size)

    def code_answers(self, cells: pl.Series) -> Ints:
        """The number of each cell's category, `NO_ANSWER` if it is missing, `STRANGE` if it is not a category."""
        category_names = [name for name in self.categories if name is not None]
        places = [index for index, name in enumerate(self.categories) if name is not None]
        missing = self.categories.index(None) if None in self.categories else NO_ANSWER
        texts = spell_cells(cells)
        codes = texts.replace_strict(category_names, places, default=STRANGE, return_dtype=pl.Int64)
        return codes.zip_with(texts.is_not_null(), pl.Series([missing], dtype=pl.Int64)).to_numpy().astype(np.int64)

    def read_bits(self, cells: pl.Series) -> Bytes:
        """The bits of cells that are not missing, one row per cell."""
        return np.unpackbits(self.pack_bits(cells), axis=1, count=len(self.categories))

    def pack_bits(self, cells: pl.Series) -> Bytes:
        """The bits of cells that are not missing, eight per byte, the first category's the highest."""
        width = len(self.categories)
        byte_count = (width + 7) // 8
        texts = cells.drop_nulls()
        if not len(texts):
            return np.zeros((0, byte_count), dtype=np.uint8)
        if texts.dtype == pl.String and bool((texts.str.len_bytes() == 1 + 2 * byte_count).all()):
            characters = np.frombuffer(texts.str.join("")[0].encode(), dtype=np.uint8).reshape(
                len(texts), 1 + 2 * byte_count
            )
            digits = _DIGITS[characters[:, 1:]]
            if int(digits.max()) < 16:
                return np.asarray(digits[:, 0::2] * np.uint8(16) + digits[:, 1::2], dtype=np.uint8)
        raise DataError(f"{len(texts)} answers of {width} bits are not all spelled as such; read the release again")


class AnswerLaw(AnswerChannel, PublishedLaw):
    """The channel of a column, with what else is published about its answers."""

    public_fields: ClassVar[tuple[str, ...]] = (
        "kind", "p", "q", "categories", "memoized", "repeats", "epsilon", "domain", "missing",
    )  # fmt: skip

    epsilon: float | None = Field(default=None, ge=0.0)
    """The stated ε of the channel, which `compute_epsilon` gives."""
    domain: Literal["given", "data"] | None = None
    """Whether the categories were given, or come from the data."""
    missing: Literal["answer", "kept"] | None = None
    """Whether a missing answer is an answer, or stays missing for everybody to see."""

    @classmethod
    def of_channel(
        cls, channel: AnswerChannel, domain: Literal["given", "data"], missing: Literal["answer", "kept"]
    ) -> AnswerLaw:
        """What is published about a column of answers."""
        parts = {name: getattr(channel, name) for name in AnswerChannel.model_fields}
        if channel.repeats == 1.0:
            del parts["repeats"]
        return cls(**parts, epsilon=channel.compute_epsilon(), domain=domain, missing=missing)

    @property
    def privacy_budget(self) -> float | None:
        """The stated ε."""
        return self.epsilon

    @property
    def shows_values(self) -> bool:
        """Whether a cell holds one category rather than bits."""
        return self.one_answer

    @property
    def chance_share(self) -> float:
        """How often chance answers in place of the truth."""
        return 1 - abs(self.p - self.q)


_DIGITS = np.asarray(
    [int(chr(byte), 16) if chr(byte) in "0123456789abcdefABCDEF" else 255 for byte in range(256)], "u1"
)
"""The hexadecimal digit of each byte of text; 255 if it is none."""


def answer_by_chance(truth: Ints, channel: AnswerChannel, draw: Callable[[slice, int], Floats]) -> Ints | Bytes:
    """An answer for each truth: the number of a category, or bits.

    `drawn` gives numbers between 0 and 1: as many as requested for each of some rows.
    """
    size = len(channel.categories)
    if channel.one_answer:
        chance = draw(slice(0, len(truth)), 1)[:, 0]
        # If the draw is not the truth, its remainder selects one of the others.
        other = np.minimum(((chance - channel.p) / (1 - channel.p) * (size - 1)).astype(np.int64), size - 2)
        return np.where(chance < channel.p, truth, other + (other >= truth))
    bits = np.empty((len(truth), size), dtype=np.uint8)
    step = max(_CELLS // size, 1)
    for begin in range(0, len(truth), step):
        report_progress("randomizing answers", begin, len(truth))
        chance = draw(slice(begin, begin + step), size)
        bits[begin : begin + step] = chance < channel.q
        rows, true_codes = np.arange(len(chance)), truth[begin : begin + step]
        bits[begin + rows, true_codes] = chance[rows, true_codes] < channel.p
    return bits


def cast_categories(categories: Sequence[str | None], kind: pl.DataType) -> pl.Series | None:
    """Categories as values of a column's type; None if they are not spelled like its cells."""
    texts = pl.Series(list(categories), dtype=pl.String)
    if kind == pl.Boolean:
        values = texts.replace_strict(["true", "false"], [True, False], default=None, return_dtype=pl.Boolean)
    elif kind == pl.Date:
        values = texts.str.to_date("%Y-%m-%d", strict=False)
    else:
        values = texts.cast(kind, strict=False)
    return values if spell_cells(values).eq_missing(texts).all() else None


def spell_bits(bits: Bytes) -> pl.Series:
    """Rows of bits as text: a mark, and hexadecimal digits."""
    import pyarrow as pa

    packed_bits = np.packbits(bits, axis=1)
    digits = np.frombuffer(b"".join(f"{byte:02x}".encode() for byte in range(256)), dtype=np.uint8).reshape(256, 2)
    text = np.empty((len(bits), 1 + 2 * packed_bits.shape[1]), dtype=np.uint8)
    text[:, 0] = ord(MARK)
    text[:, 1:] = digits[packed_bits].reshape(len(bits), 2 * packed_bits.shape[1])
    ends = np.arange(len(bits) + 1, dtype=np.int64) * text.shape[1]
    text_array = pa.LargeStringArray.from_buffers(len(bits), copy_buffer(ends), copy_buffer(text))
    texts = pl.from_arrow(text_array)
    assert isinstance(texts, pl.Series)
    return texts.cast(pl.String)


def design_channel(
    kind: ChannelKind | Literal["auto"], categories: Sequence[str | None], p: float | None, epsilon: float | None
) -> AnswerChannel:
    """The requested channel: by the probability of the truth, or by ε.

    Given ε, `auto` chooses the kind whose estimates vary less: unary from k = 3 e^ε + 2 categories. A given p means
    that an answer is true with that probability, which requires a single answer.
    """
    size = len(categories)
    if size < 2:
        raise PolicyError(f"randomized answers need two or more categories, but there are {size}; list `categories`")
    if kind == "warner" and size != 2:
        raise PolicyError(f"kind = warner needs two categories, but there are {size}; use k_ary or unary")
    if kind == "unary" and p is not None:
        raise PolicyError("kind = unary always keeps the true category's bit with probability 1/2; give `epsilon`")
    p = _compute_truth_probability(size, epsilon) if p is None else p
    if epsilon is not None and p >= 1.0:
        raise PolicyError(
            f"epsilon = {epsilon:g} is so large that every answer is the truth itself, and nothing is protected; "
            "choose "
            "a smaller one, 10 at most"
        )
    if not 0.0 < p < 1.0:
        reason = "is the truth itself" if p else "discloses what is not true"
        raise PolicyError(
            f"p = {p:g}: every answer {reason}, so nothing is protected (ε is infinite); choose p between 0 and 1"
        )
    q = (1 - p) / (size - 1)
    if epsilon is not None:
        many = size >= 3 * exp(min(epsilon, 700.0)) + 2 and abs(p - q) > 1e-12
        if kind == "unary" or (kind == "auto" and many):
            return AnswerChannel(
                kind="unary", p=0.5, q=_compute_truth_probability(2, -epsilon), categories=tuple(categories)
            )
    return AnswerChannel(
        kind="warner" if size == 2 and kind != "k_ary" else "k_ary", p=p, q=q, categories=tuple(categories)
    )


def _compute_truth_probability(size: int, epsilon: float | None) -> float:
    """The probability of the truth that gives ε; a negative ε inverts answers."""
    if epsilon is None:
        raise PolicyError("set how much is randomized: the probability `p` of the true answer, or `epsilon`")
    return 1 / (1 + (size - 1) * exp(min(-epsilon, 700.0)))


def list_answered_columns(release: Release) -> tuple[str, ...]:
    """The columns of a release that hold randomized answers."""
    return tuple(name for name, law in release.public.items() if isinstance(law, AnswerLaw))


def get_channel(release: Release, column: str) -> AnswerLaw:
    """The channel of one column, as published in the release."""
    law = release.public.get(column)
    if not isinstance(law, AnswerLaw):
        names = list_answered_columns(release)
        hint = f"; they are in: {', '.join(names)}" if names else ""
        raise DataError(f'the release has no randomized answers in "{column}"{hint}')
    return law
