# SPDX-License-Identifier: MIT
"""Run a search for subsequences: lay out sequences, distribute tasks to threads, collect found patterns.

A task is one frequent item with all patterns that begin with it. One thread begins; if it does not finish within some
milliseconds, a second one takes tasks as well. Patterns are put in the order of tasks, so that threads do not change
the result.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.data.reading.arrow_memory import keep_free_memory
from sfumato.errors import DataError
from sfumato.kernels.sequences import subsequences_output, subsequences_prepare
from sfumato.kernels.sequences.distinct_rows import find_distinct_rows
from sfumato.kernels.sequences.subsequences_lists import SequenceLists
from sfumato.kernels.sequences.subsequences_masks import MOST_ITEMS, MaskRows, lay_masks
from sfumato.mine.sequences.subsequence_worker import (
    FoundPatterns,
    SequenceLayout,
    SubsequenceQuestion,
    SubsequenceWorker,
    make_mask_pairs,
    make_mask_stack,
)
from sfumato.runtime import progress
from sfumato.sequences import Sequences

STEP = "Looking for frequent subsequences"
FIRST_WORK = 4_000_000
WORK = 40_000_000
THREAD_DELAY = 0.004
"""Seconds before a second thread pays off."""
MANY_ENTRIES = 1 << 16
"""With this many rows of first items, it does so at once."""
BATCHES = 16
SAMPLE = 4096
MANY_ROWS = 1 << 16
"""This many rows are searched for equal ones in any case; of fewer, a sample first."""
LEAST_REPEATED = 0.125
"""The least share of rows that others are equal to, for a search over distinct rows."""
MOST_ROWS = 1 << 25
"""Positions of tokens are numbers of 32 bits."""

Allow = Callable[[int, int], None]
"""Called with the number of patterns and codes so far; raises if they are too many."""


def search_subsequences(sequences: Sequences, question: SubsequenceQuestion, allow: Allow) -> list[FoundPatterns]:
    """All patterns that are asked for, in pieces, in order."""
    keep_free_memory()
    layout = lay_out_sequences(sequences, question)
    return _ThreadedSequenceSearch(question, layout, allow).run() if layout.codes.size else []


def lay_out_sequences(sequences: Sequences, question: SubsequenceQuestion) -> SequenceLayout:
    """Rank the frequent items and lay out the sequences for the search that fits."""
    if len(sequences) > MOST_ROWS or sequences.codes.size > 1 << 31:
        raise DataError(f"{len(sequences):,} sequences are more than one search takes; mine a part of them")
    row_offsets = np.ascontiguousarray(sequences.element_offsets[sequences.offsets])
    counts = np.zeros(len(sequences.items), dtype=np.int64)
    subsequences_prepare.count_rows_of_codes(sequences.codes, row_offsets, np.full_like(counts, -1), counts)
    frequent = np.flatnonzero(counts >= question.least)
    rank = np.full(counts.size, -1, dtype=np.int32)
    rank[frequent] = np.arange(frequent.size, dtype=np.int32)
    layout = SequenceLayout(frequent.astype(np.int32), counts[frequent], 0)
    layout.joins = subsequences_prepare.has_joins(sequences.codes, sequences.element_offsets, rank)
    is_free = not (question.is_limited or question.kind)
    if is_free and not layout.joins:
        _lay_lists(sequences, question, row_offsets, rank, layout)
        return layout
    from sfumato.mine.sequences.element_layout import lay_elements, lay_whole_joins

    if not (is_free and lay_whole_joins(sequences, question, rank, layout)):
        lay_elements(sequences, rank, layout, least=question.least if is_free else 0)
    return layout


def _lay_lists(
    sequences: Sequences, question: SubsequenceQuestion, row_offsets: Ints, rank: Codes, layout: SequenceLayout
) -> None:
    items = layout.codes.size
    starts = np.concatenate(([0], np.cumsum(layout.counts)))
    flat = np.empty(sequences.codes.size + len(sequences) + 1, dtype=np.int32)
    places = np.empty(int(starts[-1]), dtype=np.uint32)
    last_rows = np.full(items, -1, dtype=np.int64)
    flat_length = subsequences_prepare.lay_rows(sequences.codes, row_offsets, rank, last_rows, flat, starts, places)
    flat = flat[:flat_length]
    bounds = np.concatenate(([0], np.flatnonzero(flat == subsequences_prepare.MARK) + 1))
    layout.longest = max(int(np.diff(bounds).max(initial=0)) - 1, 0)
    if items > MOST_ITEMS:
        layout.lists = SequenceLists(flat, places, starts, layout.codes)
        return
    rows = _merge_equal_rows(_MarkedSequences(flat, bounds, starts), items)
    words = (np.diff(rows.bounds) + 62) >> 6  # a mark is no position
    layout.masks = MaskRows(
        followers=np.empty(len(rows.flat), dtype=np.uint64),
        bits=np.empty(int(words.sum()) * items, dtype=np.uint64),
        codes=layout.codes,
        starts=rows.starts,
        tokens=places,
        slots=np.empty_like(places),
        **make_mask_pairs(),
    )
    if rows.weights is not None:
        layout.masks.heavy[0] = rows.bounds[np.searchsorted(rows.weights, 2)]
        layout.masks = layout.masks._replace(weights=np.repeat(rows.weights, words))
    state = np.zeros(subsequences_output.PATTERN_FIELDS, dtype=np.int64)
    state[subsequences_output.PATTERN_LEAST], state[subsequences_output.MASK_ITEMS] = question.least, items
    lay_masks(state, rows.flat, len(rows.flat), layout.masks, make_mask_stack())


class _MarkedSequences(NamedTuple):
    """Rows of ranks with marks after them."""

    flat: Codes
    bounds: Ints
    starts: Ints
    """Where the first places of each rank begin, if they are listed one rank after another."""
    weights: Ints | None = None
    """How often each row occurs, ascending."""


def _merge_equal_rows(rows: _MarkedSequences, items: int) -> _MarkedSequences:
    """Each row once, with its weight, if that is worth the search for equal ones; rows with a weight come last."""
    count = len(rows.bounds) - 1
    if count < MANY_ROWS:
        sample = rows.bounds[: SAMPLE + 1]
        if count < SAMPLE or len(find_distinct_rows(rows.flat, sample).firsts) > (1 - LEAST_REPEATED) * SAMPLE:
            return rows
    distinct = find_distinct_rows(rows.flat, rows.bounds)
    if len(distinct.firsts) > (1 - LEAST_REPEATED) * count:
        return rows
    order = np.argsort(distinct.weights, kind="stable")
    firsts, weights = distinct.firsts[order], distinct.weights[order]
    bounds = np.concatenate(([0], np.cumsum(np.diff(rows.bounds)[firsts])))
    flat, counts = np.empty(int(bounds[-1]), dtype=np.int32), np.zeros(items, dtype=np.int64)
    subsequences_prepare.gather_rows(rows.flat, rows.bounds, firsts, np.full(items, -1), flat, counts)
    return _MarkedSequences(flat, bounds, np.concatenate(([0], np.cumsum(counts))), weights)


@dataclass(slots=True)
class _SequenceBatch:
    """Tasks that one thread does in sequence, and what it found."""

    first: int
    stop: int
    pieces: list[FoundPatterns] = field(default_factory=list)


class _ThreadedSequenceSearch:
    """One search, in one or two threads."""

    def __init__(self, question: SubsequenceQuestion, layout: SequenceLayout, allow: Allow) -> None:
        self.question, self.layout, self.allow = question, layout, allow
        self.batches = _cut_tasks(layout)
        self.next_batch = count()
        self.failures: list[BaseException] = []
        self.is_stopped = False
        self.done_count = self.patterns = self.codes = 0
        self.began = time.monotonic()
        self.other: threading.Thread | None = None

    def run(self) -> list[FoundPatterns]:
        self.allow(0, 0)
        try:
            if self.layout.counts.sum() > MANY_ENTRIES:
                self._start_other_thread()
            self._take_batches(is_first=True)
        except BaseException:
            self.is_stopped = True
            raise
        finally:
            if self.other is not None:
                self.other.join()
        if self.failures:
            raise self.failures[0]
        return [piece for batch in self.batches for piece in batch.pieces]

    def _take_batches(self, is_first: bool) -> None:
        worker = SubsequenceWorker(self.question, self.layout)
        while (number := next(self.next_batch)) < len(self.batches):
            batch = self.batches[number]
            worker.begin(batch.first, batch.stop)
            for is_full in worker.search_in_steps(FIRST_WORK if is_first and self.other is None else WORK):
                if self.is_stopped or self.failures:
                    return
                if is_full:
                    self._keep(worker, batch)
                if is_first:
                    progress.report_progress(STEP, self.done_count, self.layout.codes.size)
                    self._call_other_thread()
            self._keep(worker, batch)
            self.done_count += batch.stop - batch.first
            if is_first:
                self._call_other_thread()

    def _call_other_thread(self) -> None:
        """Start a second thread once the search has taken some time."""
        if self.other is None and time.monotonic() - self.began > THREAD_DELAY:
            self._start_other_thread()

    def _start_other_thread(self) -> None:
        if (os.cpu_count() or 1) > 1:
            self.other = threading.Thread(target=self._help, name="subsequences", daemon=True)
            self.other.start()

    def _help(self) -> None:
        try:
            self._take_batches(is_first=False)
        except BaseException as failure:  # passed to the waiting thread
            self.failures.append(failure)

    def _keep(self, worker: SubsequenceWorker, batch: _SequenceBatch) -> None:
        if not worker.has_output:
            return
        piece = worker.drain()
        self.patterns += piece.supports.size
        self.codes += piece.codes.size
        self.allow(self.patterns, self.codes)
        batch.pieces.append(piece)


def _cut_tasks(layout: SequenceLayout) -> list[_SequenceBatch]:
    """Cut the tasks into batches of about equal shares."""
    tasks = layout.codes.size
    batches = min(BATCHES, 1 + int(np.count_nonzero(layout.counts)))
    shares = np.cumsum(layout.counts + 1)
    cuts = np.searchsorted(shares, shares[-1] * np.arange(1, batches + 1) // batches)
    ends = (np.unique(np.minimum(cuts, tasks - 1)) + 1).tolist()
    return [_SequenceBatch(first, stop) for first, stop in zip([0, *ends[:-1]], ends, strict=True)]
