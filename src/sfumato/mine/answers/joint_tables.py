# SPDX-License-Identifier: MIT
"""Tables of several columns of answers: counted, inverted axis by axis, and their likelihood row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Bytes, Floats, Ints
from sfumato.errors import PolicyError
from sfumato.mine.answers.likeliest_shares import LikelihoodSlope, choose_row_spacing, weigh_answers
from sfumato.public.answer_channel import AnswerChannel
from sfumato.runtime.progress import report_progress

MOST_CELLS = 1_000_000
_CELLS = 4_000_000
_NAMES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def name_axis(axis: int) -> str:
    """The column of a joint estimate that holds the categories of one of the columns asked for."""
    return _NAMES[axis] if axis < len(_NAMES) else f"column {axis + 1}"


def refuse_large_table(sizes: Sequence[int]) -> None:
    """Stop if not all combinations of categories fit."""
    cells = prod(sizes)
    if cells > MOST_CELLS:
        raise PolicyError(
            f"the joint table of {len(sizes)} columns has {cells:,} cells, more than {MOST_CELLS:,}; take fewer "
            "columns, or columns of fewer categories"
        )


def count_joint_answers(columns: Sequence[tuple[Bytes | Ints, int]]) -> Floats:
    """How many rows give each combination of answers; the last place of each axis counts any answer.

    A column is its answers, as category numbers or rows of bits, and its number of categories.
    """
    single = [(answers, size) for answers, size in columns if answers.ndim == 1]
    bits = [answers for answers, _ in columns if answers.ndim == 2]
    rows = len(columns[0][0])
    code = np.zeros(rows, dtype=np.int64)
    for answers, size in single:
        code = code * size + answers
    width, height = prod(part.shape[1] + 1 for part in bits), prod(size for _, size in single)
    counts = np.zeros((height, width))
    if not bits:
        counts[:, 0] = np.bincount(code, minlength=height)
    step = max(_CELLS // width, 1)
    for begin in range(0, rows if bits else 0, step):
        report_progress("counting the answers", begin, rows)
        flags = _multiply_rows([_append_ones(part[begin : begin + step]) for part in bits])
        np.add.at(counts, code[begin : begin + step], flags)
    table = counts.reshape([size for _, size in single] + [part.shape[1] + 1 for part in bits])
    for axis in range(len(single)):
        table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis)
    # Single answers came first; put every column where it was asked for.
    order = [position for position, (answers, _) in enumerate(columns) if answers.ndim == 1]
    order += [position for position, (answers, _) in enumerate(columns) if answers.ndim == 2]
    return np.moveaxis(table, range(len(order)), order)


def _append_ones(bits: Bytes | Ints) -> Floats:
    return np.hstack([bits, np.ones((len(bits), 1), dtype=np.uint8)]).astype(np.float64)


def _multiply_rows(parts: Sequence[Floats]) -> Floats:
    """Row by row, all products of one number of each part."""
    product = parts[0]
    for part in parts[1:]:
        product = (product[:, :, None] * part[:, None, :]).reshape(len(part), -1)
    return product


class UnbiasedMoments(NamedTuple):
    """The mean over rows of what is unbiased for each combination of values, and that of its square."""

    mean: Floats
    square: Floats


def estimate_unbiased(shares: Floats, channels: Sequence[tuple[float, float]]) -> UnbiasedMoments:
    """The mean over rows of the product of (answer − q) / (p − q) over all columns, and the mean of its square.

    `shares` are those of the rows that give each combination; the last place of each axis is any answer.
    """
    raw = square = shares
    for axis, (p, q) in enumerate(channels):
        answer, any_answer = (_cut_axis(raw, axis, part) for part in (slice(-1), slice(-1, None)))
        raw = (answer - q * any_answer) / (p - q)
        # Squared, a flag f gives (f − q)² = q² + (1 − 2q) f.
        answer, any_answer = (_cut_axis(square, axis, part) for part in (slice(-1), slice(-1, None)))
        square = (q * q * any_answer + (1 - 2 * q) * answer) / (p - q) ** 2
    return UnbiasedMoments(raw, square)


def _cut_axis(table: Floats, axis: int, part: slice) -> Floats:
    return table[(slice(None),) * axis + (part,)]


@dataclass(frozen=True, eq=False)
class RowAnswers:
    """Answers of more than two columns, row by row; bits in at least one of them."""

    counts: Floats
    columns: Sequence[Bytes | Ints]
    """Bits (rows of them), or category numbers."""
    channels: Sequence[AnswerChannel | None]
    """None for a column that was not randomized."""
    sizes: Sequence[int]

    @property
    def size(self) -> int:
        """The number of shares."""
        return prod(self.sizes)

    def compute_gradient(self, shares: Floats) -> LikelihoodSlope:
        """The gradient of the log-likelihood at some shares, and the log-likelihood up to a constant."""
        slope, value = np.zeros(self.size), 0.0
        for part in self._split_rows():
            weights = self._weigh(part)
            likely = weights @ shares.ravel()
            value += float(self.counts[part] @ np.log(likely))
            slope += (self.counts[part] / likely) @ weights
        return LikelihoodSlope(slope.reshape(shares.shape), value)

    def compute_curvature(self, shares: Floats) -> Floats:
        """Minus the log-likelihood's second derivatives; with many rows, from a sample of them."""
        every = choose_row_spacing(len(self.counts), self.size)
        curvature = np.zeros((self.size, self.size))
        for part in self._split_rows(every):
            weights = self._weigh(part)
            weights *= (np.sqrt(self.counts[part]) / (weights @ shares.ravel()))[:, None]
            curvature += weights.T @ weights
        return np.asarray(curvature * (self.counts.sum() / self.counts[::every].sum()))

    def _split_rows(self, every: int = 1) -> Iterator[slice]:
        step = max(_CELLS // self.size, 1) * every
        for begin in range(0, len(self.counts), step):
            report_progress("finding the likeliest shares")
            yield slice(begin, begin + step, every)

    def _weigh(self, part: slice) -> Floats:
        """Rows × shares: how likely the answers of a row are for each combination of truths."""
        every = zip(self.columns, self.channels, self.sizes, strict=True)
        return _multiply_rows([weigh_answers(answers[part], channel, size) for answers, channel, size in every])
