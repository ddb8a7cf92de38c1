# SPDX-License-Identifier: MIT
"""Lay out sequences of itemsets for a search: in words where few items are frequent, as elements where many are."""

from __future__ import annotations

import math

import numpy as np

from sfumato.arrays import Codes, Flags, Ints
from sfumato.kernels.sequences import subsequences_output, subsequences_prepare
from sfumato.kernels.sequences.subsequences_closed import ElementRows
from sfumato.kernels.sequences.subsequences_join_rows import count_join_pairs, lay_joins
from sfumato.kernels.sequences.subsequences_joins import MOST_JOIN_ITEMS, JoinRows, JoinTasks
from sfumato.kernels.sequences.subsequences_pairs import PairCounts, PairScratch, count_item_pairs
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
FEW_PAIRED = 0.5
"""If less than this share of the items is part of any frequent pair, the others are left out from there on."""


def lay_whole_joins(sequences: Sequences, question: SubsequenceQuestion, rank: Codes, layout: SequenceLayout) -> bool:
    """Turn all rows into words and count pairs; whether that is possible."""
    items = layout.codes.size
    if items > MOST_JOIN_ITEMS:
        return False
    elements, tokens = sequences.element_offsets.size - 1, sequences.codes.size
    starts = np.concatenate(([0], np.cumsum(layout.counts)))
    layout.join_rows = JoinRows(
        masks=np.empty(elements, dtype=np.uint64),
        followers=np.empty(elements, dtype=np.uint64),
        begins=np.empty(elements, dtype=np.uint32),
        joining_items=np.empty(tokens, dtype=np.uint64),
        **make_join_partners(),
        codes=layout.codes,
        ranks=np.arange(items, dtype=np.int32),
        number_of=rank,
    )
    layout.tasks = JoinTasks(starts, np.empty(int(starts[-1]), dtype=np.uint32))
    state = np.zeros(subsequences_output.PATTERN_FIELDS, dtype=np.int64)
    (
        state[subsequences_output.PATTERN_LEAST],
        state[subsequences_output.MASK_ITEMS],
        state[subsequences_output.PATTERN_LARGEST],
    ) = (
        question.least,
        items,
        1,
    )
    cut = (sequences.codes, sequences.element_offsets, sequences.offsets)
    lay_joins(state, *cut, layout.join_rows, layout.tasks, starts.copy())
    count_join_pairs(state, layout.join_rows, layout.tasks, make_join_stack(int(layout.counts.max())))
    layout.largest = int(state[subsequences_output.PATTERN_LARGEST])
    layout.longest = int(np.diff(sequences.element_offsets[sequences.offsets]).max(initial=0))
    return True


def lay_elements(sequences: Sequences, rank: Codes, layout: SequenceLayout, *, least: int) -> None:
    """Keep the frequent items of each element, and list the elements that hold each.

    If `least` is given, all patterns are asked for that at least this many rows hold, without limits: pairs are counted
    first.
    """
    rows = _keep_ranked(sequences.codes, sequences.element_offsets, sequences.offsets, rank, layout)
    is_extended = np.ones(layout.codes.size, dtype=np.bool_)
    if least and layout.codes.size**2 <= MOST_PAIRS + PAIRS_OF_TOKEN * rows.tokens.size:
        layout.pairs = _count_pairs(rows)
        is_extended, extends = (_flag_paired(layout.pairs, axis, least) for axis in (1, 0))
        is_paired = is_extended | extends
        if layout.counts[is_paired].sum() < FEW_PAIRED * layout.counts.sum():
            rank = np.where(is_paired, np.arange(is_paired.size, dtype=np.int32), np.int32(-1))
            rows = _keep_ranked(rows.tokens, rows.starts, np.concatenate(([0], rows.row_ends)), rank, layout)
    layout.longest = int(np.diff(rows.starts[rows.row_ends], prepend=0).max(initial=0))
    layout.elements = _list_tasks(rows, is_extended)
    layout.counts = np.diff(layout.elements.task_starts)


def _keep_ranked(
    codes: Codes, element_offsets: Ints, offsets: Ints, rank: Codes, layout: SequenceLayout
) -> ElementRows:
    """Rows of the codes that have a rank; no tasks are listed yet."""
    elements = element_offsets.size - 1
    tokens, starts = np.empty(codes.size, dtype=np.int32), np.empty(elements + 1, dtype=np.int64)
    row_of, position_of = np.empty(elements, np.int32), np.empty(elements, np.int32)
    row_ends = np.empty(offsets.size - 1, dtype=np.int32)
    kept_count = subsequences_prepare.pack_elements(
        codes, element_offsets, offsets, rank, tokens, starts, row_of, position_of, row_ends
    )
    return ElementRows(
        tokens=tokens[: starts[kept_count]],
        starts=starts[: kept_count + 1],
        row_of=row_of[:kept_count],
        position_of=position_of[:kept_count],
        row_ends=row_ends,
        signatures=np.empty(kept_count, dtype=np.uint64),
        codes=layout.codes,
        supports=layout.counts,
        task_starts=np.zeros(1, dtype=np.int64),
        task_elements=np.zeros(0, dtype=np.int32),
    )


def _list_tasks(rows: ElementRows, is_extended: Flags) -> ElementRows:
    """The same rows with the elements that hold each item, of items that something may extend."""
    counts = np.zeros(rows.codes.size, dtype=np.int64)
    subsequences_prepare.sign_elements(rows.tokens, rows.starts, rows.row_ends, rows.signatures, counts)
    starts = np.concatenate(([0], np.cumsum(np.where(is_extended, counts, 0), dtype=np.int64)))
    elements = np.empty(int(starts[-1]), dtype=np.int32)
    subsequences_prepare.unpack_elements(rows.tokens, rows.starts, is_extended, starts.astype(np.uint64), elements)
    return rows._replace(task_starts=starts, task_elements=elements)


def _flag_paired(pairs: PairCounts, axis: int, least: int) -> Flags:
    """Whether each item is followed or joined (axis 1), or follows or joins (axis 0), in enough rows."""
    items = math.isqrt(pairs.order_counts.size)
    ordered_mask, joint_mask = (counts.reshape(items, items).max(axis=axis) >= least for counts in pairs)
    flags: Flags = ordered_mask | joint_mask
    return flags


def _count_pairs(rows: ElementRows) -> PairCounts:
    items = rows.codes.size
    pairs = PairCounts(*(np.zeros(items**2, dtype=np.int32) for _ in PairCounts._fields))
    item_lists = np.empty((4, items), dtype=np.int32)
    last_rows = np.full((3, items), -1, dtype=np.int32)
    arrays = [*item_lists, *last_rows, np.full(items**2, -1, dtype=np.int32)]
    count_item_pairs(rows, pairs, PairScratch(*arrays))
    return pairs
