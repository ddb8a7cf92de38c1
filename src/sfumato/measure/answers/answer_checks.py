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
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Bytes, Flags, Floats, Ints
from sfumato.data.hierarchy import spell_cells
from sfumato.measure.alignment import Rows, align_originals, make_comparison_check, require_columns
from sfumato.measure.checks import checks_claim
from sfumato.progress import report_progress
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
    published: Table, column: str, kind: str, categories: Sequence[str], missing: str = "keep"
) -> int:
    """How many published cells of a column are not possible answers."""
    require_columns(published.frame, [column], published.source)
    cells = published.frame[column].drop_nulls()
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
    allowed = [f"{digit:x}" for digit in range(0, 16, 1 << spare)]
    return int((~(fine & last.is_in(allowed))).sum())


def measure_channel_deviation(
    original: Table,
    published: Table,
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
    taken = align_originals(original, published, rows)
    require_columns(taken, (column, *person), original.source)
    require_columns(published.frame, [column], published.source)
    names: list[str | None] = [*categories, None] if missing == "answer" else list(categories)
    truth = index_categories(taken[column], names)
    there = _flag_first_rows(taken, column, person) & (truth >= 0)
    if not there.any():
        return 0.0
    cells = published.frame[column].filter(pl.Series(there))
    truth = truth[there]
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
    original: Table, published: Table, column: str, person: Sequence[str], rows: Rows = None
) -> int:
    """How many people have two different answers to one question with the same truth."""
    taken = align_originals(original, published, rows)
    require_columns(taken, (column, *person), original.source)
    keys = [spell_cells(taken[name]).alias(f"x{index}") for index, name in enumerate((*person, column))]
    frame = pl.DataFrame([*keys, spell_cells(published.frame[column]).alias("y")])
    return int((frame.group_by([key.name for key in keys]).agg(pl.col("y").n_unique())["y"] > 1).sum())


def count_cells_changed_besides_answers(
    original: Table, published: Table, columns: Sequence[str], missing: str = "keep", rows: Rows = None
) -> int:
    """How many other cells were changed, and how many answers became missing or known."""
    taken = align_originals(original, published, rows)
    require_columns(taken, published.frame.columns, original.source)
    require_columns(published.frame, columns, published.source)
    count = 0
    for name in published.frame.columns:
        if name not in columns:
            count += int(spell_cells(published.frame[name]).ne_missing(spell_cells(taken[name])).sum())
        elif missing == "keep":
            count += int((published.frame[name].is_null() != taken[name].is_null()).sum())
    return count


checks_claim("answer_epsilon", "at_most", properties=("epsilon", "epsilon_in_all"), arguments=("kind", "p", "q"))(
    lambda _, arguments: compute_answer_epsilon(**arguments)
)
checks_claim("strange_answers", "exactly", arguments=("categories", "column", "kind", "missing"))(
    lambda evidence, arguments: count_strange_answers(evidence.published, **arguments)
)
checks_claim("answers_off_channel", "at_most", needs_original=True)(make_comparison_check(measure_channel_deviation))
checks_claim("answers_that_differ", "exactly", needs_original=True)(make_comparison_check(count_differing_answers))
checks_claim("changed_beside_answers", "exactly", needs_original=True, of_the_rest=True)(
    make_comparison_check(count_cells_changed_besides_answers)
)


def index_categories(cells: pl.Series, names: Sequence[str | None]) -> Ints:
    """The index of each cell among the categories; −1 without one."""
    places = {name: index for index, name in enumerate(names)}
    texts = spell_cells(cells)
    known = [name for name in names if name is not None]
    codes = texts.replace_strict(known, [places[name] for name in known], default=-1, return_dtype=pl.Int64)
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
    """Single answers, counted by the truth and beside their neighbours; rows are added in their order."""

    def __init__(self, size: int) -> None:
        """Count nothing yet, for so many possible answers."""
        self.size = size
        self._pairs, self._choose_times = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self._held = np.zeros(size, dtype=np.int64)
        self._neighbours = np.zeros(3, dtype=np.int64)
        self._last: Flags = np.zeros(0, dtype=np.bool_)

    def add(self, truth: Ints, answers: Ints) -> None:
        """Count the next rows; a row without a possible answer has a negative one."""
        self._held += np.bincount(truth, minlength=self.size)
        has_answer = answers >= 0
        pairs, times = np.unique(truth[has_answer] * self.size + answers[has_answer], return_counts=True)
        self._pairs, places = np.unique(np.concatenate([self._pairs, pairs]), return_inverse=True)
        self._choose_times = np.bincount(places, np.concatenate([self._choose_times, times]), len(self._pairs)).astype(
            np.int64
        )
        kept = np.concatenate([self._last, answers == truth])
        whole = len(kept) // 2 * 2
        self._neighbours += np.bincount(kept[:whole].reshape(-1, 2).sum(axis=1), minlength=3)
        self._last = kept[whole:]

    def test(self, p: float, q: float) -> list[float]:
        """The probability that the answers deviate this far from the channel by chance, for each kind of counts."""
        size, held, times = self.size, self._held, self._choose_times
        met = np.flatnonzero(held)
        true, answer = np.divmod(self._pairs, size)
        behind = np.bincount((answer - true) % size, times, size).astype(np.int64)
        kept = np.zeros(size, dtype=np.int64)
        kept[true[true == answer]] = times[true == answer]
        others, times = true[true != answer], times[true != answer]
        # Answers never given are evidence too: for each truth one such answer represents all, as they are alike.
        silent = met[np.bincount(others, minlength=size)[met] < size - 1]
        counts = np.concatenate([kept[met], times, np.zeros(len(silent), dtype=np.int64)])
        asked = np.concatenate([held[met], held[others], held[silent]])
        chances = np.where(np.arange(len(counts)) < len(met), p, q)
        return [
            _find_least_tail(counts, asked, chances) * len(met) * size,
            _find_least_tail(behind, int(held.sum()), np.where(np.arange(size) == 0, p, q)) * size,
            _test_neighbours(self._neighbours, p),
        ]


def _test_bit_counts(packed: Bytes, truth: Ints, size: int, p: float, q: float) -> list[float]:
    """The probability that bits deviate this far by chance, for each of seven kinds of counts."""
    rows, byte, bit_place = np.arange(len(truth)), truth >> 3, (7 - (truth & 7)).astype(np.uint8)
    own = (packed[rows, byte] >> bit_place) & np.uint8(1)
    rest = packed.copy()
    rest[rows, byte] &= ~(np.uint8(1) << bit_place)
    held = np.bincount(truth, minlength=size)
    return [
        *_test_bits_by_truth(rest, own, truth, held, p, q),
        _test_neighbouring_answers(own == 1, p),
        _test_bits_per_answer(np.bitwise_count(rest).sum(axis=1, dtype=np.int64), own, size, p, q),
        _test_bit_pairs(rest, held, q),
    ]


def _test_bits_by_truth(rest: Bytes, own: Bytes, truth: Ints, held: Ints, p: float, q: float) -> list[float]:
    """Bits of people with the same truth, each alone and together with the truth's bit; both also for everybody, by
    offset from the truth.

    `rest` are the bits without the truth's own.
    """
    size, met = len(held), np.flatnonzero(held)
    truth_index = np.cumsum(held > 0) - 1
    groups, starts, order = _find_key_runs(2 * truth_index[truth] + own)
    kept = np.bincount(truth, own, size).astype(np.int64)
    alone, together = _find_least_tail(kept[met], held[met], np.asarray(p)), 1.0
    behind = np.zeros((2, size))
    step = 8 * max(_CELLS // (8 * len(truth)), 1)
    for begin in range(0, size, step):
        report_progress("counting the answers", begin, size)
        end = min(begin + step, size)
        bits = np.unpackbits(rest[order, begin // 8 : (end + 7) // 8], axis=1, count=end - begin)
        counts = np.zeros((2 * len(met), end - begin), dtype=np.int64)
        counts[groups] = np.add.reduceat(bits, starts, axis=0, dtype=np.int64)
        every = counts[0::2] + counts[1::2]
        which = np.arange(begin, end)[None, :] - met[:, None]
        other = which != 0
        asked = np.broadcast_to(held[met][:, None], other.shape)[other]
        alone = min(alone, _find_least_tail(every[other], asked, np.asarray(q)))
        together = min(together, _find_least_tail(counts[1::2][other], asked, np.asarray(p * q)))
        places = (which % size).ravel()
        behind += [np.bincount(places, counts.ravel(), size) for counts in (every, counts[1::2])]
    behind[:, 0] = kept.sum()
    chances = np.where(np.arange(size) == 0, p, np.asarray([[q], [p * q]]))
    return [
        alone * len(met) * size,
        together * len(met) * size,
        *(
            _find_least_tail(counts_behind, len(truth), chance) * size
            for counts_behind, chance in zip(behind.astype(np.int64), chances, strict=True)
        ),
    ]


def _test_bits_per_answer(sums: Ints, own: Bytes, size: int, p: float, q: float) -> float:
    """How many bits besides the truth's are set in a row: exactly or at most this many; with and without the truth's
    bit.
    """
    from scipy.special import bdtr, gammaln, xlog1py, xlogy

    counts = np.bincount(own * np.int64(size) + sums, minlength=2 * size).reshape(2, size)
    most, set_ = size - 1, np.arange(size)
    ways = gammaln(most + 1) - gammaln(set_ + 1) - gammaln(most - set_ + 1)
    exactly = np.exp(ways + xlogy(set_, q) + xlog1py(most - set_, -q))
    chances = np.stack([exactly, bdtr(set_.astype(np.float64), most, q)])[:, None, :] * np.asarray([[1 - p], [p]])
    both_counts = np.stack([counts, counts.cumsum(axis=1)])
    return _find_least_tail(both_counts, len(sums), chances) * both_counts.size


def _test_bit_pairs(rest: Bytes, held: Ints, q: float) -> float:
    """How often two bits are both set, for people whose truth is neither.

    All pairs of up to 1,024 categories; with more, each category with the next ones only.
    """
    size, rows = len(held), len(rest)
    least, tests = 1.0, 0
    for begin in range(0, size, _BLOCK):
        end = min(begin + 2 * _BLOCK, size)
        both = np.zeros((min(_BLOCK, end - begin), end - begin))
        step = max(_CELLS // (end - begin), 1)
        for start in range(0, rows, step):
            report_progress("counting the answers", begin * rows + start, size * rows)
            part = rest[start : start + step, begin // 8 : (end + 7) // 8]
            bits = np.unpackbits(part, axis=1, count=end - begin).astype(np.float32)
            both += bits[:, :_BLOCK].T @ bits
        asked = rows - held[begin : begin + len(both), None] - held[None, begin:end]
        pair = np.triu(np.ones(both.shape, dtype=np.bool_), 1)
        if pair.any():
            least = min(least, _find_least_tail(both[pair].astype(np.int64), asked[pair], np.asarray(q * q)))
            tests += int(pair.sum())
    return least * max(tests, 1)


def _test_neighbouring_answers(kept: Flags, p: float) -> float:
    """Whether true answers are adjacent as often as by chance: both of two rows, one, or none."""
    pairs = kept[: len(kept) // 2 * 2].reshape(-1, 2).sum(axis=1)
    return _test_neighbours(np.bincount(pairs, minlength=3), p)


def _test_neighbours(counts: Ints, p: float) -> float:
    """The same from how many pairs have none, one and both."""
    chances = np.asarray([(1 - p) ** 2, 2 * p * (1 - p), p**2])
    return _find_least_tail(counts, int(counts.sum()), chances) * 3


def _find_key_runs(keys: Ints) -> tuple[Ints, Ints, Ints]:
    """The distinct keys, the start of each key's run in sorted order, and that order."""
    order = np.argsort(keys, kind="stable")
    distinct_keys, starts = np.unique(keys[order], return_index=True)
    return distinct_keys, starts.astype(np.int64), order.astype(np.int64)


def _pack_cell_bits(cells: pl.Series, size: int) -> Bytes:
    """The bits of cells, eight per byte; a cell that holds no bits has none set."""
    length = (size + 7) // 8
    texts = cells.cast(pl.String)
    fine = texts.str.contains(f"^x[0-9a-f]{{{2 * length}}}$").fill_null(value=False)
    texts = texts.zip_with(fine, pl.Series(["x" + "00" * length]))
    letters = np.frombuffer(texts.str.join("")[0].encode(), dtype=np.uint8).reshape(len(cells), 1 + 2 * length)[:, 1:]
    digits = np.where(letters > ord("9"), letters - np.uint8(ord("a") - 10), letters - np.uint8(ord("0")))
    packed = np.asarray(digits[:, 0::2] * np.uint8(16) + digits[:, 1::2], dtype=np.uint8)
    packed[:, -1] &= np.uint8(256 - (1 << -size % 8))
    return packed


def _find_least_tail(counts: Ints, asked: Ints | int, chances: Floats) -> float:
    """The smallest two-sided exact binomial tail of several counts.

    With very many, only the most unusual counts on either side by the normal approximation are tested exactly.
    """
    from scipy.special import bdtr, bdtrc

    successes, many, chance = (values.ravel() for values in np.broadcast_arrays(counts, asked, chances))
    if not len(successes):
        return 1.0
    if len(successes) > 2 * _LOOKED_AT:
        off = (successes - many * chance) / np.sqrt(np.maximum(many * chance * (1 - chance), 1e-300))
        order = np.argpartition(off, (_LOOKED_AT, len(off) - _LOOKED_AT))
        chosen = np.concatenate([order[:_LOOKED_AT], order[-_LOOKED_AT:]])
        successes, many, chance = successes[chosen], many[chosen], chance[chosen]
    success_floats = successes.astype(np.float64)
    below = bdtr(success_floats, many, chance)
    above = np.where(successes > 0, bdtrc(success_floats - 1, many, chance), 1.0)
    return min(2 * float(np.minimum(below, above).min()), 1.0)
