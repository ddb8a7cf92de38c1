# SPDX-License-Identifier: MIT
"""What randomized answers tell of everybody, though they tell little of anybody: shares, tables of two, how sure.

Each estimate comes twice. `raw` solves for the share and has no bias, but may leave [0, 1]; `estimate` are the shares
that make the answers likeliest. The variance is that of `raw`, over people as well as over answers: an interval for the
people who were asked, and for those they were drawn from. Warner (JASA 1965); tables of two columns by the
product of both channels, as in Du and Zhan (KDD 2003).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Bytes, Flags, Floats, Ints
from sfumato.data.hierarchy import spelt
from sfumato.errors import DataError, PolicyError
from sfumato.mine.answers.likeliest_shares import Bitwise, Crossed, Listed, likeliest_of_counts, likeliest_shares
from sfumato.public.answer_channel import STRANGE, Channel, answered_columns, channel_of
from sfumato.public.noise_law import noisy_columns
from sfumato.release import Release
from sfumato.table import Table

_CELLS = 20_000_000


def warner_estimate(yes: Any, n: int, p: float) -> Any:
    """Warner's estimate of the share who would truly say yes, from the yeses among n randomized answers.

    It may lie outside of [0, 1]; the nearer end is then the likeliest share. A number, or an array of them.
    """
    if abs(p - 0.5) < 1e-12:
        raise PolicyError("p = 1/2: answers do not depend on the truth, and no number of them tells the share")
    if not 0.0 <= p <= 1.0:
        raise PolicyError(f"a probability lies between 0 and 1, and p = {p:g} does not")
    if n < 1:
        raise DataError("nobody was asked, so there is nothing to estimate from")
    if not np.all((np.asarray(yes) >= 0) & (np.asarray(yes) <= n)):
        raise DataError(
            f"of {n} who were asked, from 0 to {n} say yes; give the yeses first, and then how many answered"
        )
    return (p - 1) / (2 * p - 1) + np.asarray(yes) / ((2 * p - 1) * n) if np.ndim(yes) else _solved(yes, n, p)


def _solved(yes: int, n: int, p: float) -> float:
    return (p - 1) / (2 * p - 1) + yes / ((2 * p - 1) * n)


def estimate_proportions(
    answers: Release | pl.Series | Sequence[Any],
    column: str | None = None,
    confidence: float = 0.95,
    *,
    channel: Channel | Mapping[str, Any] | None = None,
) -> pl.DataFrame:
    """How many truly are of each category, from randomized answers.

    Given a release, or a column of one together with its `channel` (what the release's `public` says of it). The frame
    has `value`, `raw` (no bias, may leave [0, 1]), `estimate` (the likeliest shares), `variance` (of raw) and the
    interval `low` to `high`, within [0, 1] (Wilson's, of the answers, carried over). Missing answers are left out,
    unless missing is an answer.
    """
    cells, used = _given(answers, column, channel)
    _refuse_uninformative(used, column or "answers")
    asked = _Asked.of(cells, used, column or "answers")
    n, wide = asked.n, used.p - used.q
    said = asked.counts / n
    raw = (said - used.q) / wide
    low, high = _wilson(said, n / used.repeats, confidence)
    ends = np.sort((np.stack([low, high]) - used.q) / wide, axis=0)
    return pl.DataFrame(
        {
            "value": pl.Series(list(used.categories), dtype=pl.String),
            "raw": raw,
            "estimate": _likeliest(asked, used, raw),
            "variance": said * (1 - said) * used.repeats / (n * wide**2),
            "low": np.clip(ends[0], 0.0, 1.0),
            "high": np.clip(ends[1], 0.0, 1.0),
        }
    )


def estimate_joint(release: Release, columns: tuple[str, str], confidence: float = 0.95) -> pl.DataFrame:
    """How many truly are of each pair of categories of two columns, of which one or both hold randomized answers.

    The frame has `first`, `second`, `raw`, `estimate`, `variance`, `low` and `high`, as `estimate_proportions`; the
    interval is the normal one. Rows in which an answer is missing are left out, unless missing is an answer.
    """
    if len(columns) != 2 or columns[0] == columns[1]:
        raise PolicyError("a table of two takes two different columns")
    one, two = (_Side.of(release, name) for name in columns)
    answered = one.answered & two.answered
    n = int(answered.sum())
    if not n:
        raise DataError(f"no row has an answer in both «{columns[0]}» and «{columns[1]}»")
    one, two = one.where(answered), two.where(answered)
    together = _together(one, two) / n
    raw, square = _unbiased(together, one.said, two.said, one.pq, two.pq)
    repeats = max(side.channel.repeats if side.channel else 1.0 for side in (one, two))
    variance = np.maximum(square - raw**2, 0.0) * repeats / n
    reach = NormalDist().inv_cdf((1 + _sensible(confidence)) / 2) * np.sqrt(variance)
    start = np.clip(raw, 0.0, None) + 1e-12
    estimate = likeliest_shares(_answers(one, two, together * n), start / start.sum())
    return pl.DataFrame(
        {
            "first": pl.Series(list(one.categories), dtype=pl.String).gather(np.repeat(np.arange(one.size), two.size)),
            "second": pl.Series(list(two.categories), dtype=pl.String).gather(np.tile(np.arange(two.size), one.size)),
            "raw": raw.ravel(),
            "estimate": estimate.ravel(),
            "variance": variance.ravel(),
            "low": np.clip(raw - reach, 0.0, 1.0).ravel(),
            "high": np.clip(raw + reach, 0.0, 1.0).ravel(),
        }
    )


@dataclass(frozen=True, eq=False)
class _Asked:
    """The answers of a column, counted."""

    n: int
    counts: Ints
    """How often each category was said; of bits, how often each was set."""
    bits: Bitwise | None = None
    """Different rows of bits, and how often each was given."""

    @classmethod
    def of(cls, cells: pl.Series, channel: Channel, name: str) -> _Asked:
        size = len(channel.categories)
        if channel.one_answer:
            codes = _codes(cells, channel, name)
            codes = codes[codes >= 0]
            found = cls(len(codes), np.bincount(codes, minlength=size).astype(np.int64))
        else:
            bits = Bitwise.of(channel.packed(cells), channel)
            found = cls(int(bits.counts.sum()), np.rint(bits.held(bits.counts)).astype(np.int64), bits)
        if not found.n:
            raise DataError(f"«{name}» has no answers, so there is nothing to estimate from")
        return found


def _likeliest(asked: _Asked, channel: Channel, raw: Floats) -> Floats:
    if asked.bits is None:
        return likeliest_of_counts(asked.counts, channel)
    start = np.clip(raw, 0.0, None) + 1e-12
    return likeliest_shares(asked.bits, start / start.sum())


@dataclass(frozen=True, eq=False)
class _Side:
    """One of two columns: randomized, or as it is."""

    channel: Channel | None
    categories: tuple[str | None, ...]
    answers: Bytes | Ints
    """Numbers of categories, or rows of bits."""
    answered: Flags

    @classmethod
    def of(cls, release: Release, name: str) -> _Side:
        table: Table = release.data
        if name not in table.frame.columns:
            raise DataError(f"{table.source}: there is no column «{name}» in the release")
        cells = table.frame[name]
        if name in noisy_columns(release):
            raise PolicyError(
                f"«{name}» is under noise, and a table of two is estimated from answers and plain columns alone; "
                "reconstruct it by itself, or publish it as intervals"
            )
        if name not in answered_columns(release):
            values = tuple(spelt(cells.drop_nulls().unique().sort()).to_list())
            codes = spelt(cells).replace_strict(values, list(range(len(values))), return_dtype=pl.Int64)
            known = codes.fill_null(-1).to_numpy().astype(np.int64)
            return cls(None, values, known, known >= 0)
        channel = channel_of(release, name)
        _refuse_uninformative(channel, name)
        if channel.one_answer:
            found = _codes(cells, channel, name)
            return cls(channel, channel.categories, found, found >= 0)
        there = cells.is_not_null().to_numpy()
        bits = np.zeros((len(cells), len(channel.categories)), dtype=np.uint8)
        bits[there] = channel.bits(cells)
        return cls(channel, channel.categories, bits, there)

    def where(self, rows: Flags) -> _Side:
        return _Side(self.channel, self.categories, self.answers[rows], self.answered[rows])

    @property
    def size(self) -> int:
        return len(self.categories)

    @property
    def pq(self) -> tuple[float, float]:
        return (self.channel.p, self.channel.q) if self.channel else (1.0, 0.0)

    @property
    def said(self) -> Floats:
        """The share of rows that say each category."""
        if self.answers.ndim == 2:
            return np.asarray(self.answers.mean(axis=0))
        return np.bincount(self.answers, minlength=self.size) / len(self.answers)

    def flags(self, part: slice) -> Floats:
        """Which categories rows say, as 0 and 1."""
        if self.answers.ndim == 2:
            return self.answers[part].astype(np.float64)
        return np.eye(self.size)[self.answers[part]]


def _together(one: _Side, two: _Side) -> Floats:
    """How many rows say both of each pair."""
    if one.answers.ndim == two.answers.ndim == 1:
        pairs = np.bincount(one.answers * two.size + two.answers, minlength=one.size * two.size)
        return pairs.reshape(one.size, two.size).astype(np.float64)
    found = np.zeros((one.size, two.size))
    step = max(_CELLS // (one.size + two.size), 1)
    for begin in range(0, len(one.answers), step):
        part = slice(begin, begin + step)
        found += one.flags(part).T @ two.flags(part)
    return found


def _unbiased(
    together: Floats, one: Floats, two: Floats, first: tuple[float, float], second: tuple[float, float]
) -> tuple[Floats, Floats]:
    """The mean of (said − q) / (p − q) times the same of the other column, and the mean of its square.

    `together` are shares of rows that say both of a pair, `one` and `two` of those that say either.
    """
    (p, q), (s, t) = first, second
    raw = (together - q * two[None, :] - t * one[:, None] + q * t) / ((p - q) * (s - t))
    # Squared, a flag f gives (f − q)² = q² + (1 − 2q) f.
    a, b, c, d = q * q, 1 - 2 * q, t * t, 1 - 2 * t
    square = a * c + a * d * two[None, :] + b * c * one[:, None] + b * d * together
    return raw, square / ((p - q) * (s - t)) ** 2


def _answers(one: _Side, two: _Side, together: Floats) -> Crossed | Listed:
    if one.answers.ndim == two.answers.ndim == 1:
        plain = [Channel.model_construct(kind="k_ary", p=1.0, q=0.0, categories=side.categories) for side in (one, two)]
        return Crossed(together, (one.channel or plain[0], two.channel or plain[1]))
    return Listed(np.ones(len(one.answers)), one.answers, two.answers, (one.channel, two.channel), (one.size, two.size))


def _given(
    answers: Release | pl.Series | Sequence[Any], column: str | None, channel: Channel | Mapping[str, Any] | None
) -> tuple[pl.Series, Channel]:
    """The cells and their channel."""
    if not isinstance(answers, Release):
        if channel is None:
            raise PolicyError("a column alone does not say how it was randomized; give its `channel`, or the release")
        cells = answers if isinstance(answers, pl.Series) else pl.Series(list(answers))
        return cells, Channel.of(channel)
    names = answered_columns(answers)
    if column is not None and not isinstance(column, str):
        raise PolicyError("shares of one column take its name; those of two columns together are `estimate_joint`'s")
    if column is None and len(names) != 1:
        raise PolicyError(f"{len(names)} columns of the release hold randomized answers; name one as `column`")
    name = names[0] if column is None else column
    used = channel_of(answers, name) if channel is None else Channel.of(channel)
    table: Table = answers.data
    if name not in table.frame.columns:
        raise DataError(f"{table.source}: there is no column «{name}» in the release")
    return table.frame[name], used


def _codes(cells: pl.Series, channel: Channel, name: str) -> Ints:
    codes = channel.codes(cells)
    strange = int((codes == STRANGE).sum())
    if strange:
        raise DataError(
            f"«{name}»: {strange} cells are none of its {len(channel.categories)} categories; take the answers and "
            "what `public` says of them from the same release, unchanged"
        )
    return codes


def _refuse_uninformative(channel: Channel, name: str) -> None:
    if not channel.informative:
        raise PolicyError(
            f"«{name}»: every answer was given with probability {channel.q:g} whatever is true, so that answers say "
            "nothing and no share can be estimated; a release with another p is needed"
        )


def _sensible(confidence: float) -> float:
    if not 0.0 < confidence < 1.0:
        raise PolicyError(f"a confidence lies between 0 and 1, and {confidence:g} does not")
    return confidence


def _wilson(shares: Floats, n: float, confidence: float) -> tuple[Floats, Floats]:
    """Wilson's score interval of shares of n."""
    z = NormalDist().inv_cdf((1 + _sensible(confidence)) / 2)
    scale = 1 + z * z / n
    centre = (shares + z * z / (2 * n)) / scale
    reach = z * np.sqrt(shares * (1 - shares) / n + z * z / (4 * n * n)) / scale
    return np.minimum(shares, centre - reach), np.maximum(shares, centre + reach)
