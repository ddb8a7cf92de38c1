# SPDX-License-Identifier: MIT
"""The basis of the searches for entries to blank: the rules found, their counts, and repeated mining.

An `EntryLedger` knows rules and keeps their counts while entries are blanked and shown again. `RuleMining` calls the
miner, the second time only for rows that changed since. Both use the private values and stay with the custodian.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Bytes, Codes, Ints
from sfumato.data.hierarchy import spell_cells
from sfumato.mine.entries.adversarial_rules import find_adversarial_rules
from sfumato.mine.entries.adversarial_search import SearchBudget, round_up_fraction
from sfumato.mine.entries.cells import NOTHING, PRIVATE, PUBLIC, TableCells
from sfumato.mine.entries.rule_arrays import RuleArrays
from sfumato.progress import report_progress

if TYPE_CHECKING:
    from sfumato.kernels.entries.grades import RuleLimits

Number = TypeVar("Number", np.int32, np.int64)
_CHUNK = 4096
"""Antecedents or rules processed between two progress reports."""
_ROOM = 1 << 20
"""Approximate rows of antecedents listed between them."""


class LedgerRules(NamedTuple):
    """Rules as arrays, with the rows of each antecedent."""

    start: Ints
    items: Codes
    antecedent: Codes
    target: Codes
    row_start: Ints
    middle: Ints
    """The offset of the rows that hide nothing."""
    rows: Codes


@dataclass(frozen=True)
class RuleQuestion:
    """Which rules must not remain."""

    confidence: Fraction
    least: int
    """The smallest support, as a count."""
    max_length: int | None = None
    prior: bool = False
    seconds: float | None = None
    """The time budget of all mining together; `memory` is the largest memory use, in bytes."""
    memory: int | None = None

    def limits(self, rows: int) -> RuleLimits:
        """The thresholds as integers; shares of this many rows compare with them as with the confidence."""
        from sfumato.kernels.entries.grades import RuleLimits

        share = round_up_fraction(self.confidence, max(rows, 1))
        return RuleLimits(share.numerator, share.denominator, max(self.least, 1))


@dataclass
class RuleMining:
    """The miner, called repeatedly while entries are blanked."""

    cells: TableCells
    question: RuleQuestion
    complete: bool = True
    """False once a budget stopped it: there may be unknown rules."""
    passes: int = 0
    """How often it was called."""
    first: RuleArrays | None = None
    """What the first call found."""
    _last: Bytes | None = None
    _begun: float = field(default_factory=monotonic)

    def rules(self, states: Bytes) -> RuleArrays:
        """All rules that are adversarial now, if none of those found before still is."""
        question, last = self.question, self._last
        touched = before = None
        if last is not None:
            touched = (last != states).any(axis=1)
            # An antecedent may have appeared before, or appear now: PUBLIC is the smallest of the states.
            before = np.minimum(last, states)
        left = None if question.seconds is None else question.seconds - (monotonic() - self._begun)
        rule_arrays = find_adversarial_rules(
            self.cells, states, question.confidence, question.least, question.max_length, question.prior,
            touched=touched, before=before,
            budget=SearchBudget(None if left is None else max(left, 0.0), question.memory),
        )  # fmt: skip
        self._last = states.copy()
        self.first = rule_arrays if self.first is None else self.first
        self.complete &= rule_arrays.complete
        self.passes += 1
        return rule_arrays


@dataclass(frozen=True)
class BlankingReason:
    """Why an entry is blanked."""

    invalidated: int
    """Rules that lose a row which confirms them."""
    marginalized: int
    """Rules that lose a row which they could be applied to."""
    example: str
    """One of them."""

    @property
    def kind(self) -> str:
        """Invalidation, marginalization, or both."""
        if self.invalidated and self.marginalized:
            return "both"
        return "invalidation" if self.invalidated else "marginalization"


@dataclass(frozen=True)
class DerivedEntries:
    """Entries blanked besides the private ones, and what is known about them."""

    entries: Ints
    """Row × width + column of each, in the order of blanking."""
    reasons: tuple[BlankingReason, ...]
    states: Bytes
    """All entries, as published."""
    bound: int
    """Whether no smaller set leaves no rule."""
    proven: bool


class EntryLedger:
    """Rules with their counts, and the states of all entries, which it changes."""

    def __init__(self, cells: TableCells, question: RuleQuestion, states: Bytes | None = None) -> None:
        """Start without rules; `states` are those in which rows of antecedents are listed, initially the cells' own."""
        from sfumato.kernels.entries.grades import RuleBooks, mark_all_hidden_columns

        self.cells = cells
        self.limits = question.limits(len(cells.codes))
        self.base: Bytes = cells.states if states is None else states
        self.states: Bytes = self.base.copy()
        self.columns = np.repeat(np.arange(len(cells.names)), np.diff(cells.first)).astype(np.int32)
        none, start = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
        self.rules = LedgerRules(start, none, none, none, start, np.zeros(0, dtype=np.int64), none)
        hiding = np.zeros(len(self.states), dtype=np.int64)
        mark_all_hidden_columns(self.states, hiding)
        records, total = np.zeros((0, 8), dtype=np.int32), np.zeros(1, dtype=np.int64)
        self.books = RuleBooks(self.states, hiding, records, none, none, total)
        self._write(0, 0)

    @property
    def width(self) -> int:
        """The number of columns; entry e is row e // width, column e % width."""
        return len(self.cells.names)

    @property
    def open(self) -> int:
        """How many of the known rules are adversarial now."""
        return int(self.books.total[0])

    @property
    def size(self) -> int:
        """The total number of rows of the antecedents, which determines the cost of everything here."""
        return len(self.rules.rows)

    @property
    def known(self) -> int:
        """How many rules are known."""
        return len(self.rules.target)

    def add(self, rule_arrays: RuleArrays) -> None:
        """Add rules that are not known yet."""
        row_start, middle, rows = self._list_appearance_rows(rule_arrays)
        del self.ledger  # its arrays are long, and rebuilt
        old = self.rules
        self.rules = LedgerRules(
            _append_array(old.start, rule_arrays.start[1:] + old.start[-1]),
            _append_array(old.items, rule_arrays.items),
            _append_array(old.antecedent, rule_arrays.antecedent + np.int32(len(old.start) - 1)),
            _append_array(old.target, rule_arrays.target),
            _append_array(old.row_start, row_start[1:] + old.row_start[-1]),
            _append_array(old.middle, middle + old.row_start[-1]),
            _append_array(old.rows, rows),
        )
        antecedents, known = len(old.start) - 1, len(old.target)
        del old
        self._write(antecedents, known)

    def turn(self, entry: int, to: int) -> None:
        """Blank a public entry, or show a blanked one."""
        from sfumato.kernels.entries.grades import turn_entry

        turn_entry(self.ledger, self.books, entry // self.width, entry % self.width, to, self.limits)

    def reason(self, why: Codes) -> BlankingReason:
        """The kernel's result for an entry, in words."""
        return BlankingReason(int(why[0]), int(why[1]), "" if why[2] < 0 else self.spelling(int(why[2])))

    def needed(self, entries: Ints) -> tuple[BlankingReason, ...]:
        """Why each of some entries is blanked: the rules that would be open without it."""
        from sfumato.kernels.entries.grades import find_needed_entries

        why = np.zeros((len(entries), 3), dtype=np.int32)
        for begin in range(0, len(entries), _CHUNK):
            report_progress("explaining blanked entries", begin, len(entries))
            part = slice(begin, begin + _CHUNK)
            find_needed_entries(self.ledger, self.books, entries[part], why[part], self.limits)
        return tuple(self.reason(code) for code in why)

    def spelling(self, rule: int) -> str:
        """A rule as text."""
        rules = self.rules
        antecedent = int(rules.antecedent[rule])
        items = rules.items[rules.start[antecedent] : rules.start[antecedent + 1]]
        shown = " and ".join(self._labels[item] for item in items)
        return f"{shown or 'anything'} → {self._labels[rules.target[rule]]}"

    @cached_property
    def _labels(self) -> list[str]:
        columns = zip(self.cells.names, self.cells.values, strict=True)
        return [f"{name} = {value}" for name, values in columns for value in spell_cells(values)]

    def add_hiding_rows(self, rule_arrays: RuleArrays) -> RuleArrays:
        """The rules that were added first, with those rows of their antecedents that hide something."""
        begin, end = self.rules.row_start[: len(rule_arrays.start) - 1], self.rules.middle[: len(rule_arrays.start) - 1]
        start = np.concatenate([[0], np.cumsum(end - begin)]).astype(np.int64)
        places = np.arange(start[-1]) + np.repeat(begin - start[:-1], end - begin)
        return replace(rule_arrays, row_start=start, rows=self.rules.rows[places])

    def _list_appearance_rows(self, rule_arrays: RuleArrays) -> tuple[Ints, Ints, Codes]:
        """The offsets of each antecedent's rows before blanking, the offsets of those that hide nothing, and the
        rows."""
        from sfumato.kernels.entries.grades import list_appearances

        hides = (self.cells.states == PRIVATE).any(axis=1)
        order = np.concatenate([np.flatnonzero(hides), np.flatnonzero(~hides)]).astype(np.int32)
        seen = np.ascontiguousarray(np.where(self.base == PUBLIC, self.cells.codes, NOTHING).T)
        many, longest = len(rule_arrays.start) - 1, int(np.diff(rule_arrays.start).max(initial=0))
        stack, sizes = np.zeros((longest + 1, len(order)), np.int32), np.zeros((longest + 1, 2), np.int64)
        stack[0], sizes[0] = order, (len(order), int(hides.sum()))
        counts, parts, begin = np.zeros((many, 2), dtype=np.int64), [np.zeros(0, dtype=np.int32)], 0
        room = np.zeros(max(_ROOM, len(order)), dtype=np.int32)
        while begin < many:
            report_progress("listing the rows of rules", begin, many)
            end = min(begin + _CHUNK, many)
            begin, used = list_appearances(
                seen, self.columns, rule_arrays.start, rule_arrays.items, stack, sizes, begin, end, counts, room
            )
            parts.append(room[:used].copy())
        start = np.concatenate([[0], np.cumsum(counts[:, 0])]).astype(np.int64)
        return start, start[:-1] + counts[:, 1], np.concatenate(parts)

    def _write(self, antecedents: int, known: int) -> None:
        """Build the arrays that kernels read. The counts of antecedents and rules up to these numbers are kept."""
        from sfumato.kernels.entries.grades import ANTECEDENT, COLUMN, PLACE, TARGET, RuleLedger, count_antecedent_rules

        rules = self.rules
        many, added = len(rules.start) - 1, len(rules.target) - known
        rule_start = np.searchsorted(rules.antecedent, np.arange(many + 1)).astype(np.int64)
        marks = np.int64(1) << (self.columns & 63).astype(np.int64)
        x_marks = _merge_run_marks(marks[rules.items], rules.start)
        all_marks = x_marks | _merge_run_marks(marks[rules.target], rule_start)
        records = np.ascontiguousarray(np.stack([x_marks, all_marks, rule_start[:-1], rule_start[1:]], axis=1))
        self._of_row = self._append_row_antecedents(antecedents)
        self.ledger = RuleLedger(
            self.cells.codes, self.columns, rules.start, rules.items, records, rules.row_start, rules.middle,
            rules.rows, *self._of_row,
        )  # fmt: skip
        fresh = np.zeros((added, 8), dtype=np.int32)
        fresh[:, PLACE], fresh[:, TARGET] = -1, rules.target[known:]
        fresh[:, COLUMN], fresh[:, ANTECEDENT] = self.columns[rules.target[known:]], rules.antecedent[known:]
        self.books = self.books._replace(
            rules=np.concatenate([self.books.rules, fresh]),
            opened=np.concatenate([self.books.opened, np.zeros(added, dtype=np.int32)]),
            open_of=np.concatenate([self.books.open_of, np.zeros(many - antecedents, dtype=np.int32)]),
        )
        for begin in range(antecedents, many, _CHUNK):
            report_progress("counting rules", begin, many)
            count_antecedent_rules(self.ledger, self.books, begin, min(begin + _CHUNK, many), self.limits)

    def _append_row_antecedents(self, antecedents: int) -> tuple[Ints, Codes]:
        """The antecedents of each row, new ones after those that were known before."""
        from sfumato.kernels.entries.grades import concatenate_row_lists, invert_row_lists

        begin = self.rules.row_start[antecedents]
        row_start, rows = self.rules.row_start[antecedents:] - begin, self.rules.rows[begin:]
        start, more = np.zeros(len(self.cells.codes) + 2, dtype=np.int64), np.zeros(len(rows), dtype=np.int32)
        invert_row_lists(row_start, rows, antecedents, start, more)
        if not antecedents:
            return start[:-1].copy(), more
        both_start, both = np.zeros(len(start) - 1, dtype=np.int64), np.zeros(len(self.rules.rows), dtype=np.int32)
        concatenate_row_lists(*self._of_row, start[:-1].copy(), more, both_start, both)
        return both_start, both


def _append_array(some: npt.NDArray[Number], more: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Concatenate arrays; a single one is not copied, since rows can be very many."""
    return np.concatenate([some, more]) if len(some) else more


def _merge_run_marks(marks: Ints, start: Ints) -> Ints:
    """All marks of each run combined; an empty run has none."""
    merged = np.zeros(len(start) - 1, dtype=np.int64)
    full = np.flatnonzero(np.diff(start))
    if len(full):
        merged[full] = np.bitwise_or.reduceat(marks, start[full])
    return merged
