# SPDX-License-Identifier: MIT
"""The fewest marks that hide all patterns: which sequences to change, for which patterns, and where.

Sequences are independent of each other but for the thresholds. So the least cost of hiding each set of patterns in each
sequence is found first (:mod:`sfumato.protect.sequences.row_options`), and an integer program then chooses one option
for each sequence, so that enough sequences hide each pattern. Sequences with the same options share their variables:
how many of them take each. Where some cost is not certain, a second program with bounds of the costs gives a bound.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Ints
from sfumato.protect.integer_program import IntegerProgram, ProgramAnswer, solve_program
from sfumato.protect.sequences.edited_sequences import SequenceDraft
from sfumato.protect.sequences.row_options import HidingBound, HidingOption, OptionList, PatternSet, RowOptions
from sfumato.runtime.progress import report_progress

_LOOKING_SHARE = 0.5
"""The share of the time in which sequences are looked at; the rest is for choosing among them."""


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
    begin = monotonic()
    best = int((~greedy.alive).sum())
    if not best:
        return ExactMarks(0, 0)
    excess = draft.supports - thresholds
    wanted_indices = np.flatnonzero(excess > 0)
    groups = _group_alike_sequences(draft, greedy, OptionList(draft, wanted_indices, begin + _LOOKING_SHARE * seconds))
    needs = {index: int(excess[index]) for index in wanted_indices.tolist()}
    report_progress("choosing what to hide where")
    choice = _solve(groups, needs, begin + seconds - monotonic(), bounds=False)
    # Costs that are certain are their own bounds.
    relaxed_choice = (
        choice if _is_certain(groups) else _solve(groups, needs, begin + seconds - monotonic(), bounds=True)
    )
    # Each sequence that hides a pattern has a mark.
    bound = max(*needs.values(), 0 if relaxed_choice is None else relaxed_choice.bound)
    marks = None if choice is None else _list_marks(groups, choice)
    if marks is None or len(marks) >= best:
        draft.alive[:] = greedy.alive
        return ExactMarks(best, min(bound, best))
    draft.alive[marks] = False
    return ExactMarks(len(marks), min(bound, len(marks)))


class _PricedSet(NamedTuple):
    """Patterns that are hidden together, and what that costs."""

    patterns: PatternSet
    cost: int


class _AlikeSequences(NamedTuple):
    """Sequences with the same options."""

    options: tuple[HidingOption, ...]
    """Those of the first; the others have the same patterns and costs, in other places."""
    bounds: tuple[HidingBound, ...]
    members: list[tuple[tuple[HidingOption, ...], Ints]]
    """For each sequence its options, and where its items are."""

    def list_sets(self, *, bounds: bool) -> list[_PricedSet]:
        """What each choice hides, and what it costs."""
        if bounds:
            return [_PricedSet(bound.patterns, bound.least) for bound in self.bounds]
        return [_PricedSet(option.patterns, option.cost) for option in self.options]


def _group_alike_sequences(
    draft: SequenceDraft, greedy: SequenceDraft, option_list: OptionList
) -> list[_AlikeSequences]:
    """The sequences that hold a pattern that is too frequent, by what can be done in them."""
    groups: dict[Hashable, _AlikeSequences] = {}
    rows = np.flatnonzero(draft.original_mask[option_list.wanted_indices].any(axis=0))
    for done_count, row in enumerate(rows.tolist()):
        if done_count % 64 == 0:
            report_progress("looking for the fewest marks", done_count, len(rows))
        row_options = option_list.find_options(row) or _take_greedy(draft, greedy, option_list, row)
        group = groups.setdefault(row_options.signature, _AlikeSequences(row_options.options, row_options.bounds, []))
        group.members.append((row_options.options, option_list.list_places(row)))
    return list(groups.values())


def _take_greedy(draft: SequenceDraft, greedy: SequenceDraft, option_list: OptionList, row: int) -> RowOptions:
    """What the heuristic did in a sequence that there is no time to look at."""
    wanted_indices = option_list.wanted_indices
    hidden_indices = wanted_indices[
        draft.original_mask[wanted_indices, row] & (greedy.totals[wanted_indices, row] == 0)
    ]
    places = np.flatnonzero(~greedy.alive[option_list.list_places(row)])
    option = HidingOption(tuple(hidden_indices.tolist()), tuple(places.tolist()))
    row_patterns = tuple(wanted_indices[draft.original_mask[wanted_indices, row]].tolist())
    return RowOptions((option,) if hidden_indices.size else (), (HidingBound(row_patterns, 1),))


def _is_certain(groups: Sequence[_AlikeSequences]) -> bool:
    """Whether every cost is the least that there is."""
    return all(group.list_sets(bounds=True) == group.list_sets(bounds=False) for group in groups)


def _solve(
    groups: Sequence[_AlikeSequences], needs: dict[int, int], seconds: float, *, bounds: bool
) -> ProgramAnswer | None:
    """How many sequences of each group take each option, so that enough of them hide each pattern."""
    sets = [(group, priced_set) for group in groups for priced_set in group.list_sets(bounds=bounds)]
    program = IntegerProgram.of(np.array([len(group.members) for group, _ in sets], dtype=np.float64))
    first = 0
    for group in groups:
        count = len(group.list_sets(bounds=bounds))
        if count > 1:
            program.require_at_most(np.arange(first, first + count), np.ones(count), float(len(group.members)))
        first += count
    for index, need in needs.items():
        columns = np.array([number for number, (_, (patterns, _)) in enumerate(sets) if index in patterns])
        program.require_at_least(columns, np.ones(len(columns)), float(need))
    costs = np.array([cost for _, (_, cost) in sets], dtype=np.float64)
    return solve_program(program, costs, seconds) if seconds > 0 else None


def _list_marks(groups: Sequence[_AlikeSequences], choice: ProgramAnswer) -> Ints:
    """The items to mark: the first sequences of a group take its first option, and so on."""
    marks: list[int] = []
    column = 0
    for group in groups:
        member = 0
        for number in range(len(group.options)):
            for options, places in group.members[member : member + int(choice.values[column])]:
                marks += places[list(options[number].places)].tolist()
            member += int(choice.values[column])
            column += 1
    return np.array(marks, dtype=np.int64)
