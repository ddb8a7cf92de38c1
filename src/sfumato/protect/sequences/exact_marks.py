# SPDX-License-Identifier: MIT
"""The fewest marks that hide all patterns, as an integer program: which sequences to change, and where.

A variable for each item that a match may need says whether it is marked, and one for each pattern and sequence whether
the pattern is hidden there. Enough sequences must hide each pattern, and each match of a pattern that is hidden must
lose an item. Matches are not listed: the program starts with a few, and whenever its solution leaves one, that one is
added. Each solution's bound holds for the whole problem, since it was found with fewer conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

import numpy as np

from sfumato.arrays import Ints
from sfumato.progress import report_progress
from sfumato.protect.integer_program import IntegerProgram, solve_program
from sfumato.protect.sequences.sequence_draft import SequenceDraft

Place = tuple[int, int]
"""A pattern and a sequence that contains it."""


@dataclass(frozen=True)
class ExactMarks:
    """How good the marks are."""

    objective: int
    bound: int
    """No fewer marks are enough."""

    def as_details(self) -> dict[str, float | bool]:
        """The same for the custodian."""
        gap = (self.objective - self.bound) / self.objective if self.objective else 0.0
        proven = self.objective == self.bound
        return {"objective": self.objective, "bound": self.bound, "proven": proven, "gap": round(gap, 12)}


def improve_marks(draft: SequenceDraft, greedy: SequenceDraft, thresholds: Ints, seconds: float) -> ExactMarks:
    """Mark the fewest items in `draft`; those of `greedy` if nothing better is found in the time."""
    until = monotonic() + seconds
    best = int((~greedy.alive).sum())
    if not best:
        return ExactMarks(0, 0)
    wanted = np.flatnonzero(draft.supports > thresholds)
    places: list[Place] = [
        (index, row) for index in wanted.tolist() for row in np.flatnonzero(draft.before[index]).tolist()
    ]
    matches = _list_first_matches(draft, places)
    bound = int((draft.supports - thresholds).max())  # each sequence that hides a pattern has a mark
    while True:
        program = _MarkProgram(draft, places, matches, thresholds)
        answer = solve_program(program.build(), program.costs(), until - monotonic())
        if answer is None:
            break
        bound = max(bound, answer.bound)
        if bound >= best:
            break
        marks = program.read_marks(answer.values)
        left = _list_matches_left(draft, program.read_hidden(answer.values), marks)
        report_progress("solving the integer program", len(matches))
        if not left:
            draft.alive[marks] = False
            return ExactMarks(len(marks), min(bound, len(marks)))
        matches += left
        if monotonic() > until:
            break
    draft.alive[:] = greedy.alive
    return ExactMarks(best, min(bound, best))


def _list_first_matches(draft: SequenceDraft, places: list[Place]) -> list[tuple[Place, Ints]]:
    """For each place, matches that share no item: each of them needs a mark of its own."""
    matches = []
    for done, (index, row) in enumerate(places):
        if done % 256 == 0:
            report_progress("listing matches", done, len(places))
        used: list[int] = []
        while (match := draft.find_match(row, index)) is not None:
            matches.append(((index, row), match))
            draft.alive[match] = False
            used += match.tolist()
        draft.alive[used] = True
    return matches


def _list_matches_left(draft: SequenceDraft, hidden: list[Place], marks: Ints) -> list[tuple[Place, Ints]]:
    """Matches of patterns that are to be hidden and that lost no item."""
    draft.alive[marks] = False
    left = [((index, row), match) for index, row in hidden if (match := draft.find_match(row, index)) is not None]
    draft.alive[marks] = True
    return left


class _MarkProgram:
    """The variables: first one for each item of a match, then one for each place."""

    def __init__(
        self, draft: SequenceDraft, places: list[Place], matches: list[tuple[Place, Ints]], thresholds: Ints
    ) -> None:
        self.places, self.matches, self.thresholds, self.supports = places, matches, thresholds, draft.supports
        items = np.unique(np.concatenate([match for _, match in matches])) if matches else np.zeros(0, dtype=np.int64)
        self.items: Ints = items.astype(np.int64)
        self.number = {place: len(items) + index for index, place in enumerate(places)}

    def costs(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.concatenate((np.ones(len(self.items)), np.zeros(len(self.places))))

    def build(self) -> IntegerProgram:
        program = IntegerProgram.of(np.ones(len(self.items) + len(self.places)))
        for place, match in self.matches:
            columns = np.append(np.searchsorted(self.items, match), self.number[place])
            program.at_least(columns, np.append(np.ones(len(match)), -1.0), 0.0)
        for index in sorted({index for index, _ in self.places}):
            columns = np.array([self.number[place] for place in self.places if place[0] == index])
            program.at_least(columns, np.ones(len(columns)), float(self.supports[index] - self.thresholds[index]))
        return program

    def read_marks(self, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Ints:
        return np.asarray(self.items[values[: len(self.items)] > 0.5])

    def read_hidden(self, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[Place]:
        return [place for place in self.places if values[self.number[place]] > 0.5]
