# SPDX-License-Identifier: MIT
"""Run a search for itemsets: lay out baskets, distribute tasks to threads, pass on found sets in pieces.

A task is one item with all that comes after it in the search's order, from rare to frequent. One thread begins; if it
does not finish within some milliseconds, a second one takes tasks as well. Each thread repeatedly fills a small buffer
of its own and passes its content to a :data:`Keep`. Pieces are put in the order of tasks, so that threads do not change
the result.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

import numpy as np

from sfumato.arrays import Codes, Words
from sfumato.baskets import Baskets
from sfumato.kernels.baskets.itemsets_bits import BLOCK
from sfumato.kernels.baskets.itemsets_prepare import (
    count_codes,
    lay_bitmaps,
    lay_lists,
    measure_rows,
)
from sfumato.kernels.baskets.itemsets_rows import RowLists
from sfumato.mine.baskets.itemset_question import ItemsetQuestion
from sfumato.mine.baskets.itemset_worker import BasketLayout, Keep, SearchWorker
from sfumato.runtime import progress

Piece = TypeVar("Piece")

STEP = "Looking for frequent itemsets"
FIRST_WORK = 4_000_000
WORK = 40_000_000
THREAD_DELAY = 0.004
"""Seconds before a second thread pays off."""
BATCHES = 64


def lay_out_baskets(baskets: Baskets, question: ItemsetQuestion) -> BasketLayout:
    """Rank the frequent items, rare first, and lay out the baskets in the form for which the first step is cheaper."""
    rows = len(baskets)
    counts = np.zeros(len(baskets.items), dtype=np.int64)
    count_codes(baskets.codes, counts)
    is_everywhere = (counts == rows) & (rows >= question.least) & question.folds
    frequent = np.flatnonzero((counts >= question.least) & ~is_everywhere)
    order = frequent[np.argsort(counts[frequent], kind="stable")]
    layout = BasketLayout(
        rows=rows,
        everywhere=np.flatnonzero(is_everywhere).astype(np.int32),
        codes=order.astype(np.int32),
        counts=counts[order],
        longest=0,
        words=0,
    )
    _lay_rows(baskets, layout, question)
    return layout


def _are_maps_cheaper(items: int, words: int, paired_sizes: Codes, question: ItemsetQuestion) -> bool:
    """Whether the first step costs less with bitmaps of this many words than with lists of baskets of these sizes."""
    costs, sizes = question.costs, paired_sizes.astype(np.int64)
    return items**2 * (words * costs.word + costs.map) <= costs.pair * int(sizes @ sizes)


def _count_blocks(words: int) -> int:
    """The number of whole blocks for this many words, at least one."""
    return max(1, -(-words // BLOCK)) * BLOCK


def _lay_rows(baskets: Baskets, layout: BasketLayout, question: ItemsetQuestion) -> None:
    """Bitmaps with a bit per basket, or lists."""
    items = layout.codes.size
    rank = np.full(len(baskets.items), -1, dtype=np.int32)
    rank[layout.codes] = np.arange(items, dtype=np.int32)
    sizes = np.empty(layout.rows, dtype=np.int32)
    measure_rows(baskets.codes, baskets.offsets, rank, sizes)
    paired_sizes = sizes[sizes >= 2]
    layout.longest, layout.words = int(sizes.max(initial=0)), _count_blocks(-(-paired_sizes.size // 64))
    if _are_maps_cheaper(items, layout.words, paired_sizes, question):
        layout.bits = np.zeros(items * layout.words, dtype=np.uint64)
        lay_bitmaps(baskets.codes, baskets.offsets, rank, sizes, layout.words, layout.bits)
        return
    starts = np.empty(items + 1, dtype=np.int64)
    entry_count = int(paired_sizes.sum(dtype=np.int64))
    flat = np.empty(entry_count + paired_sizes.size + 1, dtype=np.uint32)
    places = np.empty(entry_count, dtype=np.uint32)
    lay_lists(baskets.codes, baskets.offsets, rank, sizes, starts, flat, places)
    layout.lists = RowLists(flat, places, starts, layout.codes, layout.counts)


def search_in_turn(baskets: Baskets, question: ItemsetQuestion, keep: Keep[Piece]) -> Iterator[Piece]:
    """Search in one thread and pass on each piece as soon as the buffer is full: nothing is kept in memory."""
    layout = lay_out_baskets(baskets, question)
    worker = SearchWorker(question, layout, keep)
    yield from worker.find_in_every_basket()
    worker.begin(0, layout.codes.size)
    for is_full in worker.search_in_steps(WORK):
        progress.report_progress(STEP, worker.task, layout.codes.size)
        if is_full:
            yield worker.drain()
    if worker.has_output:
        yield worker.drain()


def search_together(baskets: Baskets, question: ItemsetQuestion, keep: Keep[Piece]) -> list[Piece]:
    """Search in one thread, or two if it takes long, and return all pieces in order."""
    layout = lay_out_baskets(baskets, question)
    return _ThreadedSearch(question, layout, keep).run()


@dataclass(slots=True)
class _TaskBatch(Generic[Piece]):
    """Tasks that one thread does in sequence, and what it found."""

    first: int
    stop: int
    pieces: list[Piece]


class _ThreadedSearch(Generic[Piece]):
    """One search, in one or two threads."""

    def __init__(self, question: ItemsetQuestion, layout: BasketLayout, keep: Keep[Piece]) -> None:
        self.question, self.layout, self.keep = question, layout, keep
        self.batches: list[_TaskBatch[Piece]] = []
        self.queue: list[_TaskBatch[Piece]] = []
        self.next_batch = count()
        self.failures: list[BaseException] = []
        self.maximal_sets: list[tuple[object, Words]] = []
        self.is_stopped = False
        self.done_count = 0

    def run(self) -> list[Piece]:
        begin = time.monotonic()
        tasks = self.layout.codes.size
        worker = SearchWorker(self.question, self.layout, self.keep, self.maximal_sets)
        pieces = list(worker.find_in_every_basket())
        worker.begin(0, tasks)
        for is_full in worker.search_in_steps(FIRST_WORK):
            progress.report_progress(STEP, worker.task, tasks)
            if is_full:
                pieces.append(worker.drain())
            if time.monotonic() - begin > THREAD_DELAY and (os.cpu_count() or 1) > 1:
                self.done_count = worker.stop_after_task()
                self._cut()
                pieces += self._run_together(worker)
                break
        if worker.has_output:
            pieces.append(worker.drain())
        return pieces + [piece for batch in self.batches for piece in batch.pieces]

    def _cut(self) -> None:
        """Cut the remaining tasks into batches.

        Over bitmaps each task is a batch, and learns from those before it. Lists are cut into equal shares of
        occurrences, and the last are taken first: their items are in most baskets, and at the end one thread would wait
        for them.
        """
        tasks = self.layout.codes.size
        ends = np.arange(self.done_count + 1, tasks + 1)
        if self.layout.bits is None and ends.size:
            shares = np.cumsum(self.layout.counts[self.done_count :])
            cuts = np.searchsorted(shares, shares[-1] * np.arange(1, BATCHES + 1) // BATCHES)
            ends = ends[np.unique(cuts)]
        first = self.done_count
        for end in ends.tolist():
            self.batches.append(_TaskBatch(first, end, []))
            first = end
        self.queue = self.batches if self.layout.bits is not None else self.batches[::-1]

    def _run_together(self, worker: SearchWorker[Piece]) -> list[Piece]:
        """Finish the current task, then take batches, while another thread takes batches too."""
        own_pieces: list[Piece] = []
        other = threading.Thread(target=self._take_batches, name="itemsets", daemon=True)
        if self.batches:
            other.start()
        try:
            self._finish(worker, own_pieces)
            if worker.has_output:
                own_pieces.append(worker.drain())
            self._run_worker(worker)
            if self.batches:
                other.join()
        except BaseException:
            self.is_stopped = True
            if self.batches:
                other.join()
            raise
        if self.failures:
            raise self.failures[0]
        return own_pieces

    def _take_batches(self) -> None:
        try:
            self._run_worker(SearchWorker(self.question, self.layout, self.keep, self.maximal_sets))
        except BaseException as failure:  # passed to the waiting thread
            self.failures.append(failure)

    def _run_worker(self, worker: SearchWorker[Piece]) -> None:
        while (number := next(self.next_batch)) < len(self.queue):
            batch = self.queue[number]
            worker.begin(batch.first, batch.stop)
            self._finish(worker, batch.pieces)
            if worker.has_output:
                batch.pieces.append(worker.drain())
            self.done_count += batch.stop - batch.first

    def _finish(self, worker: SearchWorker[Piece], pieces: list[Piece]) -> None:
        for is_full in worker.search_in_steps(WORK):
            if self.is_stopped or self.failures:
                return
            progress.report_progress(STEP, self.done_count, self.layout.codes.size)
            if is_full:
                pieces.append(worker.drain())


__all__ = ["ItemsetQuestion", "Keep", "search_in_turn", "search_together"]
