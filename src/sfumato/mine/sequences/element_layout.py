# SPDX-License-Identifier: MIT
"""Lay out sequences of itemsets for a search: in words where few items are frequent, as elements where many are."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Codes
from sfumato.kernels.sequences import subsequences_output as fields
from sfumato.kernels.sequences import subsequences_prepare as prepare
from sfumato.kernels.sequences.subsequences_closed import ElementRows
from sfumato.kernels.sequences.subsequences_join_rows import count_join_pairs, lay_joins
from sfumato.kernels.sequences.subsequences_joins import MOST_ITEMS, JoinRows, JoinTasks
from sfumato.kernels.sequences.subsequences_pairs import PairCounts, PairScratch, count_pairs
from sfumato.mine.sequences.subsequence_worker import (
    SequenceLayout,
    SubsequenceQuestion,
    make_join_partners,
    make_join_stack,
)
from sfumato.sequences import Sequences

MOST_PAIRS = 1 << 20
"""Of items that may follow each other; a token of the data allows some more."""
PAIRS_OF_TOKEN = 8


def lay_whole_joins(sequences: Sequences, question: SubsequenceQuestion, rank: Codes, layout: SequenceLayout) -> bool:
    """Turn all rows into words and count pairs; whether that is possible."""
    items = layout.codes.size
    if items > MOST_ITEMS:
        return False
    elements, tokens = sequences.element_offsets.size - 1, sequences.codes.size
    starts = np.concatenate(([0], np.cumsum(layout.counts)))
    layout.joined = JoinRows(
        masks=np.empty(elements, dtype=np.uint64),
        after=np.empty(elements, dtype=np.uint64),
        begins=np.empty(elements, dtype=np.uint32),
        joining=np.empty(tokens, dtype=np.uint64),
        **make_join_partners(),
        codes=layout.codes,
        ranks=np.arange(items, dtype=np.int32),
        number_of=rank,
    )
    layout.tasks = JoinTasks(starts, np.empty(int(starts[-1]), dtype=np.uint32))
    state = np.zeros(fields.FIELDS, dtype=np.int64)
    state[fields.LEAST], state[fields.MASK_ITEMS], state[fields.LARGEST] = question.least, items, 1
    cut = (sequences.codes, sequences.element_offsets, sequences.offsets)
    lay_joins(state, *cut, layout.joined, layout.tasks, starts.copy())
    count_join_pairs(state, layout.joined, layout.tasks, make_join_stack(int(layout.counts.max())))
    layout.largest = int(state[fields.LARGEST])
    layout.longest = int(np.diff(sequences.element_offsets[sequences.offsets]).max(initial=0))
    return True


def lay_elements(sequences: Sequences, rank: Codes, layout: SequenceLayout, *, counts_pairs: bool) -> None:
    """Keep the frequent items of each element, and list the elements that hold each."""
    elements = sequences.element_offsets.size - 1
    tokens = np.empty(sequences.codes.size, dtype=np.int32)
    starts = np.empty(elements + 1, dtype=np.int64)
    row_of, position_of = np.empty(elements, np.int32), np.empty(elements, np.int32)
    row_ends = np.empty(len(sequences), dtype=np.int32)
    kept = prepare.lay_elements(
        sequences.codes,
        sequences.element_offsets,
        sequences.offsets,
        rank,
        tokens,
        starts,
        row_of,
        position_of,
        row_ends,
    )
    tokens, starts = tokens[: starts[kept]], starts[: kept + 1]
    counts = np.bincount(tokens, minlength=layout.codes.size)
    task_starts = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    task_elements = np.empty(tokens.size, dtype=np.int32)
    prepare.list_elements(tokens, starts, task_starts.copy(), task_elements)
    row_sizes = np.diff(starts[np.concatenate(([0], row_ends))])
    layout.longest, layout.counts = int(row_sizes.max(initial=0)), counts.astype(np.int64)
    layout.elements = ElementRows(
        tokens=tokens,
        starts=starts,
        row_of=row_of[:kept],
        position_of=position_of[:kept],
        row_ends=row_ends,
        codes=layout.codes,
        task_starts=task_starts,
        task_elements=task_elements,
    )
    if counts_pairs and layout.codes.size**2 <= MOST_PAIRS + PAIRS_OF_TOKEN * tokens.size:
        layout.pairs = _count_pairs(layout.elements)


def _count_pairs(rows: ElementRows) -> PairCounts:
    items = rows.codes.size
    pairs = PairCounts(*(np.zeros(items**2, dtype=np.int32) for _ in PairCounts._fields))
    listed = np.empty((4, items), dtype=np.int32)
    seen = np.full((2, items), -1, dtype=np.int32)
    arrays = [*listed, *seen, np.full(items**2, -1, dtype=np.int32)]
    count_pairs(rows, pairs, PairScratch(*arrays))
    return pairs
