# SPDX-License-Identifier: MIT
"""One thread of a search for itemsets: its arrays, where it stands, and its buffer of found sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from sfumato.arrays import Codes, Ints, Words

Piece = TypeVar("Piece")
Keep = Callable[[Codes, Ints, Ints], Piece]
"""Makes a lasting piece of codes, the ends of sets among them, and supports: the arrays given will be overwritten."""

BUFFER_CODES = 1 << 17
BUFFER_SETS = 1 << 15
UNBOUNDED = 1 << 62


@dataclass(frozen=True, slots=True)
class Costs:
    """What steps cost, in tenths of a nanosecond on a common machine; they decide the way, never the result."""

    pair: int = 25
    """Meeting two items in a row of a list."""
    list: int = 1500
    """Beginning an item's list."""
    word: int = 1
    """Intersecting two words of bitmaps."""
    map: int = 20
    """Intersecting two bitmaps, besides their words."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for."""

    least: int
    kind: int
    """0 all, 1 closed, 2 maximal: the kernels' numbers."""
    max_length: int | None
    costs: Costs = Costs()

    @property
    def folds(self) -> bool:
        """Whether an item in all baskets of a set is added to it without branching; its length must not matter."""
        return self.kind > 0 or self.max_length is None


@dataclass(slots=True)
class Layout:
    """Baskets as the search wants them: frequent items by rank, rare first, in lists or else in bitmaps."""

    rows: int
    everywhere: Codes
    """Items of every basket, if they are not branched on."""
    codes: Codes
    counts: Ints
    longest: int
    words: int
    lists: tuple[Any, ...] | None = None
    bits: Words | None = None
    shifts: Words | None = None
    """If baskets that are alike were merged: each bit of word i stands for 2 ** shifts[i] of them."""


class Worker(Generic[Piece]):
    """A search that can be left and resumed. Arrays are small at first; the kernels say when one must grow."""

    def __init__(
        self,
        question: Question,
        layout: Layout,
        keep: Keep[Piece],
        found_by_all: list[tuple[object, Words]] | None = None,
    ) -> None:
        """Make the arrays; maximal sets found over bitmaps are shared, so that no thread looks inside them again."""
        from sfumato.kernels.baskets import itemsets_bitmaps as bitmaps
        from sfumato.kernels.baskets import itemsets_lists as lists
        from sfumato.kernels.baskets import itemsets_output as output

        self._bitmaps, self._lists, self._fields = bitmaps, lists, output
        self._layout, self._keep, self._question = layout, keep, question
        self._found_by_all = [] if found_by_all is None else found_by_all
        self._known = self._told = 0
        self._make_arrays()
        state, everywhere = self._state, layout.everywhere
        state[output.LEAST], state[output.KIND] = question.least, question.kind
        state[output.MAX_LENGTH] = question.max_length or UNBOUNDED
        costs = question.costs
        state[output.PAIR_COST], state[output.LIST_COST] = costs.pair, costs.list
        state[output.WORD_COST], state[output.MAP_COST] = costs.word, costs.map
        state[output.FOLD], state[output.DEPTH] = question.folds, -1
        if question.kind:
            self._rows[: everywhere.size] = everywhere
            self._level_frames[0, lists.LENGTH] = everywhere.size
        else:
            self._perfect[: everywhere.size] = everywhere
            state[output.PERFECT] = everywhere.size
        if layout.bits is not None:
            self._set_root(layout.bits)

    def _make_arrays(self) -> None:
        layout = self._layout
        items = layout.codes.size
        stride = layout.longest + layout.everywhere.size + 2
        self._state = np.zeros(self._fields.FIELDS, dtype=np.int64)
        self._state[self._fields.STRIDE] = stride
        self._output = (
            np.empty(max(BUFFER_CODES, 4 * stride), np.int32),
            np.empty(BUFFER_SETS, np.int64),
            np.empty(BUFFER_SETS, np.int64),
        )
        self._rows = np.zeros(8 * stride, dtype=np.int32)
        self._perfect = np.zeros(64 + items + layout.everywhere.size, dtype=np.int32)
        self._extensions = [np.empty(4 * items + 64, kind) for kind in (np.uint32, np.int64, np.uint64)]
        self._bits = np.empty(4096, dtype=np.uint64)
        self._frames = np.zeros((16, self._bitmaps.FRAME), dtype=np.int64)
        self._excluded = [np.empty(2 * items + 64, kind) for kind in (np.uint32, np.int64)]
        self._masks = np.zeros(4 * (items // 64 + 2), dtype=np.uint64)
        self._found = np.zeros(64, dtype=np.uint64)
        self._listed = np.empty(64, dtype=np.uint32)
        self._shifts = np.empty(0, dtype=np.uint64) if layout.shifts is None else layout.shifts
        self._level_frames = np.zeros((4, self._lists.FRAME), dtype=np.int64)
        self._level_flat = [np.empty(64, dtype=np.uint32) for _ in range(2)]
        self._level_items = [np.empty(64, kind) for kind in (np.int64, np.int32, np.int64)]
        self._root = (np.empty(items + 1, dtype=np.int32), np.empty(items + 1, dtype=np.int64))
        self._scratch = (
            np.zeros(items + 1, np.uint32), np.zeros(items + 1, np.uint64), np.zeros(items + 1, np.uint32),
            np.empty(items + 1, np.uint32), np.empty(items + 1, np.uint32), np.empty(items + 1, np.uint64),
        )  # fmt: skip

    def _set_root(self, bits: Words) -> None:
        layout, fields = self._layout, self._fields
        items = layout.codes.size
        self._bits = np.concatenate((bits, np.empty(bits.size + 4096, dtype=np.uint64)))
        self._root = (layout.codes, layout.counts)
        self._state[fields.ROOT_ITEMS], self._state[fields.ROOT_WORDS] = items, layout.words
        ids, supports, slots = self._extensions
        ids[:items] = np.arange(items)
        supports[:items] = layout.counts
        slots[:items] = np.arange(items) * layout.words

    def everywhere(self) -> Iterator[Piece]:
        """Find the sets that only hold items of every basket, before any task."""
        fields, layout, state = self._fields, self._layout, self._state
        state[fields.PENDING_SUPPORT] = layout.rows
        size = layout.everywhere.size
        if self._question.kind == fields.ALL:
            status = fields.FULL
            while status != fields.DONE:
                state[fields.WORK_LEFT] = UNBOUNDED
                status = fields.give_everywhere(state, self._output, (self._rows, self._perfect))
                if status == fields.FULL:
                    yield self.drain()
            return
        is_asked_for = self._question.kind == fields.CLOSED or not layout.codes.size
        if is_asked_for and 0 < size <= state[fields.MAX_LENGTH]:
            self._output[0][:size] = layout.everywhere
            self._output[1][0], self._output[2][0] = size, layout.rows
            state[fields.SETS], state[fields.CODES] = 1, size

    def begin(self, first: int, stop: int) -> None:
        """Take tasks `first` to `stop`."""
        if self._layout.bits is None:
            self._level_frames[0, self._lists.AT], self._level_frames[0, self._lists.ITEMS] = first, stop
            return
        self._learn()
        length = self._layout.everywhere.size if self._question.kind else 0
        perfect = self._state[self._fields.PERFECT]
        self._bitmaps.open_root(self._state, self._root, self._stack(), length, perfect, first, stop)

    @property
    def task(self) -> int:
        """The first task that was not begun."""
        if self._layout.bits is None:
            return int(self._level_frames[0, self._lists.AT])
        return int(self._frames[0, self._bitmaps.AT])

    def stop_after_task(self) -> int:
        """Leave the tasks that were not begun to others; returns the first of them."""
        if self._layout.bits is None:
            self._level_frames[0, self._lists.ITEMS] = self.task
        else:
            self._frames[0, self._bitmaps.STOP] = self.task
        return self.task

    def steps(self, work: int) -> Iterator[bool]:
        """Search on until done; every so often say whether the buffer is full and must be drained."""
        while (status := self._advance(work)) != self._fields.DONE:
            yield status == self._fields.FULL
        self._tell()

    @property
    def has_output(self) -> bool:
        """Whether there is something in the buffer."""
        return bool(self._state[self._fields.SETS])

    def drain(self) -> Piece:
        """What is in the buffer, kept; the buffer is empty then."""
        fields = self._fields
        sets, codes = int(self._state[fields.SETS]), int(self._state[fields.CODES])
        self._state[fields.SETS] = self._state[fields.CODES] = 0
        return self._keep(self._output[0][:codes], self._output[1][:sets], self._output[2][:sets])

    def _advance(self, work: int) -> int:
        fields = self._fields
        self._state[fields.WORK_LEFT] = work
        while True:
            path = (self._rows, self._perfect)
            if self._layout.bits is not None:
                status = self._bitmaps.search_bitmaps(self._state, self._output, path, self._root, self._stack())
            else:
                levels = (self._level_frames, (*self._level_flat, *self._level_items))
                status = self._lists.search_lists(
                    self._state, self._output, path, self._layout.lists, self._root, self._stack(), levels,
                    self._scratch,
                )  # fmt: skip
            if status != fields.GROW:
                return int(status)
            self._grow(int(self._state[fields.SHORT_OF]), int(self._state[fields.SHORT_SIZE]))

    def _stack(self) -> tuple[Any, ...]:
        excluded, within = self._excluded
        return (
            *self._extensions, self._bits, self._frames, excluded, self._masks, self._found, self._listed, within,
            self._shifts,
        )  # fmt: skip

    def _grow(self, which: int, needed: int) -> None:
        fields = self._fields
        name = {
            fields.PATH_ROWS: "_rows", fields.PATH_PERFECT: "_perfect", fields.STACK_EXTENSIONS: "_extensions",
            fields.STACK_BITS: "_bits", fields.STACK_FRAMES: "_frames", fields.STACK_EXCLUDED: "_excluded",
            fields.STACK_MASKS: "_masks", fields.STACK_FOUND: "_found", fields.STACK_LISTED: "_listed",
            fields.LEVEL_FRAMES: "_level_frames", fields.LEVEL_FLAT: "_level_flat", fields.LEVEL_ITEMS: "_level_items",
        }[which]  # fmt: skip
        size = needed + needed // 2 + 16
        old = getattr(self, name)
        setattr(self, name, [_longer(array, size) for array in old] if isinstance(old, list) else _longer(old, size))

    def _learn(self) -> None:
        """Take over the maximal sets that other threads have found."""
        if self._question.kind != self._fields.MAXIMAL:
            return
        words = -(-self._layout.codes.size // 64)
        for finder, masks in self._found_by_all[self._known :]:
            if finder is self:
                continue
            known = int(self._state[self._fields.FOUND]) * words
            if known + masks.size > self._found.size:
                self._found = _longer(self._found, 2 * (known + masks.size))
            self._found[known : known + masks.size] = masks
            self._state[self._fields.FOUND] += masks.size // max(words, 1)
        self._known = len(self._found_by_all)
        self._told = int(self._state[self._fields.FOUND])

    def _tell(self) -> None:
        """Let other threads know the maximal sets found since the last tasks were taken."""
        if self._question.kind != self._fields.MAXIMAL or self._layout.bits is None:
            return
        words = -(-self._layout.codes.size // 64)
        new = self._found[self._told * words : int(self._state[self._fields.FOUND]) * words]
        if new.size:
            self._found_by_all.append((self, new.copy()))


def _longer(array: Any, size: int) -> Any:
    longer = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
