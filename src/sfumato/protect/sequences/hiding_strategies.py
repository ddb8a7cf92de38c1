# SPDX-License-Identifier: MIT
"""The two stages of Abul, Atzori, Bonchi and Giannotti (2007): which sequences to change, and where.

With several patterns, a sequence is changed only for those that are still too frequent, so nothing is done that is not
needed; with one pattern this is the published algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.protect.sequences.edited_sequences import SequenceDraft
from sfumato.protect.sequences.row_weights import RowWeights
from sfumato.runtime.progress import report_progress

_LONG = 1000
"""A sequence of this many elements may take seconds."""
Choose = Callable[[Floats], int]
"""Which item of a sequence to mark, from the number of matches that need each."""


def hide_in_two_stages(draft: SequenceDraft, thresholds: Ints, strategy: str, generator: np.random.Generator) -> None:
    """Mark items until no pattern is in more sequences than its threshold.

    The first letter of the strategy says how items of a sequence are chosen and the second how sequences are: by the
    heuristic (H) or at random (R).
    """
    rows = order_rows(draft, thresholds, generator, at_random=strategy[1] == "R")
    choose = _choose_heaviest if strategy[0] == "H" else _make_random_choice(generator)
    lengths = np.diff(draft.data.offsets)
    for done_count, row in enumerate(rows.tolist()):
        if done_count % 256 == 0 or lengths[row] >= _LONG:
            report_progress("hiding patterns", done_count, len(rows))
        excess = draft.supports > thresholds
        if not excess.any():
            return
        targets = np.flatnonzero(excess & (draft.totals[:, row] > 0)).tolist()
        if targets:
            clean_row(draft, row, targets, choose)


def order_rows(draft: SequenceDraft, thresholds: Ints, generator: np.random.Generator, *, at_random: bool) -> Ints:
    """The sequences with something to hide: those with the fewest matches first, or in random order."""
    excess_mask = draft.supports > thresholds
    matches = draft.totals[excess_mask].sum(axis=0)
    rows = np.flatnonzero(matches > 0)
    return generator.permutation(rows) if at_random else rows[np.argsort(matches[rows], kind="stable")]


def clean_row(draft: SequenceDraft, row: int, targets: Sequence[int], choose: Choose) -> None:
    """Mark items of a sequence until no target matches, and nothing that did not match before."""
    held_mask = draft.totals[:, row] > 0
    weights = RowWeights(draft, row, draft.list_forbidden(row, targets))
    while weights.values.any():
        weights.mark(choose(weights.values))
    rows = np.array([row])
    for index in range(len(draft.patterns)):
        draft.totals[index, row] = draft.count(index, rows)[0] if draft.totals[index, row] else 0.0
    draft.supports += (draft.totals[:, row] > 0).astype(np.int64) - held_mask


def _choose_heaviest(weights: Floats) -> int:
    """The item that most matches need; the first of several."""
    return int(weights.argmax())


def _make_random_choice(generator: np.random.Generator) -> Choose:
    """Any item that a match needs."""
    return lambda weights: int(generator.choice(np.flatnonzero(weights > 0)))
