# SPDX-License-Identifier: MIT
"""What it costs to hide patterns in one sequence: for each set of them, the fewest items that must be marked.

Items of no pattern do not matter, so sequences that are alike without them have the same costs, and are looked at once.
The fewest items that hit every match are found by branching on the items of one match (Downey and Fellows 1999), from
the number of matches that share no item on. Where that takes too long, what is known from below and from above is kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations
from time import monotonic
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Ints
from sfumato.protect.sequences.edited_sequences import SequenceDraft

_MOST_PATTERNS = 10
"""With more patterns than this in a sequence, not every set of them is looked at."""
_MOST_NODES = 3000
"""How many branches are tried for one set in one sequence."""

PatternSet = tuple[int, ...]


class HidingOption(NamedTuple):
    """Patterns that are hidden in a sequence by marking some of its items."""

    patterns: PatternSet
    places: tuple[int, ...]
    """Indices among the items of the sequence that belong to some pattern."""

    @property
    def cost(self) -> int:
        """How many items are marked."""
        return len(self.places)


class HidingBound(NamedTuple):
    """No fewer marks hide these patterns, or any set of patterns among them that is not listed with fewer."""

    patterns: PatternSet
    least: int


class RowOptions(NamedTuple):
    """What can be done in a sequence, and a bound of what any choice costs."""

    options: tuple[HidingOption, ...]
    bounds: tuple[HidingBound, ...]

    @property
    def signature(self) -> Hashable:
        """Sequences with the same one may be exchanged for each other."""
        return tuple((option.patterns, option.cost) for option in self.options), self.bounds


class OptionList:
    """The options of sequences, each kind of sequence looked at once."""

    def __init__(self, draft: SequenceDraft, wanted_indices: Ints, deadline: float) -> None:
        """`wanted_indices`: the patterns that are too frequent. After `deadline` nothing more is looked at."""
        self.draft, self.wanted_indices, self.deadline = draft, wanted_indices, deadline
        codes = [draft.patterns[index].codes for index in wanted_indices.tolist()]
        self._matters = np.isin(draft.data.codes, np.concatenate(codes))
        self._options_by_key: dict[Hashable, RowOptions] = {}

    def list_places(self, row: int) -> Ints:
        """The items of a sequence that belong to some pattern, as indices into the codes."""
        begin = self.draft.begin_of(row)
        end = int(self.draft.data.element_offsets[self.draft.data.offsets[row + 1]])
        return begin + np.flatnonzero(self._matters[begin:end])

    def find_options(self, row: int) -> RowOptions | None:
        """What can be done in a sequence; None if there is no time to find out."""
        places = self.list_places(row)
        elements = np.searchsorted(self.draft.data.element_offsets, places, side="right")
        if not self.draft.is_limited:  # without limits on gaps, only the order of elements matters
            elements = np.unique(elements, return_inverse=True)[1]
        key = ((elements - elements[0]).tobytes(), self.draft.data.codes[places].tobytes())
        if key not in self._options_by_key:
            if monotonic() > self.deadline:
                return None
            options = self._search(row, places)
            if options is None:
                return None
            self._options_by_key[key] = options
        return self._options_by_key[key]

    def _search(self, row: int, places: Ints) -> RowOptions | None:
        held_patterns = [index for index in self.wanted_indices.tolist() if self.draft.original_mask[index, row]]
        number = {position: index for index, position in enumerate(places.tolist())}
        totals = self.draft.totals[:, row].copy()
        try:
            search = _MarkSearch(self.draft, row, self.deadline)
            hitting_sets = search.hide_sets(
                tuple(held_patterns), len(held_patterns) if len(held_patterns) <= _MOST_PATTERNS else 1
            )
        except _OptionDeadline:
            self.draft.alive[places] = True
            self.draft.totals[:, row] = totals
            return None
        options = tuple(
            HidingOption(pattern_set, tuple(number[position] for position in hitting_set.places))
            for pattern_set, hitting_set in hitting_sets.items()
        )
        bounds = [HidingBound(pattern_set, hitting_set.least) for pattern_set, hitting_set in hitting_sets.items()]
        if len(held_patterns) > _MOST_PATTERNS:
            # A set costs no less than the dearest of its patterns alone.
            single_bounds = [bound for bound in bounds if len(bound.patterns) == 1]
            steps = sorted({bound.least for bound in single_bounds})
            bounds = [
                HidingBound(tuple(b.patterns[0] for b in single_bounds if b.least <= step), step) for step in steps
            ]
        return RowOptions(_drop_dominated_options(options), _drop_dominated_bounds(bounds))


class _HittingSet(NamedTuple):
    places: tuple[int, ...]
    least: int


class _OptionDeadline(Exception):
    """A sequence is so long that the time ran out while it was looked at."""


class _MarkSearch:
    """Looks for the fewest items that hit all matches of some patterns in one sequence."""

    def __init__(self, draft: SequenceDraft, row: int, deadline: float) -> None:
        self.draft, self.row, self._remaining_nodes, self._deadline = draft, row, 0, deadline

    def hide_sets(self, patterns: PatternSet, largest: int) -> dict[PatternSet, _HittingSet]:
        """All patterns together, and the sets of up to this many of them that cost less."""
        whole = self._hide(patterns, 0)
        hitting_sets, least = {patterns: whole}, {patterns: whole.least}
        for size in range(1, min(largest, len(patterns) - 1) + 1):
            for pattern_set in combinations(patterns, size):
                floor = max((least[part] for part in combinations(pattern_set, size - 1) if part), default=0)
                least[pattern_set] = floor
                if floor < len(whole.places):  # else hiding these hides all
                    hitting_sets[pattern_set] = self._hide(pattern_set, floor)
                    least[pattern_set] = hitting_sets[pattern_set].least
        return hitting_sets

    def _hide(self, patterns: PatternSet, floor: int) -> _HittingSet:
        """The fewest items that were found, and a bound."""
        least, best = max(floor, self._count_disjoint(patterns)), self._mark_heaviest(patterns)
        self._remaining_nodes = _MOST_NODES
        while least < len(best):
            places = self._find_hitting_items(patterns, least)
            if self._remaining_nodes <= 0:
                break
            if places is not None:
                best = places
                break
            least += 1
        return _HittingSet(tuple(best), min(least, len(best)))

    def _check_time(self) -> None:
        if monotonic() > self._deadline:
            raise _OptionDeadline

    def _find_match(self, patterns: PatternSet) -> list[int] | None:
        self._check_time()
        for index in patterns:
            match = self.draft.find_match(self.row, index)
            if match is not None:
                return [int(position) for position in match]
        return None

    def _count_disjoint(self, patterns: PatternSet) -> int:
        """How many matches can be found that share no item: each of them needs a mark of its own."""
        used_matches: list[int] = []
        count = 0
        while (match := self._find_match(patterns)) is not None:
            self.draft.alive[match] = False
            used_matches += match
            count += 1
        self.draft.alive[used_matches] = True
        return count

    def _mark_heaviest(self, patterns: PatternSet) -> list[int]:
        """The items that the heuristic marks."""
        begin, totals = self.draft.begin_of(self.row), self.draft.totals[:, self.row].copy()
        marked_places: list[int] = []
        while (weights := self.draft.weigh(self.row, patterns)).any():
            self._check_time()
            marked_places.append(begin + int(weights.argmax()))
            self.draft.alive[marked_places[-1]] = False
        self.draft.alive[marked_places] = True
        self.draft.totals[:, self.row] = totals
        return marked_places

    def _find_hitting_items(self, patterns: PatternSet, budget: int) -> list[int] | None:
        """Items that hit every match, at most this many; None if there are none, or if that took too long."""
        self._remaining_nodes -= 1
        match = self._find_match(patterns)
        if match is None:
            return []
        if not budget or self._remaining_nodes <= 0 or (budget < self._count_disjoint(patterns)):
            return None
        for position in match:
            self.draft.alive[position] = False
            rest = self._find_hitting_items(patterns, budget - 1)
            self.draft.alive[position] = True
            if rest is not None:
                return [position, *rest]
        return None


def _drop_dominated_options(options: Sequence[HidingOption]) -> tuple[HidingOption, ...]:
    """Without options that hide less for no fewer marks."""
    return tuple(
        option
        for option in options
        if not any(set(option.patterns) < set(other.patterns) and other.cost <= option.cost for other in options)
    )


def _drop_dominated_bounds(bounds: Sequence[HidingBound]) -> tuple[HidingBound, ...]:
    return tuple(
        bound
        for bound in bounds
        if not any(set(bound.patterns) < set(other.patterns) and other.least <= bound.least for other in bounds)
    )
