# SPDX-License-Identifier: MIT
"""Sequence linking: find someone's trace by a few points of it.

Against published sequences and trajectories, whose owners were removed. A few points of a trace are often enough to
find all of it, and then the rest of the trace is known (de Montjoye, Hidalgo, Verleysen and Blondel 2013). The attack
of Pensa, Monreale, Pinelli and Pedreschi 2008, who publish sequences so that no subsequence is rare.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from sfumato.arrays import Codes, Ints, Words
from sfumato.attack.attack import Attack, Outcome, round_expected
from sfumato.attack.sequences.distinct_traces import lay_out_traces
from sfumato.attack.sequences.likely_traces import FittingTraces, LikelyTraces
from sfumato.public.marked_items import MARK, find_mark
from sfumato.randomness import Randomness
from sfumato.release import CoveredRisk, Release
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences

if TYPE_CHECKING:
    from sfumato.kernels.sequences.known_points import BestRows, KnownTraces


class SequenceLinking(Attack):
    """Someone saw a person here and there, and looks for the published trace that passes through these points.

    The adversary knows some points of a person's original trace, chosen at random: an item of each of this many
    different elements. It takes the published sequences that hold all of them, or as many as any does, and guesses one,
    or one of the shortest; or one of those from which these points are most likely drawn, which short ones and those
    that pass them often are.
    Where the release shows a mark Δ, any point may have been. The risk is the share of people whose own sequence is
    guessed on average when the most points are known, so that it depends on no draw among sequences that fit alike; the
    best guess counts. The facts are a curve: the share of people for whom exactly one sequence is left, and it is
    their own, for each number of points, in the originals and in the release. Pensa, Monreale, Pinelli, Pedreschi 2008;
    de Montjoye et al. 2013.
    """

    shape: ClassVar[str] = "sequences"
    public_fields: ClassVar[tuple[str, ...]] = ("points", "order", "attempts")
    covers: ClassVar[CoveredRisk] = "people by their items"
    draws_curve: ClassVar[bool] = True

    attack: Literal["sequence_linking"] = "sequence_linking"
    points: tuple[int, ...] = (1, 2, 3, 4)
    """How many points the adversary knows: one attack for each number. The largest one counts."""
    order: Literal["ordered", "set"] = "ordered"
    """Whether the adversary knows in which order the points were visited."""
    attempts: int = Field(default=500, ge=1)
    """How many people are looked for, drawn at random."""

    @field_validator("points", mode="before")
    @classmethod
    def _check_points(cls, raw_points: Any) -> Any:
        numbers = (raw_points,) if isinstance(raw_points, int) else tuple(raw_points)
        if not numbers or not all(isinstance(number, int) and 1 <= number <= 64 for number in numbers):
            raise ValueError("points must be between 1 and 64")
        return tuple(sorted(set(numbers)))

    def run(
        self,
        release: Release,
        truth: Sequences,
        control: Sequences | None = None,
        randomness: Randomness | None = None,
    ) -> Outcome:
        """Look for some people with more and more points; count whose own sequence is guessed, on average."""
        published_traces, originals = (_SearchedTraces.of(data, self.order) for data in (release.data, truth))
        marks_stand = find_mark(release, truth) == MARK
        if marks_stand:
            published_traces = published_traces.count_marks()
        chance = (randomness or Randomness.seeded(0)).generator()
        people = _draw_people(release, truth, self.attempts, chance)
        strangers = None if control is None else _draw_strangers(control, people.rows.size, chance)
        curve: dict[str, list[float]] = {"unique_before": [], "unique_after": []}
        hits, strangers_found = Fraction(0), 0
        known_points = _ShuffledPoints.of(truth, people.rows, chance)
        control_points = (
            None if control is None or strangers is None else _ShuffledPoints.of(control, strangers, chance)
        )
        for count in self.points:
            report_progress("looking for traces", count, self.points[-1])
            taken_points = known_points.take(count)
            published_candidates = _find_candidates(published_traces, truth, taken_points, people.published_rows)
            # Whether one is alone is all that is asked of the originals.
            original_candidates = _find_candidates(originals, truth, taken_points, people.rows, count_limit=2)
            curve["unique_before"].append(_compute_share(original_candidates.flag_found()))
            curve["unique_after"].append(_compute_share(published_candidates.flag_found()))
            hits = published_candidates.fitting_traces.count_expected_hits(people.published_rows, len(release.data))
            if control is not None and strangers is not None and control_points is not None:
                no_rows = np.full(strangers.size, -1, dtype=np.int64)
                stranger_candidates = _find_candidates(published_traces, control, control_points.take(count), no_rows)
                strangers_found = int(
                    ((stranger_candidates.fitting_traces.rows == 1) & stranger_candidates.holds_all).sum()
                )
        likely_traces = LikelyTraces.of(release.data, marks_stand)
        most_points = known_points.take(self.points[-1]).name(truth)
        guesses = [
            find(most_points, people.published_rows, self.order == "ordered")
            for find in (likely_traces.find_likeliest, likely_traces.find_shortest)
        ]
        attempts = int(people.rows.size)
        likely_hits = max(guess.count_expected_hits(people.published_rows, len(release.data)) for guess in guesses)
        present_count = int((people.published_rows >= 0).sum())  # who was left out cannot be found by any guess
        return Outcome(
            attempts=attempts,
            successes=round_expected(max(hits, likely_hits)),
            baseline=round_expected(Fraction(present_count, len(release.data))) if len(release.data) else 0,
            control=None if control is None else strangers_found,
            facts={"points": list(self.points), **curve},
        )


@dataclass(frozen=True)
class _People:
    rows: Ints
    """In the originals."""
    published_rows: Ints
    """In the release; -1 for those who are not in it."""


@dataclass(frozen=True)
class _KnownPoints:
    codes: Codes
    offsets: Ints

    def name(self, owner: Sequences) -> list[list[str]]:
        """The points of each person by the names of their items."""
        names = [str(owner.items[code]) for code in self.codes.tolist()]
        return [names[begin:end] for begin, end in pairwise(self.offsets.tolist())]


@dataclass(frozen=True)
class _Candidates:
    fitting_traces: FittingTraces
    """Those that hold most of what is known."""
    holds_all: Any
    """Whether they hold all points that are known."""

    def flag_found(self) -> Any:
        """Whose own sequence is the only one left."""
        return self.fitting_traces.holds_own & (self.fitting_traces.rows == 1)


def _draw_people(release: Release, truth: Sequences, attempts: int, chance: np.random.Generator) -> _People:
    """People with a trace, and where each is in the release; a dropped person has no published row."""
    row_origins = release.details.trace_rows(len(release.data))
    published_rows = np.full(len(truth), -1, dtype=np.int64)
    inside_mask = row_origins < len(truth)
    published_rows[row_origins[inside_mask]] = np.flatnonzero(inside_mask)
    rows = _draw_strangers(truth, attempts, chance)
    return _People(rows, published_rows[rows])


def _draw_strangers(sequences: Sequences, attempts: int, chance: np.random.Generator) -> Ints:
    """Some sequences that are not empty."""
    nonempty_rows = np.flatnonzero(np.diff(sequences.offsets) > 0)
    return np.sort(chance.permutation(nonempty_rows)[:attempts])


@dataclass(frozen=True)
class _ShuffledPoints:
    """An item of each element of some rows, and a random order of each row's: knowing more means knowing the same
    first.

    So the curve cannot fall by the luck of the draw: more points leave no more originals that hold them all.
    """

    codes: Codes
    sizes: Ints
    ranks: Ints
    """The place of each element in the random order of its row."""

    @classmethod
    def of(cls, sequences: Sequences, rows: Ints, chance: np.random.Generator) -> _ShuffledPoints:
        """Draw both."""
        sizes = np.diff(sequences.offsets)[rows]
        places = _count_up(sizes)
        elements = np.repeat(sequences.offsets[rows], sizes) + places
        order = np.lexsort((chance.random(elements.size), np.repeat(np.arange(rows.size), sizes)))
        ranks = np.empty_like(places)
        ranks[order] = places
        first, width = sequences.element_offsets[elements], np.diff(sequences.element_offsets)[elements]
        codes = sequences.codes[first + (chance.random(elements.size) * width).astype(np.int64)]
        return cls(codes, sizes, ranks)

    def take(self, count: int) -> _KnownPoints:
        """This many points of each row, in the row's order; all of a shorter one."""
        offsets = np.concatenate(([0], np.cumsum(np.minimum(self.sizes, count))))
        return _KnownPoints(self.codes[self.ranks < count], offsets)


def _count_up(sizes: Ints) -> Ints:
    """0, 1, 2 … for each of some groups."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - sizes, sizes)


def _number_repeats(codes: Codes, sizes: Ints) -> Ints:
    """How often each code occurs before in its group."""
    groups = np.repeat(np.arange(sizes.size), sizes)
    order = np.lexsort((codes, groups))
    is_new = np.ones(codes.size, dtype=np.bool_)
    is_new[1:] = (np.diff(codes[order]) != 0) | (np.diff(groups[order]) != 0)
    lengths = np.diff(np.append(np.flatnonzero(is_new), codes.size))
    repeats = np.empty(codes.size, dtype=np.int64)
    repeats[order] = _count_up(lengths)
    return repeats


@dataclass(frozen=True)
class _SearchedTraces:
    """Sequences to be searched; equal ones are read once."""

    is_ordered: bool
    arrays: tuple[Ints, Ints, Codes]
    """Where the distinct sequences begin, where their elements begin, and the codes of items."""
    places: Ints
    """Which of the distinct sequences each one is."""
    weights: Ints
    """How often each distinct one occurs."""
    index: Any
    code_of: dict[tuple[str, int], int]
    """The code of an item. In no order, its first, second … occurrence in a sequence have codes of their own: who was
    seen twice in a place is in a sequence that passes it twice."""
    marks: Ints | None = None
    """How many marks Δ, which stand for any item, each distinct sequence has; None if there are none."""

    @classmethod
    def of(cls, sequences: Sequences, order: str) -> _SearchedTraces:
        """Find equal sequences, if their elements are single items."""
        from sfumato.kernels.sequences.known_points import index_rows

        distinct = lay_out_traces(sequences)
        arrays = distinct.arrays
        code_of = {(str(item), 0): code for code, item in enumerate(sequences.items)}
        if order != "ordered":
            offsets, element_offsets, codes = arrays
            repeats = _number_repeats(codes, np.diff(element_offsets[offsets]))
            kinds, numbers = np.unique(repeats * len(sequences.items) + codes, return_inverse=True)
            arrays = (offsets, element_offsets, numbers.astype(np.int32))
            pairs = (divmod(kind, len(sequences.items)) for kind in kinds.tolist())
            code_of = {(str(sequences.items[item]), repeat): code for code, (repeat, item) in enumerate(pairs)}
        index = index_rows(*arrays, max(len(code_of), 1))
        return cls(order == "ordered", arrays, distinct.places, distinct.count_each(), index, code_of)

    def list_marks(self) -> list[int]:
        """The codes of the mark Δ."""
        return [code for (name, _), code in self.code_of.items() if name == MARK]

    def count_marks(self) -> _SearchedTraces:
        """The same with marks that stand for any item."""
        codes = self.list_marks()
        if not codes:
            return self
        offsets, element_offsets, items = self.arrays
        mark_sums = np.concatenate(([0], np.cumsum(np.isin(items, codes))))
        return replace(self, marks=np.diff(mark_sums[element_offsets[offsets]]))

    def find_codes(self, owner: Sequences, known_points: _KnownPoints) -> Codes:
        """The codes of known points; -1 for what no sequence has."""
        no_repeats = np.zeros(known_points.codes.size, dtype=np.int64)
        repeats = no_repeats if self.is_ordered else _number_repeats(known_points.codes, np.diff(known_points.offsets))
        kinds, numbers = np.unique(repeats * len(owner.items) + known_points.codes, return_inverse=True)
        pairs = (divmod(kind, len(owner.items)) for kind in kinds.tolist())
        codes = [self.code_of.get((str(owner.items[code]), repeat), -1) for repeat, code in pairs]
        return np.array(codes, dtype=np.int32)[numbers]


def _find_candidates(
    searched_traces: _SearchedTraces,
    owner: Sequences,
    known_points: _KnownPoints,
    own_rows: Ints,
    count_limit: int = 1 << 62,
) -> _Candidates:
    """The published sequences that hold most of what is known of each person, counted up to `count_limit`."""
    from sfumato.kernels.sequences.known_points import BestRows, KnownTraces, find_best_rows

    own_places = (
        np.where(own_rows >= 0, searched_traces.places[own_rows], -1)
        if len(searched_traces.places)
        else np.full_like(own_rows, -1)
    )
    traces = KnownTraces(searched_traces.find_codes(owner, known_points), known_points.offsets, own_places)
    best = BestRows(*(np.zeros(own_rows.size, dtype=np.int64) for _ in range(3)))
    masks = np.zeros(max(len(searched_traces.code_of), 1), dtype=np.uint64)
    if searched_traces.marks is None:
        is_ordered = searched_traces.is_ordered
        find_best_rows(
            *searched_traces.arrays,
            searched_traces.weights,
            searched_traces.index,
            traces,
            is_ordered,
            count_limit,
            masks,
            best,
        )
    elif searched_traces.is_ordered:
        _look_up_in_order(searched_traces, traces, masks, best)
    else:
        _look_up_in_any_order(searched_traces, traces, best)
    return _Candidates(FittingTraces(best.rows, best.holds_own > 0), best.most == np.diff(known_points.offsets))


def _look_up_in_order(searched_traces: _SearchedTraces, traces: KnownTraces, masks: Words, best: BestRows) -> None:
    """The same where marks stand for any item: they match every point, and no sequence that has one can be passed over.

    One's own sequence is compared separately: the search would look for others only where the points are.
    """
    from sfumato.kernels.sequences.known_points import find_best_rows

    assert searched_traces.marks is not None
    masks[searched_traces.list_marks()] = ~np.uint64(0)
    index = searched_traces.index._replace(
        sketches=np.where(searched_traces.marks > 0, ~np.uint64(0), searched_traces.index.sketches)  # may hold any item
    )
    ownerless_traces = traces._replace(own_rows=np.full_like(traces.own_rows, -1))
    find_best_rows(
        *searched_traces.arrays, searched_traces.weights, index, ownerless_traces, True, 1 << 62, masks, best
    )
    for person, own_row in enumerate(traces.own_rows.tolist()):
        points = traces.points[traces.offsets[person] : traces.offsets[person + 1]].tolist()
        best.holds_own[person] = own_row >= 0 and 0 < best.most[person] == _count_own_points(
            searched_traces, own_row, points
        )


def _count_own_points(searched_traces: _SearchedTraces, row: int, points: list[int]) -> int:
    """The longest subsequence that a sequence and some points have in common; a mark is any of them."""
    offsets, element_offsets, codes = searched_traces.arrays
    marks = set(searched_traces.list_marks())
    lengths = [0] * (len(points) + 1)
    for element in range(int(offsets[row]), int(offsets[row + 1])):
        element_codes = set(codes[element_offsets[element] : element_offsets[element + 1]].tolist())
        is_any, diagonal = not element_codes.isdisjoint(marks), 0
        for number, point in enumerate(points, 1):
            extended_length = diagonal + (is_any or point in element_codes)
            diagonal = lengths[number]
            lengths[number] = max(diagonal, lengths[number - 1], extended_length)
    return lengths[-1]


def _look_up_in_any_order(searched_traces: _SearchedTraces, traces: KnownTraces, best: BestRows) -> None:
    """The same in any order: a mark holds one of the points that are not there."""
    assert searched_traces.marks is not None
    for person, own_row in enumerate(traces.own_rows.tolist()):
        points = traces.points[traces.offsets[person] : traces.offsets[person + 1]]
        held_counts = searched_traces.marks.copy()
        for point in points[points >= 0].tolist():
            held_counts[
                searched_traces.index.rows[
                    searched_traces.index.offsets[point] : searched_traces.index.offsets[point + 1]
                ]
            ] += 1
        held_counts = np.minimum(held_counts, points.size)
        most = int(held_counts.max(initial=0))
        is_best = held_counts == max(most, 1)
        best.most[person], best.rows[person] = most, searched_traces.weights[is_best].sum()
        best.holds_own[person] = own_row >= 0 and is_best[own_row]


def _compute_share(flags: Any) -> float:
    return float(flags.mean()) if flags.size else 0.0
