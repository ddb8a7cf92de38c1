# SPDX-License-Identifier: MIT
"""Which patterns someone hid entirely: those that occur nowhere, and that marks Δ would explain.

For a threshold of 0, where there is nothing to mine. A sequence is marked because a hidden pattern was in it: if its
marks were any items, some hidden pattern would be there. What would be in most marked sequences, and is in none as
published, is suspect.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, IntGrid, Ints
from sfumato.attack.sequences.named_patterns import NamedPattern
from sfumato.attack.sequences.secret_patterns import (
    MinedPatterns,
    NearThreshold,
    fill_marks,
    flag_holders,
    mine_named,
)
from sfumato.public.marked_items import MARK
from sfumato.sequences import Sequences

_MARKED_ROWS, _PAIRED_ITEMS, _ENDING_ITEMS, _GROWN_PAIRS, _SUSPECTS = 500, 400, 40, 200, 400
"""Limits: marked sequences, items in pairs, items behind a pair, pairs to grow, and patterns suspected."""


def find_vanished(published_sequences: Sequences, longest: int, mark: str = MARK) -> list[MinedPatterns]:
    """Patterns of two elements, of three, and of both, those first that would be in most marked sequences.

    Nothing if no mark shows, or if elements have several items; how long secrets are is known of the longest only.
    """
    supports = mine_named(published_sequences, 1, 1, mark=mark)
    names = sorted(supports, key=lambda pattern: (-supports[pattern], pattern))
    filled_sequences = (
        fill_marks(published_sequences, names[:_ENDING_ITEMS], mark) if published_sequences.flat else None
    )
    if filled_sequences is None or longest < 2:
        return []
    marked_rows = _MarkedRows.of(published_sequences, [name for ((name,),) in names[:_PAIRED_ITEMS]], mark)
    pair_counts = marked_rows.count_pairs()
    pairs = marked_rows.list_pairs(np.where(_flag_pairs(published_sequences, marked_rows.names), -1, pair_counts))[
        :_SUSPECTS
    ]
    several = [pairs]
    if longest > 2:
        triples = _grow_pairs(
            published_sequences,
            filled_sequences,
            marked_rows.list_pairs(pair_counts)[:_GROWN_PAIRS],
            names[:_ENDING_ITEMS],
        )
        several += [triples, pairs + triples]
    return [
        MinedPatterns(supports, dict.fromkeys(patterns, NearThreshold(0, 0)), len(published_sequences), mark=mark)
        for patterns in several
        if patterns
    ]


class _MarkedRows(NamedTuple):
    """What some sequences with marks hold: rows × items."""

    names: list[str]
    precedes: Flags
    """Whether an item stands before the last mark, so that the mark may end a pair with it."""
    follows: Flags
    """Whether it stands behind the first mark, so that the mark may begin a pair with it."""

    @classmethod
    def of(cls, published_sequences: Sequences, names: list[str], mark: str) -> _MarkedRows:
        number = {name: index for index, name in enumerate(names)}
        rows = [row for row in published_sequences.to_lists() if mark in map(str, row)][:_MARKED_ROWS]
        precedes, follows = (np.zeros((len(rows), len(names)), dtype=np.bool_) for _ in range(2))
        for position, row in enumerate(rows):
            items = [str(item) for item in row]
            first, last = items.index(mark), len(items) - 1 - items[::-1].index(mark)
            precedes[position, [number[item] for item in items[:last] if item in number]] = True
            follows[position, [number[item] for item in items[first + 1 :] if item in number]] = True
        return cls(names, precedes, follows)

    def count_pairs(self) -> IntGrid:
        """In how many of the sequences each pair would be if marks were any items: items × items."""
        precedes, follows = self.precedes.astype(np.int64), self.follows.astype(np.int64)
        return np.asarray(precedes.sum(axis=0)[:, None] + follows.sum(axis=0)[None, :] - precedes.T @ follows)

    def list_pairs(self, counts: IntGrid) -> list[NamedPattern]:
        """The pairs that are in any, those in most first."""
        order: Ints = np.argsort(-counts, axis=None, kind="stable")[: int((counts > 0).sum())]
        starts, ends = np.divmod(order[: _SUSPECTS + _GROWN_PAIRS], len(self.names))
        return [((self.names[i],), (self.names[j],)) for i, j in zip(starts.tolist(), ends.tolist(), strict=True)]


def _flag_pairs(published_sequences: Sequences, names: list[str]) -> Flags:
    """Whether each pair of some items is in a published sequence: items × items."""
    number = {name: index for index, name in enumerate(names)}
    flags = np.zeros((len(names), len(names)), dtype=np.bool_)
    for pattern in mine_named(_keep_items(published_sequences, set(names)), 1, 2):
        if len(pattern) == 2:
            flags[number[pattern[0][0]], number[pattern[1][0]]] = True
    return flags


def _keep_items(published_sequences: Sequences, names: set[str]) -> Sequences:
    """Sequences of single items with some items only."""
    is_kept = np.array([str(item) in names for item in published_sequences.items], dtype=np.bool_)[
        published_sequences.codes
    ]
    offsets = np.concatenate(([0], np.cumsum(is_kept)))[published_sequences.offsets]
    codes = published_sequences.codes[is_kept]
    return Sequences(published_sequences.items, offsets, np.arange(codes.size + 1), codes)


def _grow_pairs(
    published_sequences: Sequences, filled_sequences: Sequences, pairs: list[NamedPattern], names: list[NamedPattern]
) -> list[NamedPattern]:
    """The patterns of three that begin with some pairs and occur nowhere, those in most marked sequences first."""
    sample_sequences = filled_sequences.take(np.arange(min(len(filled_sequences), _MARKED_ROWS)))
    known_names = {str(item) for item in sample_sequences.items}
    triples = [(*pair, *name) for pair in pairs for name in names if all(item in known_names for (item,) in pair)]
    holder_counts = {pattern: int(flag_holders(sample_sequences, pattern).sum()) for pattern in triples}
    likely = sorted(holder_counts, key=lambda pattern: (-holder_counts[pattern], pattern))
    absent_triples: list[NamedPattern] = []
    for pattern in likely[: 10 * _SUSPECTS]:
        if len(absent_triples) == _SUSPECTS:
            break
        if not flag_holders(published_sequences, pattern).any():
            absent_triples.append(pattern)
    return absent_triples
