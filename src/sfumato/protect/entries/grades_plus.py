# SPDX-License-Identifier: MIT
"""GraDeS, improved: show unnecessary entries again, then destroy and repair the set while time is left.

Against the same adversary as GraDeS, with the same guarantee; only the derived set is smaller. Weights count hidden
rows only if their value is the predicted one, since blanking another one makes a rule better. Then blanked entries are
shown again if no rule results, and a local search removes a few related ones and repairs the set with fewer. Rules that
appear on the way are found by mining again, and known from then on.
"""

from __future__ import annotations

from time import monotonic

import numpy as np

from sfumato.arrays import Ints
from sfumato.mine.entries.rule_arrays import RuleArrays
from sfumato.protect.entries.entry_ledger import DerivedEntries, EntryLedger, RuleMining
from sfumato.protect.entries.grades import SLACK, WeighingOptions, blank_heaviest_first, bound_entry_count
from sfumato.runtime.progress import report_progress

WEIGHING_OPTIONS = WeighingOptions(counts_fit=True, slack=SLACK, forget=False, reach=2)
_SEED = 0x9E3779B97F4A7C15
"""Randomness only chooses among sets that are all safe; it is fixed, so that a release can be repeated."""
_CHUNK = 64
"""Moves between two checks of the clock."""
_PATIENCE = 24
"""Moves per blanked entry without a smaller safe set, after which the search ends early."""
_SLICES = 5
"""The number of time slices after each of which rules are mined again, at the latest."""


def run_grades_plus(mining: RuleMining, seconds: float) -> DerivedEntries:
    """A small set of entries whose blanking leaves no rule; `seconds` is the time for making it smaller."""
    search = EntrySearch(mining)
    search.make_safe()
    search.improve(seconds)
    return search.derive_entries()


class EntrySearch:
    """The current set of blanked entries, the known rules, and the smallest safe set so far."""

    def __init__(self, mining: RuleMining) -> None:
        """Start with nothing blanked."""
        from sfumato.kernels.entries.grades_local import KeptEntries

        self.mining = mining
        self.ledger = EntryLedger(mining.cells, mining.question)
        self.bound = 0
        self.best: Ints | None = None
        empty_entries = np.zeros(0, dtype=np.int64)
        self._blanked_entries = KeptEntries(
            entries=empty_entries,
            list_places=empty_entries,
            tally=np.zeros(4, dtype=np.int64),
            weight=empty_entries,
            room=empty_entries,
            seed=np.array([_SEED], dtype=np.uint64),
        )

    @property
    def entries(self) -> Ints:
        """What is blanked now."""
        return self.ledger.name_entries(self._held_entries)

    @property
    def _held_entries(self) -> Ints:
        return self._blanked_entries.entries[: self._blanked_entries.tally[0]].copy()

    def learn(self, rule_arrays: RuleArrays) -> None:
        """Add rules to the ledger; it may hold more rows then, and number its entries anew."""
        width, kept_entries = self.ledger.width, self._held_entries
        new_places = self.ledger.add(rule_arrays)
        size = self.ledger.codes.size
        if size == len(self._blanked_entries.list_places):
            return
        self._blanked_entries = self._blanked_entries._replace(
            entries=np.zeros(size, dtype=np.int64),
            list_places=np.full(size, -1, dtype=np.int64),
            weight=np.zeros(size, dtype=np.int64),
            room=np.zeros(size, dtype=np.int64),
        )
        self._list_kept(new_places[kept_entries // width] * width + kept_entries % width, 0)

    def _list_kept(self, entries: Ints, begin: int) -> None:
        """Put entries on the list of blanked ones, from a position on."""
        end = begin + len(entries)
        self._blanked_entries.entries[begin:end] = entries
        self._blanked_entries.list_places[entries] = np.arange(begin, end)
        self._blanked_entries.tally[0] = end

    def make_safe(self) -> None:
        """Blank the heaviest, mine, blank again, until no rule is left."""
        while len(rule_arrays := self.mining.mine_rules(self.ledger.states)):
            first = self.ledger.rule_count == 0
            self.learn(rule_arrays)
            if first:
                self.mining.first, self.bound = self.ledger.add_hiding_rows(rule_arrays), bound_entry_count(self.ledger)
            blanked_entries, _ = blank_heaviest_first(self.ledger, WEIGHING_OPTIONS)
            old_count = int(self._blanked_entries.tally[0])
            self._list_kept(self.ledger.place_entries(blanked_entries), old_count)
            self.take_back(0 if first else old_count)
        if self.best is None or self._blanked_entries.tally[0] < len(self.best):
            self.best = self.entries

    def blank_only(self, entries: Ints) -> None:
        """Blank just these entries."""
        for entry in np.setdiff1d(self.entries, entries):
            self.ledger.turn(int(entry), 0)
        for entry in np.setdiff1d(entries, self.entries):
            self.ledger.turn(int(entry), 2)
        self._blanked_entries.list_places[self._held_entries] = -1
        self._list_kept(self.ledger.place_entries(entries), 0)

    def improve(self, seconds: float) -> None:
        """Local search until time runs out, the lower bound is reached, or nothing was gained for long."""
        end, span, idle_moves = monotonic() + seconds, seconds / _SLICES, 0
        while self.best is not None and len(self.best) > self.bound and monotonic() < end:
            smallest = len(self.best)
            patience = _PATIENCE * max(smallest, 50)
            idle_moves += self._run_moves(min(end, monotonic() + span), patience // 3)
            mining_start = monotonic()
            self.make_safe()
            span = max(seconds / _SLICES, 2 * (monotonic() - mining_start))
            idle_moves = 0 if len(self.best) < smallest else idle_moves
            if idle_moves > patience:
                break

    def derive_entries(self) -> DerivedEntries:
        """The smallest safe set without its unnecessary entries, with the reason for each entry."""
        assert self.best is not None
        while True:
            self.blank_only(self.best)
            self.take_back()
            if self._blanked_entries.tally[0] == len(self.best):
                break
            self.make_safe()
        reasons = self.ledger.explain_entries(self.best)
        proven = self.mining.complete and len(self.best) == self.bound
        return DerivedEntries(self.best, reasons, self.ledger.states, self.bound, proven)

    def take_back(self, begin: int = 0) -> None:
        """Show unnecessary entries again, those blanked last first, down to a position."""
        from sfumato.kernels.entries.grades_local import show_needless_entries

        for end in range(int(self._blanked_entries.tally[0]), begin, -_CHUNK):
            report_progress("showing unnecessary entries again", end, int(self._blanked_entries.tally[0]))
            start = max(end - _CHUNK, begin)
            show_needless_entries(
                self.ledger.ledger, self.ledger.books, self._blanked_entries, self.ledger.limits, start, end
            )

    def _run_moves(self, deadline: float, most: int) -> int:
        """Make moves until a time, at most a number of them; return how many."""
        from sfumato.kernels.entries.grades_local import improve_by_moves

        moves = 0
        while moves < most and self._blanked_entries.tally[0] and monotonic() < deadline:
            report_progress("making the derived set smaller", moves, most)
            improve_by_moves(self.ledger.ledger, self.ledger.books, self._blanked_entries, self.ledger.limits, _CHUNK)
            moves += _CHUNK
        return moves
