# SPDX-License-Identifier: MIT
"""Sequence linking: find somebody's trace by a few points of it.

Against published sequences and trajectories, whose owners were removed. A few points of a trace are often enough to
find all of it, and then the rest of the trace is known (de Montjoye, Hidalgo, Verleysen and Blondel 2013). The attack
of Pensa, Monreale, Pinelli and Pedreschi 2008, who publish sequences so that no subsequence is rare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from sfumato.arrays import Codes, Ints
from sfumato.attack.attack import Attack, Outcome
from sfumato.baskets import Items
from sfumato.progress import report_progress
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.sequences import Sequences


class SequenceLinking(Attack):
    """Somebody saw a person here and there, and looks for the published trace that passes through these points.

    The adversary knows some points of a person's original trace, chosen at random: an item of each of so many different
    elements. It takes the published sequences that hold all of them, or as many as any does, and guesses one. The risk
    is the share of people whose own sequence was guessed when the most points are known. The facts are a curve: the
    share of people for whom exactly one sequence is left, and it is their own, for each number of points, in the
    originals and in the release. Pensa, Monreale, Pinelli, Pedreschi 2008; de Montjoye et al. 2013.
    """

    shape: ClassVar[str] = "sequences"
    public_fields: ClassVar[tuple[str, ...]] = ("points", "order", "attempts")

    attack: Literal["sequence_linking"] = "sequence_linking"
    points: tuple[int, ...] = (1, 2, 3, 4)
    """How many points the adversary knows: one attack for each number. The largest one counts."""
    order: Literal["ordered", "set"] = "ordered"
    """Whether the adversary knows in which order the points were visited."""
    attempts: int = Field(default=500, ge=1)
    """How many people are looked for, drawn at random."""

    @field_validator("points", mode="before")
    @classmethod
    def _check_points(cls, given: Any) -> Any:
        numbers = (given,) if isinstance(given, int) else tuple(given)
        if not numbers or not all(isinstance(number, int) and 1 <= number <= 64 for number in numbers):
            raise ValueError("give numbers of points from 1 to 64")
        return tuple(sorted(set(numbers)))

    def run(
        self,
        release: Release,
        truth: Sequences,
        control: Sequences | None = None,
        randomness: Randomness | None = None,
    ) -> Outcome:
        """Look for some people with more and more points; count whose own sequence was guessed."""
        published, originals = _Searched.of(release.data), _Searched.of(truth)
        chance = (randomness or Randomness.seeded(0)).generator()
        people = _draw_people(release, truth, self.attempts, chance)
        strangers = None if control is None else _draw_strangers(control, people.rows.size, chance)
        curve: dict[str, list[float]] = {"unique_before": [], "unique_after": []}
        hits = strangers_found = 0
        for count in self.points:
            report_progress("looking for traces", count, self.points[-1])
            known = _draw_points(truth, people.rows, count, chance)
            after = _look_up(published, truth, known, people.published_rows, self.order)
            # Whether one is alone is all that is asked of the originals.
            before = _look_up(originals, truth, known, people.rows, self.order, enough=2)
            curve["unique_before"].append(_compute_share(before.flag_found()))
            curve["unique_after"].append(_compute_share(after.flag_found()))
            hits = int((after.holds_own & (chance.random(after.rows.size) * after.rows < 1)).sum())
            if control is not None and strangers is not None:
                points = _draw_points(control, strangers, count, chance)
                nobody = np.full(strangers.size, -1, dtype=np.int64)
                others = _look_up(published, control, points, nobody, self.order)
                strangers_found = int(((others.rows == 1) & others.holds_all).sum())
        attempts = int(people.rows.size)
        return Outcome(
            attempts=attempts,
            successes=hits,
            baseline=round(attempts / len(release.data)) if len(release.data) else 0,
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


@dataclass(frozen=True)
class _Candidates:
    rows: Ints
    """How many sequences fit best."""
    holds_own: Any
    """Whether the person's own is among them."""
    holds_all: Any
    """Whether they hold all points that are known."""

    def flag_found(self) -> Any:
        """Whose own sequence is the only one left."""
        return self.holds_own & (self.rows == 1)


def _draw_people(release: Release, truth: Sequences, attempts: int, chance: np.random.Generator) -> _People:
    """People with a trace, and where each is in the release; whoever was dropped is looked for in vain."""
    published = np.asarray(release.details.get("rows", np.arange(len(release.data))), dtype=np.int64)
    place = np.full(len(truth), -1, dtype=np.int64)
    inside = published < len(truth)
    place[published[inside]] = np.flatnonzero(inside)
    rows = _draw_strangers(truth, attempts, chance)
    return _People(rows, place[rows])


def _draw_strangers(sequences: Sequences, attempts: int, chance: np.random.Generator) -> Ints:
    """Some sequences that are not empty."""
    held = np.flatnonzero(np.diff(sequences.offsets) > 0)
    return np.sort(chance.permutation(held)[:attempts])


def _draw_points(sequences: Sequences, rows: Ints, count: int, chance: np.random.Generator) -> _KnownPoints:
    """One item of each of some elements of each row, in order; all elements of a shorter row."""
    sizes = np.diff(sequences.offsets)[rows]
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    places = np.arange(bounds[-1]) - np.repeat(bounds[:-1], sizes)
    elements = np.repeat(sequences.offsets[rows], sizes) + places
    # In the order of random numbers, the first elements of a row are a random choice.
    order = np.lexsort((chance.random(elements.size), np.repeat(np.arange(rows.size), sizes)))
    chosen = np.sort(elements[order][places < count])
    first, width = sequences.element_offsets[chosen], np.diff(sequences.element_offsets)[chosen]
    codes = sequences.codes[first + (chance.random(chosen.size) * width).astype(np.int64)]
    return _KnownPoints(codes, np.concatenate(([0], np.cumsum(np.minimum(sizes, count)))))


@dataclass(frozen=True)
class _Searched:
    """Sequences to be searched; equal ones are read once."""

    items: Items
    arrays: tuple[Ints, Ints, Codes]
    """Where the distinct sequences begin, where their elements begin, and the codes of items."""
    places: Ints
    """Which of the distinct sequences each one is."""
    weights: Ints
    """How often each distinct one occurs."""
    index: Any
    code_of: dict[str, int]

    @classmethod
    def of(cls, sequences: Sequences) -> _Searched:
        """Find equal sequences, if their elements are single items."""
        from sfumato.kernels.sequences.distinct_rows import find_distinct_rows
        from sfumato.kernels.sequences.known_points import index_rows

        places = np.arange(len(sequences), dtype=np.int64)
        arrays = (sequences.offsets, sequences.element_offsets, sequences.codes)
        if sequences.codes.size == sequences.element_offsets.size - 1:
            distinct = find_distinct_rows(sequences.codes, sequences.offsets)
            begins, lengths = sequences.offsets[distinct.firsts], np.diff(sequences.offsets)[distinct.firsts]
            offsets = np.concatenate(([0], np.cumsum(lengths)))
            codes = sequences.codes[np.repeat(begins - offsets[:-1], lengths) + np.arange(offsets[-1])]
            places, arrays = distinct.numbers, (offsets, np.arange(codes.size + 1), codes)
        weights = np.bincount(places, minlength=arrays[0].size - 1).astype(np.int64)
        index = index_rows(*arrays, max(len(sequences.items), 1))
        code_of = {str(item): code for code, item in enumerate(sequences.items)}
        return cls(sequences.items, arrays, places, weights, index, code_of)


def _look_up(
    searched: _Searched, owner: Sequences, known: _KnownPoints, own: Ints, order: str, enough: int = 1 << 62
) -> _Candidates:
    """The published sequences that hold most of what is known of each person, counted up to `enough`."""
    from sfumato.kernels.sequences.known_points import BestRows, KnownTraces, find_best_rows

    codes = [searched.code_of.get(str(owner.items[code]), -1) for code in known.codes.tolist()]
    own_places = np.where(own >= 0, searched.places[own], -1) if len(searched.places) else np.full_like(own, -1)
    traces = KnownTraces(np.array(codes, dtype=np.int32), known.offsets, own_places)
    best = BestRows(*(np.zeros(own.size, dtype=np.int64) for _ in range(3)))
    masks = np.zeros(max(len(searched.items), 1), dtype=np.uint64)
    find_best_rows(*searched.arrays, searched.weights, searched.index, traces, order == "ordered", enough, masks, best)
    return _Candidates(best.rows, best.holds_own > 0, best.most == np.diff(known.offsets))


def _compute_share(flags: Any) -> float:
    return float(flags.mean()) if flags.size else 0.0
