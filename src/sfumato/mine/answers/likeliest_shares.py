# SPDX-License-Identifier: MIT
"""Maximum-likelihood shares of categories behind randomized answers: none negative, sum 1.

Inverting a channel may leave [0, 1]. The likelihood is concave, so its maximum on the simplex is always found: in
closed form for one column of single answers, otherwise by Newton's method under the bounds (as Kim, Carbonetto,
Stephens, Anitescu 2020 do for mixtures) or, with too many shares for that, by expectation maximization (Dempster,
Laird, Rubin 1977) as accelerated by Varadhan and Roland (2008). Both stop with a proof: no shares have a log-likelihood
higher by more than `SLACK`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Bytes, Floats, Ints
from sfumato.public.answer_channel import AnswerChannel
from sfumato.runtime.progress import report_progress

SLACK = 1e-6
_CELLS = 4_000_000
_PRODUCTS = 5e8
_WIDEST = 1_500
_FEW_BYTES = 3
_MANY_ROWS = 65_536
_MOST_STEPS = 20_000


def fit_counts(counts: Ints, channel: AnswerChannel) -> Floats:
    """The maximum-likelihood shares behind counts of single answers.

    The probability of an answer is q + (p − q) · share. Where the share is positive it is proportional to the count;
    elsewhere it is q. For p > q the rare answers have no share, for p < q the common ones.
    """
    wide, size = channel.p - channel.q, len(counts)
    order = np.argsort(-np.sign(wide) * counts, kind="stable")
    sums = np.cumsum(counts[order]).astype(np.float64)
    remaining_mass = 1 - channel.q * (size - np.arange(1, size + 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        last = (
            counts[order] * remaining_mass / sums
        )  # the probability of the last one included, if it and all before have shares
    holds = wide * (last - channel.q) > 0
    included_count = int(np.flatnonzero(holds)[-1]) + 1 if holds.any() else 0
    if (
        included_count == 0
    ):  # p < q, and some answers never occurred: the truth is among those, but which one is unknown
        included_count = max(int((counts == 0).sum()), 1)
        sums[included_count - 1] = 0.0
    shares = np.zeros(size)
    included_answers = order[:included_count]
    if sums[included_count - 1] > 0:
        shares[included_answers] = (
            counts[included_answers] * remaining_mass[included_count - 1] / sums[included_count - 1] - channel.q
        ) / wide
    else:
        shares[included_answers] = 1 / included_count
    shares = np.clip(shares, 0.0, 1.0)
    return np.asarray(shares / shares.sum())


class LikelihoodSlope(NamedTuple):
    """The log-likelihood of answers at some shares, up to a constant, and its gradient."""

    slope: Floats
    value: float


@dataclass(frozen=True, eq=False)
class AnswerPairCounts:
    """How often each pair of single answers was given, or each combination of more than two."""

    counts: Floats
    channels: tuple[AnswerChannel, ...]

    @property
    def size(self) -> int:
        """The number of shares."""
        return self.counts.size

    def compute_gradient(self, shares: Floats) -> LikelihoodSlope:
        """The gradient of the log-likelihood at some shares, and the log-likelihood."""
        likely = self._multiply_channels(shares)
        came = self.counts > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.where(came, self.counts / likely, 0.0)
            value = float(np.sum(np.where(came, self.counts * np.log(likely), 0.0)))
        return LikelihoodSlope(self._multiply_channels(weights), value)

    def compute_curvature(self, shares: Floats) -> Floats:
        """Minus the log-likelihood's second derivatives."""
        every: Floats = np.ones((1, 1))
        for channel in self.channels:
            every = np.asarray(np.kron(every, channel.build_matrix()), dtype=np.float64)
        # Combinations that never came weigh nothing, also where the shares make them impossible.
        likely = np.where(self.counts > 0, self._multiply_channels(shares), 1.0)
        scaled_rows = every * (np.sqrt(self.counts) / likely).reshape(-1, 1)
        return np.asarray(scaled_rows.T @ scaled_rows)

    def _multiply_channels(self, shares: Floats) -> Floats:
        """The product of all channels' matrices times shares, without building it; all are symmetric."""
        for axis, channel in enumerate(self.channels):
            shares = channel.q * shares.sum(axis=axis, keepdims=True) + (channel.p - channel.q) * shares
        return np.asarray(shares)


@dataclass(frozen=True, eq=False)
class BitAnswers:
    """Rows of bits of one column, eight per byte, with their counts."""

    counts: Floats
    packed_bits: Bytes
    channel: AnswerChannel

    @classmethod
    def of(cls, packed_bits: Bytes, channel: AnswerChannel) -> BitAnswers:
        """Rows in order; if there are few possible ones, each distinct row once."""
        if packed_bits.shape[1] > _FEW_BYTES:
            return cls(np.ones(len(packed_bits)), packed_bits, channel)
        wide = np.zeros((len(packed_bits), 4), dtype=np.uint8)
        wide[:, : packed_bits.shape[1]] = packed_bits
        distinct, counts = np.unique(wide.view("<u4")[:, 0], return_counts=True)
        distinct_rows = distinct.astype("<u4").view(np.uint8).reshape(-1, 4)[:, : packed_bits.shape[1]]
        return cls(counts.astype(np.float64), distinct_rows, channel)

    @property
    def size(self) -> int:
        """The number of shares."""
        return len(self.channel.categories)

    @cached_property
    def words(self) -> npt.NDArray[np.uint8 | np.uint16]:
        """The same bits, one row for each byte or, with many people, for each two: half as many lookups."""
        if len(self.packed_bits) < _MANY_ROWS:
            return np.ascontiguousarray(self.packed_bits.T)
        even = np.zeros((len(self.packed_bits), (self.packed_bits.shape[1] + 1) // 2 * 2), dtype=np.uint8)
        even[:, : self.packed_bits.shape[1]] = self.packed_bits
        return np.ascontiguousarray(even.view(">u2").T.astype(np.uint16))

    def sum_set_bits(self, weights: Floats) -> Floats:
        """For each bit, the sum of the weights of rows that have it set."""
        held_bits = []
        for word in self.words:
            sums = np.bincount(word, weights, 256**word.itemsize).reshape(-1, 256)
            held_bits += [sums.sum(axis=axis) @ _BYTES for axis in (1, 0)[-word.itemsize :]]
        return np.concatenate(held_bits)[: self.size]

    def compute_gradient(self, shares: Floats) -> LikelihoodSlope:
        """The gradient of the log-likelihood at some shares, and the log-likelihood up to a constant."""
        unset_factor, gain = self._weigh_bits()
        likely = self._compute_likelihood(shares)
        weights = self.counts / likely
        slope = unset_factor * weights.sum() + gain * self.sum_set_bits(weights)
        return LikelihoodSlope(slope, float(self.counts @ np.log(likely)))

    def compute_curvature(self, shares: Floats) -> Floats:
        """Minus the log-likelihood's second derivatives; with many rows, from a sample of them, which is accurate
        enough.
        """
        every = choose_row_spacing(len(self.counts), self.size)
        unset_factor, gain = self._weigh_bits()
        counts, curvature = self.counts[::every], np.zeros((self.size, self.size))
        scale = np.sqrt(counts) / self._compute_likelihood(shares)[::every]
        step = max(_CELLS // self.size, 1)
        for begin in range(0, len(counts), step):
            bits = np.unpackbits(self.packed_bits[::every][begin : begin + step], axis=1, count=self.size)
            scaled_rows = (unset_factor + gain * bits) * scale[begin : begin + step, None]
            curvature += scaled_rows.T @ scaled_rows
        return np.asarray(curvature * (self.counts.sum() / counts.sum()))

    def _compute_likelihood(self, shares: Floats) -> Floats:
        unset_factor, gain = self._weigh_bits()
        padded_shares = np.zeros((len(self.words), self.words.itemsize, 8))
        padded_shares.ravel()[: self.size] = shares
        likelihoods = np.full(len(self.counts), unset_factor * shares.sum())
        for word, (*high, low) in zip(self.words, padded_shares, strict=True):
            byte_sums = [(_BYTES @ part)[:, None] for part in high]
            likelihoods += (gain * sum(byte_sums, _BYTES @ low)).ravel()[word]
        return likelihoods

    def _weigh_bits(self) -> tuple[float, float]:
        """The likelihood factor of a bit that is not set, and the increase if it is set."""
        unset_factor, on = (1 - self.channel.p) / (1 - self.channel.q), self.channel.p / self.channel.q
        return unset_factor, on - unset_factor


_BYTES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class PairAnswers:
    """Answers of two columns, row by row; bits in one of them, or in both."""

    counts: Floats
    first: Bytes | Ints
    second: Bytes | Ints
    """Bits (rows of them), or category numbers."""
    channels: tuple[AnswerChannel | None, AnswerChannel | None]
    """None for a column that was not randomized."""
    sizes: tuple[int, int]

    @property
    def size(self) -> int:
        """The number of shares."""
        return self.sizes[0] * self.sizes[1]

    def compute_gradient(self, shares: Floats) -> LikelihoodSlope:
        """The gradient of the log-likelihood at some shares, and the log-likelihood up to a constant."""
        slope, value = np.zeros(self.sizes), 0.0
        for part in self._split_rows(sum(self.sizes)):
            left, right = self._multiply_both(part)
            likely = np.einsum("ij,ij->i", left @ shares, right)
            value += float(self.counts[part] @ np.log(likely))
            slope += left.T @ (right * (self.counts[part] / likely)[:, None])
        return LikelihoodSlope(slope, value)

    def compute_curvature(self, shares: Floats) -> Floats:
        """Minus the log-likelihood's second derivatives; with many rows, from a sample of them, which is accurate
        enough.
        """
        curvature = np.zeros((self.size, self.size))
        every = choose_row_spacing(len(self.counts), self.size)
        for part in self._split_rows(self.size, every):
            left, right = self._multiply_both(part)
            likely = np.einsum("ij,ij->i", left @ shares, right)
            scaled_rows = (left[:, :, None] * right[:, None, :]).reshape(len(likely), -1)
            scaled_rows *= (np.sqrt(self.counts[part]) / likely)[:, None]
            curvature += scaled_rows.T @ scaled_rows
        return np.asarray(curvature * (self.counts.sum() / self.counts[::every].sum()))

    def _split_rows(self, width: int, every: int = 1) -> Iterator[slice]:
        step = max(_CELLS // width, 1) * every
        for begin in range(0, len(self.counts), step):
            report_progress("finding the likeliest shares")
            yield slice(begin, begin + step, every)

    def _multiply_both(self, part: slice) -> tuple[Floats, Floats]:
        return (
            weigh_answers(self.first[part], self.channels[0], self.sizes[0]),
            weigh_answers(self.second[part], self.channels[1], self.sizes[1]),
        )


def choose_row_spacing(rows: int, size: int) -> int:
    """The row spacing of a sample that is large enough to estimate the curvature."""
    return max(int(rows * size**2 / max(_PRODUCTS, 20 * size**3)), 1)


def weigh_answers(answers: Bytes | Ints, channel: AnswerChannel | None, size: int) -> Floats:
    """The likelihood of each answer for each truth, up to a factor per answer."""
    if answers.ndim == 2:
        assert channel is not None
        unset_factor, on = (1 - channel.p) / (1 - channel.q), channel.p / channel.q
        return np.asarray(unset_factor + (on - unset_factor) * answers.astype(np.float64))
    p, q = (1.0, 0.0) if channel is None else (channel.p, channel.q)
    weights = np.full((len(answers), size), q)
    weights[np.arange(len(answers)), answers] = p
    return weights


class Answers(Protocol):
    """Answers whose likeliest shares are looked for."""

    @property
    def counts(self) -> Floats:
        """How often each was given."""

    @property
    def size(self) -> int:
        """The number of shares."""

    def compute_gradient(self, shares: Floats) -> LikelihoodSlope:
        """The gradient of the log-likelihood at some shares, and the log-likelihood up to a constant."""

    def compute_curvature(self, shares: Floats) -> Floats:
        """Minus the log-likelihood's second derivatives."""


def fit_likeliest_shares(answers: Answers, start: Floats) -> Floats:
    """The maximum-likelihood shares, from a start on the simplex."""
    total = float(answers.counts.sum())
    shares = np.clip(start, 0.0, None) + 1e-3 / start.size
    shares /= shares.sum()
    slow = answers.size > _WIDEST
    for step in range(_MOST_STEPS):
        report_progress("finding the likeliest shares", step)
        slope, value = answers.compute_gradient(shares)
        # The log-likelihood is concave: the steepest ascent from here bounds what any other shares can gain.
        if float(slope.max()) - total <= SLACK + 1e-12 * total:
            break
        better = None if slow else _try_newton_step(answers, shares, slope, value, total)
        if better is None:
            slow = True
            better = _take_squarem_step(
                answers.compute_gradient, np.maximum(shares, 1e-9 / shares.size), slope, value, total
            )
        shares = better
    return shares


def _try_newton_step(answers: Answers, shares: Floats, slope: Floats, value: float, total: float) -> Floats | None:
    """A Newton step among nonnegative shares; None if it does not increase the likelihood.

    The multiplier that makes shares sum to 1 is known: it is the number of answers.
    """
    from scipy.linalg import LinAlgError, cholesky, solve_triangular
    from scipy.optimize import nnls

    bend = answers.compute_curvature(shares)
    bend[np.diag_indices_from(bend)] += 1e-10 * np.trace(bend) / len(bend)
    aim = slope.ravel() - total + bend @ shares.ravel()
    try:
        root = cholesky(bend, lower=True)
        solution = nnls(root.T, solve_triangular(root, aim, lower=True))[0].reshape(shares.shape)
    except (LinAlgError, RuntimeError):
        return None
    length = 1.0
    while length > 1e-4:
        new_shares = shares + length * (solution - shares)
        new_shares /= new_shares.sum()
        # A step that makes some answer impossible is too long: its likelihood is 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            steep, new_value = answers.compute_gradient(new_shares)
        if new_value > value or float(steep.max()) < float(slope.max()):
            return np.asarray(new_shares)
        length /= 2
    return None


def _take_squarem_step(
    pulls: Callable[[Floats], LikelihoodSlope], shares: Floats, slope: Floats, value: float, total: float
) -> Floats:
    """One step of SQUAREM: two steps of expectation maximization give direction and length of a third."""
    first_shares = shares * slope / total
    second_shares = first_shares * pulls(first_shares).slope / total
    went, bend = first_shares - shares, second_shares - 2 * first_shares + shares
    curve = float(np.sum(bend**2))
    if curve <= 1e-300:
        return second_shares
    length = min(-1.0, -float(np.sqrt(np.sum(went**2) / curve)))
    while length < -1.0:
        far = shares - 2 * length * went + length**2 * bend
        trial_shares = np.where(shares > 0, np.maximum(far, second_shares * 1e-3), 0.0)
        trial_shares /= trial_shares.sum()
        trial_slope, trial_value = pulls(trial_shares)
        if trial_value >= value:
            settled_shares: Floats = trial_shares * trial_slope / total
            return settled_shares
        length = (length - 1) / 2 if length < -1.5 else -1.0
    return second_shares
