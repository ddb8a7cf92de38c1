# SPDX-License-Identifier: MIT
"""How a search for itemsets is run: baskets laid out, tasks handed to threads, found sets handed on in pieces.

A task is one item with all that comes after it in the search's order, from rare to frequent. One thread begins; if
that does not finish within some milliseconds, a second one takes tasks as well. Each thread fills a small buffer of
its own again and again and hands its content to a :data:`Keep`. Pieces are put in the order of tasks, so that threads
change nothing about the result.
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
import numpy.typing as npt

from sfumato import progress
from sfumato.baskets import Baskets
from sfumato.mine.itemset_worker import Codes, Counts, Keep, Layout, Question, Worker

Piece = TypeVar("Piece")

STEP = "Looking for frequent itemsets"
FIRST_WORK = 4_000_000
WORK = 40_000_000
ALONE = 0.004
"""Seconds before a second thread is worth its while."""
BATCHES = 64


def lay_out(baskets: Baskets, question: Question) -> Layout:
    """Rank the frequent items, rare first, and lay the baskets out in the way in which the first step is cheaper."""
    from sfumato.kernels import itemsets_prepare as prepare

    rows = len(baskets)
    counts = np.zeros(len(baskets.items), dtype=np.int64)
    prepare.count_codes(baskets.codes, counts)
    is_everywhere = (counts == rows) & (rows >= question.least) & question.folds
    frequent = np.flatnonzero((counts >= question.least) & ~is_everywhere)
    order = frequent[np.argsort(counts[frequent], kind="stable")]
    rank = np.full(counts.size, -1, dtype=np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    sizes = np.empty(rows, dtype=np.int32)
    prepare.measure_rows(baskets.codes, baskets.offsets, rank, sizes)
    paired = sizes[sizes >= 2].astype(np.int64)
    words = max(1, -(-paired.size // 64))
    layout = Layout(
        rows=rows,
        everywhere=np.flatnonzero(is_everywhere).astype(np.int32),
        codes=order.astype(np.int32),
        counts=counts[order],
        longest=int(sizes.max(initial=0)),
        words=words,
    )
    map_cost = order.size**2 * (words * question.costs.word + question.costs.map)
    if map_cost <= question.costs.pair * int((paired * paired).sum()):
        layout.bits = np.zeros(order.size * words, dtype=np.uint64)
        prepare.lay_bitmaps(baskets.codes, baskets.offsets, rank, sizes, words, layout.bits)
        return layout
    starts = np.empty(order.size + 1, dtype=np.int64)
    flat = np.empty(int(paired.sum()) + paired.size + 1, dtype=np.uint32)
    places = np.empty(int(paired.sum()), dtype=np.uint32)
    prepare.lay_lists(baskets.codes, baskets.offsets, rank, sizes, starts, flat, places)
    layout.lists = (flat, places, starts, layout.codes, layout.counts)
    return layout


def pieces_in_turn(baskets: Baskets, question: Question, keep: Keep[Piece]) -> Iterator[Piece]:
    """Search in one thread and hand over each piece as soon as the buffer is full: nothing is held."""
    layout = lay_out(baskets, question)
    worker = Worker(question, layout, keep)
    yield from worker.everywhere()
    worker.begin(0, layout.codes.size)
    for is_full in worker.steps(WORK):
        progress.tell(STEP, worker.task, layout.codes.size)
        if is_full:
            yield worker.drain()
    if worker.has_output:
        yield worker.drain()


def pieces_together(baskets: Baskets, question: Question, keep: Keep[Piece]) -> list[Piece]:
    """Search in one thread, or two if it takes long, and give all pieces in order."""
    layout = lay_out(baskets, question)
    return _Search(question, layout, keep).run()


@dataclass(slots=True)
class _Batch(Generic[Piece]):
    """Tasks that one thread does one after another, and what it found."""

    first: int
    stop: int
    pieces: list[Piece]


class _Search(Generic[Piece]):
    """One search, by one thread or two."""

    def __init__(self, question: Question, layout: Layout, keep: Keep[Piece]) -> None:
        self.question, self.layout, self.keep = question, layout, keep
        self.batches: list[_Batch[Piece]] = []
        self.next_batch = count()
        self.failures: list[BaseException] = []
        self.found: list[tuple[object, npt.NDArray[np.uint64]]] = []
        self.is_stopped = False
        self.done = 0

    def run(self) -> list[Piece]:
        begin = time.monotonic()
        tasks = self.layout.codes.size
        worker = Worker(self.question, self.layout, self.keep, self.found)
        pieces = list(worker.everywhere())
        worker.begin(0, tasks)
        for is_full in worker.steps(FIRST_WORK):
            progress.tell(STEP, worker.task, tasks)
            if is_full:
                pieces.append(worker.drain())
            if time.monotonic() - begin > ALONE and (os.cpu_count() or 1) > 1:
                self.done = worker.stop_after_task()
                self._cut()
                pieces += self._run_together(worker)
                break
        if worker.has_output:
            pieces.append(worker.drain())
        return pieces + [piece for batch in self.batches for piece in batch.pieces]

    def _cut(self) -> None:
        """Cut the tasks that are left into batches; few and large tasks are batches of their own."""
        left = self.layout.codes.size - self.done
        size = max(1, left // BATCHES) if self.layout.bits is None else 1
        for first in range(self.done, self.layout.codes.size, size):
            self.batches.append(_Batch(first, min(first + size, self.layout.codes.size), []))

    def _run_together(self, worker: Worker[Piece]) -> list[Piece]:
        """Finish the task at hand, then take batches, while another thread takes batches too."""
        own: list[Piece] = []
        other = threading.Thread(target=self._take_batches, name="itemsets", daemon=True)
        if self.batches:
            other.start()
        try:
            self._finish(worker, own)
            if worker.has_output:
                own.append(worker.drain())
            self._work(worker)
            if self.batches:
                other.join()
        except BaseException:
            self.is_stopped = True
            if self.batches:
                other.join()
            raise
        if self.failures:
            raise self.failures[0]
        return own

    def _take_batches(self) -> None:
        try:
            self._work(Worker(self.question, self.layout, self.keep, self.found))
        except BaseException as failure:  # handed to the thread that waits
            self.failures.append(failure)

    def _work(self, worker: Worker[Piece]) -> None:
        while (number := next(self.next_batch)) < len(self.batches):
            batch = self.batches[number]
            worker.begin(batch.first, batch.stop)
            self._finish(worker, batch.pieces)
            if worker.has_output:
                batch.pieces.append(worker.drain())
            self.done += batch.stop - batch.first

    def _finish(self, worker: Worker[Piece], pieces: list[Piece]) -> None:
        for is_full in worker.steps(WORK):
            if self.is_stopped or self.failures:
                return
            progress.tell(STEP, self.done, self.layout.codes.size)
            if is_full:
                pieces.append(worker.drain())


__all__ = ["Codes", "Counts", "Keep", "Question", "pieces_in_turn", "pieces_together"]
