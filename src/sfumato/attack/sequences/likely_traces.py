# SPDX-License-Identifier: MIT
"""Which published traces some known points were most likely drawn from.

An adversary who knows four points of a trace knows more than that it holds them: a short trace, or one that passes them
often, gives these four rather than others. The likelihood of a trace is the share of all draws of this many of its
elements that gives the points. A mark Δ stands for each item as often as the release has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sfumato.arrays import Codes, Flags, Floats, Ints, Words
from sfumato.attack.sequences.distinct_traces import lay_out_traces
from sfumato.public.marked_items import MARK
from sfumato.sequences import Sequences

if TYPE_CHECKING:
    from sfumato.kernels.sequences.known_points import BestRows, KnownTraces


class FittingTraces(NamedTuple):
    """For each person, the published sequences that are as good as any."""

    rows: Ints
    """How many there are."""
    holds_own: Flags
    """Whether the person's own is among them."""

    def count_expected_hits(self, own_rows: Ints, published_count: int) -> Fraction:
        """How many people's own sequence is guessed on average: of n that fit alike, each in one of n guesses.

        Where none fits, any of those that are published is guessed; who is not published (own row -1) is never found.
        """
        fits_none = self.rows == 0
        candidate_counts = np.where(fits_none, published_count, self.rows)
        can_hit = self.holds_own | (fits_none & (own_rows >= 0))
        sizes, counts = np.unique(candidate_counts[can_hit], return_counts=True)
        return sum(map(Fraction, counts.tolist(), sizes.tolist()), Fraction(0))


@dataclass(frozen=True)
class LikelyTraces:
    """Published sequences; equal ones are read once."""

    arrays: tuple[Ints, Ints, Codes]
    """Where the distinct sequences begin, where their elements begin, and the codes of items."""
    places: Ints
    """Which of the distinct sequences each one is."""
    weights: Ints
    """How often each distinct one occurs."""
    sketches: Words
    """A word for each distinct one, with a bit for each of its items, or all bits if a mark stands for any."""
    code_of: dict[str, int]
    mark: int
    """The code of a mark that stands for any item, or -1."""
    chances: Floats
    """How often each item is published, as a share, which is how often a mark stands for it; the last is of others."""

    @classmethod
    def of(cls, sequences: Sequences, marks_stand: bool) -> LikelyTraces:
        """Find equal sequences, if their elements are single items."""
        from sfumato.kernels.sequences.known_points import index_rows

        distinct = lay_out_traces(sequences)
        code_of = {str(item): code for code, item in enumerate(sequences.items)}
        mark = code_of.pop(MARK, -1) if marks_stand else -1
        counts = np.append(np.bincount(sequences.codes, minlength=len(sequences.items)), 1.0)
        if mark >= 0:
            counts[mark] = 0
        index = index_rows(*distinct.arrays, max(len(sequences.items), 1))
        if mark >= 0:
            index.sketches[index.rows[index.offsets[mark] : index.offsets[mark + 1]]] = ~np.uint64(0)
        weights, chances = distinct.count_each(), counts / counts.sum()
        return cls(distinct.arrays, distinct.places, weights, index.sketches, code_of, mark, chances)

    def find_likeliest(self, known_points: list[list[str]], own_rows: Ints, is_ordered: bool) -> FittingTraces:
        """The likeliest sequences, given each one's points and own row (or -1).

        Where none can give all points, those are taken that hold most of them, and of these the shortest.
        """
        from sfumato.kernels.sequences.likely_rows import MarkedItems, find_likeliest_rows

        search = self._prepare_search(known_points, own_rows)
        marked_items = MarkedItems(self.mark, self.chances)
        find_likeliest_rows(
            *self.arrays,
            self.weights,
            self.sketches,
            search.traces,
            marked_items,
            is_ordered,
            search.masks,
            search.best,
        )
        return FittingTraces(search.best.rows, search.best.holds_own > 0)

    def find_shortest(self, known_points: list[list[str]], own_rows: Ints, is_ordered: bool) -> FittingTraces:
        """Of the sequences that hold most of each one's points, the shortest: what was deleted made them no longer."""
        from sfumato.kernels.sequences.likely_rows import find_shortest_rows

        search = self._prepare_search(known_points, own_rows)
        find_shortest_rows(*self.arrays, self.weights, search.traces, is_ordered, search.masks, search.best)
        return FittingTraces(search.best.rows, search.best.holds_own > 0)

    def _prepare_search(self, known_points: list[list[str]], own_rows: Ints) -> _TraceSearch:
        from sfumato.kernels.sequences.known_points import BestRows, KnownTraces

        codes = np.array([self.code_of.get(point, -1) for points in known_points for point in points], dtype=np.int32)
        offsets = np.concatenate(([0], np.cumsum([len(points) for points in known_points], dtype=np.int64)))
        places = np.where(own_rows >= 0, self.places[own_rows], -1) if len(self.places) else np.full_like(own_rows, -1)
        masks = np.zeros(max(len(self.chances), 1), dtype=np.uint64)
        if self.mark >= 0:
            masks[self.mark] = ~np.uint64(0)
        best = BestRows(*(np.zeros(own_rows.size, dtype=np.int64) for _ in BestRows._fields))
        return _TraceSearch(KnownTraces(codes, offsets, places), masks, best)


class _TraceSearch(NamedTuple):
    """What a kernel searches for, and where it puts what it finds."""

    traces: KnownTraces
    masks: Words
    best: BestRows
