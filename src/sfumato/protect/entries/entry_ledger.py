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
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import ImpossibleRelease
from sfumato.mine.entries.adversarial_rules import find_adversarial_rules
from sfumato.mine.entries.adversarial_search import SearchBudget, round_up_fraction
from sfumato.mine.entries.cells import TableCells
from sfumato.mine.entries.rule_arrays import RuleArrays
from sfumato.protect.entries.appearances import list_antecedent_rows
from sfumato.runtime.progress import report_progress

if TYPE_CHECKING:
    from sfumato.kernels.entries.grades import RuleLimits

Integer = TypeVar("Integer", np.int32, np.int64)
_CHUNK = 4096
"""Antecedents or rules processed between two progress reports."""
_BYTES_AN_APPEARANCE = 24
"""What is held of a row in which an antecedent appears: its number twice, and once more while lists are joined."""
_BYTES_A_HELD_CELL = 40
"""What is held of a cell in such a row: its number, its state, and what searches weigh and list."""


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
    room: int | None = None
    """How much memory what is held of rules and their rows may use, in bytes."""

    def compute_limits(self, rows: int) -> RuleLimits:
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
    _start_time: float = field(default_factory=monotonic)

    def mine_rules(self, states: Bytes) -> RuleArrays:
        """All rules that are adversarial now, if none of those found before still is."""
        question, last = self.question, self._last
        touched_mask = shown_states = None
        if last is not None:
            touched_mask = (last != states).any(axis=1)
            # An antecedent may have appeared before, or appear now: PUBLIC is the smallest of the states.
            shown_states = np.minimum(last, states)
        remaining_seconds = None if question.seconds is None else question.seconds - (monotonic() - self._start_time)
        rule_arrays = find_adversarial_rules(
            self.cells, states, question.confidence, question.least, question.max_length, question.prior,
            touched_mask=touched_mask, earlier_states=shown_states,
            budget=SearchBudget(None if remaining_seconds is None else max(remaining_seconds, 0.0), question.memory),
        )  # fmt: skip
        self._last = states.copy()
        self.first = rule_arrays if self.first is None else self.first
        self.complete &= rule_arrays.complete
        self.passes += 1
        return rule_arrays


@dataclass(frozen=True)
class BlankingReason:
    """Why an entry is blanked."""

    invalidated_count: int
    """Rules that lose a row which confirms them."""
    marginalized_count: int
    """Rules that lose a row which they could be applied to."""
    example: str
    """One of them."""

    @property
    def kind(self) -> str:
        """Invalidation, marginalization, or both."""
        if self.invalidated_count and self.marginalized_count:
            return "both"
        return "invalidation" if self.invalidated_count else "marginalization"


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
    """Rules with their counts, and the states of all entries, which it changes.

    Only rows in which an antecedent appears are held: nothing is counted, weighed or blanked in others. They keep their
    order, so that of equal entries the same one is the first. Entries of the table are not those of the rows that
    are held, which kernels number in the same way: row × width + column.
    """

    def __init__(self, cells: TableCells, question: RuleQuestion, states: Bytes | None = None) -> None:
        """Start without rules; `states` are those in which rows of antecedents are listed, initially the cells' own."""
        from sfumato.kernels.entries.grades import RuleBooks

        self.cells = cells
        self.limits = question.compute_limits(len(cells.codes))
        self.base: Bytes = cells.states if states is None else states
        self.columns = np.repeat(np.arange(len(cells.names)), np.diff(cells.first)).astype(np.int32)
        self.held_rows: Ints = np.zeros(0, dtype=np.int64)
        """The rows of the table that are held, ascending."""
        self.codes: Codes = np.zeros((0, self.width), dtype=np.int32)
        self._room = question.room
        self._of_row: tuple[Ints, Codes] = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32)
        empty_codes, start = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
        self.rules = LedgerRules(
            start, empty_codes, empty_codes, empty_codes, start, np.zeros(0, dtype=np.int64), empty_codes
        )
        records, total = np.zeros((0, 8), dtype=np.int32), np.zeros(1, dtype=np.int64)
        held_states = np.zeros((0, self.width), dtype=np.uint8)
        self.books = RuleBooks(held_states, np.zeros(0, dtype=np.int64), records, empty_codes, empty_codes, total)
        self._write(0, 0)

    @property
    def width(self) -> int:
        """The number of columns; entry e is row e // width, column e % width."""
        return len(self.cells.names)

    @property
    def states(self) -> Bytes:
        """The states of all entries of the table, now."""
        states = self.base.copy()
        states[self.held_rows] = self.books.states
        return states

    def name_entries(self, held_entries: Ints) -> Ints:
        """The entries of the table that entries of held rows are."""
        return np.asarray(self.held_rows[held_entries // self.width] * self.width + held_entries % self.width)

    def place_entries(self, entries: Ints) -> Ints:
        """The entries of held rows that entries of the table are."""
        return np.asarray(np.searchsorted(self.held_rows, entries // self.width) * self.width + entries % self.width)

    @property
    def open(self) -> int:
        """How many of the known rules are adversarial now."""
        return int(self.books.total[0])

    @property
    def size(self) -> int:
        """The total number of rows of the antecedents, which determines the cost of everything here."""
        return len(self.rules.rows)

    @property
    def rule_count(self) -> int:
        """How many rules are known."""
        return len(self.rules.target)

    def add(self, rule_arrays: RuleArrays) -> Ints:
        """Add rules that are not known yet; returns where the rows that were held are among those held now."""
        most = None if self._room is None else self._room // _BYTES_AN_APPEARANCE - self.size
        antecedent_rows = list_antecedent_rows(self.cells, self.base, rule_arrays, most)
        del self.ledger  # its arrays are long, and rebuilt
        new_places = self._hold_rows(antecedent_rows.rows)
        row_start, middle = antecedent_rows.start, antecedent_rows.start[:-1] + antecedent_rows.counts[:, 1]
        rows = self._place_rows(antecedent_rows.rows)
        del antecedent_rows
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
        antecedents, rule_count = len(old.start) - 1, len(old.target)
        del old
        self._write(antecedents, rule_count)
        return new_places

    def _place_rows(self, rows: Codes) -> Codes:
        """Where rows of the table are among those that are held."""
        positions = np.zeros(len(self.cells.codes), dtype=np.int32)
        positions[self.held_rows] = np.arange(len(self.held_rows), dtype=np.int32)
        return positions[rows]

    def _hold_rows(self, rows: Codes) -> Ints:
        """Hold more rows; returns where those that were held are now."""
        from sfumato.kernels.entries.grades import mark_all_hidden_columns

        flags = np.zeros(len(self.cells.codes), dtype=np.bool_)
        flags[rows], flags[self.held_rows] = True, True
        held_rows = np.flatnonzero(flags)
        self._refuse_many_rows(len(held_rows))
        new_places = np.searchsorted(held_rows, self.held_rows)
        if len(held_rows) == len(self.held_rows):
            return new_places
        states = self.base[held_rows]
        states[new_places] = self.books.states
        hidden_columns = np.zeros(len(held_rows), dtype=np.int64)
        mark_all_hidden_columns(states, hidden_columns)
        self.books = self.books._replace(states=states, hidden_columns=hidden_columns)
        self.rules = self.rules._replace(rows=new_places.astype(np.int32)[self.rules.rows])
        lengths = np.zeros(len(held_rows), dtype=np.int64)
        lengths[new_places] = np.diff(self._of_row[0])
        self._of_row = np.concatenate([[0], np.cumsum(lengths)]), self._of_row[1]
        self.held_rows, self.codes = held_rows, self.cells.codes[held_rows].astype(np.int32)
        return new_places

    def _refuse_many_rows(self, count: int) -> None:
        """Stop before `count` rows are held if memory does not suffice."""
        if self._room is not None and count * self.width * _BYTES_A_HELD_CELL > self._room:
            raise ImpossibleRelease(
                f"rules appear in {count:,} rows of the table, more than memory holds; raise min_support or "
                "confidence, set max_length, or set SFUMATO_MEMORY higher"
            )

    def turn(self, entry: int, state: int) -> None:
        """Blank a public entry, or show a blanked one; its row must be held."""
        from sfumato.kernels.entries.grades import turn_entry

        row = int(np.searchsorted(self.held_rows, entry // self.width))
        turn_entry(self.ledger, self.books, row, entry % self.width, state, self.limits)

    def explain_entry(self, reason_codes: Codes) -> BlankingReason:
        """The kernel's result for an entry, in words."""
        from sfumato.kernels.entries.grades import EXAMPLE, INVALIDATED_RULES, MARGINALIZED_RULES

        example = int(reason_codes[EXAMPLE])
        return BlankingReason(
            int(reason_codes[INVALIDATED_RULES]),
            int(reason_codes[MARGINALIZED_RULES]),
            "" if example < 0 else self.spell_rule(example),
        )

    def explain_entries(self, entries: Ints) -> tuple[BlankingReason, ...]:
        """Why each of some entries is blanked: the rules that would be open without it."""
        from sfumato.kernels.entries.grades import find_needed_entries

        reason_codes, held_entries = np.zeros((len(entries), 3), dtype=np.int32), self.place_entries(entries)
        for begin in range(0, len(entries), _CHUNK):
            report_progress("explaining blanked entries", begin, len(entries))
            part = slice(begin, begin + _CHUNK)
            find_needed_entries(self.ledger, self.books, held_entries[part], reason_codes[part], self.limits)
        return tuple(self.explain_entry(code) for code in reason_codes)

    def spell_rule(self, rule: int) -> str:
        """A rule as text."""
        rules = self.rules
        antecedent = int(rules.antecedent[rule])
        items = rules.items[rules.start[antecedent] : rules.start[antecedent + 1]]
        antecedent_text = " and ".join(self._labels[item] for item in items)
        return f"{antecedent_text or 'anything'} → {self._labels[rules.target[rule]]}"

    @cached_property
    def _labels(self) -> list[str]:
        columns = zip(self.cells.names, self.cells.values, strict=True)
        return [f"{name} = {value}" for name, values in columns for value in spell_cells(values)]

    def add_hiding_rows(self, rule_arrays: RuleArrays) -> RuleArrays:
        """The rules that were added first, with those rows of their antecedents that hide something."""
        begin, end = self.rules.row_start[: len(rule_arrays.start) - 1], self.rules.middle[: len(rule_arrays.start) - 1]
        start = np.concatenate([[0], np.cumsum(end - begin)]).astype(np.int64)
        places = np.arange(start[-1]) + np.repeat(begin - start[:-1], end - begin)
        return replace(rule_arrays, row_start=start, rows=self.held_rows[self.rules.rows[places]].astype(np.int32))

    def _write(self, antecedents: int, rule_count: int) -> None:
        """Build the arrays that kernels read. The counts of antecedents and rules up to these numbers are kept."""
        from sfumato.kernels.entries.grades import (
            ANTECEDENT,
            COLUMN,
            LIST_PLACE,
            TARGET,
            RuleLedger,
            count_antecedent_rules,
        )

        rules = self.rules
        many, added_count = len(rules.start) - 1, len(rules.target) - rule_count
        rule_start = np.searchsorted(rules.antecedent, np.arange(many + 1)).astype(np.int64)
        marks = np.int64(1) << (self.columns & 63).astype(np.int64)
        x_marks = _merge_run_marks(marks[rules.items], rules.start)
        all_marks = x_marks | _merge_run_marks(marks[rules.target], rule_start)
        records = np.ascontiguousarray(np.stack([x_marks, all_marks, rule_start[:-1], rule_start[1:]], axis=1))
        self._of_row = self._append_row_antecedents(antecedents)
        self.ledger = RuleLedger(
            self.codes, self.columns, rules.start, rules.items, records, rules.row_start, rules.middle,
            rules.rows, *self._of_row,
        )  # fmt: skip
        fresh = np.zeros((added_count, 8), dtype=np.int32)
        fresh[:, LIST_PLACE], fresh[:, TARGET] = -1, rules.target[rule_count:]
        fresh[:, COLUMN], fresh[:, ANTECEDENT] = self.columns[rules.target[rule_count:]], rules.antecedent[rule_count:]
        self.books = self.books._replace(
            rules=np.concatenate([self.books.rules, fresh]),
            open_rules=np.concatenate([self.books.open_rules, np.zeros(added_count, dtype=np.int32)]),
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
        start, more = np.zeros(len(self.held_rows) + 2, dtype=np.int64), np.zeros(len(rows), dtype=np.int32)
        invert_row_lists(row_start, rows, antecedents, start, more)
        if not antecedents:
            return start[:-1].copy(), more
        both_start, both_antecedents = (
            np.zeros(len(start) - 1, dtype=np.int64),
            np.zeros(len(self.rules.rows), dtype=np.int32),
        )
        concatenate_row_lists(*self._of_row, start[:-1].copy(), more, both_start, both_antecedents)
        return both_start, both_antecedents


def _append_array(array: npt.NDArray[Integer], more: npt.NDArray[Integer]) -> npt.NDArray[Integer]:
    """Concatenate arrays; a single one is not copied, since rows can be very many."""
    return np.concatenate([array, more]) if len(array) else more


def _merge_run_marks(marks: Ints, start: Ints) -> Ints:
    """All marks of each run combined; an empty run has none."""
    run_marks = np.zeros(len(start) - 1, dtype=np.int64)
    full = np.flatnonzero(np.diff(start))
    if len(full):
        run_marks[full] = np.bitwise_or.reduceat(marks, start[full])
    return run_marks
