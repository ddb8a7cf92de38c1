# SPDX-License-Identifier: MIT
"""Check randomized answers against the promise: ε by its formula, frequencies by the originals.

No code is shared with the method. Exact binomial tails, reported as standard errors of a normal distribution, compare
how often people with each truth gave each answer with the stated probabilities. They also test independence, since
shares can be right while answers are predictable: neighbouring rows, and the bits of one cell. Warner 1965; Wang and
others 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Bytes, Flags, Floats, Ints
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.measure.alignment import (
    Rows,
    align_originals,
    count_changes_elsewhere,
    make_comparison_check,
    require_columns,
)
from sfumato.measure.binomial_tails import find_least_tail
from sfumato.measure.checks import checks_claim
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

_MOST_ERRORS = 37.0
_CELLS = 20_000_000
_BLOCK = 512
_LOOKED_AT = 1_000


def compute_answer_epsilon(kind: str | Sequence[str], p: Any, q: Any) -> float:
    """ε of randomized answers from their probabilities; the sum over several columns."""
    if not isinstance(kind, str):
        every = zip(kind, p, q, strict=True)
        return round(sum(compute_answer_epsilon(answer_kind, float(a), float(b)) for answer_kind, a, b in every), 12)
    if kind == "unary":
        return round(abs(log(p) - log(1 - p) + log(1 - q) - log(q)), 12)
    return round(abs(log(p) - log(q)), 12)


def count_strange_answers(
    published_table: Table, column: str, kind: str, categories: Sequence[str], missing: str = "keep"
) -> int:
    """How many published cells of a column are not possible answers."""
    require_columns(published_table.frame, [column], published_table.source)
    cells = published_table.frame[column].drop_nulls()
    if kind != "unary":
        return int((~spell_cells(cells).is_in(list(categories))).sum())
    size = len(categories) + (missing == "answer")
    digits = 2 * ((size + 7) // 8)
    texts = cells.cast(pl.String)
    fine = texts.str.contains(f"^x[0-9a-f]{{{digits}}}$")
    last, spare = texts.str.tail(1), -size % 8
    if spare >= 4:
        fine &= last == "0"
        last, spare = texts.str.tail(2).str.head(1), spare - 4
    allowed_digits = [f"{digit:x}" for digit in range(0, 16, 1 << spare)]
    return int((~(fine & last.is_in(allowed_digits))).sum())


def measure_channel_deviation(
    original: Table,
    published_table: Table,
    column: str,
    kind: str,
    p: float,
    q: float,
    categories: Sequence[str],
    missing: str = "keep",
    person: Sequence[str] = (),
    rows: Rows = None,
) -> float:
    """By how many standard errors answers deviate from the probabilities p of the truth and q of each other answer.

    The worst of several kinds of counts, corrected for their number: each answer of people with each truth; each answer
    by its offset from the truth, of everybody; true answers in neighbouring rows; for bits also how many of a cell are
    set, and pairs of them. Rows with the same answer of the same `person` count once.
    """
    original_frame = align_originals(original, published_table, rows)
    require_columns(original_frame, (column, *person), original.source)
    require_columns(published_table.frame, [column], published_table.source)
    names: list[str | None] = [*categories, None] if missing == "answer" else list(categories)
    truth = index_categories(original_frame[column], names)
    row_mask = _flag_first_rows(original_frame, column, person) & (truth >= 0)
    if not row_mask.any():
        return 0.0
    cells = published_table.frame[column].filter(pl.Series(row_mask))
    truth = truth[row_mask]
    if kind == "unary":
        tails = _test_bit_counts(_pack_cell_bits(cells, len(names)), truth, len(names), p, q)
    else:
        tails = _test_answer_counts(index_categories(cells, names), truth, len(names), p, q)
    return count_errors(tails)


def count_errors(tails: Sequence[float]) -> float:
    """The least of several probabilities, corrected for their number, as standard errors that are equally rare."""
    tail = min(max(min(tails) * len(tails), 1e-300), 1.0)
    return round(min(abs(NormalDist().inv_cdf(tail / 2)), _MOST_ERRORS), 12)


def count_differing_answers(
    original: Table, published_table: Table, column: str, person: Sequence[str], rows: Rows = None
) -> int:
    """How many people have two different answers to one question with the same truth."""
    original_frame = align_originals(original, published_table, rows)
    require_columns(original_frame, (column, *person), original.source)
    keys = [spell_cells(original_frame[name]).alias(f"x{index}") for index, name in enumerate((*person, column))]
    frame = pl.DataFrame([*keys, spell_cells(published_table.frame[column]).alias("y")])
    return int((frame.group_by([key.name for key in keys]).agg(pl.col("y").n_unique())["y"] > 1).sum())


def count_cells_changed_without_answers(
    original: Table, published_table: Table, columns: Sequence[str], missing: str = "keep", rows: Rows = None
) -> int:
    """How many other cells were changed, and how many answers became missing or known."""
    others_changed = count_changes_elsewhere(original, published_table, columns, rows)
    if missing != "keep":
        return others_changed
    original_frame = align_originals(original, published_table, rows)
    return others_changed + sum(
        int((published_table.frame[name].is_null() != original_frame[name].is_null()).sum()) for name in columns
    )


checks_claim("answer_epsilon", "at_most", properties=("epsilon", "epsilon_in_all"), arguments=("kind", "p", "q"))(
    lambda _, arguments: compute_answer_epsilon(**arguments)
)
checks_claim("strange_answers", "exactly", arguments=("categories", "column", "kind", "missing"))(
    lambda evidence, arguments: count_strange_answers(evidence.published_data, **arguments)
)
checks_claim("answers_off_channel", "at_most", needs_original=True)(make_comparison_check(measure_channel_deviation))
checks_claim("answers_that_differ", "exactly", needs_original=True)(make_comparison_check(count_differing_answers))
checks_claim("changed_without_answers", "exactly", needs_original=True, of_the_rest=True)(
    make_comparison_check(count_cells_changed_without_answers)
)


def index_categories(cells: pl.Series, names: Sequence[str | None]) -> Ints:
    """The index of each cell among the categories; −1 without one."""
    places = {name: index for index, name in enumerate(names)}
    texts = spell_cells(cells)
    known_names = [name for name in names if name is not None]
    codes = texts.replace_strict(known_names, [places[name] for name in known_names], default=-1, return_dtype=pl.Int64)
    empty = pl.Series([places.get(None, -1)], dtype=pl.Int64)
    return codes.zip_with(texts.is_not_null(), empty).to_numpy().astype(np.int64)


def _flag_first_rows(frame: pl.DataFrame, column: str, person: Sequence[str]) -> Flags:
    """One row for each person and truth; every row if persons are not known."""
    if not person:
        return np.ones(frame.height, dtype=np.bool_)
    keys = pl.DataFrame([spell_cells(frame[name]).alias(f"x{index}") for index, name in enumerate((*person, column))])
    return keys.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()


def _test_answer_counts(answers: Ints, truth: Ints, size: int, p: float, q: float) -> list[float]:
    """The probability that single answers deviate this far by chance, for each of three kinds of counts."""
    tally = AnswerTally(size)
    tally.add(truth, answers)
    return tally.test(p, q)


class AnswerTally:
    """Single answers, counted by the truth and next to their neighbours; rows are added in their order."""

    def __init__(self, size: int) -> None:
        """Count nothing yet, for this many possible answers."""
        self.size = size
        self._pairs, self._pair_counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self._truth_counts = np.zeros(size, dtype=np.int64)
        self._neighbours = np.zeros(3, dtype=np.int64)
        self._last: Flags = np.zeros(0, dtype=np.bool_)

    def add(self, truth: Ints, answers: Ints) -> None:
        """Count the next rows; a row without a possible answer has a negative one."""
        self._truth_counts += np.bincount(truth, minlength=self.size)
        has_answer = answers >= 0
        pairs, times = np.unique(truth[has_answer] * self.size + answers[has_answer], return_counts=True)
        self._pairs, places = np.unique(np.concatenate([self._pairs, pairs]), return_inverse=True)
        self._pair_counts = np.bincount(places, np.concatenate([self._pair_counts, times]), len(self._pairs)).astype(
            np.int64
        )
        truth_mask = np.concatenate([self._last, answers == truth])
        whole = len(truth_mask) // 2 * 2
        self._neighbours += np.bincount(truth_mask[:whole].reshape(-1, 2).sum(axis=1), minlength=3)
        self._last = truth_mask[whole:]

    def test(self, p: float, q: float) -> list[float]:
        """The probability that the answers deviate this far from the channel by chance, for each kind of counts."""
        size, truth_counts, times = self.size, self._truth_counts, self._pair_counts
        present_truths = np.flatnonzero(truth_counts)
        true, answer = np.divmod(self._pairs, size)
        offset_counts = np.bincount((answer - true) % size, times, size).astype(np.int64)
        true_counts = np.zeros(size, dtype=np.int64)
        true_counts[true[true == answer]] = times[true == answer]
        other_truths, times = true[true != answer], times[true != answer]
        # Answers never given are evidence too: for each truth one such answer represents all, as they are alike.
        silent = present_truths[np.bincount(other_truths, minlength=size)[present_truths] < size - 1]
        counts = np.concatenate([true_counts[present_truths], times, np.zeros(len(silent), dtype=np.int64)])
        trials = np.concatenate([truth_counts[present_truths], truth_counts[other_truths], truth_counts[silent]])
        chances = np.where(np.arange(len(counts)) < len(present_truths), p, q)
        return [
            _find_least_tail(counts, trials, chances) * len(present_truths) * size,
            _find_least_tail(offset_counts, int(truth_counts.sum()), np.where(np.arange(size) == 0, p, q)) * size,
            _test_neighbours(self._neighbours, p),
        ]


def _test_bit_counts(packed_bits: Bytes, truth: Ints, size: int, p: float, q: float) -> list[float]:
    """The probability that bits deviate this far by chance, for each of seven kinds of counts."""
    rows, byte, bit_place = np.arange(len(truth)), truth >> 3, (7 - (truth & 7)).astype(np.uint8)
    own_bits = (packed_bits[rows, byte] >> bit_place) & np.uint8(1)
    rest = packed_bits.copy()
    rest[rows, byte] &= ~(np.uint8(1) << bit_place)
    truth_counts = np.bincount(truth, minlength=size)
    return [
        *_test_bits_by_truth(rest, own_bits, truth, truth_counts, p, q),
        _test_neighbouring_answers(own_bits == 1, p),
        _test_bits_per_answer(np.bitwise_count(rest).sum(axis=1, dtype=np.int64), own_bits, size, p, q),
        _test_bit_pairs(rest, truth_counts, q),
    ]


def _test_bits_by_truth(
    rest: Bytes, own_bits: Bytes, truth: Ints, truth_counts: Ints, p: float, q: float
) -> list[float]:
    """Bits of people with the same truth, each alone and together with the truth's bit; both also for everybody, by
    offset from the truth.

    `rest` are the bits without the truth's own.
    """
    size, present_truths = len(truth_counts), np.flatnonzero(truth_counts)
    truth_index = np.cumsum(truth_counts > 0) - 1
    groups, starts, order = _find_key_runs(2 * truth_index[truth] + own_bits)
    true_counts = np.bincount(truth, own_bits, size).astype(np.int64)
    single_tail, joint_tail = (
        _find_least_tail(true_counts[present_truths], truth_counts[present_truths], np.asarray(p)),
        1.0,
    )
    offset_counts = np.zeros((2, size))
    step = 8 * max(_CELLS // (8 * len(truth)), 1)
    for begin in range(0, size, step):
        report_progress("counting the answers", begin, size)
        end = min(begin + step, size)
        bits = np.unpackbits(rest[order, begin // 8 : (end + 7) // 8], axis=1, count=end - begin)
        counts = np.zeros((2 * len(present_truths), end - begin), dtype=np.int64)
        counts[groups] = np.add.reduceat(bits, starts, axis=0, dtype=np.int64)
        every = counts[0::2] + counts[1::2]
        offsets = np.arange(begin, end)[None, :] - present_truths[:, None]
        other = offsets != 0
        trials = np.broadcast_to(truth_counts[present_truths][:, None], other.shape)[other]
        single_tail = min(single_tail, _find_least_tail(every[other], trials, np.asarray(q)))
        joint_tail = min(joint_tail, _find_least_tail(counts[1::2][other], trials, np.asarray(p * q)))
        places = (offsets % size).ravel()
        offset_counts += [np.bincount(places, counts.ravel(), size) for counts in (every, counts[1::2])]
    offset_counts[:, 0] = true_counts.sum()
    chances = np.where(np.arange(size) == 0, p, np.asarray([[q], [p * q]]))
    return [
        single_tail * len(present_truths) * size,
        joint_tail * len(present_truths) * size,
        *(
            _find_least_tail(counts_behind, len(truth), chance) * size
            for counts_behind, chance in zip(offset_counts.astype(np.int64), chances, strict=True)
        ),
    ]


def _test_bits_per_answer(sums: Ints, own_bits: Bytes, size: int, p: float, q: float) -> float:
    """How many bits besides the truth's are set in a row: exactly or at most this many; with and without the truth's
    bit.
    """
    from scipy.special import bdtr, gammaln, xlog1py, xlogy

    counts = np.bincount(own_bits * np.int64(size) + sums, minlength=2 * size).reshape(2, size)
    most, set_ = size - 1, np.arange(size)
    ways = gammaln(most + 1) - gammaln(set_ + 1) - gammaln(most - set_ + 1)
    exactly = np.exp(ways + xlogy(set_, q) + xlog1py(most - set_, -q))
    chances = np.stack([exactly, bdtr(set_.astype(np.float64), most, q)])[:, None, :] * np.asarray([[1 - p], [p]])
    both_counts = np.stack([counts, counts.cumsum(axis=1)])
    return _find_least_tail(both_counts, len(sums), chances) * both_counts.size


def _test_bit_pairs(rest: Bytes, truth_counts: Ints, q: float) -> float:
    """How often two bits are both set, for people whose truth is neither.

    All pairs of up to 1,024 categories; with more, each category with the next ones only.
    """
    size, rows = len(truth_counts), len(rest)
    least, tests = 1.0, 0
    for begin in range(0, size, _BLOCK):
        end = min(begin + 2 * _BLOCK, size)
        joint_counts = np.zeros((min(_BLOCK, end - begin), end - begin))
        step = max(_CELLS // (end - begin), 1)
        for start in range(0, rows, step):
            report_progress("counting the answers", begin * rows + start, size * rows)
            part = rest[start : start + step, begin // 8 : (end + 7) // 8]
            bits = np.unpackbits(part, axis=1, count=end - begin).astype(np.float32)
            joint_counts += bits[:, :_BLOCK].T @ bits
        trials = rows - truth_counts[begin : begin + len(joint_counts), None] - truth_counts[None, begin:end]
        pair = np.triu(np.ones(joint_counts.shape, dtype=np.bool_), 1)
        if pair.any():
            least = min(least, _find_least_tail(joint_counts[pair].astype(np.int64), trials[pair], np.asarray(q * q)))
            tests += int(pair.sum())
    return least * max(tests, 1)


def _test_neighbouring_answers(truth_mask: Flags, p: float) -> float:
    """Whether true answers are adjacent as often as by chance: both of two rows, one, or none."""
    pairs = truth_mask[: len(truth_mask) // 2 * 2].reshape(-1, 2).sum(axis=1)
    return _test_neighbours(np.bincount(pairs, minlength=3), p)


def _test_neighbours(counts: Ints, p: float) -> float:
    """The same from how many pairs have none, one and both."""
    chances = np.asarray([(1 - p) ** 2, 2 * p * (1 - p), p**2])
    return _find_least_tail(counts, int(counts.sum()), chances) * 3


class _KeyRuns(NamedTuple):
    """Equal keys, one run after another."""

    keys: Ints
    """The distinct ones."""
    starts: Ints
    """Where the run of each begins."""
    order: Ints


def _find_key_runs(keys: Ints) -> _KeyRuns:
    """The distinct keys, the start of each key's run in sorted order, and that order."""
    order = np.argsort(keys, kind="stable")
    distinct_keys, starts = np.unique(keys[order], return_index=True)
    return _KeyRuns(distinct_keys, starts.astype(np.int64), order.astype(np.int64))


def _pack_cell_bits(cells: pl.Series, size: int) -> Bytes:
    """The bits of cells, eight per byte; a cell that holds no bits has none set."""
    length = (size + 7) // 8
    texts = cells.cast(pl.String)
    fine = texts.str.contains(f"^x[0-9a-f]{{{2 * length}}}$").fill_null(value=False)
    texts = texts.zip_with(fine, pl.Series(["x" + "00" * length]))
    letters = np.frombuffer(texts.str.join("")[0].encode(), dtype=np.uint8).reshape(len(cells), 1 + 2 * length)[:, 1:]
    digits = np.where(letters > ord("9"), letters - np.uint8(ord("a") - 10), letters - np.uint8(ord("0")))
    packed_bits = np.asarray(digits[:, 0::2] * np.uint8(16) + digits[:, 1::2], dtype=np.uint8)
    packed_bits[:, -1] &= np.uint8(256 - (1 << -size % 8))
    return packed_bits


def _find_least_tail(counts: Ints, trials: Ints | int, chances: Floats) -> float:
    """The smallest two-sided exact binomial tail of several counts.

    With very many, only the most unusual counts on either side by the normal approximation are tested exactly.
    """
    successes, many, chance = (values.ravel() for values in np.broadcast_arrays(counts, trials, chances))
    if len(successes) > 2 * _LOOKED_AT:
        deviations = (successes - many * chance) / np.sqrt(np.maximum(many * chance * (1 - chance), 1e-300))
        order = np.argpartition(deviations, (_LOOKED_AT, len(deviations) - _LOOKED_AT))
        extreme_indices = np.concatenate([order[:_LOOKED_AT], order[-_LOOKED_AT:]])
        successes, many, chance = successes[extreme_indices], many[extreme_indices], chance[extreme_indices]
    return find_least_tail(successes, many, chance)
