# SPDX-License-Identifier: MIT
"""GraDeS as printed: against plain Python, and what it says about the rules that it leaves."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from sfumato.protect.entries.entry_ledger import RuleMining
from sfumato.protect.entries.grades import mine_leftover_rules, run_grades_once
from tests.brute_rules import find_visible
from tests.properties.test_suppress_entries_brute import Case, Place, cases, quick
from tests.tables import EMPLOYEES, EMPLOYEES_PRIVATE

ONE = 1 << 40
"""Weights are sums of ONE // |pub| and ONE // |hid|: whole numbers, so that ties are the same everywhere."""


def blank_by_the_book(case: Case, factor: int) -> list[Place]:
    """Figure 2 in plain Python: the rules of one mining, weights anew in every pass, the `factor` heaviest entries."""
    open_rules = {rule[:3] for rule in case.rules(set())}
    blanked: list[Place] = []
    while open_rules:
        weights = weigh(case, open_rules, set(blanked))
        order = sorted(weights, key=lambda cell: (-weights[cell], cell))
        blanked += order[:factor]
        open_rules &= {rule[:3] for rule in case.rules(set(blanked))}
    return blanked


def weigh(case: Case, rules: set[Any], blanked: set[Place]) -> dict[Place, int]:
    """What blanking each entry contributes to invalidating or marginalizing the rules (Section 5)."""
    weights: dict[Place, int] = {}
    hidden_cells = case.private | blanked
    for antecedent, column, value in rules:
        rows = [
            row
            for row in range(len(case.rows))
            if antecedent <= set(find_visible(case.rows, hidden_cells, row).items())
        ]
        public = [row for row in rows if column in find_visible(case.rows, hidden_cells, row)]
        private = [row for row in rows if (row, column) in case.private and case.rows[row][column] is not None]
        for row in public:
            if case.rows[row][column] == value:
                for cell in [*((row, item_column) for item_column, _ in antecedent), (row, column)]:
                    weights[cell] = weights.get(cell, 0) + ONE // len(public)
        for row in private:
            for antecedent_column, _ in antecedent:
                weights[row, antecedent_column] = weights.get((row, antecedent_column), 0) + ONE // len(private)
    return weights


@quick
@given(case=cases(), factor=st.sampled_from([1, 2, 5]))
def test_the_entries_are_those_of_the_printed_algorithm(case: Case, factor: int) -> None:
    mining = RuleMining(case.cells(), case.question)
    derived = run_grades_once(mining, factor)
    ours = [(int(entry) // case.width, int(entry) % case.width) for entry in derived.entries]
    assert ours == blank_by_the_book(case, factor)
    assert mining.passes == 1
    assert len(mine_leftover_rules(mining, derived)) == len(case.rules(set(ours)))
    assert (mining.passes, derived.bound, derived.proven) == (1, 0, False)


def employees(ian: str) -> sf.Table:
    rows = [(*row[:1], ian, *row[2:]) if index == 5 else row for index, row in enumerate(EMPLOYEES)]
    columns = {f"c{index}": [row[index] for row in rows] for index in range(5)}
    return sf.Table.of(columns, dict.fromkeys(columns, "insensitive"))


@pytest.mark.parametrize(("ian", "blanked", "has_leftovers"), [("F", 7, True), ("M", 5, False)])
def test_it_claims_only_what_it_guarantees(ian: str, blanked: int, has_leftovers: bool) -> None:
    """Independently counted: 7 entries leave a rule with Ian as printed, 5 leave none with Ian as a man."""
    private = [(row, f"c{column}") for row, column in sorted(EMPLOYEES_PRIVATE)]
    method = sf.SuppressEntries(private=private, confidence=0.6, min_support=2, search="grades_once")
    table = employees(ian)
    release = method.protect(table)
    assert release.losses["derived_entries"] == blanked
    leftover_count = sf.measure.leftover_rules(release.data, release.details["hidden"], "3/5", 2)
    assert release.losses["leftover_rules"] == leftover_count == release.details["rules_after"].height
    assert bool(leftover_count) == has_leftovers
    findings = sf.check(release, table)
    assert [finding.property for finding in findings] == [
        "private_entries_blanked", "identifying_columns", "changed_cells"
    ]  # fmt: skip
    assert all(finding.holds for finding in findings)
    assert method.maturity == "for study"
    assert sf.SuppressEntries(private=private, confidence=0.6).maturity == "stable"


def test_it_cannot_be_combined_with_learners() -> None:
    with pytest.raises(ValidationError, match="mines once"):
        sf.SuppressEntries(private=[(0, "a")], confidence=0.6, search="grades_once", learner_risk=0.5)
