# SPDX-License-Identifier: MIT
"""One thread of a search for itemsets: its arrays, its state, and its buffer of found sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from sfumato.arrays import Codes, Ints, Words
from sfumato.kernels.baskets import itemsets_bitmaps, itemsets_lists, itemsets_output
from sfumato.kernels.baskets.itemsets_bitmaps import BitmapStack, SearchRoot, open_root, search_bitmaps
from sfumato.kernels.baskets.itemsets_lists import ListSearch, search_lists
from sfumato.kernels.baskets.itemsets_output import (
    ALL_PATTERNS,
    CLOSED_PATTERNS,
    FULL,
    GROW,
    MAXIMAL_PATTERNS,
    SEARCH_DONE,
    SetBuffer,
    SetPath,
    give_everywhere,
)
from sfumato.kernels.baskets.itemsets_rows import RowLists, RowScratch
from sfumato.mine.baskets.itemset_question import ItemsetQuestion

Piece = TypeVar("Piece")
Keep = Callable[[Codes, Ints, Ints], Piece]
"""Copies codes, the ends of sets among them, and supports into a lasting piece: the given arrays will be overwritten.
"""

BUFFER_CODES = 1 << 17
BUFFER_SETS = 1 << 15
NO_LIMIT = 1 << 62
_SHORT: dict[int, tuple[str, tuple[str, ...]]] = {
    itemsets_output.PATH_ROWS: ("_path", ("rows",)),
    itemsets_output.PATH_PERFECT: ("_path", ("perfect",)),
    itemsets_output.STACK_EXTENSIONS: ("_stack", ("items", "supports", "slots")),
    itemsets_output.STACK_BITS: ("_stack", ("bits",)),
    itemsets_output.STACK_FRAMES: ("_stack", ("frames",)),
    itemsets_output.STACK_EXCLUDED: ("_stack", ("excluded_items", "support_bounds")),
    itemsets_output.STACK_MASKS: ("_stack", ("masks",)),
    itemsets_output.STACK_FOUND: ("_stack", ("maximal_sets",)),
    itemsets_output.STACK_LISTED: ("_stack", ("listed_sets",)),
    itemsets_output.LEVEL_FLAT: ("_lists", ("flat", "places")),
    itemsets_output.LEVEL_ITEMS: ("_lists", ("starts", "codes", "supports")),
}
"""The positions of the arrays that the kernels may find too short."""


@dataclass(slots=True)
class BasketLayout:
    """Baskets in the form of the search: frequent items by rank, rare first, in lists or in bitmaps."""

    rows: int
    everywhere: Codes
    """Items of every basket, if they are not branched on."""
    codes: Codes
    counts: Ints
    longest: int
    words: int
    lists: RowLists | None = None
    bits: Words | None = None


class SearchWorker(Generic[Piece]):
    """A search that can be paused and resumed. Arrays start small; the kernels report when one must grow."""

    def __init__(
        self,
        question: ItemsetQuestion,
        layout: BasketLayout,
        keep: Keep[Piece],
        found_by_all: list[tuple[object, Words]] | None = None,
    ) -> None:
        """Create the arrays; maximal sets found over bitmaps are shared, so that no thread searches them again."""
        self._layout, self._keep, self._question = layout, keep, question
        self._found_by_all = [] if found_by_all is None else found_by_all
        self._known_count = self._shared_sets = 0
        self._make_arrays()
        self._make_stack()
        state, everywhere, costs = self._state, layout.everywhere, question.costs
        state[itemsets_output.LEAST], state[itemsets_output.KIND] = question.least, question.kind
        state[itemsets_output.MAX_LENGTH] = question.max_length or NO_LIMIT
        state[itemsets_output.PAIR_COST], state[itemsets_output.LIST_COST] = costs.pair, costs.list
        state[itemsets_output.WORD_COST], state[itemsets_output.MAP_COST] = costs.word, costs.map
        state[itemsets_output.FOLD], state[itemsets_output.DEPTH] = question.folds, -1
        if question.kind:
            self._path.rows[: everywhere.size] = everywhere
            self._frames[0, itemsets_lists.LIST_LENGTH] = everywhere.size
        else:
            self._path.perfect[: everywhere.size] = everywhere
            state[itemsets_output.PERFECT] = everywhere.size
        if layout.bits is not None:
            self._set_root(layout.bits)

    def _make_arrays(self) -> None:
        layout = self._layout
        items = layout.codes.size
        stride = layout.longest + layout.everywhere.size + 2
        self._state = np.zeros(itemsets_output.FIELDS, dtype=np.int64)
        self._state[itemsets_output.STRIDE] = stride
        codes = np.empty(max(BUFFER_CODES, 4 * stride), np.int32)
        self._output = SetBuffer(codes, np.empty(BUFFER_SETS, np.int64), np.empty(BUFFER_SETS, np.int64))
        self._path = SetPath(
            rows=np.zeros(8 * stride, dtype=np.int32),
            perfect=np.zeros(64 + items + layout.everywhere.size, dtype=np.int32),
        )
        self._frames = np.zeros((4, itemsets_lists.LIST_FRAME), dtype=np.int64)
        self._lists = RowLists(
            flat=np.empty(64, np.uint32),
            places=np.empty(64, np.uint32),
            starts=np.empty(64, np.int64),
            codes=np.empty(64, np.int32),
            supports=np.empty(64, np.int64),
        )
        self._root = SearchRoot(np.empty(items + 1, dtype=np.int32), np.empty(items + 1, dtype=np.int64))
        self._scratch = RowScratch(
            tally=np.zeros(items + 1, np.uint32),
            bitmap=np.zeros(items + 1, np.uint64),
            number_of=np.zeros(items + 1, np.uint32),
            kept_items=np.empty(items + 1, np.uint32),
            counts=np.empty(items + 1, np.uint32),
            maps=np.empty(items + 1, np.uint64),
        )

    def _make_stack(self) -> None:
        items = self._layout.codes.size
        self._stack = BitmapStack(
            items=np.empty(4 * items + 64, np.uint32),
            supports=np.empty(4 * items + 64, np.int64),
            slots=np.empty(4 * items + 64, np.uint64),
            bits=np.empty(4096, dtype=np.uint64),
            frames=np.zeros((16, itemsets_bitmaps.BRANCH_FRAME), dtype=np.int64),
            excluded_items=np.empty(2 * items + 64, np.uint32),
            masks=np.zeros(4 * (items // 64 + 2), dtype=np.uint64),
            maximal_sets=np.zeros(64, dtype=np.uint64),
            listed_sets=np.empty(64, dtype=np.uint32),
            support_bounds=np.empty(2 * items + 64, np.int64),
        )

    def _set_root(self, bits: Words) -> None:
        layout = self._layout
        items = layout.codes.size
        self._stack = self._stack._replace(bits=np.concatenate((bits, np.empty(bits.size + 4096, dtype=np.uint64))))
        self._root = SearchRoot(layout.codes, layout.counts)
        self._state[itemsets_output.ROOT_ITEMS], self._state[itemsets_output.ROOT_WORDS] = items, layout.words
        self._stack.items[:items] = np.arange(items)
        self._stack.supports[:items] = layout.counts
        self._stack.slots[:items] = np.arange(items) * layout.words

    def find_in_every_basket(self) -> Iterator[Piece]:
        """Find the sets that only hold items of every basket, before any task."""
        layout, state = self._layout, self._state
        state[itemsets_output.PENDING_SUPPORT] = layout.rows
        size = layout.everywhere.size
        if self._question.kind == ALL_PATTERNS:
            status = FULL
            while status != SEARCH_DONE:
                state[itemsets_output.WORK_LEFT] = NO_LIMIT
                status = give_everywhere(state, self._output, self._path)
                if status == FULL:
                    yield self.drain()
            return
        is_asked_for = self._question.kind == CLOSED_PATTERNS or not layout.codes.size
        if is_asked_for and 0 < size <= state[itemsets_output.MAX_LENGTH]:
            self._output.codes[:size] = layout.everywhere
            self._output.ends[0], self._output.supports[0] = size, layout.rows
            state[itemsets_output.SETS], state[itemsets_output.CODES] = 1, size

    def begin(self, first: int, stop: int) -> None:
        """Take tasks `first` to `stop`."""
        if self._layout.bits is None:
            self._frames[0, itemsets_lists.ITEM_INDEX], self._frames[0, itemsets_lists.LIST_ITEMS] = first, stop
            return
        self._learn()
        length = self._layout.everywhere.size if self._question.kind else 0
        open_root(self._state, self._root, self._stack, length, self._state[itemsets_output.PERFECT], first, stop)

    @property
    def task(self) -> int:
        """The first task that was not started."""
        if self._layout.bits is None:
            return int(self._frames[0, itemsets_lists.ITEM_INDEX])
        return int(self._stack.frames[0, itemsets_bitmaps.BRANCH_INDEX])

    def stop_after_task(self) -> int:
        """Leave the tasks that were not started to others; returns the first of them."""
        if self._layout.bits is None:
            self._frames[0, itemsets_lists.LIST_ITEMS] = self.task
        else:
            self._stack.frames[0, itemsets_bitmaps.BRANCH_STOP] = self.task
        return self.task

    def search_in_steps(self, work: int) -> Iterator[bool]:
        """Search until done; regularly yield whether the buffer is full and must be drained."""
        while (status := self._advance_search(work)) != SEARCH_DONE:
            yield status == FULL
        self._tell()

    @property
    def has_output(self) -> bool:
        """Whether the buffer holds anything."""
        return bool(self._state[itemsets_output.SETS])

    def drain(self) -> Piece:
        """Empty the buffer and return a copy of its content."""
        sets, codes = int(self._state[itemsets_output.SETS]), int(self._state[itemsets_output.CODES])
        self._state[itemsets_output.SETS] = self._state[itemsets_output.CODES] = 0
        return self._keep(self._output.codes[:codes], self._output.ends[:sets], self._output.supports[:sets])

    def _advance_search(self, work: int) -> int:
        self._state[itemsets_output.WORK_LEFT] = work
        while True:
            if self._layout.bits is not None:
                status = search_bitmaps(self._state, self._output, self._path, self._root, self._stack)
            else:
                search = ListSearch(
                    self._state, self._output, self._path, self._root, self._stack, self._frames, self._lists,
                    self._scratch,
                )  # fmt: skip
                status = search_lists(search, self._layout.lists)
            if status != GROW:
                return int(status)
            self._grow(int(self._state[itemsets_output.SHORT_OF]), int(self._state[itemsets_output.SHORT_SIZE]))

    def _grow(self, array_number: int, needed_length: int) -> None:
        size = needed_length + needed_length // 2 + 16
        if array_number == itemsets_output.LEVEL_FRAMES:
            self._frames = _lengthen_array(self._frames, size)
            return
        name, short = _SHORT[array_number]
        arrays = getattr(self, name)
        longer = {array: _lengthen_array(getattr(arrays, array), size) for array in short}
        setattr(self, name, arrays._replace(**longer))

    def _learn(self) -> None:
        """Take over the maximal sets that other threads have found."""
        if self._question.kind != MAXIMAL_PATTERNS:
            return
        words = -(-self._layout.codes.size // 64)
        for finder, masks in self._found_by_all[self._known_count :]:
            if finder is self:
                continue
            known_words = int(self._state[itemsets_output.FOUND_COUNT]) * words
            if known_words + masks.size > self._stack.maximal_sets.size:
                self._stack = self._stack._replace(
                    maximal_sets=_lengthen_array(self._stack.maximal_sets, 2 * (known_words + masks.size))
                )
            self._stack.maximal_sets[known_words : known_words + masks.size] = masks
            self._state[itemsets_output.FOUND_COUNT] += masks.size // max(words, 1)
        self._known_count = len(self._found_by_all)
        self._shared_sets = int(self._state[itemsets_output.FOUND_COUNT])

    def _tell(self) -> None:
        """Share the maximal sets found since the last tasks were taken with other threads."""
        if self._question.kind != MAXIMAL_PATTERNS or self._layout.bits is None:
            return
        words = -(-self._layout.codes.size // 64)
        new = self._stack.maximal_sets[
            self._shared_sets * words : int(self._state[itemsets_output.FOUND_COUNT]) * words
        ]
        if new.size:
            self._found_by_all.append((self, new.copy()))


def _lengthen_array(array: Any, size: int) -> Any:
    longer = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
