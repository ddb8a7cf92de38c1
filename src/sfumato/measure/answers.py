# SPDX-License-Identifier: MIT
"""Whether randomized answers are what was promised: ε by its formula, frequencies by the originals.

Nothing of the method is used here. How often the truth and each other answer was given is compared with the stated
probabilities by exact binomial tails, shown as standard errors of a normal distribution. An answer is counted by how
many places it lies behind the truth, in the order of the categories. Warner 1965, seed 001; Wang and others 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.data.hierarchy import spelt
from sfumato.measure.alignment import Rows, beside, compared, present
from sfumato.release import Number
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.measure.checks import Evidence

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_MOST_ERRORS = 37.0
_CELLS = 20_000_000


def answer_epsilon(kind: str | Sequence[str], p: Any, q: Any) -> float:
    """ε of randomized answers from their probabilities; of several columns the sum."""
    if not isinstance(kind, str):
        every = zip(kind, p, q, strict=True)
        return round(sum(answer_epsilon(one, float(a), float(b)) for one, a, b in every), 12)
    if kind == "unary":
        return round(abs(log(p) - log(1 - p) + log(1 - q) - log(q)), 12)
    return round(abs(log(p) - log(q)), 12)


def strange_answers(published: Table, column: str, kind: str, categories: Sequence[str], missing: str = "keep") -> int:
    """How many published cells of a column are no possible answer."""
    present(published.frame, [column], published.source)
    cells = published.frame[column].drop_nulls()
    if kind != "unary":
        return int((~spelt(cells).is_in(list(categories))).sum())
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


def answers_off_channel(
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
    """By how many standard errors answers are off the probabilities p of the truth and q of each other answer.

    The worst of all places behind the truth, with regard to how many there are. Rows that tell the same of the same
    `person` are counted once.
    """
    taken = beside(original, published, rows)
    present(taken, (column, *person), original.source)
    present(published.frame, [column], published.source)
    names: list[str | None] = [*categories, None] if missing == "answer" else list(categories)
    truth = _numbers(taken[column], names)
    there = _first_of(taken, column, person) & (truth >= 0)
    if not there.any():
        return 0.0
    cells = published.frame[column].filter(pl.Series(there))
    truth = truth[there]
    if kind == "unary":
        found = _set_behind(cells, truth, len(names))
    else:
        answers = _numbers(cells, names)
        found = np.bincount((answers - truth)[answers >= 0] % len(names), minlength=len(names))
    return _errors(found.astype(np.int64), len(truth), np.asarray([p] + [q] * (len(names) - 1)))


def answers_that_differ(
    original: Table, published: Table, column: str, person: Sequence[str], rows: Rows = None
) -> int:
    """How many people have two answers to one question though the same is true of them."""
    taken = beside(original, published, rows)
    present(taken, (column, *person), original.source)
    keys = [spelt(taken[name]).alias(f"x{at}") for at, name in enumerate((*person, column))]
    frame = pl.DataFrame([*keys, spelt(published.frame[column]).alias("y")])
    return int((frame.group_by([key.name for key in keys]).agg(pl.col("y").n_unique())["y"] > 1).sum())


def changed_beside_answers(
    original: Table, published: Table, columns: Sequence[str], missing: str = "keep", rows: Rows = None
) -> int:
    """How many cells were changed that are no answers, and how many answers are missing that were not, or were."""
    taken = beside(original, published, rows)
    present(taken, published.frame.columns, original.source)
    present(published.frame, columns, published.source)
    count = 0
    for name in published.frame.columns:
        if name not in columns:
            count += int(spelt(published.frame[name]).ne_missing(spelt(taken[name])).sum())
        elif missing == "keep":
            count += int((published.frame[name].is_null() != taken[name].is_null()).sum())
    return count


def evidence_checks() -> Mapping[str, Callable[[Evidence, Mapping[str, Any]], Number]]:
    """The checks by their names: what a claim calls, with its arguments."""
    measures: Mapping[str, Callable[..., Number]] = {
        "answers_off_channel": answers_off_channel,
        "answers_that_differ": answers_that_differ,
        "changed_beside_answers": changed_beside_answers,
    }
    return {
        "answer_epsilon": lambda _, arguments: answer_epsilon(**arguments),
        "strange_answers": lambda evidence, arguments: strange_answers(evidence.published, **arguments),
        **{name: compared(measure) for name, measure in measures.items()},
    }


def _numbers(cells: pl.Series, names: Sequence[str | None]) -> Ints:
    """The place of each cell among the categories; −1 where it has none."""
    places = {name: at for at, name in enumerate(names)}
    texts = spelt(cells)
    known = [name for name in names if name is not None]
    found = texts.replace_strict(known, [places[name] for name in known], default=-1, return_dtype=pl.Int64)
    empty = pl.Series([places.get(None, -1)], dtype=pl.Int64)
    return found.zip_with(texts.is_not_null(), empty).to_numpy().astype(np.int64)


def _first_of(frame: pl.DataFrame, column: str, person: Sequence[str]) -> npt.NDArray[np.bool_]:
    """One row for each person and truth; every row where nobody is known."""
    if not person:
        return np.ones(frame.height, dtype=np.bool_)
    keys = pl.DataFrame([spelt(frame[name]).alias(f"x{at}") for at, name in enumerate((*person, column))])
    return keys.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()


def _set_behind(cells: pl.Series, truth: Ints, size: int) -> Ints:
    """How often the bit is set that stands so many places behind the truth's; a cell that is no bits has none."""
    found = np.zeros(size, dtype=np.int64)
    length = (size + 7) // 8
    read = cells.cast(pl.String).str.slice(1).str.decode("hex", strict=False).fill_null(b"").to_list()
    packed = b"".join(one if len(one) == length else bytes(length) for one in read)
    every = np.frombuffer(packed, dtype=np.uint8).reshape(len(cells), length)
    step = max(_CELLS // size, 1)
    for begin in range(0, len(cells), step):
        bits = np.unpackbits(every[begin : begin + step], axis=1, count=size)
        here = truth[begin : begin + step]
        held = np.bincount(here, minlength=size)
        alike = np.split(np.argsort(here, kind="stable"), np.cumsum(held)[:-1])
        for at in np.flatnonzero(held):
            found += np.roll(bits[alike[at]].sum(axis=0, dtype=np.int64), -at)
    return found


def _errors(found: Ints, n: int, chances: Floats) -> float:
    """The worst of several counts as standard errors: a two-sided exact binomial tail, times how many there are."""
    from scipy.special import bdtr, bdtrc

    counts = found.astype(np.float64)
    below = bdtr(counts, n, chances)
    above = np.where(counts > 0, bdtrc(counts - 1, n, chances), 1.0)
    tail = float(np.clip(2 * np.minimum(below, above).min() * len(chances), 1e-300, 1.0))
    return round(min(abs(NormalDist().inv_cdf(tail / 2)), _MOST_ERRORS), 12)
