# SPDX-License-Identifier: MIT
"""Suppressing entries against plain Python: safe always, and the exact search as small as trying every set."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.mine.entries.cells import BLANK, PRIVATE, PUBLIC, TableCells
from sfumato.protect.entries.entry_ledger import DerivedEntries, EntryLedger, RuleMining, RuleQuestion
from sfumato.protect.entries.exact_entries import find_exact_entries
from sfumato.protect.entries.grades import bound_entry_count, run_grades
from sfumato.protect.entries.grades_plus import run_grades_plus
from sfumato.table import Table
from tests.brute_rules import adversarial

Place = tuple[int, int]
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CONFIDENCES = (Fraction(1, 10), Fraction(1, 2), Fraction(3, 5), Fraction(2, 3), Fraction(4, 5), Fraction(1))


@dataclass(frozen=True)
class Case:
    rows: list[tuple[str | None, ...]]
    private: set[Place]
    question: RuleQuestion

    @property
    def width(self) -> int:
        return len(self.rows[0])

    def cells(self) -> TableCells:
        names = [f"c{index}" for index in range(self.width)]
        frame = pl.DataFrame(self.rows, schema=dict.fromkeys(names, pl.String), orient="row")
        mask = np.zeros((len(self.rows), self.width), dtype=bool)
        for position in self.private:
            mask[position] = True
        return TableCells.of(Table.of(frame, dict.fromkeys(names, "insensitive")), mask)

    def rules(self, blanked: set[Place]) -> set[Any]:
        question = self.question
        return adversarial(
            self.rows, self.private, blanked, question.confidence, question.least, question.max_length, question.prior
        )  # fmt: skip

    def places(self, derived: DerivedEntries) -> set[Place]:
        return {(int(entry) // self.width, int(entry) % self.width) for entry in derived.entries}

    def smallest(self, most: int) -> int | None:
        """The size of the smallest safe set, by trying all sets of up to `most` entries."""
        entries = [
            (row, column)
            for row, cells in enumerate(self.rows)
            for column, cell in enumerate(cells)
            if cell is not None and (row, column) not in self.private
        ]
        for size in range(most + 1):
            if any(not self.rules(set(subset)) for subset in combinations(entries, size)):
                return size
        return None


@st.composite
def cases(draw: st.DrawFn, most_rows: int = 8) -> Case:
    width, height = draw(st.integers(2, 4)), draw(st.integers(2, most_rows))
    values = st.sampled_from(["a", "b", "a", "b", "c", None])
    rows = [tuple(draw(values) for _ in range(width)) for _ in range(height)]
    places = [(row, column) for row in range(height) for column in range(width) if rows[row][column] is not None]
    private = set(draw(st.lists(st.sampled_from(places), max_size=6))) if places else set()
    question = RuleQuestion(
        draw(st.sampled_from(CONFIDENCES)), draw(st.integers(1, 3)), draw(st.sampled_from([None, 1, 2])),
        draw(st.booleans()),
    )  # fmt: skip
    return Case(rows, private, question)


@quick
@given(case=cases(), batch=st.sampled_from([1, 2, 5]))
def test_no_search_leaves_a_rule(case: Case, batch: int) -> None:
    cells = case.cells()
    for derived in (
        run_grades(RuleMining(cells, case.question), batch),
        run_grades_plus(RuleMining(cells, case.question), 0.05),
        find_exact_entries(RuleMining(cells, case.question), 20),
    ):
        blanked = case.places(derived)
        assert len(blanked) == len(derived.entries) == len(derived.reasons)
        assert not blanked & case.private
        assert all(case.rows[row][column] is not None for row, column in blanked)
        assert case.rules(blanked) == set()
        assert {tuple(position) for position in np.argwhere(derived.states == BLANK).tolist()} == blanked
        assert ((derived.states == PRIVATE) == (cells.states == PRIVATE)).all()


@quick
@given(case=cases(most_rows=6))
def test_the_exact_search_is_as_small_as_can_be(case: Case) -> None:
    derived = find_exact_entries(RuleMining(case.cells(), case.question), 20)
    assert derived.proven
    assert derived.bound == len(derived.entries)
    if len(derived.entries) <= 3:
        assert case.smallest(len(derived.entries)) == len(derived.entries)


@quick
@given(case=cases())
def test_bounds_are_bounds(case: Case) -> None:
    """What `grades+` cannot go under is not above the smallest; what it blanks, it needs."""
    least = find_exact_entries(RuleMining(case.cells(), case.question), 20)
    ours = run_grades_plus(RuleMining(case.cells(), case.question), 0.05)
    assert ours.bound <= len(least.entries) <= len(ours.entries)
    assert ours.proven == (ours.bound == len(ours.entries))
    blanked = case.places(ours)
    assert all(reason.example for reason in ours.reasons)
    assert all(case.rules(blanked - {position}) for position in blanked)


@quick
@given(case=cases(), data=st.data())
def test_counts_are_kept_while_entries_are_turned(case: Case, data: st.DataObject) -> None:
    """Blank and show entries at will: the ledger's open rules are those of the first mining that still hold."""
    cells = case.cells()
    ledger = EntryLedger(cells, case.question)
    ledger.add(RuleMining(cells, case.question).mine_rules(cells.states))
    known_rules = {ledger.spell_rule(rule) for rule in range(ledger.rule_count)}
    known_rows = np.isin(np.arange(len(cells.codes)), ledger.held_rows)[:, None]
    public_cells = np.flatnonzero((cells.states == PUBLIC) & (cells.codes >= 0) & known_rows).tolist()
    if not public_cells:
        return
    assert bound_entry_count(ledger) <= len(public_cells)
    for entry in data.draw(st.lists(st.sampled_from(public_cells), max_size=12)):
        row, column = divmod(entry, case.width)
        ledger.turn(entry, PUBLIC if ledger.states[row, column] == BLANK else BLANK)
    blanked = {(int(row), int(column)) for row, column in np.argwhere(ledger.states == BLANK)}
    current_rules = {_text(rule) for rule in case.rules(blanked)}
    opened = {ledger.spell_rule(int(rule)) for rule in ledger.books.open_rules[: ledger.open]}
    assert opened == known_rules & current_rules


def _text(rule: Any) -> str:
    antecedent_text = " and ".join(f"c{column} = {value}" for column, value in sorted(rule[0]))
    return f"{antecedent_text or 'anything'} → c{rule[1]} = {rule[2]}"
