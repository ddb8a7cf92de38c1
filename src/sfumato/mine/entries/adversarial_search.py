# SPDX-License-Identifier: MIT
"""The search behind `adversarial_rules`: a table packed for the kernel, run in steps, rules as arrays.

The kernel returns every few hundredths of a second, so that a run can report progress, and be stopped by its budget or
by Ctrl-C. Threads share the work by the first item of an antecedent; their results are put in one order.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Bytes, Codes, Flags, Ints
from sfumato.mine.entries.cells import MISSING_ITEM, PRIVATE, PUBLIC, TableCells
from sfumato.mine.entries.rule_arrays import RuleArrays, build_no_rules, join_rule_arrays
from sfumato.runtime import progress

if TYPE_CHECKING:
    from sfumato.kernels.entries.adversarial_frames import RuleSettings

STEP = "adversarial rules"
MOST_THREADS = 4
LARGEST = 1000
"""How many items are distributed to threads by their work; the rest alternate."""
WORTH_THREADS = 100_000
"""From this many entries of a table, threads share the search."""
ROOM = 4096
"""The initial capacity for rules."""
AFFORD = 2**22
"""The most words of bits for a node; one that would need more stores row numbers."""
PART = 1 << 20
"""How many rows are packed at a time: nothing else of a large table is copied."""
BUDGET = 20_000_000
"""How many rows the kernel visits before it returns: some hundredths of a second."""


@dataclass(frozen=True)
class SearchBudget:
    """What a search may spend, from its creation."""

    seconds: float | None = None
    memory: int | None = None
    """Bytes."""
    start_time: float = field(default_factory=monotonic)

    def is_spent(self, memory: int) -> bool:
        """Whether time is up, or this much memory is too much."""
        late = self.seconds is not None and monotonic() - self.start_time > self.seconds
        return late or (self.memory is not None and memory > self.memory)


@dataclass(frozen=True)
class _PackedTable:
    """What the kernel reads."""

    cell: Codes
    """Columns by rows: the item of a public entry, `items` + the item of a private one, 2 `items` for nothing."""
    earlier: Codes
    """The same as `cell` for touched rows before they were touched."""
    tracks_rows: bool
    """Whether touched rows are followed."""
    items: int
    """The number of items."""
    first: Ints
    """The items of column j are `first[j]` up to `first[j + 1]`."""


def find_adversarial_rules(
    cells: TableCells,
    states: Bytes,
    confidence: Fraction,
    least: int,
    max_length: int | None = None,
    prior: bool = False,
    *,
    touched_mask: Flags | None = None,
    earlier_states: Bytes | None = None,
    with_rows: bool = False,
    budget: SearchBudget | None = None,
) -> RuleArrays:
    """All adversarial rules of a table whose entries are in these states.

    With `touched_mask`, only the rules whose antecedent publicly appeared in a touched row under the states
    `earlier_states` (by default `states`): no other rule can have appeared, disappeared or changed when these rows
    changed.
    """
    if least > len(cells.codes) or (touched_mask is not None and not touched_mask.any()):
        return build_no_rules()
    budget = budget or SearchBudget()
    packed_table = _pack_table(
        cells, states, touched_mask, earlier_states, in_order=with_rows or touched_mask is not None
    )
    settings = _build_settings(packed_table, confidence, max(least, 1), max_length, prior=prior, lists_rows=with_rows)
    shares = (
        _split_first_items(packed_table) if touched_mask is None and packed_table.cell.size >= WORTH_THREADS else []
    )
    if len(shares) < 2:
        run = _KernelSearch(packed_table, settings, np.ones(packed_table.items, dtype=bool))
        return run.collect_rules(complete=run.run(budget))
    # Of several searches that share the work, only the first reports the rules of the empty antecedent.
    other_settings = settings._replace(prior=0)
    searches = [
        _KernelSearch(packed_table, settings if index == 0 else other_settings, share)
        for index, share in enumerate(shares)
    ]
    return join_rule_arrays(_run_searches(searches, budget))


def _split_first_items(packed_table: _PackedTable) -> list[Flags]:
    """Which items may come first in each thread's antecedents, with about equal work.

    A row is visited below an item once for each set of items in later columns that it has in common with others.
    """
    threads = min(MOST_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    counts = np.bincount(packed_table.cell.ravel(), minlength=2 * packed_table.items + 1)[: packed_table.items].astype(
        np.float64
    )
    pairs = np.add.reduceat(np.append(counts**2, 0), packed_table.first[:-1]) / max(len(packed_table.cell), 1) ** 2
    visit_factors = np.append(np.cumprod((1 + pairs)[::-1])[::-1][1:], 1)
    work = counts * np.repeat(visit_factors, np.diff(packed_table.first))
    shares = np.zeros((threads, packed_table.items), dtype=bool)
    thread_work = np.zeros(threads)
    order = np.argsort(-work, kind="stable")
    for item in order[:LARGEST]:
        least = int(thread_work.argmin())
        shares[least, item] = True
        thread_work[least] += work[item]
    for index in range(threads):
        shares[index, order[LARGEST + index :: threads]] = True
    return list(shares)


def _run_searches(searches: list[_KernelSearch], budget: SearchBudget) -> list[RuleArrays]:
    """Run each search in a thread; this thread reports progress, and stops them if it is interrupted."""
    share = replace(budget, memory=None if budget.memory is None else budget.memory // len(searches))
    with ThreadPoolExecutor(len(searches)) as threads:
        runs = [threads.submit(search.run, share) for search in searches]
        try:
            is_running = True
            while is_running:
                progress.report_progress(STEP, sum(search.rules for search in searches))
                is_running = bool(wait(runs, timeout=0.05).not_done)
        finally:
            for search in searches:
                search.is_halted = True
    return [search.collect_rules(complete=run.result()) for search, run in zip(searches, runs, strict=True)]


def _pack_table(
    cells: TableCells, states: Bytes, touched_mask: Flags | None, earlier_states: Bytes | None, *, in_order: bool
) -> _PackedTable:
    items = int(cells.first[-1])
    order = None if in_order else _order_rows(cells, states)
    cell: Codes = np.empty(cells.codes.shape, dtype=np.int32)
    for begin in range(0, len(cell), PART):
        part = slice(begin, begin + PART) if order is None else order[begin : begin + PART]
        cell[begin : begin + PART] = _encode_states(cells.codes[part], states[part], items)
    earlier = np.zeros((0, cell.shape[1]), dtype=np.int32)
    if touched_mask is not None:
        base_states = states if earlier_states is None else earlier_states
        earlier = _encode_states(cells.codes[touched_mask], base_states[touched_mask], items)
    return _PackedTable(cell, earlier, touched_mask is not None, items, cells.first.astype(np.int64))


def _encode_states(codes: Codes, states: Bytes, items: int) -> Codes:
    cell = np.where(states == PRIVATE, codes + np.int32(items), codes)
    cell[(codes == MISSING_ITEM) | ((states != PRIVATE) & (states != PUBLIC))] = 2 * items
    return cell


def _order_rows(cells: TableCells, states: Bytes) -> Ints:
    """An order in which rows that agree in the first columns are adjacent, for memory locality."""
    key = np.zeros(len(cells.codes), dtype=np.int64)
    reach = 1
    for column, (low, high) in enumerate(pairwise(cells.first.tolist())):
        reach *= high - low + 1
        if reach >= 2**62:
            break
        codes = cells.codes[:, column]
        key *= high - low + 1
        key += np.where(
            (codes != MISSING_ITEM) & (states[:, column] == PUBLIC), codes - np.int32(low), np.int32(high - low)
        )
    return np.argsort(key, kind="stable")


def _build_settings(
    packed_table: _PackedTable,
    confidence: Fraction,
    least: int,
    max_length: int | None,
    *,
    prior: bool,
    lists_rows: bool,
) -> RuleSettings:
    from sfumato.kernels.entries.adversarial_frames import RuleSettings

    columns = packed_table.cell.shape[1]
    threshold = round_up_fraction(confidence, len(packed_table.cell))
    longest = columns if max_length is None else min(max_length, columns)
    return RuleSettings(
        values=packed_table.items,
        columns=columns,
        least=least,
        least_fitting=ceil(confidence * least),
        numerator=threshold.numerator,
        denominator=threshold.denominator,
        longest=longest,
        prior=int(prior),
        lists_rows=int(lists_rows),
        tracks_rows=int(packed_table.tracks_rows),
        afford=AFFORD,
    )


def round_up_fraction(share: Fraction, most: int) -> Fraction:
    """The smallest fraction not below `share` with a denominator of at most `most`.

    Shares of up to `most` rows compare with it as they do with `share`, and in 64 bits.
    """
    approximation = share.limit_denominator(most)
    if approximation >= share:
        return approximation
    # The next fraction up in the Farey sequence: the largest denominator that makes the two neighbours.
    low_denominator = approximation.denominator
    inverse = pow(approximation.numerator, -1, low_denominator) if low_denominator > 1 else 0
    denominator = most - (most + inverse) % low_denominator
    return Fraction(1 + approximation.numerator * denominator, low_denominator * denominator)


class _KernelSearch:
    """One run of the kernel: its input, its state, and growing buffers."""

    def __init__(self, packed_table: _PackedTable, settings: RuleSettings, searched_mask: Flags) -> None:
        from sfumato.kernels.entries import adversarial_frames

        columns = packed_table.cell.shape[1]
        widest = int(np.diff(packed_table.first).max(initial=0))
        self.is_halted = False
        self._packed_entries = adversarial_frames.PackedEntries(
            packed_table.cell, packed_table.earlier, packed_table.first, settings, searched_mask
        )
        hiding_mask = _flag_hiding_rows(packed_table)
        runs = [np.flatnonzero(hiding_mask), np.flatnonzero(~hiding_mask), np.arange(len(packed_table.earlier))]
        self._stacks = adversarial_frames.NodeStacks(
            state=np.zeros(adversarial_frames.STATE, dtype=np.int64),
            frames=np.zeros((columns + 2, adversarial_frames.FRAME_FIELDS), dtype=np.int64),
            targets=np.zeros((columns + 2, columns), dtype=np.int64),
            children=np.zeros((packed_table.items + 1, adversarial_frames.FRAME_COUNT + 1), dtype=np.int64),
            rows=np.concatenate(runs).astype(np.int32),
            bits=np.zeros(0, dtype=np.uint64),
            steps=np.zeros((ROOM, adversarial_frames.STEP_FIELDS), dtype=np.int64),
            pairs=np.zeros((ROOM, adversarial_frames.PAIR_FIELDS), dtype=np.int64),
        )
        self._stacks.state[adversarial_frames.STATE_DEPTH] = -1
        self._stacks.frames[0, adversarial_frames.HIDING_BEGIN : adversarial_frames.FRAME_END + 1] = np.cumsum(
            [0, *map(len, runs)]
        )
        self._stacks.frames[0, adversarial_frames.FRAME_COLUMN] = -1
        self._stacks.frames[0, adversarial_frames.FRAME_COUNT] = len(packed_table.cell)
        self._room = adversarial_frames.ValueRoom(
            slot=np.zeros(2 * packed_table.items + 1, dtype=np.int32),
            names=np.zeros(widest + 3, dtype=np.int32),
            tally=np.zeros((widest + 3, 4), dtype=np.int64),
            alive=np.zeros(2 * packed_table.items + 1, dtype=np.uint8),
        )
        self._buffer = adversarial_frames.RuleBuffer(
            rules=np.zeros((ROOM, 6), dtype=np.int32),
            starts=np.zeros(ROOM + 1, dtype=np.int64),
            items=np.zeros(4 * ROOM, dtype=np.int32),
            list_starts=np.zeros(ROOM + 1, dtype=np.int64),
            listed_rows=np.zeros(0, dtype=np.int32),
        )

    def run(self, budget: SearchBudget) -> bool:
        """Search to the end, or until a budget is spent; returns whether the end was reached."""
        from sfumato.kernels.entries.adversarial_frames import ALL_DONE, MORE

        while True:
            came_back = self._step()
            progress.report_progress(STEP, self.rules)
            if came_back == ALL_DONE:
                return True
            if came_back != MORE:
                self._grow(came_back)
            if self.is_halted or budget.is_spent(self.memory):
                return False

    def _step(self) -> int:
        from sfumato.kernels.entries.adversarial_rules import search_adversarial_rules

        return int(search_adversarial_rules(self._packed_entries, self._stacks, self._room, self._buffer, BUDGET))

    def _grow(self, full: int) -> None:
        from sfumato.kernels.entries import adversarial_frames

        need, stacks, buffer = int(self._stacks.state[adversarial_frames.NEED]), self._stacks, self._buffer
        if full == adversarial_frames.RULES_FULL:
            rules = _lengthen_buffer(buffer.rules, need)
            starts, list_starts = (
                _lengthen_buffer(starts, len(rules) + 1) for starts in (buffer.starts, buffer.list_starts)
            )
            self._buffer = buffer._replace(rules=rules, starts=starts, list_starts=list_starts)
        elif full in (adversarial_frames.ITEMS_FULL, adversarial_frames.LISTS_FULL):
            name = "items" if full == adversarial_frames.ITEMS_FULL else "listed_rows"
            self._buffer = buffer._replace(**{name: _lengthen_buffer(getattr(buffer, name), need)})
        else:
            name = {
                adversarial_frames.STACK_FULL: "rows",
                adversarial_frames.BITS_FULL: "bits",
                adversarial_frames.STEPS_FULL: "steps",
                adversarial_frames.PAIRS_FULL: "pairs",
            }[full]
            self._stacks = stacks._replace(**{name: _lengthen_buffer(getattr(stacks, name), need)})

    @property
    def rules(self) -> int:
        """How many rules were found so far."""
        from sfumato.kernels.entries.adversarial_frames import RULES

        return int(self._stacks.state[RULES])

    @property
    def memory(self) -> int:
        """Bytes in use, including the packed table."""
        own_bytes = sum(array.nbytes for array in (*self._stacks, *self._room, *self._buffer))
        return own_bytes + self._packed_entries.cell.nbytes + self._packed_entries.earlier.nbytes

    def collect_rules(self, *, complete: bool) -> RuleArrays:
        """The rules found, those of an antecedent in the order of their targets."""
        from sfumato.kernels.entries.adversarial_frames import ANTECEDENTS, STATE_ITEMS, STATE_LISTED

        state, rules = self._stacks.state, self._buffer.rules[: self.rules]
        order = np.argsort(rules[:, 0] * np.int64(self._packed_entries.settings.values) + rules[:, 1], kind="stable")
        names = ("antecedent", "target", "public_counts", "public_fit", "hidden_counts", "hidden_fit")
        counts: dict[str, Codes] = {name: rules[order, index] for index, name in enumerate(names)}
        antecedents = int(state[ANTECEDENTS])
        return RuleArrays(
            start=self._buffer.starts[: antecedents + 1].copy(),
            items=self._buffer.items[: state[STATE_ITEMS]].copy(),
            row_start=self._buffer.list_starts[: antecedents + 1].copy(),
            rows=self._buffer.listed_rows[: state[STATE_LISTED]].copy(),
            complete=complete,
            **counts,
        )


def _flag_hiding_rows(packed_table: _PackedTable) -> Flags:
    """The rows that have a private entry."""
    parts = (packed_table.cell[begin : begin + PART] for begin in range(0, len(packed_table.cell), PART))
    flags = [((part >= packed_table.items) & (part < 2 * packed_table.items)).any(axis=1) for part in parts]
    return np.concatenate([np.zeros(0, dtype=np.bool_), *flags])


def _lengthen_buffer(buffer: npt.NDArray[Any], need: int) -> npt.NDArray[Any]:
    longer_buffer = np.zeros((max(need, 2 * len(buffer)), *buffer.shape[1:]), dtype=buffer.dtype)
    longer_buffer[: len(buffer)] = buffer
    return longer_buffer
