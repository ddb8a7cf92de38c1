# SPDX-License-Identifier: MIT
"""Estimates from randomized answers: shares, tables of several columns, and their uncertainty.

Each estimate comes twice. `raw` solves for the share and is unbiased, but may leave [0, 1]; `estimate` is the
maximum-likelihood shares. The variance is that of `raw`, over people as well as over answers: the interval covers the
people who were asked, and the population they were drawn from. Warner (JASA 1965); tables of several columns by the
product of their channels, as in Du and Zhan (KDD 2003).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Bytes, Flags, Floats, Ints
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError, PolicyError, count_noun, quote_names
from sfumato.mine.answers.joint_tables import (
    RowAnswers,
    count_joint_answers,
    estimate_unbiased,
    name_axis,
    refuse_large_table,
)
from sfumato.mine.answers.likeliest_shares import (
    AnswerPairCounts,
    Answers,
    BitAnswers,
    PairAnswers,
    fit_counts,
    fit_likeliest_shares,
)
from sfumato.public.answer_channel import STRANGE, AnswerChannel, get_channel, list_answered_columns
from sfumato.public.noise_law import list_noisy_columns
from sfumato.release import Release
from sfumato.table import Table


def warner_estimate(yes: Any, n: int, p: float) -> Any:
    """Warner's estimate of the share whose true answer is yes, from the yeses among n randomized answers.

    It may lie outside [0, 1]; the nearer end is then the maximum-likelihood share. A number, or an array of them.
    """
    if abs(p - 0.5) < 1e-12:
        raise PolicyError("p = 1/2: answers do not depend on the truth, so the share cannot be estimated")
    if not 0.0 <= p <= 1.0:
        raise PolicyError(f"p must be a probability between 0 and 1, not {p:g}")
    if n < 1:
        raise DataError("there are no answers to estimate from")
    if not np.all((np.asarray(yes) >= 0) & (np.asarray(yes) <= n)):
        raise DataError(
            f"of {n} answers, between 0 and {n} can be yes; give the yeses first, then the number of answers"
        )
    return (p - 1) / (2 * p - 1) + np.asarray(yes) / ((2 * p - 1) * n) if np.ndim(yes) else _solve_warner(yes, n, p)


def _solve_warner(yes: int, n: int, p: float) -> float:
    return (p - 1) / (2 * p - 1) + yes / ((2 * p - 1) * n)


def estimate_proportions(
    answers: Release | pl.Series | Sequence[Any],
    column: str | None = None,
    confidence: float = 0.95,
    *,
    channel: AnswerChannel | Mapping[str, Any] | None = None,
) -> pl.DataFrame:
    """The true share of each category, estimated from randomized answers.

    Takes a release, or a column of one together with its `channel` (from the release's `public`). The frame has
    `value`, `raw` (unbiased, may leave [0, 1]), `estimate` (the maximum-likelihood shares), `variance` (of raw) and the
    interval `low` to `high`, within [0, 1] (Wilson's, of the answers, transformed). Missing answers are left out,
    unless missing is an answer.
    """
    cells, channel_used = _choose_channel(answers, column, channel)
    _refuse_uninformative(channel_used, column or "answers")
    answer_counts = _AnswerCounts.of(cells, channel_used, column or "answers")
    n, wide = answer_counts.n, channel_used.p - channel_used.q
    observed_shares = answer_counts.counts / n
    raw = (observed_shares - channel_used.q) / wide
    low, high = _compute_wilson_bounds(observed_shares, n / channel_used.repeats, confidence)
    ends = np.sort((np.stack([low, high]) - channel_used.q) / wide, axis=0)
    return pl.DataFrame(
        {
            "value": pl.Series(list(channel_used.categories), dtype=pl.String),
            "raw": raw,
            "estimate": _fit_column_shares(answer_counts, channel_used, raw),
            "variance": observed_shares * (1 - observed_shares) * channel_used.repeats / (n * wide**2),
            "low": np.clip(ends[0], 0.0, 1.0),
            "high": np.clip(ends[1], 0.0, 1.0),
        }
    )


def estimate_joint(release: Release, columns: Sequence[str], confidence: float = 0.95) -> pl.DataFrame:
    """The true share of each combination of categories of two or more columns, of which some hold randomized answers.

    The frame has a column for each of them (`first`, `second`, `third` …), and `raw`, `estimate`, `variance`, `low` and
    `high`, as in `estimate_proportions`; the interval is the normal one. Rows with a missing answer are left out,
    unless missing is an answer. All combinations together must fit in a table of a million cells.
    """
    if isinstance(columns, str) or len(columns) < 2 or len(set(columns)) < len(columns):
        raise PolicyError("a joint estimate needs two or more different columns")
    if not isinstance(release, Release) or not isinstance(release.data, Table):
        raise DataError("a joint estimate needs the release of a table; for baskets use estimate_itemsets")
    sides = [_AnswerSide.of(release, name) for name in columns]
    sizes = tuple(side.size for side in sides)
    refuse_large_table(sizes)
    answered_mask = np.logical_and.reduce([side.answered_mask for side in sides])
    n = int(answered_mask.sum())
    if not n:
        raise DataError(f"no row has an answer in all of {quote_names(columns)}")
    sides = [side.select_rows(answered_mask) for side in sides]
    table = count_joint_answers([(side.answers, side.size) for side in sides])
    raw, square = estimate_unbiased(table / n, [side.pq for side in sides])
    repeats = max(side.channel.repeats if side.channel else 1.0 for side in sides)
    variance = np.maximum(square - raw**2, 0.0) * repeats / n
    reach = NormalDist().inv_cdf((1 + _check_confidence(confidence)) / 2) * np.sqrt(variance)
    start = np.clip(raw, 0.0, None) + 1e-12
    estimate = fit_likeliest_shares(_join_answers(sides, table), start / start.sum())
    places = np.unravel_index(np.arange(raw.size), sizes)
    return pl.DataFrame(
        {
            **{
                name_axis(axis): pl.Series(list(side.categories), dtype=pl.String).gather(places[axis])
                for axis, side in enumerate(sides)
            },
            "raw": raw.ravel(),
            "estimate": estimate.ravel(),
            "variance": variance.ravel(),
            "low": np.clip(raw - reach, 0.0, 1.0).ravel(),
            "high": np.clip(raw + reach, 0.0, 1.0).ravel(),
        }
    )


@dataclass(frozen=True, eq=False)
class _AnswerCounts:
    """The answers of a column, counted."""

    n: int
    counts: Ints
    """How often each category was given; for bits, how often each was set."""
    bits: BitAnswers | None = None
    """Distinct rows of bits, and their counts."""

    @classmethod
    def of(cls, cells: pl.Series, channel: AnswerChannel, name: str) -> _AnswerCounts:
        size = len(channel.categories)
        if channel.one_answer:
            codes = encode_answers(cells, channel, name)
            codes = codes[codes >= 0]
            counts_of_answers = cls(len(codes), np.bincount(codes, minlength=size).astype(np.int64))
        else:
            bits = BitAnswers.of(channel.pack_bits(cells), channel)
            counts_of_answers = cls(
                int(bits.counts.sum()), np.rint(bits.sum_set_bits(bits.counts)).astype(np.int64), bits
            )
        if not counts_of_answers.n:
            raise DataError(f'"{name}" has no answers, so there is nothing to estimate from')
        return counts_of_answers


def _fit_column_shares(answer_counts: _AnswerCounts, channel: AnswerChannel, raw: Floats) -> Floats:
    if answer_counts.bits is None:
        return fit_counts(answer_counts.counts, channel)
    start = np.clip(raw, 0.0, None) + 1e-12
    return fit_likeliest_shares(answer_counts.bits, start / start.sum())


class _AnswerRates(NamedTuple):
    """How often a value is answered by those who have it, and by others."""

    p: float
    q: float


@dataclass(frozen=True, eq=False)
class _AnswerSide:
    """One of several columns: randomized or unchanged."""

    channel: AnswerChannel | None
    categories: tuple[str | None, ...]
    answers: Bytes | Ints
    """Category numbers, or rows of bits."""
    answered_mask: Flags

    @classmethod
    def of(cls, release: Release, name: str) -> _AnswerSide:
        if not isinstance(release, Release) or not isinstance(release.data, Table):
            raise PolicyError("how answers were randomized is published with them: give the release of a table")
        table = release.data
        if name not in table.frame.columns:
            raise DataError(f'{table.source}: there is no column "{name}" in the release')
        cells = table.frame[name]
        if name in list_noisy_columns(release):
            raise PolicyError(
                f'"{name}" has noise, but a joint estimate needs randomized or unchanged columns; '
                "reconstruct it by itself, or publish it as intervals"
            )
        if name not in list_answered_columns(release):
            values = tuple(spell_cells(cells.drop_nulls().unique().sort()).to_list())
            codes = spell_cells(cells).replace_strict(values, list(range(len(values))), return_dtype=pl.Int64)
            value_codes = codes.fill_null(-1).to_numpy().astype(np.int64)
            return cls(None, values, value_codes, value_codes >= 0)
        channel = get_channel(release, name)
        _refuse_uninformative(channel, name)
        if channel.one_answer:
            answer_codes = encode_answers(cells, channel, name)
            return cls(channel, channel.categories, answer_codes, answer_codes >= 0)
        answered_mask = cells.is_not_null().to_numpy()
        bits = np.zeros((len(cells), len(channel.categories)), dtype=np.uint8)
        bits[answered_mask] = channel.read_bits(cells)
        return cls(channel, channel.categories, bits, answered_mask)

    def select_rows(self, rows: Flags) -> _AnswerSide:
        return _AnswerSide(self.channel, self.categories, self.answers[rows], self.answered_mask[rows])

    @property
    def size(self) -> int:
        return len(self.categories)

    @property
    def pq(self) -> _AnswerRates:
        return _AnswerRates(self.channel.p, self.channel.q) if self.channel else _AnswerRates(1.0, 0.0)


def _join_answers(sides: Sequence[_AnswerSide], table: Floats) -> Answers:
    """The answers of several columns, counted if all are single, else row by row."""
    if all(side.answers.ndim == 1 for side in sides):
        plain = [
            AnswerChannel.model_construct(kind="k_ary", p=1.0, q=0.0, categories=side.categories) for side in sides
        ]
        channels = tuple(side.channel or plain_channel for side, plain_channel in zip(sides, plain, strict=True))
        return AnswerPairCounts(np.ascontiguousarray(table[(slice(-1),) * len(sides)]), channels)
    unit_counts = np.ones(len(sides[0].answers))
    if len(sides) > 2:
        return RowAnswers(
            unit_counts, [side.answers for side in sides], [s.channel for s in sides], [s.size for s in sides]
        )
    first, two = sides
    return PairAnswers(unit_counts, first.answers, two.answers, (first.channel, two.channel), (first.size, two.size))


def _choose_channel(
    answers: Release | pl.Series | Sequence[Any], column: str | None, channel: AnswerChannel | Mapping[str, Any] | None
) -> tuple[pl.Series, AnswerChannel]:
    """The cells and their channel."""
    if not isinstance(answers, Release):
        if channel is None:
            raise PolicyError("a column alone does not show how it was randomized; give its `channel`, or the release")
        cells = answers if isinstance(answers, pl.Series) else pl.Series(list(answers))
        return cells, AnswerChannel.of(channel)
    names = list_answered_columns(answers)
    if column is not None and not isinstance(column, str):
        raise PolicyError("give one column name; use `estimate_joint` for several columns")
    if column is None and len(names) != 1:
        raise PolicyError(f"{len(names)} columns of the release hold randomized answers; name one as `column`")
    name = names[0] if column is None else column
    channel_used = get_channel(answers, name) if channel is None else AnswerChannel.of(channel)
    table: Table = answers.data
    if name not in table.frame.columns:
        raise DataError(f'{table.source}: there is no column "{name}" in the release')
    return table.frame[name], channel_used


def encode_answers(cells: pl.Series, channel: AnswerChannel, name: str) -> Ints:
    """The category of each answer; an error for a cell that is none."""
    codes = channel.code_answers(cells)
    strange = int((codes == STRANGE).sum())
    if strange:
        raise DataError(
            f'"{name}": {count_noun(strange, "cell matches", "cells match")} none of its {len(channel.categories)} '
            "categories; take the answers and "
            "their `public` description from the same release, unchanged"
        )
    return codes


def _refuse_uninformative(channel: AnswerChannel, name: str) -> None:
    if not channel.informative:
        raise PolicyError(
            f'"{name}": every answer has probability {channel.q:g} whatever the truth, so the answers carry '
            "no information and no share can be estimated; a release with another p is needed"
        )


def _check_confidence(confidence: float) -> float:
    if not 0.0 < confidence < 1.0:
        raise PolicyError(f"confidence must lie between 0 and 1, not {confidence:g}")
    return confidence


def _compute_wilson_bounds(shares: Floats, n: float, confidence: float) -> tuple[Floats, Floats]:
    """Wilson's score interval of shares of n."""
    z = NormalDist().inv_cdf((1 + _check_confidence(confidence)) / 2)
    scale = 1 + z * z / n
    centre = (shares + z * z / (2 * n)) / scale
    reach = z * np.sqrt(shares * (1 - shares) / n + z * z / (4 * n * n)) / scale
    return np.minimum(shares, centre - reach), np.maximum(shares, centre + reach)
