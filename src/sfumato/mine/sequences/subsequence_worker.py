# SPDX-License-Identifier: MIT
"""One thread of a search for subsequences: its arrays, its state, and its buffer of found patterns.

Several searches answer the same calls: over words where at most 64 single items are frequent, over lists where more
are, and over ends for itemsets, limits, and closed or maximal patterns; the last goes on over words of its own if it
can, or begins with them where few items are frequent. Arrays start small; the kernels say which must grow.

Only the kernels of the search that is needed are loaded: those over ends take a tenth of a second to load, and 40 s to
compile the first time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.kernels.sequences import subsequences_lists, subsequences_masks, subsequences_output
from sfumato.kernels.sequences.subsequences_lists import SequenceLists, SequenceSearch, TokenScratch
from sfumato.kernels.sequences.subsequences_masks import MaskRows, MaskStack
from sfumato.kernels.sequences.subsequences_output import FULL, GROW, SEARCH_DONE, PatternBuffer

if TYPE_CHECKING:
    from sfumato.kernels.sequences.subsequences_closed import ElementRows
    from sfumato.kernels.sequences.subsequences_ends import EndSearch
    from sfumato.kernels.sequences.subsequences_joins import JoinRows, JoinStack, JoinTasks
    from sfumato.kernels.sequences.subsequences_pairs import PairCounts

BUFFER_CODES = 1 << 17
BUFFER_PATTERNS = 1 << 15
START = 64


@dataclass(frozen=True, slots=True)
class SubsequenceQuestion:
    """The parameters of a search."""

    least: int
    kind: int = subsequences_output.ALL_PATTERNS
    """0 all, 1 closed, 2 maximal: the kernels' numbers."""
    max_length: int = subsequences_output.NO_LIMIT
    max_gap: int = subsequences_output.NO_LIMIT
    window: int = subsequences_output.NO_LIMIT

    @property
    def is_limited(self) -> bool:
        """Whether matches have limits."""
        return min(self.max_gap, self.window) < subsequences_output.NO_LIMIT


@dataclass(slots=True)
class SequenceLayout:
    """Sequences in the form of one of the searches."""

    codes: Codes
    """The frequent items."""
    counts: Ints
    """How much there is of each, for an even share of work."""
    longest: int
    """The largest number of frequent tokens in a row."""
    joins: bool = False
    lists: SequenceLists | None = None
    masks: MaskRows | None = None
    elements: ElementRows | None = None
    pairs: PairCounts | None = None
    """With elements of itemsets: the patterns of two items, counted before."""
    join_rows: JoinRows | None = None
    tasks: JoinTasks | None = None
    """With `join_rows`."""
    largest: int = 1
    """With `join_rows`: the largest number of frequent items in an element."""


class FoundPatterns(NamedTuple):
    """Some of the found patterns, in lasting arrays."""

    codes: Codes
    ends: Ints
    supports: Ints


class SubsequenceWorker:
    """A search that can be paused and resumed."""

    def __init__(self, question: SubsequenceQuestion, layout: SequenceLayout) -> None:
        """Create the arrays that the layout needs."""
        self._layout, self._question = layout, question
        state = self._state = np.zeros(subsequences_output.PATTERN_FIELDS, dtype=np.int64)
        state[subsequences_output.PATTERN_LEAST], state[subsequences_output.PATTERN_KIND] = (
            question.least,
            question.kind,
        )
        (
            state[subsequences_output.PATTERN_MAX_LENGTH],
            state[subsequences_output.PATTERN_DEPTH],
            state[subsequences_output.JOIN_DEPTH],
        ) = question.max_length, -1, -1
        state[subsequences_output.MAX_GAP], state[subsequences_output.WINDOW] = question.max_gap, question.window
        state[subsequences_output.JOINS] = layout.joins
        state[subsequences_output.FIRST_ONLY] = not layout.joins and not question.is_limited
        self._path = np.empty(layout.longest + 2, dtype=np.int32)
        self._output = PatternBuffer(
            codes=np.empty(max(BUFFER_CODES, 4 * layout.longest), np.int32),
            ends=np.empty(BUFFER_PATTERNS, np.int64),
            supports=np.empty(BUFFER_PATTERNS, np.int64),
        )
        if layout.join_rows is not None:
            self._join_stack = make_join_stack()
        elif layout.elements is not None:
            self._make_end_arrays()
        else:
            self._make_mask_arrays()

    def _make_mask_arrays(self) -> None:
        items = self._layout.codes.size
        self._frames = np.zeros((START, subsequences_lists.LEVEL_FRAME), dtype=np.int64)
        self._lists = SequenceLists(*_make_empty(START, np.int32, np.uint32, np.int64, np.int32))
        self._scratch = TokenScratch(
            np.zeros(items, np.int64), np.zeros(max(items, START), np.int64), np.zeros(items, np.int32)
        )
        self._masks = MaskRows(
            *_make_empty(START + 1, np.uint64, np.uint64, np.int32, np.int64, np.uint32, np.uint32),
            **make_mask_pairs(),
        )
        self._stack = make_mask_stack()

    def _make_end_arrays(self) -> None:
        from sfumato.kernels.sequences.subsequences_closed import InsertionScratch
        from sfumato.kernels.sequences.subsequences_ends import END_FRAME, EndScratch, EndStack
        from sfumato.kernels.sequences.subsequences_joins import MOST_JOIN_ITEMS, JoinRows
        from sfumato.kernels.sequences.subsequences_pairs import PairCounts

        items = self._layout.codes.size
        self._ranks = np.empty_like(self._path)
        self._ends = EndStack(
            np.zeros((8, END_FRAME), dtype=np.int64),
            *_make_empty(2 * items + START, np.int32, np.int64, np.int64, np.int64),
            *_make_empty(4096, np.int32, np.int32),
        )
        self._extensions = EndScratch(*(np.zeros(2 * items, np.int64) for _ in range(3)))
        self._insertions = InsertionScratch(
            begins=np.zeros(self._path.size + 1, np.int64),
            left=np.zeros(self._path.size + 1, np.int64),
            right=np.zeros(self._path.size + 1, np.int64),
            counts=np.zeros(START, np.int32),
            marks=np.zeros(START, np.int64),
        )
        self._join = JoinRows(
            masks=np.empty(4096, np.uint64),
            followers=np.empty(4096, np.uint64),
            begins=np.empty(4096, np.uint32),
            joining_items=np.empty(4096, np.uint64),
            **make_join_partners(),
            codes=np.empty(MOST_JOIN_ITEMS, np.int32),
            ranks=np.empty(MOST_JOIN_ITEMS, np.int32),
            number_of=np.empty(items, np.int32),
        )
        self._join_stack = make_join_stack()
        empty_counts = np.zeros(0, dtype=np.int32)
        self._pairs = self._layout.pairs or PairCounts(empty_counts, empty_counts)

    def begin(self, first: int, stop: int) -> None:
        """Take the tasks, frequent items, from `first` up to `stop`."""
        layout, state = self._layout, self._state
        if layout.join_rows is not None and layout.tasks is not None:
            from sfumato.kernels.sequences.subsequences_joins import begin_joins

            self._grow_to(subsequences_output.JOIN_ENTRIES, int(layout.tasks.starts[stop] - layout.tasks.starts[first]))
            state[subsequences_output.MASK_ITEMS], state[subsequences_output.PATTERN_LARGEST] = (
                layout.codes.size,
                layout.largest,
            )
            begin_joins(state, layout.join_rows, layout.tasks, self._join_stack, first, stop)
        elif layout.elements is not None:
            rows = layout.elements
            self._grow_to(subsequences_output.END_ENTRIES, int(rows.task_starts[stop] - rows.task_starts[first]))
            state[subsequences_output.FIRST_TASK], state[subsequences_output.STOP_TASK] = first, stop
        elif layout.masks is not None:
            self._grow_to(subsequences_output.MASK_ENTRIES, int(layout.masks.starts[stop] - layout.masks.starts[first]))
            state[subsequences_output.MASK_ITEMS] = layout.codes.size
            subsequences_masks.begin_masks(state, layout.masks, self._stack, first, stop)
        else:
            self._frames[0, subsequences_lists.ITEM_INDEX], self._frames[0, subsequences_lists.STOP] = first, stop
            self._frames[0, subsequences_lists.ITEMS] = layout.codes.size

    def search_in_steps(self, work: int) -> Iterator[bool]:
        """Search until done; regularly yield whether the buffer is full and must be drained."""
        while (status := self._advance_search(work)) != SEARCH_DONE:
            yield status == FULL

    @property
    def has_output(self) -> bool:
        """Whether the buffer holds anything."""
        return bool(self._state[subsequences_output.PATTERNS])

    def drain(self) -> FoundPatterns:
        """Empty the buffer and return a copy of its content."""
        patterns, codes = (
            int(self._state[subsequences_output.PATTERNS]),
            int(self._state[subsequences_output.PATTERN_CODES]),
        )
        self._state[subsequences_output.PATTERNS] = self._state[subsequences_output.PATTERN_CODES] = 0
        output = self._output
        return FoundPatterns(
            output.codes[:codes].copy(), output.ends[:patterns].copy(), output.supports[:patterns].copy()
        )

    def _advance_search(self, work: int) -> int:
        state, layout = self._state, self._layout
        state[subsequences_output.PATTERN_WORK_LEFT] = work
        while True:
            if layout.join_rows is not None:
                from sfumato.kernels.sequences.subsequences_joins import search_join_rows

                status = search_join_rows(state, self._output, self._path, layout.join_rows, self._join_stack)
            elif layout.elements is not None:
                from sfumato.kernels.sequences.subsequences_ends import search_ends

                status = search_ends(self._make_end_search())
            elif layout.masks is not None:
                status = subsequences_masks.search_mask_rows(state, self._output, self._path, layout.masks, self._stack)
            else:
                search = SequenceSearch(
                    state, self._output, self._path, self._frames, self._lists, self._scratch, self._masks, self._stack
                )
                status = subsequences_lists.search_sequence_lists(search, layout.lists)
            if status != GROW:
                return int(status)
            self._grow_to(
                int(state[subsequences_output.PATTERN_SHORT_OF]), int(state[subsequences_output.PATTERN_SHORT_SIZE])
            )

    def _make_end_search(self) -> EndSearch:
        from sfumato.kernels.sequences.subsequences_ends import EndSearch

        assert self._layout.elements is not None
        return EndSearch(
            self._state, self._output, self._path, self._ranks, self._layout.elements, self._pairs, self._ends,
            self._extensions, self._insertions, self._join, self._join_stack,
        )  # fmt: skip

    def _grow_to(self, array_number: int, needed_length: int) -> None:
        if array_number == subsequences_output.PATTERN_LEVEL_FRAMES:
            self._frames = _lengthen_array(self._frames, needed_length)
            return
        name, short = _SHORT[array_number]
        arrays = getattr(self, name)
        size = needed_length * _count_children(array_number)
        longer = {array: _lengthen_array(getattr(arrays, array), size) for array in short}
        setattr(self, name, arrays._replace(**longer))


_SHORT: dict[int, tuple[str, tuple[str, ...]]] = {
    subsequences_output.PATTERN_LEVEL_FLAT: ("_lists", ("flat",)),
    subsequences_output.LEVEL_PLACES: ("_lists", ("places",)),
    subsequences_output.PATTERN_LEVEL_ITEMS: ("_lists", ("starts", "codes")),
    subsequences_output.MASK_TOKENS: ("_masks", ("followers", "tokens", "slots")),
    subsequences_output.MASK_WORDS: ("_masks", ("bits",)),
    subsequences_output.MASK_FRAMES: ("_stack", ("frames", "items", "begins", "ends", "supports", "follows")),
    subsequences_output.MASK_ENTRIES: ("_stack", ("tokens", "slots")),
    subsequences_output.END_FRAMES: ("_ends", ("frames",)),
    subsequences_output.END_ENTRIES: ("_ends", ("elements", "first_positions")),
    subsequences_output.END_CHILDREN: ("_ends", ("items", "begins", "ends", "supports")),
    subsequences_output.END_SLOTS: ("_insertions", ("counts", "marks")),
    subsequences_output.JOIN_TOKENS: ("_join", ("masks", "followers", "begins")),
    subsequences_output.JOIN_OCCURRENCES: ("_join", ("joining_items",)),
    subsequences_output.JOIN_FRAMES: (
        "_join_stack",
        ("frames", "items", "begins", "ends", "supports", "lasts", "follows", "joins"),
    ),
    subsequences_output.JOIN_ENTRIES: ("_join_stack", ("tokens", "occurrences", "joinable")),
}
"""The arrays that the kernels may find too short."""


def _count_children(array_number: int) -> int:
    """How many entries of an array there are for one that is asked for: a frame has children."""
    if array_number == subsequences_output.JOIN_FRAMES:
        from sfumato.kernels.sequences.subsequences_joins import MOST_CHILDREN

        return MOST_CHILDREN
    return subsequences_masks.MOST_ITEMS if array_number == subsequences_output.MASK_FRAMES else 1


def make_mask_pairs() -> dict[str, Any]:
    """Room for the pairs of a search over words; no row has a weight."""
    items = subsequences_masks.MOST_ITEMS
    return {
        "pairs": np.zeros(items**2, np.int64),
        "frequent_followers": np.zeros(items, np.uint64),
        "totals": np.zeros(items, np.int64),
        "heavy": np.full(1, 1 << 62, np.int64),
        "weights": np.zeros(1, np.int64),
    }


def make_mask_stack() -> MaskStack:
    """A small stack for a search over words."""
    return MaskStack(
        np.zeros((8, subsequences_masks.MASK_FRAME), dtype=np.int64),
        *_make_empty(16 * subsequences_masks.MOST_ITEMS, np.int32, np.int64, np.int64, np.int64, np.uint64),
        *_make_empty(4096, np.uint32, np.uint32),
        *_make_empty(START, np.int64, np.uint64, np.uint64),
    )


def make_join_partners() -> dict[str, Any]:
    """Room for what is near each item of itemsets, what follows and joins it, and how often."""
    from sfumato.kernels.sequences.subsequences_joins import JOIN_OFFSET

    words = {
        name: np.zeros(JOIN_OFFSET, dtype=np.uint64) for name in ("nearest", "frequent_followers", "frequent_joiners")
    }
    return {**words, "pairs": np.zeros(2 * JOIN_OFFSET**2, dtype=np.int64)}


def make_join_stack(entries: int = 4096) -> JoinStack:
    """A small stack for a search over words of itemsets."""
    from sfumato.kernels.sequences.subsequences_joins import JOIN_FRAME, JOIN_OFFSET, MOST_CHILDREN, JoinStack

    children = 8 * MOST_CHILDREN
    return JoinStack(
        np.zeros((8, JOIN_FRAME), dtype=np.int64),
        *_make_empty(children, np.int32, np.int64, np.int64, np.int64, np.uint64, np.uint64, np.uint64),
        *_make_empty(entries, np.uint32, np.uint32, np.uint64),
        *_make_empty(2 * JOIN_OFFSET, np.int64),
        *_make_empty(START, np.uint64),
        *_make_empty(2 * JOIN_OFFSET, np.uint64, np.uint64),
    )


def _make_empty(size: int, *kinds: Any) -> list[Any]:
    return [np.empty(size, dtype=kind) for kind in kinds]


def _lengthen_array(array: Any, needed_length: int) -> Any:
    """A longer array with the same beginning, unless it is long enough already."""
    if len(array) >= needed_length:
        return array
    longer = np.zeros((needed_length + needed_length // 2 + 16, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
